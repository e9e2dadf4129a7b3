#include "tensors/statistics.hpp"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ulpscope/elementwise.hpp>
#include <vector>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr uint64_t kSignBit = uint64_t{1} << 63;
// Squares of numbers between these neither overflow nor lose bits to subnormals, for any count of elements.
constexpr double kLarge = 0x1p500, kSmall = 0x1p-500;
constexpr double kShrink = 0x1p-600, kGrow = 0x1p600;

double fold(double (&lanes)[kLanes]) {
  for (uint32_t half = kLanes / 2; half > 0; half /= 2)
    for (uint32_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

std::string ordered_text(uint64_t ordered, bool is_signed) {
  return is_signed ? std::to_string(static_cast<int64_t>(ordered ^ kSignBit)) : std::to_string(ordered);
}

}  // namespace

void StatisticsAccumulator::add(const std::byte* elements, int64_t count) {
  if (dtype_ == DType::i64 || dtype_ == DType::u64) add_integers(elements, count);
  double numbers[ULPSCOPE_BLOCK];
  const int64_t step = ULPSCOPE_BLOCK / parts(dtype_);
  const int64_t width = size_bytes(dtype_);
  for (int64_t first = 0; first < count; first += step) {
    const int64_t now = std::min(step, count - first);
    widen(dtype_, elements + first * width, static_cast<uint64_t>(now), numbers);
    add_block(numbers, now * parts(dtype_), found_.numbers);
    found_.elements += now;
  }
}

void StatisticsAccumulator::add_block(const double* numbers, int64_t count, int64_t first_number) {
  double sum[kLanes] = {}, large[kLanes] = {}, middle[kLanes] = {}, small[kLanes] = {};
  for (int64_t i = 0; i < count; ++i) {
    const double x = numbers[i];
    const auto lane = static_cast<size_t>(i) % kLanes;
    if (!std::isfinite(x)) {
      ++(std::isnan(x) ? found_.nan_count : x > 0 ? found_.positive_inf : found_.negative_inf);
      if (found_.first_nonfinite < 0) found_.first_nonfinite = (first_number + i) / parts(dtype_);
      continue;
    }
    if (found_.finite == 0) found_.max = found_.min = x;
    ++found_.finite;
    found_.max = x > found_.max ? x : found_.max;
    found_.min = x < found_.min ? x : found_.min;
    sum[lane] += x;
    const double magnitude = std::fabs(x);
    if (magnitude == 0) {
      ++found_.histogram.zeros;
      continue;
    }
    ++found_.histogram.counts[static_cast<size_t>(std::ilogb(magnitude) - MagnitudeHistogram::kLowest)];
    if (magnitude > kLarge)
      large[lane] += (x * kShrink) * (x * kShrink);
    else if (magnitude < kSmall)
      small[lane] += (x * kGrow) * (x * kGrow);
    else
      middle[lane] += x * x;
  }
  found_.numbers += count;
  sum_ += fold(sum);
  large_ += fold(large);
  middle_ += fold(middle);
  small_ += fold(small);
}

void StatisticsAccumulator::add_integers(const std::byte* elements, int64_t count) {
  const uint64_t offset = dtype_ == DType::i64 ? kSignBit : 0;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    std::copy_n(elements + i * int64_t{sizeof value}, sizeof value, reinterpret_cast<std::byte*>(&value));
    value ^= offset;
    most_ = any_integer_ ? std::max(most_, value) : value;
    least_ = any_integer_ ? std::min(least_, value) : value;
    any_integer_ = true;
  }
}

TensorStatistics StatisticsAccumulator::finish() const {
  TensorStatistics result = found_;
  if (result.finite == 0) {
    result.max = result.min = result.mean = result.l2norm = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  result.mean = sum_ / static_cast<double>(result.finite);
  result.l2norm = large_ > 0    ? std::sqrt(large_ + middle_ * kShrink * kShrink) * kGrow
                  : middle_ > 0 ? std::sqrt(middle_)
                                : std::sqrt(small_) * kShrink;
  if (any_integer_) {
    result.exact_max = ordered_text(most_, dtype_ == DType::i64);
    result.exact_min = ordered_text(least_, dtype_ == DType::i64);
  }
  return result;
}

Result<std::optional<bool>> for_each_chunk(TensorData& data, DType dtype, const Cancel& cancel,
                                           const std::function<void(std::span<const std::byte>)>& chunk) {
  const std::optional<uint32_t> stated = data.stated_crc32();
  uint32_t crc = 0;
  const uint64_t width = std::max(1U, size_bytes(dtype));
  const uint64_t step = kChunkBytes / (width * ULPSCOPE_BLOCK) * width * ULPSCOPE_BLOCK;
  std::vector<std::byte> buffer(std::min(step, data.size_bytes()));
  for (uint64_t offset = 0; offset < data.size_bytes(); offset += step) {
    if (cancel.requested()) return Error{Code::cancelled, "cancelled"};
    const std::span<std::byte> now = std::span(buffer).first(std::min(step, data.size_bytes() - offset));
    ULPSCOPE_TRY(data.read(offset, now));
    if (stated) crc = libdeflate_crc32(crc, now.data(), now.size());
    chunk(now);
  }
  return stated ? std::optional(crc == *stated) : std::nullopt;
}

Result<TensorStatistics> read_statistics(TensorData& data, DType dtype, const Cancel& cancel) {
  if (!is_widenable(dtype))
    return Error{Code::unsupported, std::string("elements of type ") + name(dtype) + " have no statistics"};
  StatisticsAccumulator accumulator(dtype);
  const auto width = static_cast<int64_t>(size_bytes(dtype));
  bool odd_bools = false;
  ULPSCOPE_ASSIGN(const std::optional<bool> crc_right,
                  for_each_chunk(data, dtype, cancel, [&](std::span<const std::byte> bytes) {
                    if (dtype == DType::b8 && !odd_bools)
                      odd_bools = std::any_of(bytes.begin(), bytes.end(),
                                              [](std::byte each) { return each > std::byte{1}; });
                    accumulator.add(bytes.data(), static_cast<int64_t>(bytes.size()) / width);
                  }));
  TensorStatistics found = accumulator.finish();
  found.crc_right = crc_right;
  found.odd_bools = odd_bools;
  return found;
}

std::string histogram_text(const MagnitudeHistogram& histogram, int most_lines, int width) {
  const auto& counts = histogram.counts;
  const auto nonzero = [](int64_t count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), nonzero);
  if (first == counts.end())
    return histogram.zeros > 0 ? "all " + count_text(histogram.zeros) + " are 0\n" : "";
  const auto last = std::find_if(counts.rbegin(), counts.rend(), nonzero).base();
  const auto joined = (last - first + most_lines - 1) / most_lines;
  struct Line {
    std::string label;
    int64_t count = 0;
  };
  std::vector<Line> lines;
  if (histogram.zeros > 0) lines.push_back({"0", histogram.zeros});
  for (auto at = first; at < last; at += std::min(joined, last - at)) {
    const auto low = at - counts.begin() + MagnitudeHistogram::kLowest;
    int64_t count = 0;
    for (auto each = at; each < last && each < at + joined; ++each) count += *each;
    lines.push_back({fmt::format("2^{} .. 2^{}", low, low + joined), count});
  }
  int64_t most = 0;
  size_t label_width = 0, count_width = 0;
  for (const Line& line : lines) {
    most = std::max(most, line.count);
    label_width = std::max(label_width, line.label.size());
    count_width = std::max(count_width, count_text(line.count).size());
  }
  std::string text;
  for (const Line& line : lines) {
    // Something there shows at least one mark.
    const auto marks =
        static_cast<size_t>(std::ceil(static_cast<double>(line.count) / static_cast<double>(most) * width));
    text += fmt::format("{:<{}}  {:>{}}  ", line.label, label_width, count_text(line.count), count_width) +
            std::string(marks, '#');
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

}  // namespace ulpscope
