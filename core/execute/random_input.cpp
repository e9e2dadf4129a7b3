#include "execute/random_input.hpp"

#include <ulpscope/half.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {
namespace {

// FNV-1a of 64 bits.
uint64_t hash(uint64_t from, std::string_view text) {
  for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return (from ^ 0xff) * 0x100000001b3u;  // texts that end elsewhere differ
}

void put(DType dtype, std::vector<std::byte>& out, size_t index, uint64_t code) {
  const size_t size = size_bytes(dtype);
  std::memcpy(out.data() + index * size, &code, size);
}

double clamped(double value, double limit) { return std::clamp(value, -limit, limit); }

void fill_floats(const RandomTensor& tensor, RandomStream& stream, std::vector<std::byte>& out,
                 size_t count) {
  const DType t = tensor.dtype;
  const double limit = largest_finite(t);
  // Between infinite extremes the numbers stay where the square of any of them is finite too.
  const double wide = std::sqrt(limit);
  const double low = std::isfinite(tensor.low) ? tensor.low
                     : std::isnan(tensor.low)  ? -1
                                               : std::copysign(wide, tensor.low);
  const double high = std::isfinite(tensor.high) ? tensor.high
                      : std::isnan(tensor.high)  ? 1
                                                 : std::copysign(wide, tensor.high);
  const double from = clamped(std::min(low, high), limit), to = clamped(std::max(low, high), limit);
  const int bits = mantissa_bits(t) + 1;
  for (size_t i = 0; i < count; ++i) {
    const double u = stream.unit(bits);
    // Both products are finite, whatever the extremes.
    put(t, out, i, float_from_double(t, std::clamp(from * (1 - u) + to * u, from, to)));
  }
  const auto set = [&](size_t index, double value) { put(t, out, index, float_from_double(t, value)); };
  if (std::isnan(tensor.high) || std::isnan(tensor.low)) {
    set(count > 2 ? 1 : 0, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  set(0, tensor.low);
  set(count - 1, tensor.high);
}

void fill_integers(const RandomTensor& tensor, RandomStream& stream, std::vector<std::byte>& out,
                   size_t count) {
  const DType t = tensor.dtype;
  const bool is_signed = t == DType::i8 || t == DType::i16 || t == DType::i32 || t == DType::i64;
  const int width = static_cast<int>(bits(t));
  const double least = t == DType::b8 ? 0 : is_signed ? -std::ldexp(1.0, width - 1) : 0;
  const double most = t == DType::b8 ? 1 : std::ldexp(1.0, is_signed ? width - 1 : width) - 1;
  const double low = std::clamp(std::min(tensor.low, tensor.high), least, most);
  const double high = std::clamp(std::max(tensor.low, tensor.high), least, most);
  // 2^63 and 2^64 are not numbers of their types: the nearest doubles below them are.
  const auto to_code = [&](double value) {
    const double top = std::ldexp(1.0, is_signed ? 63 : 64);
    const double safe = value >= top ? std::nextafter(top, 0.0) : value;
    return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(safe)) : static_cast<uint64_t>(safe);
  };
  const uint64_t first = to_code(low), span = to_code(high) - first;
  for (size_t i = 0; i < count; ++i)
    put(t, out, i,
        span == std::numeric_limits<uint64_t>::max() ? stream.next() : first + stream.next() % (span + 1));
  put(t, out, 0, first);
  put(t, out, count - 1, first + span);
}

}  // namespace

RandomStream::RandomStream(uint64_t seed, std::string_view api, std::string_view argument)
    : state_(hash(hash(seed * 0x9e3779b97f4a7c15u ^ 0xcbf29ce484222325u, api), argument)) {}

// splitmix64 of Steele, Lea and Flood.
uint64_t RandomStream::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double RandomStream::unit(int bits) {
  const int kept = std::clamp(bits, 1, 53);
  return std::ldexp(static_cast<double>(next() >> (64 - kept)), -kept);
}

Result<std::vector<std::byte>> random_elements(const RandomTensor& tensor, RandomStream& stream,
                                               uint64_t limit_bytes) {
  const auto size = dense_bytes(tensor.shape, tensor.dtype);
  if (!size || *size > limit_bytes)
    return Error{Code::no_memory, "a tensor of more than " + size_text(limit_bytes)};
  std::vector<std::byte> out(static_cast<size_t>(*size));
  if (out.empty()) return out;
  const bool integer = (is_integer(tensor.dtype) && tensor.dtype != DType::i4x2) || tensor.dtype == DType::b8;
  if (!integer && (!is_floating(tensor.dtype) || tensor.dtype == DType::f4_e2m1x2))
    return Error{Code::unsupported, std::string("no random numbers of type ") + name(tensor.dtype)};
  if (!tensor.has_range)
    return Error{Code::unsupported, "the dump has no largest and least value to make random numbers from"};
  const size_t count = out.size() / size_bytes(tensor.dtype);
  if (integer && (!std::isfinite(tensor.low) || !std::isfinite(tensor.high)))
    return Error{Code::unsupported, "the largest and least value are no integers"};
  integer ? fill_integers(tensor, stream, out, count) : fill_floats(tensor, stream, out, count);
  return out;
}

}  // namespace ulpscope
