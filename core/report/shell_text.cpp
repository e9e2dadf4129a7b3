#include "report/shell_text.hpp"

#include "base/text.hpp"

namespace ulpscope {
namespace {

// What stands between two single quotes, with the quotes. A backslash there is one, and in $'…' is two.
std::string quoted(std::string_view inside) {
  const std::string shown = printable(inside);
  if (shown == inside) return "'" + shown + "'";
  std::string text = "$'";
  for (size_t at = 0;; ++at) {
    const size_t end = inside.find('\\', at);
    text += printable(inside.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return text + "'";
    text += "\\\\";
    at = end;
  }
}

}  // namespace

std::string pasteable(std::string_view command) {
  std::string text;
  while (!command.empty()) {
    const size_t open = command.find('\'');
    const size_t close = open == std::string_view::npos ? open : command.find('\'', open + 1);
    const bool is_escaped = open != std::string_view::npos && open > 0 && command[open - 1] == '\\';
    if (is_escaped) {
      text += printable(command.substr(0, open + 1));
      command.remove_prefix(open + 1);
      continue;
    }
    if (close == std::string_view::npos) return text + printable(command);
    text += printable(command.substr(0, open)) + quoted(command.substr(open + 1, close - open - 1));
    command.remove_prefix(close + 1);
  }
  return text;
}

}  // namespace ulpscope
