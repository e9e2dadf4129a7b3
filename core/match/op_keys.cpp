#include "match/op_keys.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxAncestors = 1000;  // a cycle of parents ends here

// Text up to the last dot, and what follows it; head is empty when there is no dot.
struct LastPart {
  std::string_view head, part;
};
LastPart last_part(std::string_view text) {
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return {{}, text};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

// A call number as the dumps write it: decimal digits without a leading zero; -1 for anything else.
int64_t call_number(std::string_view text) {
  if (text.empty() || text.size() > 18 || (text[0] == '0' && text.size() > 1)) return -1;
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

Phase direction(std::string_view word) {
  return word == "forward" ? Phase::forward : word == "backward" ? Phase::backward : Phase::none;
}

size_t leading_digits(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && text[n] >= '0' && text[n] <= '9') ++n;
  return n;
}

bool has_id(std::string_view part) {
  const size_t digits = leading_digits(part);
  return digits > 0 && digits < part.size() && part[digits] == '_';
}

// The parts of a path without their ids, hashed: 4_Prefill_layer/1_ElewiseOperation as
// Prefill_layer/ElewiseOperation.
uint64_t path_stem_hash(std::string_view path) {
  uint64_t hash = text_hash("path");
  for (std::string_view part : split(path, '/')) {
    if (has_id(part)) part.remove_prefix(leading_digits(part) + 1);
    hash = mix(hash, text_hash(part));
  }
  return hash;
}

// Floating formats are one class: a run in bfloat16 has the same calls as one in float32.
uint64_t dtype_class(DType dtype) {
  if (is_floating(dtype)) return 1000;
  if (is_complex(dtype)) return 1001;
  return static_cast<uint64_t>(dtype);
}

uint64_t stem_hash(const ParsedName& name, bool ignore_classes) {
  if (name.form == NameForm::path) return path_stem_hash(name.stem);
  const bool of_module = name.form == NameForm::module || name.form == NameForm::gradient;
  const std::string_view text = of_module && ignore_classes ? split_module(name.stem).path : name.stem;
  return mix(text_hash(text), static_cast<uint64_t>(name.form));
}

OpKey make_key(const DumpIndex& index, OpId op, const KeyOptions& options) {
  const OpRow& row = index.ops()[op];
  std::string_view name = index.text(row.name);
  OpKey key;
  std::string other;
  if (options.rename) other = options.rename(name);
  if (!other.empty() && other != name) {
    key.renamed = true;
    name = other;
  }
  ParsedName parsed;
  parsed.stem = name;
  if (!options.whole_names) parsed = parse_name(name);
  const Phase phase = parsed.phase == Phase::none ? row.phase : parsed.phase;
  const uint64_t stem = stem_hash(parsed, options.ignore_classes);
  key.name = text_hash(name);
  key.stem = mix(stem, static_cast<uint64_t>(phase) + 16);
  key.call = mix(stem, static_cast<uint64_t>(parsed.call) + 2);
  key.gradient = parsed.form == NameForm::gradient;
  key.shapes = shapes_hash(index, op);
  return key;
}

// Calls visit(ancestor) from the parent upwards until it answers true.
template <class F>
void for_ancestors(const DumpIndex& index, OpId op, F visit) {
  OpId parent = index.ops()[op].parent;
  for (size_t i = 0; i < kMaxAncestors && parent != kNoIndex; ++i) {
    if (visit(parent)) return;
    parent = index.ops()[parent].parent;
  }
}

// Stems of all ops that have children. A child of an op is inside it whatever its phase.
std::unordered_set<uint64_t> parent_stems(const DumpIndex& index, std::span<const OpKey> keys) {
  std::unordered_set<uint64_t> stems;
  OpId last = kNoIndex;
  for (const OpRow& op : index.ops()) {
    if (op.parent == kNoIndex || op.parent == last) continue;
    last = op.parent;
    stems.insert(keys[op.parent].stem);
  }
  return stems;
}

void set_contexts_of(const DumpIndex& index, std::span<OpKey> keys,
                     const std::unordered_set<uint64_t>& of_other) {
  OpId last = kNoIndex;  // ops of one parent stand together: its context is looked up once
  uint64_t last_context = 0;
  for (OpId op = 0; op < keys.size(); ++op) {
    const OpId parent = index.ops()[op].parent;
    if (parent == kNoIndex) continue;
    if (parent != last) {
      last = parent;
      last_context = 0;
      for_ancestors(index, op, [&](OpId ancestor) {
        if (!of_other.contains(keys[ancestor].stem)) return false;
        last_context = keys[ancestor].stem;
        return true;
      });
    }
    keys[op].context = last_context;
  }
}

}  // namespace

uint64_t shapes_hash(const DumpIndex& index, OpId op) {
  uint64_t hash = 0x5e17;
  for (const ItemRow& item : index.items(op)) {
    if (item.tensor == kNoIndex || item.role == Role::parameter) continue;
    const Role role = item.role == Role::kwarg ? Role::input : item.role;
    hash = mix(hash, static_cast<uint64_t>(role) + 1);
    hash = mix(hash, dtype_class(index.tensors()[item.tensor].dtype));
    for (const int64_t dim : index.shape_of(item.tensor)) hash = mix(hash, static_cast<uint64_t>(dim));
  }
  return hash;
}

uint64_t mix(uint64_t hash, uint64_t value) {
  // The finaliser of splitmix64 over a multiply-add of both.
  uint64_t x = hash * 0x9e3779b97f4a7c15u + value + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t text_hash(std::string_view text) {
  uint64_t hash = mix(0, text.size());
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    hash = mix(hash, word);
  }
  uint64_t rest = 0;
  std::memcpy(&rest, text.data() + at, text.size() - at);
  return mix(hash, rest);
}

ParsedName parse_name(std::string_view name) {
  const auto [head, last] = last_part(name);
  const auto [front, second] = last_part(head);
  if (const Phase phase = direction(last); phase != Phase::none && !front.empty())
    if (const int64_t call = call_number(second); call >= 0) return {NameForm::api, phase, front, call};
  const int64_t call = call_number(last);
  if (call >= 0 && !front.empty()) {
    if (const Phase phase = direction(second); phase != Phase::none)
      return {NameForm::module, phase, front, call};
    if (second == "parameters_grad") return {NameForm::gradient, Phase::backward, front, call};
  }
  if (last == "parameters_grad" && !head.empty()) return {NameForm::gradient, Phase::backward, head, -1};
  if (last == "debug" && !front.empty())
    if (const int64_t saved = call_number(second); saved >= 0)
      return {NameForm::saved, Phase::none, front, saved};
  for (const std::string_view part : split(name, '/'))
    if (has_id(part)) return {NameForm::path, Phase::none, name, -1};
  return {NameForm::whole, Phase::none, name, -1};
}

ModuleName split_module(std::string_view stem) {
  constexpr std::string_view kModule = "Module.";
  if (stem.starts_with(kModule)) stem.remove_prefix(kModule.size());
  const size_t digits = leading_digits(stem);
  if (digits > 0 && digits < stem.size() && stem[digits] == '.') stem.remove_prefix(digits + 1);
  const auto [path, type] = last_part(stem);
  return {path, type};
}

std::vector<OpKey> make_keys(const DumpIndex& index, const KeyOptions& options) {
  std::vector<OpKey> keys(index.ops().size());
  for (OpId op = 0; op < keys.size(); ++op) keys[op] = make_key(index, op, options);
  return keys;
}

void set_contexts(const DumpIndex& target, std::span<OpKey> target_keys, const DumpIndex& golden,
                  std::span<OpKey> golden_keys) {
  const auto of_target = parent_stems(target, target_keys);
  const auto of_golden = parent_stems(golden, golden_keys);
  if (of_target.empty() || of_golden.empty()) return;
  set_contexts_of(target, target_keys, of_golden);
  set_contexts_of(golden, golden_keys, of_target);
}

}  // namespace ulpscope
