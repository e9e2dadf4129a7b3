#include "cli/filter_check.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "cli/overview.hpp"

namespace ulpscope {
namespace {

// What a dump holds, whatever was asked for.
struct Extent {
  Extent(const ScanFilter& wanted, const Cancel& stop) : filter(wanted), cancel(stop) {}

  const ScanFilter& filter;
  const Cancel& cancel;
  std::set<int32_t> steps, ranks;
  int64_t chosen = 0;           // ops of the steps and ranks that were asked for
  bool part_of_a_name = false;  // the pattern stands inside the name of one of them
  uint32_t ops = 0, tensors = 0;
};

bool has(const std::vector<int32_t>& list, int32_t number) {
  return list.empty() || number < 0 || std::binary_search(list.begin(), list.end(), number);
}

ulpscope_status add_op(void* ctx, const ulpscope_op_record* op, uint32_t* number, ulpscope_error* /*error*/) {
  Extent& extent = *static_cast<Extent*>(ctx);
  if (extent.cancel.requested()) return ULPSCOPE_E_CANCELLED;
  *number = extent.ops++;
  if (op->step >= 0) extent.steps.insert(op->step);
  if (op->rank >= 0) extent.ranks.insert(op->rank);
  if (!has(extent.filter.steps, op->step) || !has(extent.filter.ranks, op->rank)) return ULPSCOPE_OK;
  ++extent.chosen;
  if (!extent.part_of_a_name && !extent.filter.name_glob.empty())
    extent.part_of_a_name = glob_match("*" + extent.filter.name_glob + "*", to_view(op->name), true);
  return ULPSCOPE_OK;
}

ulpscope_status add_tensor(void* ctx, const ulpscope_tensor_record* /*tensor*/, uint32_t* number,
                           ulpscope_error* /*error*/) {
  *number = static_cast<Extent*>(ctx)->tensors++;
  return ULPSCOPE_OK;
}

// What the first scan diagnosed already.
void drop_diagnosis(void* /*ctx*/, ulpscope_status /*code*/, ulpscope_str /*where*/, ulpscope_str /*text*/) {}

std::string numbers_text(std::string_view word, const std::vector<int32_t>& numbers) {
  return std::string(word) + (numbers.size() == 1 ? " " : "s ") + number_list_text(numbers);
}

void add_missing(std::vector<std::string>& out, const char* word, const std::vector<int32_t>& wanted,
                 const std::set<int32_t>& present) {
  if (present.empty()) return;
  std::vector<int32_t> missing;
  std::set_difference(wanted.begin(), wanted.end(), present.begin(), present.end(),
                      std::back_inserter(missing));
  if (missing.empty()) return;
  out.push_back("option --" + std::string(word) + ": the dump has no " + numbers_text(word, missing) +
                ", it has " + numbers_text(word, {present.begin(), present.end()}));
}

bool all_in(const std::vector<int32_t>& wanted, const std::set<int32_t>& present) {
  return present.count(-1) > 0 || std::includes(present.begin(), present.end(), wanted.begin(), wanted.end());
}

}  // namespace

bool fits_in_full(const DumpIndex& index, const ScanFilter& filter) {
  const bool is_filtered = !filter.steps.empty() || !filter.ranks.empty() || !filter.name_glob.empty();
  if (!is_filtered) return true;
  std::set<int32_t> steps, ranks;
  for (const StepRank& group : index.groups()) {
    steps.insert(group.step);
    ranks.insert(group.rank);
  }
  return !index.ops().empty() && all_in(filter.steps, steps) && all_in(filter.ranks, ranks);
}

Result<std::vector<std::string>> unmet_wishes(const DumpIndex& index, const ScanFilter& filter,
                                              SourceHandle whole, const Cancel& cancel) {
  Extent extent(filter, cancel);
  ulpscope_record_sink sink = {};
  sink.struct_size = sizeof sink;
  sink.ctx = &extent;
  sink.add_op = add_op;
  sink.add_tensor = add_tensor;
  sink.diagnose = drop_diagnosis;
  ULPSCOPE_TRY(whole.scan(sink));
  std::vector<std::string> unmet;
  if (extent.ops == 0) return unmet;
  add_missing(unmet, "step", filter.steps, extent.steps);
  add_missing(unmet, "rank", filter.ranks, extent.ranks);
  if (!index.ops().empty()) return unmet;
  if (extent.chosen == 0 && unmet.empty())
    unmet.push_back(
        "options --step and --rank: the dump has each of them, but none of these steps on these ranks");
  if (extent.chosen > 0 && !filter.name_glob.empty())
    unmet.push_back("option --filter: '" + printable(filter.name_glob) + "' fits the name of none of " +
                    count_text(extent.chosen) + (extent.chosen == 1 ? " operation" : " operations") +
                    (extent.part_of_a_name
                         ? ", but parts of names (did you mean '*" + printable(filter.name_glob) + "*'?)"
                         : ""));
  return unmet;
}

}  // namespace ulpscope
