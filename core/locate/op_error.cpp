#include "locate/op_error.hpp"

#include <ulpscope/half.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "base/batches.hpp"
#include "base/text.hpp"
#include "kernels/pair_metrics.hpp"
#include "locate/reductions.hpp"

namespace ulpscope {
namespace {

// Largest element over root mean square of some thousand normal numbers.
constexpr double kPlainCrest = 4;
// A sum is cancelled where less than this share of its terms is left.
constexpr double kCancelled = 0.01;
constexpr std::string_view kTorch = "torch.";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ratio(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : numerator;
}

struct Sides {
  const TensorRow* target;
  const TensorRow* golden;
};

RowError data_error(const DataMetrics& metrics, const Sides& sides) {
  const PairSums& sums = metrics.sums;
  RowError error;
  error.comparable = error.magnitude = true;
  error.class_mismatch = sums.nonfinite_mismatch > 0;
  error.identical = sums.unequal == 0 && sums.nonfinite_mismatch == 0;
  error.exact_type = !is_floating(sides.target->dtype) && !is_complex(sides.target->dtype) &&
                     !is_floating(sides.golden->dtype) && !is_complex(sides.golden->dtype);
  if (error.class_mismatch) {
    error.rel_l2 = error.worst = kInfinity;
    return error;
  }
  error.rel_l2 = rel_l2(sums).value_or(0);
  error.worst = worst(sums).value_or(0);
  error.absolute = max_abs_err(sums).value_or(0);
  error.count = static_cast<double>(std::max<int64_t>(sums.finite_pairs, 1));
  error.golden_zero = sums.squares_golden == 0;
  if (!error.golden_zero) {
    const Factor factor = factor_of(sums);
    error.bias = std::fabs(factor.slope - 1);
    error.residual = factor.residual;
    const double mean_square =
        sums.squares_golden / static_cast<double>(std::max<int64_t>(sums.finite_pairs, 1));
    error.crest = std::ldexp(sums.max_abs_golden / std::sqrt(mean_square), -sums.golden_exponent);
  }
  return error;
}

// By how much all statistics of two sides are off in one direction: |r - 1| of the ratio nearest to 1 of the
// norm, the extremes that are large, and the mean where it is; 0 where they do not agree in the direction.
// scale: the larger extreme. Rounding moves each by itself, and a norm of many elements hardly.
double common_bias(const ulpscope_stats& t, const ulpscope_stats& g, double scale, double rms) {
  constexpr uint32_t kNeeded = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_L2;
  constexpr double kLarge = 0.25;
  if ((t.present & g.present & kNeeded) != kNeeded || !(g.l2norm > 0)) return 0;
  double least = kInfinity, most = -kInfinity;
  const auto take = [&](double a, double b) {
    const double off = a / b - 1;
    least = std::min(least, off);
    most = std::max(most, off);
  };
  take(t.l2norm, g.l2norm);
  if (std::fabs(g.max) >= kLarge * scale) take(t.max, g.max);
  if (std::fabs(g.min) >= kLarge * scale) take(t.min, g.min);
  const bool has_mean = (t.present & g.present & ULPSCOPE_STAT_MEAN) != 0;
  if (has_mean && std::fabs(g.mean) >= kLarge * rms) take(t.mean, g.mean);
  if (!std::isfinite(least) || !std::isfinite(most)) return 0;
  return least > 0 ? least : most < 0 ? -most : 0;
}

// Scale-aware differences of the four statistics: extremes against the larger extreme, the mean against the
// root mean square (never against itself: a mean near zero says nothing), the norm against itself. The
// largest counts.
RowError statistics_error(const ulpscope_stats& t, const ulpscope_stats& g, double count) {
  RowError error;
  const uint32_t both = t.present & g.present;
  error.comparable = error.magnitude = both != 0;
  error.identical = true;
  const bool norm_known = (both & ULPSCOPE_STAT_L2) != 0 && std::isfinite(g.l2norm) && g.l2norm > 0;
  const double extreme =
      (both & (ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN)) == (ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN)
          ? std::max(std::fabs(g.max), std::fabs(g.min))
          : 0;
  const double rms = norm_known ? std::fabs(g.l2norm) / std::sqrt(std::max(count, 1.0)) : extreme;
  const auto take = [&](uint32_t bit, double a, double b, double scale) {
    if ((both & bit) == 0) return;
    const bool same = a == b || (std::isnan(a) && std::isnan(b));
    if (same) return;
    error.identical = false;
    if (!std::isfinite(a) || !std::isfinite(b)) {
      // The norm and mean of masked scores are infinite on both sides or overflow on the narrower one: only
      // an extreme proves a class difference.
      // A norm is NaN only where an element is.
      const bool nan_came = bit == ULPSCOPE_STAT_L2 && std::isnan(a) != std::isnan(b);
      if (bit == ULPSCOPE_STAT_MAX || bit == ULPSCOPE_STAT_MIN || nan_came) error.class_mismatch = true;
      return;
    }
    error.rel_l2 = std::max(error.rel_l2, ratio(std::fabs(a - b), std::fabs(scale)));
  };
  take(ULPSCOPE_STAT_MAX, t.max, g.max, std::isfinite(extreme) && extreme > 0 ? extreme : std::fabs(g.max));
  take(ULPSCOPE_STAT_MIN, t.min, g.min, std::isfinite(extreme) && extreme > 0 ? extreme : std::fabs(g.min));
  take(ULPSCOPE_STAT_MEAN, t.mean, g.mean, rms);
  take(ULPSCOPE_STAT_L2, t.l2norm, g.l2norm, g.l2norm);
  if (error.class_mismatch) error.rel_l2 = kInfinity;
  error.worst = error.rel_l2;
  if (!error.identical && !error.class_mismatch) error.bias = common_bias(t, g, extreme, rms);
  return error;
}

// Infinite means and norms hide everything, and one huge extreme (a mask) hides all smaller values.
bool is_blind(const ulpscope_stats& stats) {
  constexpr double kDwarfs = 1e3;
  if ((stats.present & ULPSCOPE_STAT_MEAN) != 0 && !std::isfinite(stats.mean)) return true;
  if ((stats.present & ULPSCOPE_STAT_L2) != 0 && !std::isfinite(stats.l2norm)) return true;
  constexpr uint32_t kBoth = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN;
  if ((stats.present & kBoth) != kBoth) return false;
  const double high = std::fabs(stats.max), low = std::fabs(stats.min);
  return high > 0 && low > 0 && std::max(high, low) >= kDwarfs * std::min(high, low);
}

// Whether both sides mask with the lowest number of their own format, in the same share of the elements: a
// difference of any size, and by design. Scores may have been added.
bool masks_by_format(const Sides& sides) {
  constexpr uint32_t kExtremes = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN;
  constexpr double kNear = 0.99, kFar = 0.01;
  const TensorRow &target = *sides.target, &golden = *sides.golden;
  const uint32_t both = target.stats.present & golden.stats.present;
  if (target.dtype == golden.dtype || !is_floating(target.dtype) || !is_floating(golden.dtype)) return false;
  if ((both & kExtremes) != kExtremes) return false;
  const auto share = [](const TensorRow& tensor, double value) {
    return value / largest_finite(tensor.dtype);
  };
  const auto is_low = [&](const TensorRow& tensor, double value) { return share(tensor, value) <= -kNear; };
  const auto is_small = [&](const TensorRow& tensor, double value) {
    return std::fabs(share(tensor, value)) <= kFar;
  };
  if (!is_low(target, target.stats.min) || !is_low(golden, golden.stats.min)) return false;
  // Minus infinity is one number in all formats.
  if (std::isinf(target.stats.min) && std::isinf(golden.stats.min)) return false;
  const bool same_top = (is_low(target, target.stats.max) && is_low(golden, golden.stats.max)) ||
                        (is_small(target, target.stats.max) && is_small(golden, golden.stats.max));
  const double off = share(target, target.stats.mean) - share(golden, golden.stats.mean);
  return same_top && ((both & ULPSCOPE_STAT_MEAN) == 0 || !std::isfinite(off) || std::fabs(off) <= kFar);
}

// Whether two such masks of nearly one range lie at other elements: those are off by the whole of it.
bool masks_elsewhere(const RowError& error, const Sides& sides) {
  constexpr double kFar = 0.01;
  const double target = largest_finite(sides.target->dtype), golden = largest_finite(sides.golden->dtype);
  const bool one_range = std::max(target, golden) <= 2 * std::min(target, golden);
  return !error.statistics && one_range && error.absolute > kFar * golden;
}

// Such a mask hides the scores beside it.
RowError of_masks(RowError error) {
  error.identical = error.blind = true;
  error.class_mismatch = false;
  error.rel_l2 = error.worst = error.bias = error.residual = error.absolute = 0;
  return error;
}

void add_output(OpError& op, const RowError& error, int64_t row) {
  ++op.outputs;
  op.statistics |= error.statistics;
  op.noise_known &= error.over_noise >= 0;
  op.out_over_noise = std::max(op.out_over_noise, error.over_noise);
  if (error.identical && !error.shape_mismatch) return;
  ++op.differing_outputs;
  op.out_class_mismatch |= error.class_mismatch;
  op.out_shape_mismatch |= error.shape_mismatch;
  op.out_exact_mismatch |= error.exact_type;
  const double size =
      error.shape_mismatch || error.class_mismatch || !error.magnitude ? kInfinity : error.rel_l2;
  const double worst =
      error.shape_mismatch || error.class_mismatch || !error.magnitude ? kInfinity : error.worst;
  if (op.worst_output_row < 0 || size > op.out) op.worst_output_row = row;
  op.out = std::max(op.out, size);
  op.out_worst = std::max(op.out_worst, worst);
  op.out_absolute = std::max(op.out_absolute, error.absolute);
}

void add_input(OpError& op, const RowError& error) {
  ++op.inputs;
  op.noise_known &= error.over_noise >= 0;
  op.in_over_noise = std::max(op.in_over_noise, error.over_noise);
  op.blind_input |= error.blind && !error.exact_type;
  op.blind_mask |= error.truth && error.statistics;
  op.exact_input |= error.exact_type && error.statistics;
  if (error.identical && !error.shape_mismatch) return;
  ++op.differing_inputs;
  op.in_exact_mismatch |= error.exact_type;
  const bool unbounded = error.shape_mismatch || error.class_mismatch || !error.magnitude;
  op.in = std::max(op.in, unbounded ? kInfinity : error.rel_l2);
  op.in_worst = std::max(op.in_worst, unbounded ? kInfinity : error.worst);
  // The few weights of a sum are a factor each.
  op.in_bias =
      std::max(op.in_bias, error.count < kLeastForBias && error.magnitude ? error.rel_l2 : error.bias);
  op.in_absolute = std::max(op.in_absolute, error.absolute);
}

// The bias that the statistics of a healthy output may show. They are rounded to the format themselves: all
// of them together were off by 2.0 roundoffs at most in 20 100 outputs of 102 healthy pairs in bfloat16, with
// inputs off by up to 6. Few elements may all be off in one direction by chance.
double allowed_by_statistics(const RowError& error, const OpError& op) {
  constexpr double kHealthyRoundoffs = 3, kShareOfInput = 0.25, kChance = 8;
  const double share = std::clamp(kChance / std::sqrt(error.count), kShareOfInput, 1.0);
  return 2 * op.in_bias + kHealthyRoundoffs * error.roundoff + share * op.in;
}

// The bias that a healthy output may show: twice that of the inputs, and what n roundings leave by chance.
// Where a few large elements weigh most (squares), it is they whose roundings count. From statistics of finer
// formats nothing follows: there a factor stands out of its control group.
void set_bias_excess(const ResultTable& table, const std::vector<RowError>& rows, double bias_constant,
                     OpError& op) {
  for (int64_t i = op.first_row; i < op.first_row + op.row_count; ++i) {
    const RowError& error = rows[static_cast<size_t>(i)];
    if (!error.comparable || error.value || error.exact_type) continue;
    if (error.statistics ? error.roundoff < kCoarseRoundoff : error.bias <= kBiasRoundoffs * error.roundoff)
      continue;
    if (error.count < kLeastForBias) continue;
    const ItemRow& item = table.target->items()[table.rows[static_cast<size_t>(i)].pair.target];
    if (is_input(item.role)) continue;
    const double chance =
        (error.residual + error.roundoff) / std::sqrt(error.count) * std::max(1.0, error.crest / kPlainCrest);
    const double allowed =
        error.statistics ? allowed_by_statistics(error, op) : 2 * op.in_bias + bias_constant * chance;
    if (allowed > 0) op.bias_excess = std::max(op.bias_excess, error.bias / allowed);
  }
}

// What is known of each of the two runs as a whole: the format that it is in, and what its calls sum up.
struct RunFacts {
  DType target_format = DType::none, golden_format = DType::none;
  std::optional<Reductions> target_sums, golden_sums;
};

// The coarsest floating formats of one side of an op.
struct Formats {
  double in = 0, out = 0;  // 0: none seen
  void add(bool is_in, double roundoff) { (is_in ? in : out) = std::max(is_in ? in : out, roundoff); }
  bool narrows() const { return in > 0 && out > in; }
};

// The floating format of most tensors of a dump; none where there are no such tensors.
DType run_format(const DumpIndex& index) {
  std::array<int64_t, kDTypeCount> counts = {};
  for (const TensorRow& tensor : index.tensors())
    if (is_floating(tensor.dtype)) ++counts[static_cast<size_t>(tensor.dtype)];
  const auto most = std::max_element(counts.begin(), counts.end());
  return *most == 0 ? DType::none : static_cast<DType>(most - counts.begin());
}

// Whether an argument is the name of a format, or a number at the end of its range ("torch.finfo(…).min").
bool means_format(const DumpIndex& index, ItemId item, DType format) {
  if (format == DType::none) return false;
  std::string_view text = index.text(index.items()[item].value);
  if (const auto number = parse_double(text)) return std::fabs(*number) == largest_finite(format);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  if (text.substr(0, kTorch.size()) == kTorch) text.remove_prefix(kTorch.size());
  return text == name(format);
}

// Whether an argument speaks on each side of the format that the run there is in: two runs of different
// precision differ so by design.
bool differs_by_format(const ResultTable& table, const ItemPair& items, const RunFacts& run) {
  return run.target_format != run.golden_format &&
         means_format(*table.target, items.target, run.target_format) &&
         means_format(*table.golden, items.golden, run.golden_format);
}

// The Euclidean norm of a tensor as its dump gives it; 0 where it does not.
double norm_of(const TensorRow& tensor) {
  const bool known = (tensor.stats.present & ULPSCOPE_STAT_L2) != 0 && std::isfinite(tensor.stats.l2norm);
  return known ? tensor.stats.l2norm : 0;
}

// Whether a row is a sum over the rows of an input (the gradient of a bias) whose terms cancel: next to
// nothing is left but their errors, which are small beside the terms themselves.
bool is_cancelled_sum(const ResultTable& table, const RowError& error, const ItemRow& output,
                      const OpError& op) {
  constexpr double kUnluckySum = 4;
  const DumpIndex& golden = *table.golden;
  const std::span<const int64_t> shape = golden.shape_of(output.tensor);
  if (!error.magnitude || error.shape_mismatch || error.class_mismatch || shape.size() != 1) return false;
  const double norm = norm_of(golden.tensors()[output.tensor]);
  const double off = error.rel_l2 * (error.golden_zero ? 1 : norm);
  if (!(norm > 0) && !error.golden_zero) return false;
  for (const ItemRow& item : golden.items(output.op)) {
    if (item.tensor == kNoIndex || !is_input(item.role)) continue;
    const std::span<const int64_t> summed = golden.shape_of(item.tensor);
    if (summed.size() < 2 || summed.back() != shape[0] || shape[0] == 0) continue;
    const double terms =
        static_cast<double>(golden.element_count(item.tensor)) / static_cast<double>(shape[0]);
    const double of_input = norm_of(golden.tensors()[item.tensor]);
    const double allowed = kUnluckySum * (op.in + op.roundoff) * of_input * std::sqrt(std::max(terms, 1.0));
    if (norm < of_input * kCancelled && off <= allowed) return true;
  }
  return false;
}

// Fills an op whose rows are known.
void measure_op(const ResultTable& table, const std::vector<RowError>& rows, double bias_constant,
                const RunFacts& run, OpError& op) {
  // A golden made of files alone says nothing of inputs: then the target's shapes do.
  const OpPair& pair = table.pairs.ops[op.op_pair];
  op.reduction = std::max(run.golden_sums->length(pair.golden), run.target_sums->length(pair.target));
  op.gradients = op.row_count > 0;
  const bool is_backward = table.golden->ops()[pair.golden].phase == Phase::backward;
  Formats target, golden;
  for (int64_t i = op.first_row; i < op.first_row + op.row_count; ++i) {
    const RowError& error = rows[static_cast<size_t>(i)];
    if (!error.comparable) continue;
    const ItemPair& items = table.rows[static_cast<size_t>(i)].pair;
    const ItemRow& item = table.target->items()[items.target];
    op.gradients &= item.role == Role::gradient;
    if (error.value) {
      if (!error.identical && is_input(item.role) && !differs_by_format(table, items, run)) {
        op.value_mismatch = true;
        if (op.value_row < 0) op.value_row = i;
      }
      continue;
    }
    const DType t = table.target->tensors()[item.tensor].dtype;
    const ItemRow& of_golden = table.golden->items()[items.golden];
    const DType g = table.golden->tensors()[of_golden.tensor].dtype;
    op.roundoff = std::max({op.roundoff, roundoff_of(t), roundoff_of(g)});
    op.dtypes_differ |= t != g && roundoff_of(t) > 0 && roundoff_of(g) > 0;
    target.add(is_input(item.role), roundoff_of(t));
    golden.add(is_input(item.role), roundoff_of(g));
    if (is_input(item.role))
      add_input(op, error);
    else if (is_backward && is_cancelled_sum(table, error, of_golden, op))
      ++op.outputs;
    else
      add_output(op, error, i);
  }
  op.target_narrows = target.narrows();
  op.golden_narrows = golden.narrows();
  set_bias_excess(table, rows, bias_constant, op);
}

// The difference of two tensors, whatever it comes from.
RowError tensor_error(const ResultTable& table, const ResultRow& row, const Sides& sides) {
  const DumpIndex &target = *table.target, &golden = *table.golden;
  const TensorId t = target.items()[row.pair.target].tensor, g = golden.items()[row.pair.golden].tensor;
  RowError error;
  const double roundoff = std::max(roundoff_of(sides.target->dtype), roundoff_of(sides.golden->dtype));
  if (row.mode == Mode::data) {
    if (row.metrics >= 0) {
      error = data_error(table.data_metrics[static_cast<size_t>(row.metrics)], sides);
      error.roundoff = roundoff;
      return error;
    }
    error.comparable = error.shape_mismatch = true;
    error.exact_type = roundoff == 0;
    return error;
  }
  const int64_t count = golden.element_count(g);
  if (row.mode == Mode::statistics) {
    error = statistics_error(sides.target->stats, sides.golden->stats, static_cast<double>(count));
    error.statistics = true;
    error.blind = is_blind(sides.target->stats) || is_blind(sides.golden->stats);
  } else {
    error.comparable = true;
    error.identical = target.text(sides.target->digest) == golden.text(sides.golden->digest);
  }
  error.exact_type = !is_floating(sides.target->dtype) && !is_complex(sides.target->dtype);
  error.truth = sides.target->dtype == DType::b8;
  error.count = static_cast<double>(std::max<int64_t>(count, 1));
  error.shape_mismatch = target.element_count(t) != count;
  error.roundoff = roundoff;
  return error;
}

}  // namespace

bool is_destination(const DumpIndex& index, ItemId item) {
  const ItemRow& row = index.items()[item];
  return row.role == Role::kwarg && index.text(row.path) == "out";
}

Factor factor_of(const PairSums& sums) {
  const double unit = std::ldexp(1.0, sums.target_exponent - sums.golden_exponent);
  const double slope = sums.dot / sums.squares_golden * unit;
  const double target_over_golden = sums.squares_target / sums.squares_golden * unit * unit;
  return {slope, std::sqrt(std::max(0.0, target_over_golden - slope * slope))};
}

double roundoff_of(DType dtype) { return is_floating(dtype) || is_complex(dtype) ? unit_roundoff(dtype) : 0; }

RowError row_error(const ResultTable& table, int64_t number) {
  const ResultRow& row = table.rows[static_cast<size_t>(number)];
  RowError error;
  if (row.pair.target == kNoIndex || row.pair.golden == kNoIndex || row.mode == Mode::none) return error;
  if (is_destination(*table.target, row.pair.target)) return error;
  if (row.mode == Mode::value) {
    error.comparable = error.value = error.exact_type = true;
    error.identical = row.judged != Verdict::fail;
    return error;
  }
  const auto side = [](const DumpIndex& index, ItemId item) {
    return &index.tensors()[index.items()[item].tensor];
  };
  const Sides sides{side(*table.target, row.pair.target), side(*table.golden, row.pair.golden)};
  error = tensor_error(table, row, sides);
  const bool by_design = error.magnitude && masks_by_format(sides) && !masks_elsewhere(error, sides);
  return by_design ? of_masks(error) : error;
}

std::vector<RowError> row_errors(const ResultTable& table, ThreadPool& pool) {
  const auto count = static_cast<int64_t>(table.rows.size());
  std::vector<RowError> errors(table.rows.size());
  for_batches(pool, count, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) errors[static_cast<size_t>(i)] = row_error(table, i);
  });
  return errors;
}

std::vector<OpError> op_errors(const ResultTable& table, const std::vector<RowError>& rows,
                               double bias_constant, ThreadPool& pool) {
  std::vector<OpError> ops;
  const auto count = static_cast<int64_t>(table.rows.size());
  for (int64_t first = 0, end = 0; first < count; first = end) {
    const uint32_t op_pair = table.rows[static_cast<size_t>(first)].pair.op_pair;
    while (end < count && table.rows[static_cast<size_t>(end)].pair.op_pair == op_pair) ++end;
    const OpPair& pair = table.pairs.ops[op_pair];
    if (pair.target == kNoIndex || pair.golden == kNoIndex) continue;
    OpError op;
    op.first_row = first;
    op.row_count = end - first;
    op.op_pair = op_pair;
    ops.push_back(op);
  }
  RunFacts run;
  pool.parallel_for(2, [&](int64_t side, int) {
    const DumpIndex& index = side == 0 ? *table.target : *table.golden;
    (side == 0 ? run.target_format : run.golden_format) = run_format(index);
    (side == 0 ? run.target_sums : run.golden_sums).emplace(index);
  });
  for_batches(pool, static_cast<int64_t>(ops.size()), [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i)
      measure_op(table, rows, bias_constant, run, ops[static_cast<size_t>(i)]);
  });
  return ops;
}

}  // namespace ulpscope
