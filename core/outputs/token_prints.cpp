#include "outputs/token_prints.hpp"

#include <optional>
#include <string>

#include "outputs/json_outputs.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kName = "token_ids";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The line without ESC [ … m and its kin.
std::string without_colours(std::string_view line) {
  std::string plain;
  plain.reserve(line.size());
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      plain += line[i];
      continue;
    }
    if (i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && !(line[i] >= '@' && line[i] <= '~')) ++i;
    }
  }
  return plain;
}

// The list behind a name: quotes, blanks, one of ':' and '=', then the list. Its end is set.
std::optional<std::vector<int64_t>> list_behind(std::string_view line, size_t at, size_t& end) {
  const auto skip = [&](std::string_view set) {
    while (at < line.size() && set.find(line[at]) != std::string_view::npos) ++at;
  };
  skip("'\"");
  skip(" \t");
  if (at >= line.size() || (line[at] != ':' && line[at] != '=')) return std::nullopt;
  ++at;
  skip(" \t");
  constexpr std::string_view kArray = "array(";
  const size_t begin = at;
  const bool is_array = line.substr(at).starts_with(kArray);
  if (is_array) {
    at += kArray.size();
    skip("'\"abcdefghijklmnopqrstuvwxyzBHILQ, ");  // the type
  }
  if (at >= line.size() || (line[at] != '[' && (is_array || line[at] != '('))) return std::nullopt;
  const char close = line[at] == '[' ? ']' : ')';
  // Not further than numbers go: a line may hold many lists that do not end.
  ++at;
  skip("0123456789-, \t");
  if (at >= line.size() || line[at] != close) return std::nullopt;
  ++at;
  if (is_array) {
    if (at >= line.size() || line[at] != ')') return std::nullopt;
    ++at;
  }
  end = at;
  return printed_integers(line.substr(begin, end - begin));
}

}  // namespace

void append_token_prints(std::string_view line, std::vector<ModelOutput>& outputs) {
  if (line.find(kName) == std::string_view::npos) return;
  const std::string plain = without_colours(line);
  const std::string_view text = plain;
  std::optional<std::vector<int64_t>> prompt;
  for (size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at)) {
    size_t begin = at;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    const std::string_view name = text.substr(begin, at + kName.size() - begin);
    at += kName.size();
    size_t end = at;
    auto ids = list_behind(text, at, end);
    if (!ids) continue;
    at = end;
    if (name == "prompt_token_ids" || name == "input_token_ids") {
      prompt = std::move(ids);
    } else if (name == kName || name == "output_token_ids") {
      ModelOutput& output = outputs.emplace_back();
      output.tokens.ids = std::move(*ids);
      output.has_tokens = true;
      output.prompt_ids = std::move(prompt);
      prompt.reset();
    }
  }
}

}  // namespace ulpscope
