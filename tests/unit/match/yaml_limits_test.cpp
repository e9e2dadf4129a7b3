#include "match/yaml_limits.hpp"

#include <doctest/doctest.h>

using namespace ulpscope;

namespace {

std::string refusal(const std::string& text, const YamlLimits& limits = {}) {
  const Status status = check_yaml("rules.yaml", text, limits);
  return status.ok() ? "" : status.error().message;
}

}  // namespace

TEST_CASE("yaml limits: ordinary rules pass, and so does what is no YAML") {
  CHECK(refusal("accept:\n  - {op: 'Torch.*', why: known}\n") == "");
  CHECK(refusal("") == "");
  CHECK(refusal("a: [") == "");
}

TEST_CASE("yaml limits: an alias is refused with its place, whatever it stands for") {
  CHECK(refusal("a: &x [1, 2]\nb: *x\n") ==
        "rules.yaml:2:4: an alias, expected plain text; a name that begins with * needs quotes");
  CHECK(refusal("a: &x [1, 2]\n") == "");
}

TEST_CASE("yaml limits: a million values are refused before a tree is built of them") {
  std::string text = "a: [";
  for (int i = 0; i < 1'000'000; ++i) text += "1,";
  CHECK(refusal(text + "1]") == "rules.yaml:1:399999: expected at most 200000 names and values");
  CHECK(refusal("[1, 2, 3]", {3, 32}) == "rules.yaml:1:8: expected at most 3 names and values");
}

TEST_CASE("yaml limits: lists inside lists are refused from a depth on") {
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  CHECK(refusal(deep) == "rules.yaml:1:33: expected at most 32 lists inside each other");
  CHECK(refusal("[[[]]]", {100, 2}) == "rules.yaml:1:3: expected at most 2 lists inside each other");
}
