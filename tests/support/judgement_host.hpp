// The judgement plugins of this tree behind a registry, and pairs of numbers to measure with them. For tests
// that link judgement_plugins.
#pragma once

#include <ulpscope/half.hpp>
#include <ulpscope/plugin.hpp>

#include <doctest/doctest.h>
#include <cstring>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "plugin/host_services.hpp"
#include "plugin/registry.hpp"

extern "C" const ulpscope_plugin* entry_benchmark(void);
extern "C" const ulpscope_plugin* entry_binary_consistency(void);
extern "C" const ulpscope_plugin* entry_absolute_threshold(void);
extern "C" const ulpscope_plugin* entry_ulp(void);
extern "C" const ulpscope_plugin* entry_double_thousandth(void);
extern "C" const ulpscope_plugin* entry_accumulative_error(void);
extern "C" const ulpscope_plugin* entry_quantised(void);
extern "C" const ulpscope_plugin* entry_mere_mare(void);
extern "C" const ulpscope_plugin* entry_precheck(void);

namespace ulpscope::test {

inline std::vector<BuiltinPlugin> judgement_plugins() {
  return {{"benchmark", &entry_benchmark},
          {"binary_consistency", &entry_binary_consistency},
          {"absolute_threshold", &entry_absolute_threshold},
          {"ulp", &entry_ulp},
          {"double_thousandth", &entry_double_thousandth},
          {"accumulative_error", &entry_accumulative_error},
          {"quantised", &entry_quantised},
          {"mere_mare", &entry_mere_mare},
          {"precheck", &entry_precheck}};
}

struct JudgementHost {
  ThreadPool pool{2};
  Cancel cancel;
  Diagnostics diagnostics;
  HostServices host{pool, cancel, [](LogLevel, std::string_view) {}, "9.9"};
  Registry registry{{{}, judgement_plugins(), false}, host, diagnostics};

  JudgementHandle judgement(std::string_view name, const std::string& options = "{}") {
    auto made = registry.create_judgement(name, options);
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
    return std::move(made).value();
  }
};

// One side of a pair.
struct Elements {
  DType dtype = DType::f32;
  std::vector<std::byte> bytes;

  uint64_t count() const { return bytes.size() / size_bytes(dtype); }
  ulpscope_view view(uint64_t first, uint64_t n) const {
    return {bytes.data() + first * size_bytes(dtype), n, static_cast<int32_t>(dtype), 0};
  }
  ulpscope_view view() const { return view(0, count()); }
};

// The numbers rounded to a floating type; a complex type takes them by twos.
inline Elements floats(DType dtype, const std::vector<double>& numbers) {
  const DType part = dtype == DType::c32    ? DType::f16
                     : dtype == DType::c64  ? DType::f32
                     : dtype == DType::c128 ? DType::f64
                                            : dtype;
  Elements out{dtype, std::vector<std::byte>(numbers.size() * size_bytes(part))};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint64_t code = float_from_double(part, numbers[i]);
    std::memcpy(out.bytes.data() + i * size_bytes(part), &code, size_bytes(part));
  }
  return out;
}

template <class T>
Elements integers(DType dtype, const std::vector<T>& numbers) {
  Elements out{dtype, std::vector<std::byte>(numbers.size() * sizeof(T))};
  if (!numbers.empty()) std::memcpy(out.bytes.data(), numbers.data(), out.bytes.size());
  return out;
}

inline ulpscope_pair pair_of(DType actual, DType golden, uint64_t count = 0) {
  static const ulpscope_op_record op = [] {
    ulpscope_op_record record = {};
    record.struct_size = sizeof record;
    return record;
  }();
  ulpscope_pair pair = {};
  pair.struct_size = sizeof pair;
  pair.op = &op;
  pair.role = ULPSCOPE_OUTPUT;
  pair.actual_dtype = static_cast<int32_t>(actual);
  pair.golden_dtype = static_cast<int32_t>(golden);
  pair.count = count;
  return pair;
}

inline std::vector<ulpscope_metric> measure(const JudgementHandle& judgement, const Elements& actual,
                                            const Elements& golden) {
  auto measure = judgement.begin(pair_of(actual.dtype, golden.dtype, actual.count()));
  REQUIRE(measure.ok());
  REQUIRE(measure->consume(actual.view(), golden.view()).ok());
  auto found = measure->finish();
  REQUIRE(found.ok());
  return std::move(found->metrics);
}

inline PairVerdict judge(const JudgementHandle& judgement, DType actual, DType golden,
                         const std::vector<ulpscope_metric>& metrics,
                         const std::vector<ulpscope_metric>& reference = {}) {
  auto verdict = judgement.judge(pair_of(actual, golden), metrics, reference);
  REQUIRE(verdict.ok());
  return std::move(verdict).value();
}

// Metrics as a table has them; a negative zero stands for nothing, it is "not available".
inline std::vector<ulpscope_metric> metrics_of(const std::vector<double>& values) {
  std::vector<ulpscope_metric> out;
  for (const double value : values) out.push_back({value, value == 0 && std::signbit(value) ? 0 : 1, 0});
  return out;
}
constexpr double kMissing = -0.0;

}  // namespace ulpscope::test
