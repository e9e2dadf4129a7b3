#include "config_check/secrets.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kLeastBytes = 6, kShownDigits = 8;

constexpr std::array<std::string_view, 7> kWords = {"token",      "key",  "secret", "pass",
                                                    "credential", "auth", "cookie"};
constexpr std::array<std::string_view, 14> kParts = {
    "token",  "key",  "secret",        "secrets",    "pass",        "password", "passwd",
    "apikey", "auth", "authorization", "credential", "credentials", "cookie",   "cookies"};
// What stands before the secret itself in the header of a request.
constexpr std::array<std::string_view, 4> kSchemes = {"bearer", "basic", "token", "digest"};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

// "apiKey", "api-key" and "API_KEY" as api, key.
std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const bool upper = std::isupper(static_cast<unsigned char>(name[i])) != 0;
    const bool after_lower = i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (std::isalnum(static_cast<unsigned char>(name[i])) == 0) {
      parts.emplace_back();
      continue;
    }
    if (upper && after_lower) parts.emplace_back();
    parts.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  std::erase(parts, std::string());
  return parts;
}

bool is_variable_name(std::string_view name) {
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; });
}

// The value that begins at `at`: quoted, or up to a blank, comma or bracket, of "Bearer VALUE" the value. Its
// range without the quotes.
std::pair<size_t, size_t> value_range(std::string_view line, size_t at) {
  if (at < line.size() && (line[at] == '\'' || line[at] == '"')) {
    size_t end = at + 1;
    while (end < line.size() && line[end] != line[at]) end += line[end] == '\\' ? 2 : 1;
    return {at + 1, std::min(end, line.size())};
  }
  size_t end = at;
  constexpr std::string_view kEnds = " \t\r,;)}]'\"|";
  while (end < line.size() && kEnds.find(line[end]) == std::string_view::npos) ++end;
  const std::string word = to_lower(line.substr(at, end - at));
  if (std::find(kSchemes.begin(), kSchemes.end(), word) == kSchemes.end() || end >= line.size() ||
      line[end] != ' ')
    return {at, end};
  for (at = end; at < line.size() && line[at] == ' ';) ++at;
  for (end = at; end < line.size() && kEnds.find(line[end]) == std::string_view::npos;) ++end;
  return {at, end};
}

// Where the value of the name that ends at `at` begins; npos when no value follows.
size_t value_after(std::string_view line, size_t at, bool is_flag) {
  if (at < line.size() && (line[at] == '\'' || line[at] == '"')) ++at;  // the end of a quoted name
  size_t next = at;
  while (next < line.size() && line[next] == ' ') ++next;
  if (next < line.size() && (line[next] == '=' || line[next] == ':')) {
    ++next;
    while (next < line.size() && (line[next] == ' ' || line[next] == '[' || line[next] == '(')) ++next;
    return next;
  }
  return is_flag && next > at ? next : std::string_view::npos;
}

// user:password of "scheme://user:password@host" that begins behind "://"; an empty range when there is none.
std::pair<size_t, size_t> login_range(std::string_view line, size_t at) {
  for (size_t i = at; i < line.size(); ++i) {
    if (line[i] == '@') return {at, i};
    if (line[i] == '/' || line[i] == ' ' || line[i] == '\'' || line[i] == '"') break;
  }
  return {at, at};
}

}  // namespace

bool is_secret_variable(std::string_view name) {
  const std::string lower = to_lower(name);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool is_secret_option(std::string_view name) {
  const std::vector<std::string> parts = parts_of(name);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (std::find(kParts.begin(), kParts.end(), parts[i]) == kParts.end()) continue;
    constexpr std::array<std::string_view, 4> kAlways = {"password", "passwd", "secret", "credential"};
    if (std::find(kAlways.begin(), kAlways.end(), parts[i]) != kAlways.end()) return true;
    // num_key_value_heads, pass_config and eos_token_id speak of other things.
    if (i + 1 != parts.size()) continue;
    // bos_token is one of the model's.
    constexpr std::array<std::string_view, 6> kGrants = {"auth", "access", "hf", "api", "bearer", "refresh"};
    if (parts[i] != "token" || i == 0 ||
        std::find(kGrants.begin(), kGrants.end(), parts[i - 1]) != kGrants.end())
      return true;
  }
  return false;
}

std::string hidden(std::string_view value) {
  return "<hidden:" + sha256_hex(value).substr(0, kShownDigits) + ">";
}

void SecretValues::add(std::string_view value) {
  if (value.size() >= kLeastBytes) values_.emplace(value);
}

std::string SecretValues::hide(std::string text) const {
  for (const std::string& value : values_)
    for (size_t at = text.find(value); at != std::string::npos; at = text.find(value, at)) {
      const std::string shown = hidden(value);
      text.replace(at, value.size(), shown);
      at += shown.size();
    }
  return text;
}

std::string hide_in_line(std::string_view line, SecretValues& seen) {
  std::string out;
  size_t at = 0;
  const auto hide = [&](std::pair<size_t, size_t> range) {
    const std::string_view value = line.substr(range.first, range.second - range.first);
    if (value.empty() || value == "None" || value == "null" || value.starts_with("<hidden:")) return;
    seen.add(value);
    out += line.substr(at, range.first - at);
    out += hidden(value);
    at = range.second;
  };
  size_t i = 0;
  while (i < line.size()) {
    if (line.substr(i).starts_with("://")) {
      hide(login_range(line, i + 3));
      i = std::max(at, i + 3);
      continue;
    }
    if (!is_name(line[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < line.size() && is_name(line[end])) ++end;
    const std::string_view name = line.substr(i, end - i);
    const bool is_flag = name.starts_with("--");
    const bool secret = is_variable_name(name) ? is_secret_variable(name) : is_secret_option(name);
    const size_t value = secret ? value_after(line, end, is_flag) : std::string_view::npos;
    if (value != std::string_view::npos) {
      hide(value_range(line, value));
      end = std::max(end, at);
    }
    i = end;
  }
  out += line.substr(at);
  return out;
}

}  // namespace ulpscope
