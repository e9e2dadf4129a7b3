#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "formats/json_lexer.hpp"
#include "formats/json_scan.hpp"
#include "formats/json_tape.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

// The message with which reading the text ends; empty when it is good.
std::string message_of(std::string_view text) {
  JsonLexer lexer(text);
  JsonToken token = lexer.next();
  while (token != JsonToken::end && token != JsonToken::broken) token = lexer.next();
  return token == JsonToken::broken ? lexer.error().message : std::string();
}

std::string text_of(std::string_view json) {
  JsonLexer lexer(json);
  return lexer.next() == JsonToken::text ? std::string(lexer.text()) : "no text";
}

}  // namespace

TEST_CASE("json: tokens come in order with their texts") {
  JsonLexer lexer(R"({"a": [1, -2.5e3, true, false, null], "b": {}, "c": "x"})");
  using enum JsonToken;
  const std::vector<std::pair<JsonToken, std::string>> expected = {
      {begin_object, ""}, {key, "a"},        {begin_array, ""}, {number, "1"},          {number, "-2.5e3"},
      {true_value, ""},   {false_value, ""}, {null, ""},        {end_array, ""},        {key, "b"},
      {begin_object, ""}, {end_object, ""},  {key, "c"},        {JsonToken::text, "x"}, {end_object, ""},
      {end, ""}};
  for (const auto& entry : expected) {
    const auto& token = entry.first;
    const auto& text = entry.second;
    CAPTURE(text);
    CHECK(lexer.next() == token);
    if (!text.empty()) CHECK(lexer.text() == text);
  }
}

TEST_CASE("json: the bare tokens of Python are numbers") {
  JsonLexer lexer("[NaN, Infinity, -Infinity]");
  CHECK(lexer.next() == JsonToken::begin_array);
  CHECK(lexer.next() == JsonToken::number);
  CHECK(std::isnan(json_double(lexer.text())));
  CHECK(lexer.next() == JsonToken::number);
  CHECK(json_double(lexer.text()) == std::numeric_limits<double>::infinity());
  CHECK(lexer.next() == JsonToken::number);
  CHECK(json_double(lexer.text()) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("json: numbers beyond double go to infinity or to zero, with their sign") {
  CHECK(json_double("1e400") == std::numeric_limits<double>::infinity());
  CHECK(json_double("-1e400") == -std::numeric_limits<double>::infinity());
  CHECK(json_double("1" + std::string(400, '0')) == std::numeric_limits<double>::infinity());
  CHECK(json_double("1e99999") == std::numeric_limits<double>::infinity());
  CHECK(json_double("1e-400") == 0.0);
  CHECK(json_double("1e-99999") == 0.0);
  CHECK(std::signbit(json_double("-1e-99999")));
  CHECK(json_double("0.00001e400") == std::numeric_limits<double>::infinity());
  CHECK(json_double("4.9e-324") == 4.9e-324);
  CHECK(json_double("18446744073709551616") == 18446744073709551616.0);
  CHECK(json_int("9223372036854775807") == std::numeric_limits<int64_t>::max());
  CHECK_FALSE(json_int("9223372036854775808").has_value());
}

TEST_CASE("json: escapes become UTF-8, half a surrogate pair a replacement") {
  CHECK(text_of(R"("a\n\t\"\\\/\b\f\r")") == "a\n\t\"\\/\b\f\r");
  CHECK(text_of(R"("\u00e9\u4e2d\ud83d\ude00")") == "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
  CHECK(text_of(R"("\ud800x")") == "\xef\xbf\xbdx");
  CHECK(text_of(R"("\ud800\u0041")") ==
        "\xef\xbf\xbd"
        "A");
  CHECK(text_of("\"\xff\"") == "\xef\xbf\xbd");
}

TEST_CASE("json: what is not JSON is refused with its byte") {
  CHECK(message_of("") == "byte 0: the file is empty");
  CHECK(message_of("  {\"a\": 1") == "byte 9: the text ends early (an unfinished run?)");
  CHECK(message_of("{\"a\" 1}") == "byte 5: expected ':'");
  CHECK(message_of("{\"a\": 1 \"b\"}") == "byte 8: expected ',' or '}'");
  CHECK(message_of("[1 2]") == "byte 3: expected ',' or ']'");
  CHECK(message_of("{1: 2}") == "byte 1: expected a member name");
  CHECK(message_of("{\"a\": 1,}") == "byte 8: expected a member name");
  CHECK(message_of("[1,]") == "byte 3: expected a value");
  CHECK(message_of("[01]") == "byte 1: expected a value");
  CHECK(message_of("[1.]") == "byte 1: expected a value");
  CHECK(message_of("[1e]") == "byte 1: expected a value");
  CHECK(message_of("[-]") == "byte 1: expected a value");
  CHECK(message_of("[nul]") == "byte 1: expected a value");
  CHECK(message_of("[tru") == "byte 1: the text ends early (an unfinished run?)");
  CHECK(message_of("[1.") == "byte 1: the text ends early (an unfinished run?)");
  CHECK(message_of("\"abc") == "byte 4: the text ends early (an unfinished run?)");
  CHECK(message_of("\"a\nb\"") == "byte 2: a control character in a text");
  CHECK(message_of("\"a\\x\"") == "byte 2: expected an escape sequence");
  CHECK(message_of("\"\\u12g4\"") == "byte 1: expected an escape sequence");
  CHECK(message_of("{} {}") == "byte 3: text after the end of the value");
  CHECK(message_of("[" + std::string(8001, '1') + "]") == "byte 1: a number of more than 8000 characters");
  CHECK(message_of(std::string(100001, '[')) == "byte 100000: nested deeper than 100000 containers");
}

TEST_CASE("json: good texts are accepted") {
  CHECK(message_of("0").empty());
  CHECK(message_of("-0.5E+10").empty());
  CHECK(message_of("\xef\xbb\xbf{}").empty());
  CHECK(message_of(" [ ] \r\n\t").empty());
  CHECK(message_of(std::string(100, ' ') + "{\"a\":{\"b\":[[],{}]}}").empty());
}

TEST_CASE("json: a file is read through a buffer that any token may straddle") {
  // Each line moves the tokens by one byte against the buffer's end.
  const test::TempFolder folder;
  std::string text = "[";
  for (int i = 0; i < 80000; ++i)
    text += (i > 0 ? ",\n " : "") + std::string("{\"key") + std::to_string(i) + "\": [1.25, \"t\\n" +
            std::to_string(i) + "\"]}";
  text += "]";
  const std::string path = folder.write("big.json", text);
  const auto file = File::open(path);
  REQUIRE(file.ok());
  JsonLexer from_file(*file), from_memory(text);
  bool equal = true;
  int64_t tokens = 0;
  for (JsonToken token = from_file.next(); token != JsonToken::end; token = from_file.next(), ++tokens) {
    equal = equal && token == from_memory.next() && from_file.offset() == from_memory.offset();
    if (token == JsonToken::broken) break;
    if (token == JsonToken::key || token == JsonToken::text || token == JsonToken::number)
      equal = equal && from_file.text() == from_memory.text();
  }
  CHECK(equal);
  CHECK(tokens == 2 + 80000 * 7);
}

TEST_CASE("json: digits end at the first byte that is none, wherever it stands") {
  const std::string digits = "01234567890123456789";
  for (size_t count = 0; count <= digits.size(); ++count)
    for (int byte = 0; byte < 256; ++byte) {
      if (is_digit(static_cast<char>(byte))) continue;
      // What follows is digits again, and bytes that carry into their neighbours.
      std::string text = digits.substr(0, count) + static_cast<char>(byte) + "9\xff\x8a" + digits;
      CAPTURE(text);
      CHECK(skip_digits(text.data(), text.data() + text.size()) == text.data() + count);
    }
  CHECK(skip_digits(digits.data(), digits.data() + digits.size()) == digits.data() + digits.size());
}

TEST_CASE("json: a text of more than 16 MiB is refused, one below is read") {
  const test::TempFolder folder;
  const auto long_text =
      File::open(folder.write("long.json", "\"" + std::string((16 << 20) + 1, 'x') + "\""));
  REQUIRE(long_text.ok());
  JsonLexer lexer(*long_text);
  CHECK(lexer.next() == JsonToken::broken);
  CHECK(lexer.error().message == "byte 0: a text of more than 16777216 bytes");
  const auto shorter = File::open(folder.write("short.json", "\"" + std::string(1 << 20, 'x') + "\""));
  REQUIRE(shorter.ok());
  JsonLexer good(*shorter);
  CHECK(good.next() == JsonToken::text);
  CHECK(good.text().size() == 1 << 20);
}

TEST_CASE("json: a tape keeps a value and finds the last of equal members") {
  JsonLexer lexer(R"({"a": 1, "b": [true, "x"], "a": 2} 7)");
  JsonTape tape;
  REQUIRE(tape.read(lexer) == JsonRead::ok);
  CHECK(tape.at(0).kind == JsonKind::object);
  CHECK(tape.at(0).count == 3);
  CHECK(tape.text(tape.find(0, "a")) == "2");
  CHECK(tape.find(0, "c") == JsonTape::kNone);
  const uint32_t list = tape.find(0, "b");
  CHECK(tape.at(list).count == 2);
  CHECK(tape.at(list + 1).truth);
  CHECK(tape.text(list + 2) == "x");
}

TEST_CASE("json: a value that is too deep is passed over, the next one is read") {
  const std::string deep = std::string(65, '[') + std::string(65, ']');
  const std::string text = "[" + deep + ", 5]";
  JsonLexer lexer(text);
  JsonTape tape;
  CHECK(lexer.next() == JsonToken::begin_array);
  CHECK(tape.read(lexer) == JsonRead::too_deep);
  REQUIRE(tape.read(lexer) == JsonRead::ok);
  CHECK(tape.text(0) == "5");
  const std::string edge = std::string(64, '[') + std::string(64, ']');
  JsonLexer at_the_limit(edge);
  CHECK(tape.read(at_the_limit) == JsonRead::ok);
}

TEST_CASE("json: a value of too many nodes is passed over, the next one is read") {
  std::string text = "[[0";
  for (size_t i = 0; i < JsonTape::kMaxNodes; ++i) text += ",0";
  text += "], 5]";
  JsonLexer lexer(text);
  JsonTape tape;
  CHECK(lexer.next() == JsonToken::begin_array);
  CHECK(tape.read(lexer) == JsonRead::too_large);
  REQUIRE(tape.read(lexer) == JsonRead::ok);
  CHECK(tape.text(0) == "5");
}

TEST_CASE("json: text is written with its escapes") {
  std::string out;
  append_json_text(out, "a\"b\\c\n\t\r\x01\xc3\xa9");
  CHECK(out == "\"a\\\"b\\\\c\\n\\t\\r\\u0001\xc3\xa9\"");
}

namespace {

// What comes after the first member of the object when its value is passed over: the next member's name, or
// the message.
std::string after_first_member(const std::string& json) {
  JsonLexer lexer(json);
  lexer.next();
  lexer.next();
  if (!skip_json_value(lexer, lexer.next())) return lexer.error().message;
  return lexer.next() == JsonToken::key ? std::string(lexer.text()) : "no member";
}

// Long enough for a reader that looks only at texts with room behind them.
const std::string kRoom(20000, ' ');

}  // namespace

TEST_CASE("json: a value is passed over whole, whatever it is made of") {
  const std::vector<std::string> values = {
      R"({})",
      R"([])",
      R"([[], {}, [{}], ""])",
      R"([1, -2.5e-3, NaN, Infinity, -Infinity, true, false, null])",
      R"({"a" : "x", "b" :[1 ,2] ,"c":{"d":{"e":0}}})",
      R"(["with \"quotes\" and \\", "é", "\ud83d\ude00"])",
      R"("a text")",
      R"(-0.5)",
  };
  for (const std::string& value : values) {
    CAPTURE(value);
    CHECK(after_first_member("{\"a\": " + value + ", \"next\": 1}" + kRoom) == "next");
    CHECK(after_first_member("{\"a\": " + value + ", \"next\": 1}") == "next");
  }
}

TEST_CASE("json: a fault within a value that is passed over is named with its byte") {
  const auto message = [](std::string_view value) {
    return after_first_member("{\"a\":" + std::string(value) + "}" + kRoom);
  };
  CHECK(message("[1,,2]") == "byte 8: expected a value");
  CHECK(message("[1 2]") == "byte 8: expected ',' or ']'");
  CHECK(message("[1,]") == "byte 8: expected a value");
  CHECK(message("{\"b\":1,}") == "byte 12: expected a member name");
  CHECK(message("{\"b\" 1}") == "byte 10: expected ':'");
  CHECK(message("{\"b\":1]") == "byte 11: expected ',' or '}'");
  CHECK(message("[01]") == "byte 6: expected a value");
  CHECK(message("[1.]") == "byte 6: expected a value");
  CHECK(message("[tru]") == "byte 6: expected a value");
  CHECK(message("[truex]") == "byte 10: expected ',' or ']'");
  CHECK(message("[\"\\x\"]") == "byte 7: expected an escape sequence");
  CHECK(message("[\"\n\"]") == "byte 7: a control character in a text");
}

TEST_CASE("json: a value that ends early is said to be cut off when it is passed over") {
  const std::string long_list = "{\"a\":[" + std::string(20000, ' ') + "1, 2";
  CHECK(after_first_member(long_list) == "byte 20010: the text ends early (an unfinished run?)");
}
