// The way of a block through the kernels.
//
//   bytes equal?  ── yes ─▶ one side's sums serve for both
//     │ no
//   sums of both sides, from the bytes where a loop reads that type, else from doubles in a buffer
//     │ finite? ── no ──▶ NaN and infinity counted and replaced by 0 in copies, which then go the same way
//     │ yes
//   errors
//     │ float64 out of the range of squares? ──▶ the sums again, in units of a power of two
//   PairSums of the block, merged into the tile's
#include "kernels/pair_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/block_kernels.hpp"
#include "kernels/block_loader.hpp"
#include "kernels/block_scaling.hpp"

namespace ulpscope {
namespace {

const std::byte* bytes_of(const double* values) { return reinterpret_cast<const std::byte*>(values); }

// What the loops read: bytes of plan.format or, after widening, doubles.
struct BlockInput {
  const std::byte* target = nullptr;
  const std::byte* golden = nullptr;
  const double* difference = nullptr;  // |target - golden| where it is more exact than that of the doubles
  BlockFormat format = BlockFormat::f64;
};

BlockInput input_of(const BlockArrays& block) {
  return {bytes_of(block.target), bytes_of(block.golden), block.difference, BlockFormat::f64};
}

enum class Class : uint8_t { finite, nan, positive_infinity, negative_infinity };

Class class_of(double value) {
  if (std::isfinite(value)) return Class::finite;
  return std::isnan(value) ? Class::nan : value > 0 ? Class::positive_infinity : Class::negative_infinity;
}

void count_class(Class c, double value, SideSums& side) {
  switch (c) {
    case Class::finite:
      side.max = side.finite == 0 || value > side.max ? value : side.max;
      side.min = side.finite == 0 || value < side.min ? value : side.min;
      ++side.finite;
      return;
    case Class::nan:
      ++side.nan_count;
      return;
    case Class::positive_infinity:
      ++side.positive_inf;
      return;
    case Class::negative_infinity:
      ++side.negative_inf;
      return;
  }
}

// Measures one block into its own PairSums.
class BlockPass {
 public:
  BlockPass(const PairPlan& plan, const std::byte* target, const std::byte* golden, int64_t numbers,
            int64_t first_index, const PairSums& before)
      : plan_(plan),
        target_(target),
        golden_(golden),
        numbers_(numbers),
        rows_(rows_of(numbers)),
        first_index_(first_index),
        before_(before) {}

  PairSums run() {
    sums_.groups = plan_.groups;
    sums_.elements = numbers_;
    if (!run_identical() && !run_finite()) run_masked();
    if ((plan_.groups & kGroupUlp) != 0) sums_.ulp_pairs = sums_.finite_pairs;
    return sums_;
  }

 private:
  bool whole_rows() const { return numbers_ % kRowNumbers == 0; }
  bool measures(MetricGroups group) const { return (plan_.groups & group) != 0; }

  // The block as doubles, widened at the first call.
  const BlockArrays& arrays() {
    if (arrays_.target == nullptr) arrays_ = load_block(plan_, target_, golden_, numbers_, buffers_);
    return arrays_;
  }
  BlockInput input() {
    if (plan_.buffered || !whole_rows()) return input_of(arrays());
    return {target_, golden_, nullptr, plan_.format};
  }

  // Equal bytes, all finite: nothing differs and one side's sums are those of both.
  bool run_identical() {
    if (plan_.target != plan_.golden || !whole_rows()) return false;
    const auto size = static_cast<size_t>(numbers_ / plan_.parts) * size_bytes(plan_.target);
    if (std::memcmp(target_, golden_, size) != 0) return false;
    const BlockInput block = input();
    SideBlock side;
    plan_.kernels->one_side[static_cast<size_t>(block.format)][measures(kGroupRelative) ? 1 : 0](block.target,
                                                                                                 rows_, side);
    if (!std::isfinite(side.sum) || (plan_.scaled && !is_safe(side))) return false;
    ErrorBlock errors;
    errors.golden_zero = side.zeros;
    put_sides({side, side, side.squares});
    put_errors(errors, 0);
    put_own_sides();
    return true;
  }

  // False, and nothing put, when a number is not finite.
  bool run_finite() {
    const PairBlockSums sides = measure_sides(input());
    if (!std::isfinite(sides.target.sum) || !std::isfinite(sides.golden.sum)) return false;
    put_sides(sides);
    measure_errors(0);
    if (plan_.scaled) rescale();
    put_own_sides();
    return true;
  }

  // Sums of the pairs with both numbers finite, the others being 0 in copies; then each side's own sums.
  void run_masked() {
    arrays();
    const int64_t replaced = mask();
    put_sides(measure_sides(input_of(arrays_)));
    measure_errors(replaced);
    if (plan_.scaled) rescale();
    put_own_side(own_target_, sums_.target);
    put_own_side(own_golden_, sums_.golden);
  }

  // The sums of both sides; leaves errors and sizes for measure_errors.
  PairBlockSums measure_sides(const BlockInput& block) {
    PairBlockSums sides;
    plan_.kernels->two_sides[static_cast<size_t>(block.format)](block.target, block.golden, rows_, sides,
                                                                error_, size_);
    if (block.difference != nullptr) {
      std::copy_n(block.difference, static_cast<size_t>(rows_ * kRowNumbers), error_);
      sides.differing = kAllGroups;  // equal doubles may stand for unequal integers
    }
    return sides;
  }

  // Counts the classes, keeps each side's own finite numbers apart and replaces what is not finite. Returns
  // how many pairs, fill-up included, are now 0 and 0.
  int64_t mask() {
    int64_t replaced = rows_ * kRowNumbers - numbers_;
    for (int64_t i = 0; i < rows_ * kRowNumbers; ++i) {
      double& t = buffers_.target[i];
      double& g = buffers_.golden[i];
      const Class target_class = class_of(t), golden_class = class_of(g);
      own_target_[i] = target_class == Class::finite ? t : 0;
      own_golden_[i] = golden_class == Class::finite ? g : 0;
      const bool both_finite = target_class == Class::finite && golden_class == Class::finite;
      if (!both_finite) t = g = buffers_.difference[i] = 0;
      if (i >= numbers_) continue;
      count_class(target_class, own_target_[i], sums_.target);
      count_class(golden_class, own_golden_[i], sums_.golden);
      if (both_finite) continue;
      ++replaced;
      if (target_class == golden_class) {
        ++sums_.nonfinite_equal;
        continue;
      }
      if (sums_.nonfinite_mismatch++ == 0) sums_.first_mismatch_index = index_of(i);
    }
    return replaced;
  }

  int64_t index_of(int64_t number) const { return first_index_ + number / plan_.parts; }

  void put_sides(const PairBlockSums& sides) {
    sides_ = sides;
    sums_.dot = sides.dot;
    sums_.squares_target = sides.target.squares;
    sums_.squares_golden = sides.golden.squares;
  }

  void measure_errors(int64_t replaced) {
    const ErrorFunction measure =
        plan_.kernels->errors[static_cast<size_t>(plan_.errors)][plan_.groups / kGroupRelative];
    ErrorBlock errors;
    measure(error_, size_, rows_, sides_.differing, plan_.ulp, errors);
    if (!std::isinf(errors.max_abs)) {
      put_errors(errors, replaced);
      return;
    }
    // Two numbers of opposite sign whose difference is beyond the largest double: what depends on ratios is
    // measured at a quarter of their size, the absolute error stays infinite.
    const ErrorBlock plain = errors;
    quarter_overflowing(arrays(), rows_, quarters_);
    const PairBlockSums quarters = measure_sides(input_of({quarters_.target, quarters_.golden, nullptr}));
    measure(error_, size_, rows_, quarters.differing, plan_.ulp, errors);
    errors.sum_abs = plain.sum_abs;
    errors.sum_squares = plain.sum_squares;
    errors.max_abs = plain.max_abs;
    put_errors(errors, replaced);
  }

  void put_errors(const ErrorBlock& errors, int64_t replaced) {
    sums_.finite_pairs = numbers_ - sums_.nonfinite_equal - sums_.nonfinite_mismatch;
    sums_.unequal = errors.unequal + sums_.nonfinite_mismatch;
    sums_.golden_zero_mismatch = errors.golden_zero_mismatch;
    sums_.sum_abs_err = errors.sum_abs;
    sums_.sum_squared_err = errors.sum_squares;
    for (int k = 0; k < 4; ++k) {
      const bool measured = measures(kGroupRelative) || k == 1 || k == 2;
      sums_.within[k] = measured ? numbers_ - errors.outside[k] - sums_.nonfinite_mismatch : 0;
    }
    if (measures(kGroupRelative)) {
      sums_.sum_rel_err = errors.sum_rel;
      sums_.relative_pairs = sums_.finite_pairs - (errors.golden_zero - replaced);
    }
    sums_.sum_ulp = errors.sum_ulp;
    sums_.max_ulp = errors.max_ulp;
    sums_.ulp_over_threshold = errors.ulp_over;
    put_places(errors);
  }

  // Looks up where the maxima and the first difference are, if that matters for the tile.
  void put_places(const ErrorBlock& errors) {
    const bool first = before_.first_unequal_index < 0 && sums_.unequal > 0;
    const bool largest =
        errors.max_abs > 0 && (before_.max_abs_index < 0 || errors.max_abs > before_.max_abs_err);
    const bool relative =
        errors.max_rel > 0 && (before_.max_rel_index < 0 || errors.max_rel > before_.max_rel_err);
    if (first) put_first_unequal();
    if (largest) {
      const BlockArrays& block = arrays();
      const bool overflow = std::isinf(errors.max_abs);
      const int64_t i = first_number(
          [&](int64_t k) { return overflow ? std::isinf(block.error(k)) : error_[k] == errors.max_abs; });
      sums_.max_abs_err = errors.max_abs;
      sums_.max_abs_index = index_of(i);
      sums_.max_abs_target = block.target[i];
      sums_.max_abs_golden = block.golden[i];
    }
    if (!relative) return;
    sums_.max_rel_err = errors.max_rel;
    sums_.max_rel_index = index_of(
        first_number([&](int64_t k) { return size_[k] != 0 && error_[k] / size_[k] == errors.max_rel; }));
  }

  // The first number of the block that is so; numbers_ when there is none.
  template <class Predicate>
  int64_t first_number(Predicate is_so) const {
    int64_t i = 0;
    while (i < numbers_ && !is_so(i)) ++i;
    return i;
  }

  void put_first_unequal() {
    const int64_t i = first_number([this](int64_t k) { return error_[k] > 0; });
    const int64_t finite = i < numbers_ ? index_of(i) : -1;
    const int64_t other = sums_.first_mismatch_index;
    sums_.first_unequal_index = finite < 0 ? other : other < 0 ? finite : std::min(finite, other);
  }

  // Whether a side's squares can be trusted; those of nothing but zeros can.
  static bool is_safe(const SideBlock& side) {
    return squares_are_safe(side.squares) || (side.max == 0 && side.min == 0);
  }

  // Takes the sums of pairs again where squares left the range of double.
  void rescale() {
    const bool target_safe = is_safe(sides_.target), golden_safe = is_safe(sides_.golden);
    if (!target_safe || !golden_safe) {
      const BlockArrays& block = arrays();
      if (!target_safe) {
        const ScaledSide target = scaled_side(block.target, rows_);
        sides_.target.sum = target.sum;
        sums_.squares_target = target.squares;
        sums_.target_exponent = target.exponent;
      }
      if (!golden_safe) {
        const ScaledSide golden = scaled_side(block.golden, rows_);
        sides_.golden.sum = golden.sum;
        sums_.squares_golden = golden.squares;
        sums_.golden_exponent = golden.exponent;
      }
      sums_.dot = scaled_dot(block.target, block.golden, rows_, sums_.target_exponent, sums_.golden_exponent);
    }
    if (sums_.unequal == sums_.nonfinite_mismatch || squares_are_safe(sums_.sum_squared_err)) return;
    const ScaledSide errors = scaled_errors(arrays(), rows_);
    sums_.sum_abs_err = errors.sum;
    sums_.sum_squared_err = errors.squares;
    sums_.error_exponent = errors.exponent;
  }

  // Without NaN and infinity the sums of pairs are those of the sides.
  void put_own_sides() {
    const auto put = [this](const SideBlock& side, double squares, int32_t exponent, SideSums& out) {
      out.finite = numbers_;
      out.max = side.max;
      out.min = side.min;
      out.sum = side.sum;
      out.sum_squares = squares;
      out.exponent = exponent;
    };
    put(sides_.target, sums_.squares_target, sums_.target_exponent, sums_.target);
    put(sides_.golden, sums_.squares_golden, sums_.golden_exponent, sums_.golden);
  }

  void put_own_side(const double* own, SideSums& out) const {
    SideBlock side;
    plan_.kernels->one_side[0][0](bytes_of(own), rows_, side);
    out.max += 0.0;  // +0 for either zero
    out.min += 0.0;
    out.sum = side.sum;
    out.sum_squares = side.squares;
    if (!plan_.scaled || squares_are_safe(side.squares)) return;
    const ScaledSide scaled = scaled_side(own, rows_);
    out.sum = scaled.sum;
    out.sum_squares = scaled.squares;
    out.exponent = scaled.exponent;
  }

  const PairPlan& plan_;
  const std::byte* target_;
  const std::byte* golden_;
  int64_t numbers_, rows_, first_index_;
  const PairSums& before_;
  PairSums sums_;
  PairBlockSums sides_;
  BlockArrays arrays_;
  BlockBuffers buffers_, quarters_;
  alignas(64) double error_[kBlockNumbers];
  alignas(64) double size_[kBlockNumbers];
  alignas(64) double own_target_[kBlockNumbers];
  alignas(64) double own_golden_[kBlockNumbers];
};

}  // namespace

Result<PairKernel> PairKernel::choose(DType target, DType golden, uint32_t groups) {
  ULPSCOPE_ASSIGN(const PairPlan plan, make_pair_plan(target, golden, groups));
  return PairKernel(plan);
}

void PairKernel::run(const std::byte* target, const std::byte* golden, int64_t count, int64_t first_index,
                     PairSums& sums) const {
  const int64_t step = kBlockNumbers / plan_.parts;  // elements
  const auto target_size = static_cast<int64_t>(size_bytes(plan_.target));
  const auto golden_size = static_cast<int64_t>(size_bytes(plan_.golden));
  for (int64_t first = 0; first < count; first += step) {
    const int64_t numbers = std::min(step, count - first) * plan_.parts;
    BlockPass pass(plan_, target + first * target_size, golden + first * golden_size, numbers,
                   first_index + first, sums);
    sums.merge(pass.run());
  }
}

}  // namespace ulpscope
