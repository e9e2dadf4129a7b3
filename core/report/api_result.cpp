#include "report/api_result.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "formats/json_lexer.hpp"
#include "formats/json_tape.hpp"
#include "report/result_members.hpp"

namespace ulpscope {
namespace {

// A number alone, or an object of both sides.
ApiMetric metric_of(ResultMembers& members, uint32_t node) {
  ApiMetric metric;
  metric.name = members.tape().key(node);
  if (!members.tape().is(node, JsonKind::object)) {
    metric.value = members.number(node, metric.name);
    return metric;
  }
  metric.value = members.number(members.find(node, "device"), "device");
  metric.reference = members.number(members.find(node, "reference"), "reference");
  metric.ratio = members.number(members.find(node, "ratio"), "ratio");
  metric.verdict = members.verdict(node, "status");
  return metric;
}

void read_output(ResultMembers& members, uint32_t node, ApiOutput& output) {
  members.expect(members.tape().is(node, JsonKind::object), "outputs", "a list of objects");
  output.name = members.text(node, "name");
  output.algorithm = members.text(node, "algorithm");
  output.golden_dtype = members.text(node, "golden_dtype");
  output.device_dtype = members.text(node, "device_dtype");
  output.shape = members.text(node, "shape");
  output.message = members.text(node, "message");
  output.verdict = members.verdict(node, "status").value_or(Verdict::skip);
  members.each(members.find(node, "metrics"), "metrics", JsonKind::object,
               [&](uint32_t child) { output.metrics.push_back(metric_of(members, child)); });
}

Status read_call(ResultMembers& members, ApiCall& call) {
  members.expect(members.tape().is(0, JsonKind::object), "", "an object");
  call.outputs.clear();
  if (members.error()) return *members.error();
  call.api = members.text(0, "api");
  call.message = members.text(0, "message");
  call.forward = members.verdict(0, "forward");
  call.backward = members.verdict(0, "backward");
  members.each(members.find(0, "outputs"), "outputs", JsonKind::array,
               [&](uint32_t child) { read_output(members, child, call.outputs.emplace_back()); });
  if (members.error()) return *members.error();
  return {};
}

class Reader {
 public:
  Reader(const File& file, const std::function<Status(const ApiCall&)>& take) : lexer_(file), take_(take) {}

  Result<ApiHead> read() {
    JsonToken token = lexer_.next();
    if (token != JsonToken::begin_object) return broken(token, "expected an object");
    for (token = lexer_.next(); token != JsonToken::end_object; token = lexer_.next()) {
      if (token != JsonToken::key) return broken(token, "expected a member");
      const std::string key(lexer_.text());
      if (key == "apis")
        ULPSCOPE_TRY(read_calls());
      else
        ULPSCOPE_TRY(read_member(key));
    }
    token = lexer_.next();
    if (token != JsonToken::end) return broken(token, "expected the end");
    if (head_.schema != kCheckSchema && head_.schema != kPrecisionSchema)
      return Error{Code::format, "schema: '" + printable(head_.schema) + "', expected " +
                                     std::string(kCheckSchema) + " or " + std::string(kPrecisionSchema)};
    return head_;
  }

 private:
  Error broken(JsonToken token, std::string_view expected) const {
    if (token == JsonToken::broken) return lexer_.error();
    return {Code::format, "byte " + std::to_string(lexer_.offset()) + ": " + std::string(expected)};
  }

  Status read_value(JsonToken first, const std::string& place) {
    switch (tape_.read(lexer_, first)) {
      case JsonRead::ok:
        return {};
      case JsonRead::broken:
        return lexer_.error();
      default:
        return Error{Code::format, place + ": too large or too deep"};
    }
  }

  Status read_calls() {
    JsonToken token = lexer_.next();
    if (token != JsonToken::begin_array) return broken(token, "apis: expected a list");
    int64_t number = 0;
    for (token = lexer_.next(); token != JsonToken::end_array; token = lexer_.next()) {
      const std::string place = "apis[" + std::to_string(number++) + "]";
      ULPSCOPE_TRY(read_value(token, place));
      ResultMembers members(tape_, place);
      ULPSCOPE_TRY(read_call(members, call_));
      ULPSCOPE_TRY(take_(call_));
    }
    return {};
  }

  Status read_member(const std::string& key) {
    ULPSCOPE_TRY(read_value(lexer_.next(), printable(key)));
    ResultMembers members(tape_, printable(key));
    const auto text = [&](std::string& into) {
      members.expect(tape_.is(0, JsonKind::text), "", "a string");
      if (!members.error()) into = tape_.text(0);
    };
    const auto texts = [&](std::vector<std::string>& into) {
      members.each(0, "", JsonKind::array, [&](uint32_t child) {
        members.expect(tape_.is(child, JsonKind::text), "", "strings");
        into.emplace_back(tape_.text(child));
      });
    };
    if (key == "schema") text(head_.schema);
    if (key == "version") text(head_.version);
    if (key == "dump") text(head_.dump);
    if (key == "device") text(head_.device);
    if (key == "reference") text(head_.reference);
    if (key == "command") texts(head_.command);
    if (key == "notices") texts(head_.notices);
    if (key == "policy") head_.policy_name = members.text(0, "name");
    if (key == "seed") head_.seed = tape_.is(0, JsonKind::number) ? json_int(tape_.text(0)).value_or(-1) : -1;
    if (key == "summary") read_summary(members);
    if (members.error()) return *members.error();
    return {};
  }

  void read_summary(ResultMembers& members) {
    members.expect(tape_.is(0, JsonKind::object), "", "an object");
    if (members.error()) return;
    head_.apis = members.count(0, "apis");
    head_.pass = members.count(0, "pass");
    head_.warning = members.count(0, "warning");
    head_.error = members.count(0, "error");
    head_.skip = members.count(0, "skip");
    head_.outputs = members.count(0, "outputs");
    head_.unreadable = members.count(0, "unreadable");
  }

  JsonLexer lexer_;
  const std::function<Status(const ApiCall&)>& take_;
  JsonTape tape_;
  ApiCall call_;
  ApiHead head_;
};

}  // namespace

Verdict ApiCall::verdict() const {
  return std::max(forward.value_or(Verdict::skip), backward.value_or(Verdict::skip));
}

Result<ApiHead> read_api_result(const File& file, const std::function<Status(const ApiCall&)>& take) {
  Reader reader(file, take);
  Result<ApiHead> head = reader.read();
  if (head.ok()) return head;
  Error error = std::move(head).error();
  error.message = printable(file.path()) + ": not a result of a check: " + error.message;
  return error;
}

std::string checked_dump(const std::string& folder) {
  const Result<File> file = File::open(folder + "/" + std::string(kCheckFile));
  if (!file.ok()) return {};
  JsonLexer lexer(file.value());
  if (lexer.next() != JsonToken::begin_object) return {};
  while (lexer.next() == JsonToken::key) {
    const bool is_dump = lexer.text() == "dump";
    const JsonToken value = lexer.next();
    if (is_dump && value == JsonToken::text) return std::string(lexer.text());
    if (!skip_json_value(lexer, value)) return {};
  }
  return {};
}

}  // namespace ulpscope
