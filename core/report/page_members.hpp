// Members of a page's header as JSON text, each ended by a comma. Used by the pages of check,
// precision-compare and locate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/json_text.hpp"

namespace ulpscope {

inline void add_member(std::string& out, std::string_view name, std::string_view text) {
  out.append("\"").append(name).append("\":");
  append_json_string(out, text);
  out += ',';
}
inline void add_member(std::string& out, std::string_view name, int64_t value) {
  out.append("\"").append(name).append("\":");
  append_json_number(out, value);
  out += ',';
}
inline void add_member(std::string& out, std::string_view name, const std::vector<std::string>& texts) {
  out.append("\"").append(name).append("\":[");
  for (size_t i = 0; i < texts.size(); ++i) {
    out += i == 0 ? "" : ",";
    append_json_string(out, texts[i]);
  }
  out += "],";
}
inline void add_member(std::string& out, std::string_view name, const std::optional<double>& value) {
  if (!value) return;
  out.append("\"").append(name).append("\":");
  append_json_number(out, *value);
  out += ',';
}

}  // namespace ulpscope
