#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "anomaly/finding.hpp"
#include "anomaly/periodic_tail.hpp"
#include "anomaly/scripts.hpp"
#include "badcase/badcase.hpp"
#include "badcase/mcnemar.hpp"
#include "first_token/token_diff.hpp"
#include "outputs/code_points.hpp"

using namespace ulpscope;

namespace {

std::string tail_of(const std::string& text, size_t most_period, double repeats, double span) {
  const auto tail = periodic_tail(text, most_period, repeats, span, [](size_t, size_t) { return false; });
  return tail ? std::to_string(tail->period) + "/" + std::to_string(tail->span) : "none";
}

}  // namespace

TEST_CASE("the shortest period of the end and how far it goes") {
  CHECK(tail_of("xyabcabcabcabc", 10, 4, 12) == "3/12");
  CHECK(tail_of("xycabcabcabcabc", 10, 4, 12) == "3/13");  // a part of one more
  CHECK(tail_of("xyabcabcabc", 10, 4, 9) == "none");
  CHECK(tail_of("aaaa", 10, 4, 4) == "1/4");
  CHECK(tail_of("abababab", 1, 2, 4) == "none");  // the period is over the limit
  CHECK(tail_of("", 10, 4, 0) == "none");
  CHECK(tail_of("a", 10, 1, 0) == "none");
  CHECK(tail_of("aabaabaabaab", 10, 4, 12) == "3/12");
}

TEST_CASE("a period that is excused lets a longer one count") {
  const std::string text = "----------------";
  const auto tail = periodic_tail(text, 8, 2, 4, [](size_t period, size_t) { return period < 3; });
  REQUIRE(tail.has_value());
  CHECK(tail->period == 3);
}

TEST_CASE("exact McNemar") {
  CHECK(mcnemar_p(0, 0) == 1);
  CHECK(mcnemar_p(1, 1) == 1);
  CHECK(mcnemar_p(9, 1) == 0.021484375);  // 2 (1 + 10) / 2^10
  CHECK(mcnemar_p(1, 9) == 0.021484375);
  CHECK(mcnemar_p(6, 0) == 0.03125);
  // Above a thousand samples by logarithms: 2 * sum(comb(1001, i) for i in range(451)) / 2**1001 in Python.
  CHECK(mcnemar_p(501, 500) == doctest::Approx(1.0).epsilon(1e-9));
  CHECK(mcnemar_p(551, 450) == doctest::Approx(0.001561138839699202).epsilon(1e-9));
  CHECK(mcnemar_p(100000, 0) == 0);
}

TEST_CASE("how many samples would show a drop") {
  CHECK(samples_needed(5, 0, 5) == 6);
  CHECK(samples_needed(5, 0, 100) == 120);
  CHECK_FALSE(samples_needed(1, 1, 10).has_value());
  CHECK_FALSE(samples_needed(0, 3, 10).has_value());
}

TEST_CASE("scripts by letter") {
  CHECK(script_of(U'a') == kLatin);
  CHECK(script_of(U'\u00d7') == kNoScript);  // the multiplication sign lies among the letters
  CHECK(script_of(U'\u3042') == kKana);
  CHECK(script_of(U'\u30fc') == kKana);  // the long vowel mark, common to several scripts in the database
  CHECK(script_of(U'\u3005') == kHan);   // outside of the ranges, by the database
  CHECK(script_of(U'\u0301') == kNoScript);
  CHECK(script_of(U'1') == kNoScript);
  CHECK(script_name(script_of(U'\u0434')) == "Cyrillic");
  CHECK(script_name(kKana) == "Kana");
  CHECK(scripts_of(U"\u30ab x").count(kHan) == 1);
}

TEST_CASE("languages that a prompt asks for") {
  for (const char* prompt : {"Translate: x", "in russian", "Write it into the Greek, please",
                             "Hebrew language lesson", "翻译", "请用法语", "英文怎么写", "用阿拉伯语"}) {
    CAPTURE(prompt);
    CHECK(asks_for_language(prompt));
  }
  for (const char* prompt : {"Russian history", "finnish it", "其中文化", "今日文章", "方法语句", ""}) {
    CAPTURE(prompt);
    CHECK_FALSE(asks_for_language(prompt));
  }
}

TEST_CASE("code points of text that is not UTF-8") {
  CHECK(code_points("a\xe4\xb8\xad") == U"a\u4e2d");
  CHECK(code_points("\xff") == U"\ufffd");
  CHECK(count_code_points("\xf0\x9f\x98\x80!") == 2);
  CHECK(utf8_of(U"\u4e2d\U0001f600") == "\xe4\xb8\xad\xf0\x9f\x98\x80");
  CHECK(utf8_of(std::u32string(1, 0xd800)) == "\xef\xbf\xbd");
}

TEST_CASE("digits in keys count as numbers") {
  CHECK(is_naturally_before("q2", "q10"));
  CHECK_FALSE(is_naturally_before("q10", "q2"));
  CHECK(is_naturally_before("a", "a1"));
  CHECK(is_naturally_before("a9b", "a10a"));
  CHECK_FALSE(is_naturally_before("x", "x"));
  CHECK(is_naturally_before("99999999999999999999998", "99999999999999999999999"));
  CHECK(is_naturally_before("a01", "a1") != is_naturally_before("a1", "a01"));
}

TEST_CASE("bytes of tokens decide where their texts are the same") {
  ModelOutput golden, problem;
  golden.has_tokens = problem.has_tokens = true;
  golden.tokens.texts = problem.tokens.texts = {"\xef\xbf\xbd"};
  golden.tokens.bytes = {"\xe5\x8c"};
  problem.tokens.bytes = {"\xe6\x97"};
  const TokenDiff diff = compare_outputs(golden, problem, {});
  CHECK(diff.status == DiffStatus::diverged);
  CHECK(diff.golden_token.text == "bytes:E58C");
  problem.tokens.bytes.clear();
  CHECK(compare_outputs(golden, problem, {}).status == DiffStatus::same);
}

TEST_CASE("every symptom has a name and those that hint at a cause a first check") {
  for (size_t i = 0; i < kSymptoms; ++i) {
    const auto symptom = static_cast<Symptom>(i);
    CAPTURE(to_text(symptom));
    CHECK_FALSE(to_text(symptom).empty());
    const bool hints = symptom != Symptom::truncated && symptom != Symptom::low_confidence;
    CHECK(first_checks(symptom).empty() != hints);
  }
}
