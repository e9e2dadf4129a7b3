#include "match/projections.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "match/item_pairing.hpp"

namespace ulpscope {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

// Parts of a module that the other side holds as one, in joining order.
constexpr Word kJoined[] = {{"q_proj", "qkv_proj"},
                            {"k_proj", "qkv_proj"},
                            {"v_proj", "qkv_proj"},
                            {"gate_proj", "gate_up_proj"},
                            {"up_proj", "gate_up_proj"}};
// Names of the megatron backend and of inference.
constexpr Word kMegatron[] = {{"word_embeddings", "embed_tokens"}, {"self_attention", "self_attn"},
                              {"linear_qkv", "qkv_proj"},          {"q_layernorm", "q_norm"},
                              {"k_layernorm", "k_norm"},           {"core_attention", "attn"},
                              {"linear_proj", "o_proj"},           {"router", "gate"},
                              {"linear_fc1", "gate_up_proj"},      {"linear_fc2", "down_proj"}};

template <size_t N>
std::string_view translated(const Word (&words)[N], std::string_view word) {
  for (const auto& [from, to] : words)
    if (from == word) return to;
  return word;
}

size_t joining_order(std::string_view word) {
  const auto found =
      std::find_if(std::begin(kJoined), std::end(kJoined), [&](const Word& w) { return w.first == word; });
  return static_cast<size_t>(found - std::begin(kJoined));
}

std::string_view last_word(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// Where a module stands: its layer (-1: in none) and its path inside the layer.
struct Place {
  int64_t layer = -1;
  std::string_view path;
};

Place place_of(std::string_view path) {
  constexpr std::string_view kWrapper = "_fsdp_wrapped_module.", kLayers = "layers.";
  Place place;
  for (size_t at = path.find(kLayers); at != std::string_view::npos; at = path.find(kLayers, at + 1)) {
    const std::string_view rest = path.substr(at + kLayers.size());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if ((at > 0 && path[at - 1] != '.') || digits == 0 || digits > 9 || digits == rest.size()) continue;
    place.layer = 0;
    for (const char c : rest.substr(0, digits)) place.layer = place.layer * 10 + (c - '0');
    path = rest.substr(digits + 1);
    break;
  }
  if (const size_t at = path.rfind(kWrapper); at != std::string_view::npos)
    path.remove_prefix(at + kWrapper.size());
  place.path = path;
  return place;
}

// direction, call, layer, module. Ops of both sides with equal keys belong together.
using ModuleKey = std::tuple<Phase, int64_t, int64_t, std::string>;

std::string joined_path(std::string_view path, std::string_view backend) {
  std::string out;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('.', at), path.size());
    std::string_view word = path.substr(at, end - at);
    if (backend == "megatron") word = translated(kMegatron, word);
    if (backend == "fsdp") word = translated(kJoined, word);
    if (!out.empty()) out += '.';
    out += word;
    at = end + 1;
  }
  return out;
}

struct Candidates {
  std::vector<OpId> target, golden;
};

void pair_one(OpId target, OpId golden, const DumpIndex& t, const DumpIndex& g, OpPartners& partners) {
  partners.pair(target, golden);
  partners.mapped[target] = t.text(t.ops()[target].name) != g.text(g.ops()[golden].name);
}

void merge_into(std::vector<OpId> many, OpId one, bool target_side, const DumpIndex& side,
                OpPartners& partners, std::vector<OpMerge>& merges) {
  const auto order = [&](OpId op) {
    return joining_order(last_word(split_module(parse_name(side.text(side.ops()[op].name)).stem).path));
  };
  std::stable_sort(many.begin(), many.end(), [&](OpId a, OpId b) { return order(a) < order(b); });
  for (const OpId op : many) {
    if (target_side)
      partners.golden_of[op] = one;
    else
      partners.target_of[op] = one;
    partners.mapped[target_side ? op : one] = true;
  }
  if (target_side)
    partners.target_of[one] = many[0];
  else
    partners.golden_of[one] = many[0];
  merges.push_back({target_side, std::move(many), one});
}

void pair_candidates(const Candidates& c, const DumpIndex& target, const DumpIndex& golden,
                     OpPartners& partners, std::vector<OpMerge>& merges) {
  if (c.target.empty() || c.golden.empty()) return;
  if (c.target.size() > 1 && c.golden.size() == 1)
    return merge_into(c.target, c.golden[0], true, target, partners, merges);
  if (c.golden.size() > 1 && c.target.size() == 1)
    return merge_into(c.golden, c.target[0], false, golden, partners, merges);
  for (size_t i = 0; i < std::min(c.target.size(), c.golden.size()); ++i)
    pair_one(c.target[i], c.golden[i], target, golden, partners);
}

// The key of a training or inference module; false for other ops.
bool training_key(const DumpIndex& index, OpId op, std::string_view backend, bool of_target,
                  std::unordered_map<std::string_view, int64_t>& appearances, ModuleKey& key) {
  const ParsedName name = parse_name(index.text(index.ops()[op].name));
  if (name.form != NameForm::module) return false;
  int64_t call = name.call;
  // The training side counts its forward calls by appearance: recomputation shifts the numbers.
  if (of_target && name.phase == Phase::forward) call = appearances[name.stem]++;
  const Place place = place_of(split_module(name.stem).path);
  std::string path = joined_path(place.path, of_target ? backend : std::string_view());
  if (place.layer < 0 && backend == "megatron") path = std::string(last_word(path));
  key = {name.phase, call, place.layer, std::move(path)};
  return true;
}

std::string_view class_of(const DumpIndex& index, OpId op, Phase phase) {
  const ParsedName name = parse_name(index.text(index.ops()[op].name));
  return name.form == NameForm::module && name.phase == phase ? split_module(name.stem).type
                                                              : std::string_view();
}

// Dimensions after those of size 1 are removed; the axis that outputs are joined along is the last of them.
int32_t joined_axis(const DumpIndex& index, ItemId item, Role role) {
  const ItemRow& row = index.items()[item];
  if (row.tensor == kNoIndex || (role != Role::parameter && role != Role::output)) return -1;
  if (role == Role::parameter) return 0;
  int32_t dims = 0;
  for (const int64_t size : index.shape_of(row.tensor)) dims += size != 1 ? 1 : 0;
  return std::max(0, dims - 1);
}

// What the parts of a merge have in common: role and path.
using PartName = std::pair<Role, std::string_view>;

PartName part_name(const DumpIndex& index, ItemId item) {
  const ItemRow& row = index.items()[item];
  return {row.role == Role::kwarg ? Role::input : row.role, index.text(row.path)};
}

std::map<PartName, std::vector<ItemId>> parts_of(const DumpIndex& index, std::span<const OpId> ops) {
  std::map<PartName, std::vector<ItemId>> parts;
  for (const OpId op : ops) {
    const OpRow& row = index.ops()[op];
    for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item)
      parts[part_name(index, item)].push_back(item);
  }
  return parts;
}

size_t row_order(const DumpIndex& target, const DumpIndex& golden, const ItemPair& row) {
  const bool of_target = row.target != kNoIndex;
  return role_order(of_target ? target.items()[row.target].role : golden.items()[row.golden].role);
}

}  // namespace

bool is_merge_backend(std::string_view backend) { return backend == "fsdp" || backend == "megatron"; }

std::vector<OpId> training_ops(const DumpIndex& target, std::span<const OpId> ops, std::string_view backend,
                               int64_t& left_out) {
  const auto is_model = [&](std::string_view type) {
    return backend == "megatron" ? type == "GPTModel"
                                 : type == "Qwen2Model" || type == "Qwen3Model" || type == "Qwen3MoeModel";
  };
  std::vector<OpId> kept;
  bool open = true;
  for (const OpId op : ops) {
    const std::string_view starts = class_of(target, op, Phase::forward);
    if (is_model(class_of(target, op, Phase::backward))) open = false;
    if (starts == "Embedding" || starts == "VocabParallelEmbedding") open = true;
    if (open) kept.push_back(op);
  }
  left_out = static_cast<int64_t>(ops.size() - kept.size());
  return kept;
}

void pair_training(const DumpIndex& target, std::span<const OpId> target_ops, const DumpIndex& golden,
                   std::span<const OpId> golden_ops, std::string_view backend, OpPartners& partners,
                   std::vector<OpMerge>& merges) {
  std::map<ModuleKey, Candidates> places;
  std::unordered_map<std::string_view, int64_t> appearances;
  ModuleKey key;
  for (const OpId op : target_ops)
    if (training_key(target, op, backend, true, appearances, key) && partners.free_target(op))
      places[key].target.push_back(op);
  for (const OpId op : golden_ops)
    if (training_key(golden, op, backend, false, appearances, key) && partners.free_golden(op))
      places[key].golden.push_back(op);
  for (const auto& [place, candidates] : places)
    pair_candidates(candidates, target, golden, partners, merges);
}

void pair_projections(const DumpIndex& target, std::span<const OpId> target_ops, const DumpIndex& golden,
                      std::span<const OpId> golden_ops, OpPartners& partners, std::vector<OpMerge>& merges) {
  std::map<ModuleKey, Candidates> wholes, parts;  // merged modules and those that they may be merged of
  const auto add = [&](const DumpIndex& index, OpId op, bool of_target) {
    const ParsedName name = parse_name(index.text(index.ops()[op].name));
    if (name.form != NameForm::module) return;
    const std::string_view path = split_module(name.stem).path, word = last_word(path);
    const std::string_view joined = translated(kJoined, word);
    if (joined == word && word != "qkv_proj" && word != "gate_up_proj") return;
    const std::string place = std::string(path.substr(0, path.size() - word.size())).append(joined);
    const ModuleKey key = {name.phase, name.call, -1, place};
    Candidates& c = (joined == word ? wholes : parts)[key];
    (of_target ? c.target : c.golden).push_back(op);
  };
  for (const OpId op : target_ops)
    if (partners.free_target(op)) add(target, op, true);
  for (const OpId op : golden_ops)
    if (partners.free_golden(op)) add(golden, op, false);
  for (const auto& [key, whole] : wholes) {
    const auto found = parts.find(key);
    if (found == parts.end()) continue;
    const Candidates& part = found->second;
    if (whole.golden.size() == 1 && whole.target.empty() && part.target.size() > 1 && part.golden.empty())
      merge_into(part.target, whole.golden[0], true, target, partners, merges);
    if (whole.target.size() == 1 && whole.golden.empty() && part.golden.size() > 1 && part.target.empty())
      merge_into(part.golden, whole.target[0], false, golden, partners, merges);
  }
}

std::vector<ItemPair> pair_merged_items(const DumpIndex& target, const DumpIndex& golden,
                                        const OpMerge& merge, std::vector<Merge>& merges) {
  const DumpIndex& many = merge.target_side ? target : golden;
  const DumpIndex& one = merge.target_side ? golden : target;
  std::map<PartName, std::vector<ItemId>> parts = parts_of(many, merge.many);
  std::vector<ItemPair> rows;
  const auto add = [&](ItemId of_many, ItemId of_one, int32_t number) {
    ItemPair row{of_many, of_one, MatchKind::mapped, 0, number};
    if (!merge.target_side) std::swap(row.target, row.golden);
    if (row.golden == kNoIndex) row.how = MatchKind::only_target;
    if (row.target == kNoIndex) row.how = MatchKind::only_golden;
    rows.push_back(row);
  };
  const OpRow& single = one.ops()[merge.one];
  for (ItemId item = single.first_item; item < single.first_item + single.item_count; ++item) {
    const auto found = parts.find(part_name(one, item));
    if (found == parts.end()) {
      add(kNoIndex, item, -1);
      continue;
    }
    int32_t number = -1;
    if (found->second.size() > 1) {
      number = static_cast<int32_t>(merges.size());
      merges.push_back(
          {merge.target_side, found->second, joined_axis(many, found->second[0], found->first.first)});
    }
    add(found->second[0], item, number);
    parts.erase(found);
  }
  std::vector<ItemId> left;
  for (const auto& [name, items] : parts) left.insert(left.end(), items.begin(), items.end());
  std::sort(left.begin(), left.end());
  for (const ItemId item : left) add(item, kNoIndex, -1);
  std::stable_sort(rows.begin(), rows.end(), [&](const ItemPair& a, const ItemPair& b) {
    return row_order(target, golden, a) < row_order(target, golden, b);
  });
  return rows;
}

}  // namespace ulpscope
