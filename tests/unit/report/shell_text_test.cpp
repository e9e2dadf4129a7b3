#include "report/shell_text.hpp"

#include <doctest/doctest.h>

using namespace ulpscope;

TEST_CASE("pasteable: a command that can be shown stays as it is") {
  CHECK(pasteable("") == "");
  CHECK(pasteable("ulpscope show a 'b c' --slice 0,:2") == "ulpscope show a 'b c' --slice 0,:2");
  CHECK(pasteable("ulpscope list 'it'\\''s\\n'") == "ulpscope list 'it'\\''s\\n'");
}

TEST_CASE("pasteable: bytes that a terminal must not get are written so that a shell reads them back") {
  CHECK(pasteable("ulpscope replay d --op 'a\x01\x1b[31m b'") ==
        R"(ulpscope replay d --op $'a\x01\x1b[31m b')");
  CHECK(pasteable("x 'a\\n\x07'") == R"(x $'a\\n\x07')");
  CHECK(pasteable("x 'a\x07'\\''b' 'c d'") == R"(x $'a\x07'\''b' 'c d')");
}

TEST_CASE("pasteable: an open quote is shown as text") { CHECK(pasteable("x 'a\x07") == "x 'a\\x07"); }
