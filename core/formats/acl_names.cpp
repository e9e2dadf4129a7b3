#include "formats/acl_names.hpp"

#include <algorithm>
#include <charconv>

#include "base/file.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMaxMappingBytes = uint64_t{64} << 20;
constexpr size_t kMaxNotes = 20;
constexpr size_t kTimestampDigits = 16;

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// The whole of text as a decimal number of 64 bits.
std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> small_number(std::string_view text) {
  const auto value = number(text);
  if (!value || *value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(*value);
}

}  // namespace

std::optional<AclFileName> parse_acl_name(std::string_view name) {
  AclFileName out;
  constexpr std::string_view kCsv = ".csv";
  if (name.ends_with(kCsv)) {
    out.kind = AclFileKind::statistics;
    name.remove_suffix(kCsv.size());
  }
  const std::vector<std::string_view> fields = split(name, '.');
  if (fields.size() != 4 && fields.size() != 5 && fields.size() != 9) return std::nullopt;
  if (!is_word(fields[0]) || !is_word(fields[1])) return std::nullopt;
  for (size_t i = 2; i < fields.size(); ++i)
    if (!number(fields[i])) return std::nullopt;
  const size_t time = fields.size() == 4 ? 3 : 4;
  out.op_type = fields[0];
  out.op_name = fields[1];
  out.task = *number(fields[2]);
  out.timestamp = *number(fields[time]);
  out.timed = fields[time].size() == kTimestampDigits;
  if (fields.size() > 4) {
    const auto stream = small_number(fields[3]);
    if (!stream) return std::nullopt;
    out.stream = *stream;
  }
  if (fields.size() == 9) {
    const auto context = small_number(fields[6]), thread = small_number(fields[7]);
    if (!context || !thread) return std::nullopt;
    out.sliced = true;
    out.context = *context;
    out.thread = *thread;
  }
  if (out.op_type == "Opdebug" && out.op_name == "Node_OpDebug") out.kind = AclFileKind::overflow;
  return out;
}

bool is_acl_hash(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<AclNameMap> read_acl_mapping(const std::string& root, const std::string& relative) {
  ULPSCOPE_ASSIGN(const File file, File::open_under(root, relative));
  ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMaxMappingBytes));
  AclNameMap map;
  int64_t line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::vector<std::string_view> columns = split(line, ',');
    std::string note;
    if (columns.size() != 2)
      note = "line " + std::to_string(line_number) + ": " + std::to_string(columns.size()) +
             " columns, expected 2: left out";
    else if (const auto [entry, fresh] = map.names.emplace(columns[0], columns[1]);
             !fresh && entry->second != columns[1])
      note = "line " + std::to_string(line_number) + ": another name for " + printable(columns[0]) +
             ": left out";
    if (!note.empty() && map.notes.size() < kMaxNotes) map.notes.push_back(std::move(note));
  }
  return map;
}

std::optional<GoldenName> parse_golden_name(std::string_view stem) {
  const size_t last = stem.rfind('.');
  if (last == std::string_view::npos || last == 0) return std::nullopt;
  const size_t middle = stem.rfind('.', last - 1);
  if (middle == std::string_view::npos || middle == 0) return std::nullopt;
  const auto timestamp = number(stem.substr(last + 1));
  const auto output = number(stem.substr(middle + 1, last - middle - 1));
  if (!timestamp || !output || *output > UINT32_MAX) return std::nullopt;
  return GoldenName{stem.substr(0, middle), static_cast<uint32_t>(*output), *timestamp};
}

}  // namespace ulpscope
