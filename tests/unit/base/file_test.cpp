#include "base/file.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <string>

#include "temp_folder.hpp"

using namespace ulpscope;
namespace fs = std::filesystem;

namespace {

std::span<std::byte> bytes_of(std::string& text) { return std::as_writable_bytes(std::span(text)); }

// The message of opening root/relative; empty when it opens.
std::string refusal(const std::string& root, std::string_view relative, bool follow_links = false) {
  const auto file = File::open_under(root, relative, follow_links);
  return file.ok() ? "" : file.error().message;
}

}  // namespace

TEST_CASE("a path is safe when it stays below its root whatever the folders are") {
  CHECK(is_safe_relative("a"));
  CHECK(is_safe_relative("dump_tensor_data/x..y.pt"));
  CHECK(is_safe_relative("./a"));
  CHECK(is_safe_relative("..."));
  CHECK_FALSE(is_safe_relative(""));
  CHECK_FALSE(is_safe_relative("/etc/passwd"));
  CHECK_FALSE(is_safe_relative(".."));
  CHECK_FALSE(is_safe_relative("../a"));
  CHECK_FALSE(is_safe_relative("a/../../b"));
  CHECK_FALSE(is_safe_relative("a/.."));
  CHECK_FALSE(is_safe_relative("a\\b"));
  CHECK_FALSE(is_safe_relative("C:/a"));
  CHECK_FALSE(is_safe_relative(std::string_view("a\0b", 3)));
}

TEST_CASE("open_under opens files of the root and refuses paths that leave it") {
  const test::TempFolder root;
  root.write("in/data.bin", "abc");
  CHECK(refusal(root.path(), "in/data.bin") == "");
  CHECK(refusal(root.path() + "/", "in/data.bin") == "");
  CHECK(refusal(root.path(), "../x") == root.path() + "/../x: path leaves the dump");
  CHECK(File::open_under(root.path(), "../x").error().code == Code::format);
  CHECK(refusal(root.path(), "missing") == root.path() + "/missing: No such file or directory");
}

TEST_CASE("a symbolic link is followed inside the root and refused when it leads out of it") {
  const test::TempFolder root, other;
  root.write("in/data.bin", "abc");
  fs::create_symlink("in/data.bin", root / "good");
  fs::create_symlink(other.write("secret", "s"), root / "bad");
  fs::create_directory_symlink(other.path(), root / "folder");
  CHECK(refusal(root.path(), "good") == "");
  CHECK(refusal(root.path(), "bad") == root.path() + "/bad: path leaves the dump through a symbolic link");
  CHECK(refusal(root.path(), "folder/secret") ==
        root.path() + "/folder/secret: path leaves the dump through a symbolic link");
  CHECK(refusal(root.path(), "bad", true) == "");
}

TEST_CASE("a root that is itself reached through a link is no way out") {
  const test::TempFolder root, other;
  root.write("data.bin", "abc");
  fs::create_directory_symlink(root.path(), other / "link");
  CHECK(refusal(other / "link", "data.bin") == "");
}

TEST_CASE("a neighbour folder whose name begins like the root is outside of it") {
  const test::TempFolder parent;
  parent.write("dump/a", "");
  fs::create_symlink(parent.write("dump2/secret", "s"), parent / "dump/bad");
  CHECK(refusal(parent / "dump", "bad") ==
        (parent / "dump") + "/bad: path leaves the dump through a symbolic link");
}

TEST_CASE("what is no regular file is not opened, and a FIFO does not block") {
  const test::TempFolder root;
  const std::string fifo = root / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(refusal(root.path(), "fifo") == fifo + ": is a FIFO, not a regular file");
  fs::create_directory(root / "folder");
  CHECK(refusal(root.path(), "folder") == (root / "folder") + ": is a folder, expected a file");
  CHECK(File::open("/dev/null").error().message == "/dev/null: is a device, not a regular file");
}

TEST_CASE("read_at stops at the end, read_exact says where the file ends") {
  const test::TempFolder root;
  const File file = File::open(root.write("data", "0123456789")).value();
  CHECK(file.size() == 10);
  std::string text(4, '\0');
  CHECK(file.read_at(8, bytes_of(text)).value() == 2);
  CHECK(text.substr(0, 2) == "89");
  CHECK(file.read_at(100, bytes_of(text)).value() == 0);
  CHECK(file.read_exact(6, bytes_of(text)).ok());
  CHECK(text == "6789");
  CHECK(file.read_exact(7, bytes_of(text)).error().message ==
        file.path() + ": ends at byte 10, expected 4 bytes from byte 7");
  CHECK(file.read_exact(0xffffffffffffffffULL, bytes_of(text)).error().code == Code::format);
}

TEST_CASE("a file that became shorter after it was opened is an io error") {
  const test::TempFolder root;
  const File file = File::open(root.write("data", "0123456789")).value();
  fs::resize_file(file.path(), 4);
  std::string text(8, '\0');
  const Status status = file.read_exact(0, bytes_of(text));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == Code::io);
  CHECK(status.error().message == file.path() + ": became shorter while it was read");
}

TEST_CASE("read_text reads the whole file up to its limit") {
  const test::TempFolder root;
  const File file = File::open(root.write("data", "0123456789")).value();
  CHECK(file.read_text(10).value() == "0123456789");
  CHECK(file.read_text(9).error().message == file.path() + ": 10 bytes, expected at most 9");
}

TEST_CASE("a moved file keeps its descriptor alive once") {
  const test::TempFolder root;
  File first = File::open(root.write("a", "first")).value();
  File second = File::open(root.write("b", "second")).value();
  second = std::move(first);
  CHECK(second.read_text(10).value() == "first");
}
