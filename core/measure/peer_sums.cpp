#include "measure/peer_sums.hpp"

#include <ulpscope/half.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace ulpscope {
namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// One element widened to double as the older tool does it: bool 0 or 1, 64-bit integers rounded, complex its
// real part.
double element(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::b8:
      return load<uint8_t>(at) != 0 ? 1 : 0;
    case DType::u8:
      return load<uint8_t>(at);
    case DType::i8:
      return load<int8_t>(at);
    case DType::u16:
      return load<uint16_t>(at);
    case DType::i16:
      return load<int16_t>(at);
    case DType::u32:
      return load<uint32_t>(at);
    case DType::i32:
      return load<int32_t>(at);
    case DType::u64:
      return static_cast<double>(load<uint64_t>(at));
    case DType::i64:
      return static_cast<double>(load<int64_t>(at));
    case DType::f16:
      return f16_to_double(load<uint16_t>(at));
    case DType::bf16:
      return bf16_to_double(load<uint16_t>(at));
    case DType::f32:
    case DType::c64:
      return static_cast<double>(load<float>(at));
    case DType::f64:
    case DType::c128:
      return load<double>(at);
    case DType::c32:
      return f16_to_double(load<uint16_t>(at));
    default:
      return bits(dtype) == 8 && is_floating(dtype) ? float_to_double(dtype, load<uint8_t>(at)) : 0;
  }
}

// Relative errors are taken in float32 where both sides are floating formats that fit into it, else in
// float64.
bool is_single(DType dtype) { return is_floating(dtype) && dtype != DType::f64; }

template <class T>
double relative_error(T target, T golden) {
  if (golden == 0) {
    constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
    golden = kEpsilon;
    target += kEpsilon;
  }
  return static_cast<double>(std::fabs((target - golden) / golden));
}

}  // namespace

double peer_relative_error(double target, double golden, bool single_precision) {
  return single_precision ? relative_error(static_cast<float>(target), static_cast<float>(golden))
                          : relative_error(target, golden);
}

void PeerSums::add(DType target_dtype, const std::byte* target, DType golden_dtype, const std::byte* golden,
                   int64_t count) {
  const bool single = is_single(target_dtype) && is_single(golden_dtype);
  const size_t target_size = size_bytes(target_dtype), golden_size = size_bytes(golden_dtype);
  if (elements == 0 && count > 0) {
    first_target = element(target_dtype, target);
    first_golden = element(golden_dtype, golden);
  }
  elements += count;
  // The limits are taken in the type of the errors.
  const double limit_1e3 = single ? static_cast<double>(0.001F) : 0.001;
  const double limit_5e3 = single ? static_cast<double>(0.005F) : 0.005;
  for (int64_t i = 0; i < count; ++i) {
    double t = element(target_dtype, target + static_cast<size_t>(i) * target_size);
    double g = element(golden_dtype, golden + static_cast<size_t>(i) * golden_size);
    nan_moved += std::isnan(t) != std::isnan(g) ? 1 : 0;
    infinity_moved += std::isinf(t) != std::isinf(g) ? 1 : 0;
    nonfinite += std::isfinite(t) && std::isfinite(g) ? 0 : 1;
    if (!std::isfinite(t)) t = 0;
    if (!std::isfinite(g)) g = 0;
    const double relative = peer_relative_error(t, g, single);
    within_1e3 += relative < limit_1e3 ? 1 : 0;
    within_5e3 += relative < limit_5e3 ? 1 : 0;
    const double absolute = std::fabs(t - g);
    if (relative > max_relative) max_relative = relative;
    if (absolute > max_absolute) max_absolute = absolute;
    squared_error += absolute * absolute;
    dot += t * g;
    squares_target += t * t;
    squares_golden += g * g;
  }
}

void PeerSums::merge(const PeerSums& next_part) {
  if (elements == 0) {
    first_target = next_part.first_target;
    first_golden = next_part.first_golden;
  }
  elements += next_part.elements;
  nan_moved += next_part.nan_moved;
  infinity_moved += next_part.infinity_moved;
  nonfinite += next_part.nonfinite;
  within_1e3 += next_part.within_1e3;
  within_5e3 += next_part.within_5e3;
  if (next_part.max_relative > max_relative) max_relative = next_part.max_relative;
  if (next_part.max_absolute > max_absolute) max_absolute = next_part.max_absolute;
  squared_error += next_part.squared_error;
  dot += next_part.dot;
  squares_target += next_part.squares_target;
  squares_golden += next_part.squares_golden;
}

}  // namespace ulpscope
