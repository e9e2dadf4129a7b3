#include "cli/options.hpp"

#include <doctest/doctest.h>

namespace ulpscope {
namespace {

std::vector<OptionSpec> specs() {
  return {{"target_path", {"tp"}, OptionKind::value, "DIR", "", false},
          {"jobs", {"j"}, OptionKind::value, "N", "", false},
          {"verbose", {"v"}, OptionKind::flag, "", "", false},
          {"plugin_path", {}, OptionKind::many, "DIR", "", false},
          {"device", {"d"}, OptionKind::sequence, "ID", "", false},
          {"offset", {}, OptionKind::value, "N", "", false},
          {"tensor_log", {"tensor_log"}, OptionKind::flag, "", "", false}};
}

Result<ParsedOptions> parse(std::vector<std::string> words, size_t max_positional = 2) {
  return parse_options(specs(), words, max_positional);
}

}  // namespace

TEST_CASE("options: several letters may follow a single dash") {
  const auto options = parse({"-tp", "a", "b"});
  REQUIRE(options.ok());
  CHECK(options->text("target_path") == "a");
  CHECK(options->positional() == std::vector<std::string>{"b"});
}

TEST_CASE("options: the value may stick to a letter or follow an equals sign") {
  CHECK(parse({"-j8"})->text("jobs") == "8");
  CHECK(parse({"--jobs=8"})->text("jobs") == "8");
  CHECK(parse({"-tp=x"})->text("target_path") == "x");
}

TEST_CASE("options: a flag may be repeated and its letters joined") {
  CHECK(parse({"-v", "-v"})->count("verbose") == 2);
  CHECK(parse({"-vv"})->count("verbose") == 2);
}

TEST_CASE("options: dashes inside a long name are underscores") {
  CHECK(parse({"--target-path", "x"})->text("target_path") == "x");
  CHECK(parse({"-tensor-log"})->has("tensor_log"));
  // The value keeps its own.
  CHECK(parse({"--target-path=a-b"})->text("target_path") == "a-b");
}

TEST_CASE("options: a negative number is a value") {
  CHECK(parse({"--offset", "-3"})->text("offset") == "-3");
  CHECK(parse({"--offset", "-1e-3"})->text("offset") == "-1e-3");
}

TEST_CASE("options: a sequence takes values up to the next option") {
  const auto options = parse({"-d", "0", "1", "-v", "x"});
  REQUIRE(options.ok());
  CHECK(options->all("device") == std::vector<std::string>{"0", "1"});
  CHECK(options->positional() == std::vector<std::string>{"x"});
}

TEST_CASE("options: what may be repeated keeps its order") {
  CHECK(parse({"--plugin-path", "b", "--plugin-path", "a"})->all("plugin_path") ==
        std::vector<std::string>{"b", "a"});
}

TEST_CASE("options: words behind a double dash are arguments") {
  CHECK(parse({"--", "-v", "--jobs"})->positional() == std::vector<std::string>{"-v", "--jobs"});
}

TEST_CASE("options: errors name the option as it was written") {
  CHECK(parse({"--target-paht", "x"}).error().message ==
        "unknown option '--target-paht' (did you mean '--target-path'?)");
  CHECK(parse({"-x"}).error().message == "unknown option '-x'");
  CHECK(parse({"-xlsx"}).error().message == "unknown option '-xlsx'");
  CHECK(parse({"--jobs"}).error().message == "option '--jobs' needs a value");
  CHECK(parse({"--jobs", "--verbose"}).error().message == "option '--jobs' needs a value");
  CHECK(parse({"--verbose=1"}).error().message == "option '--verbose' takes no value");
  CHECK(parse({"-j", "1", "-j", "2"}).error().message == "option '--jobs' is given twice");
  CHECK(parse({"a", "b", "c"}).error().message == "unexpected argument 'c'");
  CHECK(parse({"--tar", "x"}).error().message == "unknown option '--tar'");
  CHECK(parse({"a", "b", "c"}).error().code == Code::usage);
}

TEST_CASE("options: values are checked when they are asked for") {
  const auto options = parse({"-j", "x", "-tp", "colour"});
  REQUIRE(options.ok());
  CHECK(options->integer("jobs", 1, 1, 9).error().message ==
        "option --jobs: 'x', expected a number from 1 to 9");
  CHECK(options->integer("offset", 7, 1, 9).value() == 7);
  CHECK(options->choice("target_path", {"color", "shape"}).error().message ==
        "option --target-path: 'colour', expected one of color, shape (did you mean 'color'?)");
  CHECK(options->choice("offset", {"first", "second"}).value() == "first");
  CHECK(options->required(0, "DUMP").error().message == "argument DUMP is missing");
  CHECK(options->numbers("target_path").error().message ==
        "option --target-path: 'colour' is not a list of numbers, expected a form like 0,2-5");
}

TEST_CASE("nearest: swaps count once and far words have no neighbour") {
  CHECK(nearest("lits", {"show", "list"}) == "list");
  CHECK(nearest("conpare", {"compare", "convert"}) == "compare");
  CHECK(nearest("x", {"list", "show"}) == "");
  CHECK(nearest(std::string(1000, 'a'), {"list"}) == "");
}

}  // namespace ulpscope
