// The floating formats of tensors to double and back: f16, bf16, f32, f64, the 8-bit formats and hif8; and
// what a judgement needs to know of a format: unit roundoff, range, neighbours. Exact, header-only, no
// dependency, no state: every function may be called from any thread. Speed is that of a few integer
// operations; whole tensors are better widened by elementwise.hpp.
//
// From double everything rounds once, to nearest, ties to even. What is too large becomes
//   infinity   f16, bf16, f32, f8_e5m2 (as IEEE 754), hif8 from 40960 on
//   NaN        f8_e4m3fn, f8_e4m3fnuz, f8_e5m2fnuz, f8_e8m0: they have no infinity
// and f8_e8m0 has no sign and no zero: a negative number becomes NaN, zero its least number 2^-127.
#pragma once

#include <ulpscope/detail/narrow_float.hpp>
#include <ulpscope/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ulpscope {

// The value of one element's bits, in the low bits of code. NaN for a type that is not a real floating type.
inline double float_to_double(DType t, uint64_t code) {
  switch (t) {
    case DType::f64:
      return detail::bits_to_f64(code);
    case DType::hif8:
      return detail::decode_hif8(code & 0xFF);
    case DType::f8_e8m0:
      return detail::decode_e8m0(code & 0xFF);
    default:
      return is_floating(t) && detail::layout(t).exponent_bits != 0 ? detail::decode(detail::layout(t), code)
                                                                    : detail::kNaN;
  }
}

// The bits of the element nearest to value. 0 for a type that is not a real floating type.
inline uint64_t float_from_double(DType t, double value) {
  switch (t) {
    case DType::f64:
      return detail::f64_to_bits(value);
    case DType::hif8:
      return detail::encode_hif8(value);
    case DType::f8_e8m0:
      return detail::encode_e8m0(value);
    default:
      return is_floating(t) && detail::layout(t).exponent_bits != 0 ? detail::encode(detail::layout(t), value)
                                                                    : 0;
  }
}

inline double f16_to_double(uint16_t code) { return detail::decode(detail::layout(DType::f16), code); }
inline double bf16_to_double(uint16_t code) {
  const uint32_t bits = static_cast<uint32_t>(code) << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<double>(value);
}
inline double f8_e4m3fn_to_double(uint8_t code) { return float_to_double(DType::f8_e4m3fn, code); }
inline double f8_e5m2_to_double(uint8_t code) { return float_to_double(DType::f8_e5m2, code); }
inline double f8_e4m3fnuz_to_double(uint8_t code) { return float_to_double(DType::f8_e4m3fnuz, code); }
inline double f8_e5m2fnuz_to_double(uint8_t code) { return float_to_double(DType::f8_e5m2fnuz, code); }
inline double f8_e8m0_to_double(uint8_t code) { return detail::decode_e8m0(code); }
inline double hif8_to_double(uint8_t code) { return detail::decode_hif8(code); }

inline uint16_t f16_from_double(double value) {
  return static_cast<uint16_t>(float_from_double(DType::f16, value));
}
inline uint16_t bf16_from_double(double value) {
  return static_cast<uint16_t>(float_from_double(DType::bf16, value));
}
inline uint8_t f8_e4m3fn_from_double(double value) {
  return static_cast<uint8_t>(float_from_double(DType::f8_e4m3fn, value));
}
inline uint8_t f8_e5m2_from_double(double value) {
  return static_cast<uint8_t>(float_from_double(DType::f8_e5m2, value));
}
inline uint8_t f8_e4m3fnuz_from_double(double value) {
  return static_cast<uint8_t>(float_from_double(DType::f8_e4m3fnuz, value));
}
inline uint8_t f8_e5m2fnuz_from_double(double value) {
  return static_cast<uint8_t>(float_from_double(DType::f8_e5m2fnuz, value));
}
inline uint8_t f8_e8m0_from_double(double value) { return static_cast<uint8_t>(detail::encode_e8m0(value)); }
inline uint8_t hif8_from_double(double value) { return static_cast<uint8_t>(detail::encode_hif8(value)); }

// value as the type can hold it: to the type and back.
inline double round_to(DType t, double value) { return float_to_double(t, float_from_double(t, value)); }

// Stored mantissa bits: f32 23, f16 10, bf16 7, …; hif8 its best, 3. Complex types: of their parts. 0 for
// integers.
constexpr int mantissa_bits(DType t) {
  return t == DType::hif8 ? 3 : t == DType::f4_e2m1x2 ? 1 : detail::layout(t).mantissa_bits;
}

// Unit roundoff u = 2^-(mantissa bits + 1), the largest relative error of one rounding to nearest in the
// normal range; hif8 where it is best. Complex types: of their parts. 0 for integers and bools, which are
// exact.
inline double unit_roundoff(DType t) {
  if (!is_floating(t) && !is_complex(t)) return 0;
  return detail::power_of_two(-mantissa_bits(t) - 1);
}

// Exponent of the smallest normal number: f32 and bf16 -126, f16 -14, …; hif8 -15. 0 for integers and bools.
constexpr int least_exponent(DType t) {
  switch (t) {
    case DType::hif8:
      return detail::kHif8LeastNormal;
    case DType::f8_e8m0:
      return -127;
    case DType::f4_e2m1x2:
      return 0;
    default:
      return detail::layout(t).exponent_bits == 0 ? 0 : 1 - detail::layout(t).bias;
  }
}

// Largest finite value of the floating type, or of a complex type's parts; 0 for any other.
inline double largest_finite(DType t) {
  switch (t) {
    case DType::f64:
    case DType::c128:
      return std::numeric_limits<double>::max();
    case DType::hif8:
      return 32768;
    case DType::f8_e8m0:
      return detail::power_of_two(127);
    case DType::f4_e2m1x2:
      return 6;
    default: {
      const detail::FloatLayout f = detail::layout(t);
      return f.exponent_bits == 0 ? 0 : detail::decode(f, detail::largest_code(f));
    }
  }
}

// Smallest number above 0, a subnormal where the type has them; of a complex type's parts; 0 for any other
// type.
inline double smallest_positive(DType t) {
  switch (t) {
    case DType::f64:
    case DType::c128:
      return std::numeric_limits<double>::denorm_min();
    case DType::hif8:
      return detail::power_of_two(detail::kHif8LeastExponent);
    case DType::f8_e8m0:
      return detail::power_of_two(-127);
    case DType::f4_e2m1x2:
      return 0.5;
    default: {
      const detail::FloatLayout f = detail::layout(t);
      return f.exponent_bits == 0 ? 0 : detail::decode(f, 1);
    }
  }
}

namespace detail {

// Smallest value above a finite or infinite value among the codes of an 8-bit type; NaN when there is none.
inline double next_of_256(DType t, double value) {
  double best = kNaN;
  for (uint64_t code = 0; code < 256; ++code) {
    const double candidate = float_to_double(t, code);
    if (candidate > value && !(best <= candidate)) best = candidate;
  }
  return best;
}

}  // namespace detail

// The least value of the real floating type above value, which need not be one itself: infinity after the
// largest finite value, or NaN where the type has no infinity. +infinity stays, NaN gives NaN, as does any
// other type.
inline double next_up(double value, DType t) {
  if (!is_floating(t) || t == DType::f4_e2m1x2 || std::isnan(value)) return detail::kNaN;
  if (value == detail::kInfinity) return value;
  if (t == DType::f64) return std::nextafter(value, detail::kInfinity);
  if (bits(t) == 8) return detail::next_of_256(t, value);
  const detail::FloatLayout f = detail::layout(t);
  if (value >= largest_finite(t)) return detail::kInfinity;
  if (value < -largest_finite(t)) return -largest_finite(t);
  const double nearest = round_to(t, value);
  if (nearest > value) return nearest;
  if (nearest == 0) return smallest_positive(t);
  const uint64_t code = detail::encode(f, nearest);
  return detail::decode(f, nearest > 0 ? code + 1 : code - 1);
}

// The greatest value of the real floating type below value; as next_up.
inline double next_down(double value, DType t) {
  if (t != DType::f8_e8m0) return -next_up(-value, t);
  double best = detail::kNaN;  // the one type without negative numbers
  for (uint64_t code = 0; code < 255; ++code) {
    const double candidate = float_to_double(t, code);
    if (candidate < value && !(best >= candidate)) best = candidate;
  }
  return best;
}

}  // namespace ulpscope
