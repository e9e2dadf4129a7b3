#include <string_view>

#include "formats/json_lexer.hpp"
#include "formats/json_scan.hpp"

namespace ulpscope {

void JsonLexer::skip_plain_members(size_t outside) {
  const bool is_between =
      state_ == State::after_value || state_ == State::first_key || state_ == State::first_value;
  if (error_ || !is_between) return;
  bool is_first = state_ != State::after_value;
  while (open_.size() > outside && static_cast<size_t>(end_ - cursor_) >= kLookaheadBytes) {
    const bool object = open_.back() != 0;
    const char* p = skip_white(cursor_, end_);
    if (p == end_) return;
    if (*p == (object ? '}' : ']')) {
      cursor_ = p + 1;
      open_.pop_back();
      after_value();
      is_first = false;
      continue;
    }
    if (!is_first) {
      if (*p != ',') return;
      p = skip_white(p + 1, end_);
    }
    if (object) {
      if (p == end_ || *p != '"' || (p = skip_plain_text(p, end_)) == nullptr) return;
      p = skip_white(p, end_);
      if (p == end_ || *p != ':') return;
      p = skip_white(p + 1, end_);
    }
    if (p == end_) return;
    is_first = *p == '{' || *p == '[';
    if (is_first) {
      if (open_.size() >= kMaxDepth) return;
      open_.push_back(*p == '{' ? 1 : 0);
      state_ = *p == '{' ? State::first_key : State::first_value;
      cursor_ = p + 1;
      continue;
    }
    p = skip_plain_value(p);
    if (p == nullptr) return;
    cursor_ = p;
    state_ = State::after_value;
  }
}

// The end of the text, number or word at p; null when it is none, or might go on behind the buffer.
const char* JsonLexer::skip_plain_value(const char* p) {
  if (*p == '"') return skip_plain_text(p, end_);
  if (is_digit(*p) || (*p == '-' && end_ - p > 1 && is_digit(p[1]))) {
    const char* const end = skip_number(p, end_);
    const bool is_whole = end != nullptr && end != end_ && static_cast<size_t>(end - p) <= kMaxNumberBytes;
    return is_whole ? end : nullptr;
  }
  const std::string_view rest(p, static_cast<size_t>(end_ - p));
  for (const std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"})
    if (rest.starts_with(word)) return p + word.size();
  return nullptr;
}

}  // namespace ulpscope
