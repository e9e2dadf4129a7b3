// Decides op by op, in execution order, whether a difference starts there, came in, or is rounding. The core
// of the localisation: knows the data flow of both runs, the errors of every op, and the priors; writes no
// report.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/thread_pool.hpp"
#include "locate/control_groups.hpp"
#include "locate/dataflow.hpp"
#include "locate/gradient_sources.hpp"
#include "locate/noise_floor.hpp"
#include "locate/op_error.hpp"
#include "locate/op_parameters.hpp"
#include "locate/op_relations.hpp"
#include "locate/priors.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

enum class OpState : uint8_t {
  clean,      // nothing differs
  rounding,   // differs as formats and inputs allow
  culprit,    // a difference starts here
  inherited,  // differs because of a culprit
  tie,        // an index differs between values that formats cannot tell apart, or what follows from that
};

// Expected choices that fall otherwise by rounding, below which a different index is none of them.
constexpr double kFewFlips = 3e-4;

enum class FaultKind : uint8_t { compute_fault, input_fault };

// Where a difference starts.
struct Fault {
  size_t op = 0;     // row of the op errors
  int64_t row = -1;  // of the table
  FaultKind kind = FaultKind::compute_fault;
  std::string confidence;    // certain, strong, weak
  std::string reason;        // one sentence with the numbers that decided
  bool rewired = false;      // the input is the result of another operation than golden's
  OpId extra_op = kNoIndex;  // the op of the target alone whose result the input is
  int64_t seen_row = -1;     // the input that shows it, where the op writes into an argument; -1: row itself
};

class FaultFinder {
 public:
  // noise: how far golden runs are apart, or null. not_tied: rows of indexes that are known to be no ties.
  FaultFinder(const ResultTable& table, const Priors& priors, const NoiseFloor* noise,
              const std::vector<int64_t>& not_tied, ThreadPool& pool);

  // In execution order: step, order in the step, rank.
  const std::vector<Fault>& faults() const { return faults_; }
  const std::vector<OpError>& ops() const { return ops_; }
  const std::vector<RowError>& rows() const { return rows_; }
  const std::vector<GroupStanding>& standings() const { return standings_; }
  OpState state(size_t op) const { return states_[op]; }
  // Most calls with identical inputs give identical outputs: any other difference is a fault.
  bool deterministic() const { return deterministic_; }
  // Most floating rows have another dtype on the other side.
  bool mixed_precision() const { return mixed_; }
  // Which parameters of an op differ between the sides, where they are recorded apart from arguments.
  const OpParameters& parameters() const { return parameters_; }
  // Rows of indexes that differ and were taken for ties.
  const std::vector<int64_t>& assumed_ties() const { return assumed_ties_; }
  const std::vector<int64_t>& claimed_ties() const { return claimed_ties_; }
  // Ops that differ after inputs whose statistics would not show it: where the difference starts is not
  // known.
  const std::vector<size_t>& blind() const { return blind_; }
  // The op of the target whose result an input's row holds; kNoIndex: no recorded one.
  OpId producer_of(int64_t row) const {
    const ItemId item = target_item(row) == kNoIndex ? kNoIndex : flows_[0].producer(target_item(row));
    return item == kNoIndex ? kNoIndex : table_.target->items()[item].op;
  }
  // The largest output error of an op that its inputs, its formats and its kind explain.
  double explained_error(size_t op) const;
  // The row of op errors that an op of the target belongs to; -1 for ops without a partner.
  int64_t error_of(OpId target_op) const { return error_of_op_[target_op]; }
  // The row whose output the target's value of a row came from; -1 where no recorded op produced it.
  int64_t producer_row(int64_t row) const {
    const ItemId item = target_item(row);
    const ItemId from = item == kNoIndex ? kNoIndex : flows_[0].producer(item);
    return from == kNoIndex ? -1 : row_of_target_item_[from];
  }

 private:
  // What comes into an op, row by row.
  struct Incoming {
    bool inherited = false, tie = false;  // from a culprit, from a tie
    int64_t external_row = -1;            // the first unexplained input that no recorded op produced
    bool external_certain = false, external_rewired = false;
    int64_t structural_op = -1;   // an op of the target alone that feeds this one
    int64_t structural_row = -1;  // with this input
  };

  // Step, rank, type of the call, and what target and golden gave.
  using ArgumentFault = std::tuple<int32_t, int32_t, TextId, TextId, TextId>;

  void measure_regime();
  void measure_twin(const NoiseFloor& noise);
  void measure_own_roundings();
  void measure_weights(ThreadPool& pool);
  bool leaves_noise(size_t op) const;
  bool is_own_rounding(const OpError& op) const;
  bool is_last_bit(const OpError& op) const;
  std::pair<double, double> unequal_outputs(const OpError& op) const;
  void find_in_order();
  void sort_faults();
  void pass_through(OpId target_op);
  void judge(size_t op);
  void judge_exact(size_t op, const Incoming& in);
  void judge_rounding(size_t op, const Incoming& in);
  bool judge_incoming(size_t op, const Incoming& in);
  void judge_outputs(size_t op);
  Incoming look_at_all_ranks(size_t op);
  Incoming look_at_inputs(size_t op);
  void look_at_input(size_t op, int64_t row, Incoming& in);
  void look_at_external(size_t op, int64_t row, Incoming& in);
  bool look_at_writer(size_t reader, int64_t row, Incoming& in);
  int64_t written_row(size_t op) const;
  void remember_writer(size_t op);
  bool is_misplaced_weight(int64_t row);
  bool is_counter(int64_t row);
  bool is_declared(int64_t row) const;
  bool producer_state(int64_t row, Incoming& in) const;
  bool is_rewired(int64_t row) const;
  std::string producer_name(bool target_side, int64_t row) const;
  std::string external_reason(const Incoming& in);
  std::string exchange_reason(int64_t row);
  void collect_contents();
  bool seen_before(int64_t row) const;
  bool is_weight(ItemId target_item) const;
  bool argument_explains(size_t op, const Incoming& in) const;
  bool argument_came_in(size_t op);
  bool is_misplaced_argument(int64_t row);
  ArgumentFault argument_fault(size_t op) const;
  bool exceeds_inputs(const OpError& error) const;
  bool number_differs(int64_t row) const;
  bool real_differs(int64_t row) const;
  bool parameter_explains(size_t op, const Incoming& in) const;
  bool explained(size_t op) const;
  double format_error(size_t op) const;
  bool narrows_alone(size_t op) const;
  void judge_gradients(size_t op);
  OpState gradient_state(int64_t row, std::string& confidence) const;
  void count_flips(size_t op);
  double expected_flips(size_t op) const;
  std::string structural_reason(const Incoming& in) const;
  std::string unexplained_reason(size_t op) const;
  void carry_missing_inputs(ThreadPool& pool);
  bool carry_masked(OpError& op, int64_t row) const;
  bool is_missing_input(int64_t row) const;
  bool knows_inputs(size_t op) const;
  bool lacks_outputs(const OpError& op) const;
  void mark_inner();
  void mark_incomplete();
  bool has_inner(size_t op) const;
  bool inner_says_all(size_t op) const;
  OpId op_id(size_t op) const;  // of the target
  bool inner_differs(size_t op) const;
  int64_t untied_row(size_t op) const;
  bool is_tie(size_t op);
  bool is_blind(size_t op);
  bool lacks_other_ranks(size_t op) const;
  bool forward_differs(size_t op) const;
  bool hidden_state_differs(size_t op) const;
  void blame(size_t op, int64_t row, FaultKind kind, std::string confidence, std::string reason);
  void set_state(size_t op, OpState state);
  const OpRow& target_op(size_t op) const;
  const OpRow& target_op_of(int64_t row) const {
    return table_.target->ops()[table_.target->items()[target_item(row)].op];
  }
  std::string_view type_of(size_t op) const;
  // What the priors say of its type; null: nothing.
  const OpClass* class_of(size_t op) const { return facts_of_type_.at(target_op(op).type).op_class; }
  ItemId target_item(int64_t row) const { return table_.rows[static_cast<size_t>(row)].pair.target; }
  ItemId golden_item(int64_t row) const { return table_.rows[static_cast<size_t>(row)].pair.golden; }

  // What the name of a type says, looked at once.
  struct TypeFacts {
    const OpClass* op_class = nullptr;
    bool uninitialised = false;  // its output is memory as it was found
    bool reads_weights = false;  // its second and third inputs are a weight and a bias
  };
  TypeFacts facts_of(TextId type) const;

  static constexpr uint8_t kInnerTie = 1, kInnerFault = 2;
  static constexpr uint8_t kNoData = 1, kIncomplete = 2;

  struct RankState {
    bool tainted = false, tie = false;  // some earlier op of the rank, in this step or an earlier one
    int32_t tainted_step = -1;          // the last step with such an op
    double noise = 0;                   // largest explained error so far
    double flips = 0;  // choices among nearly equal values that statistics would not show, at most
    // The latest op of the step that writes a tensor of such a type and size into an argument.
    std::map<std::pair<DType, int64_t>, size_t> writers;
    int32_t writers_step = -1;
  };

  const ResultTable& table_;
  const Priors& priors_;
  std::unordered_map<TextId, TypeFacts> facts_of_type_;  // of every type of the target
  std::vector<RowError> rows_;
  std::vector<OpError> ops_;
  OpRelations relations_;
  OpParameters parameters_;
  std::vector<GroupStanding> standings_;
  GradientSources gradient_sources_;
  // By type and roundoff: the usual error of calls with clean inputs, in u * sqrt(K).
  std::map<std::pair<TextId, double>, double> own_roundings_;
  ContentKeys target_keys_, golden_keys_;
  std::vector<DataFlow> flows_;  // target, golden
  std::vector<int64_t> row_of_target_item_, row_of_golden_item_;
  std::vector<int64_t> error_of_op_;  // by op of the target
  // By op of the target: has ops inside that can be judged; how one of them differs; why they do not say all.
  std::vector<uint8_t> inner_, inner_bad_, inner_open_;
  std::vector<OpState> states_;
  std::vector<OpState> one_sided_states_;  // by op of the target: what ops without a partner pass on
  std::vector<size_t> blind_;
  std::vector<int64_t> not_tied_, assumed_ties_, claimed_ties_;
  std::vector<Fault> faults_;
  std::map<int32_t, RankState> ranks_;
  std::map<std::pair<uint64_t, uint64_t>, int> blamed_contents_;  // of external inputs
  std::set<ArgumentFault> blamed_arguments_;
  // Filled when asked for: what each side gives as arguments, and golden's calls by step, rank and name.
  std::unordered_set<uint64_t> target_arguments_, golden_arguments_;
  std::map<std::tuple<int32_t, int32_t, TextId>, OpId> golden_calls_;
  // Of all that a side reads, with the first item that does; filled when asked for.
  std::unordered_map<uint64_t, ItemId> golden_contents_, target_contents_;
  bool deterministic_ = false, mixed_ = false;
  bool weights_agree_ = false;  // the two runs have nearly all weights in common, bit for bit
  bool trains_ = false;         // weights change from step to step
  double coarsest_ = 0;         // unit roundoff of the coarsest floating dtype of the run
  bool twin_ = false;           // the target mostly stays within the noise of the golden runs
};

}  // namespace ulpscope
