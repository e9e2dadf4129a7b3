#include "match/origin_pairing.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "formats/acl_names.hpp"
#include "formats/acl_types.hpp"
#include "match/group_pairing.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kFiles = "tensor_files";

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool has_origin(const DumpIndex& index) {
  return std::any_of(index.tensors().begin(), index.tensors().end(),
                     [](const TensorRow& tensor) { return tensor.origin != 0; });
}

bool is_golden_folder(const DumpIndex& index) {
  return index.source_name() == kFiles &&
         std::any_of(index.ops().begin(), index.ops().end(), [&](const OpRow& op) {
           return parse_golden_name(file_name(index.text(op.name))).has_value();
         });
}

// "a.b/c:0" as a file writes it: "a_b_c:0".
std::string escaped_key(std::string_view key) {
  const size_t colon = key.rfind(':');
  return acl_escaped(key.substr(0, colon)) +
         (colon == std::string_view::npos ? std::string() : std::string(key.substr(colon)));
}

// The outputs of one key, by occurrence.
struct Candidates {
  std::vector<ItemId> items;
  std::vector<uint64_t> order;  // call number or timestamp, rising
};

class OriginMatcher {
 public:
  OriginMatcher(const DumpIndex& target, const DumpIndex& golden)
      : target_(target),
        golden_(golden),
        golden_is_files_(!has_origin(golden)),
        used_(golden.items().size(), false),
        golden_taken_(golden.ops().size(), false) {
    for (const OpRow& op : target_.ops())
      for (const std::string_view name : split(target_.text(op.originals), '\n'))
        if (!name.empty()) originals_.insert(std::string(name)), originals_.insert(acl_escaped(name));
  }

  PairList run() {
    GroupPairing groups = pair_groups(target_, golden_);
    // A folder of files has neither steps nor ranks: that these pair with the target's is nothing to tell.
    if (!golden_is_files_ || groups.joined) out_.notices = std::move(groups.notices);
    for (const GroupPair& group : groups.pairs) {
      const auto target_ops =
          group.target == nullptr ? std::span<const OpId>() : std::span<const OpId>(group.target->ops);
      const auto golden_ops =
          group.golden == nullptr ? std::span<const OpId>() : std::span<const OpId>(group.golden->ops);
      collect(target_ops, golden_ops);
      for (const OpId op : target_ops) emit(op, group.golden != nullptr);
      for (const OpId op : golden_ops) emit_rest(op);
    }
    add_notices();
    return std::move(out_);
  }

 private:
  std::string_view origin(const DumpIndex& index, ItemId item) const {
    const TensorId tensor = index.items()[item].tensor;
    return tensor == kNoIndex ? std::string_view() : index.text(index.tensors()[tensor].origin);
  }

  std::string golden_key(ItemId item) const {
    if (!golden_is_files_) return std::string(origin(golden_, item));
    const OpRow& op = golden_.ops()[golden_.items()[item].op];
    const auto name = parse_golden_name(file_name(golden_.text(op.name)));
    return name ? acl_escaped(name->name) + ":" + std::to_string(name->output) : std::string();
  }

  void collect(std::span<const OpId> target_ops, std::span<const OpId> golden_ops) {
    outputs_.clear();
    network_inputs_.clear();
    most_calls_.clear();
    claims_.clear();
    for (const OpId op : golden_ops) {
      const OpRow& row = golden_.ops()[op];
      for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item) {
        if (golden_.items()[item].role != Role::output) {
          note_network_input(item);
          continue;
        }
        const std::string key = golden_key(item);
        if (!key.empty()) add_candidate(key, item, occurrence(row));
      }
    }
    for (const OpId op : target_ops) {
      const OpRow& row = target_.ops()[op];
      for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item) {
        const std::string_view key = origin(target_, item);
        if (key.empty()) continue;
        uint32_t& most = most_calls_[std::string(key)];
        most = std::max(most, row.call);
        if (golden_is_files_) claims_[escaped_key(key)].insert(std::string(key));
      }
    }
  }

  // No operator of the dump gives a network input: whoever reads it shows it. A weight has no link.
  void note_network_input(ItemId item) {
    const TensorId tensor = golden_.items()[item].tensor;
    if (tensor == kNoIndex || golden_is_files_ || golden_.tensors()[tensor].link == 0) return;
    if (const std::string_view key = origin(golden_, item); !key.empty())
      network_inputs_.emplace(std::string(key), item);
  }

  uint64_t occurrence(const OpRow& row) const {
    if (!golden_is_files_) return row.call;
    const auto name = parse_golden_name(file_name(golden_.text(row.name)));
    return name ? name->timestamp : 0;
  }

  void add_candidate(const std::string& key, ItemId item, uint64_t order) {
    Candidates& of_key = outputs_[key];
    const auto at = std::upper_bound(of_key.order.begin(), of_key.order.end(), order) - of_key.order.begin();
    of_key.order.insert(of_key.order.begin() + at, order);
    of_key.items.insert(of_key.items.begin() + at, item);
  }

  // The golden output of a key, for the call-th call of the operator.
  ItemId find_output(std::string_view key, uint32_t call, ItemId target_item) {
    const std::string wanted = golden_is_files_ ? escaped_key(key) : std::string(key);
    const auto found = outputs_.find(wanted);
    if (found == outputs_.end()) return kNoIndex;
    const Candidates& of_key = found->second;
    if (golden_is_files_ && !is_sole_claim(wanted, key, of_key, target_item)) return kNoIndex;
    // One call against several files of a name: the last one written.
    if (golden_is_files_ && most_calls_[std::string(key)] == 0) return of_key.items.back();
    return call < of_key.items.size() ? of_key.items[call] : kNoIndex;
  }

  // Two operators may be written under one file name: then the shape must tell them apart.
  bool is_sole_claim(const std::string& wanted, std::string_view key, const Candidates& of_key, ItemId item) {
    const auto claims = claims_.find(wanted);
    if (claims == claims_.end() || claims->second.size() < 2) return true;
    const auto shape = golden_.shape_of(golden_.items()[of_key.items.back()].tensor);
    const auto mine = target_.shape_of(target_.items()[item].tensor);
    const bool same = std::equal(shape.begin(), shape.end(), mine.begin(), mine.end());
    if (same && count_shape(claims->second, shape) == 1) return true;
    ambiguous_.insert(std::string(key));
    return false;
  }

  // How many of the keys have an output of that shape.
  size_t count_shape(const std::set<std::string>& keys, std::span<const int64_t> shape) const {
    std::set<std::string_view> found;
    for (const ItemRow& item : target_.items()) {
      if (item.tensor == kNoIndex || item.role != Role::output) continue;
      const std::string_view key = target_.text(target_.tensors()[item.tensor].origin);
      const auto own = target_.shape_of(item.tensor);
      if (keys.contains(std::string(key)) && std::equal(own.begin(), own.end(), shape.begin(), shape.end()))
        found.insert(key);
    }
    return found.size();
  }

  // Nothing of the op is in the original model.
  static bool is_left_out(const DumpIndex& index, const OpRow& op) {
    bool any = false;
    for (const ItemRow& item : index.items(static_cast<OpId>(&op - index.ops().data()))) {
      if (item.tensor == kNoIndex) continue;
      any = true;
      const TensorRow& tensor = index.tensors()[item.tensor];
      if (tensor.origin != 0 || tensor.absent == ULPSCOPE_ABSENT_INNER) return false;
    }
    return any && op.originals == 0;
  }

  void emit(OpId op, bool has_golden) {
    const OpRow& row = target_.ops()[op];
    if (has_golden && is_left_out(target_, row)) {
      ++left_out_;
      return;
    }
    std::vector<ItemPair> pairs(row.item_count);
    OpId partner = kNoIndex;
    for (const bool outputs : {true, false})
      for (uint32_t i = 0; i < row.item_count; ++i) {
        const ItemId item = row.first_item + i;
        if ((target_.items()[item].role == Role::output) != outputs) continue;
        pairs[i].target = item;
        pairs[i].golden = outputs ? partner_of_output(item, row) : partner_of_input(item, row, partner);
        if (pairs[i].golden != kNoIndex && partner == kNoIndex) partner = golden_.items()[pairs[i].golden].op;
      }
    const MatchKind how = row.originals != 0 || (partner != kNoIndex && golden_.ops()[partner].originals != 0)
                              ? MatchKind::origin
                              : MatchKind::exact;
    add_op(op, partner, how, pairs);
  }

  ItemId partner_of_output(ItemId item, const OpRow& row) {
    const std::string_view key = origin(target_, item);
    return key.empty() ? kNoIndex : find_output(key, row.call, item);
  }

  ItemId partner_of_input(ItemId item, const OpRow& row, OpId partner) {
    const std::string_view key = origin(target_, item);
    // The counterpart's own input where it reads the same value: it shows what the counterpart worked with.
    if (partner != kNoIndex && !golden_is_files_) {
      const OpRow& other = golden_.ops()[partner];
      const bool by_name = key.empty() && row.originals == 0 && other.originals == 0;
      for (ItemId g = other.first_item; g < other.first_item + other.item_count; ++g) {
        const ItemRow& entry = golden_.items()[g];
        if (entry.role == Role::output) continue;
        const bool same_place = golden_.text(entry.path) == target_.text(target_.items()[item].path);
        if (by_name ? same_place && origin(golden_, g).empty() : !key.empty() && origin(golden_, g) == key)
          return g;
      }
    }
    if (key.empty()) return kNoIndex;
    const ItemId output = find_output(key, row.call, item);
    if (output != kNoIndex || target_.tensors()[target_.items()[item].tensor].link == 0) return output;
    const auto input = network_inputs_.find(std::string(key));
    return input == network_inputs_.end() || outputs_.contains(std::string(key)) ? kNoIndex : input->second;
  }

  OneSided reason(ItemId item) const {
    const TensorId tensor = target_.items()[item].tensor;
    if (tensor != kNoIndex && target_.tensors()[tensor].absent == ULPSCOPE_ABSENT_INNER)
      return OneSided::inner;
    const std::string_view key = origin(target_, item);
    return key.empty() || golden_is_files_ || target_.items()[item].role != Role::output
               ? OneSided::no_reference
               : OneSided::unmatched;
  }

  void add_op(OpId op, OpId partner, MatchKind how, std::vector<ItemPair>& pairs) {
    if (partner != kNoIndex) golden_taken_[partner] = true;
    bool all_inner = !pairs.empty();
    for (ItemPair& pair : pairs) {
      pair.op_pair = static_cast<uint32_t>(out_.ops.size());
      pair.how = pair.golden == kNoIndex ? MatchKind::only_target : how;
      if (pair.golden != kNoIndex)
        used_[pair.golden] = true;
      else
        pair.why = reason(pair.target);
      all_inner &= pair.golden == kNoIndex && pair.why != OneSided::unmatched;
      out_.items.push_back(pair);
    }
    out_.ops.push_back({op, partner, partner == kNoIndex ? MatchKind::only_target : how});
    out_.ops.back().by_design = partner == kNoIndex && all_inner;
  }

  // What of a golden op nothing of the target was compared with.
  void emit_rest(OpId op) {
    const OpRow& row = golden_.ops()[op];
    if (!golden_is_files_ && is_left_out(golden_, row)) return;
    std::vector<ItemPair> pairs;
    bool by_design = true;
    for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item) {
      if (used_[item]) continue;
      // Inputs of a golden operator that has a counterpart are the outputs of others, or weights.
      if (golden_taken_[op] && golden_.items()[item].role != Role::output) continue;
      ItemPair pair{kNoIndex, item, MatchKind::only_golden, static_cast<uint32_t>(out_.ops.size())};
      pair.why = golden_reason(item);
      by_design &= pair.why != OneSided::unmatched;
      pairs.push_back(pair);
    }
    if (pairs.empty()) return;
    out_.ops.push_back({kNoIndex, op, MatchKind::only_golden});
    out_.ops.back().by_design = by_design || golden_taken_[op];
    out_.items.insert(out_.items.end(), pairs.begin(), pairs.end());
  }

  // An original operator that the target fused with others has no tensor of its own there.
  OneSided golden_reason(ItemId item) const {
    const TensorId tensor = golden_.items()[item].tensor;
    if (tensor != kNoIndex && golden_.tensors()[tensor].absent == ULPSCOPE_ABSENT_INNER)
      return OneSided::inner;
    const std::string key = golden_key(item);
    return originals_.contains(key.substr(0, key.rfind(':'))) ? OneSided::inner : OneSided::unmatched;
  }

  void add_notices() {
    if (left_out_ > 0)
      out_.notices.push_back(count_text(left_out_) +
                             (left_out_ == 1 ? " operator that the compiler put in is"
                                             : " operators that the compiler put in are") +
                             " left out: the original model has none for them");
    for (const std::string& key : ambiguous_)
      out_.notices.push_back("ambiguous: the file name of golden tensor " + printable(key) +
                             " stands for several operators of target, and shapes do not tell them apart");
  }

  const DumpIndex& target_;
  const DumpIndex& golden_;
  bool golden_is_files_;
  std::vector<bool> used_, golden_taken_;      // by item and op of golden
  std::unordered_set<std::string> originals_;  // of the target's operators, as named and as escaped
  std::unordered_map<std::string, Candidates> outputs_;
  std::unordered_map<std::string, ItemId> network_inputs_;         // the first golden input of each key
  std::unordered_map<std::string, uint32_t> most_calls_;           // by origin of the target
  std::unordered_map<std::string, std::set<std::string>> claims_;  // escaped name to origins of the target
  std::set<std::string> ambiguous_;
  int64_t left_out_ = 0;
  PairList out_;
};

}  // namespace

bool pairs_by_origin(const DumpIndex& target, const DumpIndex& golden) {
  return has_origin(target) && (has_origin(golden) || is_golden_folder(golden));
}

PairList match_by_origin(const DumpIndex& target, const DumpIndex& golden) {
  return OriginMatcher(target, golden).run();
}

}  // namespace ulpscope
