#include "base/diagnostics.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace ulpscope;

TEST_CASE("diagnostics keep the first hundred of each code and count all") {
  Diagnostics diagnostics;
  for (int i = 0; i < 150; ++i) diagnostics.add({Severity::warning, Code::format, "file", std::to_string(i)});
  for (int i = 0; i < 3; ++i) diagnostics.add({Severity::error, Code::io, "file", "io"});
  CHECK(diagnostics.count() == 153);
  CHECK(diagnostics.count(Severity::warning) == 150);
  CHECK(diagnostics.count(Severity::error) == 3);
  CHECK(diagnostics.count(Severity::notice) == 0);
  const auto kept = diagnostics.kept();
  REQUIRE(kept.size() == 103);
  CHECK(kept[99].text == "99");
  CHECK(kept[100].text == "io");
}

TEST_CASE("an error becomes a diagnostic with its code and place") {
  Diagnostics diagnostics;
  diagnostics.add(Severity::notice, Error{Code::unsupported, "a new kind"}, "x.so");
  const auto kept = diagnostics.kept();
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].severity == Severity::notice);
  CHECK(kept[0].code == Code::unsupported);
  CHECK(kept[0].where == "x.so");
  CHECK(kept[0].text == "a new kind");
}

TEST_CASE("diagnostics may be added from several threads") {
  Diagnostics diagnostics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) diagnostics.add({Severity::warning, Code::format, "", ""});
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(diagnostics.count() == 2000);
  CHECK(diagnostics.kept().size() == 100);
}

TEST_CASE("every severity has its word") {
  CHECK(to_text(Severity::notice) == "notice");
  CHECK(to_text(Severity::warning) == "warning");
  CHECK(to_text(Severity::error) == "error");
}
