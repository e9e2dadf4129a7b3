#include "measure/similarity_row.hpp"

#include <ulpscope/half.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "kernels/pair_metrics.hpp"
#include "measure/values.hpp"

namespace ulpscope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
  return text + "]";
}

// The place of a flat index in a shape.
std::string place_text(int64_t flat, std::span<const int64_t> shape) {
  Shape place(shape.size(), 0);
  for (size_t i = shape.size(); i-- > 0;) {
    const int64_t dim = shape[i];
    if (dim <= 0) return std::to_string(flat);
    place[i] = flat % dim;
    flat /= dim;
  }
  return shape_text(place);
}

std::string both(std::string_view what, std::string_view target, std::string_view golden) {
  return std::string(what) + ": target " + std::string(target) + ", golden " + std::string(golden);
}

// A finite number of one side that the other side's dtype cannot hold: what became an infinity there.
std::optional<std::string> overflow_text(std::string_view side, double value, DType other) {
  if (!(is_floating(other) || is_complex(other)) || !std::isfinite(value)) return std::nullopt;
  const double limit = largest_finite(other);
  if (!(std::fabs(value) > limit)) return std::nullopt;
  return std::string(side) + " " + reason_number(value) + " does not fit " + name(other) + " (largest " +
         reason_number(limit) + ")";
}

std::string class_counts(const SideSums& side) {
  return std::to_string(side.nan_count) + " NaN, " + std::to_string(side.positive_inf) + " inf, " +
         std::to_string(side.negative_inf) + " -inf";
}

double largest_magnitude(const SideSums& side) {
  if (side.finite == 0) return 0;
  return std::fabs(side.max) > std::fabs(side.min) ? side.max : side.min;
}

// An element that is NaN or infinite on one side and not the same on the other.
void check_class(RowFacts& facts) {
  const PairSums& sums = *facts.sums;
  if (sums.nonfinite_mismatch == 0) return;
  std::string reason = both("NaN or infinity does not agree in " + std::to_string(sums.nonfinite_mismatch) +
                                " of " + std::to_string(sums.elements) + " elements, first at " +
                                place_text(sums.first_mismatch_index, facts.target.shape),
                            class_counts(sums.target), class_counts(sums.golden));
  if (sums.target.positive_inf + sums.target.negative_inf > 0)
    if (const auto text = overflow_text("golden", largest_magnitude(sums.golden), facts.target.dtype))
      reason += ": overflow, " + *text;
  if (sums.golden.positive_inf + sums.golden.negative_inf > 0)
    if (const auto text = overflow_text("target", largest_magnitude(sums.target), facts.golden.dtype))
      reason += ": overflow, " + *text;
  facts.reasons.add(Verdict::fail, reason);
}

void check_class_of_statistics(RowFacts& facts) {
  for (size_t i = 0; i < kStatisticCount; ++i) {
    const StatisticPair& pair = facts.statistics.of[i];
    if (pair.kind != StatisticClass::mismatch) continue;
    std::string reason =
        both(to_text(static_cast<Statistic>(i)), reason_number(*pair.target), reason_number(*pair.golden));
    if (std::isinf(*pair.target))
      if (const auto text = overflow_text("golden", *pair.golden, facts.target.dtype))
        reason += ": overflow, " + *text;
    if (std::isinf(*pair.golden))
      if (const auto text = overflow_text("target", *pair.target, facts.golden.dtype))
        reason += ": overflow, " + *text;
    facts.reasons.add(Verdict::fail, reason);
  }
}

// Integers, bools and opaque bytes agree to the last digit or not at all.
void check_exact(RowFacts& facts) {
  if (!is_exact(facts.target.dtype) || !is_exact(facts.golden.dtype)) return;
  if (facts.sums != nullptr) {
    const PairSums& sums = *facts.sums;
    if (sums.unequal == 0) return;
    facts.reasons.add(Verdict::fail, std::to_string(sums.unequal) + " of " + std::to_string(sums.elements) +
                                         " elements of an exact type differ, first at " +
                                         place_text(sums.first_unequal_index, facts.target.shape) +
                                         ", at most by " + reason_number(sums.max_abs_err));
    return;
  }
  for (size_t i = 0; i < kStatisticCount; ++i) {
    const StatisticPair& pair = facts.statistics.of[i];
    if (pair.kind != StatisticClass::different) continue;
    facts.reasons.add(Verdict::fail,
                      both(std::string(to_text(static_cast<Statistic>(i))) + " of an exact type",
                           reason_number(*pair.target), reason_number(*pair.golden)));
  }
}

void check_dtype(RowFacts& facts) {
  if (facts.target.dtype == facts.golden.dtype) return;
  facts.reasons.add(Verdict::fail, both("dtype", name(facts.target.dtype), name(facts.golden.dtype)));
}

void check_shape(RowFacts& facts, const RowContext& context) {
  if (facts.has_one_shape()) {
    if (facts.count() == 0)
      facts.reasons.note("both sides are empty, shape " + shape_text(facts.target.shape));
    return;
  }
  std::string reason = both("shape", shape_text(facts.target.shape), shape_text(facts.golden.shape));
  if (!is_same_squeezed(facts.target.shape, facts.golden.shape)) {
    facts.reasons.add(Verdict::fail, reason);
    return;
  }
  reason += ", equal without dimensions of size 1";
  facts.row->squeezed = true;
  facts.reasons.add(context.one_family && !context.merged ? Verdict::fail : Verdict::pass, reason);
}

void check_grad(RowFacts& facts) {
  constexpr uint32_t kKnown = ULPSCOPE_GRAD_NO | ULPSCOPE_GRAD_YES;
  const uint32_t target = facts.tensor_target->flags & kKnown, golden = facts.tensor_golden->flags & kKnown;
  if (target == 0 || golden == 0 || target == golden) return;
  const auto word = [](uint32_t flags) { return (flags & ULPSCOPE_GRAD_YES) != 0 ? "true" : "false"; };
  facts.reasons.add_grad(both("requires_grad", word(target), word(golden)));
}

// One element has neither a ratio nor a cosine: its own error decides.
void check_single(RowFacts& facts, const SimilarityOptions& options) {
  if (!facts.is_output() || facts.count() != 1 || is_exact(facts.target.dtype)) return;
  const PairSums& sums = *facts.sums;
  if (sums.finite_pairs == 0 || sums.max_abs_err <= noise_floor(facts, options)) return;
  const double golden = std::fabs(sums.max_abs_golden);
  const double relative = golden == 0 ? kInfinity : sums.max_abs_err / golden;
  if (relative <= options.single_relative) return;
  facts.reasons.add(
      Verdict::fail,
      both("the one element", reason_number(sums.max_abs_target), reason_number(sums.max_abs_golden)) +
          ", relative error " + reason_number(relative) + " above " + reason_number(options.single_relative));
}

void check_digest(RowFacts& facts, const RowContext& context) {
  const std::string_view target = context.table.target->text(facts.tensor_target->digest);
  const std::string_view golden = context.table.golden->text(facts.tensor_golden->digest);
  if (target != golden)
    facts.reasons.add(Verdict::fail, both("checksum", printable(target), printable(golden)));
}

// Numbers are compared although the dumps hold checksums: say which side lacks one.
void note_missing_digest(RowFacts& facts) {
  const bool target = facts.tensor_target->digest != 0, golden = facts.tensor_golden->digest != 0;
  if (target != golden)
    facts.reasons.note(std::string(target ? "golden" : "target") +
                       " has no checksum: statistics were compared");
}

// l2norm relative to golden's. Where no l2norm is recorded the extremes stand in, relative to the larger of
// golden's.
std::optional<double> norm_of_statistics(const StatisticsComparison& statistics) {
  const StatisticPair& norm = statistics[Statistic::l2norm];
  if (norm.kind == StatisticClass::mismatch) return kInfinity;
  if (norm.relative) return norm.relative;
  const StatisticPair &max = statistics[Statistic::max], &min = statistics[Statistic::min];
  if (max.kind == StatisticClass::mismatch || min.kind == StatisticClass::mismatch) return kInfinity;
  if (!max.difference || !min.difference) return std::nullopt;
  const double largest = std::max(std::fabs(*max.golden), std::fabs(*min.golden));
  const double difference = std::max(std::fabs(*max.difference), std::fabs(*min.difference));
  return difference == 0 ? 0 : difference / largest;
}

double norm_of_sums(const PairSums& sums) {
  if (sums.nonfinite_mismatch > 0) return kInfinity;
  const double target = std::ldexp(std::sqrt(sums.squares_target), sums.target_exponent);
  const double golden = std::ldexp(std::sqrt(sums.squares_golden), sums.golden_exponent);
  const double difference = std::fabs(target - golden);
  return difference == 0 ? 0 : difference / golden;
}

FactSide side_of(const DumpIndex& index, ItemId item) {
  const TensorId tensor = index.items()[item].tensor;
  return {index.tensors()[tensor].dtype, index.shape_of(tensor), index.element_count(tensor)};
}

// What a row that says only equal or different contributes to rules over other measures.
void set_measures(RowFacts& facts, bool equal) {
  facts.ratio = facts.cosine = equal ? 1 : 0;
  facts.norm = equal ? 0 : kInfinity;
}

void measure_row(RowFacts& facts, const RowContext& context) {
  if (!is_same_squeezed(facts.target.shape, facts.golden.shape)) return set_measures(facts, false);
  if (facts.count() == 0) return;
  if (facts.row->mode == Mode::digest)
    return set_measures(facts, context.table.target->text(facts.tensor_target->digest) ==
                                   context.table.golden->text(facts.tensor_golden->digest));
  if (facts.sums != nullptr) {
    const PairSums& sums = *facts.sums;
    if (sums.elements > 0)
      facts.ratio = static_cast<double>(sums.within[2]) / static_cast<double>(sums.elements);
    facts.cosine = cosine(sums);
    facts.norm = norm_of_sums(sums);
    return;
  }
  facts.norm = norm_of_statistics(facts.statistics);
  if (facts.norm) facts.ratio = facts.cosine = *facts.norm <= noise_floor(facts, context.options) ? 1 : 0;
}

}  // namespace

void Reasons::add(Verdict verdict, std::string_view reason) {
  if (!text_.empty()) text_ += "; ";
  text_ += reason;
  verdict_ = std::max(verdict_, verdict);
  other_failed_ |= verdict == Verdict::fail;
}

void Reasons::add_grad(std::string_view reason) {
  const bool other_failed = other_failed_;
  add(Verdict::fail, reason);
  other_failed_ = other_failed;
  grad_failed_ = true;
}

bool is_exact(DType dtype) {
  return !is_complex(dtype) && (!is_floating(dtype) || dtype == DType::f4_e2m1x2);
}

double noise_floor(const RowFacts& facts, const SimilarityOptions& options) {
  return std::max(
      {options.floor_absolute, unit_roundoff(facts.target.dtype), unit_roundoff(facts.golden.dtype)});
}

RowFacts gather_facts(ResultRow& row, const RowContext& context) {
  RowFacts facts;
  facts.row = &row;
  const ItemPair& pair = row.pair;
  const DumpIndex &target = *context.table.target, &golden = *context.table.golden;
  facts.role = pair.target != kNoIndex ? target.items()[pair.target].role : golden.items()[pair.golden].role;
  if (pair.target == kNoIndex || pair.golden == kNoIndex || row.mode == Mode::none) return facts;
  facts.is_judged = true;
  if (row.mode == Mode::value) return facts;

  facts.target = side_of(target, pair.target);
  facts.golden = side_of(golden, pair.golden);
  if (pair.merge >= 0) {
    const Merge& merge = context.table.pairs.merges[static_cast<size_t>(pair.merge)];
    auto joined =
        merge.target_side ? side_shape(target, pair.target, &merge) : side_shape(golden, pair.golden, &merge);
    if (!joined.ok()) {
      facts.is_judged = false;
      row.absent = Absent::bad;
      row.unreadable = true;
      return facts;
    }
    facts.joined = std::move(joined->shape);
    (merge.target_side ? facts.target : facts.golden) = {joined->dtype, facts.joined,
                                                         joined->element_count()};
  }
  facts.tensor_target = &target.tensors()[target.items()[pair.target].tensor];
  facts.tensor_golden = &golden.tensors()[golden.items()[pair.golden].tensor];
  if (row.mode == Mode::data && row.metrics >= 0)
    facts.sums = &context.table.data_metrics[static_cast<size_t>(row.metrics)].sums;
  if (row.mode == Mode::statistics)
    facts.statistics = compare_statistics(facts.tensor_target->stats, facts.target.dtype,
                                          facts.tensor_golden->stats, facts.golden.dtype);
  measure_row(facts, context);
  return facts;
}

void apply_row_rules(RowFacts& facts, const RowContext& context) {
  const DumpIndex &target = *context.table.target, &golden = *context.table.golden;
  if (facts.row->mode == Mode::value) {
    ValueVerdict value = compare_values(argument_of(target, facts.row->pair.target),
                                        argument_of(golden, facts.row->pair.golden));
    if (!value.message.empty()) facts.reasons.add(value.verdict, value.message);
    return;
  }
  if (facts.row->mode == Mode::digest) {
    check_digest(facts, context);
  } else if (facts.sums != nullptr) {
    check_class(facts);
    check_exact(facts);
    check_single(facts, context.options);
    if (!facts.cosine && facts.sums->finite_pairs > 0 && facts.count() > 1)
      facts.reasons.note(std::string("cosine is undefined: ") +
                         (facts.sums->squares_target == 0 ? "target" : "golden") + " is 0 everywhere");
  } else if (facts.row->mode == Mode::statistics) {
    note_missing_digest(facts);
    check_class_of_statistics(facts);
    check_exact(facts);
  }
  check_dtype(facts);
  check_shape(facts, context);
  if (facts.row->mode != Mode::digest && !context.merged) check_grad(facts);
}

}  // namespace ulpscope
