// Bit layouts of the floating formats and the two conversions that all of them share. Included by half.hpp;
// not for direct use. No table, no state: everything is computed from the layout.
//
//   format        sign exponent mantissa  bias  code of all ones in the exponent
//   f16            1      5        10       15  infinity, NaN
//   bf16           1      8         7      127  infinity, NaN
//   f32            1      8        23      127  infinity, NaN
//   f64            1     11        52     1023  infinity, NaN
//   f8_e5m2        1      5         2       15  infinity, NaN
//   f8_e4m3fn      1      4         3        7  finite but for mantissa 111, which is NaN
//   f8_e4m3fnuz    1      4         3        8  finite; 0x80 is the only NaN, there is no minus zero
//   f8_e5m2fnuz    1      5         2       16  finite; 0x80 is the only NaN, there is no minus zero
//   f8_e8m0        0      8         0      127  0xFF is NaN; no zero, no sign, no subnormal
//   hif8           1   see below                0x80 is NaN, 0x6F and 0xEF are infinities
//
// hif8 after the sign: a prefix code says how many exponent bits follow, the rest is mantissa. The exponent
// is sign and magnitude with an implied leading one.
//   11 seee m   |E| 8…15      10 see mm   |E| 4…7      01 se mmm   |E| 2…3      001 s mmm   |E| 1
//   0001 mmm    E 0           0000 mmm    2^(mmm - 23), and zero where mmm is 0
#pragma once

#include <ulpscope/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ulpscope {
namespace detail {

enum class Specials : uint8_t { ieee, only_nan, negative_zero_is_nan };

struct FloatLayout {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
  Specials specials = Specials::ieee;
};

// The layout of a sign, exponent, mantissa format; exponent_bits is 0 for every other type.
constexpr FloatLayout layout(DType t) {
  switch (t) {
    case DType::f16:
    case DType::c32:
      return {5, 10, 15, Specials::ieee};
    case DType::bf16:
      return {8, 7, 127, Specials::ieee};
    case DType::f32:
    case DType::c64:
      return {8, 23, 127, Specials::ieee};
    case DType::f64:
    case DType::c128:
      return {11, 52, 1023, Specials::ieee};
    case DType::f8_e5m2:
      return {5, 2, 15, Specials::ieee};
    case DType::f8_e4m3fn:
      return {4, 3, 7, Specials::only_nan};
    case DType::f8_e4m3fnuz:
      return {4, 3, 8, Specials::negative_zero_is_nan};
    case DType::f8_e5m2fnuz:
      return {5, 2, 16, Specials::negative_zero_is_nan};
    default:
      return {};
  }
}

inline double bits_to_f64(uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint64_t f64_to_bits(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
// 2^exponent for exponents of normal doubles, -1022 … 1023.
inline double power_of_two(int exponent) { return bits_to_f64(static_cast<uint64_t>(exponent + 1023) << 52); }

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The largest finite code without sign.
constexpr uint64_t largest_code(FloatLayout f) {
  const uint64_t all = (uint64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1;
  return f.specials == Specials::ieee       ? all - (uint64_t{1} << f.mantissa_bits)
         : f.specials == Specials::only_nan ? all - 1
                                            : all;
}
constexpr uint64_t sign_code(FloatLayout f) { return uint64_t{1} << (f.exponent_bits + f.mantissa_bits); }

// The value of a code of a format up to 32 bits wide; exact.
inline double decode(FloatLayout f, uint64_t code) {
  const uint64_t sign = sign_code(f), magnitude = code & (sign - 1);
  const bool negative = (code & sign) != 0;
  if (f.specials == Specials::negative_zero_is_nan && negative && magnitude == 0) return kNaN;
  double value = 0;
  if (magnitude > largest_code(f)) {
    value = f.specials == Specials::ieee && magnitude == largest_code(f) + 1 ? kInfinity : kNaN;
  } else {
    const int field = static_cast<int>(magnitude >> f.mantissa_bits);
    const uint64_t mantissa = magnitude & ((uint64_t{1} << f.mantissa_bits) - 1);
    const uint64_t significand = field == 0 ? mantissa : mantissa | (uint64_t{1} << f.mantissa_bits);
    const int exponent = (field == 0 ? 1 : field) - f.bias - f.mantissa_bits;
    value = static_cast<double>(significand) * power_of_two(exponent);
  }
  return negative ? -value : value;
}

// magnitude in units of 2^unit, rounded to the nearest integer, ties to even. magnitude / 2^unit must be
// below 2^53.
inline uint64_t round_even(double magnitude, int unit) {
  const double scaled = std::ldexp(magnitude, -unit);
  const auto whole = static_cast<uint64_t>(scaled);
  const double rest = scaled - static_cast<double>(whole);
  return whole + (rest > 0.5 || (rest == 0.5 && (whole & 1) != 0) ? 1 : 0);
}

// The code nearest to value in a format up to 32 bits wide, ties to even; overflow as half.hpp documents.
inline uint64_t encode(FloatLayout f, double value) {
  const bool no_minus_zero = f.specials == Specials::negative_zero_is_nan;
  const uint64_t sign = std::signbit(value) ? sign_code(f) : 0;
  const uint64_t beyond = no_minus_zero ? sign_code(f) : sign | (largest_code(f) + 1);
  if (std::isnan(value)) {
    if (f.specials != Specials::ieee) return beyond;
    return sign | (largest_code(f) + 1) | (uint64_t{1} << (f.mantissa_bits - 1));
  }
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return beyond;
  const int least = 1 - f.bias;
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  if (exponent > f.bias + 2) return beyond;
  const uint64_t significand = round_even(magnitude, exponent - f.mantissa_bits);
  const uint64_t code = (static_cast<uint64_t>(exponent - least) << f.mantissa_bits) + significand;
  if (code > largest_code(f)) return beyond;
  return no_minus_zero && code == 0 ? 0 : sign | code;
}

inline double decode_e8m0(uint64_t code) {
  return code == 0xFF ? kNaN : std::ldexp(1.0, static_cast<int>(code) - 127);
}

// A tie lies between two powers of two, neither of them even, so the larger one is taken (IEEE 754, 4.3.1).
inline uint64_t encode_e8m0(double value) {
  if (!(value >= 0) || std::isinf(value)) return 0xFF;
  if (value < power_of_two(-127)) return 0;
  const int exponent = std::ilogb(value);
  const bool up = value >= std::ldexp(1.5, exponent);
  const int code = exponent + 127 + (up ? 1 : 0);
  return code >= 0xFF ? 0xFF : static_cast<uint64_t>(code);
}

constexpr int kHif8LeastExponent = -22, kHif8LeastNormal = -15;

// Mantissa bits of a hif8 number with this exponent.
constexpr int hif8_mantissa_bits(int exponent) {
  const int size = exponent < 0 ? -exponent : exponent;
  return size <= 3 ? 3 : size <= 7 ? 2 : size <= 15 ? 1 : 0;
}

inline double decode_hif8(uint64_t code) {
  const auto rest = static_cast<unsigned>(code & 0x7F);
  const double sign = (code & 0x80) != 0 ? -1 : 1;
  if (rest == 0) return code == 0 ? 0 : kNaN;
  if (rest == 0x6F) return sign * kInfinity;
  if (rest < 8) return sign * std::ldexp(1.0, static_cast<int>(rest) - 23);
  // Exponent bits that follow the prefix code, the sign of the exponent included.
  const int width = rest >= 0x60 ? 4 : rest >= 0x40 ? 3 : rest >= 0x20 ? 2 : rest >= 0x10 ? 1 : 0;
  const int mantissa_bits = width == 4 ? 1 : width == 3 ? 2 : 3;
  const unsigned field = (rest >> mantissa_bits) & ((1U << width) - 1);
  int exponent = 0;
  if (width > 0) {
    const unsigned top = 1U << (width - 1);
    const int size = static_cast<int>((field & (top - 1)) | top);
    exponent = (field & top) != 0 ? -size : size;
  }
  const unsigned significand = (rest & ((1U << mantissa_bits) - 1)) | (1U << mantissa_bits);
  return sign * std::ldexp(static_cast<double>(significand), exponent - mantissa_bits);
}

// The code of 2^exponent * significand / 2^mantissa_bits, which must be a hif8 number.
constexpr uint64_t hif8_code(int exponent, unsigned significand) {
  if (exponent < kHif8LeastNormal) return static_cast<uint64_t>(int64_t{exponent} + 23);
  const int bits = hif8_mantissa_bits(exponent);
  const unsigned mantissa = significand & ((1U << bits) - 1);
  if (exponent == 0) return 0x08U | mantissa;
  const auto size = static_cast<unsigned>(exponent < 0 ? -exponent : exponent);
  const int width = size >= 8 ? 4 : size >= 4 ? 3 : size >= 2 ? 2 : 1;
  const unsigned prefix = width == 4 ? 0x60U : width == 3 ? 0x40U : width == 2 ? 0x20U : 0x10U;
  const unsigned top = 1U << (width - 1);
  const unsigned field = (size & (top - 1)) | (exponent < 0 ? top : 0U);
  return prefix | (field << bits) | mantissa;
}

// Ties go to the even mantissa and, where neither number has one (2^-15 and below), to the larger number.
inline uint64_t encode_hif8(double value) {
  const uint64_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return 0x80;
  const double magnitude = std::fabs(value);
  if (magnitude >= 40960) return sign | 0x6F;  // half way between 2^15 and the code that is infinity
  if (magnitude < power_of_two(kHif8LeastExponent - 1)) return 0;
  int exponent =
      std::max(std::ilogb(magnitude), kHif8LeastExponent);  // from half the least number on up to it
  if (exponent < kHif8LeastNormal) {
    if (magnitude >= std::ldexp(1.5, exponent)) ++exponent;
    return sign | hif8_code(exponent, exponent < kHif8LeastNormal ? 1U : 2U);
  }
  const int bits = hif8_mantissa_bits(exponent);
  const auto significand = static_cast<unsigned>(round_even(magnitude, exponent - bits));
  return sign |
         (significand >> (bits + 1) != 0 ? hif8_code(exponent + 1, 0) : hif8_code(exponent, significand));
}

}  // namespace detail
}  // namespace ulpscope
