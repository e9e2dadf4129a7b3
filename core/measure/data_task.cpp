#include "measure/data_task.hpp"

#include <libdeflate.h>
#include <ulpscope/half.hpp>
#define XXH_STATIC_LINKING_ONLY  // the state of a hash as a member, not on the heap
#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

namespace ulpscope {
namespace {

// One read of a side. Two of them stay in the second-level cache while the kernel runs over them.
constexpr uint64_t kChunkBytes = uint64_t{1} << 17;
constexpr uint64_t kLeastChunkBytes = kLeastMemoryBytes / 2;
// Small pairs are given out together until they make a task of about a millisecond.
constexpr uint64_t kBatchBytes = uint64_t{1} << 21;
constexpr int64_t kBatchPairs = 64;

// Packed and opaque elements are compared as bytes.
DType kernel_dtype(DType dtype) {
  return dtype == DType::none || dtype == DType::i4x2 || dtype == DType::f4_e2m1x2 ? DType::u8 : dtype;
}
unsigned element_bytes(DType dtype) { return size_bytes(kernel_dtype(dtype)); }

// What the second pass holds an error against, from the sums of the first one.
DetailScale detail_scale(const DataPair& pair, const PairSums& sums) {
  const DType t = kernel_dtype(pair.target.dtype), g = kernel_dtype(pair.golden.dtype);
  const double u = std::max(is_floating(t) ? unit_roundoff(t) : 0, is_floating(g) ? unit_roundoff(g) : 0);
  const auto count = static_cast<double>(std::max<int64_t>(sums.golden.finite, 1));
  return {u, l2norm(sums.golden).value_or(0) / std::sqrt(count)};
}

// Zeroes what lies behind the first valid elements of a chunk.
void blank_padding(std::span<std::byte> chunk, int64_t valid, uint64_t element_size) {
  const uint64_t keep = static_cast<uint64_t>(std::max<int64_t>(valid, 0)) * element_size;
  if (keep < chunk.size())
    std::fill(chunk.begin() + static_cast<std::ptrdiff_t>(keep), chunk.end(), std::byte{0});
}

// The checks that run over the bytes of one tile of one side.
struct TileDigest {
  uint32_t crc32 = 0;
  XXH128_hash_t hash = {0, 0};
  uint64_t bytes = 0;
};

// What one tile of one pair came to.
struct TileResult {
  PairSums sums;
  std::optional<DetailSums> detail;
  std::optional<PeerSums> peer;
  std::vector<MeasureHandle> judgement;  // one for each member of the pair's group
  TileDigest target, golden;
};

struct Buffers {
  std::vector<std::byte> target, golden;
};

struct OpenPair {
  SideReader target, golden;
  PairKernel kernel;
  std::optional<DetailKernel> detail;
};

// A pair of more than one tile, shared by the workers that measure it.
struct LargePair {
  std::mutex open_mutex;  // guards opening
  bool opened = false;
  std::optional<OpenPair> open;
  std::optional<Error> error;  // the first one; guarded by open_mutex
  std::vector<TileResult> tiles;
  std::atomic<int64_t> left{0};
};

// One entry of the queue: a batch of small pairs, or one tile of a large one.
struct Task {
  int64_t first_pair = 0, pair_count = 0;
  int64_t large = -1, tile = 0;
};

class Digest {
 public:
  Digest(bool with_hash, bool with_crc) : with_hash_(with_hash), with_crc_(with_crc) {
    XXH3_128bits_reset(&state_);
  }
  void add(std::span<const std::byte> bytes) {
    if (with_crc_) crc_ = libdeflate_crc32(crc_, bytes.data(), bytes.size());
    if (with_hash_) XXH3_128bits_update(&state_, bytes.data(), bytes.size());
    bytes_ += bytes.size();
  }
  TileDigest finish() const { return {crc_, XXH3_128bits_digest(&state_), bytes_}; }

 private:
  XXH3_state_t state_;
  bool with_hash_, with_crc_;
  uint32_t crc_ = 0;
  uint64_t bytes_ = 0;
};

// The digest of a tensor from those of its tiles: the tile's own hash when there is one, else a hash of the
// hashes.
TileDigest combined(const std::vector<TileResult>& tiles, TileDigest TileResult::*side) {
  if (tiles.size() == 1) return tiles[0].*side;
  TileDigest all;
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (const TileResult& tile : tiles) {
    const TileDigest& part = tile.*side;
    all.crc32 = static_cast<uint32_t>(crc32_combine(all.crc32, part.crc32, static_cast<z_off_t>(part.bytes)));
    all.bytes += part.bytes;
    XXH3_128bits_update(&state, &part.hash, sizeof(part.hash));
  }
  all.hash = XXH3_128bits_digest(&state);
  return all;
}

class Pass {
 public:
  Pass(const DumpIndex& target, const DumpIndex& golden, const std::vector<DataPair>& pairs,
       const PassOptions& options, const Cancel& cancel, PassSink& sink, int workers)
      : target_(target),
        golden_(golden),
        pairs_(pairs),
        options_(options),
        cancel_(cancel),
        sink_(sink),
        buffers_(static_cast<size_t>(workers)) {
    chunk_bytes_ = kChunkBytes;
    while (options.memory_limit_bytes != 0 && chunk_bytes_ > kLeastChunkBytes &&
           chunk_bytes_ * 2 * static_cast<uint64_t>(workers) > options.memory_limit_bytes)
      chunk_bytes_ /= 2;
    plan();
  }

  int64_t task_count() const { return static_cast<int64_t>(tasks_.size()); }

  void run(int64_t index, int worker) {
    if (cancel_.requested()) return;
    const Task& task = tasks_[static_cast<size_t>(index)];
    Buffers& buffers = buffers_[static_cast<size_t>(worker)];
    if (task.large >= 0) {
      run_tile(task, buffers);
    } else {
      for (int64_t i = 0; i < task.pair_count && !cancel_.requested(); ++i)
        run_small(pairs_[static_cast<size_t>(task.first_pair + i)], buffers);
    }
    sink_.task_done(worker);
  }

 private:
  // Large pairs first, tile by tile; then the small ones in batches. pairs_ is sorted by falling size.
  void plan() {
    for (int64_t i = 0; i < static_cast<int64_t>(pairs_.size());) {
      const DataPair& pair = pairs_[static_cast<size_t>(i)];
      if (pair.count > kTileElements) {
        const int64_t tiles = (pair.count + kTileElements - 1) / kTileElements;
        large_.push_back(std::make_unique<LargePair>());
        large_.back()->left = tiles;
        for (int64_t tile = 0; tile < tiles; ++tile)
          tasks_.push_back({i, 1, static_cast<int64_t>(large_.size()) - 1, tile});
        ++i;
        continue;
      }
      Task task{i, 0, -1, 0};
      uint64_t bytes = 0;
      while (i < static_cast<int64_t>(pairs_.size()) &&
             pairs_[static_cast<size_t>(i)].count <= kTileElements && task.pair_count < kBatchPairs &&
             (task.pair_count == 0 || bytes < kBatchBytes)) {
        bytes += pairs_[static_cast<size_t>(i++)].size_bytes;
        ++task.pair_count;
      }
      tasks_.push_back(task);
    }
  }

  uint32_t groups_of(const DataPair& pair) const {
    return options_.detail || options_.groups_for_large || pair.count <= kTileElements ? options_.groups
                                                                                       : kGroupDefault;
  }

  // Whether the second pass measures the sums again, with the groups that the first one left out.
  bool sums_again(const DataPair& pair) const {
    return options_.detail && !options_.groups_for_large && pair.count > kTileElements &&
           options_.groups != kGroupDefault;
  }

  Result<OpenPair> open(const DataPair& pair) const {
    ULPSCOPE_ASSIGN(PairKernel kernel, PairKernel::choose(kernel_dtype(pair.target.dtype),
                                                          kernel_dtype(pair.golden.dtype), groups_of(pair)));
    std::optional<DetailKernel> detail;
    if (options_.detail) {
      const DataMetrics* first = sink_.first_pass(pair.row);
      if (first == nullptr) return Error{Code::internal, "a second pass without a first one"};
      ULPSCOPE_ASSIGN(detail,
                      DetailKernel::choose(kernel_dtype(pair.target.dtype), kernel_dtype(pair.golden.dtype),
                                           detail_scale(pair, first->sums)));
    }
    auto target = SideReader::open(target_, pair.target);
    if (!target.ok()) return std::move(target).error().within("target");
    auto golden = SideReader::open(golden_, pair.golden);
    if (!golden.ok()) return std::move(golden).error().within("golden");
    return OpenPair{std::move(target).value(), std::move(golden).value(), kernel, std::move(detail)};
  }

  // Elements [first, first + count) of an open pair, chunk by chunk.
  Status measure_range(OpenPair& open, const DataPair& pair, int64_t first, int64_t count, Buffers& buffers,
                       TileResult& out) const {
    const uint64_t target_size = element_bytes(pair.target.dtype),
                   golden_size = element_bytes(pair.golden.dtype);
    const uint64_t wanted =
        chunk_bytes_ / std::max(target_size, golden_size) / ULPSCOPE_BLOCK * ULPSCOPE_BLOCK;
    const auto chunk = static_cast<int64_t>(std::max<uint64_t>(wanted, ULPSCOPE_BLOCK));
    buffers.target.resize(std::max(buffers.target.size(), static_cast<size_t>(chunk) * target_size));
    buffers.golden.resize(std::max(buffers.golden.size(), static_cast<size_t>(chunk) * golden_size));
    Digest target_digest(pair.hash_target, open.target.stated_crc32().has_value()),
        golden_digest(pair.hash_golden, open.golden.stated_crc32().has_value());
    const bool again = sums_again(pair);
    ULPSCOPE_TRY(begin_judgements(pair, out));
    for (int64_t done = 0; done < count; done += chunk) {
      if (cancel_.requested()) return Error{Code::cancelled, "cancelled"};
      const int64_t n = std::min(chunk, count - done), at = first + done;
      const auto target = std::span(buffers.target).first(static_cast<size_t>(n) * target_size);
      const auto golden = std::span(buffers.golden).first(static_cast<size_t>(n) * golden_size);
      if (auto read = open.target.read(static_cast<uint64_t>(at) * target_size, target); !read.ok())
        return std::move(read).error().within("target");
      if (auto read = open.golden.read(static_cast<uint64_t>(at) * golden_size, golden); !read.ok())
        return std::move(read).error().within("golden");
      // Digests are of the bytes as stored: they are held against the checksum of the file.
      if (!open.detail) {
        target_digest.add(target);
        golden_digest.add(golden);
      }
      blank_padding(target, pair.valid_target - at, target_size);
      blank_padding(golden, pair.valid_golden - at, golden_size);
      if (open.detail) {
        open.detail->run(target.data(), golden.data(), n, at, *out.detail);
        if (again) open.kernel.run(target.data(), golden.data(), n, at, out.sums);
        continue;
      }
      open.kernel.run(target.data(), golden.data(), n, at, out.sums);
      if (out.peer) out.peer->add(pair.target.dtype, target.data(), pair.golden.dtype, golden.data(), n);
      ULPSCOPE_TRY(consume_judgements(pair, target, golden, n, out));
    }
    out.target = target_digest.finish();
    out.golden = golden_digest.finish();
    return {};
  }

  const JudgementGroup* group_of(const DataPair& pair) const {
    if (options_.judgements == nullptr || options_.detail || pair.group < 0) return nullptr;
    return &(*options_.judgements)[static_cast<size_t>(pair.group)];
  }

  Status begin_judgements(const DataPair& pair, TileResult& out) const {
    const JudgementGroup* group = group_of(pair);
    if (group == nullptr) return {};
    const PairRecord record(target_, pair.target_item, pair.target.dtype, pair.golden.dtype,
                            pair.target.shape, pair.count);
    for (const JudgementHandle* member : group->members) {
      auto measure = member->begin(record.pair);
      if (!measure.ok()) return std::move(measure).error();
      out.judgement.push_back(std::move(measure).value());
    }
    return {};
  }

  static Status consume_judgements(const DataPair& pair, std::span<const std::byte> target,
                                   std::span<const std::byte> golden, int64_t count, TileResult& out) {
    const ulpscope_view actual{target.data(), static_cast<uint64_t>(count),
                               static_cast<int32_t>(pair.target.dtype), 0};
    const ulpscope_view other{golden.data(), static_cast<uint64_t>(count),
                              static_cast<int32_t>(pair.golden.dtype), 0};
    for (MeasureHandle& measure : out.judgement) ULPSCOPE_TRY(measure.consume(actual, other));
    return {};
  }

  // Merges the tiles' measures in order and gathers their numbers.
  static Status finish_judgements(std::vector<TileResult>& tiles, DataMetrics& metrics) {
    std::vector<MeasureHandle>& first = tiles[0].judgement;
    for (size_t member = 0; member < first.size(); ++member) {
      for (size_t i = 1; i < tiles.size(); ++i) ULPSCOPE_TRY(first[member].merge(tiles[i].judgement[member]));
      ULPSCOPE_ASSIGN(const Measurement found, first[member].finish());
      metrics.judgement.insert(metrics.judgement.end(), found.metrics.begin(), found.metrics.end());
      metrics.worst.insert(metrics.worst.end(), found.worst.begin(), found.worst.end());
    }
    return {};
  }

  TileResult empty_result() const {
    TileResult result;
    if (options_.detail)
      result.detail.emplace();
    else if (options_.peer_metrics)
      result.peer.emplace();
    return result;
  }

  static PairSums merged_sums(const std::vector<TileResult>& tiles) {
    PairSums sums = tiles[0].sums;
    for (size_t i = 1; i < tiles.size(); ++i) sums.merge(tiles[i].sums);
    return sums;
  }

  Result<DataMetrics> merged(const OpenPair& open, std::vector<TileResult>& tiles,
                             const DataPair& pair) const {
    DataMetrics metrics;
    if (options_.detail) {
      metrics = *sink_.first_pass(pair.row);
      metrics.detail = std::move(tiles[0].detail);
      for (size_t i = 1; i < tiles.size(); ++i) metrics.detail->merge(*tiles[i].detail);
      if (sums_again(pair)) metrics.sums = merged_sums(tiles);
      return metrics;
    }
    ULPSCOPE_TRY(finish_judgements(tiles, metrics));
    metrics.sums = merged_sums(tiles);
    metrics.peer = std::move(tiles[0].peer);
    if (metrics.peer)
      for (size_t i = 1; i < tiles.size(); ++i) metrics.peer->merge(*tiles[i].peer);
    const TileDigest target = combined(tiles, &TileResult::target),
                     golden = combined(tiles, &TileResult::golden);
    metrics.crc_mismatch_target = open.target.stated_crc32().value_or(target.crc32) != target.crc32;
    metrics.crc_mismatch_golden = open.golden.stated_crc32().value_or(golden.crc32) != golden.crc32;
    if (pair.hash_target) {
      metrics.hash_target[0] = target.hash.low64;
      metrics.hash_target[1] = target.hash.high64;
    }
    if (pair.hash_golden) {
      metrics.hash_golden[0] = golden.hash.low64;
      metrics.hash_golden[1] = golden.hash.high64;
    }
    return metrics;
  }

  // Every tile of a pair, in order, on this worker.
  Status measure_whole(OpenPair& open, const DataPair& pair, Buffers& buffers,
                       std::vector<TileResult>& tiles) const {
    int64_t first = 0;
    do {
      tiles.push_back(empty_result());
      const int64_t count = std::min(kTileElements, pair.count - first);
      ULPSCOPE_TRY(measure_range(open, pair, first, count, buffers, tiles.back()));
      first += count;
    } while (first < pair.count);
    return {};
  }

  void report(const DataPair& pair, const Error& error) {
    if (error.code != Code::cancelled) sink_.failed(pair.row, error);
  }

  void finish(const DataPair& pair, Result<DataMetrics> metrics) {
    if (metrics.ok())
      sink_.finished(pair.row, std::move(metrics).value());
    else
      report(pair, metrics.error());
  }

  void run_small(const DataPair& pair, Buffers& buffers) {
    auto opened = open(pair);
    if (!opened.ok()) {
      report(pair, opened.error());
    } else {
      std::vector<TileResult> tiles;
      if (const Status done = measure_whole(*opened, pair, buffers, tiles); done.ok())
        finish(pair, merged(*opened, tiles, pair));
      else
        report(pair, done.error());
    }
    sink_.advanced(1, pair.size_bytes);
  }

  // The worker that comes first opens the pair. A pair that must be read in order is measured by that worker
  // alone.
  void open_large(LargePair& large, const DataPair& pair, Buffers& buffers) {
    const std::lock_guard lock(large.open_mutex);
    if (large.opened) return;
    large.opened = true;
    auto opened = open(pair);
    if (!opened.ok()) {
      large.error = std::move(opened).error();
      return;
    }
    large.open.emplace(std::move(opened).value());
    if (!large.open->target.seekable() || !large.open->golden.seekable()) {
      if (Status done = measure_whole(*large.open, pair, buffers, large.tiles); !done.ok())
        large.error = std::move(done).error();
      return;
    }
    const auto tiles = static_cast<size_t>((pair.count + kTileElements - 1) / kTileElements);
    large.tiles.reserve(tiles);
    for (size_t i = 0; i < tiles; ++i) large.tiles.push_back(empty_result());
  }

  void run_tile(const Task& task, Buffers& buffers) {
    const DataPair& pair = pairs_[static_cast<size_t>(task.first_pair)];
    LargePair& large = *large_[static_cast<size_t>(task.large)];
    open_large(large, pair, buffers);
    if (!failed(large) && large.open->target.seekable() && large.open->golden.seekable()) {
      const int64_t first = task.tile * kTileElements, count = std::min(kTileElements, pair.count - first);
      if (Status done = measure_range(*large.open, pair, first, count, buffers,
                                      large.tiles[static_cast<size_t>(task.tile)]);
          !done.ok()) {
        const std::lock_guard lock(large.open_mutex);
        if (!large.error) large.error = std::move(done).error();
      }
      sink_.advanced(0, static_cast<uint64_t>(count) *
                            (element_bytes(pair.target.dtype) + element_bytes(pair.golden.dtype)));
    }
    if (large.left.fetch_sub(1) == 1) finish_large(large, pair);
  }

  static bool failed(LargePair& large) {
    const std::lock_guard lock(large.open_mutex);
    return large.error.has_value();
  }

  // The last tile is done: no other worker touches the pair any more.
  void finish_large(LargePair& large, const DataPair& pair) {
    if (large.error)
      report(pair, *large.error);
    else
      finish(pair, merged(*large.open, large.tiles, pair));
    sink_.advanced(1, 0);
    large.open.reset();
    large.tiles.clear();
    large.tiles.shrink_to_fit();
  }

  const DumpIndex &target_, &golden_;
  const std::vector<DataPair>& pairs_;
  const PassOptions& options_;
  const Cancel& cancel_;
  PassSink& sink_;
  uint64_t chunk_bytes_ = kChunkBytes;
  std::vector<Buffers> buffers_;  // one a worker
  std::vector<std::unique_ptr<LargePair>> large_;
  std::vector<Task> tasks_;
};

}  // namespace

void run_pass(const DumpIndex& target, const DumpIndex& golden, const std::vector<DataPair>& pairs,
              const PassOptions& options, ThreadPool& pool, const Cancel& cancel, PassSink& sink) {
  Pass pass(target, golden, pairs, options, cancel, sink, pool.workers());
  pool.parallel_for(pass.task_count(), [&](int64_t task, int worker) { pass.run(task, worker); });
}

}  // namespace ulpscope
