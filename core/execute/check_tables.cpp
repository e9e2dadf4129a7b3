#include "execute/check_tables.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "precision_compare/csv_rows.hpp"
#include "precision_compare/output_name.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";
constexpr std::string_view kResultHeader = "API Name,Forward Test Success,Backward Test Success,Message\r\n";
constexpr std::string_view kDetailsHeader =
    "API Name,Bench Dtype,DEVICE Dtype,Shape,余弦相似度,最大绝对误差,双百指标,双千指标,双万指标,"
    "二进制一致错误率,误差均衡性,均方根误差,小值域错误占比,相对误差最大值,相对误差平均值,inf/nan错误率,"
    "相对误差错误率,绝对误差错误率,ULP误差最大值,ULP误差平均值,ULP误差大于阈值占比,Status,Message\r\n";
constexpr std::string_view kResultWord = "accuracy_checking_result_",
                           kDetailsWord = "accuracy_checking_details_";
constexpr size_t kTimeDigits = 14;
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

std::string failure_text(const std::string& path) {
  return path + ": " + std::generic_category().message(errno);
}

// One line, quoted where it must be; nothing is one blank.
std::string cell(std::string_view given) {
  if (given.empty()) return " ";
  std::string text = valid_utf8(given);
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  if (std::string_view("=+-@").find(text[0]) != std::string_view::npos) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string number_cell(const std::optional<double>& value, int digits) {
  if (!value) return " ";
  if (std::isnan(*value)) return "nan";
  if (std::isinf(*value)) return *value > 0 ? "inf" : "-inf";
  return fmt::format("{:.{}f}", *value, digits);
}

Status write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Error{Code::io, failure_text(path)};
    text.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// The API of a row of the details.
std::string id_of_row(const std::string& row_name) {
  const auto parsed = parse_output_name(row_name);
  return parsed ? parsed->id : row_name;
}

Result<std::string> read_whole(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  return file.read_text(kMostBytes);
}

// Puts text in the place of the file, under a temporary name first.
Status replace(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".part";
  ::unlink(temporary.c_str());  // of a run that was stopped
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return Error{Code::io, failure_text(temporary)};
  Status status = write_all(fd, text, temporary);
  ::close(fd);
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = Error{Code::io, failure_text(path)};
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

// The records of a CSV text, each with its line end.
std::vector<std::string_view> records(std::string_view text) {
  std::vector<std::string_view> out;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] != '\n' || quoted) continue;
    out.push_back(text.substr(begin, i + 1 - begin));
    begin = i + 1;
  }
  return out;
}

std::string first_cell(std::string_view record) {
  CsvRows rows(record);
  std::vector<std::string> cells;
  return rows.next(cells) && !cells.empty() ? cells[0] : std::string();
}

}  // namespace

size_t whole_records(std::string_view text) {
  size_t bytes = 0;
  for (const std::string_view record : records(text)) bytes += record.size();
  return bytes;
}

CheckTables::CheckTables(std::string result_path, std::string details_path, std::string time, int digits)
    : result_path_(std::move(result_path)),
      details_path_(std::move(details_path)),
      time_(std::move(time)),
      digits_(digits) {}

CheckTables::CheckTables(CheckTables&& other) noexcept
    : result_path_(std::move(other.result_path_)),
      details_path_(std::move(other.details_path_)),
      time_(std::move(other.time_)),
      digits_(other.digits_),
      result_fd_(std::exchange(other.result_fd_, -1)),
      details_fd_(std::exchange(other.details_fd_, -1)),
      done_(std::move(other.done_)) {}

CheckTables::~CheckTables() {
  if (result_fd_ >= 0) ::close(result_fd_);
  if (details_fd_ >= 0) ::close(details_fd_);
}

Status CheckTables::open(bool fresh) {
  const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (fresh ? O_CREAT | O_EXCL : 0);
  result_fd_ = ::open(result_path_.c_str(), flags, 0644);
  if (result_fd_ < 0) return Error{Code::io, failure_text(result_path_)};
  details_fd_ = ::open(details_path_.c_str(), flags, 0644);
  if (details_fd_ < 0) return Error{Code::io, failure_text(details_path_)};
  return {};
}

Result<CheckTables> CheckTables::create(const std::string& folder, const std::string& time, int digits) {
  CheckTables tables(folder + "/" + std::string(kResultWord) + time + ".csv",
                     folder + "/" + std::string(kDetailsWord) + time + ".csv", time, digits);
  ULPSCOPE_TRY(tables.open(true));
  ULPSCOPE_TRY(
      write_all(tables.result_fd_, std::string(kMark) + std::string(kResultHeader), tables.result_path_));
  ULPSCOPE_TRY(
      write_all(tables.details_fd_, std::string(kMark) + std::string(kDetailsHeader), tables.details_path_));
  return tables;
}

Result<CheckTables> CheckTables::resume(const std::string& result_path, int digits) {
  const std::filesystem::path path(result_path);
  const std::string name = path.filename().string();
  const std::string time = name.size() > kResultWord.size() + 4
                               ? name.substr(kResultWord.size(), name.size() - kResultWord.size() - 4)
                               : "";
  if (!name.starts_with(kResultWord) || !name.ends_with(".csv") || time.size() != kTimeDigits ||
      time.find_first_not_of("0123456789") != std::string::npos)
    return Error{Code::usage, "option --result-csv-path: '" + printable(name) +
                                  "', expected a file accuracy_checking_result_<14 digits>.csv"};
  CheckTables tables(result_path, (path.parent_path() / (std::string(kDetailsWord) + time + ".csv")).string(),
                     time, digits);
  ULPSCOPE_ASSIGN(const std::string results, read_whole(result_path));
  ULPSCOPE_ASSIGN(const std::string details, read_whole(tables.details_path_));
  const std::string_view whole = std::string_view(results).substr(0, whole_records(results));
  bool header = true;
  for (const std::string_view record : records(whole)) {
    if (!std::exchange(header, false)) tables.done_.insert(first_cell(record));
  }
  if (whole.size() != results.size()) ULPSCOPE_TRY(replace(result_path, whole));
  std::string kept;
  header = true;
  for (const std::string_view record : records(details))
    if (std::exchange(header, false) || tables.is_done(id_of_row(first_cell(record)))) kept += record;
  if (kept.size() != details.size()) ULPSCOPE_TRY(replace(tables.details_path_, kept));
  ULPSCOPE_TRY(tables.open(false));
  return tables;
}

Status CheckTables::append(const CheckReport& report) {
  std::string rows;
  for (const CheckOutput& output : report.outputs) {
    // As in msprobe, a dropout has no row: the number of its zeros is none of the metrics.
    if (output.algorithm == "dropout") continue;
    rows += cell(output.name) + "," + cell(output.bench_dtype) + "," + cell(output.device_dtype) + "," +
            cell(output.shape);
    for (const auto& value : output.cells) rows += "," + number_cell(value, digits_);
    rows += "," + std::string(to_text(output.status)) + "," + cell(output.message) + "\r\n";
  }
  ULPSCOPE_TRY(write_all(details_fd_, rows, details_path_));
  std::string line = cell(report.api) + "," + std::string(to_text(report.forward)) + "," +
                     std::string(to_text(report.backward));
  const bool skipped = report.forward == OutputStatus::skip || report.backward == OutputStatus::skip;
  if (skipped || !report.message.empty()) line += "," + cell(report.message);
  return write_all(result_fd_, line + "\r\n", result_path_);
}

Status CheckTables::read_done(const std::function<void(const CheckReport&)>& visit) const {
  ULPSCOPE_ASSIGN(const DetailsTable details, read_details(details_path_));
  std::map<std::string, std::vector<const DetailRow*>> by_id;
  for (const DetailRow& row : details.rows) by_id[id_of_row(row.name)].push_back(&row);
  ULPSCOPE_ASSIGN(const std::string results, read_whole(result_path_));
  CsvRows rows(results);
  std::vector<std::string> cells;
  rows.next(cells);
  while (rows.next(cells)) {
    CheckReport report;
    report.api = cells[0];
    if (cells.size() > 1) report.forward = output_status(cells[1]);
    if (cells.size() > 2) report.backward = output_status(cells[2]);
    if (cells.size() > 3 && cells[3] != " ") report.message = cells[3];
    for (const DetailRow* row : by_id[report.api]) {
      CheckOutput output;
      output.name = row->name;
      output.bench_dtype = row->bench_dtype;
      output.device_dtype = row->device_dtype;
      output.shape = row->shape;
      output.status = output_status(row->status);
      output.message = row->message;
      for (size_t i = 0; i < kDetailMetrics; ++i)
        if (row->cells[i].kind == DetailCell::Kind::number) output.cells[i] = row->cells[i].value;
      report.outputs.push_back(std::move(output));
    }
    visit(report);
  }
  return {};
}

}  // namespace ulpscope
