#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "outputs/json_outputs.hpp"
#include "outputs/python_repr.hpp"
#include "outputs/record_parser.hpp"
#include "outputs/token_prints.hpp"

using namespace ulpscope;

namespace {

std::string json_or_error(std::string_view repr) {
  const auto json = json_of_repr(repr);
  return json.ok() ? *json : json.error().message;
}

std::vector<ModelOutput> outputs_of(OutputFormat format, std::string_view record) {
  RecordParser parser(format, {});
  std::vector<ModelOutput> outputs;
  const std::string text = padded(record);
  REQUIRE(parser.append(std::string_view(text).substr(0, record.size()), outputs).ok());
  return outputs;
}

}  // namespace

TEST_CASE("a print of Python becomes JSON") {
  CHECK(json_or_error("Name(a=1, b=None, c='x', d=[True, False])") ==
        R"({"a": 1, "b": null, "c": "x", "d": [true, false]})");
  CHECK(json_or_error("(1, 2,)") == "[1, 2]");
  CHECK(json_or_error("()") == "[]");
  CHECK(json_or_error("{'a': (1,), 7: -0.5}") == R"({"a": [1], "7": -0.5})");
  CHECK(json_or_error("{}") == "{}");
  CHECK(json_or_error("{1, 2}") == "[1, 2]");
  CHECK(json_or_error("array('l', [3, 4])") == "[3, 4]");
  CHECK(json_or_error("array([[1, 2]], dtype=int32)") == "[[1, 2]]");
  CHECK(json_or_error("F(1, x=nan, y=-inf, z=inf)") ==
        R"({"0": 1, "x": NaN, "y": -Infinity, "z": Infinity})");
  CHECK(json_or_error("F(reason=stop, d=torch.int64, o=<A at 0x7f, b=(1>, t=2.)") ==
        R"({"reason": "stop", "d": "torch.int64", "o": "<A at 0x7f, b=(1>", "t": 2})");
}

TEST_CASE("texts keep their escapes and may hold anything") {
  CHECK(json_or_error(R"('it\'s "so"\n\x41\u4e2d\U0001f600')") ==
        "\"it's \\\"so\\\"\\nA\xe4\xb8\xad\xf0\x9f\x98\x80\"");
  CHECK(json_or_error("\"token_ids=[1, 2)\"") == "\"token_ids=[1, 2)\"");
  CHECK(json_or_error("b'ab' 'cd'") == "\"abcd\"");
  CHECK(json_or_error(R"('\ud800')") == "\"\xef\xbf\xbd\"");  // half a surrogate pair
  CHECK(json_or_error(R"('\q')") == R"("\\q")");
}

TEST_CASE("a print that does not end is named by its byte") {
  CHECK(json_or_error("F(a='x") == "byte 6: the text ends inside a quoted text");
  CHECK(json_or_error("F(a=[1, 2") == "byte 9: expected ',' or the closing bracket");
  CHECK(json_or_error("F(a=") == "byte 4: expected a value");
  CHECK(json_or_error("{1: 2, 3}") == "byte 8: expected ':'");
  CHECK(json_or_error("<a") == "byte 2: expected '>'");
  CHECK(json_or_error("'\\x4'") == "byte 2: expected the digits of an escape");
  CHECK(json_or_error(std::string(100, '[')) == "byte 61: nested too deeply");
  for (const std::string_view open : {"[1, ", "{1: 2, ", "F(a=1, "}) {
    CAPTURE(open);
    CHECK(json_or_error(open).find("the text ends inside a ") != std::string::npos);
  }
}

TEST_CASE("lists of token numbers in lines") {
  std::vector<ModelOutput> outputs;
  append_token_prints(
      "\x1b[36mpid=1\x1b[0m output token_ids = (1, 2) and prompt_token_ids: [9] token_ids: [3]", outputs);
  append_token_prints("{'token_ids': array('l', [4, 5])}", outputs);
  append_token_prints("my_token_ids: [6] token_ids: none token_ids=[1, x]", outputs);
  REQUIRE(outputs.size() == 3);
  CHECK(outputs[0].tokens.ids == std::vector<int64_t>{1, 2});
  CHECK_FALSE(outputs[0].prompt_ids.has_value());
  CHECK(outputs[1].tokens.ids == std::vector<int64_t>{3});
  CHECK(outputs[1].prompt_ids == std::vector<int64_t>{9});
  CHECK(outputs[2].tokens.ids == std::vector<int64_t>{4, 5});
}

TEST_CASE("printed integers") {
  CHECK(printed_integers(" [1, -2] ") == std::vector<int64_t>{1, -2});
  CHECK(printed_integers("(7,)") == std::vector<int64_t>{7});
  CHECK(printed_integers("[]") == std::vector<int64_t>{});
  for (const char* text :
       {"", "[", "[1 2]", "1, 2", "[1.5]", "[1, , 2]", "array(", "[9999999999999999999999]"}) {
    CAPTURE(text);
    CHECK_FALSE(printed_integers(text).has_value());
  }
}

TEST_CASE("log-probabilities in every shape name the chosen token's") {
  const auto chosen = [](std::string_view record) {
    const auto outputs = outputs_of(OutputFormat::json, record);
    REQUIRE(outputs.size() == 1);
    std::vector<double> values;
    for (const ChosenLogprob& each : outputs[0].logprobs.chosen)
      values.push_back(each.known ? each.value : 99);
    return values;
  };
  CHECK(chosen(R"({"token_ids": [5, 6], "logprobs": [-0.1, null]})") == std::vector<double>{-0.1, 99});
  CHECK(chosen(R"({"token_ids": [5, 6], "logprobs": [[-0.1, -2], [-0.3, -3]]})") ==
        std::vector<double>{-0.1, -0.3});
  CHECK(chosen(R"({"token_ids": [5, 6], "logprobs": [{"7": -1, "5": -2}, {"6": {"logprob": -0.5}}]})") ==
        std::vector<double>{-2, -0.5});
  CHECK(chosen(R"({"tokens": ["a", "b"], "logprobs": [{"a": -1, "b": -2}, {"a": -3}]})") ==
        std::vector<double>{-1, 99});
  CHECK(chosen(R"({"logprobs": [{"token": "a", "logprob": -1, "bytes": [97]}]})") == std::vector<double>{-1});
  CHECK(chosen(R"({"token_ids": [5], "logprobs": [-0.1], "top_logprobs": [{"5": -0.1, "8": -4}]})") ==
        std::vector<double>{-0.1});
}

TEST_CASE("a token that is a digit is no token number") {
  const auto outputs = outputs_of(
      OutputFormat::json,
      R"({"choices": [{"text": "", "token_ids": [5], "logprobs": {"tokens": ["3"], "token_logprobs": [-1], "top_logprobs": [{"3": -1, "4": -2}]}}]})");
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].tokens.ids == std::vector<int64_t>{5});
  REQUIRE(outputs[0].logprobs.alternatives.size() == 2);
  CHECK(outputs[0].logprobs.alternatives[0].id == -1);
  CHECK(outputs[0].logprobs.alternatives[0].text == "3");
}

TEST_CASE("a record is one object and nothing else") {
  JsonTape tape;
  const auto message = [&](std::string_view record) {
    const std::string text = padded(record);
    const Status read = read_json_record(std::string_view(text).substr(0, record.size()), tape);
    return read.ok() ? std::string() : read.error().message;
  };
  CHECK(message("{\"a\": 1} ").empty());
  CHECK(message("{\"a\": 1").find("byte 7: the text ends early") == 0);
  CHECK(message("{\"a\": 1} 2") == "byte 9: text after the end of the value");
  CHECK(message("[1]") == "expected one JSON object");
  CHECK(message("{\"a\": " + std::string(70, '[') + std::string(70, ']') + "}") ==
        "nested deeper than 64 objects and lists");
}

TEST_CASE("names inside names do not double") {
  std::string repr = "1";
  for (int depth = 0; depth < 25; ++depth) repr = "{(" + repr + ",): 1}";
  CHECK(json_or_error(repr) == "{\"(…)\": 1}");
  CHECK(json_or_error("{1.5: 2, None: 3}") == R"({"1.5": 2, "null": 3})");
}

TEST_CASE("a line of lists that do not end is read once") {
  std::string line;
  for (int i = 0; i < 200000; ++i) line += "token_ids=[1, ";
  std::vector<ModelOutput> outputs;
  append_token_prints(line, outputs);
  CHECK(outputs.empty());
}

TEST_CASE("choices do not multiply a gigantic prompt") {
  std::string record = R"({"prompt": ")" + std::string(1 << 20, 'p') + R"(", "choices": [)";
  for (int i = 0; i < 300; ++i) record += i > 0 ? R"(,{"text": "x"})" : R"({"text": "x"})";
  CHECK(outputs_of(OutputFormat::json, record + "]}").empty());
}
