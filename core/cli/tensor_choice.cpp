#include "cli/tensor_choice.hpp"

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "cli/options.hpp"
#include "tensors/element_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostCandidates = 20;
constexpr size_t kMostCompared = 20'000;  // names that are looked at for a suggestion

std::string place(const DumpIndex& index, ItemId item) {
  const OpRow& op = index.ops()[index.items()[item].op];
  std::string text;
  if (op.step >= 0) text += "step " + std::to_string(op.step);
  if (op.rank >= 0) text += (text.empty() ? "rank " : " rank ") + std::to_string(op.rank);
  return text.empty() ? text : "  (" + text + ")";
}

std::vector<ItemId> tensors_where(const DumpIndex& index, const std::function<bool(ItemId)>& fits) {
  std::vector<ItemId> found;
  for (size_t i = 0; i < index.items().size(); ++i)
    if (index.items()[i].tensor != kNoIndex && fits(static_cast<ItemId>(i)))
      found.push_back(static_cast<ItemId>(i));
  return found;
}

Error none_fits(const DumpIndex& index, const std::string& wanted) {
  std::vector<std::string> names;
  for (size_t i = 0; i < index.items().size() && names.size() < kMostCompared; ++i)
    if (index.items()[i].tensor != kNoIndex)
      names.push_back(printable(full_name(index, static_cast<ItemId>(i))));
  if (names.empty()) return {Code::usage, "the dump holds no tensors"};
  return {Code::usage, "no tensor is named '" + printable(wanted) + "'" + suggestion(wanted, names)};
}

Error several_fit(const DumpIndex& index, const std::string& wanted, const std::vector<ItemId>& found) {
  std::string text =
      wanted.empty() ? "the dump holds several tensors, name one:"
                     : "'" + printable(wanted) + "' fits several tensors, name one (--step and --rank help):";
  for (size_t i = 0; i < found.size() && i < kMostCandidates; ++i)
    text += "\n  " + printable(full_name(index, found[i])) + place(index, found[i]);
  if (found.size() > kMostCandidates)
    text += "\n  and " + count_text(static_cast<int64_t>(found.size() - kMostCandidates)) + " more";
  return {Code::usage, text};
}

}  // namespace

Result<ItemId> choose_tensor(const DumpIndex& index, const std::string& name) {
  std::string dotted = name;
  if (const size_t blank = dotted.rfind(' '); blank != std::string::npos) dotted[blank] = '.';
  const auto op_name = [&](ItemId item) { return index.text(index.ops()[index.items()[item].op].name); };
  const std::vector<std::function<bool(ItemId)>> ways = {
      [&](ItemId item) {
        // Cheap first: most names do not even start like it.
        return dotted.starts_with(op_name(item)) &&
               std::string(op_name(item)) + "." + index.item_name(item) == dotted;
      },
      [&](ItemId item) { return op_name(item) == name; },
      [&](ItemId item) { return name.empty() || glob_match(name, full_name(index, item)); }};
  for (const auto& fits : ways) {
    const std::vector<ItemId> found = tensors_where(index, fits);
    if (found.size() == 1) return found.front();
    if (found.size() > 1) return several_fit(index, name, found);
  }
  return none_fits(index, name);
}

}  // namespace ulpscope
