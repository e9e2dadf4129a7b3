// How a differing input came to be: through a recorded op, from outside, or through what no dump records.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "locate/fault_finder.hpp"
#include "locate/reductions.hpp"

namespace ulpscope {
// A collective gives what came in on any of its ranks.
FaultFinder::Incoming FaultFinder::look_at_all_ranks(size_t op) {
  Incoming in = look_at_inputs(op);
  for (const size_t peer : relations_.peers_of(op)) {
    const Incoming other = look_at_inputs(peer);
    in.inherited |= other.inherited || other.external_row >= 0 || other.structural_row >= 0;
    in.tie |= other.tie;
  }
  return in;
}

FaultFinder::Incoming FaultFinder::look_at_inputs(size_t op) {
  Incoming in;
  const OpError& error = ops_[op];
  for (int64_t row = error.first_row; row < error.first_row + error.row_count; ++row) {
    const RowError& difference = rows_[static_cast<size_t>(row)];
    if (is_missing_input(row)) producer_state(row, in);  // never good because it is missing
    if (!difference.comparable || difference.value) continue;
    if (!is_input(table_.target->items()[target_item(row)].role)) continue;
    if (!difference.identical || difference.shape_mismatch)
      look_at_input(op, row, in);
    else if (difference.blind)
      producer_state(row, in);
  }
  return in;
}

void FaultFinder::look_at_input(size_t op, int64_t row, Incoming& in) {
  if (producer_state(row, in) && (in.inherited || in.tie || !is_rewired(row))) return;
  look_at_external(op, row, in);
}

// Whether the two sides read results of different operations: a difference that comes from an operation is
// about as large as that of its result.
bool FaultFinder::is_rewired(int64_t row) const {
  const RowError& difference = rows_[static_cast<size_t>(row)];
  if (!difference.magnitude || difference.shape_mismatch || difference.value) return false;
  const ItemId producers[] = {flows_[0].producer(target_item(row)), flows_[1].producer(golden_item(row))};
  int64_t producer_rows[] = {-1, -1};
  double brought = 0;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    if (producers[side] == kNoIndex) continue;
    producer_rows[side] = (side == 0 ? row_of_target_item_ : row_of_golden_item_)[producers[side]];
    if (producer_rows[side] < 0) continue;
    const RowError& error = rows_[static_cast<size_t>(producer_rows[side])];
    if (target_item(producer_rows[side]) == kNoIndex && side == 1) continue;  // golden's alone
    if (!error.comparable || !error.magnitude || error.class_mismatch) return false;
    brought = std::max(brought, error.rel_l2);
  }
  if (producer_rows[0] < 0 && producer_rows[1] < 0) return false;
  return producer_rows[0] != producer_rows[1] && difference.rel_l2 > priors_.rewired_factor * brought;
}

std::string FaultFinder::producer_name(bool target_side, int64_t row) const {
  const DumpIndex& index = target_side ? *table_.target : *table_.golden;
  const ItemId producer =
      flows_[target_side ? 0 : 1].producer(target_side ? target_item(row) : golden_item(row));
  if (producer == kNoIndex) return "a value that no recorded operation gave";
  return "the result of " + std::string(index.text(index.ops()[index.items()[producer].op].name));
}

std::string FaultFinder::external_reason(const Incoming& in) {
  if (in.external_rewired)
    return "target reads " + producer_name(true, in.external_row) + ", golden " +
           producer_name(false, in.external_row);
  const RowError& difference = rows_[static_cast<size_t>(in.external_row)];
  const bool measured = !difference.exact_type && !difference.shape_mismatch && !difference.class_mismatch;
  const std::string_view rounding = deterministic_ || !measured ? "" : " by more than rounding";
  return fmt::format("no recorded operation produced this input, and it differs{}{}", rounding,
                     exchange_reason(in.external_row));
}

// Where golden reads what the target reads here: a weight of another layer, or two that were exchanged.
std::string FaultFinder::exchange_reason(int64_t row) {
  if (!flows_[0].linkable(target_item(row))) return {};
  collect_contents();
  const ContentKey t = content_key(*table_.target, target_keys_, target_item(row));
  const ContentKey g = content_key(*table_.golden, golden_keys_, golden_item(row));
  const auto found = golden_contents_.find(t.folded());
  if (!t.known() || found == golden_contents_.end() || found->second == golden_item(row)) return {};
  const DumpIndex& golden = *table_.golden;
  const OpRow& there = golden.ops()[golden.items()[found->second].op];
  const int64_t other = row_of_golden_item_[found->second];
  const bool exchanged = other >= 0 && target_item(other) != kNoIndex && g.known() &&
                         content_key(*table_.target, target_keys_, target_item(other)) == g;
  const bool other_step = there.step != golden.ops()[golden.items()[golden_item(row)].op].step;
  return fmt::format("; target reads here what golden reads as {} of {}{}{}", golden.item_name(found->second),
                     golden.text(there.name), other_step ? fmt::format(" of step {}", there.step) : "",
                     exchanged ? ", and there what golden reads here: the two were exchanged" : "");
}

// Whether a recorded op produced the value, on either side, and what its state says of the difference.
bool FaultFinder::producer_state(int64_t row, Incoming& in) const {
  const ItemId from_target = flows_[0].producer(target_item(row));
  const ItemId from_golden = flows_[1].producer(golden_item(row));
  bool linked = false;
  const auto take = [&](int64_t producer_row) {
    const ItemPair& pair = table_.rows[static_cast<size_t>(producer_row)].pair;
    const OpId op = pair.target == kNoIndex ? kNoIndex : table_.target->items()[pair.target].op;
    const int64_t error = op == kNoIndex ? -1 : error_of_op_[op];
    if (error < 0) {
      if (op == kNoIndex) return;
      linked = true;
      in.inherited |= one_sided_states_[op] == OpState::inherited;
      in.tie |= one_sided_states_[op] == OpState::tie;
      if (one_sided_states_[op] != OpState::clean || in.structural_op >= 0) return;
      in.structural_op = static_cast<int64_t>(op);
      in.structural_row = row;
      return;
    }
    const RowError& producer = rows_[static_cast<size_t>(producer_row)];
    // An equal output cannot have brought a difference: the link is a coincidence of contents.
    if (producer.comparable && producer.identical && !producer.shape_mismatch && !producer.blind) return;
    linked = true;
    const OpState state = states_[static_cast<size_t>(error)];
    in.inherited |= state == OpState::culprit || state == OpState::inherited;
    in.tie |= state == OpState::tie;
  };
  if (from_target != kNoIndex && row_of_target_item_[from_target] >= 0)
    take(row_of_target_item_[from_target]);
  if (from_golden != kNoIndex && row_of_golden_item_[from_golden] >= 0)
    take(row_of_golden_item_[from_golden]);
  return linked;
}

// An op without a partner cannot be judged; it passes on what came into it. A value that no recorded op gave
// may come from a culprit through calls that were not recorded.
void FaultFinder::pass_through(OpId target_op) {
  const OpRow& record = table_.target->ops()[target_op];
  OpState& state = one_sided_states_[target_op];
  for (ItemId item = record.first_item; item < record.first_item + record.item_count; ++item) {
    if (!is_input(table_.target->items()[item].role)) continue;
    const ItemId from = flows_[0].producer(item);
    if (from == kNoIndex) {
      const bool computed = flows_[0].linkable(item) && !is_weight(item);
      if (computed && ranks_[record.rank].tainted) state = OpState::inherited;
      continue;
    }
    const OpId producer = table_.target->items()[from].op;
    const int64_t error = error_of_op_[producer];
    const OpState passed = error < 0 ? one_sided_states_[producer] : states_[static_cast<size_t>(error)];
    if (passed == OpState::culprit || passed == OpState::inherited) state = OpState::inherited;
    if (passed == OpState::tie && state == OpState::clean) state = OpState::tie;
  }
}

// The same external content was blamed before: a table or weight that several ops read is one fault.
bool FaultFinder::seen_before(int64_t row) const {
  const ContentKey t = content_key(*table_.target, target_keys_, target_item(row));
  const ContentKey g = content_key(*table_.golden, golden_keys_, golden_item(row));
  return t.known() && g.known() && blamed_contents_.count({t.folded(), g.folded()}) > 0;
}

// Whether an input is a weight, bias or table rather than a value that the run computed.
bool FaultFinder::is_weight(ItemId target_item) const {
  const ItemRow& item = table_.target->items()[target_item];
  if (item.tensor == kNoIndex) return false;
  if (item.role == Role::parameter) return true;
  // Graphs name their weights.
  if (glob_match("*_weight_*", table_.target->text(table_.target->tensors()[item.tensor].link))) return true;
  const OpRow& op = table_.target->ops()[item.op];
  if (op.kind != OpKind::api) return false;
  const std::string_view path = table_.target->text(item.path);
  if (path == "weight" || path == "bias") return true;
  return (path == "1" || path == "2") && facts_of_type_.at(op.type).reads_weights;
}

// Whether all that the op reads is among its inputs: so it is where a graph names the value, and with layers
// and kernels, which get their caches as inputs.
bool FaultFinder::is_declared(int64_t row) const {
  const ItemRow& item = table_.target->items()[target_item(row)];
  const OpKind kind = table_.target->ops()[item.op].kind;
  if (kind == OpKind::layer || kind == OpKind::kernel) return true;
  return item.tensor != kNoIndex && table_.target->tensors()[item.tensor].link != 0;
}

// The argument that an op writes its result to, as kernels do that return nothing; -1: it has none.
int64_t FaultFinder::written_row(size_t op) const {
  const OpError& error = ops_[op];
  if (error.outputs > 0) return -1;
  for (int64_t row = error.first_row; row < error.first_row + error.row_count; ++row)
    if (target_item(row) != kNoIndex && golden_item(row) != kNoIndex &&
        is_destination(*table_.target, target_item(row)))
      return row;
  return -1;
}

void FaultFinder::remember_writer(size_t op) {
  const int64_t row = written_row(op);
  if (row < 0) return;
  const TensorId tensor = table_.target->items()[target_item(row)].tensor;
  if (tensor == kNoIndex) return;
  RankState& rank = ranks_[target_op(op).rank];
  if (rank.writers_step != target_op(op).step) rank.writers.clear();
  rank.writers_step = target_op(op).step;
  rank.writers[{table_.target->tensors()[tensor].dtype, table_.target->element_count(tensor)}] = op;
}

// A value that no recorded op gave, of the type and size of what an earlier op of the step wrote into an
// argument, is taken for its result. False: there is no such op.
bool FaultFinder::look_at_writer(size_t reader, int64_t row, Incoming& in) {
  const RankState& rank = ranks_[target_op(reader).rank];
  const TensorId tensor = table_.target->items()[target_item(row)].tensor;
  if (tensor == kNoIndex || rank.writers_step != target_op(reader).step) return false;
  const auto found =
      rank.writers.find({table_.target->tensors()[tensor].dtype, table_.target->element_count(tensor)});
  if (found == rank.writers.end()) return false;
  const size_t op = found->second;
  const OpState state = states_[op];
  in.tie |= state == OpState::tie;
  in.inherited |= state == OpState::culprit || state == OpState::inherited;
  if (in.tie || in.inherited) return true;
  const RowError& difference = rows_[static_cast<size_t>(row)];
  const bool equal_inputs = ops_[op].differing_inputs == 0;
  const bool exact = deterministic_ && equal_inputs;
  const bool measured = difference.magnitude && !difference.class_mismatch && !difference.shape_mismatch &&
                        !difference.exact_type;
  if (!exact && measured && difference.rel_l2 <= explained_error(op)) return true;
  if (ops_[op].value_mismatch) {
    blame(op, ops_[op].value_row, FaultKind::input_fault, equal_inputs ? "certain" : "strong",
          fmt::format("an argument differs, and what it wrote, read by {}, does",
                      table_.target->text(target_op(reader).name)));
    in.inherited = true;
    return true;
  }
  const bool sure = equal_inputs && !difference.statistics;
  blame(op, written_row(op), FaultKind::compute_fault, sure ? "certain" : "strong",
        fmt::format("what it wrote is read by {}, and differs by {:.2e}; its inputs {}",
                    table_.target->text(target_op(reader).name), difference.rel_l2,
                    equal_inputs ? "agree" : "do not explain that"));
  faults_.back().seen_row = row;
  in.inherited = true;
  return true;
}

void FaultFinder::collect_contents() {
  const auto read_by = [&](const DumpIndex& index, const ContentKeys& keys) {
    std::unordered_map<uint64_t, ItemId> contents;
    for (ItemId item = 0; item < index.items().size(); ++item)
      if (is_input(index.items()[item].role))
        if (const ContentKey key = content_key(index, keys, item); key.known())
          contents.emplace(key.folded(), item);
    return contents;
  };
  if (!golden_contents_.empty()) return;
  golden_contents_ = read_by(*table_.golden, golden_keys_);
  target_contents_ = read_by(*table_.target, target_keys_);
}

// Whether one side reads in another call what the other one reads here: then it is the calls that do not
// belong together, not the weight that is wrong.
bool FaultFinder::is_misplaced_weight(int64_t row) {
  collect_contents();
  const ContentKey t = content_key(*table_.target, target_keys_, target_item(row));
  const ContentKey g = content_key(*table_.golden, golden_keys_, golden_item(row));
  return t.known() && g.known() &&
         (golden_contents_.contains(t.folded()) || target_contents_.contains(g.folded()));
}

// Whether golden's value is one above that of the step before: a position or a length, which no sampler
// gives.
bool FaultFinder::is_counter(int64_t row) {
  const DumpIndex& golden = *table_.golden;
  const ItemRow& item = golden.items()[golden_item(row)];
  const OpRow& here = golden.ops()[item.op];
  const auto largest = [&](const ItemRow& entry) {
    const ulpscope_stats& stats = golden.tensors()[entry.tensor].stats;
    return (stats.present & ULPSCOPE_STAT_MAX) != 0 ? stats.max : std::nan("");
  };
  if (golden_calls_.empty())
    for (OpId id = 0; id < golden.ops().size(); ++id)
      golden_calls_.emplace(std::tuple(golden.ops()[id].step, golden.ops()[id].rank, golden.ops()[id].name),
                            id);
  const auto before = golden_calls_.find(std::tuple(here.step - 1, here.rank, here.name));
  if (before == golden_calls_.end()) return false;
  for (const ItemRow& entry : golden.items(before->second))
    if (entry.tensor != kNoIndex && entry.role == item.role && entry.path == item.path)
      return largest(item) == largest(entry) + 1;
  return false;
}

void FaultFinder::look_at_external(size_t op, int64_t row, Incoming& in) {
  const RowError& difference = rows_[static_cast<size_t>(row)];
  const RankState& rank = ranks_[target_op(op).rank];
  const bool weight = is_weight(target_item(row));
  if (seen_before(row)) {
    in.inherited = true;
    return;
  }
  const bool later_step = target_op(op).step > table_.target->groups()[0].step;
  if (weight && rank.tainted && ((trains_ && later_step) || is_misplaced_weight(row))) {
    in.inherited = true;
    return;
  }
  // A value that the run computed earlier may come back through calls that no dump records (in-place writes,
  // caches): of this step any that is no declared input, of others what differs by more than rounding.
  if (!weight && !is_declared(row) && rank.tainted && rank.tainted_step == target_op(op).step) {
    in.inherited = true;
    return;
  }
  if (!weight && look_at_writer(op, row, in)) return;
  if (difference.over_noise >= 0 && difference.over_noise <= kWithinNoise) return;
  const bool unbounded = difference.class_mismatch || difference.shape_mismatch || !difference.magnitude;
  if (!deterministic_ && !unbounded && !difference.exact_type) {
    const double noise = weight ? 0.0 : rank.noise;
    // A value that the run computed may have been rounded to its coarsest format on the way.
    const double roundoff = weight ? difference.roundoff : std::max(difference.roundoff, coarsest_);
    // Calls that no dump records may have rounded it more than once.
    constexpr double kUnseenRoundings = 4;
    const double unseen = !weight && roundoff < kCoarseRoundoff ? kUnseenRoundings : 1;
    const double allowed = priors_.external_constant * std::max(unseen * roundoff, noise);
    const double chance = (difference.residual + difference.roundoff + noise) / std::sqrt(difference.count);
    const bool biased =
        difference.count >= kLeastForBias &&
        difference.bias > std::max(priors_.bias_constant * chance, kBiasRoundoffs * difference.roundoff);
    if (!biased && difference.rel_l2 <= allowed && !(weight && weights_agree_)) return;
  }
  if (!weight && rank.tainted) {
    in.inherited = true;
    return;
  }
  // Token numbers of a later step come from a sampler that may not be recorded: with nearly equal logits it
  // flips.
  const bool counted = difference.exact_type && later_step && is_counter(row);
  const bool sampled = difference.exact_type && rank.noise > 0 && later_step;
  const bool flipped = difference.statistics && difference.exact_type && rank.flips > kFewFlips;
  if (!weight && !counted && (rank.tie || (!deterministic_ && (sampled || flipped)))) {
    in.tie = true;
    return;
  }
  if (in.external_row >= 0) return;
  in.external_row = row;
  in.external_rewired = is_rewired(row);
  in.external_certain = unbounded || difference.exact_type || deterministic_;
}

}  // namespace ulpscope
