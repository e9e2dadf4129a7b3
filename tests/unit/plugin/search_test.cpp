#include "plugin/search.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "plugin/library.hpp"
#include "plugin/options.hpp"
#include "plugin/table_checks.hpp"
#include "plugin/trust.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

// Sets a variable of the environment for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, was_set_ = true;
    ::setenv(name, value, 1);
  }
  ~Variable() {
    if (was_set_)
      ::setenv(name_, old_.c_str(), 1);
    else
      ::unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool was_set_ = false;
};

std::vector<std::string> paths(const PluginSearch& search) {
  std::vector<std::string> result;
  for (const PluginFolder& folder : search.folders) result.push_back(folder.path);
  return result;
}

}  // namespace

TEST_CASE("folders are searched in the order: given, environment, user, installation") {
  const Variable path("ULPSCOPE_PLUGIN_PATH", "/env/a:/env/b");
  const Variable data("XDG_DATA_HOME", "/data");
  const PluginSearch search = standard_search({"/given/x/../a"}, {});
  // The program is this test; its prefix is the parent of its folder.
  const std::string folder = program_folder().value();
  const std::string prefix = folder.substr(0, folder.rfind('/'));
  CHECK(paths(search) == std::vector<std::string>{"/given/a", "/env/a", "/env/b", "/data/ulpscope/plugins",
                                                  prefix + "/lib/ulpscope/plugins"});
  CHECK(search.folders[0].origin == "--plugin-path");
  CHECK(search.folders[1].origin == "ULPSCOPE_PLUGIN_PATH");
  CHECK(search.folders[3].origin == "user");
  CHECK(search.folders[4].origin == "installation");
}

TEST_CASE("the current folder is never searched by way of the environment") {
  CHECK(absolute_folders("") == std::vector<std::string>{});
  CHECK(absolute_folders(":.:a/b::/c") == std::vector<std::string>{"/c"});
}

TEST_CASE("a relative XDG_DATA_HOME does not count") {
  const Variable path("ULPSCOPE_PLUGIN_PATH", "");
  const Variable data("XDG_DATA_HOME", "data");
  const Variable home("HOME", "/home/me");
  CHECK(paths(standard_search({}, {})).at(0) == "/home/me/.local/share/ulpscope/plugins");
}

TEST_CASE("plugin names are lower-case letters, digits and '_', a letter first") {
  CHECK(is_plugin_name("vllm_v1"));
  CHECK_FALSE(is_plugin_name(""));
  CHECK_FALSE(is_plugin_name("1a"));
  CHECK_FALSE(is_plugin_name("_a"));
  CHECK_FALSE(is_plugin_name("A"));
  CHECK_FALSE(is_plugin_name("a-b"));
  CHECK_FALSE(is_plugin_name("a/b"));
}

TEST_CASE("options_for gives a list where a list is read, and a text where a text is") {
  const ulpscope_option_desc listed[] = {{"steps", "list of int", "[]", ""}, {"name", "text", "", ""}};
  CHECK(options_for(R"({"steps": 1})", listed)->json == R"({"steps":[1]})");
  CHECK(options_for(R"({"steps": "0,2-4"})", listed)->json == R"({"steps":[0,2,3,4]})");
  CHECK(options_for(R"({"steps": [1, 2]})", listed)->json == R"({"steps":[1,2]})");
  CHECK(options_for(R"({"name": 12})", listed)->json == R"({"name":"12"})");
  SUBCASE("what fits neither stays, for the component to refuse") {
    CHECK(options_for(R"({"steps": "all"})", listed)->json == R"({"steps":"all"})");
    CHECK(options_for(R"({"steps": 1.5})", listed)->json == R"({"steps":1.5})");
    CHECK(options_for(R"({"name": [1]})", listed)->json == R"({"name":[1]})");
  }
}

TEST_CASE("options_for keeps what a component lists, in the order given") {
  const ulpscope_option_desc listed[] = {{"steps", "", "", ""}, {"layout", "", "", ""}};
  const auto options = options_for(R"({"layout": "raw", "x": 1, "steps": [0, 2.50]})", listed);
  REQUIRE(options.ok());
  CHECK(options->json == R"({"layout":"raw","steps":[0,2.5]})");
  CHECK(options->dropped == std::vector<std::string>{"x"});
  CHECK(options_for("", listed)->json == "{}");
  CHECK(options_for("{", listed).error().message == "options: expected a JSON object");
  CHECK(options_for("3", listed).error().code == Code::usage);
}

TEST_CASE("the places of a plugin are trusted by owner and mode") {
  const test::TempFolder folder;
  const std::string file = folder.write("x.plugin.so", "");
  CHECK(check_plugin_trust(file).ok());
  CHECK(check_trust(folder / "none").error().code == Code::io);
  CHECK(check_trust(folder / "none").error().message == (folder / "none") + ": No such file or directory");
  CHECK(canonical_path(folder / "none").error().code == Code::io);
}
