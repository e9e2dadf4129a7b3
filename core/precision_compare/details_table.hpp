// The table accuracy_checking_details of the offline pre-check, one row an output: read from the CSV of
// msprobe (either generation) or of this program. Used by precision_compare.
#pragma once

#include <ulpscope/types.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// The numbers of a row, in the order of the columns of the file.
enum class DetailMetric : uint8_t {
  cosine,
  max_abs_error,
  within_hundredth,
  within_thousandth,
  within_ten_thousandth,
  binary_error_rate,
  error_balance,
  rmse,
  small_value_error_rate,
  max_relative_error,
  mean_relative_error,
  inf_nan_error_rate,
  relative_error_rate,
  absolute_error_rate,
  max_ulp,
  mean_ulp,
  ulp_over_threshold_rate,
};
constexpr size_t kDetailMetrics = 17;
// The column of the file, and the metric of a judgement that it holds.
std::string_view column_name(DetailMetric metric);
std::string_view metric_name(DetailMetric metric);

// A cell: a number, nothing, or text that is no number.
struct DetailCell {
  enum class Kind : uint8_t { blank, number, unreadable };
  Kind kind = Kind::blank;
  double value = 0;
};

struct DetailRow {
  int64_t line = 0;  // of the file
  std::string name, bench_dtype, device_dtype, shape, status, message;
  std::array<DetailCell, kDetailMetrics> cells;
  std::string unreadable;  // columns whose text is no number, with that text; empty when all are fine

  const DetailCell& cell(DetailMetric metric) const { return cells[static_cast<size_t>(metric)]; }
};

struct DetailsTable {
  std::string path;
  std::vector<DetailRow> rows;       // in the order of the file
  std::vector<std::string> notices;  // what is odd about the file, with lines
};

// io: it cannot be read; format: no header, a column that must be there is missing, or more than 1 GiB, a
// million rows, 10'000 rows of another length than the header, or 1024 cells in a row.
// Columns are found by name, in any order, in Chinese or by the names of the metrics; the first generation of
// the file, which calls the type "NPU Dtype", lacks some and is read all the same.
Result<DetailsTable> read_details(const std::string& path);
Result<DetailsTable> parse_details(const std::string& path, std::string_view text);

}  // namespace ulpscope
