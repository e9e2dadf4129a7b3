#include <doctest/doctest.h>

#include "cli/help.hpp"
#include "cli/overview.hpp"
#include "cli/table.hpp"

namespace ulpscope {

TEST_CASE("wrap: breaks at blanks, indents every line and keeps long words whole") {
  CHECK(wrap("one two three", 2, 9) == "  one two\n  three\n");
  CHECK(wrap("abcdefghijkl x", 0, 5) == "abcdefghijkl\nx\n");
  CHECK(wrap("", 2, 9) == "  \n");
}

TEST_CASE("table: columns are as wide as their widest cell and numbers stand right") {
  TextTable table({"N", "NAME"}, {true, false});
  table.add({"1", "a"});
  table.add({"100", "é"});
  CHECK(table.text() == "  N  NAME\n  1  a\n100  é\n");
}

TEST_CASE("table: control characters are made visible") {
  TextTable table({"A"}, {false});
  table.add({"x\x1b[2J\ny"});
  CHECK(table.text() == "A\nx\\x1b[2J\\x0ay\n");
}

TEST_CASE("number lists join runs") {
  CHECK(number_list_text({}) == "-");
  CHECK(number_list_text({3}) == "3");
  CHECK(number_list_text({0, 1}) == "0,1");
  CHECK(number_list_text({0, 1, 2, 5, 7, 8, 9}) == "0-2,5,7-9");
}

}  // namespace ulpscope
