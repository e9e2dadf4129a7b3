#include "locate/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "kernels/pair_metrics.hpp"
#include "locate/next_run.hpp"
#include "locate/op_error.hpp"

namespace ulpscope {
namespace {

constexpr size_t kStackFrames = 20;

const char* to_text(FaultKind kind) {
  return kind == FaultKind::compute_fault ? "compute_fault" : "input_fault";
}

// The module, layer or operation around an op.
std::string module_of(const DumpIndex& index, OpId op) {
  const OpId parent = index.ops()[op].parent;
  return parent == kNoIndex ? "" : std::string(index.text(index.ops()[parent].name));
}

std::vector<std::string> stack_of(const DumpIndex& index, OpId op) {
  std::vector<std::string> frames;
  for (const std::string_view frame : split(index.text(index.ops()[op].stack), '\n'))
    if (!frame.empty() && frames.size() < kStackFrames) frames.emplace_back(frame);
  return frames;
}

void add(Culprit& culprit, const char* name, const std::string& text) {
  culprit.evidence.emplace_back(name, text);
}
void add(Culprit& culprit, const char* name, double value) { add(culprit, name, number_text(value)); }

// A wrong constant factor says more than the error that it makes.
void add_factor(Culprit& culprit, const PairSums& sums) {
  if (!(sums.squares_golden > 0) || sums.nonfinite_mismatch > 0) return;
  const auto [slope, rest] = factor_of(sums);
  if (std::fabs(slope - 1) > 1e-4 && rest < 0.05 * std::fabs(slope - 1))
    add(culprit, "factor", fmt::format("target is {:.6g} times golden", slope));
}

void add_data_evidence(Culprit& culprit, const ResultTable& table, const DataMetrics& metrics, ItemId item) {
  const PairSums& sums = metrics.sums;
  const TensorId tensor = table.target->items()[item].tensor;
  const auto shape = table.target->shape_of(tensor);
  if (sums.elements > 0)
    add(culprit, "differing",
        fmt::format("{} of {} elements ({:.3g} %)", sums.unequal, sums.elements,
                    100.0 * static_cast<double>(sums.unequal) / static_cast<double>(sums.elements)));
  if (sums.nonfinite_mismatch > 0) {
    add(culprit, "nonfinite_mismatch", static_cast<double>(sums.nonfinite_mismatch));
    const auto place = unravel(sums.first_mismatch_index, shape);
    add(culprit, "first_mismatch", fmt::format("[{}]", fmt::join(place, ",")));
  }
  if (const auto value = max_abs_err(sums)) add(culprit, "max_abs_err", *value);
  if (const auto value = rel_l2(sums)) add(culprit, "rel_l2", *value);
  if (const auto value = cosine(sums)) add(culprit, "cosine", *value);
  add_factor(culprit, sums);
  if (metrics.detail)
    for (size_t i = 0; i < metrics.detail->worst_count; ++i) {
      const WorstElement& worst = metrics.detail->worst[i];
      culprit.worst.push_back({unravel(worst.index, shape), worst.target, worst.golden});
    }
  if (culprit.worst.empty() && sums.max_abs_index >= 0 && sums.max_abs_err > 0)
    culprit.worst.push_back({unravel(sums.max_abs_index, shape), sums.max_abs_target, sums.max_abs_golden});
}

void add_statistics_evidence(Culprit& culprit, const ulpscope_stats& t, const ulpscope_stats& g) {
  const auto pair = [&](const char* name, uint32_t bit, double a, double b) {
    if ((t.present & g.present & bit) != 0 && a != b)
      add(culprit, name, fmt::format("target {}, golden {}", number_text(a), number_text(b)));
  };
  pair("max", ULPSCOPE_STAT_MAX, t.max, g.max);
  pair("min", ULPSCOPE_STAT_MIN, t.min, g.min);
  pair("mean", ULPSCOPE_STAT_MEAN, t.mean, g.mean);
  pair("l2norm", ULPSCOPE_STAT_L2, t.l2norm, g.l2norm);
}

}  // namespace

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("._-/=:,+@").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<int64_t> unravel(int64_t position, std::span<const int64_t> shape) {
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] <= 0) return index;
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

Culprit describe(const ResultTable& table, const FaultFinder& finder, const Fault& fault) {
  const OpId op = table.target->items()[table.rows[static_cast<size_t>(fault.row)].pair.target].op;
  // What an op wrote into an argument is seen where it is read.
  const ResultRow& row = table.rows[static_cast<size_t>(fault.seen_row >= 0 ? fault.seen_row : fault.row)];
  const ItemId item = row.pair.target;
  const OpRow& record = table.target->ops()[op];
  Culprit culprit;
  culprit.op = op;
  culprit.op_name = table.target->text(record.name);
  culprit.tensor = table.target->item_name(table.rows[static_cast<size_t>(fault.row)].pair.target);
  culprit.kind = to_text(fault.kind);
  culprit.confidence = fault.confidence;
  culprit.module = module_of(*table.target, op);
  culprit.step = record.step;
  culprit.rank = record.rank;
  culprit.token = record.token;
  culprit.stack = stack_of(*table.target, op);
  culprit.row = fault.row;
  add(culprit, "reason", fault.reason);
  if (fault.seen_row >= 0)
    add(culprit, "read_as",
        fmt::format("{} {}", table.target->text(table.target->ops()[table.target->items()[item].op].name),
                    table.target->item_name(item)));
  if (const auto* parameters = finder.parameters().of(fault.op))
    add(culprit, "parameters", parameter_text(*parameters));
  if (row.mode == Mode::data && row.metrics >= 0) {
    const DataMetrics& metrics = table.data_metrics[static_cast<size_t>(row.metrics)];
    add_data_evidence(culprit, table, metrics, item);
    if (metrics.crc_mismatch_target || metrics.crc_mismatch_golden) {
      culprit.confidence = "weak";
      add(culprit, "damaged",
          metrics.crc_mismatch_target ? "the target's file does not match its checksum"
                                      : "the golden's file does not match its checksum");
    }
  } else if (row.mode == Mode::value) {
    const ItemRow &t = table.target->items()[item], &g = table.golden->items()[row.pair.golden];
    add(culprit, "argument",
        fmt::format("target {}, golden {}", table.target->text(t.value), table.golden->text(g.value)));
  } else if (row.mode == Mode::statistics) {
    add_statistics_evidence(culprit, table.target->tensors()[table.target->items()[item].tensor].stats,
                            table.golden->tensors()[table.golden->items()[row.pair.golden].tensor].stats);
  }
  const OpError& error = finder.ops()[fault.op];
  const GroupStanding& standing = finder.standings()[fault.op];
  if (!finder.deterministic() && std::isfinite(error.out)) {
    add(culprit, "input_error", error.in);
    add(culprit, "output_error", error.out);
    if (standing.members > 1)
      add(culprit, "group_median_amplification", amplification_of(standing.median, error));
  }
  const bool is_outside =
      fault.kind == FaultKind::input_fault && !fault.rewired && fault.extra_op == kNoIndex;
  culprit.next = next_steps(table, culprit, {is_outside, fault.extra_op}, row.mode);
  return culprit;
}

}  // namespace ulpscope
