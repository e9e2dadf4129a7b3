#include "match/alignment.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

using namespace ulpscope;

namespace {

// A sequence with one letter a key; names are positions unless given.
struct Letters {
  std::vector<uint64_t> keys, names;
  explicit Letters(const std::string& text, std::vector<uint64_t> own_names = {})
      : names(std::move(own_names)) {
    for (const char c : text) keys.push_back(static_cast<uint64_t>(c));
    names.resize(keys.size(), 0);
  }
  KeySequence view() const { return {keys, names}; }
};

// Length of the longest common subsequence by the textbook table: the independent answer.
size_t longest_common(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::vector<std::vector<size_t>> table(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j)
      table[i][j] =
          a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
  return table[a.size()][b.size()];
}

// The most equal names among longest common subsequences, by a table of (length, names).
std::pair<size_t, size_t> best_of_table(const KeySequence& a, const KeySequence& b) {
  using Cell = std::pair<size_t, size_t>;
  std::vector<std::vector<Cell>> table(a.keys.size() + 1, std::vector<Cell>(b.keys.size() + 1));
  for (size_t i = 1; i <= a.keys.size(); ++i)
    for (size_t j = 1; j <= b.keys.size(); ++j) {
      table[i][j] = std::max(table[i - 1][j], table[i][j - 1]);
      if (a.keys[i - 1] != b.keys[j - 1]) continue;
      Cell cell = table[i - 1][j - 1];
      ++cell.first;
      cell.second += a.names[i - 1] != 0 && a.names[i - 1] == b.names[j - 1] ? 1 : 0;
      table[i][j] = std::max(table[i][j], cell);
    }
  return table[a.keys.size()][b.keys.size()];
}

void check_valid(const KeySequence& a, const KeySequence& b, const Alignment& pairs) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    REQUIRE(pairs[i].first < a.keys.size());
    REQUIRE(pairs[i].second < b.keys.size());
    REQUIRE(a.keys[pairs[i].first] == b.keys[pairs[i].second]);
    if (i == 0) continue;
    REQUIRE(pairs[i - 1].first < pairs[i].first);
    REQUIRE(pairs[i - 1].second < pairs[i].second);
  }
}

Letters random_letters(std::mt19937& random, size_t length, int alphabet) {
  std::string text;
  std::vector<uint64_t> names;
  for (size_t i = 0; i < length; ++i) {
    text += static_cast<char>('a' + static_cast<int>(random() % static_cast<unsigned>(alphabet)));
    names.push_back(random() % 40);
  }
  return Letters(text, names);
}

}  // namespace

TEST_CASE("alignment: nothing pairs with an empty sequence") {
  CHECK(align(Letters("").view(), Letters("abc").view()).empty());
  CHECK(align(Letters("abc").view(), Letters("").view()).empty());
  CHECK(align(Letters("").view(), Letters("").view()).empty());
}

TEST_CASE("alignment: one call more shifts nothing") {
  CHECK(align(Letters("abXcd").view(), Letters("abcd").view()) == Alignment{{0, 0}, {1, 1}, {3, 2}, {4, 3}});
}

TEST_CASE("alignment: among alignments of equal length the one with most equal names wins") {
  // Three equal calls against two: the first of the target was added, names 2 and 3 stand on both sides.
  CHECK(align(Letters("aaa", {1, 2, 3}).view(), Letters("aa", {2, 3}).view()) == Alignment{{1, 0}, {2, 1}});
  CHECK(align(Letters("aaa", {1, 2, 3}).view(), Letters("aa", {1, 2}).view()) == Alignment{{0, 0}, {1, 1}});
  CHECK(align(Letters("aaa", {1, 2, 3}).view(), Letters("aa", {1, 3}).view()) == Alignment{{0, 0}, {2, 1}});
}

TEST_CASE("alignment: as long as the longest common subsequence, with the most names, and symmetric") {
  std::mt19937 random(20240501);
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    const int alphabet = 1 + static_cast<int>(random() % 6);
    const Letters a = random_letters(random, random() % 40, alphabet);
    const Letters b = random_letters(random, random() % 40, alphabet);
    const Alignment forth = align(a.view(), b.view());
    check_valid(a.view(), b.view(), forth);
    REQUIRE(forth.size() == longest_common(a.keys, b.keys));
    size_t names = 0;
    for (const auto& [x, y] : forth) names += a.names[x] != 0 && a.names[x] == b.names[y] ? 1 : 0;
    REQUIRE(std::make_pair(forth.size(), names) == best_of_table(a.view(), b.view()));
    Alignment back = align(b.view(), a.view());
    for (auto& [x, y] : back) std::swap(x, y);
    REQUIRE(forth == back);
  }
}

TEST_CASE("alignment: limits shorten the search, never break the order") {
  std::mt19937 random(7);
  const Letters a = random_letters(random, 300, 5), b = random_letters(random, 280, 5);
  const size_t longest = longest_common(a.keys, b.keys);
  SUBCASE("few edits: piece by piece") {
    const Alignment pairs = align(a.view(), b.view(), {8, int64_t{1} << 30, 1 << 20});
    check_valid(a.view(), b.view(), pairs);
    CHECK(pairs.size() * 10 >= longest * 8);
  }
  SUBCASE("few steps: order of appearance") {
    const Alignment pairs = align(a.view(), b.view(), {8, 100, 1 << 20});
    check_valid(a.view(), b.view(), pairs);
    CHECK(pairs.size() > 0);
  }
  SUBCASE("no room for names: any of the longest") {
    const Alignment pairs = align(a.view(), b.view(), {2048, int64_t{1} << 30, 1});
    check_valid(a.view(), b.view(), pairs);
    CHECK(pairs.size() == longest);
  }
}

TEST_CASE("alignment: keys that are unique on both sides hold it together beyond the limit") {
  // Every third key is unique; the rest is one letter, added and left out at will.
  std::mt19937 random(99);
  Letters a(""), b("");
  size_t expected = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    const size_t of_a = random() % 4, of_b = random() % 4;
    a.keys.insert(a.keys.end(), of_a, 1);
    b.keys.insert(b.keys.end(), of_b, 1);
    a.keys.push_back(1000 + i);
    b.keys.push_back(1000 + i);
    expected += 1 + std::min(of_a, of_b);  // every unique key, and what both sides have before it
  }
  a.names.resize(a.keys.size(), 0);
  b.names.resize(b.keys.size(), 0);
  const Alignment pairs = align(a.view(), b.view(), {16, int64_t{1} << 30, 1 << 20});
  check_valid(a.view(), b.view(), pairs);
  CHECK(pairs.size() == expected);
}

TEST_CASE(
    "alignment: a million calls with a hundred edits take little more than one comparison a call and edit") {
  // Layers of 40 calls of 12 kinds, as a decoder makes them: nothing but the name tells one layer from
  // another.
  constexpr size_t kCalls = 1'000'000, kEdits = 100;
  Letters a("");
  for (size_t i = 0; i < kCalls; ++i) {
    a.keys.push_back(1 + (i % 40) * (i % 40) % 12);
    a.names.push_back(1 + i);
  }
  Letters b("");
  for (size_t i = 0; i < kCalls; ++i) {
    const size_t place = i % (kCalls / kEdits);
    if (place == 5000 && (i / (kCalls / kEdits)) % 2 == 0) continue;  // left out
    b.keys.push_back(a.keys[i]);
    b.names.push_back(a.names[i]);
    if (place == 5000) {  // added
      b.keys.push_back(77);
      b.names.push_back(0);
    }
  }
  const Alignment pairs = align(a.view(), b.view(), {2048, static_cast<int64_t>(kCalls * kEdits), 1 << 26});
  check_valid(a.view(), b.view(), pairs);
  CHECK(pairs.size() == kCalls - kEdits / 2);
  size_t same_names = 0;
  for (const auto& [x, y] : pairs) same_names += a.names[x] == b.names[y] ? 1 : 0;
  CHECK(same_names == pairs.size());
}
