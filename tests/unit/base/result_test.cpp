#include "base/result.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace ulpscope;

namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return Error{Code::usage, std::to_string(number) + ": odd, expected an even number"};
  return number / 2;
}

Result<int> quarter_of(int number) {
  ULPSCOPE_ASSIGN(const int half, half_of(number));
  ULPSCOPE_ASSIGN(const int quarter, half_of(half));
  return quarter;
}

Status check_even(int number) {
  ULPSCOPE_TRY(half_of(number));
  return {};
}

}  // namespace

TEST_CASE("a result holds a value or an error") {
  CHECK(half_of(4).ok());
  CHECK(half_of(4).value() == 2);
  CHECK_FALSE(half_of(3).ok());
  CHECK(half_of(3).error().code == Code::usage);
}

TEST_CASE("a result moves out what can only be moved") {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  const std::unique_ptr<int> value = std::move(result).value();
  CHECK(*value == 5);
}

TEST_CASE("ULPSCOPE_ASSIGN and ULPSCOPE_TRY return the error of the inner call") {
  CHECK(quarter_of(8).value() == 2);
  CHECK(quarter_of(6).error().message == "3: odd, expected an even number");
  CHECK(check_even(2).ok());
  CHECK(check_even(5).error().message == "5: odd, expected an even number");
}

TEST_CASE("within puts the context in front and keeps the code") {
  const Error error = Error{Code::format, "byte 4: bad"}.within("dump.json").within("golden");
  CHECK(error.message == "golden: dump.json: byte 4: bad");
  CHECK(error.code == Code::format);
}

TEST_CASE("every code has its word") {
  CHECK(to_text(Code::usage) == "usage");
  CHECK(to_text(Code::io) == "io");
  CHECK(to_text(Code::format) == "format");
  CHECK(to_text(Code::unsupported) == "unsupported");
  CHECK(to_text(Code::cancelled) == "cancelled");
  CHECK(to_text(Code::no_memory) == "no_memory");
  CHECK(to_text(Code::internal) == "internal");
}
