#include "formats/acl_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/acl_types.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{256} << 20;
constexpr size_t kMaxNotes = 20, kMaxDims = 32, kMaxColumns = 64;

std::string_view unquoted(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '"')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '"' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

class Columns {
 public:
  explicit Columns(std::string_view header) {
    for (const std::string_view cell : split(header, ',')) names_.push_back(to_lower(unquoted(cell)));
  }
  size_t count() const { return names_.size(); }
  bool has(std::string_view name) const { return place(name) < names_.size(); }
  // The cell under a name; empty where the row or the table has none.
  std::string_view cell(const std::vector<std::string_view>& row, std::string_view name) const {
    const size_t at = place(name);
    return at < row.size() && at < names_.size() ? unquoted(row[at]) : std::string_view();
  }

 private:
  size_t place(std::string_view name) const {
    return static_cast<size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }
  std::vector<std::string> names_;
};

// "4x8"; "-" is a scalar. Nothing for anything else.
std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  if (text == "-" || text.empty()) return shape;
  for (const std::string_view part : split(text, 'x')) {
    const auto dim = parse_int(part);
    if (!dim || *dim < 0 || shape.size() == kMaxDims) return std::nullopt;
    shape.push_back(*dim);
  }
  return shape;
}

void set(ulpscope_stats& stats, uint32_t bit, double& member, std::string_view text) {
  const auto value = parse_double(text);
  if (!value) return;
  member = *value;
  stats.present |= bit;
}

bool counts_any(std::string_view text) { return parse_int(text).value_or(0) > 0; }

// The writer leaves NaN out of the extremes and counts it apart; a tensor with NaN has no extremes.
void put_nonfinite(ulpscope_stats& stats, bool nan, bool positive, bool negative) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (positive) stats.max = kInfinity;
  if (negative) stats.min = -kInfinity;
  if (nan) stats.max = stats.min = std::numeric_limits<double>::quiet_NaN();
  if (positive || nan) stats.present |= ULPSCOPE_STAT_MAX;
  if (negative || nan) stats.present |= ULPSCOPE_STAT_MIN;
}

void read_values(const Columns& columns, const std::vector<std::string_view>& row, ulpscope_stats& stats) {
  // A row of a type without statistics may be one cell short, so that its cells stand under wrong names.
  const bool unknown = std::any_of(row.begin(), row.end(), [](auto cell) { return unquoted(cell) == "NA"; });
  if (unknown && row.size() < columns.count()) return;
  set(stats, ULPSCOPE_STAT_MAX, stats.max, columns.cell(row, "max value"));
  set(stats, ULPSCOPE_STAT_MIN, stats.min, columns.cell(row, "min value"));
  set(stats, ULPSCOPE_STAT_MEAN, stats.mean, columns.cell(row, "avg value"));
  for (const char* name : {"l2norm", "l2norm value"})
    if (columns.has(name)) set(stats, ULPSCOPE_STAT_L2, stats.l2norm, columns.cell(row, name));
  put_nonfinite(stats, counts_any(columns.cell(row, "nan count")),
                counts_any(columns.cell(row, "positive inf count")),
                counts_any(columns.cell(row, "negative inf count")));
}

// Why a row is left out; empty: it is not.
std::string read_row(const Columns& columns, const std::vector<std::string_view>& row, AclStatistic& out) {
  const std::string_view side = columns.cell(row, "input/output");
  if (side != "Input" && side != "Output") return "Input/Output is '" + printable(side) + "'";
  out.part = side == "Input" ? AclPart::input : AclPart::output;
  const auto index = parse_int(columns.cell(row, columns.has("index") ? "index" : "slot"));
  if (!index || *index < 0 || *index > static_cast<int64_t>(kMaxAclTensors)) return "the index is no number";
  out.index = static_cast<uint32_t>(*index);
  const auto shape = parse_shape(columns.cell(row, "shape"));
  if (!shape) return "Shape is '" + printable(columns.cell(row, "shape")) + "', expected a form like 4x8";
  out.shape = *shape;
  out.data_type = acl_type_number(columns.cell(row, "data type")).value_or(-1);
  out.format = acl_format_number(columns.cell(row, "format")).value_or(-1);
  out.op_type = columns.cell(row, "op type");
  out.op_name = columns.cell(row, "op name");
  out.task = static_cast<uint64_t>(parse_int(columns.cell(row, "task id")).value_or(0));
  out.timestamp = static_cast<uint64_t>(parse_int(columns.cell(row, "timestamp")).value_or(0));
  read_values(columns, row, out.stats);
  return {};
}

}  // namespace

Result<AclStatistics> parse_acl_statistics(std::string_view text, std::string_view where) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  AclStatistics out;
  const std::vector<std::string_view> lines = split(text, '\n');
  const Columns columns(lines.empty() ? std::string_view() : lines[0]);
  if (!columns.has("input/output") || !columns.has("data type") || !columns.has("shape") ||
      columns.count() > kMaxColumns)
    return Error{Code::format, std::string(where) +
                                   ": line 1: expected the columns Input/Output, Index, Data Type and Shape"};
  for (size_t i = 1; i < lines.size(); ++i) {
    if (unquoted(lines[i]).empty()) continue;
    AclStatistic row;
    const std::string problem = read_row(columns, split(lines[i], ','), row);
    if (problem.empty())
      out.rows.push_back(std::move(row));
    else if (out.notes.size() < kMaxNotes)
      out.notes.push_back("line " + std::to_string(i + 1) + ": " + problem + ": left out");
  }
  return out;
}

Result<AclStatistics> read_acl_statistics(const std::string& root, const std::string& relative) {
  ULPSCOPE_ASSIGN(const File file, File::open_under(root, relative));
  ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMaxBytes));
  return parse_acl_statistics(text, file.path());
}

}  // namespace ulpscope
