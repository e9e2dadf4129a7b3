// One column of the page's data while it is filled, and how it becomes bytes (layout: page_data.hpp). Knows
// no report.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/thread_pool.hpp"

namespace ulpscope {

// Values as planes of bytes, each the difference to the one before.
std::string integer_planes(std::span<const int32_t> values);

// A double as the page keeps it: 14 bits of mantissa, integers whole. Absent: all bits set.
uint64_t page_bits(std::optional<double> value);

struct NumberPlanes {
  std::string bytes;
  int planes = 0;  // 8, or 4 where the low halves are all zero or absent
};
NumberPlanes number_planes(std::span<const uint64_t> bits);

// zlib, then base64. no_memory: the compressor has none.
Result<std::string> packed(const std::string& bytes);

// Columns as blocks: first all of integers, then those of page_bits, whose planes are told in their order.
struct PackedColumns {
  std::vector<std::string> blocks;
  std::vector<int> planes;
};
// pool: null for this thread alone. no_memory as for packed.
Result<PackedColumns> pack_columns(std::span<const std::span<const int32_t>> integers,
                                   std::span<const std::span<const uint64_t>> numbers, ThreadPool* pool);

}  // namespace ulpscope
