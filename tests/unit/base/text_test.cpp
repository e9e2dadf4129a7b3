#include "base/text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

using namespace ulpscope;

TEST_CASE("is_utf8 sees one wrong byte wherever it stands") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("only ASCII, longer than a word"));
  CHECK(
      is_utf8("gr\xC3\xB6\xC3\x9F"
              "er than \xE2\x82\xAC and \xF0\x9F\x98\x80"));
  for (const size_t at : {0, 7, 8, 20}) {
    CAPTURE(at);
    std::string text(21, 'x');
    text[at] = '\xFF';
    CHECK_FALSE(is_utf8(text));
  }
  CHECK_FALSE(is_utf8("cut in the middle \xE2\x82"));
}

TEST_CASE("number_text is the shortest text that reads back as the same double") {
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(1.0) == "1");
  CHECK(number_text(-0.0) == "-0");
  CHECK(number_text(1e300) == "1e+300");
  CHECK(number_text(5e-324) == "5e-324");
  CHECK(number_text(0.1 + 0.2) == "0.30000000000000004");
  CHECK(number_text(9007199254740993.0) == "9007199254740992");
}

TEST_CASE("number_text names what is no finite number") {
  CHECK(number_text(std::nan("")) == "NaN");
  CHECK(number_text(std::numeric_limits<double>::infinity()) == "Infinity");
  CHECK(number_text(-std::numeric_limits<double>::infinity()) == "-Infinity");
}

TEST_CASE("parse_int takes a whole decimal integer and nothing else") {
  CHECK(parse_int("42") == 42);
  CHECK(parse_int("-9223372036854775808") == std::numeric_limits<int64_t>::min());
  CHECK_FALSE(parse_int("9223372036854775808"));
  CHECK_FALSE(parse_int(""));
  CHECK_FALSE(parse_int("1 "));
  CHECK_FALSE(parse_int(" 1"));
  CHECK_FALSE(parse_int("+1"));
  CHECK_FALSE(parse_int("0x1"));
  CHECK_FALSE(parse_int("1.0"));
}

TEST_CASE("parse_double takes a whole number in any of its forms") {
  CHECK(parse_double("1e-3") == 0.001);
  CHECK(parse_double("+2.5") == 2.5);
  CHECK(parse_double("Infinity") == std::numeric_limits<double>::infinity());
  CHECK(parse_double("-INF") == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(parse_double("NaN").value()));
  CHECK_FALSE(parse_double(""));
  CHECK_FALSE(parse_double("+"));
  CHECK_FALSE(parse_double("+-5"));
  CHECK_FALSE(parse_double("1,5"));
  CHECK_FALSE(parse_double("1.5x"));
  CHECK_FALSE(parse_double("nan(1)"));
}

TEST_CASE("parse_double rounds what is out of range to zero or infinity") {
  const std::string nines(400, '9'), zeros(400, '0');
  CHECK(parse_double("1e-400") == 0.0);
  CHECK(std::signbit(parse_double("-1e-400").value()));
  CHECK(parse_double("1e400") == std::numeric_limits<double>::infinity());
  CHECK(parse_double("0." + zeros + "1") == 0.0);
  CHECK(parse_double(nines) == std::numeric_limits<double>::infinity());
  CHECK(parse_double("-" + nines + ".5e-5") == -std::numeric_limits<double>::infinity());
  CHECK(parse_double("0." + zeros + "1e+10") == 0.0);
  CHECK(parse_double("1e99999999999999999999") == std::numeric_limits<double>::infinity());
  CHECK(parse_double("1e-99999999999999999999") == 0.0);
}

TEST_CASE("glob_match: '*' is any run, '?' any one byte") {
  CHECK(glob_match("*", ""));
  CHECK(glob_match("conv?d", "conv2d"));
  CHECK_FALSE(glob_match("conv?d", "convd"));
  CHECK(glob_match("*.mat*mul.*", "Torch.matmul.2.forward"));
  CHECK(glob_match("a*b*c", "a_b_b_c"));
  CHECK_FALSE(glob_match("a*b*c", "a_c_b"));
  CHECK_FALSE(glob_match("", "a"));
  CHECK(glob_match("", ""));
  CHECK_FALSE(glob_match("abc", "ABC"));
  CHECK(glob_match("a?C*", "ABcd", true));
}

TEST_CASE("glob_match needs no exponential time") {
  // Backtracking over every star would take 2^40 steps.
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "a*";
  CHECK_FALSE(glob_match(pattern + "b", std::string(2000, 'a')));
}

TEST_CASE("parse_number_list gives sorted distinct numbers") {
  CHECK(parse_number_list("0,2-5").value() == std::vector<int32_t>{0, 2, 3, 4, 5});
  CHECK(parse_number_list("7,3,3-4").value() == std::vector<int32_t>{3, 4, 7});
  CHECK(parse_number_list("2147483647").value() == std::vector<int32_t>{2147483647});
}

TEST_CASE("parse_number_list refuses what is no list of numbers") {
  const auto refused = [](const char* text) {
    const auto list = parse_number_list(text);
    return !list.ok() && list.error().code == Code::usage &&
           list.error().message ==
               std::string("'") + text + "' is not a list of numbers, expected a form like 0,2-5";
  };
  CHECK(refused(""));
  CHECK(refused("a"));
  CHECK(refused("1,"));
  CHECK(refused("-1"));
  CHECK(refused("5-2"));
  CHECK(refused("1-"));
  CHECK(refused("1-2-3"));
  CHECK(refused("2147483648"));
  CHECK(refused("0-1000000"));
  CHECK(refused("0-999999,1000000"));
  CHECK(parse_number_list("0-999999").ok());
}

TEST_CASE("printable shows control bytes and invalid UTF-8 as \\xNN and keeps the rest") {
  CHECK(printable("plain text, 中文 é 😀") == "plain text, 中文 é 😀");
  CHECK(printable("\x1b[2J") == "\\x1b[2J");
  CHECK(printable("a\nb\tc\x7f") == "a\\x0ab\\x09c\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");                    // U+009B, a control sequence introducer
  CHECK(printable("\xc2\xa0") == "\xc2\xa0");                      // U+00A0, no control
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");                    // overlong '/'
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // past U+10FFFF
  CHECK(printable("a\xe2\x80\xae"
                  "b") ==
        "a\\xe2\\x80\\xae"
        "b");                                                      // U+202E, right to left from here on
  CHECK(printable("\xe2\x80\x8b") == "\\xe2\\x80\\x8b");           // U+200B, of no width
  CHECK(printable("\xe2\x81\xa6") == "\\xe2\\x81\\xa6");           // U+2066, isolates a direction
  CHECK(printable("\xef\xbb\xbf") == "\\xef\\xbb\\xbf");           // U+FEFF, byte order mark
  CHECK(printable("\xd8\x9c") == "\\xd8\\x9c");                    // U+061C, a mark of direction
  CHECK(printable("\xc2\xad") == "\\xc2\\xad");                    // U+00AD, a soft hyphen
  CHECK(printable("\xf3\xa0\x81\x81") == "\\xf3\\xa0\\x81\\x81");  // U+E0041, a tag
  CHECK(printable("\xe2\x80\xa6") == "\xe2\x80\xa6");              // U+2026, an ellipsis
  CHECK(printable("\xe4\xb8") == "\\xe4\\xb8");                    // cut short
}

TEST_CASE("valid_utf8 puts U+FFFD for each byte that is not UTF-8") {
  CHECK(valid_utf8("中\xff文\xe4") == "中\xEF\xBF\xBD文\xEF\xBF\xBD");
  CHECK(valid_utf8("\n\x1b") == "\n\x1b");
}

TEST_CASE("split keeps empty parts") {
  CHECK(split("a,,b,", ',') == std::vector<std::string_view>{"a", "", "b", ""});
  CHECK(split("", ',') == std::vector<std::string_view>{""});
}

TEST_CASE("size_text uses decimal units and two digits") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(999) == "999 B");
  CHECK(size_text(1000) == "1.0 kB");
  CHECK(size_text(9949) == "9.9 kB");
  CHECK(size_text(9960) == "10 kB");
  CHECK(size_text(320000) == "320 kB");
  CHECK(size_text(999950) == "1.0 MB");
  CHECK(size_text(1500000000) == "1.5 GB");
  CHECK(size_text(18446744073709551615ULL) == "18446744 TB");
}

TEST_CASE("count_text groups digits by three") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1234567) == "1 234 567");
  CHECK(count_text(-123456) == "-123 456");
  CHECK(count_text(std::numeric_limits<int64_t>::min()) == "-9 223 372 036 854 775 808");
}
