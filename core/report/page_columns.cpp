#include "report/page_columns.hpp"

#include <libdeflate.h>

#include <bit>
#include <cmath>
#include <memory>

namespace ulpscope {
namespace {

constexpr uint64_t kAbsent = ~uint64_t{0};
constexpr int kDroppedBits = 52 - 14;                  // four decimal digits, which is what the page shows
constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
// Fast, and within a tenth of the size that the slow levels reach on these planes.
constexpr int kCompression = 4;

std::string base64(std::span<const unsigned char> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const uint32_t second = left > 1 ? bytes[i + 1] : 0U, third = left > 2 ? bytes[i + 2] : 0U;
    const uint32_t three = uint32_t{bytes[i]} << 16 | second << 8 | third;
    out += kDigits[three >> 18];
    out += kDigits[three >> 12 & 63];
    out += left > 1 ? kDigits[three >> 6 & 63] : '=';
    out += left > 2 ? kDigits[three & 63] : '=';
  }
  return out;
}

}  // namespace

std::string integer_planes(std::span<const int32_t> values) {
  const size_t count = values.size();
  std::string out(count * 4, '\0');
  uint32_t before = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<uint32_t>(values[i]);
    const uint32_t step = value - before;
    before = value;
    for (size_t plane = 0; plane < 4; ++plane)
      out[plane * count + i] = static_cast<char>(step >> (8 * plane) & 255);
  }
  return out;
}

uint64_t page_bits(std::optional<double> value) {
  if (!value) return kAbsent;
  constexpr uint64_t kHalf = uint64_t{1} << (kDroppedBits - 1), kMask = ~((uint64_t{1} << kDroppedBits) - 1);
  if (std::isnan(*value)) return std::bit_cast<uint64_t>(std::nan("")) & kMask;
  const uint64_t bits = std::bit_cast<uint64_t>(*value);
  const bool whole = std::fabs(*value) <= kExactIntegers && std::trunc(*value) == *value;
  if (whole || std::isinf(*value)) return bits;
  const uint64_t rounded = (bits + kHalf) & kMask;
  return std::isfinite(std::bit_cast<double>(rounded)) ? rounded : bits & kMask;
}

NumberPlanes number_planes(std::span<const uint64_t> bits) {
  NumberPlanes out;
  out.planes = 4;
  for (const uint64_t value : bits)
    if (value != kAbsent && (value & 0xFFFFFFFFU) != 0) out.planes = 8;
  const size_t count = bits.size();
  out.bytes.resize(count * static_cast<size_t>(out.planes));
  for (size_t i = 0; i < count; ++i)
    for (size_t plane = 0; plane < static_cast<size_t>(out.planes); ++plane)
      out.bytes[plane * count + i] = static_cast<char>(bits[i] >> (56 - 8 * plane) & 255);
  return out;
}

Result<std::string> packed(const std::string& bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kCompression), &libdeflate_free_compressor);
  if (!compressor) return Error{Code::no_memory, "the page: no memory to compress its data"};
  std::vector<unsigned char> out(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()));
  const size_t size =
      libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size());
  return base64(std::span(out).first(size));
}

Result<PackedColumns> pack_columns(std::span<const std::span<const int32_t>> integers,
                                   std::span<const std::span<const uint64_t>> numbers, ThreadPool* pool) {
  const size_t count = integers.size() + numbers.size();
  PackedColumns columns;
  columns.planes.resize(numbers.size(), 4);
  std::vector<Result<std::string>> blocks(count, std::string());
  const auto pack = [&](int64_t at, int) {
    const auto i = static_cast<size_t>(at);
    if (i < integers.size()) {
      blocks[i] = packed(integer_planes(integers[i]));
      return;
    }
    const NumberPlanes planes = number_planes(numbers[i - integers.size()]);
    columns.planes[i - integers.size()] = planes.planes;
    blocks[i] = packed(planes.bytes);
  };
  if (pool != nullptr)
    pool->parallel_for(static_cast<int64_t>(count), pack);
  else
    for (size_t i = 0; i < count; ++i) pack(static_cast<int64_t>(i), 0);
  for (Result<std::string>& block : blocks) {
    if (!block.ok()) return std::move(block).error();
    columns.blocks.push_back(std::move(block).value());
  }
  return columns;
}

}  // namespace ulpscope
