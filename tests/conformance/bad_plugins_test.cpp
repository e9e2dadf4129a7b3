// Plugins that break the contract, each in one way: refused with its own message, and without harm to the
// sound one that lies beside it. Modules are copied into a folder of the test's own, because trust depends on
// the folder.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "plugin/registry.hpp"
#include "temp_folder.hpp"

namespace {

using namespace ulpscope;
namespace fs = std::filesystem;

constexpr const char* kModules = ULPSCOPE_TEST_MODULES;

// A registry over one folder that holds the sound plugin, and what a test puts beside it.
struct Fixture {
  test::TempFolder folder;
  ThreadPool pool{1};
  Cancel cancel;
  Diagnostics diagnostics;
  HostServices host{pool, cancel, {}, "0"};

  Fixture() { add("sound"); }

  std::string add(const std::string& name) {
    const std::string file = folder / (name + ".plugin.so");
    fs::copy_file(std::string(kModules) + "/" + name + ".plugin.so", file);
    fs::permissions(file, fs::perms(0644));
    return file;
  }
};

const PluginInfo* info_of(Registry& registry, const std::string& file) {
  const auto& plugins = registry.plugins();
  const auto it =
      std::find_if(plugins.begin(), plugins.end(), [&](const PluginInfo& p) { return p.file == file; });
  return it == plugins.end() ? nullptr : &*it;
}

// What the registry says of a file: "" when it is used.
std::string refusal(Fixture& fixture, const std::string& file, bool allow_unsafe = false) {
  Registry registry({{{fixture.folder.path(), "--plugin-path"}}, {}, allow_unsafe}, fixture.host,
                    fixture.diagnostics);
  const PluginInfo* info = info_of(registry, file);
  if (info == nullptr) return "not looked at";
  const std::string reason = info->refused;
  const PluginInfo* sound = info_of(registry, fixture.folder / "sound.plugin.so");
  CHECK(sound != nullptr);
  if (sound != nullptr && file != sound->file) CHECK(sound->refused == "");
  if (!reason.empty()) {
    const auto kept = fixture.diagnostics.kept();
    CHECK(std::any_of(kept.begin(), kept.end(),
                      [&](const Diagnostic& d) { return d.where == file && d.text == reason; }));
  }
  return reason;
}

std::string refusal(const std::string& module) {
  Fixture fixture;
  return refusal(fixture, fixture.add(module));
}

std::string content_of(const std::string& module) {
  std::ifstream file(std::string(kModules) + "/" + module + ".plugin.so", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string refusal_of_bytes(const std::string& bytes) {
  Fixture fixture;
  return refusal(fixture, fixture.folder.write("bytes.plugin.so", bytes));
}

}  // namespace

TEST_CASE("a sound plugin is loaded") { CHECK(refusal("stripped") == ""); }

TEST_CASE("a plugin of interface 1.0 is loaded") { CHECK(refusal("of_1_0") == ""); }

TEST_CASE("another ABI major is refused with both numbers") {
  CHECK(refusal("wrong_major") == "needs ABI 2.x, this host speaks 1.x");
}

TEST_CASE("a plugin that needs a later host is refused with both numbers") {
  CHECK(refusal("needs_newer_host") == "needs ABI 1.7, this host speaks 1.0");
}

TEST_CASE("the marker without an entry is refused in the loader's words") {
  CHECK(refusal("missing_entry") == "undefined symbol: ulpscope_plugin_entry");
}

TEST_CASE("a library without the marker is refused before any of its code runs") {
  CHECK(refusal("no_marker") == "not a plugin: no ulpscope_plugin section");
  CHECK(std::getenv("ULPSCOPE_TEST_NO_MARKER_RAN") == nullptr);
}

TEST_CASE("an entry that returns null is refused") { CHECK(refusal("null_entry") == "entry returned null"); }

TEST_CASE("an entry that throws is refused with what it threw") {
  CHECK(refusal("throwing_entry") == "entry threw: no table today");
}

TEST_CASE("an undefined symbol is found at load and named") {
  CHECK(refusal("undefined_symbol") == "undefined symbol: nowhere");
}

TEST_CASE("a source without scan is refused") {
  CHECK(refusal("missing_scan") == "source 'missing_scan': scan is missing");
}

TEST_CASE("a component name outside of lower-case letters, digits and '_' is refused") {
  CHECK(refusal("bad_name") ==
        "component 0 (source): name 'Bad-Name', expected lower-case letters, digits and '_'");
}

TEST_CASE("a table that ends before its required members is refused") {
  // scan, the last required member, ends at byte 64 (abi_layout.c).
  CHECK(refusal("short_table") == "component 0 (source): struct_size is 24, expected at least 64");
}

TEST_CASE("the tables of an earlier minor are accepted and what they lack is absent") {
  Fixture fixture;
  const std::string file = fixture.add("older");
  CHECK(refusal(fixture, file) == "");
  Registry registry({{{fixture.folder.path(), "--plugin-path"}}, {}, false}, fixture.host,
                    fixture.diagnostics);
  const auto source = registry.open_source("older", fixture.folder.path(), "{}");
  REQUIRE(source.ok());
  const auto place = source->locate(1);
  REQUIRE_FALSE(place.ok());
  CHECK(place.error().code == Code::unsupported);
  CHECK(place.error().message.starts_with("source 'older' (/"));
  CHECK(place.error().message.ends_with("/older.plugin.so): has no late data, locate is missing"));
  const auto stream = source->open_stream(1);
  REQUIRE_FALSE(stream.ok());
  CHECK(stream.error().message.starts_with("source 'older' (/"));
  CHECK(stream.error().message.ends_with("/older.plugin.so): has no streams, stream_open is missing"));
}

TEST_CASE("a plugin of a later minor is accepted and what this host does not know is left out") {
  Fixture fixture;
  const std::string file = fixture.add("newer");
  Registry registry({{{fixture.folder.path(), "--plugin-path"}}, {}, false}, fixture.host,
                    fixture.diagnostics);
  const PluginInfo* info = info_of(registry, file);
  REQUIRE(info != nullptr);
  CHECK(info->refused == "");
  CHECK(info->abi == "1.9");
  CHECK(info->components.size() == 1);
  REQUIRE(fixture.diagnostics.count() == 1);
  CHECK(fixture.diagnostics.kept()[0].severity == Severity::notice);
  CHECK(fixture.diagnostics.kept()[0].text == "component 1: kind 99 is newer than this host, not used");
}

TEST_CASE("a file that everyone may write is refused, unless that is allowed") {
  Fixture fixture;
  const std::string file = fixture.add("stripped");
  fs::permissions(file, fs::perms(0666));
  CHECK(refusal(fixture, file) == "refused: " + file + " is writable by everyone");
  CHECK(refusal(fixture, file, true) == "");
  const std::string lifted =
      "refused: " + file + " is writable by everyone, loaded all the same (--allow-unsafe-plugins)";
  const auto kept = fixture.diagnostics.kept();
  CHECK(std::any_of(kept.begin(), kept.end(), [&](const Diagnostic& d) { return d.text == lifted; }));
}

TEST_CASE("a plugin in a folder that everyone may write is refused") {
  Fixture fixture;
  fs::permissions(fixture.folder.path(), fs::perms(0777));
  Registry registry({{{fixture.folder.path(), "--plugin-path"}}, {}, false}, fixture.host,
                    fixture.diagnostics);
  const PluginInfo* info = info_of(registry, fixture.folder / "sound.plugin.so");
  REQUIRE(info != nullptr);
  CHECK(info->refused == "refused: " + fixture.folder.path() + " is writable by everyone");
}

TEST_CASE("a file of another user is refused") {
  Fixture fixture;
  const std::string file = fixture.add("stripped");
  if (::chown(file.c_str(), 12345, 12345) != 0) {
    MESSAGE("skipped: only root can give a file away");
    return;
  }
  CHECK(refusal(fixture, file) == "refused: " + file + " belongs to another user");
}

TEST_CASE("files that are no libraries are refused") {
  SUBCASE("empty") { CHECK(refusal_of_bytes("") == "not a loadable library"); }
  SUBCASE("text") { CHECK(refusal_of_bytes("#!/bin/sh\necho hello\n") == "not a loadable library"); }
  SUBCASE("the magic alone") { CHECK(refusal_of_bytes("\177ELF") == "not a loadable library"); }
  SUBCASE("cut in the header") {
    CHECK(refusal_of_bytes(content_of("sound").substr(0, 40)) == "not a loadable library");
  }
  SUBCASE("cut in half") {
    const std::string whole = content_of("sound");
    CHECK(refusal_of_bytes(whole.substr(0, whole.size() / 2)) == "not a loadable library");
  }
  SUBCASE("one byte short") {
    const std::string whole = content_of("sound");
    CHECK(refusal_of_bytes(whole.substr(0, whole.size() - 1)) == "not a loadable library");
  }
  SUBCASE("section headers past the end") {
    std::string bytes = content_of("sound");
    bytes.replace(0x28, 8, std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8));  // e_shoff
    CHECK(refusal_of_bytes(bytes) == "not a loadable library");
  }
}

TEST_CASE("a folder or a broken link with the name of a plugin is refused") {
  Fixture fixture;
  const std::string folder = fixture.folder / "folder.plugin.so", link = fixture.folder / "link.plugin.so";
  fs::create_directory(folder);
  fs::create_symlink(fixture.folder / "nothing", link);
  CHECK(refusal(fixture, folder) == folder + ": is a folder, expected a file");
  CHECK(refusal(fixture, link) == link + ": No such file or directory");
}
