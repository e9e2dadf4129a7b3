// Every limit of the judgements at its value, one step below and one step above. The numbers are those of the
// published standard, and where "msprobe" is said those of its code.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "judgement_host.hpp"

namespace {

using namespace ulpscope;
using namespace ulpscope::test;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kPeer = R"({"profile": "msprobe_code"})";

double up(double x) { return std::nextafter(x, kInf); }
double down(double x) { return std::nextafter(x, -kInf); }

int32_t verdict_of(JudgementHost& host, const char* name, const std::string& options, DType dtype,
                   const std::vector<double>& metrics, const std::vector<double>& reference = {}) {
  return judge(host.judgement(name, options), dtype, DType::f64, metrics_of(metrics), metrics_of(reference))
      .overall;
}

// Four deciding ratios and the balance, all 1 but one.
int32_t benchmark_with(JudgementHost& host, const char* level, size_t metric, double ratio) {
  std::vector<double> device = {1, 1, 1, 1, 1};
  device[metric] = ratio;
  return verdict_of(host, "benchmark", std::string(R"({"level": ")") + level + "\"}", DType::f32, device,
                    {1, 1, 1, 1, 1});
}

void check_ratio(JudgementHost& host, const char* level, size_t metric, double limit) {
  CAPTURE(level);
  CAPTURE(metric);
  CHECK(benchmark_with(host, level, metric, down(limit)) == ULPSCOPE_PASS);
  CHECK(benchmark_with(host, level, metric, limit) == ULPSCOPE_PASS);
  CHECK(benchmark_with(host, level, metric, up(limit)) == ULPSCOPE_FAIL);
}

// A rate or error that must be below a limit.
void check_below(JudgementHost& host, const char* name, const std::string& options, DType dtype,
                 const std::vector<double>& others, size_t metric, double limit) {
  CAPTURE(name);
  CAPTURE(ulpscope::name(dtype));
  std::vector<double> metrics = others;
  metrics[metric] = down(limit);
  CHECK(verdict_of(host, name, options, dtype, metrics) == ULPSCOPE_PASS);
  metrics[metric] = limit;
  CHECK(verdict_of(host, name, options, dtype, metrics) == ULPSCOPE_FAIL);
  metrics[metric] = up(limit);
  CHECK(verdict_of(host, name, options, dtype, metrics) == ULPSCOPE_FAIL);
}

// The share of the small values of {golden} with {actual} that count, by the benchmark method.
double small_rate(JudgementHost& host, const std::string& options, DType device, double actual,
                  double golden) {
  return measure(host.judgement("benchmark", options), floats(device, {actual}),
                 floats(DType::f64, {golden}))[0]
      .value;
}

// Whether golden is a small value: an error of the size of golden counts for the relative metrics or not.
bool is_small(JudgementHost& host, const std::string& options, DType device, double golden) {
  return measure(host.judgement("benchmark", options), floats(device, {0}), floats(DType::f64, {golden}))[2]
             .value == 0;
}

}  // namespace

TEST_CASE("benchmark: the ratio of each metric may reach the limit of the guard level and not pass it") {
  JudgementHost host;
  for (const char* level : {"L0", "L1", "L2"}) check_ratio(host, level, 0, 2);
  check_ratio(host, "L0", 1, 2);
  check_ratio(host, "L1", 1, 1.5);
  check_ratio(host, "L2", 1, 1.2);
  check_ratio(host, "L0", 2, 10);
  check_ratio(host, "L1", 2, 5);
  check_ratio(host, "L2", 2, 2);
  check_ratio(host, "L0", 3, 2);
  check_ratio(host, "L1", 3, 1.5);
  check_ratio(host, "L2", 3, 1.2);
}

TEST_CASE("benchmark: the error balance is marked above its limit and decides nothing") {
  JudgementHost host;
  const auto judgement = host.judgement("benchmark");
  const auto with = [&](double balance) {
    return judge(judgement, DType::f32, DType::f64, metrics_of({1, 1, 1, 1, balance}),
                 metrics_of({1, 1, 1, 1, 1}));
  };
  CHECK(with(2).per_metric[4] == ULPSCOPE_PASS);
  CHECK(with(down(2)).per_metric[4] == ULPSCOPE_PASS);
  CHECK(with(up(2)).per_metric[4] == ULPSCOPE_FAIL);
  CHECK(with(1000).overall == ULPSCOPE_PASS);
}

TEST_CASE("benchmark: a reference below the floor of its type counts as the floor") {
  JudgementHost host;
  const auto with = [&](DType dtype, double device, double reference) {
    return verdict_of(host, "benchmark", "{}", dtype, {0, device, 0, 0, 0}, {0, reference, 0, 0, 0});
  };
  const auto check_floor = [&](DType dtype, double floor) {
    CAPTURE(name(dtype));
    CHECK(with(dtype, 2 * floor, 0) == ULPSCOPE_PASS);
    CHECK(with(dtype, 2 * floor, floor) == ULPSCOPE_PASS);
    CHECK(with(dtype, up(2 * floor), down(floor)) == ULPSCOPE_FAIL);
    CHECK(with(dtype, up(2 * floor), up(floor)) == ULPSCOPE_PASS);
  };
  check_floor(DType::f32, 0x1p-14);
  check_floor(DType::f16, 0x1p-11);
  check_floor(DType::bf16, 0x1p-8);
  check_floor(DType::f64, 0x1p-14);
}

TEST_CASE("benchmark: what is not finite must be the same on both devices") {
  JudgementHost host;
  const auto with = [&](double device, double reference) {
    return verdict_of(host, "benchmark", "{}", DType::f32, {0, device, 0, 0, 0}, {0, reference, 0, 0, 0});
  };
  CHECK(with(kNaN, kNaN) == ULPSCOPE_PASS);
  CHECK(with(kInf, kInf) == ULPSCOPE_PASS);
  CHECK(with(-kInf, -kInf) == ULPSCOPE_PASS);
  CHECK(with(kInf, -kInf) == ULPSCOPE_FAIL);
  CHECK(with(kNaN, kInf) == ULPSCOPE_FAIL);
  CHECK(with(kNaN, 1) == ULPSCOPE_FAIL);
  CHECK(with(1, kNaN) == ULPSCOPE_FAIL);
  CHECK(with(0, 0) == ULPSCOPE_PASS);
  CHECK(with(-0.5, 0.5) == ULPSCOPE_PASS);
}

TEST_CASE("benchmark: a metric that is missing is never part of a pass") {
  JudgementHost host;
  for (size_t metric = 0; metric < 5; ++metric) {
    CAPTURE(metric);
    std::vector<double> blank = {1, 1, 1, 1, 1};
    blank[metric] = kMissing;
    const auto device = verdict_of(host, "benchmark", "{}", DType::f32, blank, {1, 1, 1, 1, 1});
    CHECK(device == (metric < 4 ? ULPSCOPE_FAIL : ULPSCOPE_SKIP));
    CHECK(verdict_of(host, "benchmark", "{}", DType::f32, {1, 1, 1, 1, 1}, blank) == ULPSCOPE_SKIP);
    CHECK(verdict_of(host, "benchmark", "{}", DType::f32, {9, 9, 99, 9, 1}, blank) == ULPSCOPE_FAIL);
  }
  CHECK(verdict_of(host, "benchmark", "{}", DType::f32, {1, 1, 1, 1, 1}) == ULPSCOPE_SKIP);
}

TEST_CASE("benchmark: a golden of the size of the limit is a small value, the next one above is not") {
  JudgementHost host;
  const auto check_domain = [&](const std::string& options, DType dtype, double limit) {
    CAPTURE(options);
    CAPTURE(name(dtype));
    CHECK(is_small(host, options, dtype, down(limit)));
    CHECK(is_small(host, options, dtype, limit));
    CHECK(is_small(host, options, dtype, -limit));
    CHECK_FALSE(is_small(host, options, dtype, up(limit)));
  };
  check_domain("{}", DType::f32, 0x1p-14);
  check_domain("{}", DType::f16, 0x1p-11);
  check_domain("{}", DType::bf16, 0x1p-8);
  check_domain("{}", DType::f8_e4m3fn, 0x1p-4);
  check_domain("{}", DType::f8_e5m2, 0x1p-3);
  check_domain(kPeer, DType::f32, 0x1p-20);
  check_domain(kPeer, DType::f16, 0x1p-10);
  check_domain(kPeer, DType::bf16, 0x1p-10);
  check_domain(R"({"float32_small_value": 0.25})", DType::f32, 0.25);
}

TEST_CASE("benchmark: an error of a small value counts above the limit, not at it") {
  JudgementHost host;
  // Golden is 0, so the error is the device's value; it is held in the device's type, hence its own steps.
  const auto check_error = [&](const std::string& options, DType dtype, double limit, double step) {
    CAPTURE(options);
    CAPTURE(name(dtype));
    CHECK(small_rate(host, options, dtype, limit - step, 0) == 0);
    CHECK(small_rate(host, options, dtype, limit, 0) == 0);
    CHECK(small_rate(host, options, dtype, limit + step, 0) == 1);
  };
  check_error("{}", DType::f32, 0x1p-30, 0x1p-52);
  check_error("{}", DType::f16, 0x1p-16, 0x1p-24);
  check_error("{}", DType::bf16, 0x1p-16, 0x1p-23);
  check_error(kPeer, DType::f32, 0x1p-30, 0x1p-52);
  // 1e-16 is no float16 above zero: the least one, 2^-24, counts.
  CHECK(small_rate(host, kPeer, DType::f16, 0, 0) == 0);
  CHECK(small_rate(host, kPeer, DType::f16, 0x1p-24, 0) == 1);
  CHECK(small_rate(host, kPeer, DType::bf16, 0x1p-54, 0) == 0);
  CHECK(small_rate(host, kPeer, DType::bf16, 0x1p-53, 0) == 1);
}

TEST_CASE("absolute_threshold: a relative error counts above the limit of the type") {
  JudgementHost host;
  const auto rate = [&](const std::string& options, DType dtype, double golden_error) {
    // The device is 1; golden is off by so much, as float64.
    return measure(host.judgement("absolute_threshold", options), floats(dtype, {1}),
                   floats(DType::f64, {1 - golden_error}))[1]
        .value;
  };
  const auto check_relative = [&](const std::string& options, DType dtype, double rtol) {
    CAPTURE(name(dtype));
    // r = e / (1 - e + epsilon): at e = rtol a little above rtol, at rtol - rtol^2 a little below.
    CHECK(rate(options, dtype, rtol - 2 * rtol * rtol) == 0);
    CHECK(rate(options, dtype, rtol + 2 * rtol * rtol) == 1);
  };
  check_relative("{}", DType::f32, 0x1p-20);
  check_relative("{}", DType::f16, 0x1p-10);
  check_relative(kPeer, DType::f32, 0x1p-20);
  // Exactly at the limit: |g| + epsilon is 1, so r is e.
  const auto at = [&](const char* rtol) {
    const std::string options = std::string(R"({"other_small_value": 0, "other_rtol": )") + rtol + "}";
    return measure(host.judgement("absolute_threshold", options), floats(DType::f64, {1 + 0x1p-10}),
                   floats(DType::f64, {1 - 0x1p-52}))[1]
        .value;
  };
  // e = 2^-10 + 2^-52 over exactly 1.
  CHECK(at("0.00097656250000022182") == 1);  // 2^-10 + 2^-52 - 2^-62
  CHECK(at("0.00097656250000022204") == 0);  // 2^-10 + 2^-52
  CHECK(at("0.00097656250000022226145") == 0);
}

TEST_CASE("absolute_threshold: every rate must be zero") {
  JudgementHost host;
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(verdict_of(host, "absolute_threshold", "{}", DType::f32, {0, 0, 0}) == ULPSCOPE_PASS);
  for (size_t metric = 0; metric < 3; ++metric) {
    CAPTURE(metric);
    for (const double bad : {least, 1.0, kNaN, kMissing}) {
      CAPTURE(bad);
      std::vector<double> metrics = {0, 0, 0};
      metrics[metric] = bad;
      CHECK(verdict_of(host, "absolute_threshold", "{}", DType::f32, metrics) == ULPSCOPE_FAIL);
    }
  }
}

TEST_CASE("absolute_threshold: a rate that is allowed may be reached and not passed") {
  JudgementHost host;
  const std::string options = R"({"relative_error_rate": 0.25})";
  CHECK(verdict_of(host, "absolute_threshold", options, DType::f32, {0, down(0.25), 0}) == ULPSCOPE_PASS);
  CHECK(verdict_of(host, "absolute_threshold", options, DType::f32, {0, 0.25, 0}) == ULPSCOPE_PASS);
  CHECK(verdict_of(host, "absolute_threshold", options, DType::f32, {0, up(0.25), 0}) == ULPSCOPE_FAIL);
}

TEST_CASE("binary_consistency: the rate must be zero") {
  JudgementHost host;
  CHECK(verdict_of(host, "binary_consistency", "{}", DType::f32, {0}) == ULPSCOPE_PASS);
  for (const double bad : {std::numeric_limits<double>::denorm_min(), 1.0, kNaN, kMissing}) {
    CAPTURE(bad);
    CHECK(verdict_of(host, "binary_consistency", "{}", DType::f32, {bad}) == ULPSCOPE_FAIL);
  }
}

TEST_CASE("quantised: a difference of one passes, of two does not") {
  JudgementHost host;
  for (const double good : {0.0, down(1), 1.0})
    CHECK(verdict_of(host, "quantised", "{}", DType::i8, {good}) == ULPSCOPE_PASS);
  for (const double bad : {up(1), 2.0, kNaN, kMissing})
    CHECK(verdict_of(host, "quantised", "{}", DType::i8, {bad}) == ULPSCOPE_FAIL);
}

TEST_CASE("ulp: the mean and the rate must be below their limits") {
  JudgementHost host;
  const double far = 1e6;
  check_below(host, "ulp", "{}", DType::f32, {64, 1, far}, 0, 64);
  check_below(host, "ulp", "{}", DType::f32, {far, 0, far}, 1, 0.05);
  check_below(host, "ulp", "{}", DType::f16, {far, 0, far}, 1, 0.001);
  check_below(host, "ulp", "{}", DType::bf16, {far, 0, far}, 1, 0.001);
  check_below(host, "ulp", "{}", DType::f8_e4m3fn, {far, 0, far}, 1, 0.001);
  check_below(host, "ulp", "{}", DType::hif8, {far, 0, far}, 1, 0.001);
}

TEST_CASE("ulp: a rate below that of the reference passes") {
  JudgementHost host;
  const auto with = [&](const std::string& options, DType dtype, double rate, double reference) {
    return verdict_of(host, "ulp", options, dtype, {100, rate, 100}, {100, reference, 100});
  };
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    CAPTURE(name(dtype));
    CHECK(with("{}", dtype, down(0.5), 0.5) == ULPSCOPE_PASS);
    CHECK(with("{}", dtype, 0.5, 0.5) == ULPSCOPE_FAIL);
    CHECK(with("{}", dtype, up(0.5), 0.5) == ULPSCOPE_FAIL);
  }
  // The 8-bit formats are not held against a reference.
  CHECK(with("{}", DType::f8_e5m2, 0.4, 0.5) == ULPSCOPE_FAIL);
  // The code of msprobe divides by at least 2^-8 for bfloat16: 0.0011 / 2^-8 < 1 although the reference is 0.
  CHECK(with(kPeer, DType::bf16, 0.0011, 0) == ULPSCOPE_PASS);
  CHECK(with("{}", DType::bf16, 0.0011, 0) == ULPSCOPE_FAIL);
  CHECK(with(kPeer, DType::bf16, down(0x1p-8), 0) == ULPSCOPE_PASS);
  CHECK(with(kPeer, DType::bf16, 0x1p-8, 0) == ULPSCOPE_FAIL);
  CHECK(with(kPeer, DType::bf16, up(0x1p-8), 0) == ULPSCOPE_FAIL);
}

TEST_CASE("ulp: what is not finite on one device alone fails, and a missing metric too") {
  JudgementHost host;
  CHECK(verdict_of(host, "ulp", "{}", DType::f32, {kNaN, 0, kNaN}, {1, 0, 1}) == ULPSCOPE_FAIL);
  CHECK(verdict_of(host, "ulp", "{}", DType::f32, {kNaN, 0, kNaN}, {kNaN, 0, kNaN}) == ULPSCOPE_PASS);
  CHECK(verdict_of(host, "ulp", "{}", DType::f32, {kInf, 0, kInf}, {-kInf, 0, 1}) == ULPSCOPE_FAIL);
  CHECK(verdict_of(host, "ulp", "{}", DType::f32, {kMissing, 0, 1}) == ULPSCOPE_FAIL);
  CHECK(verdict_of(host, "ulp", "{}", DType::f32, {1, kMissing, 1}) == ULPSCOPE_FAIL);
}

TEST_CASE("ulp: an error is counted above the threshold of the type") {
  JudgementHost host;
  const auto rate_in = [&](DType dtype, double actual, double golden) {
    return measure(host.judgement("ulp"), floats(dtype, {actual}), floats(DType::f64, {golden}))[1].value;
  };
  CHECK(rate_in(DType::f64, 1 + 31 * 0x1p-52, 1) == 0);
  CHECK(rate_in(DType::f64, 1 + 32 * 0x1p-52, 1) == 0);
  CHECK(rate_in(DType::f64, 1 + 33 * 0x1p-52, 1) == 1);
  CHECK(rate_in(DType::f32, 1 + 31 * 0x1p-23, 1) == 0);
  CHECK(rate_in(DType::f32, 1 + 32 * 0x1p-23, 1) == 0);
  CHECK(rate_in(DType::f32, 1 + 33 * 0x1p-23, 1) == 1);
  CHECK(rate_in(DType::f16, 1, 1 + down(0x1p-10)) == 0);
  CHECK(rate_in(DType::f16, 1, 1 + 0x1p-10) == 0);
  CHECK(rate_in(DType::f16, 1, 1 + 0x1p-10 + 0x1p-40) == 1);
  CHECK(rate_in(DType::bf16, 1, 1 + 0x1p-7) == 0);
  CHECK(rate_in(DType::bf16, 1, 1 + 0x1p-7 + 0x1p-40) == 1);
}

TEST_CASE("double_thousandth: more than 0.999 of the elements, for msprobe at least") {
  JudgementHost host;
  const auto with = [&](const std::string& options, double share) {
    return verdict_of(host, "double_thousandth", options, DType::f32, {share});
  };
  CHECK(with("{}", down(0.999)) == ULPSCOPE_FAIL);
  CHECK(with("{}", 0.999) == ULPSCOPE_FAIL);
  CHECK(with("{}", up(0.999)) == ULPSCOPE_PASS);
  CHECK(with(kPeer, down(0.999)) == ULPSCOPE_FAIL);
  CHECK(with(kPeer, 0.999) == ULPSCOPE_PASS);
  CHECK(with(kPeer, up(0.999)) == ULPSCOPE_PASS);
  CHECK(with("{}", kNaN) == ULPSCOPE_FAIL);
  CHECK(with("{}", kMissing) == ULPSCOPE_FAIL);
  CHECK(with(R"({"pass_at_least": 1})", 1) == ULPSCOPE_PASS);
}

TEST_CASE("double_thousandth: an element is within below 0.001, not at it") {
  JudgementHost host;
  // Golden 0: r = e / 2^-52, and powers of two scale exactly.
  const auto share = [&](double r) {
    return measure(host.judgement("double_thousandth"), floats(DType::f64, {r * 0x1p-52}),
                   floats(DType::f64, {0}))[0]
        .value;
  };
  CHECK(share(down(0.001)) == 1);
  CHECK(share(0.001) == 0);
  CHECK(share(up(0.001)) == 0);
}

TEST_CASE("accumulative_error: bounds of each type, and no bias") {
  JudgementHost host;
  const auto errors = [&](DType dtype, double actual, double golden) {
    return measure(host.judgement("accumulative_error"), floats(dtype, {actual}),
                   floats(DType::f64, {golden}));
  };
  // Small values: golden 0, the error is the device's value.
  CHECK(errors(DType::f32, 0x1p-11 - 0x1p-40, 0)[2].value == 0);
  CHECK(errors(DType::f32, 0x1p-11, 0)[2].value == 0);
  CHECK(errors(DType::f32, 0x1p-11 + 0x1p-34, 0)[2].value == 1);
  CHECK(errors(DType::f16, 0x1p-8, 0)[2].value == 0);
  CHECK(errors(DType::f16, 0x1p-8 + 0x1p-18, 0)[2].value == 1);
  CHECK(errors(DType::bf16, 0x1p-7, 0)[2].value == 0);
  CHECK(errors(DType::bf16, 0x1p-7 + 0x1p-14, 0)[2].value == 1);
  // 1 is a small value, the next number above is not: an error of 1/2 counts for the one or the other rate.
  CHECK(errors(DType::f32, 0.5, 1)[2].value == 1);
  CHECK(errors(DType::f32, 0.5, up(1))[1].value == 1);
  CHECK(errors(DType::f32, 0.5, up(1))[2].value == 0);
  const auto balance = [&](DType dtype, double value) {
    return verdict_of(host, "accumulative_error", "{}", dtype, {0, 0, 0, value});
  };
  const auto check_balance = [&](DType dtype, double limit) {
    CAPTURE(name(dtype));
    CHECK(balance(dtype, down(limit)) == ULPSCOPE_PASS);
    CHECK(balance(dtype, limit) == ULPSCOPE_PASS);
    CHECK(balance(dtype, up(limit)) == ULPSCOPE_FAIL);
  };
  check_balance(DType::f32, 0x1p-14);
  check_balance(DType::f16, 0x1p-20);
  check_balance(DType::bf16, 0x1p-7);
  CHECK(balance(DType::f32, kNaN) == ULPSCOPE_FAIL);
}

TEST_CASE("mere_mare: mean and largest relative error below the limits of the type") {
  JudgementHost host;
  const auto check_type = [&](const std::string& options, DType dtype, double limit) {
    check_below(host, "mere_mare", options, dtype, {0, 0, 0}, 0, limit);
    check_below(host, "mere_mare", options, dtype, {0, 0, 0}, 1, 10 * limit);
  };
  check_type("{}", DType::f32, 0x1p-13);
  check_type("{}", DType::f16, 0x1p-10);
  check_type("{}", DType::bf16, 0x1p-7);
  check_type("{}", DType::f8_e4m3fn, 0x1p-3);
  check_type("{}", DType::f8_e5m2, 0x1p-2);
  check_type(R"({"hifloat32": true})", DType::f32, 0x1p-11);
  check_type(R"({"hifloat8_threshold": 0.25})", DType::hif8, 0.25);
  CHECK(verdict_of(host, "mere_mare", "{}", DType::f32, {0, 0, 1}) == ULPSCOPE_FAIL);
  std::string why_not;
  CHECK_FALSE(host.judgement("mere_mare").applies(pair_of(DType::hif8, DType::f32), why_not));
  CHECK(why_not == "the standard has no limit for hifloat8");
}

TEST_CASE("precheck: cosine, largest error and shares at their limits") {
  JudgementHost host;
  // cosine, max_abs_error, shares within 1e-2, 1e-3, 1e-4, elements, zero sides, mismatches.
  const auto with = [&](DType dtype, double cosine, double max_abs, double a, double b, double c) {
    return verdict_of(host, "precheck", "{}", dtype, {cosine, max_abs, a, b, c, 100, 0, 0});
  };
  CHECK(with(DType::f32, down(0.99), 0, 1, 1, 1) == ULPSCOPE_FAIL);
  CHECK(with(DType::f32, 0.99, 0, 1, 1, 1) == ULPSCOPE_FAIL);
  CHECK(with(DType::f32, up(0.99), 0, 1, 1, 1) == ULPSCOPE_PASS);
  CHECK(with(DType::f32, 1, down(0.001), 0, 0, 0) == ULPSCOPE_PASS);
  CHECK(with(DType::f32, 1, 0.001, 0, 0, 0) == ULPSCOPE_FAIL);
  CHECK(with(DType::f32, 1, up(0.001), 0, 0, 0) == ULPSCOPE_FAIL);
  CHECK(with(DType::f16, 1, 1, 0.99, 1, 1) == ULPSCOPE_FAIL);
  CHECK(with(DType::f16, 1, 1, up(0.99), 1, 1) == ULPSCOPE_PASS);
  CHECK(with(DType::f16, 1, 1, 1, 0.999, 1) == ULPSCOPE_WARNING);
  CHECK(with(DType::bf16, 1, 1, 1, up(0.999), 0) == ULPSCOPE_PASS);
  CHECK(with(DType::f32, 1, 1, 0, 0.999, 1) == ULPSCOPE_FAIL);
  CHECK(with(DType::f32, 1, 1, 0, up(0.999), 0.9999) == ULPSCOPE_WARNING);
  CHECK(with(DType::f64, 1, 1, 0, up(0.999), up(0.9999)) == ULPSCOPE_PASS);
  CHECK(verdict_of(host, "precheck", "{}", DType::f32, {kMissing, 0, 1, 1, 1, 100, 1, 0}) == ULPSCOPE_FAIL);
  CHECK(verdict_of(host, "precheck", "{}", DType::f32, {kMissing, 0, 1, 1, 1, 100, 2, 0}) == ULPSCOPE_PASS);
  CHECK(verdict_of(host, "precheck", "{}", DType::f32, {1, 0, 1, 1, 1, 100, 0, 1}) == ULPSCOPE_FAIL);
}
