#include "match/mapping_rules.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "match/alignment.hpp"
#include "match/op_keys.hpp"

namespace ulpscope {
namespace {

constexpr int64_t kMostUnused = 10;  // rules named in notices

std::unordered_map<std::string_view, OpId> names_of(const DumpIndex& index, std::span<const OpId> ops) {
  std::unordered_map<std::string_view, OpId> names;
  for (const OpId op : ops) names.emplace(index.text(index.ops()[op].name), op);
  return names;
}

ItemId item_of_role(const DumpIndex& index, OpId op, Role role, std::string_view path) {
  const OpRow& row = index.ops()[op];
  for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item) {
    const ItemRow& candidate = index.items()[item];
    const Role of = candidate.role == Role::kwarg ? Role::input : candidate.role;
    if (of == role && index.text(candidate.path) == path) return item;
  }
  return kNoIndex;
}

// text with the first occurrence of from replaced; empty when there is none.
std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  if (from.empty() || at == std::string_view::npos) return {};
  return std::string(text.substr(0, at)).append(to).append(text.substr(at + from.size()));
}

// "Functional.abs" of "Functional.abs.0.forward": what API mappings name.
std::string_view api_of(std::string_view name) {
  const ParsedName parsed = parse_name(name);
  return parsed.form == NameForm::api ? parsed.stem : std::string_view();
}

}  // namespace

MappingRules::MappingRules(const Mapping& mapping, const DumpIndex& target, const DumpIndex& golden)
    : mapping_(mapping),
      target_(target),
      golden_(golden),
      row_used_(mapping.rows.size()),
      cell_used_(mapping.cells.size()),
      api_used_(mapping.apis.size()),
      layer_used_(mapping.layers.size()),
      op_used_(mapping.ops.size()),
      item_used_(mapping.items.size()) {
  for (size_t i = 0; i < mapping.cells.size(); ++i) cell_of_.emplace(mapping.cells[i].target, i);
  for (size_t i = 0; i < mapping.apis.size(); ++i) api_of_.emplace(mapping.apis[i].target, i);
  for (size_t i = 0; i < mapping.layers.size(); ++i) layer_of_.emplace(mapping.layers[i].type, i);
  if (!mapping.layers.empty()) learn_classes();
}

// API names first, then modules, then layers, as the peer ranks them.
std::string MappingRules::rename(std::string_view name) {
  std::string out(name);
  for (const auto step :
       {&MappingRules::rename_api, &MappingRules::rename_cell, &MappingRules::rename_layers})
    if (std::string next = (this->*step)(out); !next.empty()) out = std::move(next);
  return out;
}

std::string MappingRules::rename_api(std::string_view name) {
  if (api_of_.empty()) return {};
  const std::string_view api = api_of(name);
  const auto found = api_of_.find(api);
  if (api.empty() || found == api_of_.end()) return {};
  api_used_[found->second] = true;
  return mapping_.apis[found->second].golden + std::string(name.substr(api.size()));
}

// The module path with its class exactly, else every rule whose text occurs, in the order of the file.
std::string MappingRules::rename_cell(std::string_view name) {
  if (!mapping_.cell_to_module && mapping_.cells.empty()) return {};
  const ParsedName parsed = parse_name(name);
  if (parsed.form != NameForm::api && parsed.form != NameForm::module && parsed.form != NameForm::gradient)
    return {};
  std::string out(name);
  std::string_view stem = parsed.stem;
  constexpr std::string_view kCell = "Cell.";
  if (stem.starts_with(kCell)) out = "Module." + out.substr(kCell.size());
  const size_t dot = stem.find('.');
  stem = dot == std::string_view::npos ? stem : stem.substr(dot + 1);
  if (const auto exact = cell_of_.find(stem); exact != cell_of_.end()) {
    cell_used_[exact->second] = true;
    return replaced(out, stem, mapping_.cells[exact->second].golden);
  }
  for (size_t i = 0; i < mapping_.cells.size(); ++i) {
    const std::string next = replaced(out, mapping_.cells[i].target, mapping_.cells[i].golden);
    if (next.empty()) continue;
    cell_used_[i] = true;
    out = next;
  }
  return out;
}

void MappingRules::learn_classes() {
  for (const OpRow& op : target_.ops()) {
    const ParsedName parsed = parse_name(target_.text(op.name));
    if (parsed.form != NameForm::module && parsed.form != NameForm::gradient) continue;
    const size_t dot = parsed.stem.find('.');
    if (dot == std::string_view::npos) continue;
    const std::string stem = "Module" + std::string(parsed.stem.substr(dot));
    const ModuleName name = split_module(stem);
    class_of_.emplace(name.path, name.type);
  }
}

// Walks down the module path of the target. At each container whose class has rules, the longest child that
// the rest of the path begins with becomes the child of golden.
std::string MappingRules::rename_layers(std::string_view name) {
  if (mapping_.layers.empty()) return {};
  const ParsedName parsed = parse_name(name);
  if (parsed.form != NameForm::module && parsed.form != NameForm::gradient) return {};
  const size_t first_dot = parsed.stem.find('.');
  if (first_dot == std::string_view::npos) return {};
  const std::string stem = "Module" + std::string(parsed.stem.substr(first_dot));
  const ModuleName module = split_module(stem);
  std::string golden, done;  // path of golden, and how much of the target's path it stands for
  std::string_view rest = module.path;
  while (!rest.empty()) {
    const auto type = class_of_.find(done);
    const auto rules = layer_of_.find(done.empty()              ? std::string_view("TopLayer")
                                      : type == class_of_.end() ? std::string_view()
                                                                : std::string_view(type->second));
    std::string_view child = rest.substr(0, rest.find('.'));
    std::string mapped(child);
    if (rules != layer_of_.end())
      for (const NameRule& rule : mapping_.layers[rules->second].children)
        if (rest == rule.target || (rest.starts_with(rule.target) && rest[rule.target.size()] == '.')) {
          child = rest.substr(0, rule.target.size());
          mapped = rule.golden;
          layer_used_[rules->second] = true;
          break;
        }
    if (!mapped.empty()) golden += (golden.empty() ? "" : ".") + mapped;
    done += (done.empty() ? "" : ".") + std::string(child);
    rest.remove_prefix(std::min(rest.size(), child.size() + 1));
  }
  return "Module." + golden + "." + std::string(module.type) + std::string(name.substr(parsed.stem.size()));
}

void MappingRules::pair_ops(std::span<const OpId> target_ops, std::span<const OpId> golden_ops,
                            OpPartners& partners) {
  if (!mapping_.rows.empty()) pair_rows(target_ops, golden_ops, partners);
  if (mapping_.ops.empty()) return;
  std::vector<OpId> by_name(golden_ops.begin(), golden_ops.end());
  std::stable_sort(by_name.begin(), by_name.end(), [&](OpId a, OpId b) {
    return golden_.text(golden_.ops()[a].name) < golden_.text(golden_.ops()[b].name);
  });
  for (size_t rule = 0; rule < mapping_.ops.size(); ++rule) pair_by_rule(rule, target_ops, by_name, partners);
}

// A row is the name of an op, a word for the role, and a path; the longest op name that fits is meant.
MappingRules::Row MappingRules::find_row(const DumpIndex& index, const NameTable& names,
                                         std::string_view row) const {
  for (size_t dot = row.rfind('.'); dot != std::string_view::npos && dot > 0; dot = row.rfind('.', dot - 1)) {
    const auto op = names.find(row.substr(0, dot));
    if (op == names.end()) continue;
    const std::string_view rest = row.substr(dot + 1);
    ItemId item = kNoIndex;
    if (const auto name = parse_item_name(rest))
      item = item_of_role(index, op->second, name->role, name->path);
    // The rows of gradients have no word: the name of the op ends in it already.
    if (item == kNoIndex) item = item_of_role(index, op->second, Role::gradient, rest);
    if (item != kNoIndex) return {op->second, item};
  }
  return {};
}

void MappingRules::pair_rows(std::span<const OpId> target_ops, std::span<const OpId> golden_ops,
                             OpPartners& partners) {
  const NameTable target_names = names_of(target_, target_ops), golden_names = names_of(golden_, golden_ops);
  std::map<OpId, std::vector<std::pair<ItemId, ItemId>>> rows_of;
  for (size_t i = 0; i < mapping_.rows.size(); ++i) {
    const Row from = find_row(target_, target_names, mapping_.rows[i].target);
    const Row to = find_row(golden_, golden_names, mapping_.rows[i].golden);
    if (from.item == kNoIndex || to.item == kNoIndex || target_items_.contains(to.item)) continue;
    row_used_[i] = true;
    golden_items_.emplace(from.item, to.item);
    target_items_.emplace(to.item, from.item);
    rows_of[from.op].emplace_back(from.item, to.item);
  }
  for (const auto& [op, rows] : rows_of) pair_op_of_rows(op, rows, golden_names, partners);
}

// The ops pair too when all rows lead to one op, and the target's op has no namesake that its other rows
// need.
void MappingRules::pair_op_of_rows(OpId target_op, std::span<const std::pair<ItemId, ItemId>> rows,
                                   const NameTable& golden_names, OpPartners& partners) const {
  const OpId golden_op = golden_.items()[rows[0].second].op;
  for (const auto& row : rows)
    if (golden_.items()[row.second].op != golden_op) return;
  const OpRow& op = target_.ops()[target_op];
  const bool namesake = golden_names.contains(target_.text(op.name));
  if (namesake && rows.size() < op.item_count) return;
  if (!partners.free_target(target_op) || !partners.free_golden(golden_op)) return;
  partners.pair(target_op, golden_op);
  partners.mapped[target_op] = true;
}

// As many on both sides: in order. Else calls of equal shapes are aligned, and what stands alone between two
// pairs goes in order.
bool MappingRules::pair_lists(const std::vector<OpId>& target_ops, const std::vector<OpId>& golden_ops,
                              OpPartners& partners) const {
  const auto pair = [&](size_t i, size_t j) {
    partners.pair(target_ops[i], golden_ops[j]);
    partners.mapped[target_ops[i]] = true;
  };
  std::vector<uint64_t> a, b;
  for (const OpId op : target_ops) a.push_back(shapes_hash(target_, op));
  for (const OpId op : golden_ops) b.push_back(shapes_hash(golden_, op));
  Alignment anchors;
  if (a.size() != b.size()) {
    const std::vector<uint64_t> no_names(std::max(a.size(), b.size()), 0);
    const std::span<const uint64_t> none(no_names);
    anchors = align({a, none.first(a.size())}, {b, none.first(b.size())});
  }
  size_t i = 0, j = 0;
  const auto fill_gap = [&](size_t i_end, size_t j_end) {
    while (i < i_end && j < j_end) pair(i++, j++);
  };
  for (const auto& [x, y] : anchors) {
    fill_gap(x, y);
    pair(x, y);
    i = x + size_t{1};
    j = y + size_t{1};
  }
  fill_gap(a.size(), b.size());
  return !a.empty() && !b.empty();
}

// The ops that fit a rule, by the golden pattern that each asks for; those of one pattern and phase pair with
// the ops of golden that fit it, in execution order.
void MappingRules::pair_by_rule(size_t rule, std::span<const OpId> target_ops,
                                std::span<const OpId> golden_by_name, OpPartners& partners) {
  const OpRule& r = mapping_.ops[rule];
  const auto backward = [](const OpRow& op) { return op.phase == Phase::backward; };
  std::map<std::pair<std::string, bool>, std::pair<NamePattern, std::vector<OpId>>> wishes;
  for (const OpId op : target_ops) {
    if (!partners.free_target(op)) continue;
    const auto captures = r.target.match(target_.text(target_.ops()[op].name));
    if (!captures) continue;
    const auto wish = r.golden.with(*captures);
    if (!wish) continue;
    const auto key = std::make_pair(wish->text(), backward(target_.ops()[op]));
    wishes.try_emplace(key, *wish, std::vector<OpId>()).first->second.second.push_back(op);
  }
  for (const auto& [key, wish] : wishes) {
    const NamePattern& pattern = wish.first;
    const auto name = [&](OpId op) { return golden_.text(golden_.ops()[op].name); };
    auto at = std::lower_bound(golden_by_name.begin(), golden_by_name.end(), pattern.prefix(),
                               [&](OpId op, std::string_view prefix) { return name(op) < prefix; });
    std::vector<OpId> fitting;
    for (; at != golden_by_name.end() && name(*at).starts_with(pattern.prefix()); ++at)
      if (partners.free_golden(*at) && backward(golden_.ops()[*at]) == key.second && pattern.match(name(*at)))
        fitting.push_back(*at);
    std::sort(fitting.begin(), fitting.end());
    if (pair_lists(wish.second, fitting, partners)) op_used_[rule] = true;
  }
}

ItemId MappingRules::golden_item_of(ItemId target) const {
  const auto found = golden_items_.find(target);
  return found == golden_items_.end() ? kNoIndex : found->second;
}

bool MappingRules::is_golden_item_taken(ItemId golden) const { return target_items_.contains(golden); }

ItemRename MappingRules::item_rename(OpId target_op) {
  const std::string_view name = target_.text(target_.ops()[target_op].name);
  std::vector<ItemNameRule> rules;
  if (!api_of_.empty())
    if (const auto found = api_of_.find(api_of(name)); found != api_of_.end())
      rules = mapping_.apis[found->second].items;
  for (size_t i = 0; i < mapping_.items.size(); ++i) {
    if (!mapping_.items[i].op.match(name)) continue;
    item_used_[i] = true;
    rules.insert(rules.end(), mapping_.items[i].items.begin(), mapping_.items[i].items.end());
  }
  if (rules.empty()) return {};
  return [rules](Role role, std::string_view path) -> std::optional<ItemName> {
    for (const ItemNameRule& rule : rules) {
      if (rule.target.role != role || !path.starts_with(rule.target.path)) continue;
      const std::string_view rest = path.substr(rule.target.path.size());
      if (rest.empty() || rest[0] == '.')
        return ItemName{rule.golden.role, rule.golden.path + std::string(rest)};
    }
    return std::nullopt;
  };
}

std::vector<std::string> MappingRules::unused_rules() const {
  std::vector<std::string> lines;
  int64_t count = 0;
  const auto add = [&](const std::vector<bool>& used, const auto& rules, const auto& name) {
    for (size_t i = 0; i < used.size(); ++i)
      if (!used[i] && ++count <= kMostUnused)
        lines.push_back(to_text(rules[i].place) + ": the rule for \"" + printable(name(rules[i])) +
                        "\" found nothing to pair");
  };
  const auto target = [](const auto& rule) { return rule.target; };
  add(row_used_, mapping_.rows, target);
  add(cell_used_, mapping_.cells, target);
  add(api_used_, mapping_.apis, target);
  add(layer_used_, mapping_.layers, [](const LayerRule& rule) { return rule.type; });
  add(op_used_, mapping_.ops, [](const OpRule& rule) { return rule.target.text(); });
  add(item_used_, mapping_.items, [](const ItemRule& rule) { return rule.op.text(); });
  if (const int64_t more = count - kMostUnused; more > 0)
    lines.push_back(count_text(more) + (more == 1 ? " more rule" : " more rules") +
                    " of the mapping found nothing to pair");
  return lines;
}

}  // namespace ulpscope
