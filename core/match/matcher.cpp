#include "match/matcher.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "match/group_pairing.hpp"
#include "match/item_pairing.hpp"
#include "match/mapping_rules.hpp"
#include "match/notices.hpp"
#include "match/op_keys.hpp"
#include "match/op_pairing.hpp"
#include "match/origin_pairing.hpp"
#include "match/projections.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kFiles = "tensor_files";

bool is_single_file(const DumpIndex& index) {
  return index.source_name() == kFiles && index.path() != index.root();
}

// "weights" of "/data/weights.pt": what the names of a single file's tensors begin with.
std::string_view file_stem(std::string_view path) {
  path = path.substr(path.rfind('/') + 1);
  return path.substr(0, path.rfind('.'));
}

// Of two folders of tensor files: "x/tensor" to "x", where x is a file with that one member on one side and
// a file with a tensor and no member on the other (x.safetensors and x.npy).
using MemberNames = std::unordered_map<std::string_view, std::string_view>;

// How many ops stand below each name: "a" and "a/b" of an op "a/b/c".
std::unordered_map<std::string_view, int64_t> count_below(const DumpIndex& index) {
  std::unordered_map<std::string_view, int64_t> counts;
  for (const OpRow& op : index.ops()) {
    const std::string_view name = index.text(op.name);
    for (size_t at = name.find('/'); at != std::string_view::npos; at = name.find('/', at + 1))
      ++counts[name.substr(0, at)];
  }
  return counts;
}

MemberNames lone_members(const DumpIndex& index, const DumpIndex& other) {
  const auto below = count_below(index);
  if (below.empty()) return {};
  const auto below_other = count_below(other);
  std::unordered_set<std::string_view> names, names_of_other;
  for (const OpRow& op : index.ops()) names.insert(index.text(op.name));
  for (const OpRow& op : other.ops()) names_of_other.insert(other.text(op.name));
  MemberNames found;
  for (const std::string_view name : names)
    for (size_t at = name.find('/'); at != std::string_view::npos; at = name.find('/', at + 1)) {
      const std::string_view file = name.substr(0, at);
      if (below.at(file) == 1 && !names.contains(file) && names_of_other.contains(file) &&
          !below_other.contains(file))
        found.emplace(name, file);
    }
  return found;
}

// The ops of a list by token; of sources that know no tokens all are token -1.
using Tokens = std::map<int32_t, std::vector<OpId>>;

Tokens by_token(const DumpIndex& index, std::span<const OpId> ops, bool apart) {
  Tokens tokens;
  for (const OpId op : ops) tokens[apart ? index.ops()[op].token : -1].push_back(op);
  return tokens;
}

bool knows_tokens(const DumpIndex& index, std::span<const OpId> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](OpId op) { return index.ops()[op].token >= 0; });
}

class Matcher {
 public:
  Matcher(const DumpIndex& target, const DumpIndex& golden, const MatchOptions& options)
      : target_(target),
        golden_(golden),
        options_(options),
        partners_(target.ops().size(), golden.ops().size()),
        left_out_(target.ops().size(), false) {
    if (options.mapping != nullptr) rules_.emplace(*options.mapping, target, golden);
    make_all_keys();
  }

  PairList run() {
    GroupPairing groups = pair_groups(target_, golden_);
    out_.notices = std::move(groups.notices);
    for (const GroupPair& group : groups.pairs)
      if (group.target != nullptr && group.golden != nullptr)
        pair_group(group.target->ops, group.golden->ops);
    for (size_t i = 0; i < merges_.size(); ++i) note_merge(i);
    for (const GroupPair& group : groups.pairs) emit_group(group);
    add_notices();
    return std::move(out_);
  }

 private:
  void make_all_keys() {
    KeyOptions target_options, golden_options;
    target_options.whole_names = golden_options.whole_names =
        target_.source_name() == kFiles && golden_.source_name() == kFiles;
    if (is_single_file(target_) && is_single_file(golden_)) {
      const auto without_stem = [](const DumpIndex& index) {
        return [stem = std::string(file_stem(index.path()))](std::string_view name) {
          const bool starts = name.starts_with(stem);
          return std::string(starts && name.size() == stem.size() ? "/"
                             : starts                             ? name.substr(stem.size())
                                                                  : name);
        };
      };
      target_options.rename = without_stem(target_);
      golden_options.rename = without_stem(golden_);
    } else if (target_options.whole_names && !rules_) {
      const auto without_member = [](MemberNames names) {
        return [names = std::move(names)](std::string_view name) {
          const auto found = names.find(name);
          return std::string(found == names.end() ? name : found->second);
        };
      };
      target_options.rename = without_member(lone_members(target_, golden_));
      golden_options.rename = without_member(lone_members(golden_, target_));
    } else if (rules_) {
      target_options.ignore_classes = golden_options.ignore_classes = rules_->ignores_classes();
      target_options.rename = [this](std::string_view name) { return rules_->rename(name); };
    }
    const auto make = [&](int64_t side, int) {
      if (side == 0)
        target_keys_ = make_keys(target_, target_options);
      else
        golden_keys_ = make_keys(golden_, golden_options);
    };
    if (options_.pool != nullptr) {
      options_.pool->parallel_for(2, make);
    } else {
      make(0, 0);
      make(1, 0);
    }
    set_contexts(target_, target_keys_, golden_, golden_keys_);
  }

  void pair_group(std::span<const OpId> target_ops, std::span<const OpId> golden_ops) {
    if (rules_) rules_->pair_ops(target_ops, golden_ops, partners_);
    if (!options_.merge_backend.empty()) {
      pair_training_group(target_ops, golden_ops);
      return;
    }
    const bool apart = knows_tokens(target_, target_ops) && knows_tokens(golden_, golden_ops);
    const Tokens target_tokens = by_token(target_, target_ops, apart);
    const Tokens golden_tokens = by_token(golden_, golden_ops, apart);
    const bool single = target_tokens.size() == 1 && golden_tokens.size() == 1;
    for (const auto& [token, ops] : target_tokens) {
      const auto partner = single ? golden_tokens.begin() : golden_tokens.find(token);
      if (partner == golden_tokens.end()) continue;
      pair_ops({target_, target_keys_}, ops, {golden_, golden_keys_}, partner->second, options_.fuzzy,
               partners_);
    }
    if (target_ops.size() == 1 && golden_ops.size() == 1 && is_single_file(target_) &&
        is_single_file(golden_) && partners_.free_target(target_ops[0]))
      partners_.pair(target_ops[0], golden_ops[0]);
    pair_projections(target_, target_ops, golden_, golden_ops, partners_, merges_);
  }

  void pair_training_group(std::span<const OpId> target_ops, std::span<const OpId> golden_ops) {
    int64_t left_out = 0;
    const std::vector<OpId> kept = training_ops(target_, target_ops, options_.merge_backend, left_out);
    for (const OpId op : target_ops) left_out_[op] = true;
    for (const OpId op : kept) left_out_[op] = false;
    left_out_count_ += left_out;
    pair_training(target_, kept, golden_, golden_ops, options_.merge_backend, partners_, merges_);
  }

  // The rows of a merge stand with the first of its ops on the target side.
  void note_merge(size_t number) {
    const OpMerge& merge = merges_[number];
    for (const OpId op : merge.many) merge_of_[merge.target_side ? op : merge.one] = number;
  }

  void emit_group(const GroupPair& group) {
    const std::span<const OpId> target_ops =
        group.target == nullptr ? std::span<const OpId>() : group.target->ops;
    const std::span<const OpId> golden_ops =
        group.golden == nullptr ? std::span<const OpId>() : group.golden->ops;
    // Golden ops alone, by the target op whose partner they follow; kNoIndex: before all.
    std::unordered_map<OpId, std::vector<OpId>> followers;
    OpId before = kNoIndex;
    for (const OpId op : golden_ops) {
      if (partners_.free_golden(op))
        followers[before].push_back(op);
      else
        before = partners_.target_of[op];
    }
    emit_alone(followers, kNoIndex);
    for (const OpId op : target_ops) {
      if (!left_out_[op]) emit(op);
      emit_alone(followers, op);
    }
  }

  void emit_alone(const std::unordered_map<OpId, std::vector<OpId>>& followers, OpId after) {
    const auto found = followers.find(after);
    if (found == followers.end()) return;
    for (const OpId op : found->second) {
      out_.ops.push_back({kNoIndex, op, MatchKind::only_golden});
      add_items(pair_items(target_, kNoIndex, golden_, op, MatchKind::only_golden, {}, item_skip()).pairs);
    }
  }

  void emit(OpId op) {
    if (const auto merge = merge_of_.find(op); merge != merge_of_.end()) {
      emit_merge(op, merges_[merge->second]);
      return;
    }
    const OpId golden = partners_.golden_of[op];
    const MatchKind how = golden == kNoIndex ? MatchKind::only_target : kind_of(op, golden);
    out_.ops.push_back({op, golden, how});
    ItemRename rename;
    if (rules_ && golden != kNoIndex) rename = rules_->item_rename(op);
    ItemPairing items = pair_items(target_, op, golden_, golden, how, rename, item_skip());
    by_place_ += items.by_place;
    if (rules_ && rules_->has_row_pairs()) insert_row_pairs(op, items.pairs);
    add_items(std::move(items.pairs));
  }

  void emit_merge(OpId op, const OpMerge& merge) {
    const bool first = !merge.target_side || op == partners_.target_of[merge.one];
    const size_t count = merge.target_side ? 1 : merge.many.size();
    const auto row = static_cast<uint32_t>(out_.ops.size());
    for (size_t i = 0; i < count; ++i)
      out_.ops.push_back({op, merge.target_side ? merge.one : merge.many[i], MatchKind::mapped});
    if (!first) return;
    std::vector<ItemPair> pairs = pair_merged_items(target_, golden_, merge, out_.merges);
    for (ItemPair& pair : pairs) pair.op_pair = row;
    out_.items.insert(out_.items.end(), pairs.begin(), pairs.end());
  }

  MatchKind kind_of(OpId target, OpId golden) const {
    if (partners_.mapped[target]) return MatchKind::mapped;
    const OpKey &t = target_keys_[target], &g = golden_keys_[golden];
    const bool same_text =
        target_.text(target_.ops()[target].name) == golden_.text(golden_.ops()[golden].name);
    if (options_.fuzzy) return MatchKind::fuzzy;
    if (same_text || (t.name == g.name && (g.renamed || (t.renamed && !rules_)))) return MatchKind::exact;
    if (rules_ && (t.renamed || rules_->ignores_classes())) return MatchKind::mapped;
    return MatchKind::aligned;
  }

  ItemSkip item_skip() const {
    if (!rules_ || !rules_->has_row_pairs()) return {};
    return [this](bool of_target, ItemId item) {
      return of_target ? rules_->golden_item_of(item) != kNoIndex : rules_->is_golden_item_taken(item);
    };
  }

  // Puts the rows that a mapping pairs item by item where the target has them.
  void insert_row_pairs(OpId op, std::vector<ItemPair>& pairs) const {
    const OpRow& row = target_.ops()[op];
    for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item) {
      const ItemId golden = rules_->golden_item_of(item);
      if (golden == kNoIndex) continue;
      const size_t order = role_order(target_.items()[item].role);
      const auto at = std::find_if(pairs.begin(), pairs.end(), [&](const ItemPair& pair) {
        if (pair.target != kNoIndex) return pair.target > item;
        return role_order(golden_.items()[pair.golden].role) >= order;
      });
      pairs.insert(at, {item, golden, MatchKind::mapped});
    }
  }

  void add_items(std::vector<ItemPair> pairs) {
    for (ItemPair& pair : pairs) {
      pair.op_pair = static_cast<uint32_t>(out_.ops.size() - 1);
      out_.items.push_back(pair);
    }
  }

  void add_notices() {
    if (left_out_count_ > 0)
      out_.notices.push_back(count_text(left_out_count_) +
                             " calls of target outside the forward pass of the model are left out");
    if (by_place_ > 0)
      out_.notices.push_back(count_text(by_place_) + (by_place_ == 1 ? " item is" : " items are") +
                             " paired by place, because the paths differ");
    if (options_.merge_backend.empty())
      for (std::string& line : filter_notices(target_, golden_, partners_))
        out_.notices.push_back(std::move(line));
    if (rules_)
      for (std::string& line : rules_->unused_rules()) out_.notices.push_back(std::move(line));
  }

  const DumpIndex& target_;
  const DumpIndex& golden_;
  const MatchOptions& options_;
  std::optional<MappingRules> rules_;
  std::vector<OpKey> target_keys_, golden_keys_;
  OpPartners partners_;
  std::vector<OpMerge> merges_;
  std::unordered_map<OpId, size_t> merge_of_;  // op of the target to its merge
  std::vector<bool> left_out_;                 // by op of the target
  int64_t left_out_count_ = 0, by_place_ = 0;
  PairList out_;
};

}  // namespace

std::string_view to_text(MatchKind kind) {
  switch (kind) {
    case MatchKind::exact:
      return "exact";
    case MatchKind::aligned:
      return "aligned";
    case MatchKind::fuzzy:
      return "fuzzy";
    case MatchKind::mapped:
      return "mapped";
    case MatchKind::origin:
      return "origin";
    case MatchKind::only_target:
      return "only_target";
    case MatchKind::only_golden:
      return "only_golden";
  }
  return "exact";
}

Result<PairList> match(const DumpIndex& target, const DumpIndex& golden, const MatchOptions& options) {
  if (!options.merge_backend.empty() && !is_merge_backend(options.merge_backend))
    return Error{Code::usage, "--backend: \"" + printable(options.merge_backend) +
                                  "\" is not known, expected fsdp or megatron"};
  const bool plain = options.mapping == nullptr && options.merge_backend.empty() && !options.fuzzy;
  if (plain && pairs_by_origin(target, golden)) return match_by_origin(target, golden);
  return Matcher(target, golden, options).run();
}

}  // namespace ulpscope
