#include "config_check/text_inputs.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "config_check/config_value.hpp"

namespace ulpscope {
namespace {

bool is_variable_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

// What a value of export -p or declare -x stands for: "a \"b\"", 'a', $'a\n', or plain.
std::string unquoted(std::string_view value) {
  if (value.starts_with("$'") && value.ends_with("'") && value.size() >= 3) value.remove_prefix(1);
  if (value.size() < 2 || value.front() != value.back() || (value.front() != '"' && value.front() != '\''))
    return std::string(value);
  const bool escapes = value.front() == '"';
  value = value.substr(1, value.size() - 2);
  std::string out;
  for (size_t i = 0; i < value.size(); ++i) {
    if (escapes && value[i] == '\\' && i + 1 < value.size()) ++i;
    out += value[i];
  }
  return out;
}

NamedTexts environment_of_json(const ConfigValue& json) {
  NamedTexts found;
  for (const auto& [name, value] : json.members)
    if (!value.is_null()) found[name] = value.is_text() ? value.text : config_json(value);
  return found;
}

// How many quotes that count a declare line has; a value over several lines ends where they are even.
bool is_open_quote(std::string_view text) {
  char open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && open != '\'') {
      ++i;
    } else if (open != 0) {
      if (text[i] == open) open = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      open = text[i];
    }
  }
  return open != 0;
}

NamedTexts environment_of_lines(const std::vector<std::string_view>& lines) {
  NamedTexts found;
  std::string last;
  bool in_function = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string line(lines[i]);
    if (line.ends_with("\r")) line.pop_back();
    if (in_function) {
      in_function = line != "}";
      continue;
    }
    if (line.starts_with("BASH_FUNC_") || line.find("=() {") != std::string::npos ||
        line.find("=()  {") != std::string::npos) {
      in_function = !trimmed(line).ends_with("}");
      last.clear();
      continue;
    }
    bool declared = false;
    for (const std::string_view word : {"declare -x ", "declare -rx ", "declare -ix ", "export "})
      if (line.starts_with(word)) {
        line.erase(0, word.size());
        declared = true;
        break;
      }
    while (declared && is_open_quote(line) && i + 1 < lines.size()) line += "\n" + std::string(lines[++i]);
    const size_t equals = line.find('=');
    if (equals != std::string::npos && is_variable_name(std::string_view(line).substr(0, equals))) {
      last = line.substr(0, equals);
      const std::string value = line.substr(equals + 1);
      found[last] = declared ? unquoted(value) : value;
    } else if (!declared && !last.empty() && !line.empty()) {
      found[last] += "\n" + line;  // a value over several lines
    }
  }
  return found;
}

// "%2B" as "+".
std::string percent_decoded(std::string_view text) {
  std::string out;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// "git:COMMIT" of git+https://host/name@COMMIT#egg=name.
std::string git_version(std::string_view address) {
  const std::string_view without = address.substr(0, address.find('#'));
  const size_t at = without.rfind('@'), slash = without.rfind('/');
  if (at == std::string_view::npos || (slash != std::string_view::npos && at < slash)) return "git";
  return "git:" + std::string(without.substr(at + 1));
}

// The version in the name of a wheel (name-VERSION-tags.whl) or an archive (name-VERSION.tar.gz).
std::string address_version(std::string_view address) {
  if (address.starts_with("git+")) return git_version(address);
  std::string_view file = address.substr(0, address.find_first_of("#?"));
  const size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  const size_t dash = file.find('-');
  if (dash == std::string_view::npos) return {};
  std::string_view rest = file.substr(dash + 1);
  if (file.ends_with(".whl")) return percent_decoded(rest.substr(0, rest.find('-')));
  for (const std::string_view end : {".tar.gz", ".zip", ".tar.bz2"})
    if (file.ends_with(end)) return percent_decoded(rest.substr(0, rest.size() - end.size()));
  return {};
}

std::string_view first_word(std::string_view text) { return text.substr(0, text.find_first_of(" \t;")); }

void take_package_line(std::string_view line, NamedTexts& found) {
  if (line.starts_with("-e ")) {
    const std::string_view address = trimmed(line.substr(3));
    const size_t egg = address.find("egg=");
    if (egg == std::string_view::npos) return;
    const std::string_view name = address.substr(egg + 4, address.substr(egg + 4).find_first_of("&[ "));
    found[package_name(name)] = git_version(address);
    return;
  }
  if (line.starts_with("-")) return;
  if (const size_t at = line.find(" @ "); at != std::string_view::npos) {
    found[package_name(first_word(line.substr(0, line.find('['))))] =
        address_version(trimmed(line.substr(at + 3)));
    return;
  }
  size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    // A row of the table: name, version and perhaps a path, by blanks.
    const size_t blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos) return;
    found[package_name(line.substr(0, blank))] = std::string(first_word(trimmed(line.substr(blank))));
    return;
  }
  const std::string_view name = trimmed(line.substr(0, std::min(equals, line.find('['))));
  while (equals < line.size() && line[equals] == '=') ++equals;
  found[package_name(name)] = std::string(first_word(trimmed(line.substr(equals))));
}

bool is_table_head(std::string_view line) {
  return line.starts_with("Package ") && line.find("Version") != std::string_view::npos;
}

}  // namespace

NamedTexts parse_environment(std::string_view text) {
  if (trimmed(text).starts_with("{")) {
    const auto json = parse_config_json(text, "");
    if (json.ok()) return environment_of_json(*json);
  }
  if (text.find('\0') == std::string_view::npos) return environment_of_lines(split(text, '\n'));
  NamedTexts found;
  for (const std::string_view entry : split(text, '\0')) {
    const size_t equals = entry.find('=');
    if (equals != std::string_view::npos && is_variable_name(entry.substr(0, equals)))
      found[std::string(entry.substr(0, equals))] = std::string(entry.substr(equals + 1));
  }
  return found;
}

std::string package_name(std::string_view name) {
  std::string out;
  for (const char c : trimmed(name)) {
    const bool separates = c == '-' || c == '_' || c == '.';
    if (separates && !out.empty() && out.back() == '-') continue;
    out += separates ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

NamedTexts parse_packages(std::string_view text) {
  NamedTexts found;
  if (trimmed(text).starts_with("[")) {
    const auto json = parse_config_json(text, "");
    if (json.ok())
      for (const ConfigValue& item : json->items) {
        const ConfigValue *name = item.find("name"), *version = item.find("version");
        if (name != nullptr) found[package_name(name->text)] = version != nullptr ? version->text : "";
      }
    return found;
  }
  for (std::string_view line : split(text, '\n')) {
    line = trimmed(line);
    if (line.empty() || line[0] == '#' || is_table_head(line) || line.starts_with("WARNING") ||
        line.starts_with("[notice]"))
      continue;
    take_package_line(line, found);
  }
  return found;
}

NamedTexts parse_versions(std::string_view text) {
  NamedTexts keys;
  for (const std::string_view line : split(text, '\n')) {
    const size_t separator = line.find_first_of("=:");
    if (separator == std::string_view::npos) continue;
    std::string value(trimmed(line.substr(separator + 1)));
    if (value.size() >= 2 && value.front() == '[' && value.back() == ']')
      value = value.substr(1, value.size() - 2);
    keys.try_emplace(to_lower(trimmed(line.substr(0, separator))), std::move(value));
  }
  NamedTexts found;
  const auto take = [&](std::string_view key, std::string_view name) {
    const auto at = keys.find(key);
    if (at != keys.end() && !at->second.empty()) found.try_emplace(std::string(name), at->second);
  };
  for (const std::string_view name : {"cann", "driver", "atb", "mindie", "atb-models"}) take(name, name);
  take("ascend-mindie", "mindie");
  take("ascend-cann-atb version", "atb");
  take("ascend-cann-atb", "atb");
  take("atb-models version", "atb-models");
  // Toolkit and driver both say "version"; only the toolkit's file has version_dir.
  take("version", keys.count("version_dir") > 0 ? "cann" : "driver");
  return found;
}

}  // namespace ulpscope
