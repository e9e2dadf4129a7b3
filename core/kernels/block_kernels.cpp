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

#include <algorithm>
#include <cstring>

#include "kernels/block_loads-inl.hpp"
#include "kernels/pair_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace ulpscope {
namespace HWY_NAMESPACE {
namespace {

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
// kExtremes: these too.
template <bool kExtremes>
struct SideVectors {
  Vector sum, squares, max, min;

  SideVectors()
      : sum(hn::Zero(Doubles())),
        squares(hn::Zero(Doubles())),
        max(hn::Set(Doubles(), -hwy::HighestValue<double>())),
        min(hn::Set(Doubles(), hwy::HighestValue<double>())) {}

  void add(Vector v) { add(v, hn::Mul(v, v)); }
  void add(Vector v, Vector square) {
    sum = hn::Add(sum, v);
    squares = hn::Add(squares, square);
    if (!kExtremes) return;
    max = hn::Max(max, v);
    min = hn::Min(min, v);
  }
};

struct SideLanes {
  Lanes sum, squares, max, min;

  template <bool kExtremes>
  void put(int64_t strip, const SideVectors<kExtremes>& v) {
    sum.put(strip, v.sum);
    squares.put(strip, v.squares);
    if (!kExtremes) return;
    max.put(strip, v.max);
    min.put(strip, v.min);
  }
  // The sums of a side, with the extremes of the lanes or of the bytes. Adding +0 makes a zero +0: which of
  // two zeros a vector maximum returns differs between machines.
  template <class Load>
  SideBlock folded(const std::byte* side, int64_t rows) {
    SideBlock out;
    out.sum = sum.sum();
    out.squares = squares.sum();
    if (Load::kFindsExtremes) {
      Load::extremes(side, rows, out);
    } else {
      out.max = max.max() + 0.0;
      out.min = min.min() + 0.0;
    }
    return out;
  }
};

// ---- the loops

template <class Load, bool kZeros>
void one_side(const std::byte* side, int64_t rows, SideBlock& out) {
  SideLanes lanes;
  int64_t zeros = 0;
  for (int64_t strip = 0; strip < kRowNumbers; strip += kStrip) {
    SideVectors<!Load::kFindsExtremes> sums;
    Counts zero = hn::Zero(Words());
    for (int64_t row = 0; row < rows; ++row) {
      const Vector v = Load::load(side, row * kRowNumbers + strip);
      sums.add(v);
      if (kZeros) zero = count(zero, hn::Eq(v, hn::Zero(Doubles())));
    }
    lanes.put(strip, sums);
    zeros += total(zero);
  }
  out = lanes.folded<Load>(side, rows);
  out.zeros = zeros;
}

// What a strip of both sides sums up.
template <class Load>
struct PairVectors {
  SideVectors<!Load::kFindsExtremes> target, golden;
  Vector dot;

  PairVectors() : dot(hn::Zero(Doubles())) {}

  void add(Vector a, Vector b) {
    target.add(a);
    golden.add(b);
    dot = hn::Add(dot, hn::Mul(a, b));
  }
  // The same for equal numbers.
  void add_equal(Vector v) {
    const Vector square = hn::Mul(v, v);
    target.add(v, square);
    golden.add(v, square);
    dot = hn::Add(dot, square);
  }
};

// The groups of rows whose bytes differ, a bit each.
template <class Load>
uint32_t differing_groups(const std::byte* target, const std::byte* golden, int64_t rows) {
  uint32_t differing = 0;
  for (int64_t row = 0, bit = 0; row < rows; row += kGroupRows, ++bit) {
    const int64_t first = row * kRowNumbers, count = std::min(kGroupRows, rows - row) * kRowNumbers;
    const auto size = static_cast<size_t>(count) * Load::kNumberBytes;
    const int64_t offset = first * static_cast<int64_t>(Load::kNumberBytes);
    if (std::memcmp(target + offset, golden + offset, size) != 0) differing |= uint32_t{1} << bit;
  }
  return differing;
}

template <class Load>
void two_sides(const std::byte* target, const std::byte* golden, int64_t rows, PairBlockSums& out,
               double* error, double* size) {
  SideLanes target_lanes, golden_lanes;
  Lanes dots;
  const uint32_t differing = differing_groups<Load>(target, golden, rows);
  for (int64_t strip = 0; strip < kRowNumbers; strip += kStrip) {
    PairVectors<Load> sums;
    for (int64_t group = 0; group * kGroupRows < rows; ++group) {
      const int64_t end = std::min(rows, (group + 1) * kGroupRows) * kRowNumbers;
      if ((differing >> group & 1U) == 0) {
        for (int64_t index = group * kGroupRows * kRowNumbers + strip; index < end; index += kRowNumbers) {
          const Vector v = Load::load(golden, index);
          sums.add_equal(v);
          hn::Store(hn::Zero(Doubles()), Doubles(), error + index);
          hn::Store(hn::Abs(v), Doubles(), size + index);
        }
        continue;
      }
      for (int64_t index = group * kGroupRows * kRowNumbers + strip; index < end; index += kRowNumbers) {
        const Vector a = Load::load(target, index);
        const Vector b = Load::load(golden, index);
        sums.add(a, b);
        hn::Store(hn::Abs(hn::Sub(a, b)), Doubles(), error + index);
        hn::Store(hn::Abs(b), Doubles(), size + index);
      }
    }
    target_lanes.put(strip, sums.target);
    golden_lanes.put(strip, sums.golden);
    dots.put(strip, sums.dot);
  }
  out = {target_lanes.folded<Load>(target, rows), golden_lanes.folded<Load>(golden, rows), dots.sum(),
         differing};
}

Vector load(const double* from) { return hn::Load(Doubles(), from); }

constexpr bool is_tested(ErrorKind kind, bool relative, int limit) {
  const int tested = kind == ErrorKind::none        ? 0
                     : kind == ErrorKind::down_to_2 ? 2
                     : kind == ErrorKind::down_to_3 ? 3
                                                    : 4;
  return limit < tested && (relative || limit == 1 || limit == 2);
}

struct AbsoluteLanes {
  Lanes sum, squares, max;
};

// Absolute errors, and errors against the limits: outside where d != 0 and d >= limit * |g|.
template <ErrorKind kKind, bool kRelative>
void absolute_strip(const double* error, const double* size, int64_t rows, int64_t strip, uint32_t differing,
                    AbsoluteLanes& lanes, ErrorBlock& out) {
  Vector sum = hn::Zero(Doubles()), squares = hn::Zero(Doubles()), max = hn::Zero(Doubles());
  Counts unequal = hn::Zero(Words()), zero_mismatch = hn::Zero(Words());
  Counts outside[4] = {hn::Zero(Words()), hn::Zero(Words()), hn::Zero(Words()), hn::Zero(Words())};
  // Rows without an error add nothing to any of the sums.
  constexpr int64_t kGroupNumbers = kGroupRows * kRowNumbers;
  for (int64_t index = strip; index < rows * kRowNumbers; index += kRowNumbers) {
    if ((differing >> (index / kGroupNumbers) & 1U) == 0) {
      index += kGroupNumbers - kRowNumbers;
      continue;
    }
    const Vector d = load(error + index), g = load(size + index);
    sum = hn::Add(sum, d);
    squares = hn::Add(squares, hn::Mul(d, d));
    max = hn::Max(max, d);
    const auto differs = hn::Gt(d, hn::Zero(Doubles()));
    unequal = count(unequal, differs);
    zero_mismatch = count(zero_mismatch, hn::And(differs, hn::Eq(g, hn::Zero(Doubles()))));
    // An error of 0 must not be outside of limit * 0.
    const Vector d_or_below = hn::IfThenElse(differs, d, hn::Set(Doubles(), -1.0));
    for (int k = 0; k < 4; ++k)
      if (is_tested(kKind, kRelative, k))
        outside[k] = count(outside[k], hn::Ge(d_or_below, hn::Mul(hn::Set(Doubles(), kWithinLimits[k]), g)));
  }
  lanes.sum.put(strip, sum);
  lanes.squares.put(strip, squares);
  lanes.max.put(strip, max);
  out.unequal += total(unequal);
  out.golden_zero_mismatch += total(zero_mismatch);
  for (int k = 0; k < 4; ++k) out.outside[k] += total(is_tested(kKind, kRelative, k) ? outside[k] : unequal);
}

struct RatioLanes {
  Lanes sum_rel, max_rel, sum_ulp, max_ulp;
};

// d / |g| where g is not 0; and d in ulps: d * 2^(mantissa_bits - E), where 2^E is golden's exponent field
// alone, at least the least normal power. Wide: 2^(1 - E) and 2^(mantissa_bits - 1) apart, which keeps both
// in the range of double for every E.
template <ErrorKind kKind, bool kRelative, bool kUlp>
void ratio_strip(const double* error, const double* size, int64_t rows, const UlpRule& rule, int64_t strip,
                 RatioLanes& lanes, ErrorBlock& out) {
  constexpr bool kWide = kKind == ErrorKind::wide;
  Vector sum_rel = hn::Zero(Doubles()), max_rel = hn::Zero(Doubles());
  Vector sum_ulp = hn::Zero(Doubles()), max_ulp = hn::Zero(Doubles());
  Counts golden_zero = hn::Zero(Words()), over = hn::Zero(Words());
  const Vector least = hn::Set(Doubles(), rule.least_power), scale = hn::Set(Doubles(), rule.scale);
  const Vector threshold = hn::Set(Doubles(), rule.threshold);
  const Vector exponent_bits = hn::BitCast(Doubles(), hn::Set(Words(), int64_t{0x7FF} << 52));
  const Counts turned = hn::Set(Words(), int64_t{kWide ? 2047 : 2046 + rule.mantissa_bits} << 52);
  for (int64_t index = strip; index < rows * kRowNumbers; index += kRowNumbers) {
    const Vector d = load(error + index), g = load(size + index);
    if (kRelative) {
      const auto is_zero = hn::Eq(g, hn::Zero(Doubles()));
      const Vector relative = hn::IfThenZeroElse(is_zero, hn::Div(d, g));
      sum_rel = hn::Add(sum_rel, relative);
      max_rel = hn::Max(max_rel, relative);
      golden_zero = count(golden_zero, is_zero);
    }
    if (kUlp) {
      const Vector power = hn::Max(hn::And(g, exponent_bits), least);
      const Vector factor = hn::BitCast(Doubles(), hn::Sub(turned, hn::BitCast(Words(), power)));
      const Vector ulps = kWide ? hn::Mul(hn::Mul(d, factor), scale) : hn::Mul(d, factor);
      sum_ulp = hn::Add(sum_ulp, ulps);
      max_ulp = hn::Max(max_ulp, ulps);
      over = count(over, hn::Gt(ulps, threshold));
    }
  }
  lanes.sum_rel.put(strip, sum_rel);
  lanes.max_rel.put(strip, max_rel);
  lanes.sum_ulp.put(strip, sum_ulp);
  lanes.max_ulp.put(strip, max_ulp);
  out.golden_zero += total(golden_zero);
  out.ulp_over += total(over);
}

template <ErrorKind kKind, bool kRelative, bool kUlp>
void errors(const double* error, const double* size, int64_t rows, uint32_t differing, const UlpRule& rule,
            ErrorBlock& out) {
  out = {};
  AbsoluteLanes absolute;
  for (int64_t strip = 0; strip < kRowNumbers; strip += kStrip)
    absolute_strip<kKind, kRelative>(error, size, rows, strip, differing, absolute, out);
  out.sum_abs = absolute.sum.sum();
  out.sum_squares = absolute.squares.sum();
  out.max_abs = absolute.max.max();
  if (!kRelative && !kUlp) return;
  RatioLanes ratios;
  for (int64_t strip = 0; strip < kRowNumbers; strip += kStrip)
    ratio_strip<kKind, kRelative, kUlp>(error, size, rows, rule, strip, ratios, out);
  out.sum_rel = ratios.sum_rel.sum();
  out.max_rel = ratios.max_rel.max();
  out.sum_ulp = ratios.sum_ulp.sum();
  out.max_ulp = ratios.max_ulp.max();
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
  kernels.widen[at_format] = widen<Load>;
}

template <ErrorKind kKind>
void fill_errors(BlockKernels& kernels) {
  ErrorFunction* by_groups = kernels.errors[static_cast<size_t>(kKind)];
  by_groups[0] = errors<kKind, false, false>;
  by_groups[1] = errors<kKind, true, false>;
  by_groups[2] = errors<kKind, false, true>;
  by_groups[3] = errors<kKind, true, true>;
}

}  // namespace

BlockKernels make_block_kernels(const char* name) {
  BlockKernels kernels;
  kernels.name = name;
  fill<LoadF64>(BlockFormat::f64, kernels);
  fill<LoadF32>(BlockFormat::f32, kernels);
  fill<LoadBf16>(BlockFormat::bf16, kernels);
  fill<LoadF16>(BlockFormat::f16, kernels);
  fill_errors<ErrorKind::wide>(kernels);
  fill_errors<ErrorKind::all>(kernels);
  fill_errors<ErrorKind::down_to_3>(kernels);
  fill_errors<ErrorKind::down_to_2>(kernels);
  fill_errors<ErrorKind::none>(kernels);
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
    all.reserve(tables.size());
    for (const BlockKernels& table : tables) all.push_back(&table);
    return all;
  }();
  return pointers;
}

}  // namespace ulpscope
#endif  // HWY_ONCE
