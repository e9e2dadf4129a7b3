// Statistics of one tensor from its elements, in double, in one pass and constant memory. Used by show and
// overflow. The order of summation is fixed, so a tensor has the same numbers on every machine. Judges
// nothing.
#pragma once

#include <ulpscope/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "index/tensor_data.hpp"

namespace ulpscope {

// Numbers by the power of two below their magnitude: bucket i counts 2^(i + kLowest) <= |x| < 2^(i + kLowest
// + 1).
struct MagnitudeHistogram {
  static constexpr int kLowest = -1074;  // the smallest double
  static constexpr int kBuckets = 2098;  // up to 2^1024
  std::array<int64_t, kBuckets> counts = {};
  int64_t zeros = 0;
};

// Of a complex element both parts are numbers. max, min, mean and l2norm run over the finite numbers; without
// one they are NaN.
struct TensorStatistics {
  int64_t elements = 0, numbers = 0, finite = 0;
  int64_t nan_count = 0, positive_inf = 0, negative_inf = 0;
  int64_t first_nonfinite = -1;  // element
  double max = 0, min = 0, mean = 0, l2norm = 0;
  // The same two with all digits, where a double may round them: 64-bit integers. Empty for other dtypes.
  std::string exact_max, exact_min;
  MagnitudeHistogram histogram;
  // Whether the bytes have the CRC-32 that their file states; nothing when it states none. Set by
  // read_statistics.
  std::optional<bool> crc_right;
  bool odd_bools = false;  // bytes of a bool tensor other than 0 and 1, which count as true

  bool has_nan() const { return nan_count > 0; }
  bool has_inf() const { return positive_inf > 0 || negative_inf > 0; }
};

// Accumulates chunks in order. One thread.
class StatisticsAccumulator {
 public:
  // dtype must be widenable (ulpscope/elementwise.hpp).
  explicit StatisticsAccumulator(DType dtype) : dtype_(dtype) {}
  // count elements; all chunks but the last hold a multiple of 1024.
  void add(const std::byte* elements, int64_t count);
  TensorStatistics finish() const;

 private:
  void add_block(const double* numbers, int64_t count, int64_t first_number);
  void add_integers(const std::byte* elements, int64_t count);

  DType dtype_;
  TensorStatistics found_;
  double sum_ = 0;
  // Sums of squares apart by magnitude, so that none overflows or underflows: x·2^-600, x, x·2^600.
  double large_ = 0, middle_ = 0, small_ = 0;
  bool any_integer_ = false;
  uint64_t most_ = 0, least_ = 0;  // 64-bit integers, ordered by an offset for signed ones
};

// What every command says of a tensor whose bytes do not have the CRC-32 that their file states. The values
// are used even so: only the checksum may be wrong.
constexpr std::string_view kWrongCrc32 = "the CRC-32 of the data is not the one that its file states";

// Reads all of a tensor in chunks of at most 1 MiB and hands each to chunk. Answers whether the bytes have
// the CRC-32 that their file states; nothing when it states none. Errors are those of reading, or cancelled.
Result<std::optional<bool>> for_each_chunk(TensorData& data, DType dtype, const Cancel& cancel,
                                           const std::function<void(std::span<const std::byte>)>& chunk);

// Reads all of a tensor. unsupported: elements that are packed or opaque; else as for_each_chunk.
Result<TensorStatistics> read_statistics(TensorData& data, DType dtype, const Cancel& cancel);

// The histogram as lines of a bar chart, neighbours joined until at most most_lines stand; empty when there
// is no finite number but zero.
std::string histogram_text(const MagnitudeHistogram& histogram, int most_lines, int width);

}  // namespace ulpscope
