// Gradients of parameters: records without inputs, written by a hook after the backward calls that made them.
#include <algorithm>
#include <cmath>

#include "locate/fault_finder.hpp"

namespace ulpscope {
namespace {

// Sums of a few gradients: what came in may grow this much.
constexpr double kSumKappa = 2;

bool differs(const RowError& row) {
  return row.comparable && !row.value && (!row.identical || row.shape_mismatch);
}

}  // namespace

void FaultFinder::judge_gradients(size_t op) {
  const OpError& error = ops_[op];
  OpState state = OpState::clean;
  for (int64_t row = error.first_row; row < error.first_row + error.row_count; ++row) {
    if (!differs(rows_[static_cast<size_t>(row)])) continue;
    std::string confidence;
    const OpState found = gradient_state(row, confidence);
    if (found == OpState::culprit) {
      blame(op, row, FaultKind::compute_fault, std::move(confidence),
            "the gradient differs by more than the backward calls before it explain");
      return;
    }
    state = std::max(state, found);
  }
  if (state != OpState::clean) set_state(op, state);
}

// What a gradient that differs follows from: the backward call that gave it, or where several added to it,
// any before it. confidence: of a culprit.
OpState FaultFinder::gradient_state(int64_t row, std::string& confidence) const {
  const RowError& difference = rows_[static_cast<size_t>(row)];
  const bool bounded = difference.magnitude && !difference.class_mismatch && !difference.shape_mismatch;
  if (difference.over_noise >= 0 && difference.over_noise <= kWithinNoise) return OpState::rounding;
  const GradientSources::Source source = gradient_sources_.of(row);
  const int64_t from = source.golden >= 0 ? source.golden : source.target;
  const auto known = ranks_.find(target_op_of(row).rank);
  const RankState rank = known == ranks_.end() ? RankState() : known->second;
  if (from < 0) {
    if (rank.tainted) return OpState::inherited;
    if (rank.tie) return OpState::tie;
    const double allowed = priors_.format_constant * (priors_.other_kappa * rank.noise + difference.roundoff);
    if (!deterministic_ && bounded && difference.rel_l2 <= allowed) return OpState::rounding;
    confidence = "weak";
    return OpState::culprit;
  }
  const RowError& brought = rows_[static_cast<size_t>(from)];
  const ItemId item = target_item(from);
  const int64_t producer = item == kNoIndex ? -1 : error_of_op_[table_.target->items()[item].op];
  const OpState state = producer < 0 ? OpState::clean : states_[static_cast<size_t>(producer)];
  if (state == OpState::tie) return state;
  if (state == OpState::culprit || (state == OpState::inherited && differs(brought)))
    return OpState::inherited;
  if (source.target == source.golden) return OpState::rounding;
  const double allowed =
      priors_.format_constant * (kSumKappa * (brought.identical ? 0 : brought.rel_l2) + difference.roundoff);
  if (!deterministic_ && bounded && difference.rel_l2 <= allowed) return OpState::rounding;
  confidence = brought.identical && deterministic_ ? "certain" : "strong";
  return OpState::culprit;
}

}  // namespace ulpscope
