#include "tensors/element_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <ulpscope/elementwise.hpp>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr double kMostWhole = 1e7;
constexpr int kMostDigits = 17;  // enough for any double

std::string nonfinite_text(double value) { return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"; }

// The shortest text that rounds to the same element of a narrow format; the text of a double needs more
// digits than that.
std::string narrow_text(DType dtype, double value) {
  // Whole numbers are shown whole: 65504, not the shorter 6.55e+04.
  if (std::fabs(value) < kMostWhole && value == std::trunc(value)) return fmt::format("{:.0f}", value);
  const uint64_t code = float_from_double(dtype, value);
  for (int digits = 1; digits < kMostDigits; ++digits) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    const auto back = parse_double(text);
    if (back && float_from_double(dtype, *back) == code) return text;
  }
  return fmt::format("{}", value);
}

std::string real_text(DType dtype, double value) {
  if (!std::isfinite(value)) return nonfinite_text(value);
  if (dtype == DType::f64) return fmt::format("{}", value);
  if (dtype == DType::f32) return fmt::format("{}", static_cast<float>(value));
  return narrow_text(dtype, value);
}

DType part_type(DType dtype) {
  return dtype == DType::c32 ? DType::f16 : dtype == DType::c64 ? DType::f32 : DType::f64;
}

std::string complex_text(DType dtype, const std::byte* bytes) {
  double parts[2] = {};
  widen(dtype, bytes, 1, parts);
  const std::string imaginary = real_text(part_type(dtype), parts[1]);
  const bool has_sign = imaginary.front() == '-';
  return real_text(part_type(dtype), parts[0]) + (has_sign ? "" : "+") + imaginary + "j";
}

}  // namespace

std::string element_text(DType dtype, std::span<const std::byte> bytes) {
  if (dtype == DType::b8) return bytes[0] != std::byte{0} ? "True" : "False";
  if (is_exact_integer(dtype)) {
    const ExactInteger value = integer_at(dtype, bytes.data(), 0);
    return (value.negative ? "-" : "") + std::to_string(value.magnitude);
  }
  if (is_complex(dtype)) return complex_text(dtype, bytes.data());
  double parts_of_one[2] = {};  // room for a complex element, as widen asks for
  if (widen(dtype, bytes.data(), 1, parts_of_one)) return real_text(dtype, parts_of_one[0]);
  std::string text = "0x";
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

std::string absent_text(int32_t absent) {
  switch (absent) {
    case 0:
      return "";
    case ULPSCOPE_ABSENT_NOT_DUMPED:
      return "not dumped";
    case ULPSCOPE_ABSENT_FILTERED:
      return "filtered";
    case ULPSCOPE_ABSENT_NO_DATA:
      return "no data";
    case ULPSCOPE_ABSENT_NO_STATISTICS:
      return "no statistics";
    case ULPSCOPE_ABSENT_INNER:
      return "inner to a fusion";
    default:
      return "unreadable";
  }
}

std::string full_name(const DumpIndex& index, ItemId item) {
  return std::string(index.text(index.ops()[index.items()[item].op].name)) + " " + index.item_name(item);
}

int64_t byte_count(const DumpIndex& index, TensorId tensor) {
  const int64_t count = index.element_count(tensor);
  const int64_t width = size_bytes(index.tensors()[tensor].dtype);
  int64_t bytes = 0;
  if (count < 0 || width == 0 || __builtin_mul_overflow(count, width, &bytes)) return -1;
  return bytes;
}

}  // namespace ulpscope
