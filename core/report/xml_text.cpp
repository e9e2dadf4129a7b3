#include "report/xml_text.hpp"

#include "base/text.hpp"

namespace ulpscope {

std::string xml_characters(std::string_view text) {
  std::string safe = printable(text);
  // U+FFFE and U+FFFF are EF BF BE and EF BF BF: valid UTF-8 and not valid XML.
  for (size_t at = safe.find("\xEF\xBF"); at != std::string::npos; at = safe.find("\xEF\xBF", at + 2))
    if (at + 2 < safe.size() && (safe[at + 2] == '\xBE' || safe[at + 2] == '\xBF')) safe[at + 2] = '\xBD';
  return safe;
}

void append_xml(std::string& out, std::string_view text) {
  for (const char c : xml_characters(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace ulpscope
