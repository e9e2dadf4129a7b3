// What the data of a page says, for tests: its blocks unpacked.
#pragma once

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ulpscope::test {

inline std::string from_base64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const auto digit =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    REQUIRE(digit != std::string_view::npos);
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 255);
  }
  return out;
}

inline std::string inflated(const std::string& bytes) {
  std::string out(size_t{1} << 20, '\0');
  uLongf size = out.size();
  REQUIRE(::uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
  return out.substr(0, size);
}

// A block of a page by its name.
inline std::string block(const std::string& page, const std::string& name) {
  const std::string start = "id=\"block-" + name + "\">";
  const size_t at = page.find(start);
  REQUIRE(at != std::string::npos);
  const size_t first = at + start.size();
  return inflated(from_base64(std::string_view(page).substr(first, page.find('<', first) - first)));
}

inline nlohmann::json header(const std::string& page) { return nlohmann::json::parse(block(page, "header")); }

}  // namespace ulpscope::test
