#include "outputs/output_format.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "outputs/csv_outputs.hpp"
#include "outputs/text_window.hpp"
#include "outputs/token_prints.hpp"
#include "precision_compare/csv_rows.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";
constexpr std::string_view kWhite = " \t\r\n";
constexpr size_t kMostLines = 64;  // of a file that are looked at for a line that tells

constexpr std::array<std::pair<std::string_view, OutputFormat>, 6> kWords = {
    {{"json", OutputFormat::json},
     {"stream", OutputFormat::stream},
     {"request_output", OutputFormat::request_output},
     {"print", OutputFormat::print},
     {"csv", OutputFormat::csv},
     {"text", OutputFormat::text}}};

std::string_view without_margin(std::string_view text) {
  const size_t begin = text.find_first_not_of(kWhite);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// "{" or "[" with what JSON has behind it; a log line such as "[rank0] …" is none.
bool begins_json(std::string_view text) {
  text = without_margin(text);
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return false;
  const std::string_view behind = without_margin(text.substr(1));
  if (behind.empty()) return true;
  return text[0] == '{' ? behind[0] == '"' || behind[0] == '}' : behind[0] == '{' || behind[0] == ']';
}

// The first lines of the head that are not empty.
std::vector<std::string_view> lines_of(std::string_view head) {
  std::vector<std::string_view> lines;
  while (!head.empty() && lines.size() < kMostLines) {
    const size_t end = std::min(head.find('\n'), head.size());
    if (!without_margin(head.substr(0, end)).empty()) lines.push_back(head.substr(0, end));
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return lines;
}

// One object a line, or objects over lines. A first line that is cut off is a fault of that line where the
// next one is whole.
Framing framing_of_json(std::string_view head) {
  if (without_margin(head).starts_with('[')) return Framing::objects;
  const std::vector<std::string_view> lines = lines_of(head);
  const size_t looked = std::min<size_t>(lines.size(), 2);
  for (size_t i = 0; i < looked; ++i)
    if (is_balanced_object(lines[i])) return Framing::lines;
  // A line longer than the head.
  return lines.size() == 1 && head.size() > (size_t{1} << 19) ? Framing::lines : Framing::objects;
}

bool begins_csv(std::string_view head) {
  CsvRows rows(head.substr(0, head.find('\n')));
  std::vector<std::string> cells;
  if (!rows.next(cells)) return false;
  const CsvColumns columns(cells);
  return columns.is_known() && (cells.size() > 1 || columns.has("output_token_ids"));
}

enum class LogKind { none, prints, tokens };

// What a log holds: RequestOutputs anywhere, else printed token lists.
Result<LogKind> kind_of_log(const File& file) {
  Diagnostics ignored;
  RecordReader prints(file, Framing::prints, ignored);
  Record record;
  ULPSCOPE_ASSIGN(const bool has_print, prints.next(record));
  if (has_print || ignored.count() > 0) return LogKind::prints;
  RecordReader lines(file, Framing::lines, ignored);
  std::vector<ModelOutput> outputs;
  while (outputs.empty()) {
    ULPSCOPE_ASSIGN(const bool has_line, lines.next(record));
    if (!has_line) return LogKind::none;
    append_token_prints(record.text, outputs);
  }
  return LogKind::tokens;
}

bool is_text_name(const std::string& path) { return path.ends_with(".txt") || path.ends_with(".md"); }

}  // namespace

const std::vector<std::string>& output_format_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> list = {"auto"};
    for (const auto& [word, format] : kWords) list.emplace_back(word);
    return list;
  }();
  return words;
}

std::optional<OutputFormat> output_format_of(std::string_view word) {
  for (const auto& [name, format] : kWords)
    if (name == word) return format;
  return std::nullopt;
}

Result<FileFormat> find_output_format(const File& file, std::optional<OutputFormat> forced) {
  TextWindow window(file);
  window.more();
  if (window.error()) return *window.error();
  std::string_view head = window.rest();
  if (head.starts_with(kMark)) head.remove_prefix(kMark.size());
  if (forced == OutputFormat::json) return FileFormat{*forced, framing_of_json(head)};
  if (forced == OutputFormat::stream || forced == OutputFormat::print)
    return FileFormat{*forced, Framing::lines};
  if (forced == OutputFormat::request_output) return FileFormat{*forced, Framing::prints};
  if (forced == OutputFormat::csv) return FileFormat{*forced, Framing::rows};
  if (forced == OutputFormat::text) return FileFormat{*forced, Framing::whole};
  if (without_margin(head).empty())
    return Error{Code::format, printable(file.path()) + ": the file is empty"};
  if (begins_json(head)) return FileFormat{OutputFormat::json, framing_of_json(head)};
  const std::vector<std::string_view> lines = lines_of(head);
  const auto any_line = [&](auto&& is) { return std::any_of(lines.begin(), lines.end(), is); };
  if (any_line([](std::string_view line) {
        return line.starts_with("data:") && begins_json(line.substr(std::string_view("data:").size()));
      }))
    return FileFormat{OutputFormat::stream, Framing::lines};
  if (begins_csv(head)) return FileFormat{OutputFormat::csv, Framing::rows};
  ULPSCOPE_ASSIGN(const LogKind kind, kind_of_log(file));
  if (kind == LogKind::prints) return FileFormat{OutputFormat::request_output, Framing::prints};
  if (kind == LogKind::tokens) return FileFormat{OutputFormat::print, Framing::lines};
  if (any_line([](std::string_view line) { return begins_json(line) && is_balanced_object(line); }))
    return FileFormat{OutputFormat::json, Framing::lines};
  if (is_text_name(file.path())) return FileFormat{OutputFormat::text, Framing::whole};
  return Error{Code::format, printable(file.path()) +
                                 ": no known format of outputs, expected JSON, data: lines, RequestOutput or "
                                 "token_ids prints, or a CSV table (--input-format text takes any text)"};
}

}  // namespace ulpscope
