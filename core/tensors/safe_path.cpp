#include "tensors/safe_path.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "base/text.hpp"

namespace ulpscope {
namespace {

bool is_refused(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F || std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos;
}

// Without what a terminal acts on when it lists the name: controls from U+0080 on, marks of the direction.
std::string without_hidden(const std::string& utf8) {
  std::string out;
  for (size_t i = 0; i < utf8.size();) {
    const auto first = static_cast<unsigned char>(utf8[i]);
    const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    const std::string_view letter = std::string_view(utf8).substr(i, length);
    if (length > 1 && printable(letter) != letter)
      out += '_';
    else
      out += letter;
    i += length;
  }
  return out;
}

}  // namespace

std::string safe_component(std::string_view name, size_t limit_bytes) {
  // valid_utf8 first: a cut or a replaced byte must not make two halves of one character.
  std::string out = without_hidden(valid_utf8(name));
  std::replace_if(out.begin(), out.end(), is_refused, '_');
  if (out.empty()) return "_";
  if (out.front() == '.' || out.front() == '-' || out.front() == ' ') out.front() = '_';
  if (out.back() == ' ' || out.back() == '.') out.back() = '_';
  if (out.size() <= limit_bytes) return out;
  const std::string hash = fmt::format("~{:016x}", XXH3_64bits(name.data(), name.size()));
  size_t keep = limit_bytes > hash.size() ? limit_bytes - hash.size() : 0;
  while (keep > 0 && (static_cast<unsigned char>(out[keep]) & 0xC0) == 0x80) --keep;
  return out.substr(0, keep) + hash;
}

std::string safe_relative_path(std::string_view path) {
  std::string out;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (!out.empty()) out += '/';
    out += part == ".." ? "__" : safe_component(part);
  }
  return out.empty() ? "_" : out;
}

std::string UniquePaths::take(const std::string& path) {
  int& number = taken_[path];
  if (++number == 1) return path;
  // The path with a number may itself be somebody's name.
  for (;; ++number) {
    const std::string numbered = path + "-" + std::to_string(number);
    if (taken_.emplace(numbered, 1).second) return numbered;
  }
}

}  // namespace ulpscope
