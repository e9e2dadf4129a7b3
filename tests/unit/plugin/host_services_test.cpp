#include "plugin/host_services.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <stdexcept>

#include "host_fixture.hpp"

using namespace ulpscope;

TEST_CASE("the host's table logs, cuts long texts and clamps levels") {
  test::HostFixture fixture;
  const ulpscope_host* table = fixture.host.table();
  table->log(table->ctx, 2, to_str("hello"));
  table->log(table->ctx, 99, to_str("loud"));
  table->log(table->ctx, 1, {nullptr, 5});
  const std::string text(100'000, 'x');
  table->log(table->ctx, 1, to_str(text));
  REQUIRE(fixture.lines.size() == 4);
  CHECK(fixture.lines[0] == "2 hello");
  CHECK(fixture.lines[1] == "3 loud");
  CHECK(fixture.lines[2] == "1 ");
  CHECK(fixture.lines[3].size() == 65536 + 2);
}

TEST_CASE("a log function that throws or is missing harms no plugin") {
  test::HostFixture fixture;
  const HostServices throwing(
      fixture.pool, fixture.cancel, [](LogLevel, std::string_view) { throw std::runtime_error("full"); },
      "1");
  const HostServices silent(fixture.pool, fixture.cancel, {}, "1");
  CHECK_NOTHROW(throwing.table()->log(throwing.table()->ctx, 1, to_str("x")));
  CHECK_NOTHROW(silent.table()->log(silent.table()->ctx, 1, to_str("x")));
}

TEST_CASE("the host's table tells version and cancellation") {
  test::HostFixture fixture;
  const ulpscope_host* table = fixture.host.table();
  CHECK(std::string(table->version) == "9.9");
  CHECK(table->struct_size == 48);  // abi_layout.c
  CHECK(table->cancelled(table->ctx) == 0);
  fixture.cancel.request();
  CHECK(table->cancelled(table->ctx) != 0);
  CHECK_THROWS_WITH(Host(table).check_cancelled(), "cancelled");
}

TEST_CASE("parallel_for runs every index and passes the first exception of SDK code on") {
  test::HostFixture fixture;
  const Host host(fixture.host.table());
  std::atomic<uint64_t> sum{0};
  host.parallel_for(1000, [&](uint64_t i) { sum += i; });
  CHECK(sum == 499500);
  CHECK_THROWS_WITH(host.parallel_for(10, [](uint64_t) { throw Failure(ULPSCOPE_E_IO, "gone"); }), "gone");
}

TEST_CASE("parallel_for answers a bare body that throws, and senseless arguments, with a status") {
  test::HostFixture fixture;
  const ulpscope_host* table = fixture.host.table();
  const auto throws = [](void*, uint64_t) { throw 5; };
  CHECK(table->parallel_for(table->ctx, 10, throws, nullptr) == ULPSCOPE_E_INTERNAL);
  CHECK(table->parallel_for(table->ctx, 10, nullptr, nullptr) == ULPSCOPE_E_USAGE);
  CHECK(table->parallel_for(table->ctx, std::numeric_limits<uint64_t>::max(), throws, nullptr) ==
        ULPSCOPE_E_USAGE);
  CHECK(table->parallel_for(table->ctx, 0, throws, nullptr) == ULPSCOPE_OK);
}
