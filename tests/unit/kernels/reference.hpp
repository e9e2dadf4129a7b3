// The sums of a pair by plain scalar code: one number after the other, each into lane i mod 16 of its block,
// as the numeric contract says. Written apart from the kernels; shares with them only the widening of single
// elements, which has tests of its own. Not for float64 data whose squares leave the range of double.
#pragma once

#include <ulpscope/elementwise.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/pair_kernels.hpp"

namespace ulpscope::test {

using Bytes = std::vector<std::byte>;
__extension__ using Int128 = __int128;

constexpr uint32_t kAllGroups = kGroupDefault | kGroupRelative | kGroupUlp;

constexpr DType kWidenable[] = {
    DType::b8,   DType::u8,      DType::i8,          DType::u16,        DType::i16,       DType::u32,
    DType::i32,  DType::u64,     DType::i64,         DType::f16,        DType::bf16,      DType::f32,
    DType::f64,  DType::c32,     DType::c64,         DType::c128,       DType::f8_e4m3fn, DType::f8_e5m2,
    DType::hif8, DType::f8_e8m0, DType::f8_e4m3fnuz, DType::f8_e5m2fnuz};

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Runs the kernel over whole sides.
inline PairSums measure(DType target_type, const Bytes& target, DType golden_type, const Bytes& golden,
                        uint32_t groups = kAllGroups) {
  PairSums sums;
  const auto count = static_cast<int64_t>(target.size() / size_bytes(target_type));
  PairKernel::choose(target_type, golden_type, groups)
      .value()
      .run(target.data(), golden.data(), count, 0, sums);
  return sums;
}

// One value for each member, so that a difference can be named; doubles as their bits.
inline std::vector<std::pair<std::string, uint64_t>> members(const PairSums& s) {
  const auto bits = [](double v) { return detail::f64_to_bits(v); };
  std::vector<std::pair<std::string, uint64_t>> all = {{"elements", s.elements},
                                                       {"unequal", s.unequal},
                                                       {"nonfinite_mismatch", s.nonfinite_mismatch},
                                                       {"nonfinite_equal", s.nonfinite_equal},
                                                       {"golden_zero_mismatch", s.golden_zero_mismatch},
                                                       {"first_mismatch_index", s.first_mismatch_index},
                                                       {"first_unequal_index", s.first_unequal_index},
                                                       {"finite_pairs", s.finite_pairs},
                                                       {"max_abs_err", bits(s.max_abs_err)},
                                                       {"max_abs_index", s.max_abs_index},
                                                       {"max_abs_target", bits(s.max_abs_target)},
                                                       {"max_abs_golden", bits(s.max_abs_golden)},
                                                       {"max_rel_err", bits(s.max_rel_err)},
                                                       {"max_rel_index", s.max_rel_index},
                                                       {"sum_rel_err", bits(s.sum_rel_err)},
                                                       {"relative_pairs", s.relative_pairs},
                                                       {"sum_abs_err", bits(s.sum_abs_err)},
                                                       {"sum_squared_err", bits(s.sum_squared_err)},
                                                       {"dot", bits(s.dot)},
                                                       {"squares_target", bits(s.squares_target)},
                                                       {"squares_golden", bits(s.squares_golden)},
                                                       {"error_exponent", s.error_exponent},
                                                       {"target_exponent", s.target_exponent},
                                                       {"golden_exponent", s.golden_exponent},
                                                       {"within[0]", s.within[0]},
                                                       {"within[1]", s.within[1]},
                                                       {"within[2]", s.within[2]},
                                                       {"within[3]", s.within[3]},
                                                       {"max_ulp", bits(s.max_ulp)},
                                                       {"sum_ulp", bits(s.sum_ulp)},
                                                       {"ulp_over_threshold", s.ulp_over_threshold},
                                                       {"ulp_pairs", s.ulp_pairs},
                                                       {"groups", s.groups}};
  const auto add_side = [&](const std::string& side, const SideSums& v) {
    all.insert(all.end(), {{side + ".max", bits(v.max)},
                           {side + ".min", bits(v.min)},
                           {side + ".sum", bits(v.sum)},
                           {side + ".sum_squares", bits(v.sum_squares)},
                           {side + ".nan_count", v.nan_count},
                           {side + ".positive_inf", v.positive_inf},
                           {side + ".negative_inf", v.negative_inf},
                           {side + ".finite", v.finite},
                           {side + ".exponent", v.exponent}});
  };
  add_side("target", s.target);
  add_side("golden", s.golden);
  return all;
}

// The name of the first member whose bits differ; empty when all are equal.
inline std::string difference(const PairSums& a, const PairSums& b) {
  const auto left = members(a), right = members(b);
  for (size_t i = 0; i < left.size(); ++i)
    if (left[i].second != right[i].second) return left[i].first;
  return {};
}

// A number as the reference sees it: its double, and the integer where it is one.
struct Number {
  double value = 0;
  bool integral = false;
  Int128 integer = 0;
};

inline std::vector<Number> numbers_of(DType t, const Bytes& bytes, bool beside_complex) {
  std::vector<Number> all;
  for (size_t i = 0; i < bytes.size() / size_bytes(t); ++i) {
    if (is_exact_integer(t)) {
      const ExactInteger value = integer_at(t, bytes.data(), i);
      const auto magnitude = static_cast<Int128>(value.magnitude);
      const Int128 integer = value.negative ? -magnitude : magnitude;
      all.push_back({static_cast<double>(integer), true, integer});
    } else {
      double values[2] = {0, 0};
      widen(t, bytes.data() + i * size_bytes(t), 1, values);
      all.push_back({values[0], false, 0});
      if (is_complex(t)) all.push_back({values[1], false, 0});
    }
    if (beside_complex && !is_complex(t)) all.push_back({0, true, 0});
  }
  return all;
}

inline double error_of(const Number& t, const Number& g) {
  if (t.integral && g.integral) return std::fabs(static_cast<double>(t.integer - g.integer));
  const long double a = t.integral ? static_cast<long double>(t.integer) : static_cast<long double>(t.value);
  const long double b = g.integral ? static_cast<long double>(g.integer) : static_cast<long double>(g.value);
  if (!t.integral && !g.integral) return std::fabs(t.value - g.value);
  return static_cast<double>(std::fabs(a - b));
}

class LaneSum {
 public:
  void add(size_t i, double v) {
    if (i / 1024 != block_) close(i / 1024);
    lanes_[i % 16] += v;
  }
  double total() {
    close(block_ + 1);
    return total_;
  }

 private:
  void close(size_t next) {
    for (size_t half = 8; half > 0; half /= 2)
      for (size_t lane = 0; lane < half; ++lane) lanes_[lane] += lanes_[lane + half];
    total_ += lanes_[0];
    lanes_ = {};
    block_ = next;
  }
  std::array<double, 16> lanes_{};
  size_t block_ = 0;
  double total_ = 0;
};

inline SideSums reference_side(const std::vector<Number>& numbers) {
  SideSums side;
  LaneSum sum, squares;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double v = numbers[i].value;
    if (std::isnan(v)) ++side.nan_count;
    if (std::isinf(v)) ++(v > 0 ? side.positive_inf : side.negative_inf);
    if (!std::isfinite(v)) continue;
    if (side.finite == 0 || v > side.max) side.max = v;
    if (side.finite == 0 || v < side.min) side.min = v;
    ++side.finite;
    sum.add(i, v);
    squares.add(i, v * v);
  }
  if (side.max == 0) side.max = 0;  // of either sign: +0
  if (side.min == 0) side.min = 0;
  side.sum = sum.total();
  side.sum_squares = squares.total();
  return side;
}

// Error in units of the last place of the target's type at golden.
inline double reference_ulp(DType target, double error, double golden) {
  const double least = std::ldexp(1.0, least_exponent(target));
  const int exponent = std::fabs(golden) > least ? std::ilogb(golden) : least_exponent(target);
  return std::ldexp(error, mantissa_bits(target) - exponent);
}

struct ReferenceErrors {
  LaneSum abs, squared, rel, ulp, dot, squares_target, squares_golden;
};

inline void reference_pair(DType target_type, const Number& t, const Number& g, size_t i, int64_t index,
                           ReferenceErrors& lanes, PairSums& s) {
  ++s.finite_pairs;
  const double error = error_of(t, g), size = std::fabs(g.value);
  lanes.abs.add(i, error);
  lanes.squared.add(i, error * error);
  lanes.dot.add(i, t.value * g.value);
  lanes.squares_target.add(i, t.value * t.value);
  lanes.squares_golden.add(i, g.value * g.value);
  if (error > s.max_abs_err) {
    s.max_abs_err = error;
    s.max_abs_index = index;
    s.max_abs_target = t.value;
    s.max_abs_golden = g.value;
  }
  if (error > 0) {
    ++s.unequal;
    if (s.first_unequal_index < 0) s.first_unequal_index = index;
    if (size == 0) ++s.golden_zero_mismatch;
  }
  for (int k = 0; k < 4; ++k) s.within[k] += error == 0 || error < kWithinLimits[k] * size ? 1 : 0;
  if (size != 0) {
    ++s.relative_pairs;
    lanes.rel.add(i, error / size);
    if (error / size > s.max_rel_err) {
      s.max_rel_err = error / size;
      s.max_rel_index = index;
    }
  }
  if (!is_floating(target_type) && !is_complex(target_type)) return;
  const bool wide = bits(target_type) >= (is_complex(target_type) ? 64 : 32);
  const double ulps = reference_ulp(target_type, error, g.value);
  ++s.ulp_pairs;
  lanes.ulp.add(i, ulps);
  if (ulps > s.max_ulp) s.max_ulp = ulps;
  if (ulps > (wide ? 32 : 1)) ++s.ulp_over_threshold;
}

inline PairSums reference(DType target_type, const Bytes& target, DType golden_type, const Bytes& golden) {
  const bool complex = is_complex(target_type) || is_complex(golden_type);
  const std::vector<Number> t = numbers_of(target_type, target, complex);
  const std::vector<Number> g = numbers_of(golden_type, golden, complex);
  PairSums s;
  s.groups =
      is_floating(target_type) || is_complex(target_type) ? kAllGroups : kAllGroups & ~uint32_t{kGroupUlp};
  s.elements = static_cast<int64_t>(t.size());
  ReferenceErrors lanes;
  for (size_t i = 0; i < t.size(); ++i) {
    const double a = t[i].value, b = g[i].value;
    const auto index = static_cast<int64_t>(complex ? i / 2 : i);
    if (std::isfinite(a) && std::isfinite(b)) {
      reference_pair(target_type, t[i], g[i], i, index, lanes, s);
    } else if (a == b || (std::isnan(a) && std::isnan(b))) {
      ++s.nonfinite_equal;
      for (int64_t& within : s.within) ++within;
    } else {
      ++s.unequal;
      if (s.first_unequal_index < 0) s.first_unequal_index = index;
      if (s.nonfinite_mismatch++ == 0) s.first_mismatch_index = index;
    }
  }
  s.sum_abs_err = lanes.abs.total();
  s.sum_squared_err = lanes.squared.total();
  s.sum_rel_err = lanes.rel.total();
  s.sum_ulp = lanes.ulp.total();
  s.dot = lanes.dot.total();
  s.squares_target = lanes.squares_target.total();
  s.squares_golden = lanes.squares_golden.total();
  s.target = reference_side(t);
  s.golden = reference_side(g);
  return s;
}

// Reproducible numbers: splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  // Between -1 and 1.
  double unit() { return static_cast<double>(static_cast<int64_t>(next())) * 0x1p-63; }

 private:
  uint64_t state_;
};

// An element of type t, from value; integers take its whole part, bools whether it is below 0.
inline void append(DType t, double value, Bytes& bytes) {
  uint64_t code = 0;
  if (t == DType::b8)
    code = value < 0 ? 1 : 0;
  else if (is_integer(t))
    code = static_cast<uint64_t>(static_cast<int64_t>(std::isfinite(value) ? value : 0));
  else
    code = float_from_double(t == DType::c32    ? DType::f16
                             : t == DType::c64  ? DType::f32
                             : t == DType::c128 ? DType::f64
                                                : t,
                             value);
  const size_t size = size_bytes(t) / parts(t), at = bytes.size();
  bytes.resize(at + size);
  std::memcpy(bytes.data() + at, &code, size);
}

// Two sides of count elements that are partly equal, partly close, partly apart, with zeros; and one number
// in fifty not finite if special.
inline void make_sides(DType target_type, DType golden_type, int64_t count, bool special, uint64_t seed,
                       Bytes& target, Bytes& golden) {
  Random random(seed);
  const double nan = std::nan(""), infinity = INFINITY;
  const double specials[] = {nan, infinity, -infinity, nan, 1.0};
  target.clear();
  golden.clear();
  const auto draw = [&](double value) {
    return special && random.next() % 50 == 0 ? specials[random.next() % 5] : value;
  };
  for (int64_t i = 0; i < count; ++i) {
    for (uint32_t part = 0; part < std::max(parts(target_type), parts(golden_type)); ++part) {
      const double base =
          random.next() % 8 == 0 ? 0 : random.unit() * std::ldexp(1.0, static_cast<int>(random.next() % 7));
      const double step =
          random.next() % 3 == 0 ? 0 : random.unit() * std::ldexp(1.0, -static_cast<int>(random.next() % 16));
      const bool same = random.next() % 16 == 0;
      const double special_value = specials[random.next() % 4];
      const double a = same && special ? special_value : draw(base * (1 + step) + (step > 0.5 ? 1 : 0));
      const double b = same && special ? special_value : draw(base);
      if (part < parts(target_type)) append(target_type, a, target);
      if (part < parts(golden_type)) append(golden_type, b, golden);
    }
  }
}

}  // namespace ulpscope::test
