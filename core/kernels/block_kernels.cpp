// The block loops, written once with explicit vectors and compiled for each instruction set by including this
// file again. What keeps the bits equal: a lane of the fixed tree always sees the same numbers in the same
// order, only exactly rounded operations are used, and multiplications and additions are never fused.
//
// A block is walked in strips: the N lanes that one vector holds, from the first row to the last, so that
// each sum needs one register.
//
//            lane 0 … N-1 | lane N … 2N-1 | …
//   row 0    0 1 2 …      | …                       strip 0: rows 0, 1, 2, … of the first N lanes,
//   row 1    16 17 18 …   | …                       strip 1: rows 0, 1, 2, … of the next N lanes
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/block_kernels.cpp"  // NOLINT(misc-definitions-in-headers)

#include "kernels/block_kernels.hpp"

#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#include "kernels/pair_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace ulpscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Words = hn::RebindToSigned<Doubles>;
using Floats = hn::Rebind<float, Doubles>;
using Vector = hn::Vec<Doubles>;
using Counts = hn::Vec<Words>;
constexpr int64_t kStrip = static_cast<int64_t>(hn::MaxLanes(Doubles()));
static_assert(kRowNumbers % kStrip == 0);

template <class T>
const T* at(const std::byte* bytes, int64_t index) {
  return reinterpret_cast<const T*>(bytes + index * static_cast<int64_t>(sizeof(T)));
}

// ---- loading numbers [index, index + kStrip) of a side as doubles

struct LoadF64 {
  static Vector load(const std::byte* side, int64_t index) {
    return hn::LoadU(Doubles(), at<double>(side, index));
  }
};

struct LoadF32 {
  static Vector load(const std::byte* side, int64_t index) {
    return hn::PromoteTo(Doubles(), hn::LoadU(Floats(), at<float>(side, index)));
  }
};

// A bf16 is the upper half of a float.
struct LoadBf16 {
  static Vector load(const std::byte* side, int64_t index) {
    const hn::Rebind<uint16_t, Doubles> halves;
    const hn::Rebind<uint32_t, Doubles> words;
    const auto code = hn::PromoteTo(words, hn::LoadU(halves, at<uint16_t>(side, index)));
    return hn::PromoteTo(Doubles(), hn::BitCast(Floats(), hn::ShiftLeft<16>(code)));
  }
};

// Exponent and mantissa moved to their places in a float give the value times 2^-112, subnormals included;
// what comes out at 2^16 or more was infinity or NaN and gets the float's exponent for them.
struct LoadF16 {
  static Vector load(const std::byte* side, int64_t index) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
    const hn::Rebind<uint16_t, Doubles> halves;
    const hn::Rebind<uint32_t, Doubles> words;
    const Floats floats;
    const auto code = hn::PromoteTo(words, hn::LoadU(halves, at<uint16_t>(side, index)));
    const auto sign = hn::ShiftLeft<16>(hn::And(code, hn::Set(words, 0x8000U)));
    const auto moved = hn::ShiftLeft<13>(hn::And(code, hn::Set(words, 0x7FFFU)));
    const auto value = hn::Mul(hn::BitCast(floats, moved), hn::Set(floats, 0x1p112F));
    const auto special = hn::VecFromMask(floats, hn::Ge(value, hn::Set(floats, 65536.0F)));
    const auto all_ones = hn::And(hn::BitCast(words, special), hn::Set(words, 0x7F800000U));
    const auto bits = hn::Or(hn::Or(hn::BitCast(words, value), all_ones), sign);
    return hn::PromoteTo(Doubles(), hn::BitCast(floats, bits));
#else
    const hn::Rebind<hwy::float16_t, Doubles> halves;
    return hn::PromoteTo(Doubles(),
                         hn::PromoteTo(Floats(), hn::LoadU(halves, at<hwy::float16_t>(side, index))));
#endif
  }
};

// ---- lanes

struct Lanes {
  HWY_ALIGN double values[kRowNumbers];

  void put(int64_t strip, Vector v) { hn::Store(v, Doubles(), values + strip); }
  double sum() {
    for (int64_t half = kRowNumbers / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane) values[lane] += values[lane + half];
    return values[0];
  }
  double max() const {
    double best = values[0];
    for (const double v : values) best = v > best ? v : best;
    return best;
  }
  double min() const {
    double best = values[0];
    for (const double v : values) best = v < best ? v : best;
    return best;
  }
};

// Adds one to the counts where the mask is set.
template <class Mask>
Counts count(Counts counts, Mask mask) {
  return hn::Sub(counts, hn::BitCast(Words(), hn::VecFromMask(Doubles(), mask)));
}
int64_t total(Counts counts) {
  HWY_ALIGN int64_t values[kStrip];
  hn::Store(counts, Words(), values);
  int64_t sum = 0;
  for (const int64_t v : values) sum += v;
  return sum;
}

// The constructors are written out because one that the compiler provides would lack the instruction set.
struct SideVectors {
  Vector sum, squares, max, min;

  SideVectors()
      : sum(hn::Zero(Doubles())),
        squares(hn::Zero(Doubles())),
        max(hn::Set(Doubles(), -hwy::HighestValue<double>())),
        min(hn::Set(Doubles(), hwy::HighestValue<double>())) {}

  void add(Vector v) {
    sum = hn::Add(sum, v);
    squares = hn::Add(squares, hn::Mul(v, v));
    max = hn::Max(max, v);
    min = hn::Min(min, v);
  }
};

struct SideLanes {
  Lanes sum, squares, max, min;

  void put(int64_t strip, const SideVectors& v) {
    sum.put(strip, v.sum);
    squares.put(strip, v.squares);
    max.put(strip, v.max);
    min.put(strip, v.min);
  }
  // Adding +0 makes a zero +0: which of two zeros a vector maximum returns differs between machines.
  SideBlock folded() { return {sum.sum(), squares.sum(), max.max() + 0.0, min.min() + 0.0, 0}; }
};

// ---- the loops

template <class Load, bool kZeros>
void one_side(const std::byte* side, int64_t rows, SideBlock& out) {
  SideLanes lanes;
  int64_t zeros = 0;
  for (int64_t strip = 0; strip < kRowNumbers; strip += kStrip) {
    SideVectors sums;
    Counts zero = hn::Zero(Words());
    for (int64_t row = 0; row < rows; ++row) {
      const Vector v = Load::load(side, row * kRowNumbers + strip);
      sums.add(v);
      if (kZeros) zero = count(zero, hn::Eq(v, hn::Zero(Doubles())));
    }
    lanes.put(strip, sums);
    zeros += total(zero);
  }
  out = lanes.folded();
  out.zeros = zeros;
}

template <class Load>
void two_sides(const std::byte* target, const std::byte* golden, int64_t rows, PairBlockSums& out) {
  SideLanes target_lanes, golden_lanes;
  Lanes dots;
  for (int64_t strip = 0; strip < kRowNumbers; strip += kStrip) {
    SideVectors t, g;
    Vector dot = hn::Zero(Doubles());
    for (int64_t row = 0; row < rows; ++row) {
      const Vector a = Load::load(target, row * kRowNumbers + strip);
      const Vector b = Load::load(golden, row * kRowNumbers + strip);
      t.add(a);
      g.add(b);
      dot = hn::Add(dot, hn::Mul(a, b));
    }
    target_lanes.put(strip, t);
    golden_lanes.put(strip, g);
    dots.put(strip, dot);
  }
  out = {target_lanes.folded(), golden_lanes.folded(), dots.sum()};
}

// |d| against the limits: outside where d != 0 and |d| >= limit * |g|. Without groups only 5e-3 and 1e-3.
template <bool kAll>
struct WithinVectors {
  Counts outside[4];

  WithinVectors() : outside{hn::Zero(Words()), hn::Zero(Words()), hn::Zero(Words()), hn::Zero(Words())} {}

  template <class Mask>
  void add(Vector error, Vector golden, Mask differs) {
    // An error of 0 must not be outside of limit * 0.
    const Vector error_or_below = hn::IfThenElse(differs, error, hn::Set(Doubles(), -1.0));
    for (int k = 0; k < 4; ++k) {
      if (!kAll && (k == 0 || k == 3)) continue;
      const Vector limit = hn::Mul(hn::Set(Doubles(), kWithinLimits[k]), golden);
      outside[k] = count(outside[k], hn::Ge(error_or_below, limit));
    }
  }
};

struct RelativeVectors {
  Vector sum, max;
  Counts golden_zero;

  RelativeVectors() : sum(hn::Zero(Doubles())), max(hn::Zero(Doubles())), golden_zero(hn::Zero(Words())) {}

  template <class Mask>
  void add(Vector error, Vector golden, Mask golden_is_zero) {
    const Vector relative = hn::IfThenZeroElse(golden_is_zero, hn::Div(error, golden));
    sum = hn::Add(sum, relative);
    max = hn::Max(max, relative);
    golden_zero = count(golden_zero, golden_is_zero);
  }
};

// u = |d| * 2^(1 - E) * scale, where 2^E is golden's exponent field alone, at least the least normal power.
// Splitting the factor keeps both parts in the range of double for every E.
struct UlpVectors {
  Vector least, scale, threshold, sum, max;
  Counts over;

  explicit UlpVectors(const UlpRule& rule)
      : least(hn::Set(Doubles(), rule.least_power)),
        scale(hn::Set(Doubles(), rule.scale)),
        threshold(hn::Set(Doubles(), rule.threshold)),
        sum(hn::Zero(Doubles())),
        max(hn::Zero(Doubles())),
        over(hn::Zero(Words())) {}

  void add(Vector error, Vector golden) {
    const Vector exponent_bits = hn::BitCast(Doubles(), hn::Set(Words(), int64_t{0x7FF} << 52));
    const Vector power = hn::Max(hn::And(golden, exponent_bits), least);
    const Counts factor = hn::Sub(hn::Set(Words(), int64_t{2047} << 52), hn::BitCast(Words(), power));
    const Vector ulps = hn::Mul(hn::Mul(error, hn::BitCast(Doubles(), factor)), scale);
    sum = hn::Add(sum, ulps);
    max = hn::Max(max, ulps);
    over = count(over, hn::Gt(ulps, threshold));
  }
};

struct ErrorLanes {
  Lanes sum_abs, sum_squares, max_abs, sum_rel, max_rel, sum_ulp, max_ulp;
};

template <class Load, bool kRelative, bool kUlp, bool kGiven>
void error_strip(const std::byte* target, const std::byte* golden, const double* difference, int64_t rows,
                 const UlpRule& rule, int64_t strip, ErrorLanes& lanes, ErrorBlock& out) {
  Vector sum_abs = hn::Zero(Doubles()), sum_squares = hn::Zero(Doubles()), max_abs = hn::Zero(Doubles());
  Counts unequal = hn::Zero(Words()), zero_mismatch = hn::Zero(Words());
  WithinVectors<kRelative> within;
  RelativeVectors relative;
  UlpVectors ulp(rule);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t index = row * kRowNumbers + strip;
    const Vector g = Load::load(golden, index);
    const Vector size = hn::Abs(g);
    const Vector error =
        kGiven ? hn::LoadU(Doubles(), difference + index) : hn::Abs(hn::Sub(Load::load(target, index), g));
    sum_abs = hn::Add(sum_abs, error);
    sum_squares = hn::Add(sum_squares, hn::Mul(error, error));
    max_abs = hn::Max(max_abs, error);
    const auto differs = hn::Gt(error, hn::Zero(Doubles()));
    const auto golden_is_zero = hn::Eq(size, hn::Zero(Doubles()));
    unequal = count(unequal, differs);
    zero_mismatch = count(zero_mismatch, hn::And(differs, golden_is_zero));
    within.add(error, size, differs);
    if (kRelative) relative.add(error, size, golden_is_zero);
    if (kUlp) ulp.add(error, size);
  }
  lanes.sum_abs.put(strip, sum_abs);
  lanes.sum_squares.put(strip, sum_squares);
  lanes.max_abs.put(strip, max_abs);
  lanes.sum_rel.put(strip, relative.sum);
  lanes.max_rel.put(strip, relative.max);
  lanes.sum_ulp.put(strip, ulp.sum);
  lanes.max_ulp.put(strip, ulp.max);
  out.unequal += total(unequal);
  out.golden_zero_mismatch += total(zero_mismatch);
  out.golden_zero += total(relative.golden_zero);
  out.ulp_over += total(ulp.over);
  for (int k = 0; k < 4; ++k) out.outside[k] += total(within.outside[k]);
}

template <class Load, bool kRelative, bool kUlp, bool kGiven>
void errors(const std::byte* target, const std::byte* golden, const double* difference, int64_t rows,
            const UlpRule& rule, ErrorBlock& out) {
  ErrorLanes lanes;
  out = {};
  for (int64_t strip = 0; strip < kRowNumbers; strip += kStrip)
    error_strip<Load, kRelative, kUlp, kGiven>(target, golden, difference, rows, rule, strip, lanes, out);
  out.sum_abs = lanes.sum_abs.sum();
  out.sum_squares = lanes.sum_squares.sum();
  out.max_abs = lanes.max_abs.max();
  out.sum_rel = lanes.sum_rel.sum();
  out.max_rel = lanes.max_rel.max();
  out.sum_ulp = lanes.sum_ulp.sum();
  out.max_ulp = lanes.max_ulp.max();
}

template <class Load>
void widen(const std::byte* from, int64_t numbers, double* to) {
  for (int64_t i = 0; i < numbers; i += kStrip) hn::StoreU(Load::load(from, i), Doubles(), to + i);
}

template <class Load>
void fill(BlockFormat format, BlockKernels& kernels) {
  const auto at_format = static_cast<size_t>(format);
  kernels.one_side[at_format][0] = one_side<Load, false>;
  kernels.one_side[at_format][1] = one_side<Load, true>;
  kernels.two_sides[at_format] = two_sides<Load>;
  kernels.errors[at_format][0] = errors<Load, false, false, false>;
  kernels.errors[at_format][1] = errors<Load, true, false, false>;
  kernels.errors[at_format][2] = errors<Load, false, true, false>;
  kernels.errors[at_format][3] = errors<Load, true, true, false>;
  kernels.widen[at_format] = widen<Load>;
}

}  // namespace

BlockKernels make_block_kernels(const char* name) {
  BlockKernels kernels;
  kernels.name = name;
  fill<LoadF64>(BlockFormat::f64, kernels);
  fill<LoadF32>(BlockFormat::f32, kernels);
  fill<LoadBf16>(BlockFormat::bf16, kernels);
  fill<LoadF16>(BlockFormat::f16, kernels);
  kernels.errors_given[0] = errors<LoadF64, false, false, true>;
  kernels.errors_given[1] = errors<LoadF64, true, false, true>;
  kernels.errors_given[2] = errors<LoadF64, false, true, true>;
  kernels.errors_given[3] = errors<LoadF64, true, true, true>;
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace ulpscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace ulpscope {
namespace {

#if HWY_ARCH_X86
// The compiler's own query has no name for F16C that every compiler knows: bit 29 of ECX of leaf 1.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1U << 29)) != 0;
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul") &&
         __builtin_cpu_supports("aes") && has_f16c();
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
#endif

std::vector<BlockKernels> make_available() {
  std::vector<BlockKernels> all;
#if HWY_TARGETS & HWY_EMU128
  all.push_back(N_EMU128::make_block_kernels("base"));
#endif
#if HWY_TARGETS & HWY_SCALAR
  all.push_back(N_SCALAR::make_block_kernels("base"));
#endif
#if HWY_TARGETS & HWY_NEON
  all.push_back(N_NEON::make_block_kernels("neon"));
#endif
#if HWY_TARGETS & HWY_AVX2
  if (has_avx2()) all.push_back(N_AVX2::make_block_kernels("avx2"));
#endif
#if HWY_TARGETS & HWY_AVX3
  if (has_avx512()) all.push_back(N_AVX3::make_block_kernels("avx512"));
#endif
  return all;
}

}  // namespace

const std::vector<const BlockKernels*>& available_block_kernels() {
  static const std::vector<BlockKernels> tables = make_available();
  static const std::vector<const BlockKernels*> pointers = [] {
    std::vector<const BlockKernels*> all;
    for (const BlockKernels& table : tables) all.push_back(&table);
    return all;
  }();
  return pointers;
}

}  // namespace ulpscope
#endif  // HWY_ONCE
