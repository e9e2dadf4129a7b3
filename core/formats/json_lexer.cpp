#include "formats/json_lexer.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>

#include "base/text.hpp"
#include "formats/json_scan.hpp"

namespace ulpscope {
namespace {

void append_utf8(std::string& out, uint32_t code) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

constexpr uint32_t kReplacement = 0xfffd;
constexpr std::string_view kCutOff = "the text ends early (an unfinished run?)";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

JsonLexer::JsonLexer(const File& file)
    : file_(&file), buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {
  begin_ = cursor_ = end_ = buffer_.get();
  more_ = true;
  file.advise_sequential();
  if (refill() && std::string_view(begin_, static_cast<size_t>(end_ - begin_)).starts_with(kByteOrderMark))
    cursor_ += kByteOrderMark.size();
}

JsonLexer::JsonLexer(std::string_view text)
    : begin_(text.data()), cursor_(text.data()), end_(text.data() + text.size()) {
  if (text.starts_with(kByteOrderMark)) cursor_ += kByteOrderMark.size();
}

// Moves what is not consumed to the front and fills the rest. False when nothing was added.
bool JsonLexer::refill() {
  if (!more_) return false;
  const auto kept = static_cast<size_t>(end_ - cursor_);
  base_ = position();
  std::memmove(buffer_.get(), cursor_, kept);
  const std::span<char> room(buffer_.get() + kept, kBufferBytes - kept);
  const auto got = file_->read_at(base_ + kept, std::as_writable_bytes(room));
  cursor_ = begin_ = buffer_.get();
  end_ = begin_ + kept;
  more_ = false;
  if (!got.ok()) {
    error_ = got.error();
    return false;
  }
  end_ += *got;
  more_ = *got == room.size();
  return *got > 0;
}

JsonToken JsonLexer::fail(uint64_t at, std::string_view what) {
  if (!error_) error_ = Error{Code::format, "byte " + std::to_string(at) + ": " + std::string(what)};
  return JsonToken::broken;
}

// The next byte that is no white space, not consumed; -1 at the end.
int JsonLexer::skip_space() {
  while (true) {
    if (static_cast<size_t>(end_ - cursor_) < kLookaheadBytes) refill();
    cursor_ = skip_white(cursor_, end_);
    if (cursor_ != end_) return static_cast<unsigned char>(*cursor_);
    if (!more_) return -1;
  }
}

// The same; most of the time there is no white space.
inline int JsonLexer::peek() {
  const bool is_plain = static_cast<size_t>(end_ - cursor_) >= kLookaheadBytes && *cursor_ > ' ';
  return is_plain ? *cursor_ : skip_space();
}

JsonToken JsonLexer::next() {
  while (true) {
    if (error_) return JsonToken::broken;
    const int c = peek();
    token_offset_ = position();
    if (error_) return JsonToken::broken;
    if (c < 0) {
      if (state_ == State::done) return JsonToken::end;
      return fail(token_offset_, token_offset_ == 0 ? "the file is empty" : kCutOff);
    }
    switch (state_) {
      case State::first_value:
        if (c == ']') return close();
        return read_value(c);
      case State::value:
        return read_value(c);
      case State::first_key:
        if (c == '}') return close();
        [[fallthrough]];
      case State::key:
        if (c != '"') return fail(token_offset_, "expected a member name");
        state_ = State::colon;
        return read_text(JsonToken::key);
      case State::colon:
        if (c != ':') return fail(token_offset_, "expected ':'");
        ++cursor_;
        if (cursor_ < end_ && *cursor_ == ' ') ++cursor_;
        state_ = State::value;
        break;
      case State::after_value: {
        const bool object = open_.back() != 0;
        if (c == (object ? '}' : ']')) return close();
        if (c != ',') return fail(token_offset_, object ? "expected ',' or '}'" : "expected ',' or ']'");
        ++cursor_;
        state_ = object ? State::key : State::value;
        break;
      }
      case State::done:
        return fail(token_offset_, "text after the end of the value");
    }
  }
}

JsonToken JsonLexer::read_value(int first) {
  switch (first) {
    case '{':
      return open(true);
    case '[':
      return open(false);
    case '"':
      after_value();
      return read_text(JsonToken::text);
    case 't':
      return literal("true", JsonToken::true_value);
    case 'f':
      return literal("false", JsonToken::false_value);
    case 'n':
      return literal("null", JsonToken::null);
    case 'N':
      return literal("NaN", JsonToken::number);
    case 'I':
      return literal("Infinity", JsonToken::number);
    default:
      return read_number();
  }
}

JsonToken JsonLexer::open(bool object) {
  if (open_.size() >= kMaxDepth)
    return fail(token_offset_, "nested deeper than " + std::to_string(kMaxDepth) + " containers");
  ++cursor_;
  open_.push_back(object ? 1 : 0);
  state_ = object ? State::first_key : State::first_value;
  return object ? JsonToken::begin_object : JsonToken::begin_array;
}

JsonToken JsonLexer::close() {
  ++cursor_;
  const bool object = open_.back() != 0;
  open_.pop_back();
  after_value();
  return object ? JsonToken::end_object : JsonToken::end_array;
}

JsonToken JsonLexer::literal(std::string_view word, JsonToken token) {
  const std::string_view rest(cursor_, static_cast<size_t>(end_ - cursor_));
  if (!rest.starts_with(word)) {
    const bool cut_off = !more_ && rest.size() < word.size() && word.starts_with(rest);
    return fail(token_offset_, cut_off ? kCutOff : "expected a value");
  }
  view_ = rest.substr(0, word.size());
  cursor_ += word.size();
  after_value();
  return token;
}

JsonToken JsonLexer::read_number() {
  if (*cursor_ == '-' && end_ - cursor_ > 1 && cursor_[1] == 'I')
    return literal("-Infinity", JsonToken::number);
  const char* const p = skip_number(cursor_, end_);
  if (p == nullptr) {
    const bool is_cut_off =
        !more_ && (*cursor_ == '-' || is_digit(*cursor_)) && std::all_of(cursor_, end_, [](char c) {
          return is_digit(c) || std::string_view("+-.eE").find(c) != std::string_view::npos;
        });
    return fail(token_offset_, is_cut_off ? kCutOff : "expected a value");
  }
  view_ = {cursor_, static_cast<size_t>(p - cursor_)};
  if (view_.size() > kMaxNumberBytes)
    return fail(token_offset_, "a number of more than " + std::to_string(kMaxNumberBytes) + " characters");
  cursor_ = p;
  after_value();
  return JsonToken::number;
}

JsonToken JsonLexer::read_text(JsonToken token) {
  ++cursor_;
  const char* const p = skip_plain(cursor_, end_);
  const char* readable_end = end_;
  if (p < end_ && *p == '"') {
    view_ = {cursor_, static_cast<size_t>(p - cursor_)};
    cursor_ = p + 1;
  } else {
    if (!read_text_slowly()) return JsonToken::broken;
    view_ = text_;
    readable_end = text_.data() + text_.size();
  }
  if (has_high_byte(view_, readable_end)) {
    text_ = valid_utf8(view_);
    view_ = text_;
  }
  return token;
}

// The rest of a text into text_, piece by piece, past its closing quote.
bool JsonLexer::read_text_slowly() {
  text_.clear();
  while (true) {
    const char* const p = skip_plain(cursor_, end_);
    text_.append(cursor_, p);
    cursor_ = p;
    if (text_.size() > kMaxTextBytes) {
      fail(token_offset_, "a text of more than " + std::to_string(kMaxTextBytes) + " bytes");
      return false;
    }
    if (p == end_) {
      if (refill()) continue;
      fail(position(), kCutOff);
      return false;
    }
    if (*p == '"') {
      ++cursor_;
      return true;
    }
    if (*p != '\\') {
      fail(position(), "a control character in a text");
      return false;
    }
    if (!read_escape()) return false;
  }
}

// One escape sequence at cursor_. Half a surrogate pair, which Python writes for undecodable bytes, becomes
// U+FFFD.
bool JsonLexer::read_escape() {
  constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
  if (end_ - cursor_ < 12) refill();
  const uint64_t start = position();
  const auto bad = [&] {
    // Whether the text ends inside of what could have become an escape.
    const bool is_cut_off = !more_ && std::all_of(cursor_, end_, [](char c) {
      return c == '\\' || c == 'u' || (is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
    });
    fail(start, is_cut_off ? kCutOff : "expected an escape sequence");
    return false;
  };
  if (end_ - cursor_ < 2) return bad();
  const char c = cursor_[1];
  if (const size_t found = kFrom.find(c); found != std::string_view::npos) {
    text_ += kTo[found];
    cursor_ += 2;
    return true;
  }
  if (c != 'u') return bad();
  cursor_ += 2;
  const auto first = read_hex4();
  if (!first) return bad();
  uint32_t code = *first;
  if (code >= 0xd800 && code < 0xdc00 && end_ - cursor_ >= 6 && cursor_[0] == '\\' && cursor_[1] == 'u') {
    const char* const after_first = cursor_;
    cursor_ += 2;
    const auto second = read_hex4();
    if (!second) return bad();
    if (*second >= 0xdc00 && *second < 0xe000)
      code = 0x10000 + ((code - 0xd800) << 10) + (*second - 0xdc00);
    else
      cursor_ = after_first;
  }
  append_utf8(text_, code >= 0xd800 && code < 0xe000 ? kReplacement : code);
  return true;
}

std::optional<uint32_t> JsonLexer::read_hex4() {
  if (end_ - cursor_ < 4) return std::nullopt;
  uint32_t code = 0;
  const auto [end, status] = std::from_chars(cursor_, cursor_ + 4, code, 16);
  if (status != std::errc() || end != cursor_ + 4) return std::nullopt;
  cursor_ += 4;
  return code;
}

double json_double(std::string_view number) {
  if (number == "NaN") return std::numeric_limits<double>::quiet_NaN();
  const bool negative = number.starts_with('-');
  if (number.ends_with("Infinity"))
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (status != std::errc::result_out_of_range) return value;
  // Out of the range of double; a wider type tells which side it left by, beyond that the exponent does.
  long double wide = 0;
  const auto [wide_end, wide_status] = std::from_chars(number.data(), number.data() + number.size(), wide);
  if (wide_status != std::errc::result_out_of_range) return static_cast<double>(wide);
  const size_t exponent = number.find_first_of("eE");
  const bool tiny = exponent != std::string_view::npos ? number.substr(exponent + 1).starts_with('-')
                                                       : number.substr(negative ? 1 : 0).starts_with("0.");
  const double size = tiny ? 0.0 : std::numeric_limits<double>::infinity();
  return negative ? -size : size;
}

std::optional<int64_t> json_int(std::string_view number) { return parse_int(number); }

void append_json_text(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  size_t done = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (kPlain[c]) continue;
    out.append(text, done, i - done);
    done = i + 1;
    out += '\\';
    switch (c) {
      case '"':
        out += '"';
        break;
      case '\\':
        out += '\\';
        break;
      case '\n':
        out += 'n';
        break;
      case '\t':
        out += 't';
        break;
      case '\r':
        out += 'r';
        break;
      default:
        out += "u00";
        out += kHex[c >> 4];
        out += kHex[c & 15];
    }
  }
  out.append(text, done);
  out += '"';
}

}  // namespace ulpscope
