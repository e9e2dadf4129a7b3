#include "report/output_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <regex>

#include "temp_folder.hpp"

namespace ulpscope {

using test::TempFolder;

TEST_CASE("output folder: a fresh one inside the base, named for the command and the UTC time") {
  const TempFolder folder;
  const std::string base = folder / "a/b";
  const auto first = make_output_folder({base, "compare", false, false});
  const auto second = make_output_folder({base, "compare", false, false});
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  const std::regex name(R"(.*/a/b/compare_\d{8}T\d{6}Z(-\d+)?)");
  CHECK(std::regex_match(*first, name));
  CHECK(std::regex_match(*second, name));
  CHECK(*first != *second);
  CHECK(std::filesystem::is_directory(*first));
  CHECK(std::filesystem::is_directory(*second));
}

TEST_CASE("output folder: exact takes the base, unless it holds a result") {
  const TempFolder folder;
  const std::string base = folder / "out";
  const auto made = make_output_folder({base, "compare", true, false});
  REQUIRE(made.ok());
  CHECK(*made == base);
  folder.write("out/notes.txt", "mine");
  CHECK(make_output_folder({base, "compare", true, false}).ok());
  folder.write("out/compare_result.json", "{}");
  const auto refused = make_output_folder({base, "compare", true, false});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::usage);
  CHECK(refused.error().message == base + ": holds a result already, expected a folder without one");
}

TEST_CASE("output folder: what makes a folder a result") {
  for (const char* name :
       {"compare_result.json", "overflow_result.json", "compare_result_rank0_20260101000000.csv",
        "accuracy_checking_result_20260101000000.csv", "journal.jsonl", "junit.xml"}) {
    CAPTURE(name);
    const TempFolder folder;
    CHECK_FALSE(holds_result(folder.path()));
    folder.write(name, "");
    CHECK(holds_result(folder.path()));
  }
}

TEST_CASE("output folder: resume goes on in the base, which must be there") {
  const TempFolder folder;
  folder.write("run/journal.jsonl", "");
  const auto found = make_output_folder({folder / "run", "compare", false, true});
  REQUIRE(found.ok());
  CHECK(*found == folder / "run");
  const auto missing = make_output_folder({folder / "other", "compare", false, true});
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == Code::usage);
  CHECK(missing.error().message ==
        (folder / "other") + ": no such folder, expected the folder of the run to go on with");
}

TEST_CASE("output folder: a base that is a file is refused") {
  const TempFolder folder;
  const std::string base = folder.write("file", "");
  const auto made = make_output_folder({base, "compare", false, false});
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == Code::io);
  CHECK(made.error().message.find(base + ": cannot be made as output folder: ") == 0);
}

}  // namespace ulpscope
