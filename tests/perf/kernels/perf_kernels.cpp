// How fast the fused pass reads both sides, beside memcmp over equal data of the same size in the same run.
// The data is larger than the caches. bytes_per_second counts the bytes of both sides; of_memcmp is the ratio
// to memcmp.
#include <benchmark/benchmark.h>
#include <ulpscope/half.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "kernels/detail_pass.hpp"
#include "kernels/kernel_isa.hpp"
#include "kernels/pair_kernels.hpp"

namespace {

using ulpscope::DType;
using ulpscope::PairKernel;
using ulpscope::PairSums;

constexpr int64_t kSideBytes = int64_t{64} << 20;
constexpr int64_t kTile = int64_t{1} << 20;

struct Sides {
  std::vector<std::byte> target, golden;
};

// Numbers of mixed sign around 1; the target with an error of about relative_noise, or none at 0.
Sides make_sides(DType t, double relative_noise) {
  const auto size = static_cast<int64_t>(ulpscope::size_bytes(t));
  Sides sides{std::vector<std::byte>(kSideBytes), std::vector<std::byte>(kSideBytes)};
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> values(8192), noise(8191);
  for (double& v : values) v = normal(random);
  for (double& v : noise) v = 1 + relative_noise * normal(random);
  for (int64_t i = 0; i < kSideBytes / size; ++i) {
    const double value = values[static_cast<size_t>(i) % values.size()];
    const double moved = value * noise[static_cast<size_t>(i) % noise.size()];
    const uint64_t golden = ulpscope::float_from_double(t, value);
    const uint64_t target = ulpscope::float_from_double(t, moved);
    std::memcpy(sides.golden.data() + i * size, &golden, static_cast<size_t>(size));
    std::memcpy(sides.target.data() + i * size, &target, static_cast<size_t>(size));
  }
  return sides;
}

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Bytes of both sides that memcmp reads in a second, the best of five.
double memcmp_speed() {
  static const double speed = [] {
    const Sides sides = make_sides(DType::f32, 0);
    double best = 0;
    for (int i = 0; i < 5; ++i) {
      const double start = seconds();
      benchmark::DoNotOptimize(std::memcmp(sides.target.data(), sides.golden.data(), sides.target.size()));
      best = std::max(best, 2 * static_cast<double>(kSideBytes) / (seconds() - start));
    }
    return best;
  }();
  return speed;
}

void set_speed(benchmark::State& state, double took_seconds) {
  const double bytes = 2 * static_cast<double>(kSideBytes) * static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["of_memcmp"] = bytes / took_seconds / memcmp_speed();
}

void measure(benchmark::State& state, DType t, double relative_noise, uint32_t groups) {
  const Sides sides = make_sides(t, relative_noise);
  memcmp_speed();
  const PairKernel kernel = PairKernel::choose(t, t, groups).value();
  const auto size = static_cast<int64_t>(ulpscope::size_bytes(t));
  const double start = seconds();
  for (auto _ : state) {
    PairSums all;
    for (int64_t first = 0; first < kSideBytes / size; first += kTile) {
      PairSums tile;
      const int64_t count = std::min(kTile, kSideBytes / size - first);
      kernel.run(sides.target.data() + first * size, sides.golden.data() + first * size, count, first, tile);
      all.merge(tile);
    }
    benchmark::DoNotOptimize(all);
  }
  set_speed(state, seconds() - start);
}

void measure_detail(benchmark::State& state, DType t) {
  const Sides sides = make_sides(t, 1e-3);
  memcmp_speed();
  const auto kernel = ulpscope::DetailKernel::choose(t, t, {ulpscope::unit_roundoff(t), 1.0}).value();
  const int64_t count = kSideBytes / static_cast<int64_t>(ulpscope::size_bytes(t));
  const double start = seconds();
  for (auto _ : state) {
    ulpscope::DetailSums sums;
    kernel.run(sides.target.data(), sides.golden.data(), count, 0, sums);
    benchmark::DoNotOptimize(sums);
  }
  set_speed(state, seconds() - start);
}

constexpr uint32_t kAll = ulpscope::kGroupDefault | ulpscope::kGroupRelative | ulpscope::kGroupUlp;

void run_memcmp(benchmark::State& state) {
  const Sides sides = make_sides(DType::f32, 0);
  const double start = seconds();
  for (auto _ : state)
    benchmark::DoNotOptimize(std::memcmp(sides.target.data(), sides.golden.data(), sides.target.size()));
  set_speed(state, seconds() - start);
}
BENCHMARK(run_memcmp)->Name("memcmp");

BENCHMARK_CAPTURE(measure, f32 / all, DType::f32, 1e-3, kAll);
BENCHMARK_CAPTURE(measure, f32 / default, DType::f32, 1e-3, ulpscope::kGroupDefault);
BENCHMARK_CAPTURE(measure, f32 / identical, DType::f32, 0, kAll);
BENCHMARK_CAPTURE(measure, bf16 / all, DType::bf16, 1e-2, kAll);
BENCHMARK_CAPTURE(measure, bf16 / default, DType::bf16, 1e-2, ulpscope::kGroupDefault);
BENCHMARK_CAPTURE(measure, bf16 / identical, DType::bf16, 0, kAll);
BENCHMARK_CAPTURE(measure, f16 / all, DType::f16, 1e-2, kAll);
BENCHMARK_CAPTURE(measure, f16 / default, DType::f16, 1e-2, ulpscope::kGroupDefault);
BENCHMARK_CAPTURE(measure, f64 / all, DType::f64, 1e-3, kAll);
BENCHMARK_CAPTURE(measure, f8_e4m3fn / all, DType::f8_e4m3fn, 1e-1, kAll);
BENCHMARK_CAPTURE(measure_detail, f32, DType::f32);

}  // namespace

int main(int argc, char** argv) {
  if (const ulpscope::Status status = ulpscope::set_kernel_isa_from_environment(); !status.ok()) return 2;
  benchmark::AddCustomContext("kernels", std::string(ulpscope::kernel_isa()));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
