// The limits of the published accuracy standards, as they depend on the element type of the device: where the
// domain of small values ends, which errors count, what a unit in the last place is. One table, used by the
// judgement plugins, by check and by precision-compare. Pure values: any thread.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <string_view>

namespace ulpscope {

// Whose numbers: those of the published standard, or those that the current code of msprobe has in place.
enum class LimitProfile : uint8_t { seed, msprobe_code };

// What the options of a judgement call the types that have limits of their own.
enum class LimitClass : uint8_t { float32, float16, bfloat16, float8_e4m3fn, float8_e5m2, other };
constexpr int kLimitClasses = 6;
std::string_view to_text(LimitClass limit_class);

// The class of an element type; a complex type has that of its parts.
LimitClass limit_class(DType device);

struct TypeLimits {
  double small_value = 0;  // |golden| up to this is judged by its absolute error
  double small_value_atol_benchmark = 0, small_value_atol_absolute = 0;  // absolute errors above it count
  double rtol = 0;                                                       // relative errors above it count
  double ratio_floor = 0;  // least denominator of a ratio between two devices
};
TypeLimits type_limits(LimitProfile profile, LimitClass limit_class);

// Limits of the accumulative-error standard.
struct AccumulativeLimits {
  double small_value = 1;
  double bound = 0;  // relative error, and absolute error of small values
  double error_balance = 0;
};
AccumulativeLimits accumulative_limits(LimitClass limit_class);

// What stands beside |golden| in the denominator of every relative error: the machine epsilon of the golden
// type, 2^-8 where the device is bfloat16.
double golden_epsilon(DType golden, DType device);

// A unit in the last place of a device type: 2^(max(floor(log2 |golden|), min_exponent) - mantissa_bits).
struct UlpFormat {
  int min_exponent = 0, mantissa_bits = 0;
  double over_threshold = 0;  // errors above so many units are counted
  bool tapered = false;       // the scheme of the 8-bit formats, whose precision depends on the exponent
};
UlpFormat ulp_format(DType device);

// The type in whose range a device value is held while it is compared: float32 for bfloat16 and the 8-bit
// formats.
DType array_type(DType device);
// A golden value as that type holds it, back as double: rounded, infinite beyond the range.
double as_array_type(DType array, double value);

}  // namespace ulpscope
