#include <doctest/doctest.h>

#include "cli/help.hpp"
#include "cli/overview.hpp"
#include "cli/table.hpp"
#include "cli/wrap_text.hpp"

namespace ulpscope {

TEST_CASE("wrap: breaks at blanks, indents every line and keeps long words whole") {
  CHECK(wrap_text("one two three", 2, 9) == "  one two\n  three\n");
  CHECK(wrap_text("abcdefghijkl x", 0, 5) == "abcdefghijkl\nx\n");
  CHECK(wrap_text("", 2, 9) == "  \n");
}

TEST_CASE("table: columns are as wide as their widest cell and numbers stand right") {
  ColumnTable table({"N", "NAME"}, {true, false});
  table.add({"1", "a"});
  table.add({"100", "é"});
  CHECK(table.text() == "  N  NAME\n  1  a\n100  é\n");
}

TEST_CASE("wrap: wide characters count twice and may begin a line, closing marks may not") {
  CHECK(wrap_text("one two three", 2, 9) == "  one two\n  three\n");
  CHECK(wrap_text("one two three", 2, 0) == "  one two three\n");
  CHECK(wrap_text("一二三四五", 0, 6) == "一二三\n四五\n");
  CHECK(wrap_text("一二三，四", 0, 6) == "一二\n三，四\n");
  CHECK(wrap_text("用 abc 四五", 2, 8) == "  用 abc\n  四五\n");
  CHECK(wrap_text("\xff\x80z", 0, 1) == "\xff\x80z\n");
}

TEST_CASE("table: control characters are made visible") {
  ColumnTable table({"A"}, {false});
  table.add({"x\x1b[2J\ny"});
  CHECK(table.text() == "A\nx\\x1b[2J\\x0ay\n");
}

TEST_CASE("table: on a narrow terminal the last column is broken and nothing is cut") {
  ColumnTable table({"NAME", "MEANING"}, {false, false});
  table.add({"float32_over_rate", "share of elements above the threshold"});
  CHECK(table.text(44) ==
        "NAME               MEANING\n"
        "float32_over_rate  share of elements above\n"
        "                   the threshold\n");
  CHECK(table.text(30) ==
        "NAME\n    MEANING\n"
        "float32_over_rate\n    share of elements above\n    the threshold\n");
}

TEST_CASE("table: columns of names stay whole where others are left out") {
  std::vector<size_t> widths = {4, 60, 30, 10};
  fit_columns(widths, {true, false, false, true}, 80, {false, true, false, false});
  CHECK(widths == std::vector<size_t>{4, 60, 12, 0});
  widths = {4, 90, 30};
  fit_columns(widths, {true, false, false}, 80, {false, true, false});
  CHECK(widths == std::vector<size_t>{4, 90, 0});
}

TEST_CASE("number lists join runs") {
  CHECK(number_list_text({}) == "-");
  CHECK(number_list_text({3}) == "3");
  CHECK(number_list_text({0, 1}) == "0,1");
  CHECK(number_list_text({0, 1, 2, 5, 7, 8, 9}) == "0-2,5,7-9");
}

}  // namespace ulpscope
