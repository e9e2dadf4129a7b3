#include "locate/fault_finder.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/batches.hpp"

namespace ulpscope {
namespace {

// Deterministic runs show themselves only through operations whose result depends on how it is computed;
// gathers, copies and single additions are the same everywhere. Fewer of them than this prove nothing.
constexpr int64_t kLeastWitnesses = 3;
// Share of the calls with clean inputs that stay within the noise where the target is one more golden run.
constexpr double kTwinShare = 0.8;
// Agreeing calls of a type that outweigh one that is off by its own roundings.
constexpr int64_t kAgreeingForOne = 9;
// Share of the elements that another order of summation moves at least, where sums and results have one
// format.
constexpr double kLeastMoved = 0.02;
constexpr double kHalfRoundoff = 0x1p-11, kBrainRoundoff = 0x1p-8;  // of float16, bfloat16
// Natural logarithm of the probability below which the agreement of whole calls is no coincidence.
constexpr double kNoCoincidence = -20;

// Calls of one type that got equal inputs.
struct Witnesses {
  int64_t exact = 0, rounded = 0;            // with equal outputs; off by no more than their own roundings
  double exact_elements = 0;                 // of the outputs of the exact ones
  double least_share = 1;                    // of the elements of a rounded one that differ
  bool coarse = false;                       // of a format that hides most of the differences of sums
  bool last_bits = true;                     // the rounded ones are off by the last bits of their elements
  double rounded_elements = 0, unequal = 0;  // of the outputs of the rounded ones
  double surprise = 0;                       // sum of u * log(u / e): u of e elements of a rounded one differ

  void add_rounded(double unequal_of_call, double elements, bool is_last_bit) {
    ++rounded;
    last_bits &= is_last_bit;
    least_share = std::min(least_share, elements > 0 ? unequal_of_call / elements : 0);
    if (unequal_of_call <= 0 || elements <= 0) return;
    rounded_elements += elements;
    unequal += unequal_of_call;
    surprise += unequal_of_call * std::log(unequal_of_call / elements);
  }

  // Whether the elements that differ lie as they would if each element of the type, in whichever call, could.
  bool is_spread() const {
    if (unequal <= 0) return false;
    return surprise - unequal * std::log(unequal / (exact_elements + rounded_elements)) < -kNoCoincidence;
  }

  // Whether the type is computed in another way on the other side. Not so where its exact calls hold more
  // elements than could agree by chance if each differed as often as in the rounded calls. A coarse format
  // hides most of the differences of sums: single elements whose last bits moved are what is left of them.
  bool computes_otherwise() const {
    if (rounded == 0 || (!coarse && exact >= kAgreeingForOne * rounded)) return false;
    if (coarse && last_bits && is_spread()) return true;
    const double share = coarse ? least_share : std::max(least_share, kLeastMoved);
    return exact_elements * std::log1p(-std::min(share, 0.999)) > kNoCoincidence;
  }
};

ContentKeys hashes_of(const ResultTable& table, bool target_side) {
  const DumpIndex& index = target_side ? *table.target : *table.golden;
  ContentKeys keys(index.items().size());
  for (const ResultRow& row : table.rows) {
    const ItemId item = target_side ? row.pair.target : row.pair.golden;
    if (item == kNoIndex || row.metrics < 0 || row.pair.merge >= 0) continue;
    const DataMetrics& metrics = table.data_metrics[static_cast<size_t>(row.metrics)];
    const uint64_t* hash = target_side ? metrics.hash_target : metrics.hash_golden;
    keys[item] = {hash[0], hash[1]};
  }
  return keys;
}

std::vector<RowError> rows_with_noise(const ResultTable& table, const NoiseFloor* noise, ThreadPool& pool) {
  std::vector<RowError> rows = row_errors(table, pool);
  if (noise != nullptr) apply_noise(table, *noise, rows);
  return rows;
}

// A collective has the inputs of all its ranks; a backward call reads what its forward call had and gave.
std::vector<OpError> with_joint_inputs(const std::vector<OpError>& ops, const OpRelations& relations) {
  std::vector<OpError> joint = ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (const int64_t forward = relations.forward_of(i); forward >= 0) {
      const OpError& saved = ops[static_cast<size_t>(forward)];
      for (const double error : {saved.in, saved.out})
        if (std::isfinite(error)) joint[i].saved = std::max(joint[i].saved, error);
    }
    for (const size_t peer : relations.peers_of(i)) {
      joint[i].in = std::max(joint[i].in, ops[peer].in);
      joint[i].in_worst = std::max(joint[i].in_worst, ops[peer].in_worst);
      joint[i].in_bias = std::max(joint[i].in_bias, ops[peer].in_bias);
      joint[i].in_over_noise = std::max(joint[i].in_over_noise, ops[peer].in_over_noise);
      joint[i].differing_inputs += ops[peer].differing_inputs;
    }
  }
  return joint;
}

}  // namespace

FaultFinder::FaultFinder(const ResultTable& table, const Priors& priors, const NoiseFloor* noise,
                         const std::vector<int64_t>& not_tied, ThreadPool& pool)
    : table_(table),
      priors_(priors),
      rows_(rows_with_noise(table, noise, pool)),
      ops_(op_errors(table, rows_, priors.bias_constant, pool)),
      relations_(table, ops_),
      parameters_(table, ops_),
      target_keys_(hashes_of(table, true)),
      golden_keys_(hashes_of(table, false)),
      flows_(2),
      row_of_target_item_(table.target->items().size(), -1),
      row_of_golden_item_(table.golden->items().size(), -1),
      error_of_op_(table.target->ops().size(), -1),
      inner_(table.target->ops().size(), 0),
      inner_bad_(table.target->ops().size(), 0),
      inner_open_(table.target->ops().size(), 0),
      states_(ops_.size(), OpState::clean),
      one_sided_states_(table.target->ops().size(), OpState::clean),
      not_tied_(not_tied) {
  ops_ = with_joint_inputs(ops_, relations_);
  standings_ = control_groups(table, ops_, priors, pool);
  pool.parallel_for(2, [&](int64_t side, int) {
    flows_[static_cast<size_t>(side)] =
        side == 0 ? DataFlow(*table_.target, target_keys_) : DataFlow(*table_.golden, golden_keys_);
  });
  for (int64_t i = 0; i < static_cast<int64_t>(table.rows.size()); ++i) {
    if (target_item(i) != kNoIndex) row_of_target_item_[target_item(i)] = i;
    if (golden_item(i) != kNoIndex) row_of_golden_item_[golden_item(i)] = i;
  }
  for (size_t i = 0; i < ops_.size(); ++i)
    error_of_op_[table.pairs.ops[ops_[i].op_pair].target] = static_cast<int64_t>(i);
  carry_missing_inputs(pool);
  mark_inner();
  for (const OpRow& op : table.target->ops())
    if (const auto [entry, fresh] = facts_of_type_.try_emplace(op.type); fresh)
      entry->second = facts_of(op.type);
  if (std::any_of(ops_.begin(), ops_.end(), [](const OpError& op) { return op.gradients; }))
    gradient_sources_ = GradientSources(table);
  trains_ = std::any_of(table.target->ops().begin(), table.target->ops().end(),
                        [](const OpRow& op) { return op.phase == Phase::backward; });
  measure_regime();
  measure_own_roundings();
  if (noise != nullptr) measure_twin(*noise);
  if (!deterministic_) measure_weights(pool);
  find_in_order();
}

// Scores that a mask hides are off as far as those that were masked.
bool FaultFinder::carry_masked(OpError& op, int64_t row) const {
  const RowError& error = rows_[static_cast<size_t>(row)];
  if (!error.blind || error.statistics || target_item(row) == kNoIndex) return false;
  const int64_t masking = producer_of(row) == kNoIndex ? -1 : error_of_op_[producer_of(row)];
  if (masking < 0 || ops_[static_cast<size_t>(masking)].differing_inputs == 0) return false;
  const OpError& from = ops_[static_cast<size_t>(masking)];
  op.in = std::max(op.in, from.in);
  op.in_worst = std::max(op.in_worst, from.in_worst);
  op.in_bias = std::max(op.in_bias, from.in_bias);
  op.in_absolute = std::max(op.in_absolute, from.in_absolute);
  return true;
}

// An input that was not dumped is as far off as the output that it came from, where the names of the graph
// tell which one that is.
void FaultFinder::carry_missing_inputs(ThreadPool& pool) {
  bool any = false;
  for (OpError& op : ops_)
    for (int64_t row = op.first_row; row < op.first_row + op.row_count; ++row) {
      any |= carry_masked(op, row);
      if (!is_missing_input(row)) continue;
      const ItemId producer = flows_[0].producer(target_item(row));
      if (producer == kNoIndex || row_of_target_item_[producer] < 0) continue;
      const RowError& error = rows_[static_cast<size_t>(row_of_target_item_[producer])];
      if (!error.comparable || error.identical || !error.magnitude || error.shape_mismatch) continue;
      op.in = std::max(op.in, error.rel_l2);
      op.in_worst = std::max(op.in_worst, error.worst);
      op.in_bias = std::max(op.in_bias, error.bias);
      any = true;
    }
  if (any) standings_ = control_groups(table_, ops_, priors_, pool);
}

bool FaultFinder::is_missing_input(int64_t row) const {
  if (rows_[static_cast<size_t>(row)].comparable) return false;
  if (target_item(row) == kNoIndex || golden_item(row) == kNoIndex) return false;
  const ItemRow& item = table_.target->items()[target_item(row)];
  return item.tensor != kNoIndex && (item.role == Role::input || item.role == Role::kwarg);
}

// Whether both sides know an output of the op and one of them does not hold it.
bool FaultFinder::lacks_outputs(const OpError& op) const {
  for (int64_t row = op.first_row; row < op.first_row + op.row_count; ++row) {
    if (target_item(row) == kNoIndex || golden_item(row) == kNoIndex) continue;
    const ItemRow& item = table_.target->items()[target_item(row)];
    if (item.role == Role::output && item.tensor != kNoIndex && !rows_[static_cast<size_t>(row)].comparable)
      return true;
  }
  return false;
}

// Which ops have others inside that speak for them: those with outputs to compare. Where some op inside has
// none, because its data is missing, the op around it must be judged by itself as well.
void FaultFinder::mark_inner() {
  const auto parent_of = [this](OpId op) { return table_.target->ops()[op].parent; };
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (ops_[i].outputs == 0) continue;
    for (OpId op = parent_of(op_id(i)); op != kNoIndex && inner_[op] == 0; op = parent_of(op)) inner_[op] = 1;
  }
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (ops_[i].outputs > 0 || inner_[op_id(i)] != 0 || !lacks_outputs(ops_[i])) continue;
    OpId op = parent_of(op_id(i));
    while (op != kNoIndex &&
           (error_of_op_[op] < 0 || ops_[static_cast<size_t>(error_of_op_[op])].outputs == 0))
      op = parent_of(op);
    if (op != kNoIndex) inner_open_[op] = kNoData;
  }
  mark_incomplete();
}

// A module that makes a call of one side alone is not spoken for by the calls that both sides make: what it
// gives may lack one.
void FaultFinder::mark_incomplete() {
  const auto is_alone = [](const OpPair& pair) { return pair.golden == kNoIndex || pair.target == kNoIndex; };
  if (std::none_of(table_.pairs.ops.begin(), table_.pairs.ops.end(), is_alone)) return;
  std::vector<OpId> target_of(table_.golden->ops().size(), kNoIndex);
  for (const OpPair& pair : table_.pairs.ops)
    if (!is_alone(pair)) target_of[pair.golden] = pair.target;
  for (const OpPair& pair : table_.pairs.ops) {
    if (!is_alone(pair)) continue;
    const DumpIndex& index = pair.target != kNoIndex ? *table_.target : *table_.golden;
    OpId parent = index.ops()[pair.target != kNoIndex ? pair.target : pair.golden].parent;
    if (pair.target == kNoIndex && parent != kNoIndex) parent = target_of[parent];
    if (parent != kNoIndex) inner_open_[parent] = kIncomplete;
  }
}

OpId FaultFinder::op_id(size_t op) const { return table_.pairs.ops[ops_[op].op_pair].target; }

const OpRow& FaultFinder::target_op(size_t op) const {
  return table_.target->ops()[table_.pairs.ops[ops_[op].op_pair].target];
}

std::string_view FaultFinder::type_of(size_t op) const { return table_.target->text(target_op(op).type); }

// Whether outputs from identical inputs differ by no more than the roundings of one call leave.
bool FaultFinder::is_own_rounding(const OpError& op) const {
  const double formats = op.roundoff * std::sqrt(op.reduction);
  return !op.out_class_mismatch && !op.out_shape_mismatch && op.out <= priors_.format_constant * formats &&
         op.out_worst <= priors_.worst_constant * formats;
}

// Whether no element of the outputs is off by more than the largest one may be rounded.
bool FaultFinder::is_last_bit(const OpError& op) const {
  for (int64_t row = op.first_row; row < op.first_row + op.row_count; ++row) {
    const RowError& error = rows_[static_cast<size_t>(row)];
    if (!error.comparable || error.value || error.statistics) continue;
    if (table_.target->items()[target_item(row)].role != Role::output) continue;
    if (error.worst > 2 * error.roundoff * std::max(error.crest, 1.0)) return false;
  }
  return true;
}

// How many elements of the floating outputs of an op differ, and of how many; zeros where only digests or
// statistics are known.
std::pair<double, double> FaultFinder::unequal_outputs(const OpError& op) const {
  std::pair<double, double> counts{0, 0};
  for (int64_t row = op.first_row; row < op.first_row + op.row_count; ++row) {
    const ResultRow& result = table_.rows[static_cast<size_t>(row)];
    const RowError& error = rows_[static_cast<size_t>(row)];
    if (result.mode != Mode::data || result.metrics < 0 || error.exact_type) continue;
    if (table_.target->items()[result.pair.target].role != Role::output) continue;
    const PairSums& sums = table_.data_metrics[static_cast<size_t>(result.metrics)].sums;
    counts.first += static_cast<double>(sums.unequal);
    counts.second += static_cast<double>(sums.elements);
  }
  return counts;
}

void FaultFinder::measure_regime() {
  int64_t floating = 0, other_dtype = 0, witnesses = 0, agreeing = 0;
  std::map<TextId, Witnesses> by_type;
  for (size_t i = 0; i < ops_.size(); ++i) {
    const OpError& op = ops_[i];
    coarsest_ = std::max(coarsest_, op.roundoff);
    if (op.roundoff > 0) {
      ++floating;
      other_dtype += op.dtypes_differ ? 1 : 0;
    }
    const OpClass* known = class_of(i);
    const bool sensitive = known == nullptr ? target_op(i).kind != OpKind::api : known->sensitive;
    if (!sensitive || op.roundoff == 0 || op.dtypes_differ || op.outputs == 0) continue;
    if (op.inputs == 0 || op.differing_inputs > 0) continue;
    ++witnesses;
    agreeing += op.differing_outputs == 0 ? 1 : 0;
    Witnesses& seen = by_type[target_op(i).type];
    seen.coarse |= op.roundoff >= kHalfRoundoff;
    const auto [unequal, elements] = unequal_outputs(op);
    if (op.differing_outputs == 0) {
      ++seen.exact;
      seen.exact_elements += elements;
    } else if (is_own_rounding(op)) {
      seen.add_rounded(unequal, elements, is_last_bit(op));
    }
  }
  // A type that is off by its own roundings more than now and then is computed in another way on the other
  // side. (A coarse format hides most of them: that a few small calls agree proves nothing.)
  const bool computes_otherwise = std::any_of(
      by_type.begin(), by_type.end(), [](const auto& entry) { return entry.second.computes_otherwise(); });
  mixed_ = other_dtype * 2 > floating;
  deterministic_ =
      witnesses >= kLeastWitnesses && !computes_otherwise &&
      static_cast<double>(agreeing) >= priors_.deterministic_share * static_cast<double>(witnesses);
}

// Sums are mostly kept in a format wider than that of the results: how far a call is off by itself is seen
// where its inputs agree. A quarter of the calls may be at fault.
void FaultFinder::measure_own_roundings() {
  constexpr double kCleanShare = 1.0 / 16;
  std::map<std::pair<TextId, double>, std::vector<double>> shares;
  for (size_t i = 0; i < ops_.size(); ++i) {
    const OpError& op = ops_[i];
    if (op.statistics || op.inputs == 0 || op.outputs == 0 || op.roundoff == 0 || !std::isfinite(op.out))
      continue;
    if (op.in <= kCleanShare * op.roundoff)
      shares[{target_op(i).type, op.roundoff}].push_back(op.out / (op.roundoff * std::sqrt(op.reduction)));
  }
  for (auto& [key, members] : shares) {
    if (static_cast<double>(members.size()) < priors_.own_rounding_size) continue;
    const auto upper = members.begin() + static_cast<std::ptrdiff_t>(members.size() * 3 / 4);
    std::nth_element(members.begin(), upper, members.end());
    own_roundings_[key] = *upper;
  }
}

// Runs of one format on another device or build load the same weights. Where nearly all of them are equal,
// one that is not was not rounded on its way.
void FaultFinder::measure_weights(ThreadPool& pool) {
  constexpr int64_t kLeastWeights = 8;
  constexpr int64_t kEqualForOne = 9;
  std::atomic<int64_t> equal = 0, other = 0;
  for_batches(pool, static_cast<int64_t>(ops_.size()), [&](int64_t first, int64_t end) {
    int64_t equal_here = 0, other_here = 0;
    for (int64_t i = first; i < end; ++i) {
      const OpError& op = ops_[static_cast<size_t>(i)];
      for (int64_t row = op.first_row; row < op.first_row + op.row_count; ++row) {
        const RowError& error = rows_[static_cast<size_t>(row)];
        if (!error.comparable || error.value || error.roundoff == 0 || !is_weight(target_item(row))) continue;
        ++(error.identical ? equal_here : other_here);
      }
    }
    equal += equal_here;
    other += other_here;
  });
  weights_agree_ = equal >= kLeastWeights && equal >= kEqualForOne * other;
}

// The error that an op adds by its formats: at most u * sqrt(K), and at least one rounding.
double FaultFinder::format_error(size_t op) const {
  const OpError& error = ops_[op];
  const OpClass* known = class_of(op);
  double roundings = std::sqrt(error.reduction);
  const bool half = error.roundoff >= kHalfRoundoff && error.roundoff <= kBrainRoundoff;
  if (half && known != nullptr && known->wide_sums && target_op(op).kind == OpKind::api)
    roundings = std::min(roundings, priors_.roundings_of_product);
  const double largest = error.roundoff * roundings;
  const auto seen = own_roundings_.find({target_op(op).type, error.roundoff});
  if (seen == own_roundings_.end()) return largest;
  const double shown =
      priors_.own_rounding_factor * seen->second * error.roundoff * std::sqrt(error.reduction);
  return std::clamp(shown, error.roundoff, largest);
}

// Golden runs that differ from each other are not deterministic. A target that mostly stays within their
// noise is one more of them: there a call that leaves it is at fault, however small the difference.
void FaultFinder::measure_twin(const NoiseFloor& noise) {
  for (const RowError& row : noise) deterministic_ = deterministic_ && (!row.comparable || row.identical);
  int64_t clean = 0, within = 0;
  for (const OpError& op : ops_) {
    if (!op.noise_known || op.differing_outputs == 0 || op.in_over_noise > kWithinNoise) continue;
    ++clean;
    within += op.out_over_noise <= kWithinNoise ? 1 : 0;
  }
  twin_ = clean >= kLeastWitnesses && static_cast<double>(within) >= kTwinShare * static_cast<double>(clean);
}

// Every op after those that it may depend on: ranks meet in collectives, so that all ranks' ops before one
// come first.
void FaultFinder::find_in_order() {
  struct Place {
    int32_t step, epoch, collective, rank;
    OpId op;
    bool operator<(const Place& other) const {
      return std::tie(step, epoch, collective, rank, op) <
             std::tie(other.step, other.epoch, other.collective, other.rank, other.op);
    }
  };
  constexpr int32_t kLast = std::numeric_limits<int32_t>::max();
  std::vector<Place> order;
  order.reserve(table_.target->ops().size());
  for (const StepRank& group : table_.target->groups()) {
    int32_t epoch = 0;
    for (const OpId op : group.ops) {
      const bool collective = table_.target->ops()[op].kind == OpKind::communication;
      // Gradients are complete after the last backward call, wherever their record stands.
      const int64_t error = error_of_op_[op];
      const bool gradients = error >= 0 && ops_[static_cast<size_t>(error)].gradients;
      order.push_back({group.step, gradients ? kLast : epoch, collective ? 1 : 0, group.rank, op});
      epoch += collective ? 1 : 0;
    }
  }
  std::sort(order.begin(), order.end());
  for (const Place& place : order) {
    const int64_t error = error_of_op_[place.op];
    if (error >= 0)
      judge(static_cast<size_t>(error));
    else
      pass_through(place.op);
  }
  sort_faults();
}

// Culprits of one step stand in the order of the step, whichever rank they are on.
void FaultFinder::sort_faults() {
  std::map<std::pair<int32_t, int32_t>, OpId> first_op;
  for (const StepRank& group : table_.target->groups())
    if (!group.ops.empty()) first_op[{group.step, group.rank}] = group.ops.front();
  const auto position = [&](const Fault& fault) {
    const OpRow& op = target_op(fault.op);
    const OpId id = table_.pairs.ops[ops_[fault.op].op_pair].target;
    return std::tuple(op.step, id - first_op[{op.step, op.rank}], op.rank);
  };
  std::stable_sort(faults_.begin(), faults_.end(),
                   [&](const Fault& a, const Fault& b) { return position(a) < position(b); });
}

void FaultFinder::set_state(size_t op, OpState state) {
  states_[op] = state;
  RankState& rank = ranks_[target_op(op).rank];
  if (state == OpState::culprit || state == OpState::inherited) {
    rank.tainted = true;
    rank.tainted_step = target_op(op).step;
  }
  rank.tie |= state == OpState::tie;
  if (state == OpState::rounding) rank.noise = std::max(rank.noise, ops_[op].out);
  if (state == OpState::clean || state == OpState::rounding) return;
  const uint8_t how = state == OpState::tie ? kInnerTie : kInnerFault;
  for (OpId parent = target_op(op).parent; parent != kNoIndex && inner_bad_[parent] < how;
       parent = table_.target->ops()[parent].parent)
    inner_bad_[parent] = how;
}

void FaultFinder::blame(size_t op, int64_t row, FaultKind kind, std::string confidence, std::string reason) {
  faults_.push_back({op, row, kind, std::move(confidence), std::move(reason)});
  if (kind == FaultKind::input_fault && !rows_[static_cast<size_t>(row)].value) {
    const ContentKey t = content_key(*table_.target, target_keys_, target_item(row));
    const ContentKey g = content_key(*table_.golden, golden_keys_, golden_item(row));
    if (t.known() && g.known()) blamed_contents_[{t.folded(), g.folded()}] = 1;
  }
  set_state(op, OpState::culprit);
}

bool FaultFinder::has_inner(size_t op) const {
  return inner_[table_.pairs.ops[ops_[op].op_pair].target] != 0;
}

bool FaultFinder::inner_says_all(size_t op) const { return has_inner(op) && inner_open_[op_id(op)] == 0; }

bool FaultFinder::inner_differs(size_t op) const {
  return inner_bad_[table_.pairs.ops[ops_[op].op_pair].target] != 0;
}

}  // namespace ulpscope
