// The judgements on what is at the edge: NaN, infinities, zeros, subnormals, nothing at all, 64-bit integers,
// complex numbers, 8-bit formats; that chunks and tiles do not show; and that wrong options are refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "judgement_host.hpp"

namespace {

using namespace ulpscope;
using namespace ulpscope::test;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kPeer = R"({"profile": "msprobe_code"})";
const char* const kFloating[] = {"benchmark",          "absolute_threshold", "ulp",     "double_thousandth",
                                 "accumulative_error", "mere_mare",          "precheck"};

int32_t verdict_of(JudgementHost& host, const char* name, const Elements& actual, const Elements& golden,
                   const std::string& options = "{}") {
  const JudgementHandle judgement = host.judgement(name, options);
  const auto metrics = measure(judgement, actual, golden);
  // Against itself as reference, for those that need one.
  return judge(judgement, actual.dtype, golden.dtype, metrics, metrics).overall;
}

double metric_of(JudgementHost& host, const char* name, size_t index, const Elements& actual,
                 const Elements& golden, const std::string& options = "{}") {
  const auto metrics = measure(host.judgement(name, options), actual, golden);
  REQUIRE(metrics[index].available == 1);
  return metrics[index].value;
}

// A sequence without pattern, the same everywhere.
std::vector<double> noise(size_t count, double scale) {
  std::vector<double> out(count);
  uint64_t state = 88172645463325252;
  for (double& each : out) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    each = scale * (static_cast<double>(state >> 11) * 0x1p-53 - 0.5);
  }
  return out;
}

bool same_bits(const std::vector<ulpscope_metric>& a, const std::vector<ulpscope_metric>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(ulpscope_metric)) == 0;
}

}  // namespace

TEST_CASE("judgements: equal inputs pass, whatever they hold") {
  JudgementHost host;
  for (const char* name : kFloating) {
    CAPTURE(name);
    for (const DType dtype :
         {DType::f32, DType::f16, DType::bf16, DType::f64, DType::f8_e4m3fn, DType::f8_e5m2}) {
      CAPTURE(ulpscope::name(dtype));
      CHECK(verdict_of(host, name, floats(dtype, {1, -2, 0.5}), floats(dtype, {1, -2, 0.5})) ==
            ULPSCOPE_PASS);
      CHECK(verdict_of(host, name, floats(dtype, {0, -0.0}), floats(dtype, {-0.0, 0})) == ULPSCOPE_PASS);
      CHECK(verdict_of(host, name, floats(dtype, {1}), floats(dtype, {1})) == ULPSCOPE_PASS);
      CHECK(verdict_of(host, name, floats(dtype, {}), floats(dtype, {})) == ULPSCOPE_PASS);
      CHECK(verdict_of(host, name, floats(dtype, {kNaN, 1}), floats(dtype, {kNaN, 1})) == ULPSCOPE_PASS);
    }
    const Elements wide = floats(DType::f32, {kInf, -kInf, 1, std::ldexp(1, -149)});
    CHECK(verdict_of(host, name, wide, wide) == ULPSCOPE_PASS);
    const Elements pairs = floats(DType::c64, {1, 2, -3, 0.25});
    CHECK(verdict_of(host, name, pairs, pairs) == ULPSCOPE_PASS);
  }
}

TEST_CASE("absolute_threshold: which infinities and NaNs agree") {
  JudgementHost host;
  const auto rate = [&](double actual, double golden) {
    return metric_of(host, "absolute_threshold", 0, floats(DType::f16, {actual}),
                     floats(DType::f32, {golden}));
  };
  CHECK(rate(kNaN, kNaN) == 0);
  CHECK(rate(kInf, kInf) == 0);
  CHECK(rate(kInf, 65504) == 0);  // the largest finite value is taken for infinity
  CHECK(rate(65504, kInf) == 0);
  CHECK(rate(kInf, 70000) == 0);  // golden is beyond the range of float16
  CHECK(rate(kInf, -kInf) == 1);
  CHECK(rate(kInf, 1) == 1);
  CHECK(rate(kNaN, 1) == 1);
  CHECK(rate(1, kNaN) == 1);
  CHECK(rate(1, 2) == 0);  // nothing infinite: no rate
}

TEST_CASE("ulp: golden zero and subnormal numbers are measured at the least exponent") {
  JudgementHost host;
  const auto units = [&](DType dtype, double actual, double golden, const char* options = "{}") {
    return metric_of(host, "ulp", 2, floats(dtype, {actual}), floats(DType::f64, {golden}), options);
  };
  CHECK(units(DType::f16, 0x1p-24, 0) == 1);
  CHECK(units(DType::f16, 0x1p-10, 0, kPeer) == 1);  // at exponent 0, as msprobe has it
  CHECK(units(DType::f32, 3 * 0x1p-149, 0x1p-149) == 2);
  CHECK(units(DType::bf16, 0, 0x1p-133) == 1);
  CHECK(units(DType::f32, 0, 0) == 0);
}

TEST_CASE("ulp: NaN or infinity on one side shows in maximum and mean") {
  JudgementHost host;
  const auto metrics = [&](double actual, double golden) {
    return measure(host.judgement("ulp"), floats(DType::f32, {actual, 1}), floats(DType::f32, {golden, 1}));
  };
  CHECK(std::isnan(metrics(kNaN, 1)[0].value));
  CHECK(std::isnan(metrics(1, kNaN)[2].value));
  CHECK(std::isinf(metrics(kInf, 1)[0].value));
  CHECK(metrics(kInf, 1)[1].value == 0.5);
  CHECK(metrics(kNaN, kNaN)[2].value == 0);
  CHECK(metrics(kInf, kInf)[2].value == 0);
  CHECK(std::isnan(metrics(kInf, -kInf)[2].value));
}

TEST_CASE("ulp: the 8-bit formats by their tapered scheme") {
  JudgementHost host;
  const auto units = [&](double actual, double golden) {
    return metric_of(host, "ulp", 2, floats(DType::f8_e5m2, {actual}), floats(DType::f32, {golden}));
  };
  CHECK(units(1.25, 1) == 2);     // exponent 0, 3 bits: 0.25 * 2^3
  CHECK(units(20, 16) == 1);      // exponent 4, 2 bits: 4 * 2^(2 - 4)
  CHECK(units(320, 256) == 0.5);  // exponent 8, 1 bit: 64 * 2^(1 - 8)
  CHECK(units(0.75, 1) == 2);     // no sign
}

TEST_CASE("binary_consistency: 64-bit integers are compared exactly") {
  JudgementHost host;
  const auto rate = [&](const Elements& a, const Elements& g) {
    return metric_of(host, "binary_consistency", 0, a, g);
  };
  const int64_t large = (int64_t{1} << 62) + 1;
  CHECK(rate(integers<int64_t>(DType::i64, {large, 5}), integers<int64_t>(DType::i64, {large, 5})) == 0);
  CHECK(rate(integers<int64_t>(DType::i64, {large, 5}), integers<int64_t>(DType::i64, {large - 1, 5})) ==
        0.5);
  CHECK(rate(integers<uint64_t>(DType::u64, {uint64_t(-1)}), integers<int64_t>(DType::i64, {-1})) == 1);
  CHECK(rate(integers<uint8_t>(DType::b8, {1, 0, 1}), integers<uint8_t>(DType::b8, {1, 1, 1})) ==
        doctest::Approx(1.0 / 3));
}

TEST_CASE("binary_consistency: NaN equals NaN, but not for msprobe; a complex element is one") {
  JudgementHost host;
  const Elements nan = floats(DType::f32, {kNaN, 1});
  CHECK(metric_of(host, "binary_consistency", 0, nan, nan) == 0);
  CHECK(metric_of(host, "binary_consistency", 0, nan, nan, kPeer) == 0.5);
  CHECK(metric_of(host, "binary_consistency", 0, floats(DType::c64, {1, 2, 3, 4}),
                  floats(DType::c64, {1, 9, 3, 4})) == 0.5);
  CHECK(metric_of(host, "binary_consistency", 0, floats(DType::f16, {0.1}), floats(DType::f32, {0.1})) == 1);
}

TEST_CASE("quantised: the difference does not wrap") {
  JudgementHost host;
  const auto worst = [&](const Elements& a, const Elements& g) {
    return metric_of(host, "quantised", 0, a, g);
  };
  CHECK(worst(integers<int8_t>(DType::i8, {127}), integers<int8_t>(DType::i8, {-128})) == 255);
  CHECK(worst(integers<uint8_t>(DType::u8, {0}), integers<uint8_t>(DType::u8, {1})) == 1);
  CHECK(worst(integers<int64_t>(DType::i64, {std::numeric_limits<int64_t>::max()}),
              integers<int64_t>(DType::i64, {std::numeric_limits<int64_t>::min()})) == 0x1p64);
  std::string why_not;
  CHECK_FALSE(host.judgement("quantised").applies(pair_of(DType::f32, DType::f32), why_not));
  CHECK(why_not == "elements of type float32 are no integers");
}

TEST_CASE("judgements of rounding errors do not apply to integers and packed elements") {
  JudgementHost host;
  for (const char* name : kFloating) {
    CAPTURE(name);
    std::string why_not;
    CHECK_FALSE(host.judgement(name).applies(pair_of(DType::i64, DType::i64), why_not));
    CHECK(why_not == "elements of type int64 have no rounding error");
    CHECK_FALSE(host.judgement(name).applies(pair_of(DType::f4_e2m1x2, DType::f32), why_not));
  }
  std::string why_not;
  CHECK_FALSE(host.judgement("binary_consistency").applies(pair_of(DType::i4x2, DType::i4x2), why_not));
  CHECK(why_not == "elements of type int4x2 are no numbers");
  CHECK_FALSE(host.judgement("ulp").applies(pair_of(DType::f8_e8m0, DType::f32), why_not));
}

TEST_CASE("mere_mare: a NaN on one side alone fails, on both it is left out") {
  JudgementHost host;
  CHECK(verdict_of(host, "mere_mare", floats(DType::f32, {kNaN, 1}), floats(DType::f32, {1, 1})) ==
        ULPSCOPE_FAIL);
  CHECK(verdict_of(host, "mere_mare", floats(DType::f32, {kNaN, 1}), floats(DType::f32, {kNaN, 1})) ==
        ULPSCOPE_PASS);
  // |0 - 2^-24| / (0 + 1e-7)
  CHECK(metric_of(host, "mere_mare", 1, floats(DType::f32, {0x1p-24}), floats(DType::f32, {0})) ==
        doctest::Approx(0.59604644775390625).epsilon(1e-15));
}

TEST_CASE("judgements: bits do not depend on where chunks end, and tiles merge") {
  JudgementHost host;
  const size_t count = 5000;
  const std::vector<double> golden = noise(count, 3), error = noise(count, 1e-3);
  std::vector<double> actual(count);
  for (size_t i = 0; i < count; ++i) actual[i] = golden[i] + error[(i * 7) % count];
  const Elements a = floats(DType::f16, actual), g = floats(DType::f32, golden);
  for (const char* name : kFloating) {
    CAPTURE(name);
    const JudgementHandle judgement = host.judgement(name);
    const auto whole = measure(judgement, a, g);
    auto chunked = judgement.begin(pair_of(DType::f16, DType::f32, count));
    for (uint64_t first = 0; first < count; first += 1024) {
      const uint64_t n = std::min<uint64_t>(1024, count - first);
      REQUIRE(chunked->consume(a.view(first, n), g.view(first, n)).ok());
    }
    CHECK(same_bits(chunked->finish()->metrics, whole));
    auto left = judgement.begin(pair_of(DType::f16, DType::f32, count));
    auto right = judgement.begin(pair_of(DType::f16, DType::f32, count));
    REQUIRE(left->consume(a.view(0, 2048), g.view(0, 2048)).ok());
    REQUIRE(right->consume(a.view(2048, count - 2048), g.view(2048, count - 2048)).ok());
    REQUIRE(left->merge(*right).ok());
    const auto merged = left->finish()->metrics;
    for (size_t i = 0; i < whole.size(); ++i) {
      CAPTURE(i);
      CHECK(merged[i].value == doctest::Approx(whole[i].value).epsilon(1e-12));
    }
  }
}

TEST_CASE("judgements: options that are unknown or make no sense are refused by name") {
  JudgementHost host;
  const auto refusal = [&](const char* name, const char* options) {
    const auto made = host.registry.create_judgement(name, options);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == Code::usage);
    return made.error().message;
  };
  const auto names = [](const std::string& message, const char* text) {
    return message.find(text) != std::string::npos;
  };
  CHECK(names(refusal("benchmark", R"({"rmsee": 1})"), "there is no option 'rmsee'"));
  CHECK(names(refusal("benchmark", R"({"rmse": -1})"), "option 'rmse': expected a number of at least 0"));
  CHECK(names(refusal("benchmark", R"({"rmse": 1e999})"), "expected a JSON object of options"));
  CHECK(names(refusal("benchmark", R"({"rmse": "big"})"), "option 'rmse': expected a number"));
  CHECK(names(refusal("benchmark", R"({"rmse": [1]})"),
              "option 'rmse': expected a number, a text or true or false"));
  CHECK(names(refusal("benchmark", R"({"level": "L3"})"), "option 'level': expected one of L0, L1, L2"));
  CHECK(names(refusal("ulp", R"({"profile": "mine"})"),
              "option 'profile': expected one of seed, msprobe_code"));
  CHECK(names(refusal("ulp", R"([1])"), "ulp: expected a JSON object of options"));
  CHECK(names(refusal("double_thousandth", R"({"pass_at_least": 1.5})"),
              "option 'pass_at_least': expected at most 1"));
  CHECK(
      names(refusal("mere_mare", R"({"hifloat32": 1})"), "option 'hifloat32': expected one of false, true"));
}
