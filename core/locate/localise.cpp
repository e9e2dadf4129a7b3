#include "locate/localise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "base/batches.hpp"
#include "base/text.hpp"
#include "locate/evidence.hpp"
#include "locate/fault_finder.hpp"
#include "locate/lone_groups.hpp"

namespace ulpscope {
namespace {

// Listed below the culprits; more would bury them.
constexpr size_t kMaxSuspects = 10;
constexpr std::string_view kFileSource = "tensor_files";

bool differs(const RowError& row) { return row.comparable && (!row.identical || row.shape_mismatch); }

// Whether a difference of the row alone may be called rounding: classes, shapes and exact types never are.
bool may_be_rounding(const RowError& row) {
  return row.comparable && !row.class_mismatch && !row.shape_mismatch && !row.exact_type && !row.value;
}

struct Counts {
  int64_t compared = 0, differing = 0, one_sided_ops = 0, unreadable = 0;
  int64_t one_sided_outputs = 0, nan_outputs = 0;   // of paired calls; NaN on both sides
  int64_t one_sided_output_row = -1, nan_row = -1;  // the first of each
  OpId moved_op =
      kNoIndex;  // the first call of the target that golden makes before one that stands before it

  // Adds what was counted of other rows.
  void add(const Counts& part) {
    const auto first = [](int64_t a, int64_t b) { return a < 0 || b < 0 ? std::max(a, b) : std::min(a, b); };
    compared += part.compared;
    differing += part.differing;
    unreadable += part.unreadable;
    one_sided_outputs += part.one_sided_outputs;
    nan_outputs += part.nan_outputs;
    one_sided_output_row = first(one_sided_output_row, part.one_sided_output_row);
    nan_row = first(nan_row, part.nan_row);
  }
};

// Whether the operations stand in the order of their calls. Those of files that no dump.json goes with stand
// in the order of their names, and nothing is recorded of them but the tensors in the files.
bool knows_order(const DumpIndex& index) {
  const std::string_view source = index.source_name();
  if (source == kFileSource) return false;
  if (source != "torch_api" && source != "vllm_v0" && source != "vllm_v1") return true;
  return std::any_of(
             index.ops().begin(), index.ops().end(),
             [](const OpRow& op) { return op.attributes != 0 || op.stack != 0 || op.parent != kNoIndex; }) ||
         std::any_of(index.tensors().begin(), index.tensors().end(), [](const TensorRow& tensor) {
           return tensor.stats.present != 0 || tensor.digest != 0 ||
                  (tensor.data_kind == ULPSCOPE_DATA_NONE && tensor.absent != ULPSCOPE_ABSENT_BAD);
         });
}

// Modules are recorded where they end, kernels where a clock says: only the order of calls is part of a run.
OpId first_moved_call(const ResultTable& table) {
  if (!knows_order(*table.target) || !knows_order(*table.golden)) return kNoIndex;
  std::vector<OpId> golden_of(table.target->ops().size(), kNoIndex);
  for (const OpPair& pair : table.pairs.ops)
    if (pair.target != kNoIndex) golden_of[pair.target] = pair.golden;
  for (const StepRank& group : table.target->groups()) {
    OpId latest = 0;
    for (const OpId op : group.ops) {
      if (golden_of[op] == kNoIndex || table.target->ops()[op].kind != OpKind::api) continue;
      if (golden_of[op] < latest) return op;
      latest = golden_of[op];
    }
  }
  return kNoIndex;
}

// Whether a tensor that a paired call gives was recorded on one side only.
bool is_one_sided_output(const ResultTable& table, const ResultRow& row) {
  if ((row.pair.target == kNoIndex) == (row.pair.golden == kNoIndex)) return false;
  const OpPair& op = table.pairs.ops[row.pair.op_pair];
  if (op.target == kNoIndex || op.golden == kNoIndex || row.pair.why != OneSided::unmatched) return false;
  const ItemRow& item = row.pair.target != kNoIndex ? table.target->items()[row.pair.target]
                                                    : table.golden->items()[row.pair.golden];
  return item.role == Role::output && item.tensor != kNoIndex;
}

// Whether both sides hold NaN, so that their agreement says little.
bool is_nan_output(const ResultTable& table, const ResultRow& row) {
  if (row.pair.target == kNoIndex || row.pair.golden == kNoIndex) return false;
  const ItemRow &t = table.target->items()[row.pair.target], &g = table.golden->items()[row.pair.golden];
  if (t.role != Role::output || t.tensor == kNoIndex || g.tensor == kNoIndex) return false;
  return std::isnan(table.target->tensors()[t.tensor].stats.max) &&
         std::isnan(table.golden->tensors()[g.tensor].stats.max);
}

// Of some rows; what comes first is told by the row of the smaller number.
void count_rows(const ResultTable& table, const FaultFinder& finder, int64_t first, int64_t end,
                Counts& counts) {
  for (int64_t i = first; i < end; ++i) {
    const RowError& error = finder.rows()[static_cast<size_t>(i)];
    const ResultRow& row = table.rows[static_cast<size_t>(i)];
    counts.compared += error.comparable && !error.value ? 1 : 0;
    counts.differing += differs(error) && !error.value ? 1 : 0;
    counts.unreadable += row.unreadable ? 1 : 0;
    if (is_one_sided_output(table, row) && counts.one_sided_outputs++ == 0) counts.one_sided_output_row = i;
    if (is_nan_output(table, row) && counts.nan_outputs++ == 0) counts.nan_row = i;
  }
}

Counts count(const ResultTable& table, const FaultFinder& finder, ThreadPool& pool) {
  Counts counts;
  std::mutex mutex;  // guards counts
  for_batches(pool, static_cast<int64_t>(table.rows.size()), [&](int64_t first, int64_t end) {
    Counts part;
    count_rows(table, finder, first, end, part);
    const std::lock_guard lock(mutex);
    counts.add(part);
  });
  for (const OpPair& pair : table.pairs.ops)
    counts.one_sided_ops += (pair.target == kNoIndex || pair.golden == kNoIndex) && !pair.by_design ? 1 : 0;
  counts.moved_op = first_moved_call(table);
  return counts;
}

// Two files, or two folders of them: nothing is known of inputs, so no culprit can be named.
bool knows_nothing_of_inputs(const ResultTable& table) {
  return table.target->source_name() == kFileSource && table.golden->source_name() == kFileSource;
}

// Whether a row of two files differs by no more than one rounding of the coarser format. Against a golden of
// zeros nothing gives the scale that a rounding would have.
bool is_one_rounding(const RowError& row, const Priors& priors) {
  return may_be_rounding(row) && row.roundoff > 0 && !row.golden_zero &&
         row.rel_l2 <= priors.external_constant * row.roundoff &&
         row.worst <= priors.worst_constant * row.roundoff;
}

std::string_view name_of(const ResultTable& table, const FaultFinder& finder, size_t op) {
  return table.target->text(table.target->ops()[table.pairs.ops[finder.ops()[op].op_pair].target].name);
}

// What to dump where statistics end: the call whose result differs, and those that gave its masked inputs.
std::string blind_note(const ResultTable& table, const FaultFinder& finder) {
  const size_t op = finder.blind().front();
  const OpError& error = finder.ops()[op];
  const OpRow& record = table.target->ops()[table.pairs.ops[error.op_pair].target];
  std::string list = fmt::format("\"{}\"", name_of(table, finder, op));
  for (int64_t row = error.first_row; row < error.first_row + error.row_count; ++row) {
    const OpId producer = finder.rows()[static_cast<size_t>(row)].blind ? finder.producer_of(row) : kNoIndex;
    if (producer != kNoIndex)
      list += fmt::format(", \"{}\"", table.target->text(table.target->ops()[producer].name));
  }
  return fmt::format(
      "{} gives other statistics, and those of its inputs would not show a difference (masked values): dump "
      "it and what feeds it on both sides, \"task\": \"tensor\", \"step\": [{}], \"rank\": [{}], \"list\": "
      "[{}]",
      name_of(table, finder, op), std::max(record.step, 0), std::max(record.rank, 0), list);
}

std::string run_verdict(const ResultTable& table, const FaultFinder& finder, const Counts& counts,
                        const LocaliseOptions& options, std::vector<std::string>& notes) {
  if (counts.compared == 0) {
    notes.push_back(
        counts.unreadable > 0 || options.lost_input
            ? "no tensor could be compared: dump again, or repair what the errors name"
            : "no tensor could be compared: dump with task tensor or statistics on both sides, or "
              "name what belongs together in a mapping file");
    return "inconclusive";
  }
  if (knows_nothing_of_inputs(table)) {
    const bool rounding = std::all_of(finder.rows().begin(), finder.rows().end(), [&](const RowError& row) {
      return !differs(row) || is_one_rounding(row, options.priors);
    });
    if (counts.differing > 0 && !rounding)
      notes.push_back("files say nothing of inputs: compare dumps of the run to find the operation at fault");
    return counts.differing == 0 ? (counts.unreadable > 0 ? "inconclusive" : "identical")
           : rounding            ? "rounding"
                                 : "inconclusive";
  }
  if (!finder.faults().empty())
    return finder.faults().front().kind == FaultKind::compute_fault ? "compute_fault" : "input_fault";
  if (counts.unreadable > 0) {
    notes.push_back("the data of some pairs could not be read: dump again, or repair them");
    return "inconclusive";
  }
  if (!finder.blind().empty()) {
    notes.push_back(blind_note(table, finder));
    return "inconclusive";
  }
  for (size_t i = 0; i < finder.ops().size(); ++i) {
    if (finder.state(i) != OpState::inherited) continue;
    notes.push_back(
        "values differ, and where they come from was not recorded: dump at level mix, with inputs and "
        "outputs");
    return "inconclusive";
  }
  if (counts.differing > 0) return "rounding";
  if (counts.moved_op != kNoIndex)
    notes.push_back(fmt::format("{} stands at another place among the calls of the other side",
                                table.target->text(table.target->ops()[counts.moved_op].name)));
  const bool structure =
      counts.one_sided_ops > 0 || counts.one_sided_outputs > 0 || counts.moved_op != kNoIndex;
  return structure ? "structure_only" : "identical";
}

// "Torch.matmul.0.forward output.0", of the side that has it.
std::string row_name(const ResultTable& table, int64_t number) {
  const ItemPair& pair = table.rows[static_cast<size_t>(number)].pair;
  const DumpIndex& index = pair.target != kNoIndex ? *table.target : *table.golden;
  const ItemId item = pair.target != kNoIndex ? pair.target : pair.golden;
  return fmt::format("{} {}", index.text(index.ops()[index.items()[item].op].name), index.item_name(item));
}

// What a verdict without a culprit must not hide: results that were not compared, and NaN on both sides.
void note_uncompared(const ResultTable& table, const Counts& counts, const LoneGroups& lone,
                     std::vector<std::string>& notes) {
  if (counts.one_sided_outputs > 0)
    notes.push_back(fmt::format(
        "{} {} of paired calls {} recorded on one side only and could not be compared, first {}",
        counts.one_sided_outputs, counts.one_sided_outputs == 1 ? "output" : "outputs",
        counts.one_sided_outputs == 1 ? "is" : "are", row_name(table, counts.one_sided_output_row)));
  if (counts.nan_outputs > 0)
    notes.push_back(fmt::format(
        "NaN on both sides in {} {}, first {}: `ulpscope overflow` shows where it starts", counts.nan_outputs,
        counts.nan_outputs == 1 ? "output" : "outputs", row_name(table, counts.nan_row)));
  std::vector<bool> alone(table.target->ops().size(), false);
  for (const OpPair& pair : table.pairs.ops)
    if (pair.target != kNoIndex) alone[pair.target] = pair.golden == kNoIndex && !pair.by_design;
  for (const StepRank& group : table.target->groups()) {
    const bool is_told = std::find(lone.target.begin(), lone.target.end(), &group) != lone.target.end();
    if (group.ops.empty() || !alone[group.ops.back()] || is_told) continue;
    notes.push_back(
        fmt::format("{}, the last call of step {}, has no partner: what it gives was not compared",
                    table.target->text(table.target->ops()[group.ops.back()].name), std::max(group.step, 0)));
    return;
  }
}

// What was not read may hold what is looked for: that nothing was found in the rest proves nothing.
void doubt_lost_input(Localisation& found) {
  const std::string_view rest = found.verdict == "identical"        ? "is equal"
                                : found.verdict == "rounding"       ? "differs by no more than rounding"
                                : found.verdict == "structure_only" ? "has equal values"
                                                                    : "";
  if (rest.empty()) return;
  found.verdict = "inconclusive";
  found.notes.push_back(fmt::format("a part of the dumps could not be read; the rest {}", rest));
}

// Parameters that differ where no culprit names them: they may still be the reason for what differs.
void note_parameters(const ResultTable& table, const FaultFinder& finder, std::vector<std::string>& notes) {
  size_t count = 0;
  std::string first;
  for (const auto& [op, differences] : finder.parameters().all()) {
    if (finder.state(op) == OpState::culprit) continue;
    if (count++ == 0) first = fmt::format("{}: {}", name_of(table, finder, op), parameter_text(differences));
  }
  if (count > 0)
    notes.push_back(fmt::format("parameters differ in {} {}, first {}", count,
                                count == 1 ? "operation" : "operations", first));
}

// Rows of one op pair: culprit, inherited, or explained.
void set_causes(ResultTable& table, const FaultFinder& finder, ThreadPool& pool) {
  const auto set_cause = [&](size_t op, int64_t number) {
    const RowError& error = finder.rows()[static_cast<size_t>(number)];
    if (!differs(error)) return;
    ResultRow& row = table.rows[static_cast<size_t>(number)];
    const OpState state = finder.state(op);
    if (state == OpState::inherited || state == OpState::culprit)
      row.cause = Cause::inherited;
    else if (may_be_rounding(error))
      row.cause = Cause::rounding;
  };
  for_batches(pool, static_cast<int64_t>(finder.ops().size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const OpError& op = finder.ops()[static_cast<size_t>(i)];
      for (int64_t r = op.first_row; r < op.first_row + op.row_count; ++r)
        set_cause(static_cast<size_t>(i), r);
    }
  });
  for (const Fault& fault : finder.faults())
    table.rows[static_cast<size_t>(fault.row)].cause = Cause::culprit;
}

// Most pairs of a run against another precision differ in dtype: that says nothing of the single row.
struct Usual {
  bool dtype_differs = false, squeezed = false;
};

Usual usual_difference(const ResultTable& table, ThreadPool& pool) {
  std::atomic<int64_t> tensors = 0, dtypes = 0, squeezes = 0;
  for_batches(pool, static_cast<int64_t>(table.rows.size()), [&](int64_t first, int64_t end) {
    int64_t tensors_here = 0, dtypes_here = 0, squeezes_here = 0;
    for (int64_t i = first; i < end; ++i) {
      const ResultRow& row = table.rows[static_cast<size_t>(i)];
      if (row.pair.target == kNoIndex || row.pair.golden == kNoIndex || row.mode == Mode::value ||
          row.mode == Mode::none)
        continue;
      const DType t = table.target->tensors()[table.target->items()[row.pair.target].tensor].dtype;
      const DType g = table.golden->tensors()[table.golden->items()[row.pair.golden].tensor].dtype;
      if (roundoff_of(t) == 0 && roundoff_of(g) == 0) continue;
      ++tensors_here;
      dtypes_here += t != g ? 1 : 0;
      squeezes_here += row.squeezed ? 1 : 0;
    }
    tensors += tensors_here;
    dtypes += dtypes_here;
    squeezes += squeezes_here;
  });
  return {dtypes * 2 > tensors, squeezes * 2 > tensors};
}

// The verdict of a row by itself and by what localise found of its cause.
void set_verdict(const ResultTable& table, const FaultFinder& finder, const RowError& error,
                 const Usual& usual, bool soften, ResultRow& row) {
  row.verdict = row.judged;
  if (row.judged == Verdict::fail && row.grad_only) row.verdict = Verdict::warning;
  if (row.mode == Mode::value || row.mode == Mode::none || row.pair.target == kNoIndex ||
      row.pair.golden == kNoIndex)
    return;
  const bool equal_values = error.comparable && error.identical && !error.shape_mismatch;
  // A chosen judgement is never softened.
  if (!soften || row.judgement != 0 ||
      !(row.cause == Cause::rounding ||
        (row.cause == Cause::none && equal_values && finder.mixed_precision())))
    return;
  if (row.grad_only || error.exact_type) return;
  const DType t = table.target->tensors()[table.target->items()[row.pair.target].tensor].dtype;
  const DType g = table.golden->tensors()[table.golden->items()[row.pair.golden].tensor].dtype;
  const bool odd = (t != g) != usual.dtype_differs || row.squeezed != usual.squeezed;
  row.verdict = odd ? std::min(row.judged, Verdict::warning) : Verdict::pass;
  if (row.cause == Cause::none && row.verdict != row.judged) row.cause = Cause::rounding;
}

void set_verdicts(ResultTable& table, const FaultFinder& finder, bool soften, ThreadPool& pool) {
  const Usual usual = usual_difference(table, pool);
  for_batches(pool, static_cast<int64_t>(table.rows.size()), [&](int64_t first, int64_t end) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(end); ++i)
      set_verdict(table, finder, finder.rows()[i], usual, soften, table.rows[i]);
  });
  if (knows_nothing_of_inputs(table)) return;
  for (const Fault& fault : finder.faults()) {
    ResultRow& row = table.rows[static_cast<size_t>(fault.row)];
    row.verdict = std::max(row.verdict, fault.confidence == "weak" ? Verdict::warning : Verdict::fail);
  }
}

// Ops that stand out without being culprits, most suspicious first.
std::vector<Culprit> suspects(const ResultTable& table, const FaultFinder& finder) {
  std::vector<std::pair<double, size_t>> ranked;
  for (size_t i = 0; i < finder.ops().size(); ++i) {
    const GroupStanding& standing = finder.standings()[i];
    const bool apart =
        finder.state(i) == OpState::rounding && standing.known && standing.bits > standing.median;
    if (apart && standing.excess > -1) ranked.emplace_back(-standing.excess, i);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<Culprit> out;
  for (const auto& [excess, op] : ranked) {
    if (out.size() == kMaxSuspects) break;
    const int64_t row = finder.ops()[op].worst_output_row;
    if (row < 0) continue;
    out.push_back(describe(table, finder,
                           {op, row, FaultKind::compute_fault, "weak",
                            fmt::format("amplifies {:.3g} times, its group {:.3g} times in the median",
                                        amplification_of(finder.standings()[op].bits, finder.ops()[op]),
                                        amplification_of(finder.standings()[op].median, finder.ops()[op]))}));
  }
  return out;
}

void set_producers(ResultTable& table, const FaultFinder& finder, ThreadPool& pool) {
  for_batches(pool, static_cast<int64_t>(table.rows.size()), [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i)
      table.rows[static_cast<size_t>(i)].producer = finder.producer_row(i);
  });
}

const char* to_text(OpState state) {
  switch (state) {
    case OpState::clean:
      return "clean";
    case OpState::rounding:
      return "rounding";
    case OpState::culprit:
      return "culprit";
    case OpState::inherited:
      return "inherited";
    case OpState::tie:
      return "tie";
  }
  return "clean";
}

// The numbers that decided on the ops whose name matches glob, one paragraph each.
std::vector<std::string> explain(const ResultTable& table, const FaultFinder& finder, const Priors& priors,
                                 const std::string& glob) {
  std::vector<std::string> out;
  for (size_t i = 0; i < finder.ops().size(); ++i) {
    const OpError& op = finder.ops()[i];
    const OpRow& record = table.target->ops()[table.pairs.ops[op.op_pair].target];
    const std::string_view name = table.target->text(record.name);
    if (!glob_match(glob, name)) continue;
    const GroupStanding& standing = finder.standings()[i];
    const std::string_view type = table.target->text(record.type);
    std::string text =
        fmt::format("{}  step {}  rank {}  {}\n", name, record.step, record.rank, to_text(finder.state(i)));
    text += fmt::format("  inputs   {} compared, {} differ, error {:.3e}, worst {:.3e}, bias {:.1e}\n",
                        op.inputs, op.differing_inputs, op.in, op.in_worst, op.in_bias);
    text += fmt::format(
        "  outputs  {} compared, {} differ, error {:.3e}, worst {:.3e}, bias over allowed {:.2f}\n",
        op.outputs, op.differing_outputs, op.out, op.out_worst, op.bias_excess);
    text += fmt::format("  formats  u {:.3e}, K {:.0f}, kappa {:.0f}: explained up to {:.3e}\n", op.roundoff,
                        op.reduction, priors.kappa(type), finder.explained_error(i));
    if (standing.members > 0)
      text += fmt::format(
          "  group    {} calls of {}: amplification {:.3f} bits, median {:.3f}, deviation {:.3f}, {} the "
          "limit by {:.3f}\n",
          standing.members, type, standing.bits, standing.median, standing.deviation,
          standing.excess > 0 ? "over" : "below", std::fabs(standing.excess));
    if (op.noise_known)
      text += fmt::format(
          "  noise    inputs differ {:.3g} times as much as two golden runs do, outputs {:.3g} times\n",
          op.in_over_noise, op.out_over_noise);
    text += fmt::format("  run      {}{}\n", finder.deterministic() ? "deterministic" : "rounding differs",
                        finder.mixed_precision() ? ", mixed precision" : "");
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace

void localise(ResultTable& table, const LocaliseOptions& options, ThreadPool& pool) {
  const FaultFinder finder(table, options.priors, options.noise, options.not_tied, pool);
  const Counts counts = count(table, finder, pool);
  set_producers(table, finder, pool);
  Localisation& found = table.localisation;
  found = {};
  found.verdict = run_verdict(table, finder, counts, options, found.notes);
  if (options.lost_input) doubt_lost_input(found);
  note_parameters(table, finder, found.notes);
  const LoneGroups lone = lone_groups(table);
  if (finder.faults().empty() && counts.compared > 0 && !knows_nothing_of_inputs(table))
    note_uncompared(table, counts, lone, found.notes);
  for (std::string& note : lone_group_notes(table, lone)) found.notes.push_back(std::move(note));
  if (!knows_nothing_of_inputs(table)) {
    for (const Fault& fault : finder.faults()) found.culprits.push_back(describe(table, finder, fault));
    found.suspects = suspects(table, finder);
    set_causes(table, finder, pool);
  } else {
    for (size_t i = 0; i < table.rows.size(); ++i)
      if (differs(finder.rows()[i]) && is_one_rounding(finder.rows()[i], options.priors))
        table.rows[i].cause = Cause::rounding;
  }
  set_verdicts(table, finder, options.soften, pool);
  found.assumed_ties = finder.assumed_ties();
  found.claimed_ties = finder.claimed_ties();
  if (!options.explain_glob.empty())
    found.explanations = explain(table, finder, options.priors, options.explain_glob);
  for (const ResultRow& row : table.rows)
    found.propagated += row.cause == Cause::inherited && row.mode != Mode::value ? 1 : 0;
}

}  // namespace ulpscope
