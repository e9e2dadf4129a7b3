// How fast the storage formats of accelerators are brought to the original layout, beside memcpy of the same
// bytes in the same run. The stored array is a file in the page cache, read in pieces of 1 MiB as the
// measuring does. bytes_per_second counts the stored bytes; of_memcpy is the ratio to memcpy.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "formats/acl_types.hpp"
#include "formats/storage_stream.hpp"
#include "temp_folder.hpp"

namespace {

using ulpscope::Shape;
namespace format = ulpscope::acl_format;

constexpr size_t kPieceBytes = size_t{1} << 20;

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Bytes that memcpy copies in a second between arrays larger than the caches, the best of five.
double memcpy_speed() {
  static const double speed = [] {
    constexpr size_t kBytes = size_t{64} << 20;
    const std::vector<std::byte> from(kBytes, std::byte{1});
    std::vector<std::byte> to(kBytes, std::byte{2});
    double best = 0;
    for (int i = 0; i < 5; ++i) {
      const double start = seconds();
      std::memcpy(to.data(), from.data(), kBytes);
      benchmark::DoNotOptimize(to.data());
      best = std::max(best, static_cast<double>(kBytes) / (seconds() - start));
    }
    return best;
  }();
  return speed;
}

struct Case {
  int32_t format, layout;
  Shape stored, original;
  unsigned element_bytes;
  int32_t groups = 0;
};

uint64_t stored_bytes(const Case& each) {
  uint64_t bytes = each.element_bytes;
  for (const int64_t dim : each.stored) bytes *= static_cast<uint64_t>(dim);
  return bytes;
}

void convert(benchmark::State& state, const Case& each) {
  const ulpscope::test::TempFolder folder;
  const uint64_t bytes = stored_bytes(each);
  std::string content(bytes, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 37 + (i >> 9));
  const std::string path = folder.write("stored", content);
  const auto plan =
      ulpscope::plan_storage({each.format, each.groups, each.stored, each.original, true, {each.layout}});
  if (!plan.ok()) return state.SkipWithError(plan.error().message.c_str());
  std::vector<std::byte> piece(kPieceBytes);
  const double memcpy_bytes_per_second = memcpy_speed();
  const double start = seconds();
  for (auto _ : state) {
    auto stream = ulpscope::StorageStream::open(ulpscope::File::open(path).value(), 0, bytes, *plan,
                                                each.element_bytes);
    if (!stream.ok()) return state.SkipWithError(stream.error().message.c_str());
    for (;;) {
      const auto got = (*stream)->read(piece);
      if (!got.ok() || *got == 0) break;
      benchmark::DoNotOptimize(piece.data());
    }
  }
  const double all_bytes = static_cast<double>(bytes) * static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<int64_t>(all_bytes));
  state.counters["of_memcpy"] = all_bytes / (seconds() - start) / memcpy_bytes_per_second;
}

// Sizes that are multiples of the blocks and such that are not; kernels of 3 x 3.
void add_cases(const std::string& type, unsigned element_bytes, int64_t c0) {
  const auto add = [&](const std::string& name, const Case& each) {
    benchmark::RegisterBenchmark((name + "/" + type).c_str(), convert, each)->Unit(benchmark::kMillisecond);
  };
  const auto blocks = [c0](int64_t count) { return (count + c0 - 1) / c0; };
  add("NC1HWC0 to NCHW",
      {format::kNc1hwc0, format::kNchw, {8, blocks(250), 64, 64, c0}, {8, 250, 64, 64}, element_bytes});
  add("NC1HWC0 to NHWC",
      {format::kNc1hwc0, format::kNhwc, {8, blocks(250), 64, 64, c0}, {8, 64, 64, 250}, element_bytes});
  add("NDC1HWC0 to NCDHW", {format::kNdc1hwc0,
                            format::kNcdhw,
                            {2, 4, blocks(120), 64, 64, c0},
                            {2, 120, 4, 64, 64},
                            element_bytes});
  add("FRACTAL_NZ",
      {format::kFractalNz, format::kNd, {4, blocks(1020), 128, 16, c0}, {4, 2040, 1020}, element_bytes});
  add("FRACTAL_NZ, wide",
      {format::kFractalNz, format::kNd, {blocks(32000), 16, 16, c0}, {250, 32000}, element_bytes});
  add("FRACTAL_NZ, narrow",
      {format::kFractalNz, format::kNd, {32, blocks(64), 64, 16, c0}, {32, 1024, 64}, element_bytes});
  add("FRACTAL_Z to NCHW",
      {format::kFractalZ, format::kNchw, {blocks(250) * 9, 64, 16, c0}, {1020, 250, 3, 3}, element_bytes});
  add("FRACTAL_Z to HWCN",
      {format::kFractalZ, format::kHwcn, {blocks(250) * 9, 64, 16, c0}, {3, 3, 250, 1020}, element_bytes});
  add("FRACTAL_Z, 1 x 1",
      {format::kFractalZ, format::kNchw, {blocks(1024), 64, 16, c0}, {1024, 1024, 1, 1}, element_bytes});
  add("FRACTAL_Z_3D to NCDHW", {format::kFractalZ3d,
                                format::kNcdhw,
                                {blocks(120) * 27, 32, 16, c0},
                                {510, 120, 3, 3, 3},
                                element_bytes});
  add("C1HWNCoC0 to NCHW",
      {format::kC1hwncoc0, format::kNchw, {blocks(512), 7, 7, 4, c0, c0}, {4, 512, 7, 7}, element_bytes});
  add("NHWC to NCHW", {format::kNhwc, format::kNchw, {8, 64, 64, 256}, {8, 256, 64, 64}, element_bytes});
}

void copy_memory(benchmark::State& state) {
  const std::vector<std::byte> from(size_t{64} << 20, std::byte{1});
  std::vector<std::byte> to(from.size(), std::byte{2});
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::DoNotOptimize(to.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(from.size()) * state.iterations());
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("memcpy", copy_memory)->Unit(benchmark::kMillisecond);
  add_cases("float16", 2, 16);
  add_cases("float32", 4, 16);
  add_cases("int8", 1, 32);
  // 960 filters of one channel: a depthwise convolution.
  benchmark::RegisterBenchmark(
      "FRACTAL_Z of 960 groups/float16", convert,
      Case{format::kFractalZ, format::kNchw, {60 * 25, 1, 16, 16}, {960, 1, 5, 5}, 2, 960});
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
