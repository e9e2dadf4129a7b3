#include "report/output_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "read_file.hpp"
#include "temp_folder.hpp"

namespace ulpscope {

using test::read_file;
using test::TempFolder;

TEST_CASE("output file: the name appears only when the file is whole") {
  const TempFolder folder;
  const std::string path = folder / "report.csv";
  {
    auto file = OutputFile::create(path);
    REQUIRE(file.ok());
    file->text() += "half";
    CHECK_FALSE(std::filesystem::exists(path));
    SUBCASE("committed") {
      file->text() += " and half";
      REQUIRE(file->commit().ok());
      CHECK(read_file(path) == "half and half");
    }
    SUBCASE("dropped") {}
  }
  const bool committed = std::filesystem::exists(path);
  const auto left = std::distance(std::filesystem::directory_iterator(folder.path()), {});
  CHECK(left == (committed ? 1 : 0));
}

TEST_CASE("output file: text larger than the buffer is written in order") {
  const TempFolder folder;
  auto file = OutputFile::create(folder / "large");
  REQUIRE(file.ok());
  for (int i = 0; i < 300; ++i) {
    file->text().append(10'000, static_cast<char>('a' + i % 26));
    file->flush_when_large();
  }
  REQUIRE(file->commit().ok());
  const std::string text = read_file(folder / "large");
  REQUIRE(text.size() == 3'000'000);
  CHECK(text[0] == 'a');
  CHECK(text[2'999'999] == static_cast<char>('a' + 299 % 26));
  CHECK(text[1'500'000] == static_cast<char>('a' + 150 % 26));
}

TEST_CASE("output file: a name that is taken meanwhile is not replaced") {
  const TempFolder folder;
  const std::string path = folder / "report.csv";
  auto file = OutputFile::create(path);
  REQUIRE(file.ok());
  folder.write("report.csv", "theirs");
  const Status status = file->commit();
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message == path + ": exists already, and a result is never overwritten");
  CHECK(read_file(path) == "theirs");
}

TEST_CASE("output file: a dangling symbolic link counts as taken") {
  const TempFolder folder;
  std::filesystem::create_symlink(folder / "elsewhere", folder / "report.csv");
  CHECK_FALSE(OutputFile::create(folder / "report.csv").ok());
  CHECK_FALSE(std::filesystem::exists(folder / "elsewhere"));
}

TEST_CASE("output file: a folder that is not there is named") {
  const TempFolder folder;
  const std::string path = folder / "none/report.csv";
  const auto file = OutputFile::create(path);
  REQUIRE_FALSE(file.ok());
  CHECK(file.error().code == Code::io);
  CHECK(file.error().message == path + ": cannot be written: No such file or directory");
}

}  // namespace ulpscope
