// The fast path of the lexer: whole members and elements at once, as long as they are plain. What is not (an
// escape, an error, the end of the buffer) is left to JsonLexer::next, so that there is one place that
// decides what is wrong with a text. Used by the tape and by what passes over values.
#pragma once

#include <string_view>
#include <utility>

#include "formats/json_lexer.hpp"
#include "formats/json_scan.hpp"

namespace ulpscope {

template <class Visitor>
void JsonLexer::visit_plain_members(size_t outside, Visitor& visitor) {
  const bool is_between =
      state_ == State::after_value || state_ == State::first_key || state_ == State::first_value;
  if (error_ || !is_between) return;
  bool is_first = state_ != State::after_value;
  while (open_.size() > outside && static_cast<size_t>(end_ - cursor_) >= kLookaheadBytes &&
         visitor.has_room()) {
    const bool object = open_.back() != 0;
    const char* p = skip_white(cursor_, end_);
    if (p == end_) return;
    if (*p == (object ? '}' : ']')) {
      cursor_ = p + 1;
      open_.pop_back();
      after_value();
      visitor.close();
      is_first = false;
      continue;
    }
    if (!is_first) {
      if (*p != ',') return;
      p = skip_white(p + 1, end_);
    }
    std::string_view key;
    if (object) {
      if (p == end_ || *p != '"') return;
      const char* const quote = p;
      p = skip_plain_text(p, end_);
      if (p == nullptr) return;
      key = {quote + 1, static_cast<size_t>(p - quote) - 2};
      if (Visitor::kKeepsTexts && has_high_byte(key, end_)) return;
      p = skip_white(p, end_);
      if (p == end_ || *p != ':') return;
      p = skip_white(p + 1, end_);
    }
    if (p == end_) return;
    is_first = *p == '{' || *p == '[';
    if (is_first) {
      if (open_.size() >= kMaxDepth) return;
      visitor.open(key, *p == '{');
      open_.push_back(*p == '{' ? 1 : 0);
      state_ = *p == '{' ? State::first_key : State::first_value;
      cursor_ = p + 1;
      continue;
    }
    JsonToken token = JsonToken::text;
    const char* const value_end = plain_value_end(p, token);
    if (value_end == nullptr) return;
    std::string_view value(p, static_cast<size_t>(value_end - p));
    if (token == JsonToken::text) {
      value = value.substr(1, value.size() - 2);
      if (Visitor::kKeepsTexts && has_high_byte(value, end_)) return;
    }
    visitor.value(key, token, value);
    cursor_ = value_end;
    state_ = State::after_value;
  }
}

// The end of the text, number or word at p, and which token it is; null when it is none, or might go on
// behind the buffer.
inline const char* JsonLexer::plain_value_end(const char* p, JsonToken& token) const {
  if (*p == '"') return skip_plain_text(p, end_);
  token = JsonToken::number;
  if (is_digit(*p) || (*p == '-' && end_ - p > 1 && is_digit(p[1]))) {
    const char* const end = skip_number(p, end_);
    const bool is_whole = end != nullptr && end != end_ && static_cast<size_t>(end - p) <= kMaxNumberBytes;
    return is_whole ? end : nullptr;
  }
  const std::string_view rest(p, static_cast<size_t>(end_ - p));
  for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
    if (rest.starts_with(word)) return p + word.size();
  constexpr std::pair<std::string_view, JsonToken> kWords[] = {
      {"true", JsonToken::true_value}, {"false", JsonToken::false_value}, {"null", JsonToken::null}};
  for (const auto& [word, word_token] : kWords) {
    if (!rest.starts_with(word)) continue;
    token = word_token;
    return p + word.size();
  }
  return nullptr;
}

}  // namespace ulpscope
