#include "formats/atb_statistics.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/text.hpp"
#include "formats/atb_codes.hpp"
#include "formats/atb_container.hpp"
#include "formats/atb_names.hpp"

namespace ulpscope {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;
constexpr size_t kMaxLineBytes = 64 * 1024;
constexpr std::string_view kHeader = "Device and PID,Execution Count,Op Name,";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr size_t kColumns = 15, kLeastColumns = 11;
constexpr size_t kOpName = 2, kOpId = 4, kDirection = 5, kIndex = 6;

// Lines of a file, through one buffer. A line longer than the limit is given as its beginning, marked.
class Lines {
 public:
  explicit Lines(const File& file) : file_(file) {}

  // False at the end of the file or when reading failed; status() tells which.
  bool next() {
    line_.clear();
    too_long_ = false;
    bool any = false;
    for (;;) {
      if (at_ == buffer_.size() && !refill()) break;
      any = true;
      const std::string_view rest = std::string_view(buffer_).substr(at_);
      const size_t end = rest.find('\n');
      take(rest.substr(0, end));
      at_ += std::min(end, rest.size());
      if (end == std::string_view::npos) continue;
      ++at_;
      break;
    }
    if (!any) return false;
    if (line_.ends_with('\r')) line_.pop_back();
    ++number_;
    return true;
  }
  std::string_view line() const { return line_; }
  int64_t number() const { return number_; }
  bool too_long() const { return too_long_; }
  const Status& status() const { return status_; }

 private:
  bool refill() {
    if (offset_ >= file_.size()) return false;
    buffer_.resize(kBufferBytes);
    const auto got = file_.read_at(offset_, std::as_writable_bytes(std::span(buffer_)));
    if (!got.ok()) status_ = got.error();
    buffer_.resize(got.ok() ? *got : 0);
    offset_ = buffer_.empty() ? file_.size() : offset_ + buffer_.size();
    at_ = 0;
    return !buffer_.empty();
  }

  void take(std::string_view part) {
    too_long_ |= line_.size() + part.size() > kMaxLineBytes;
    if (!too_long_) line_ += part;
  }

  const File& file_;
  std::string buffer_, line_;
  size_t at_ = 0;
  uint64_t offset_ = 0;
  int64_t number_ = 0;
  bool too_long_ = false;
  Status status_;
};

std::string_view without_mark(std::string_view line) {
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  return line;
}

// "2_0" and "Prefill_layer/Attention" as "2_Prefill_layer/0_Attention"; nothing when their depths differ.
std::optional<std::string> op_path(std::string_view names, std::string_view ids) {
  const auto name_parts = split(names, '/'), id_parts = split(ids, '_');
  if (name_parts.size() != id_parts.size()) return std::nullopt;
  std::string path;
  for (size_t i = 0; i < name_parts.size(); ++i) {
    if (name_parts[i].empty() || !parse_atb_number(id_parts[i])) return std::nullopt;
    if (!path.empty()) path += '/';
    path.append(id_parts[i]).append("_").append(name_parts[i]);
  }
  return path;
}

bool is_dtype_name(std::string_view cell) {
  return atb_dtype(cell) != nullptr || cell.starts_with("undefined(");
}

// The column of the dtype. A parameter name may hold commas, which push all later columns to the right.
std::optional<size_t> dtype_column(const std::vector<std::string_view>& cells) {
  for (size_t i = kIndex + 1; i + 3 < cells.size(); ++i)
    if (is_dtype_name(cells[i])) return i;
  return std::nullopt;
}

std::optional<double> statistic(std::string_view cell) {
  if (cell == "-nan") return std::numeric_limits<double>::quiet_NaN();
  return parse_double(cell);
}

// Max, Min, Mean and Norm. A tensor without one comparable element prints the lowest number as Max and the
// highest as Min: these are no values.
ulpscope_stats statistics(std::span<const std::string_view> cells) {
  ulpscope_stats stats = {};
  const std::array<std::pair<uint32_t, double*>, 4> members = {{{ULPSCOPE_STAT_MAX, &stats.max},
                                                                {ULPSCOPE_STAT_MIN, &stats.min},
                                                                {ULPSCOPE_STAT_MEAN, &stats.mean},
                                                                {ULPSCOPE_STAT_L2, &stats.l2norm}}};
  for (size_t i = 0; i < members.size(); ++i) {
    const auto number = statistic(cells[i]);
    if (!number) continue;
    stats.present |= members[i].first;
    *members[i].second = *number;
  }
  constexpr uint32_t kExtremes = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN;
  if ((stats.present & kExtremes) == kExtremes && stats.max < stats.min) {
    stats.present &= ~kExtremes;
    stats.max = stats.min = 0;
  }
  return stats;
}

// The row of a line; an error says why there is none. without_statistics is set where only they are lost.
Result<AtbStatisticsRow> parse_row(std::string_view line, bool& without_statistics) {
  const std::vector<std::string_view> cells = split(line, ',');
  const auto wrong = [](const std::string& what) { return Error{Code::format, what}; };
  if (cells.size() < kLeastColumns)
    return wrong(std::to_string(cells.size()) + " cells, expected " + std::to_string(kColumns));
  AtbStatisticsRow row;
  auto path = op_path(cells[kOpName], cells[kOpId]);
  if (!path) return wrong("Op Name and Op Id do not fit together, expected as many names as ids");
  row.op_path = std::move(*path);
  row.is_output = cells[kDirection] == "output";
  if (!row.is_output && cells[kDirection] != "input")
    return wrong("Input/Output is \"" + printable(cells[kDirection].substr(0, 40)) +
                 "\", expected input or output");
  const size_t dtype = cells.size() > kColumns ? dtype_column(cells).value_or(kIndex + 1) : kIndex + 1;
  const auto index = parse_atb_index(cells[kIndex]);
  if (!index)
    return wrong("Index is \"" + printable(cells[kIndex].substr(0, 40)) + "\", expected a number first");
  row.index = index->index;
  row.label = index->label;
  for (size_t i = kIndex + 1; i < dtype; ++i) row.label.append(",").append(cells[i]);
  row.dtype = cells[dtype];
  row.format = cells[dtype + 1];
  if (auto shape = parse_atb_dims(cells[dtype + 2], 'x'); shape.ok()) row.shape = std::move(shape).value();
  row.names_file = cells.back() != "N/A";
  const size_t first = dtype + 3;
  without_statistics = cells.size() < kColumns || cells.size() < first + 5 || cells[first].starts_with('(');
  if (!without_statistics) row.stats = statistics(std::span(cells).subspan(first, 4));
  return row;
}

}  // namespace

Status read_atb_statistics(const File& file, const AtbStatisticsSink& sink) {
  Lines lines(file);
  while (lines.next()) {
    const std::string_view line = lines.number() == 1 ? without_mark(lines.line()) : lines.line();
    if (lines.too_long()) {
      sink.on_bad_row(lines.number(), "longer than 64 KiB");
      continue;
    }
    const bool is_header = line.starts_with(kHeader);
    if (lines.number() == 1 && !is_header)
      return Error{Code::format, "line 1: expected the columns \"" + std::string(kHeader) + "…\""};
    if (is_header || line.empty()) continue;
    bool without_statistics = false;
    const auto row = parse_row(line, without_statistics);
    if (!row.ok()) {
      sink.on_bad_row(lines.number(), row.error().message);
      continue;
    }
    if (without_statistics) sink.on_bad_row(lines.number(), "no statistics can be read from it");
    sink.on_row(*row);
  }
  if (lines.status().ok() && file.size() == 0)
    return Error{Code::format, "the file is empty, expected the columns \"" + std::string(kHeader) + "…\""};
  return lines.status();
}

bool is_atb_statistics(const File& file) {
  std::array<std::byte, 64> head;
  const auto got = file.read_at(0, head);
  return got.ok() && without_mark({reinterpret_cast<const char*>(head.data()), *got}).starts_with(kHeader);
}

}  // namespace ulpscope
