#include "judgements/limits.hpp"

#include <ulpscope/half.hpp>

#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

// Rows in the order of LimitClass. Small values of seed: the published standard of offline pre-checks; the
// two 8-bit formats: the commercial standard for operators (small value 2^-4 and 2^-3, error 2^-6 and 2^-5).
// rtol and ratio_floor: the code of msprobe, on which the standard is silent.
constexpr TypeLimits kSeed[kLimitClasses] = {
    {0x1p-14, 0x1p-30, 0x1p-30, 0x1p-20, 0x1p-14}, {0x1p-11, 0x1p-16, 0x1p-16, 0x1p-10, 0x1p-11},
    {0x1p-8, 0x1p-16, 0x1p-16, 0x1p-8, 0x1p-8},    {0x1p-4, 0x1p-6, 0x1p-6, 0x1p-3, 0x1p-4},
    {0x1p-3, 0x1p-5, 0x1p-5, 0x1p-2, 0x1p-3},      {0x1p-14, 0x1p-30, 0x1p-30, 0x1p-20, 0x1p-14},
};
// The decimal 1e-16 stands in that code where 2^-16 was meant; it is kept to reproduce its numbers.
constexpr TypeLimits kMsprobe[kLimitClasses] = {
    {0x1p-20, 0x1p-30, 0x1p-30, 0x1p-20, 0x1p-14}, {0x1p-10, 1e-16, 0x1p-16, 0x1p-10, 0x1p-11},
    {0x1p-10, 1e-16, 1e-16, 0x1p-8, 0x1p-8},       {0x1p-20, 0x1p-30, 0x1p-30, 0x1p-20, 0x1p-14},
    {0x1p-20, 0x1p-30, 0x1p-30, 0x1p-20, 0x1p-14}, {0x1p-20, 0x1p-30, 0x1p-30, 0x1p-20, 0x1p-14},
};
// Source: msprobe, standard of accumulative errors.
constexpr AccumulativeLimits kAccumulative[kLimitClasses] = {
    {1, 0x1p-11, 0x1p-14}, {1, 0x1p-8, 0x1p-20},  {1, 0x1p-7, 0x1p-7},
    {1, 0x1p-11, 0x1p-14}, {1, 0x1p-11, 0x1p-14}, {1, 0x1p-11, 0x1p-14},
};

}  // namespace

std::string_view to_text(LimitClass limit_class) {
  switch (limit_class) {
    case LimitClass::float32:
      return "float32";
    case LimitClass::float16:
      return "float16";
    case LimitClass::bfloat16:
      return "bfloat16";
    case LimitClass::float8_e4m3fn:
      return "float8_e4m3fn";
    case LimitClass::float8_e5m2:
      return "float8_e5m2";
    case LimitClass::other:
      return "other";
  }
  return "other";
}

LimitClass limit_class(DType device) {
  switch (device) {
    case DType::f32:
    case DType::c64:
      return LimitClass::float32;
    case DType::f16:
    case DType::c32:
      return LimitClass::float16;
    case DType::bf16:
      return LimitClass::bfloat16;
    case DType::f8_e4m3fn:
    case DType::f8_e4m3fnuz:
      return LimitClass::float8_e4m3fn;
    case DType::f8_e5m2:
    case DType::f8_e5m2fnuz:
      return LimitClass::float8_e5m2;
    default:
      return LimitClass::other;
  }
}

TypeLimits type_limits(LimitProfile profile, LimitClass limit_class) {
  const auto row = static_cast<size_t>(limit_class);
  return profile == LimitProfile::seed ? kSeed[row] : kMsprobe[row];
}

AccumulativeLimits accumulative_limits(LimitClass limit_class) {
  return kAccumulative[static_cast<size_t>(limit_class)];
}

double golden_epsilon(DType golden, DType device) {
  if (device == DType::bf16) return 0x1p-8;
  switch (golden) {
    case DType::f64:
    case DType::c128:
    case DType::i64:
    case DType::u64:
      return 0x1p-52;
    case DType::f16:
    case DType::c32:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-8;
    default:
      return 0x1p-23;
  }
}

UlpFormat ulp_format(DType device) {
  switch (device) {
    case DType::f16:
    case DType::c32:
      return {-14, 10, 1, false};
    case DType::bf16:
      return {-126, 7, 1, false};
    case DType::f64:
    case DType::c128:
      return {-1022, 52, 32, false};
    case DType::f8_e4m3fn:
    case DType::f8_e4m3fnuz:
    case DType::f8_e5m2:
    case DType::f8_e5m2fnuz:
    case DType::hif8:
      return {0, 0, 1, true};
    default:
      return {-126, 23, 32, false};
  }
}

DType array_type(DType device) {
  switch (device) {
    case DType::f16:
    case DType::c32:
      return DType::f16;
    case DType::f64:
    case DType::c128:
      return DType::f64;
    default:
      return DType::f32;
  }
}

double as_array_type(DType array, double value) {
  switch (array) {
    case DType::f64:
      return value;
    case DType::f32:
      // Beyond the range the conversion of the language is not defined.
      if (std::fabs(value) >= 0x1.ffffffp127)
        return std::isnan(value) ? value : std::copysign(std::numeric_limits<double>::infinity(), value);
      return static_cast<double>(static_cast<float>(value));
    default:
      return float_to_double(array, float_from_double(array, value));
  }
}

}  // namespace ulpscope
