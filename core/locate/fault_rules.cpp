// The rules that turn what comes into an op and what it gives into a state.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "locate/fault_finder.hpp"

namespace ulpscope {
namespace {

// Operations whose output is memory as it was found: its content says nothing.
constexpr std::array kUninitialised = {"empty",     "empty_like",        "empty_strided",
                                       "new_empty", "new_empty_strided", "empty_with_format"};
// Operations that take a weight and a bias behind their input.
constexpr std::array kReadingWeights = {"*linear*", "*embedding*", "*norm*", "conv*"};
// Calls of a type of which one may differ from all others.
constexpr size_t kLeastSiblings = 5;
// Operations that choose among values: with nearly equal values another index is as right.
constexpr std::array kChoosing = {
    "*topk*", "*argmax*",  "*argmin*", "*sort*",     "*multinomial*", "*top_k*",  "*sample*", "max",
    "min",    "*nonzero*", "*unique*", "*bincount*", "*one_hot*",     "*gating*", "*router*", "*gate*"};
// Of these the ones whose result has a shape that the inputs' shapes tell.
constexpr std::array kFixedShape = {"*topk*", "*argmax*", "*argmin*", "*sort*", "*top_k*", "max", "min"};

template <size_t N>
bool any_of(const std::array<const char*, N>& globs, std::string_view type) {
  return std::any_of(globs.begin(), globs.end(),
                     [&](const char* glob) { return glob_match(glob, type, true); });
}

}  // namespace

FaultFinder::TypeFacts FaultFinder::facts_of(TextId type) const {
  const std::string_view name = table_.target->text(type);
  return {priors_.class_of(name), any_of(kUninitialised, name), any_of(kReadingWeights, name)};
}

void FaultFinder::judge(size_t op) {
  const OpError& error = ops_[op];
  if (facts_of_type_.at(target_op(op).type).uninitialised) return;
  if (error.gradients) {
    judge_gradients(op);
    return;
  }
  const bool differs = error.differing_inputs > 0 || error.differing_outputs > 0 || error.value_mismatch;
  const Incoming in = differs ? look_at_all_ranks(op) : Incoming();
  remember_writer(op);
  if (!differs) return;
  if (argument_explains(op, in)) {
    if (argument_came_in(op)) {
      set_state(op, OpState::inherited);
      return;
    }
    blamed_arguments_.insert(argument_fault(op));
    const bool equal = error.differing_inputs == 0;
    const bool large = exceeds_inputs(error);
    blame(op, error.value_row, FaultKind::input_fault,
          equal   ? "certain"
          : large ? "strong"
                  : "weak",
          equal   ? "an argument differs and every input tensor is equal"
          : large ? "an argument differs, and the output differs by more than the input tensors explain"
                  : "an argument differs; rounding alone could be as large as what the output differs by");
    return;
  }
  if (parameter_explains(op, in)) {
    blame(op, error.worst_output_row, FaultKind::compute_fault,
          error.differing_inputs == 0 && deterministic_ ? "certain" : "strong",
          "a parameter differs: " + parameter_text(*parameters_.of(op)));
    return;
  }
  if (deterministic_) {
    judge_exact(op, in);
    return;
  }
  judge_rounding(op, in);
  count_flips(op);
}

// Statistics of indexes may agree although a choice among nearly equal values fell otherwise: so many
// elements, each with about the chance of the error that came in.
void FaultFinder::count_flips(size_t op) {
  const OpError& error = ops_[op];
  if (!error.statistics || error.differing_inputs == 0 || !any_of(kChoosing, type_of(op))) return;
  ranks_[target_op(op).rank].flips += expected_flips(op);
}

double FaultFinder::expected_flips(size_t op) const {
  const auto rank = ranks_.find(target_op(op).rank);
  const double noise = rank == ranks_.end() ? 0 : rank->second.noise;
  double choices = 0;
  for (const ItemRow& item : table_.target->items(op_id(op)))
    if (item.role == Role::output && item.tensor != kNoIndex)
      choices += static_cast<double>(table_.target->element_count(item.tensor));
  return choices * std::max({ops_[op].in, noise, ops_[op].roundoff});
}

// In a deterministic run whatever differs either came in or starts here.
void FaultFinder::judge_exact(size_t op, const Incoming& in) {
  const OpError& error = ops_[op];
  if (in.external_row >= 0 && !inner_differs(op)) {
    blame(op, in.external_row, FaultKind::input_fault, "certain", external_reason(in));
    faults_.back().rewired = in.external_rewired;
    return;
  }
  if (in.structural_row >= 0 && !in.inherited && !in.tie && !inner_differs(op)) {
    blame(op, in.structural_row, FaultKind::input_fault, "certain", structural_reason(in));
    faults_.back().extra_op = static_cast<OpId>(in.structural_op);
    return;
  }
  const bool from_fault = in.inherited || inner_bad_[op_id(op)] == kInnerFault;
  if (error.differing_inputs > 0 || from_fault || inner_differs(op)) {
    set_state(op, !from_fault && (in.tie || inner_differs(op)) ? OpState::tie : OpState::inherited);
    return;
  }
  if (error.differing_outputs == 0) return;
  if (untied_row(op) < 0 && is_tie(op)) {
    set_state(op, OpState::tie);
    return;
  }
  if (forward_differs(op) || hidden_state_differs(op) || is_blind(op)) {
    set_state(op, OpState::inherited);
    return;
  }
  const int64_t row = error.worst_output_row;
  if (lacks_other_ranks(op)) {
    blame(op, row, FaultKind::compute_fault, "weak",
          "the inputs of this rank agree; those of the other ranks of its group are not recorded");
    return;
  }
  const bool exact = table_.rows[static_cast<size_t>(row)].mode != Mode::statistics;
  if (error.inputs == 0) {
    if (ranks_[target_op(op).rank].tainted) {
      set_state(op, OpState::inherited);
      return;
    }
    blame(op, row, FaultKind::compute_fault, "weak",
          "the first output that differs; its inputs are not recorded");
    return;
  }
  const bool appears = error.out_class_mismatch && !error.blind_input;
  blame(op, row, FaultKind::compute_fault, exact || appears ? "certain" : "strong",
        exact ? "inputs are bit-identical"
              : "inputs have equal statistics, which those of another order have too");
}

// Where healthy results differ too, a fault is what neither inputs nor formats explain.
void FaultFinder::judge_rounding(size_t op, const Incoming& in) {
  if (!judge_incoming(op, in)) judge_outputs(op);
}

// Whether what came in decides already: a fault of an input, or one of an earlier op.
bool FaultFinder::judge_incoming(size_t op, const Incoming& in) {
  if (in.external_row >= 0 && !inner_differs(op)) {
    blame(op, in.external_row, FaultKind::input_fault, in.external_certain ? "certain" : "strong",
          external_reason(in));
    faults_.back().rewired = in.external_rewired;
    return true;
  }
  if (in.structural_row >= 0 && !in.inherited && !in.tie && !inner_differs(op)) {
    const RowError& difference = rows_[static_cast<size_t>(in.structural_row)];
    const double allowed =
        priors_.external_constant * std::max(difference.roundoff, ranks_[target_op(op).rank].noise);
    const bool measured = difference.magnitude && !difference.exact_type && !difference.shape_mismatch;
    if (!measured || !(difference.rel_l2 <= allowed)) {
      blame(op, in.structural_row, FaultKind::input_fault, "strong", structural_reason(in));
      faults_.back().extra_op = static_cast<OpId>(in.structural_op);
      return true;
    }
  }
  if (in.inherited || (has_inner(op) && inner_differs(op))) {
    const bool inherits = in.inherited || (inner_bad_[op_id(op)] == kInnerFault && !in.tie);
    set_state(op, inherits ? OpState::inherited : OpState::tie);
    return true;
  }
  if (in.tie) set_state(op, OpState::tie);
  return in.tie;
}

// Whether some input of an op was compared, or leads to the op that made it.
bool FaultFinder::knows_inputs(size_t op) const {
  const OpError& error = ops_[op];
  if (error.inputs > 0) return true;
  for (int64_t row = error.first_row; row < error.first_row + error.row_count; ++row)
    if (is_missing_input(row) && flows_[0].producer(target_item(row)) != kNoIndex) return true;
  return false;
}

// What the op itself adds to clean or explained inputs.
void FaultFinder::judge_outputs(size_t op) {
  const OpError& error = ops_[op];
  if (error.differing_outputs == 0) {
    if (error.differing_inputs > 0) states_[op] = OpState::rounding;
    return;
  }
  if (const int64_t untied = untied_row(op); untied >= 0) {
    blame(op, untied, FaultKind::compute_fault, "strong",
          "it chooses another element, whose value differs by more than the inputs do");
    return;
  }
  if (error.out_shape_mismatch && std::isfinite(error.in) && any_of(kFixedShape, type_of(op))) {
    blame(op, error.worst_output_row, FaultKind::compute_fault, "certain",
          "the shape of an output differs and the inputs' shapes agree");
    return;
  }
  if (narrows_alone(op)) {
    blame(op, error.worst_output_row, FaultKind::compute_fault, "strong",
          "its result has a coarser format than its inputs, unlike golden's and unlike its siblings'");
    return;
  }
  if (is_tie(op)) {
    set_state(op, OpState::tie);
    return;
  }
  if (explained(op)) {
    set_state(op, OpState::rounding);
    return;
  }
  if (error.out_exact_mismatch && !error.out_class_mismatch && error.differing_inputs > 0 &&
      ((any_of(kChoosing, type_of(op)) && !error.statistics) || !std::isfinite(error.out))) {
    set_state(op, OpState::tie);
    return;
  }
  // Of a call whose inputs nothing is known of what differs may have come in, once something has.
  const bool may_inherit = !knows_inputs(op) && ranks_[target_op(op).rank].tainted;
  if (may_inherit || forward_differs(op) || hidden_state_differs(op) || is_blind(op)) {
    set_state(op, OpState::inherited);
    return;
  }
  const bool sure = (error.out_class_mismatch && !error.blind_input) ||
                    (error.differing_inputs == 0 && error.inputs > 0 && error.out_exact_mismatch);
  blame(op, error.worst_output_row, FaultKind::compute_fault,
        sure                                         ? "certain"
        : error.inputs == 0 || lacks_other_ranks(op) ? "weak"
                                                     : "strong",
        unexplained_reason(op));
}

std::string FaultFinder::structural_reason(const Incoming& in) const {
  const OpRow& extra = table_.target->ops()[static_cast<size_t>(in.structural_op)];
  return fmt::format("it comes from {}, a call that only the target makes", table_.target->text(extra.name));
}

// Whether the output differs by more than the inputs and one rounding explain, whatever the operation.
bool FaultFinder::exceeds_inputs(const OpError& error) const {
  return !(error.out <= priors_.format_constant * (error.in + error.roundoff));
}

// Another scale or epsilon makes another result, however little of it shows beside the rounding.
bool FaultFinder::parameter_explains(size_t op, const Incoming& in) const {
  return parameters_.real_differs(op) && ops_[op].worst_output_row >= 0 && ops_[op].differing_outputs > 0 &&
         !in.inherited && !in.tie && in.external_row < 0 && in.structural_row < 0 && !inner_differs(op);
}

// The largest output error that the inputs, the formats and the kind of the operation explain.
double FaultFinder::explained_error(size_t op) const {
  const OpError& error = ops_[op];
  const OpClass* known = class_of(op);
  // What a module with another call inside gives is held to what modules mostly do: pass an error on.
  constexpr double kPassing = 2;
  double kappa = known == nullptr ? priors_.other_kappa : known->kappa;
  if (inner_open_[op_id(op)] == kIncomplete) kappa = std::min(kappa, kPassing);
  const double formats = format_error(op);
  const double relative = priors_.format_constant * (kappa * error.in + error.saved + formats);
  // What holds of scores does not hold of the gradients that come back.
  const bool forward = target_op(op).phase != Phase::backward;
  if (!forward || known == nullptr || known->absolute_kappa == 0 || error.in_absolute == 0) return relative;
  return std::min(relative,
                  std::expm1(known->absolute_kappa * error.in_absolute) + priors_.format_constant * formats);
}

// Whether the outputs of an op differ by more than golden runs do, and its inputs do not.
bool FaultFinder::leaves_noise(size_t op) const {
  const OpError& error = ops_[op];
  return twin_ && error.noise_known && error.in_over_noise <= kWithinNoise &&
         error.out_over_noise > kBeyondNoise;
}

bool FaultFinder::explained(size_t op) const {
  const OpError& error = ops_[op];
  if (error.noise_known && error.out_over_noise <= kWithinNoise) return true;
  if (leaves_noise(op) && !has_inner(op)) return false;
  if (error.out_class_mismatch || error.out_shape_mismatch || !std::isfinite(error.out)) return false;
  if (error.out_exact_mismatch && error.roundoff == 0) return false;
  // Statistics cannot tell how an error that came in grows: only a call with clean inputs can be at fault.
  if (error.statistics && error.in > priors_.clean_input * error.roundoff) return true;
  const OpClass* known = class_of(op);
  // What is selected may be small, but no element of it is off by more than one that came in.
  if (!error.statistics && known != nullptr && known->selects && error.in_absolute > 0 &&
      error.out_absolute <= error.in_absolute)
    return true;
  if (error.statistics && known != nullptr && !known->sensitive) {
    // Inputs whose statistics agree may still be off by what the run has shown elsewhere, and so may a part
    // of them.
    const auto rank = ranks_.find(target_op(op).rank);
    const double in = std::max(error.in, rank == ranks_.end() ? 0 : rank->second.noise);
    const bool is_off_by_factor = !known->selects && error.bias_excess > 1;
    return !is_off_by_factor && error.out <= priors_.format_constant * (known->kappa * in + error.roundoff);
  }
  if (inner_says_all(op)) return true;  // what is inside was judged for itself
  if (!(error.out <= explained_error(op))) return false;
  const double formats = format_error(op);
  const double kappa = known == nullptr ? priors_.other_kappa : known->kappa;
  if (!error.statistics &&
      !(error.out_worst <=
        priors_.worst_constant * (kappa * std::max(error.in, error.in_worst) + error.saved + formats)))
    return false;
  const GroupStanding& standing = standings_[op];
  if (standing.known && standing.excess > 0 && error.out > 2 * error.roundoff) return false;
  return !(error.bias_excess > 1 && error.out > error.roundoff);
}

std::string FaultFinder::unexplained_reason(size_t op) const {
  const OpError& error = ops_[op];
  if (error.out_class_mismatch) return "NaN or infinity appears here and came in nowhere";
  if (leaves_noise(op) && std::isfinite(error.out_over_noise))
    return fmt::format("differs {:.3g} times as much as two golden runs do", error.out_over_noise);
  if (leaves_noise(op)) return "differs where two golden runs agree";
  if (error.out_shape_mismatch) return "the shape of an output differs and the inputs' shapes agree";
  if (error.out_exact_mismatch && error.roundoff == 0) return "an exact output differs and the inputs agree";
  const GroupStanding& standing = standings_[op];
  if (standing.known && standing.excess > 0)
    return fmt::format("amplifies {:.3g} times, its {} siblings {:.3g} times in the median",
                       amplification_of(standing.bits, error), standing.members,
                       amplification_of(standing.median, error));
  if (error.bias_excess > 1) return "target is a constant factor off golden, which rounding never is";
  return fmt::format("output error {:.2e} from input error {:.2e}, above what the formats allow", error.out,
                     error.in);
}

// Whether the op rounds to a coarser format than its inputs have while neither golden nor most calls of its
// type do. Which is the very purpose of a cast.
bool FaultFinder::narrows_alone(size_t op) const {
  const OpError& error = ops_[op];
  if (!error.target_narrows || error.golden_narrows || error.differing_outputs == 0) return false;
  const OpClass* known = class_of(op);
  if (known != nullptr && known->selects) return false;
  size_t narrowing = 0;
  const auto siblings = relations_.same_type(op);
  for (const size_t sibling : siblings) narrowing += ops_[sibling].target_narrows ? 1 : 0;
  return siblings.size() >= kLeastSiblings && narrowing * kLeastSiblings <= siblings.size();
}

// The first row of indexes of an op that differs and is known to be no tie; -1: none.
int64_t FaultFinder::untied_row(size_t op) const {
  const OpError& error = ops_[op];
  for (const int64_t row : not_tied_)
    if (row >= error.first_row && row < error.first_row + error.row_count) return row;
  return -1;
}

// Another choice among values that rounding moved: whatever follows from it is no fault either.
bool FaultFinder::is_tie(size_t op) {
  const OpError& error = ops_[op];
  if (!error.out_exact_mismatch || !any_of(kChoosing, type_of(op))) return false;
  // Equal values may hold the largest one twice; which of the two an operation takes is its own affair.
  const bool among_equals = !error.statistics && error.roundoff > 0 && any_of(kFixedShape, type_of(op));
  if (error.differing_inputs == 0 && !among_equals) return false;
  if (error.statistics && expected_flips(op) < kFewFlips) return false;
  for (int64_t row = error.first_row; row < error.first_row + error.row_count; ++row) {
    const RowError& difference = rows_[static_cast<size_t>(row)];
    if (difference.comparable && difference.exact_type && !difference.identical && !difference.value)
      (error.differing_inputs > 0 ? assumed_ties_ : claimed_ties_).push_back(row);
  }
  return true;
}

// Equal statistics of an input prove nothing where they would not show the difference: it may have come in.
// But no masked value moves all statistics of the result by one factor.
bool FaultFinder::is_blind(size_t op) {
  const OpError& error = ops_[op];
  const OpClass* known = class_of(op);
  const RankState& rank = ranks_[target_op(op).rank];
  const bool selects = known != nullptr && known->selects;
  const bool tainted = rank.tainted && rank.tainted_step == target_op(op).step;
  // Integers in another order have equal statistics: what is picked by them, or made of them once something
  // is off, may differ.
  const bool reordered =
      error.exact_input && ((error.out_exact_mismatch && (selects || tainted)) || (selects && tainted));
  const bool unseen = error.blind_input || reordered || (error.out_exact_mismatch && error.blind_mask);
  if (!error.statistics || !unseen || error.bias_excess > 1) return false;
  // A mask makes NaN of a row, which its statistics hide; but a NaN that came in would show.
  if (error.out_class_mismatch && !error.blind_mask) return false;
  blind_.push_back(op);
  return true;
}

// A collective gives what other ranks bring; when none of them was recorded, they may be at fault.
bool FaultFinder::lacks_other_ranks(size_t op) const {
  return target_op(op).kind == OpKind::communication && relations_.peers_of(op).empty();
}

// A backward call reads what its forward call saved: when that one differs already, the difference came in
// there.
bool FaultFinder::forward_differs(size_t op) const {
  const int64_t forward = relations_.forward_of(op);
  if (forward < 0) return false;
  const OpState state = states_[static_cast<size_t>(forward)];
  return state != OpState::clean && state != OpState::rounding;
}

// Attention reads keys and values of earlier steps from a cache that no dump records: when its own inputs
// differed in an earlier step, what it gives now differs because of that. Not so where the cache is one of
// the recorded inputs.
bool FaultFinder::hidden_state_differs(size_t op) const {
  const OpRow& row = target_op(op);
  for (int64_t i = ops_[op].first_row; i < ops_[op].first_row + ops_[op].row_count; ++i)
    if (target_item(i) != kNoIndex && is_declared(i)) return false;
  if (!glob_match("*att*", type_of(op), true) && !glob_match("*cache*", type_of(op), true)) return false;
  const auto stem = [&](const OpRow& r) {
    const std::string_view name = table_.target->text(r.name);
    return name.substr(0, name.rfind(".forward"));
  };
  for (const size_t i : relations_.same_type(op)) {
    const OpRow& other = target_op(i);
    const bool earlier = other.step < row.step || (other.step == row.step && other.token < row.token);
    if (!earlier) break;
    if (ops_[i].differing_inputs == 0) continue;
    if (row.kind == OpKind::module ? stem(other) == stem(row) : states_[i] != OpState::rounding) return true;
  }
  return false;
}

}  // namespace ulpscope
