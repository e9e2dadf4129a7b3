#include "precision_compare/details_table.hpp"

#include <algorithm>
#include <map>

#include "base/file.hpp"
#include "base/text.hpp"
#include "precision_compare/csv_rows.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;
constexpr size_t kMostNotices = 20;
// A row takes half a kilobyte here, however short it is in the file.
constexpr size_t kMostRows = 1'000'000, kMostOddRows = 10'000;

struct Column {
  std::string_view column, metric;
  bool required;  // in the present generation of the file
};
constexpr Column kColumns[kDetailMetrics] = {{"余弦相似度", "cosine", false},
                                             {"最大绝对误差", "max_abs_error", false},
                                             {"双百指标", "ratio_within_0.01", false},
                                             {"双千指标", "ratio_within_0.001", true},
                                             {"双万指标", "ratio_within_0.0001", false},
                                             {"二进制一致错误率", "binary_error_rate", true},
                                             {"误差均衡性", "error_balance", true},
                                             {"均方根误差", "rmse", true},
                                             {"小值域错误占比", "small_value_error_rate", true},
                                             {"相对误差最大值", "max_relative_error", true},
                                             {"相对误差平均值", "mean_relative_error", true},
                                             {"inf/nan错误率", "inf_nan_error_rate", true},
                                             {"相对误差错误率", "relative_error_rate", true},
                                             {"绝对误差错误率", "absolute_error_rate", true},
                                             {"ULP误差最大值", "max_ulp", false},
                                             {"ULP误差平均值", "mean_ulp", true},
                                             {"ULP误差大于阈值占比", "ulp_over_threshold_rate", true}};

// Without spaces and case, as headers are compared.
std::string plain(std::string_view text) {
  std::string out = to_lower(trimmed(text));
  out.erase(std::remove(out.begin(), out.end(), ' '), out.end());
  return out;
}

class Header {
 public:
  explicit Header(const std::vector<std::string>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) places_.try_emplace(plain(cells[i]), i);
  }
  // Where the first of the names stands; npos when none does.
  size_t find(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names)
      if (const auto found = places_.find(plain(name)); found != places_.end()) return found->second;
    return std::string::npos;
  }

 private:
  std::map<std::string, size_t> places_;
};

struct Places {
  size_t name, bench, device, shape, status, message;
  std::array<size_t, kDetailMetrics> metrics;
};

Result<Places> find_places(const std::string& path, const Header& header) {
  Places at;
  at.name = header.find({"API Name"});
  at.bench = header.find({"Bench Dtype"});
  at.device = header.find({"DEVICE Dtype"});
  const size_t old_device = header.find({"NPU Dtype", "GPU Dtype"});
  const bool first_generation = at.device == std::string::npos && old_device != std::string::npos;
  if (first_generation) at.device = old_device;
  at.shape = header.find({"Shape"});
  at.status = header.find({"Status"});
  at.message = header.find({"Message"});
  std::string missing;
  const auto require = [&](size_t place, std::string_view name) {
    if (place == std::string::npos) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  require(at.name, "API Name");
  require(at.device, "DEVICE Dtype");
  for (size_t i = 0; i < kDetailMetrics; ++i) {
    at.metrics[i] = header.find({kColumns[i].column, kColumns[i].metric});
    if (kColumns[i].metric == "binary_error_rate" && first_generation && at.metrics[i] == std::string::npos)
      at.metrics[i] = header.find({"错误率"});
    if (kColumns[i].required && !first_generation) require(at.metrics[i], kColumns[i].column);
  }
  if (missing.empty()) return at;
  return Error{Code::format,
               path + ":1: columns are missing: " + missing + "; expected a table accuracy_checking_details"};
}

DetailCell read_cell(std::string_view text) {
  const std::string_view value = trimmed(text);
  if (value.empty()) return {};
  const auto number = parse_double(value);
  if (!number) return {DetailCell::Kind::unreadable, 0};
  return {DetailCell::Kind::number, *number};
}

DetailRow read_row(const Places& at, const std::vector<std::string>& cells, int64_t line) {
  const auto text = [&](size_t place) {
    return place < cells.size() ? std::string(trimmed(cells[place])) : std::string();
  };
  DetailRow row;
  row.line = line;
  row.name = text(at.name);
  row.bench_dtype = text(at.bench);
  row.device_dtype = text(at.device);
  row.shape = text(at.shape);
  row.status = text(at.status);
  row.message = text(at.message);
  for (size_t i = 0; i < kDetailMetrics; ++i) {
    if (at.metrics[i] >= cells.size()) continue;
    row.cells[i] = read_cell(cells[at.metrics[i]]);
    if (row.cells[i].kind == DetailCell::Kind::unreadable)
      row.unreadable += (row.unreadable.empty() ? "" : ", ") + std::string(kColumns[i].column) + " '" +
                        printable(trimmed(cells[at.metrics[i]]).substr(0, 64)) + "'";
  }
  return row;
}

// Whether the file is one that a program wrote, in place of one that only fills memory.
Status check_size(const std::string& path, const CsvRows& rows, size_t count, size_t odd) {
  const std::string place = path + ":" + std::to_string(rows.line()) + ": ";
  if (rows.too_wide())
    return Error{Code::format, place + "more than " + std::to_string(CsvRows::kMostCells) +
                                   " cells in a row, expected a table accuracy_checking_details"};
  if (count >= kMostRows)
    return Error{Code::format, place + "more than " + count_text(kMostRows) + " rows, expected at most that"};
  if (odd >= kMostOddRows)
    return Error{Code::format, place + "more than " + count_text(kMostOddRows) +
                                   " rows have another number of cells than the header, expected as many"};
  return {};
}

}  // namespace

std::string_view column_name(DetailMetric metric) { return kColumns[static_cast<size_t>(metric)].column; }
std::string_view metric_name(DetailMetric metric) { return kColumns[static_cast<size_t>(metric)].metric; }

Result<DetailsTable> parse_details(const std::string& path, std::string_view text) {
  CsvRows rows(text);
  std::vector<std::string> cells;
  if (!rows.next(cells)) return Error{Code::format, path + ": the file is empty, expected a header"};
  const size_t width = cells.size();
  ULPSCOPE_ASSIGN(const Places at, find_places(path, Header(cells)));
  DetailsTable table;
  table.path = path;
  size_t odd = 0, nameless = 0;
  while (rows.next(cells)) {
    ULPSCOPE_TRY(check_size(path, rows, table.rows.size(), odd));
    if (cells.size() != width && ++odd <= kMostNotices)
      table.notices.push_back(path + ":" + std::to_string(rows.line()) + ": " + std::to_string(cells.size()) +
                              " cells, the header has " + std::to_string(width));
    DetailRow row = read_row(at, cells, rows.line());
    if (row.name.empty()) {
      if (++nameless <= kMostNotices)
        table.notices.push_back(path + ":" + std::to_string(row.line) +
                                ": a row without an API name is left out");
      continue;
    }
    table.rows.push_back(std::move(row));
  }
  if (nameless > kMostNotices)
    table.notices.push_back(path + ": " + std::to_string(nameless - kMostNotices) +
                            " more rows without an API name are left out");
  if (odd > kMostNotices)
    table.notices.push_back(path + ": " + std::to_string(odd - kMostNotices) +
                            " more rows of another length");
  if (rows.unclosed())
    return Error{Code::format, path + ":" + std::to_string(rows.line()) + ": a quoted cell does not end"};
  return table;
}

Result<DetailsTable> read_details(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMostBytes));
  return parse_details(path, text);
}

}  // namespace ulpscope
