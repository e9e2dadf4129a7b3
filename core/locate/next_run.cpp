#include "locate/next_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/atb_config.hpp"
#include "formats/atb_names.hpp"
#include "index/known_sources.hpp"
#include "locate/evidence.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kAtb = "mindie_atb";

bool has_children(const DumpIndex& index, OpId op) {
  return std::any_of(index.ops().begin(), index.ops().end(),
                     [&](const OpRow& row) { return row.parent == op; });
}

// "4_1" for "4_Prefill_layer/1_ElewiseOperation".
std::string atb_ids(std::string_view name) {
  std::vector<int64_t> ids;
  for (const std::string_view part : split(name, '/'))
    if (const auto op = parse_atb_op_name(part)) ids.push_back(op->id);
  return atb_id_text(ids);
}

// Layer first, then what is in it: the same round once more, with the operation and all below it. Kernels
// have nothing below; their numbers are those of the operation around them.
void add_atb_run(std::vector<std::string>& steps, const ResultTable& table, const Culprit& culprit,
                 Mode mode) {
  const OpRow& op = table.target->ops()[culprit.op];
  const bool is_whole =
      mode == Mode::data && (op.kind == OpKind::kernel || has_children(*table.target, culprit.op));
  if (is_whole) return;
  AtbConfig config;
  const int32_t round = std::max(culprit.step, 0);
  config.exec_range = fmt::format("{},{}", round, round);
  config.ids = atb_ids(culprit.op_name);
  config.save_child = op.kind != OpKind::kernel;
  config.filter_level = 0;
  config.device = std::to_string(std::max(culprit.rank, 0));
  steps.push_back(
      fmt::format("dump {} with what is inside it on both sides, with this config.json", culprit.op_name));
  steps.push_back(atb_config_text(config));
  steps.push_back(atb_load_line("config.json", "<dir>"));
}

// The members of a collector's configuration that dump the tensors of one call; at level mix a module's name
// takes in all that runs inside it.
std::string task_members(const OpRow& op, std::string_view name, bool with_inside) {
  return fmt::format("{}\"task\": \"tensor\", \"step\": [{}], \"rank\": [{}], \"list\": [\"{}\"]",
                     with_inside ? "\"level\": \"mix\", " : "", std::max(op.step, 0), std::max(op.rank, 0),
                     name);
}

// Whether a module is at fault whose inside was not recorded: the operation is in there.
bool lacks_inside(const ResultTable& table, const Culprit& culprit) {
  return culprit.kind == "compute_fault" && table.target->ops()[culprit.op].kind == OpKind::module &&
         has_api_calls(table.target->source_name()) && !has_children(*table.target, culprit.op);
}

// Call numbers and steps of the two sides may differ.
std::string collector_run(const ResultTable& table, const Culprit& culprit, bool with_inside) {
  const std::string_view what = with_inside ? "dump what is inside it" : "dump its tensors";
  const ItemId golden = table.rows[static_cast<size_t>(culprit.row)].pair.golden;
  const std::string here = task_members(table.target->ops()[culprit.op], culprit.op_name, with_inside);
  if (golden == kNoIndex) return fmt::format("{} on both sides: {}", what, here);
  const OpRow& golden_op = table.golden->ops()[table.golden->items()[golden].op];
  const std::string there = task_members(golden_op, table.golden->text(golden_op.name), with_inside);
  return here == there ? fmt::format("{} on both sides: {}", what, here)
                       : fmt::format("{}: target {}; golden {}", what, here, there);
}

// What tells the tensor from those of the same name, where the dump has several steps or ranks.
std::string place_options(const ResultTable& table, const Culprit& culprit) {
  bool steps = false, ranks = false;
  for (const StepRank& group : table.target->groups()) {
    steps |= group.step != culprit.step;
    ranks |= group.rank != culprit.rank;
  }
  return (steps ? fmt::format(" --step {}", culprit.step) : "") +
         (ranks ? fmt::format(" --rank {}", culprit.rank) : "");
}

// Whether replay can run its calls again.
bool has_calls(const DumpIndex& index) { return has_api_calls(index.source_name()); }

// What to do about an operation that only the target has: see whether it is right by itself, and whether
// golden has it by another name.
void add_extra_op(std::vector<std::string>& steps, const ResultTable& table, const Culprit& culprit,
                  OpId extra, Mode mode) {
  const OpRow& op = table.target->ops()[extra];
  const std::string name(table.target->text(op.name));
  const std::string target = shell_word(table.target->path());
  if (mode == Mode::data && op.kind == OpKind::api && has_calls(*table.target))
    steps.push_back(
        fmt::format("ulpscope replay {} --op {}{}", target, shell_word(name), place_options(table, culprit)));
  steps.push_back(
      fmt::format("check why only the target has {}; if golden does the same by another name, pair "
                  "the two: ulpscope mapping suggest {} {}",
                  name, target, shell_word(table.golden->path())));
}

// Where an argument or an input comes from that no recorded operation gave.
std::string outside_step(const Culprit& culprit, Mode mode) {
  if (mode == Mode::value)
    return fmt::format("check what sets {} of {} where it is called", culprit.tensor, culprit.op_name);
  return fmt::format("check where {} of {} comes from: it is not the result of a recorded operation",
                     culprit.tensor, culprit.op_name);
}

// Runs the call again in float64 and says which side is off; nothing for what is no call of an API, or is
// called otherwise on the other side.
void add_replay(std::vector<std::string>& steps, const ResultTable& table, const Culprit& culprit) {
  if (culprit.row < 0) return;
  const ItemId golden = table.rows[static_cast<size_t>(culprit.row)].pair.golden;
  if (golden == kNoIndex || table.target->ops()[culprit.op].kind != OpKind::api ||
      !has_calls(*table.target) || !has_calls(*table.golden))
    return;
  const OpRow& golden_op = table.golden->ops()[table.golden->items()[golden].op];
  if (table.golden->text(golden_op.name) != culprit.op_name) return;
  steps.push_back(fmt::format("ulpscope replay {} --op {} --against {}{}", shell_word(table.target->path()),
                              shell_word(culprit.op_name), shell_word(table.golden->path()),
                              place_options(table, culprit)));
}

}  // namespace

std::vector<std::string> next_steps(const ResultTable& table, const Culprit& culprit,
                                    const InputOrigin& origin, Mode mode) {
  std::vector<std::string> steps;
  const bool is_atb = table.target->source_name() == kAtb;
  if (is_atb) add_atb_run(steps, table, culprit, mode);
  if (mode != Mode::data) {
    if (mode == Mode::value && origin.outside)
      steps.push_back(outside_step(culprit, mode));
    else if (!is_atb)
      steps.push_back(collector_run(table, culprit, lacks_inside(table, culprit)));
    if (origin.extra_op != kNoIndex) add_extra_op(steps, table, culprit, origin.extra_op, mode);
    return steps;
  }
  if (origin.extra_op != kNoIndex)
    add_extra_op(steps, table, culprit, origin.extra_op, mode);
  else if (!origin.outside)
    add_replay(steps, table, culprit);
  steps.push_back(fmt::format("ulpscope show {} {}{}", shell_word(table.target->path()),
                              shell_word(culprit.op_name + " " + culprit.tensor),
                              place_options(table, culprit)));
  if (origin.outside) steps.push_back(outside_step(culprit, mode));
  if (lacks_inside(table, culprit)) steps.push_back(collector_run(table, culprit, true));
  return steps;
}

}  // namespace ulpscope
