#include "index/dump_level.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "base/file.hpp"
#include "formats/framework_dump_layout.hpp"
#include "formats/json_lexer.hpp"
#include "formats/json_tape.hpp"
#include "index/known_sources.hpp"

namespace ulpscope {
namespace {

// Enough for what stands in front of the records.
constexpr uint64_t kHeadBytes = 64 << 10;
// Longer words are no levels.
constexpr size_t kLongestLevel = 16;

std::optional<std::string> level_in(std::string_view text) {
  JsonLexer lexer(text);
  if (lexer.next() != JsonToken::begin_object) return std::nullopt;
  while (lexer.next() == JsonToken::key) {
    const std::string name(lexer.text());
    const JsonToken value = lexer.next();
    if (name == "data") return std::nullopt;
    if (name == "level" && value == JsonToken::text) {
      const std::string level(lexer.text());
      if (level.empty() || level.size() > kLongestLevel) return std::nullopt;
      return level;
    }
    if (!skip_json_value(lexer, value)) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> level_of_file(const std::string& root, const std::string& relative) {
  const auto file = File::open_under(root, relative, true);
  if (!file.ok()) return std::nullopt;
  std::string text(static_cast<size_t>(std::min(file->size(), kHeadBytes)), '\0');
  const auto got = file->read_at(0, std::as_writable_bytes(std::span(text)));
  return got.ok() ? level_in(std::string_view(text).substr(0, *got)) : std::nullopt;
}

}  // namespace

std::string dump_level(const DumpIndex& index) {
  std::string known(index.level());
  if (!has_api_calls(index.source_name())) return known;
  const auto layout = find_dump_folders(index.path(), {});
  if (!layout.ok()) return known;
  if (!layout->file.empty()) {
    const std::string name = layout->file.substr(layout->file.rfind('/') + 1);
    return level_of_file(layout->root, name).value_or(known);
  }
  if (layout->folders.empty()) return known;
  const std::string folder = layout->folders.front().relative;
  for (const char* name : {"dump.json", "debug.json"})
    if (const auto level = level_of_file(layout->root, folder.empty() ? name : folder + "/" + name))
      return *level;
  return known;
}

}  // namespace ulpscope
