#include "outputs/csv_outputs.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "outputs/json_outputs.hpp"

namespace ulpscope {

CsvColumns::CsvColumns(const std::vector<std::string>& header) {
  for (size_t i = 0; i < header.size(); ++i) {
    std::string name = to_lower(header[i]);
    const size_t begin = name.find_first_not_of(' ');
    name = begin == std::string::npos ? "" : name.substr(begin, name.find_last_not_of(' ') - begin + 1);
    places_.emplace(std::move(name), i);
  }
}

bool CsvColumns::is_known() const {
  constexpr std::array<std::string_view, 12> kNames = {
      "key",    "queries", "input_token_ids", "output_token_ids", "token_ids", "pass", "passed",
      "prompt", "text",    "output",          "response",         "prediction"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) { return has(name); });
}

std::string_view CsvColumns::cell(const std::vector<std::string>& row, std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() || place->second >= row.size() ? std::string_view() : row[place->second];
}

ModelOutput csv_output(const CsvColumns& columns, const std::vector<std::string>& row) {
  ModelOutput output;
  for (const std::string_view name : {"custom_id", "key", "id"}) {
    const std::string_view cell = columns.cell(row, name);
    if (cell.empty() || output.id_kind != IdKind::none || (name == "id" && is_engine_id(cell))) continue;
    output.id = valid_utf8(cell);
    output.id_kind = name == "custom_id" ? IdKind::custom_id : name == "key" ? IdKind::key : IdKind::id;
  }
  output.request_id = valid_utf8(columns.cell(row, "request_id"));
  for (const std::string_view name : {"queries", "prompt"})
    if (const std::string_view cell = columns.cell(row, name); !cell.empty() && !output.prompt)
      output.prompt = valid_utf8(cell);
  for (const std::string_view name : {"input_token_ids", "prompt_token_ids"})
    if (!output.prompt_ids) output.prompt_ids = printed_integers(columns.cell(row, name));
  for (const std::string_view name : {"output_token_ids", "token_ids"}) {
    auto ids = output.has_tokens ? std::nullopt : printed_integers(columns.cell(row, name));
    if (!ids) continue;
    output.tokens.ids = std::move(*ids);
    output.has_tokens = true;
  }
  for (const std::string_view name : {"text", "output", "response", "prediction"})
    if (const std::string_view cell = columns.cell(row, name); !cell.empty() && !output.text)
      output.text = valid_utf8(cell);
  output.finish = finish_of(columns.cell(row, "finish_reason"));
  if (const auto temperature = parse_double(columns.cell(row, "temperature")))
    output.temperature = temperature;
  return output;
}

}  // namespace ulpscope
