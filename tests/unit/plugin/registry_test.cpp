#include "plugin/registry.hpp"

#include <doctest/doctest.h>

#include "host_fixture.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

ulpscope_plugin plugin_of(const char* name, const ulpscope_component* components, uint32_t count) {
  return {ULPSCOPE_ABI_MAJOR,
          ULPSCOPE_ABI_MINOR,
          sizeof(ulpscope_plugin),
          0,
          name,
          "1.2.3",
          "tests",
          "MIT",
          "here",
          count,
          0,
          components,
          nullptr};
}

const ulpscope_plugin* demo_entry() {
  static const ulpscope_component components[] = {ULPSCOPE_COMPONENT_SOURCE(test::DemoSource)};
  static const ulpscope_plugin plugin = plugin_of("demo_plugin", components, 1);
  return &plugin;
}
const ulpscope_plugin* rival_entry() {
  static const ulpscope_component components[] = {ULPSCOPE_COMPONENT_SOURCE(test::RivalSource),
                                                  ULPSCOPE_COMPONENT_SOURCE(test::DemoSource)};
  static const ulpscope_plugin plugin = plugin_of("rival_plugin", components, 2);
  return &plugin;
}
const ulpscope_plugin* null_entry() { return nullptr; }

struct Fixture : test::HostFixture {
  test::TempFolder folder;
  std::string file(const std::string& name) const { return folder.write(name, ""); }
};

}  // namespace

TEST_CASE("a source is opened by name") {
  Fixture fixture;
  Registry registry = fixture.registry({{"demo", demo_entry}});
  const auto source = registry.open_source("demo", fixture.file("x"), "");
  REQUIRE(source.ok());
  CHECK(source->source_name() == "demo");
  CHECK(source->path() == fixture.folder / "x");
}

TEST_CASE("without a name the source that is surest of the path is taken") {
  Fixture fixture;
  Registry registry = fixture.registry({{"demo", demo_entry}, {"rival", rival_entry}});
  for (const char* name : {"auto", ""}) {
    CAPTURE(name);
    const auto source = registry.open_source(name, fixture.file("x.demo"), "{}");
    REQUIRE(source.ok());
    CHECK(source->source_name() == "demo");
  }
}

TEST_CASE("when no source is sure the error lists scores and reasons") {
  Fixture fixture;
  Registry registry = fixture.registry({{"demo", demo_entry}, {"rival", rival_entry}});
  const std::string path = fixture.file("x.other");
  const auto source = registry.open_source("auto", path, "{}");
  REQUIRE_FALSE(source.ok());
  CHECK(source.error().code == Code::usage);
  CHECK(source.error().message ==
        path +
            ": no source is sure of it (best score 30, expected at least 50), name one with -m:\n"
            "  demo     30  a file\n"
            "  rival     0  rival's reason");
}

TEST_CASE("a tie of two sources is an error that lists scores and reasons") {
  Fixture fixture;
  Registry registry = fixture.registry({{"demo", demo_entry}, {"rival", rival_entry}});
  const std::string path = fixture.file("x.both");
  const auto source = registry.open_source("auto", path, "{}");
  REQUIRE_FALSE(source.ok());
  CHECK(source.error().message == path +
                                      ": 'demo' and 'rival' are equally sure of it, name one with -m:\n"
                                      "  demo     70  ends in .both\n"
                                      "  rival    70  rival's reason");
}

TEST_CASE("without any source the error says where to look") {
  Fixture fixture;
  Registry registry = fixture.registry({});
  const std::string path = fixture.file("x");
  CHECK(registry.open_source("auto", path, "{}").error().message ==
        path +
            ": there is no source to read it, expected plugins in one of the folders of `ulpscope plugins "
            "path`");
  CHECK(registry.open_source("x", path, "{}").error().message == "no source 'x', there is none at all");
}

TEST_CASE("an unknown name is a usage error that names what there is") {
  Fixture fixture;
  Registry registry = fixture.registry({{"demo", demo_entry}, {"rival", rival_entry}});
  CHECK(registry.open_source("../x", fixture.file("x"), "{}").error().message ==
        "no source '../x', expected one of demo, rival");
  const auto judgement = registry.judgement("ulp");
  REQUIRE_FALSE(judgement.ok());
  CHECK(judgement.error().code == Code::usage);
  CHECK(judgement.error().message == "no judgement 'ulp', there is none at all");
  CHECK(registry.create_judgement("ulp", "").error().message == "no judgement 'ulp', there is none at all");
  CHECK(registry.create_executor("cpu", "").error().message == "no executor 'cpu', there is none at all");
}

TEST_CASE("a path that does not exist is an io error before any probing") {
  Fixture fixture;
  Registry registry = fixture.registry({{"demo", demo_entry}});
  const auto source = registry.open_source("auto", fixture.folder / "none.demo", "{}");
  REQUIRE_FALSE(source.ok());
  CHECK(source.error().code == Code::io);
  CHECK(source.error().message == (fixture.folder / "none.demo") + ": no such file or folder");
}

TEST_CASE("an option reaches a source only if the source lists it") {
  Fixture fixture;
  Registry registry = fixture.registry({{"demo", demo_entry}});
  const auto refused = registry.open_source("demo", fixture.file("x"), R"({"ranks": [1], "fail": true})");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::format);
  CHECK(refused.error().message == "it was asked to fail");
  CHECK(fixture.lines == std::vector<std::string>{"0 source 'demo' does not know option 'ranks', left out"});
  CHECK(registry.open_source("demo", fixture.file("x"), "[1]").error().message ==
        "options: expected a JSON object");
}

TEST_CASE("the first of two equal names wins and the second is reported") {
  Fixture fixture;
  Registry registry = fixture.registry({{"demo", demo_entry}, {"rival", rival_entry}});
  const auto& plugins = registry.plugins();
  REQUIRE(plugins.size() == 2);
  REQUIRE(plugins[1].components.size() == 2);
  CHECK(plugins[0].components[0].hidden_by == "");
  CHECK(plugins[1].components[0].hidden_by == "");
  CHECK(plugins[1].components[1].hidden_by == "the program");
  const auto kept = fixture.diagnostics.kept();
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].text == "source 'demo' is not used, the program has one of the same name");
}

TEST_CASE("plugins describes a plugin in plain text") {
  Fixture fixture;
  Registry registry = fixture.registry({{"demo", demo_entry}});
  REQUIRE(registry.plugins().size() == 1);
  const PluginInfo& info = registry.plugins()[0];
  CHECK(info.builtin);
  CHECK(info.name == "demo_plugin");
  CHECK(info.version == "1.2.3");
  CHECK(info.license == "MIT");
  CHECK(info.abi == "1.0");
  REQUIRE(info.components.size() == 1);
  CHECK(to_text(info.components[0].kind) == "source");
  CHECK(info.components[0].summary == "made for tests");
  REQUIRE(info.components[0].options.size() == 2);
  CHECK(info.components[0].options[0].name == "steps");
  CHECK(info.components[0].options[0].default_text == "[]");
}

TEST_CASE("a compiled-in plugin is checked like a file") {
  Fixture fixture;
  Registry registry = fixture.registry({{"broken", null_entry}, {"demo", demo_entry}});
  REQUIRE(registry.plugins().size() == 2);
  CHECK(registry.plugins()[0].name == "broken");
  CHECK(registry.plugins()[0].refused == "entry returned null");
  CHECK(registry.plugins()[1].refused == "");
  CHECK(registry.open_source("broken", fixture.file("x"), "").error().message ==
        "no source 'broken', expected one of demo; broken.plugin.so was not loaded: entry returned null");
}

TEST_CASE("a missing folder is reported when it was named, else skipped") {
  Fixture fixture;
  Registry registry({{{"/nonexistent/a", "--plugin-path"}, {"/nonexistent/b", "user"}}, {}, false},
                    fixture.host, fixture.diagnostics);
  CHECK(registry.plugins().empty());
  const auto kept = fixture.diagnostics.kept();
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].where == "/nonexistent/a");
  CHECK(kept[0].text == "--plugin-path: there is no such folder");
}

TEST_CASE("a component is looked for in the file of its name before any other file is touched") {
  Fixture fixture;
  fixture.folder.write("plugins/demo_source.plugin.so", "no library");
  fixture.folder.write("plugins/another.plugin.so", "no library");
  Registry registry({{{fixture.folder / "plugins", "user"}}, {{"demo", demo_entry}}, false}, fixture.host,
                    fixture.diagnostics);
  REQUIRE(registry.open_source("demo", fixture.file("x"), "").ok());
  CHECK(fixture.diagnostics.count() == 0);
  CHECK(registry.open_source("demo_source", fixture.file("x"), "").error().message ==
        "no source 'demo_source', expected one of demo; demo_source.plugin.so was not loaded: not a loadable "
        "library");
  // Each file is tried and reported once.
  CHECK(fixture.diagnostics.count() == 2);
  CHECK(registry.plugins().size() == 3);
  CHECK(fixture.diagnostics.count() == 2);
}

TEST_CASE("a file outside of the searched folders can be loaded by path") {
  Fixture fixture;
  Registry registry = fixture.registry({});
  const std::string file = fixture.folder.write("x.plugin.so", "no library");
  CHECK(registry.load(file).error().message == "not a loadable library");
  CHECK(registry.plugins().size() == 1);
}
