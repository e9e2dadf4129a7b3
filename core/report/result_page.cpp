#include "report/result_page.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/json_lexer.hpp"
#include "formats/json_tape.hpp"
#include "report/api_page.hpp"
#include "report/api_result.hpp"
#include "report/locate_page.hpp"

namespace ulpscope {
namespace {

Error no_result(const std::string& path) {
  return {Code::format, printable(path) + ": not a result: expected a JSON object with a schema"};
}

}  // namespace

Result<std::string> result_schema(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  JsonLexer lexer(file);
  if (lexer.next() != JsonToken::begin_object) return no_result(path);
  while (lexer.next() == JsonToken::key) {
    const bool is_schema = lexer.text() == "schema";
    const JsonToken token = lexer.next();
    if (is_schema && token == JsonToken::text) return std::string(lexer.text());
    if (!skip_json_value(lexer, token)) break;
  }
  return no_result(path);
}

bool has_result_page(std::string_view schema) {
  return schema == kCheckSchema || schema == kPrecisionSchema || schema == kLocateSchema;
}

Status write_result_page(const std::string& json_path, const std::string& path, const HtmlOptions& options,
                         ThreadPool* pool) {
  ULPSCOPE_ASSIGN(const std::string schema, result_schema(json_path));
  ULPSCOPE_ASSIGN(const File file, File::open(json_path));
  if (schema == kCheckSchema || schema == kPrecisionSchema) return write_api_page(file, path, options, pool);
  if (schema == kLocateSchema) return write_locate_page(file, path, options, pool);
  return Error{Code::format, printable(json_path) + ": schema '" + printable(schema) +
                                 "', expected one of check, precision_compare and locate"};
}

}  // namespace ulpscope
