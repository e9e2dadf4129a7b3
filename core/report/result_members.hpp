// Checked access to a value of a result file, which nobody has to trust. Used by the readers of the files
// that become pages: api_result.cpp, locate_page.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "formats/json_lexer.hpp"
#include "formats/json_tape.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// A word of the files; nothing for another one. "" is a direction that was not run.
inline std::optional<Verdict> result_verdict(std::string_view word) {
  if (word == "pass") return Verdict::pass;
  if (word == "warning") return Verdict::warning;
  if (word == "error") return Verdict::fail;
  if (word == "SKIP" || word == "skip") return Verdict::skip;
  return std::nullopt;
}

// One value of the file with checked access. The first thing that is wrong is kept in error, and every later
// answer is a default.
class ResultMembers {
 public:
  ResultMembers(const JsonTape& tape, std::string place) : tape_(tape), place_(std::move(place)) {}

  const std::optional<Error>& error() const { return error_; }
  void expect(bool holds, std::string_view name, const char* expected) {
    if (holds || error_) return;
    error_ = Error{Code::format, place_ + (place_.empty() || name.empty() ? "" : ".") + printable(name) +
                                     ": expected " + expected};
  }

  // The member of that name; kNone where it is not there or null.
  uint32_t find(uint32_t object, std::string_view name) const {
    const uint32_t node = tape_.find(object, name);
    return tape_.is(node, JsonKind::null) ? JsonTape::kNone : node;
  }
  std::string_view text(uint32_t object, std::string_view name) {
    const uint32_t node = find(object, name);
    if (node == JsonTape::kNone) return {};
    expect(tape_.is(node, JsonKind::text), name, "a string");
    return tape_.is(node, JsonKind::text) ? tape_.text(node) : std::string_view();
  }
  std::optional<Verdict> verdict(uint32_t object, std::string_view name) {
    const std::string_view word = text(object, name);
    if (word.empty()) return std::nullopt;
    const std::optional<Verdict> found = result_verdict(word);
    expect(found.has_value(), name, "pass, warning, error or SKIP");
    return found;
  }
  int64_t count(uint32_t object, std::string_view name, int64_t otherwise = 0) {
    const uint32_t node = find(object, name);
    if (node == JsonTape::kNone) return otherwise;
    const auto value = tape_.is(node, JsonKind::number) ? json_int(tape_.text(node)) : std::nullopt;
    expect(value && *value >= 0, name, "a count");
    return value.value_or(otherwise);
  }
  std::optional<double> number(uint32_t node, std::string_view name) {
    if (node == JsonTape::kNone) return std::nullopt;
    if (tape_.is(node, JsonKind::number)) return json_double(tape_.text(node));
    const std::string_view word = tape_.is(node, JsonKind::text) ? tape_.text(node) : std::string_view();
    if (word == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (word == "Infinity") return std::numeric_limits<double>::infinity();
    if (word == "-Infinity") return -std::numeric_limits<double>::infinity();
    expect(false, name, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
    return std::nullopt;
  }
  // Each child of a list or object of that kind; nothing where it is not there.
  template <class Visit>
  void each(uint32_t node, std::string_view name, JsonKind kind, Visit visit) {
    if (node == JsonTape::kNone) return;
    expect(tape_.is(node, kind), name, kind == JsonKind::array ? "a list" : "an object");
    if (!tape_.is(node, kind)) return;
    for (uint32_t i = node + 1; i != tape_.at(node).next && !error_; i = tape_.at(i).next) visit(i);
  }
  std::optional<bool> truth(uint32_t object, std::string_view name) {
    const uint32_t node = find(object, name);
    if (node == JsonTape::kNone) return std::nullopt;
    expect(tape_.is(node, JsonKind::boolean), name, "true or false");
    return tape_.at(node).truth;
  }
  std::vector<std::string> texts(uint32_t object, std::string_view name) {
    std::vector<std::string> found;
    each(find(object, name), name, JsonKind::array, [&](uint32_t child) {
      expect(tape_.is(child, JsonKind::text), name, "strings");
      found.emplace_back(tape_.text(child));
    });
    return found;
  }
  // A part of the value, which later messages name.
  void enter(std::string place) { place_ = std::move(place); }
  const JsonTape& tape() const { return tape_; }

 private:
  const JsonTape& tape_;
  std::string place_;
  std::optional<Error> error_;
};

}  // namespace ulpscope
