#include "measure/similarity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "measure/similarity_row.hpp"

// Sources of the thresholds. msprobe's Result rules: ratio_input 0.9, cosine_input 0.9, cosine_drop_warning
// 0.1, norm_input 0.1, norm_output 0.5, norm_growth 10. Its documentation: ratio_output 0.6 (its code has
// 0.1, which hides outputs that are half wrong). Ours: cosine_drop_fail 0.5 (a drop of that size is another
// direction), single_relative 0.005 (msprobe's five thousandths), floor_absolute 1e-5 (ten times the noise of
// a healthy float32 decoder's norms).

namespace ulpscope {
namespace {

// Their outputs are not determined by their inputs (uninitialised memory, other devices), or are judged
// elsewhere.
constexpr std::array<std::string_view, 9> kIgnoreAll = {
    "empty",     "empty_like",   "numpy", "to", "__setitem__", "empty_with_format", "new_empty_strided",
    "new_empty", "empty_strided"};
// Their inputs hold receive buffers or are overwritten by the call.
constexpr std::array<std::string_view, 4> kIgnoreInput = {"_reduce_scatter_base", "_all_gather_base",
                                                          "all_to_all_single", "batch_isend_irecv"};

template <size_t N>
bool holds(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The API of an op: "linear" of "Functional.linear.3.forward"; empty for modules and everything else.
std::string_view api_name(const DumpIndex& index, OpId op) {
  if (op == kNoIndex) return {};
  const OpRow& row = index.ops()[op];
  if (row.kind != OpKind::api && row.kind != OpKind::communication) return {};
  const std::string_view name = index.text(row.name);
  const size_t first = name.find('.');
  const size_t second = first == std::string_view::npos ? first : name.find('.', first + 1);
  return second == std::string_view::npos ? index.text(row.type) : name.substr(first + 1, second - first - 1);
}

// The largest error of an entry's inputs. An entry without input rows counts as having equal ones.
struct InputSummary {
  double ratio = 1, cosine = 1, norm = 0;
};

// Judges the rows of one op pair.
class EntryJudge {
 public:
  EntryJudge(ResultTable& table, int64_t first, int64_t count, const SimilarityOptions& options)
      : table_(table),
        options_(options),
        context_{table, options, is_one_family(table.target->source_name(), table.golden->source_name()),
                 !table.pairs.merges.empty()} {
    facts_.reserve(static_cast<size_t>(count));
    for (int64_t i = first; i < first + count; ++i)
      facts_.push_back(gather_facts(table.rows[static_cast<size_t>(i)], context_));
    const OpPair& pair = table.pairs.ops[table.rows[static_cast<size_t>(first)].pair.op_pair];
    const std::string_view target = api_name(*table.target, pair.target),
                           golden = api_name(*table.golden, pair.golden);
    api_ = pair.target != kNoIndex ? target : golden;
  }

  void run() {
    const bool ignore_all = holds(kIgnoreAll, api_), ignore_input = holds(kIgnoreInput, api_);
    for (RowFacts& facts : facts_) {
      if (!facts.is_judged) continue;
      if (ignore_all || (ignore_input && !facts.is_output()))
        facts.reasons.note("not judged: " + printable(api_) +
                           (ignore_all ? " does not determine its values" : " overwrites its inputs"));
      else
        apply_row_rules(facts, context_);
    }
    if (!ignore_all && !ignore_input) apply_entry_rules();
    for (RowFacts& facts : facts_) finish(facts, ignore_all);
  }

 private:
  void apply_entry_rules() {
    const InputSummary inputs = summarise_inputs();
    for (RowFacts& facts : facts_) {
      if (!facts.is_judged || !facts.is_output()) continue;
      if (facts.sums != nullptr && facts.count() != 1) {
        check_ratio(facts, inputs);
        check_cosine(facts, inputs);
      }
      if (facts.row->mode == Mode::statistics) check_norm(facts, inputs);
    }
  }

  InputSummary summarise_inputs() {
    InputSummary inputs;
    for (RowFacts& facts : facts_) {
      if (!facts.is_judged || facts.is_output() || facts.row->mode == Mode::value) continue;
      if (facts.ratio) inputs.ratio = std::min(inputs.ratio, *facts.ratio);
      if (facts.cosine)
        inputs.cosine = std::min(inputs.cosine, *facts.cosine);
      else if (facts.sums != nullptr && facts.sums->finite_pairs > 0)
        inputs.cosine = 0;  // one side is zero
      if (facts.norm) inputs.norm = std::max(inputs.norm, *facts.norm);
      warn_of_zero_norm(facts);
    }
    return inputs;
  }

  // An input whose norm is 0 in golden only has no finite relative error.
  static void warn_of_zero_norm(RowFacts& facts) {
    const StatisticPair& norm = facts.statistics[Statistic::l2norm];
    if (facts.row->mode != Mode::statistics || norm.kind != StatisticClass::different || *norm.golden != 0)
      return;
    facts.reasons.add(Verdict::warning, "l2norm: target " + reason_number(*norm.target) + ", golden 0");
  }

  // Fails when the inputs agree in nearly all elements and the output does not: min over inputs of
  // within_1e-3 above ratio_input, within_1e-3 of the output below ratio_output.
  void check_ratio(RowFacts& facts, const InputSummary& inputs) const {
    if (!facts.ratio || !(inputs.ratio > options_.ratio_input) || *facts.ratio >= options_.ratio_output)
      return;
    facts.reasons.add(Verdict::fail, "within_1e-3 is " + reason_number(*facts.ratio) + ", below " +
                                         reason_number(options_.ratio_output) + ", with inputs at " +
                                         reason_number(inputs.ratio));
  }

  // drop = min over inputs of the cosine - cosine of the output.
  void check_cosine(RowFacts& facts, const InputSummary& inputs) const {
    if (!facts.cosine || !(inputs.cosine > options_.cosine_input)) return;
    const double drop = inputs.cosine - *facts.cosine;
    if (!(drop > options_.cosine_drop_warning)) return;
    const bool fails = drop > options_.cosine_drop_fail;
    facts.reasons.add(fails ? Verdict::fail : Verdict::warning,
                      "cosine is " + reason_number(*facts.cosine) + ", more than " +
                          reason_number(fails ? options_.cosine_drop_fail : options_.cosine_drop_warning) +
                          " below that of the inputs, " + reason_number(inputs.cosine));
  }

  // e = relative error of the l2norm. Fails when e of all inputs is below norm_input and e of the output
  // above norm_output. Warns when e grows by more than norm_growth from the inputs to the output, or from 0
  // to above norm_input; errors under the noise floor do not count.
  void check_norm(RowFacts& facts, const InputSummary& inputs) const {
    const StatisticPair& norm = facts.statistics[Statistic::l2norm];
    if (!norm.relative) return;
    const double error = *norm.relative;
    const auto numbers = [&] {
      return "relative error " + reason_number(error) + " of l2norm (target " + reason_number(*norm.target) +
             ", golden " + reason_number(*norm.golden) + ")";
    };
    if (inputs.norm < options_.norm_input && error > options_.norm_output)
      facts.reasons.add(Verdict::fail, numbers() + " is above " + reason_number(options_.norm_output) +
                                           ", with inputs at " + reason_number(inputs.norm));
    if (!(error > noise_floor(facts, options_)) || std::isinf(inputs.norm)) return;
    const bool grows =
        inputs.norm == 0 ? error > options_.norm_input : error / inputs.norm > options_.norm_growth;
    if (!grows) return;
    facts.reasons.add(
        Verdict::warning,
        numbers() + (inputs.norm == 0 ? " with equal inputs"
                                      : " is more than " + reason_number(options_.norm_growth) +
                                            " times that of the inputs, " + reason_number(inputs.norm)));
  }

  // Nothing that both sides recorded could be compared.
  static bool is_without_statistics(const RowFacts& facts) {
    return facts.row->mode == Mode::statistics && facts.count() != 0 && facts.has_one_shape() &&
           !facts.statistics.any(StatisticClass::equal) && !facts.statistics.any(StatisticClass::different) &&
           !facts.statistics.any(StatisticClass::mismatch);
  }

  // What both sides recorded may agree, but one side has a number that the other should have: the extremes of
  // every type, mean and norm of the floating types.
  static std::optional<std::string> statistic_of_one_side(const RowFacts& facts) {
    if (facts.row->mode != Mode::statistics || facts.target.dtype != facts.golden.dtype || facts.count() == 0)
      return std::nullopt;
    for (size_t i = 0; i < kStatisticCount; ++i) {
      const StatisticPair& pair = facts.statistics.of[i];
      const auto which = static_cast<Statistic>(i);
      const bool is_extreme = which == Statistic::max || which == Statistic::min;
      if (pair.target.has_value() == pair.golden.has_value()) continue;
      if (!is_extreme && !is_floating(facts.target.dtype)) continue;
      return fmt::format("{} is recorded in {} alone", to_text(which), pair.target ? "target" : "golden");
    }
    return std::nullopt;
  }

  void finish(RowFacts& facts, bool ignore_all) const {
    ResultRow& row = *facts.row;
    if (row.pair.target == kNoIndex || row.pair.golden == kNoIndex) return finish_unpaired(row, ignore_all);
    if (!facts.is_judged) {
      row.judged = Verdict::skip;
      if (row.absent == Absent::none) row.absent = Absent::no_data;
      return;
    }
    if (is_without_statistics(facts)) {
      row.judged = Verdict::skip;
      row.absent = Absent::no_statistics;
      row.unreadable = facts.statistics.any(StatisticClass::unavailable);
      add_message(row, "no statistic is available on both sides");
      return;
    }
    if (const auto lone = statistic_of_one_side(facts); lone && facts.reasons.verdict() != Verdict::fail) {
      row.judged = Verdict::skip;
      row.absent = Absent::no_statistics;
      row.unreadable = true;
      add_message(row, *lone);
      return;
    }
    row.judged = facts.reasons.verdict();
    row.grad_only = facts.reasons.grad_only();
    add_message(row, facts.reasons.text());
  }

  // A row of one side stays skip; NaN in the target is a fault with or without a counterpart.
  void finish_unpaired(ResultRow& row, bool ignore_all) const {
    row.judged = Verdict::skip;
    if (row.pair.target == kNoIndex) return add_message(row, "no counterpart in target");
    add_message(row, "no counterpart in golden");
    const TensorId tensor = table_.target->items()[row.pair.target].tensor;
    if (tensor == kNoIndex || ignore_all) return;
    const ulpscope_stats& stats = table_.target->tensors()[tensor].stats;
    const StatisticsComparison alone = compare_statistics(stats, DType::f64, stats, DType::f64);
    for (size_t i = 0; i < kStatisticCount; ++i) {
      if (!alone.of[i].target || !std::isnan(*alone.of[i].target)) continue;
      row.judged = Verdict::fail;
      return add_message(row, std::string(to_text(static_cast<Statistic>(i))) + " of target is NaN");
    }
  }

  static void add_message(ResultRow& row, const std::string& text) {
    if (text.empty()) return;
    if (!row.message.empty()) row.message += "; ";
    row.message += text;
  }

  const ResultTable& table_;
  const SimilarityOptions& options_;
  RowContext context_;
  std::vector<RowFacts> facts_;
  std::string_view api_;
};

bool is_of_framework_family(std::string_view source) {
  return source == "vllm_v0" || source == "vllm_v1" || source == "torch_api";
}

}  // namespace

std::string reason_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : number_text(value);
}

bool is_one_family(std::string_view target_source, std::string_view golden_source) {
  return target_source == golden_source ||
         (is_of_framework_family(target_source) && is_of_framework_family(golden_source));
}

void judge_similarity(ResultTable& table, int64_t first, int64_t count, const SimilarityOptions& options) {
  if (count <= 0) return;
  EntryJudge(table, first, count, options).run();
}

bool is_never_explained(const ResultTable& table, const ResultRow& row) {
  if (row.judged != Verdict::fail) return false;
  if (row.mode == Mode::value || row.pair.target == kNoIndex) return true;
  if (row.pair.golden == kNoIndex) return true;
  const SimilarityOptions options;
  ResultRow copy = row;
  const RowFacts facts = gather_facts(copy, {table, options, true, !table.pairs.merges.empty()});
  if (!facts.is_judged) return false;
  if (!is_same_squeezed(facts.target.shape, facts.golden.shape)) return true;
  if (facts.sums != nullptr && facts.sums->nonfinite_mismatch > 0) return true;
  if (facts.statistics.any(StatisticClass::mismatch)) return true;
  if (!is_exact(facts.target.dtype) || !is_exact(facts.golden.dtype)) return false;
  if (row.mode == Mode::digest) return facts.ratio.value_or(1) < 1;
  return facts.sums != nullptr ? facts.sums->unequal > 0 : facts.statistics.any(StatisticClass::different);
}

}  // namespace ulpscope
