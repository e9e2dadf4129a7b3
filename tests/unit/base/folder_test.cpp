#include "base/folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "temp_folder.hpp"

namespace ulpscope {
namespace {

TEST_CASE("folder: every entry is told with what it is, links not followed") {
  const test::TempFolder folder;
  folder.write("file.npy", "x");
  folder.write(".hidden", "");
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_directory_symlink("sub", folder / "to_folder");
  std::filesystem::create_symlink("nowhere", folder / "to_nothing");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::map<std::string, EntryKind> found;
  const Status listed = for_each_entry(folder / "", [&](std::string_view name, EntryKind kind) {
    return found.emplace(std::string(name), kind).second;
  });
  CHECK(listed.ok());
  const std::map<std::string, EntryKind> expected = {
      {"file.npy", EntryKind::file},  {".hidden", EntryKind::file},    {"sub", EntryKind::folder},
      {"to_folder", EntryKind::link}, {"to_nothing", EntryKind::link}, {"pipe", EntryKind::other}};
  CHECK(found == expected);
}

TEST_CASE("folder: listing ends where the caller has seen enough, and says why it cannot begin") {
  const test::TempFolder folder;
  for (const char* name : {"a", "b", "c"}) folder.write(name, "");
  int calls = 0;
  CHECK(for_each_entry(folder / "", [&](std::string_view, EntryKind) { return ++calls < 2; }).ok());
  CHECK(calls == 2);
  const auto never = [](std::string_view, EntryKind) { return true; };
  const Status missing = for_each_entry(folder / "none", never);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == Code::io);
  CHECK(missing.error().message == (folder / "none") + ": No such file or directory");
  CHECK_FALSE(for_each_entry(folder / "a", never).ok());
}

TEST_CASE("folder: a walk tells every entry, enters what it is let into and tells what it cannot") {
  const test::TempFolder folder;
  folder.write("a/b/c.npy", "");
  folder.write("skipped/d.npy", "");
  std::filesystem::create_directory_symlink("a", folder / "link");
  std::string deep;
  for (int i = 0; i < kMaxWalkDepth; ++i) deep += "/x";
  folder.write("a" + deep + "/e.npy", "");
  std::map<std::string, EntryKind> found;
  std::map<std::string, std::string> unread;
  const auto visit = [&](const std::string& path, EntryKind kind) {
    if (path.find("/x") == std::string::npos) found.emplace(path, kind);
    return path == "skipped" ? Walk::pass : Walk::enter;
  };
  const auto tell = [&](const std::string& path, const std::string& why) { unread.emplace(path, why); };
  CHECK(walk_folder(folder.path(), visit, tell).ok());
  const std::map<std::string, EntryKind> expected = {{"a", EntryKind::folder},
                                                     {"a/b", EntryKind::folder},
                                                     {"a/b/c.npy", EntryKind::file},
                                                     {"skipped", EntryKind::folder},
                                                     {"link", EntryKind::link}};
  CHECK(found == expected);
  REQUIRE(unread.size() == 1);
  CHECK(unread.begin()->first == "a" + deep);
  CHECK(unread.begin()->second == "folders are nested deeper than 32, it is not read");
  int calls = 0;
  CHECK(walk_folder(
            folder.path(), [&](const std::string&, EntryKind) { return ++calls, Walk::end; }, tell)
            .ok());
  CHECK(calls == 1);
  CHECK_FALSE(walk_folder(folder / "none", visit, tell).ok());
}

TEST_CASE("folder: the folders and links of a folder are listed once, sorted, without the files") {
  const test::TempFolder folder;
  folder.write("file.npy", "");
  for (const char* name : {"b", "a"}) std::filesystem::create_directory(folder / name);
  std::filesystem::create_symlink("nowhere", folder / "c");
  FolderNames names;
  const auto& first = names.in(folder.path());
  REQUIRE(first.ok());
  REQUIRE(first->size() == 3);
  CHECK((*first)[0].name == "a");
  CHECK((*first)[1].name == "b");
  CHECK((*first)[2].name == "c");
  CHECK((*first)[2].kind == EntryKind::link);
  std::filesystem::create_directory(folder / "d");
  CHECK(&names.in(folder.path()) == &first);
  CHECK(first->size() == 3);
  CHECK_FALSE(names.in(folder / "none").ok());
}

TEST_CASE("folder: the kind of one entry, and why a folder cannot be listed") {
  const test::TempFolder folder;
  std::filesystem::create_symlink("nowhere", folder / "to_nothing");
  CHECK(entry_kind(folder.path()) == EntryKind::folder);
  CHECK(entry_kind(folder / "to_nothing") == EntryKind::link);
  CHECK_FALSE(entry_kind(folder / "none").has_value());
  CHECK(listing_trouble(folder.path()).empty());
  CHECK(listing_trouble(folder / "none") == "the folder cannot be listed: No such file or directory");
}

TEST_CASE("folder: the root of a dump is the folder, or the folder of the file") {
  const test::TempFolder folder;
  folder.write("dump.json", "{}");
  CHECK(dump_root(folder.path()) == folder.path());
  CHECK(dump_root(folder / "dump.json") == folder.path());
  CHECK(dump_root("no_such_file") == ".");
  CHECK(dump_root("/no_such_file") == "/");
}

}  // namespace
}  // namespace ulpscope
