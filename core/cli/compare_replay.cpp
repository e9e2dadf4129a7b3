#include "cli/compare_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "cli/replay_run.hpp"
#include "report/finding.hpp"

namespace ulpscope {
namespace {

// The output whose recorded numbers are farthest from the exact ones, in units of what rounding explains.
const ReplayOutput* worst_output(const ReplaySide& side) {
  const ReplayOutput* worst = nullptr;
  for (const ReplayOutput& output : side.outputs) {
    if (output.verdict != side.verdict()) continue;
    if (worst == nullptr || output.recorded.rel_l2.value_or(0) > worst->recorded.rel_l2.value_or(0))
      worst = &output;
  }
  return worst;
}

// "target is off: largest error 2.98e-02, a run in float32 here 2.3e-07".
std::string side_text(std::string_view word, const ReplaySide& side) {
  const ReplayVerdict verdict = side.verdict();
  std::string text = fmt::format("{} is {}", word,
                                 verdict == ReplayVerdict::off    ? "off"
                                 : verdict == ReplayVerdict::fine ? "right"
                                                                  : "not known to be right or off");
  const ReplayOutput* output = worst_output(side);
  if (output == nullptr) return text;
  if (!output->message.empty()) text += fmt::format(" ({})", output->message);
  if (output->recorded.max_abs) text += fmt::format(", largest error {:.1e}", *output->recorded.max_abs);
  if (output->has_rounding && output->rounding.max_abs)
    text += fmt::format(" where a run in {} here has {:.1e}", name(output->dtype), *output->rounding.max_abs);
  return text;
}

// What the replay of one side says; why it could not be run, where that is so.
std::string side_answer(Replayer& replayer, const DumpIndex& index, const OpRow& op, std::string_view word) {
  const std::string call(index.text(op.name));
  const auto failed = [&](const Error& error) {
    return fmt::format("{} could not be run: {}", word, error.message);
  };
  const auto group = std::find_if(index.groups().begin(), index.groups().end(), [&](const StepRank& each) {
    return each.step == op.step && each.rank == op.rank;
  });
  const auto target = find_replay_target(index, *group, call);
  if (!target.ok()) return failed(target.error());
  const auto side = replayer.run(index, *target);
  return side.ok() ? side_text(word, *side) : failed(side.error());
}

}  // namespace

Status add_replays(Context& context, ResultTable& table) {
  std::optional<Replayer> replayer;
  for (Culprit& culprit : table.localisation.culprits) {
    if (culprit.op == kNoIndex || culprit.row < 0) continue;
    const ResultRow& row = table.rows[static_cast<size_t>(culprit.row)];
    if (row.pair.golden == kNoIndex || table.target->ops()[culprit.op].kind != OpKind::api) continue;
    if (!replayer) {
      ULPSCOPE_ASSIGN(replayer, Replayer::create(context, ""));
    }
    const OpId golden = table.golden->items()[row.pair.golden].op;
    const std::string kind(kReplayEvidence);
    culprit.evidence.emplace_back(
        kind + "_target", side_answer(*replayer, *table.target, table.target->ops()[culprit.op], "target"));
    culprit.evidence.emplace_back(
        kind + "_golden", side_answer(*replayer, *table.golden, table.golden->ops()[golden], "golden"));
  }
  if (!replayer) context.log().warning("--replay: there is no culprit that is a call recorded on both sides");
  return {};
}

}  // namespace ulpscope
