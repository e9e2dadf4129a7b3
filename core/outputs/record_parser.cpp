#include "outputs/record_parser.hpp"

#include "base/text.hpp"
#include "outputs/python_repr.hpp"
#include "outputs/text_window.hpp"
#include "outputs/token_prints.hpp"
#include "precision_compare/csv_rows.hpp"

namespace ulpscope {
namespace {

// What the lexer says of the text alone, without the padding behind it.
Error error_of(std::string_view text) {
  JsonLexer lexer(text);
  while (true) {
    const JsonToken token = lexer.next();
    if (token == JsonToken::broken) return lexer.error();
    if (token == JsonToken::end) return {Code::format, "expected one JSON object"};
  }
}

}  // namespace

Status read_json_record(std::string_view text, JsonTape& tape) {
  JsonLexer lexer(std::string_view(text.data(), text.size() + TextWindow::kPaddingBytes));
  switch (tape.read(lexer)) {
    case JsonRead::too_deep:
      return Error{Code::format,
                   "nested deeper than " + std::to_string(JsonTape::kMaxDepth) + " objects and lists"};
    case JsonRead::too_large:
      return Error{Code::format, "expected at most " + std::to_string(JsonTape::kMaxNodes) + " values"};
    case JsonRead::broken:
      return error_of(text);
    case JsonRead::ok:
      break;
  }
  // The next token is behind the record, wherever that is.
  lexer.next();
  const size_t size = static_cast<size_t>(trimmed(text).end() - text.begin());
  if (lexer.offset() < size || !tape.is(0, JsonKind::object)) return error_of(text);
  return {};
}

std::string padded(std::string_view text) {
  std::string copy;
  copy.reserve(text.size() + TextWindow::kPaddingBytes);
  copy += text;
  copy.append(TextWindow::kPaddingBytes, '\0');
  return copy;
}

std::string_view stream_data(std::string_view line) {
  constexpr std::string_view kData = "data:";
  line = trimmed(line);
  return line.starts_with(kData) ? trimmed(line.substr(kData.size())) : std::string_view();
}

Status RecordParser::append(std::string_view text, std::vector<ModelOutput>& outputs) {
  switch (format_) {
    case OutputFormat::json:
      ULPSCOPE_TRY(read_json_record(text, tape_));
      append_json_outputs(tape_, 0, detail_, outputs);
      return {};
    case OutputFormat::stream:
      return append_stream(text, outputs);
    case OutputFormat::request_output:
      return append_print(text, outputs);
    case OutputFormat::print:
      append_token_prints(text, outputs);
      return {};
    case OutputFormat::csv: {
      CsvRows rows(text);
      std::vector<std::string> cells;
      if (!rows.next(cells)) return {};
      if (rows.unclosed()) return Error{Code::format, "a quoted cell is not closed"};
      ModelOutput output = csv_output(columns_, cells);
      if (output.has_tokens || output.text) outputs.push_back(std::move(output));
      return {};
    }
    case OutputFormat::text:
      outputs.emplace_back().text = valid_utf8(text);
      return {};
  }
  return {};
}

Status RecordParser::append_stream(std::string_view line, std::vector<ModelOutput>& outputs) {
  const std::string_view data = stream_data(line);
  if (!data.starts_with('{')) return {};  // comments, events and [DONE]
  ULPSCOPE_TRY(read_json_record(data, tape_));
  append_json_outputs(tape_, 0, detail_, outputs);
  return {};
}

Status RecordParser::append_print(std::string_view repr, std::vector<ModelOutput>& outputs) {
  ULPSCOPE_ASSIGN(const std::string json, json_of_repr(repr));
  const std::string text = padded(json);
  ULPSCOPE_TRY(read_json_record(std::string_view(text).substr(0, json.size()), tape_));
  append_json_outputs(tape_, 0, detail_, outputs);
  return {};
}

}  // namespace ulpscope
