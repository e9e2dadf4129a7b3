#include "execute/check_plan.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "index/known_sources.hpp"

namespace ulpscope {
namespace {

// These give memory that nobody wrote, or move data and compute nothing. Source: acc_check.
constexpr std::string_view kNeverRun[] = {
    "to", "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "empty_with_format"};

// Half and full width characters with which a spreadsheet begins a formula.
constexpr std::string_view kFormulaStarts[] = {"+", "-", "=", "%", "@", "＋", "－", "＝", "％", "＠"};

bool is_formula(std::string_view id) {
  const auto starts = [](std::string_view text) {
    return std::any_of(std::begin(kFormulaStarts), std::end(kFormulaStarts),
                       [&](std::string_view start) { return text.starts_with(start); });
  };
  if (starts(id)) return true;
  for (size_t at = id.find(';'); at != std::string_view::npos; at = id.find(';', at + 1))
    if (starts(id.substr(at + 1))) return true;
  return false;
}

std::string_view without_direction(std::string_view key) {
  const size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(0, dot);
}

// Only a framework dump has keys with a direction. Elsewhere name and call make an op unique.
std::string call_id(const DumpIndex& index, const OpRow& row) {
  const std::string_view name = index.text(row.name);
  if (has_api_calls(index.source_name())) return std::string(without_direction(name));
  return row.call == 0 ? std::string(name) : fmt::format("{}.{}", name, row.call);
}

bool is_forward_call(const DumpIndex& index, OpId op) {
  const OpRow& row = index.ops()[op];
  if (row.phase == Phase::backward || row.kind == OpKind::module) return false;
  if (has_api_calls(index.source_name())) return index.text(row.name).ends_with(".forward");
  if (row.kind == OpKind::layer) return false;
  const auto items = index.items(op);
  return std::any_of(items.begin(), items.end(), [](const ItemRow& item) {
    return item.role == Role::input || item.role == Role::kwarg;
  });
}

// Type, name and number of "Torch.linalg.norm.0"; left empty when it has neither three nor four parts.
void split_id(CheckItem& item) {
  const std::vector<std::string_view> parts = split(item.id, '.');
  if (parts.size() != 3 && parts.size() != 4) return;
  item.type = parts.front();
  item.number = parts.back();
  item.api = parts[1];
  if (parts.size() == 4) item.api.append(".").append(parts[2]);
}

std::string reason_to_skip(const CheckItem& item, const CheckChoice& choice) {
  if (item.type.empty()) return "malformed name: expected type, name and number, as in Torch.matmul.0";
  if (item.type == "Distributed" || item.type == "MindSpeed" || item.type == "Mint" ||
      item.type == "MintFunctional")
    return "APIs of type " + item.type + " are not checked";
  const bool never = std::find(std::begin(kNeverRun), std::end(kNeverRun), item.api) != std::end(kNeverRun);
  if (never) return "the API computes nothing that could be compared";
  if (choice.black.count(item.api) > 0) return "the API is in the black list";
  if (!choice.white.empty() && choice.white.count(item.api) == 0) return "the API is not in the white list";
  return {};
}

// What makes two calls the same: names, the tree of arguments, and type, shape and gradient of every tensor
// that goes in. Statistics, checksums and file names do not count.
std::string signature(const DumpIndex& index, const CheckItem& item) {
  std::string out = item.type + "\n" + item.api + "\n";
  for (const ItemRow& row : index.items(item.forward)) {
    if (row.role != Role::input && row.role != Role::kwarg) continue;
    out += fmt::format("{} {} ", static_cast<int>(row.role), index.text(row.path));
    if (row.tensor == kNoIndex) {
      out += fmt::format("{} {}\n", index.text(row.type), index.text(row.value));
      continue;
    }
    const TensorRow& tensor = index.tensors()[row.tensor];
    out += fmt::format("{} {} [{}]\n", name(tensor.dtype), tensor.flags,
                       fmt::join(index.shape(tensor.shape), ","));
  }
  return out;
}

std::vector<std::string> unused_entries(const CheckChoice& choice, const std::vector<CheckItem>& items) {
  std::unordered_set<std::string> apis;
  for (const CheckItem& item : items) apis.insert(item.api);
  std::vector<std::string> out;
  for (const auto& [list, word] :
       {std::pair(&choice.white, "white list"), std::pair(&choice.black, "black list")})
    for (const std::string& entry : *list)
      if (apis.count(entry) == 0)
        out.push_back(std::string(word) + ": the dump has no API '" + printable(entry) + "'");
  return out;
}

}  // namespace

std::vector<TensorId> tensors_of(const DumpIndex& index, OpId op) {
  std::vector<TensorId> out;
  for (const ItemRow& row : index.items(op))
    if (row.tensor != kNoIndex) out.push_back(row.tensor);
  std::sort(out.begin(), out.end());
  return out;
}

TensorId tensor_of(const DumpIndex& index, OpId op, size_t number) {
  const std::vector<TensorId> all = tensors_of(index, op);
  return number < all.size() ? all[number] : kNoIndex;
}

Result<CheckPlan> plan_check(const DumpIndex& index, const StepRank& group, const CheckChoice& choice) {
  CheckPlan plan;
  std::unordered_map<std::string, OpId> backwards;
  for (const OpId op : group.ops)
    if (index.ops()[op].phase == Phase::backward) backwards.emplace(call_id(index, index.ops()[op]), op);
  std::unordered_set<std::string> seen;
  for (const OpId op : group.ops) {
    const OpRow& row = index.ops()[op];
    if (!is_forward_call(index, op)) continue;
    CheckItem item;
    item.id = call_id(index, row);
    if (is_formula(item.id))
      return Error{Code::usage, "API '" + printable(item.id) +
                                    "' begins like a formula of a spreadsheet, expected a name of an API"};
    item.forward = op;
    if (const auto found = backwards.find(item.id); found != backwards.end()) item.backward = found->second;
    if (has_api_calls(index.source_name())) {
      split_id(item);
    } else {
      item.type = item.api = index.text(row.type);
      item.number = std::to_string(row.call);
    }
    item.skip = reason_to_skip(item, choice);
    if (choice.filter && item.skip.empty() && !seen.insert(signature(index, item)).second) {
      ++plan.repeated;
      continue;
    }
    plan.items.push_back(std::move(item));
  }
  plan.unused = unused_entries(choice, plan.items);
  return plan;
}

}  // namespace ulpscope
