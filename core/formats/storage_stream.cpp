#include "formats/storage_stream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "formats/storage_box.hpp"

namespace ulpscope {
namespace {

// A box of this size and what becomes of it stay in the second-level cache of a core while elements are
// moved, and cost few new pages where a tensor is small.
constexpr int64_t kBoxBytes = int64_t{256} << 10;
// A box may be larger so that the runs that are read at once have so many bytes.
constexpr int64_t kLargeBoxBytes = int64_t{6} << 20;
constexpr int64_t kRunBytes = int64_t{8} << 10;
// The largest block that cannot be cut without reading it many times.
constexpr int64_t kMaxBoxBytes = int64_t{512} << 20;

int64_t count_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  return count;
}

}  // namespace

// Gives the result slab by slab: all indexes of the dimensions before the cut one by one, pieces of the cut
// dimension, everything after it whole.
class StorageStream::Mover {
 public:
  Mover(File file, uint64_t offset, StoragePlan plan, unsigned element_bytes)
      : file_(std::move(file)), offset_(offset), plan_(std::move(plan)), element_bytes_(element_bytes) {
    // An array that is the result already is cut anywhere.
    if (plan_.identity) plan_.shape = {count_of(plan_.shape)};
    choose_cut();
  }

  int64_t box_bytes() const { return first_box_bytes_; }
  bool done() const { return done_; }

  // The elements of the next slab, in memory of the buffer.
  Result<std::span<const std::byte>> next(RawBuffer& buffer) {
    const std::vector<IndexRange> ranges = ranges_at(place_, chunk_);
    int64_t elements = 1;
    for (const IndexRange& range : ranges) elements *= range.count;
    const std::span<std::byte> slab = buffer.take(static_cast<size_t>(elements) * element_bytes_);
    if (plan_.identity) {
      ULPSCOPE_TRY(file_.read_exact(offset_ + static_cast<uint64_t>(place_[0]) * element_bytes_, slab));
    } else {
      const StoredBox box = stored_box(ranges);
      const std::span<std::byte> packed = packed_.take(static_cast<size_t>(box.elements) * element_bytes_);
      ULPSCOPE_TRY(load_box(file_, offset_, plan_.stored, box, element_bytes_, packed));
      const auto nests = plan_.grouped ? grouped_nests_of(plan_, box, ranges)
                                       : nests_of(plan_.stored, box, ranges, dense_strides(ranges));
      for (const CopyNest& nest : nests) copy_nest(packed.data(), nest, element_bytes_, slab.data());
    }
    advance();
    return std::span<const std::byte>(slab);
  }

 private:
  std::vector<IndexRange> ranges_at(const std::vector<int64_t>& place, int64_t chunk) const {
    std::vector<IndexRange> ranges;
    for (size_t i = 0; i < plan_.shape.size(); ++i) {
      if (i < cut_)
        ranges.push_back({place[i], 1});
      else if (i == cut_)
        ranges.push_back({place[i], std::min(chunk, plan_.shape[i] - place[i])});
      else
        ranges.push_back({0, plan_.shape[i]});
    }
    return ranges;
  }

  // Elements of a dimension that are stored together and must not be cut apart.
  int64_t unit_of(size_t dimension) const {
    if (plan_.grouped)
      return static_cast<int32_t>(dimension) == plan_.n_dimension ? plan_.groups.block * plan_.groups.filters
                                                                  : 1;
    int64_t unit = 1;
    for (const StoredAxis& axis : plan_.stored)
      if (axis.dimension == static_cast<int32_t>(dimension)) unit = std::max(unit, axis.modulus);
    return unit;
  }

  int64_t bytes_of(int64_t chunk) const {
    const std::vector<IndexRange> ranges = ranges_at(std::vector<int64_t>(plan_.shape.size(), 0), chunk);
    if (plan_.identity) return chunk * element_bytes_;
    return stored_box(ranges).elements * element_bytes_;
  }

  // Fills a box with as much of the cut dimension as it holds. What must not be cut apart.
  int64_t set_chunk() {
    const int64_t unit =
        plan_.grouped && cut_ == 0 && plan_.n_dimension != 0 ? plan_.shape[0] : unit_of(cut_);
    chunk_ = unit * std::max<int64_t>(1, kBoxBytes / std::max<int64_t>(bytes_of(unit), 1));
    return unit;
  }

  int64_t run_bytes() const { return stored_box(ranges_at(place_, chunk_)).run * element_bytes_; }

  // Takes more of the cut dimension where what lies together in the file is short.
  void lengthen_runs(int64_t unit) {
    if (plan_.identity) return;
    for (int64_t longer = chunk_ * 2; chunk_ < plan_.shape[cut_]; longer *= 2) {
      const int64_t next_bytes = stored_box(ranges_at(place_, longer)).run * element_bytes_;
      const bool enough = run_bytes() >= kRunBytes || next_bytes == run_bytes();
      if (enough || bytes_of(longer) > kLargeBoxBytes) break;
      chunk_ = longer / unit * unit;
    }
  }

  // Cuts as far outside as the box allows. Inside a dimension that is stored in blocks no cut is made: each
  // block would be read again for every element of it.
  void choose_cut() {
    const int64_t count = count_of(plan_.shape);
    place_.assign(plan_.shape.size(), 0);
    done_ = count == 0;
    if (plan_.shape.empty() || done_) {
      first_box_bytes_ = element_bytes_;
      return;
    }
    const size_t last =
        plan_.identity || (plan_.grouped && plan_.n_dimension != 0) ? 0 : plan_.shape.size() - 1;
    int64_t unit = set_chunk();
    while (bytes_of(unit) > kBoxBytes && unit == 1 && !plan_.grouped && cut_ < last) {
      const int64_t whole_bytes = bytes_of(1);
      ++cut_;
      unit = set_chunk();
      if (whole_bytes > kLargeBoxBytes || run_bytes() >= kRunBytes) continue;
      --cut_;  // deeper there are only short runs
      unit = set_chunk();
      break;
    }
    lengthen_runs(unit);
    first_box_bytes_ = bytes_of(std::min(chunk_, plan_.shape[cut_]));
  }

  void advance() {
    if (place_.empty()) {
      done_ = true;
      return;
    }
    place_[cut_] += chunk_;
    if (place_[cut_] < plan_.shape[cut_]) return;
    place_[cut_] = 0;
    for (size_t i = cut_; i-- > 0;) {
      if (++place_[i] < plan_.shape[i]) return;
      place_[i] = 0;
    }
    done_ = true;
  }

  StoredBox stored_box(std::span<const IndexRange> ranges) const {
    return plan_.grouped ? grouped_box(ranges) : box_of(plan_.stored, ranges, element_bytes_);
  }

  // All of the stored blocks that hold the groups of a range of filters.
  StoredBox grouped_box(std::span<const IndexRange> ranges) const {
    const IndexRange& n = ranges[static_cast<size_t>(plan_.n_dimension)];
    const int64_t per_block = plan_.groups.block * plan_.groups.filters;
    StoredBox box;
    for (const StoredAxis& axis : plan_.stored) box.ranges.push_back({0, axis.size});
    const int64_t first = n.first / per_block, last = (n.first + n.count - 1) / per_block;
    box.ranges[0] = {first, last - first + 1};
    pack_box(plan_.stored, element_bytes_, box);
    return box;
  }

  File file_;
  uint64_t offset_;
  StoragePlan plan_;
  unsigned element_bytes_;
  size_t cut_ = 0;
  int64_t chunk_ = 1, first_box_bytes_ = 0;
  std::vector<int64_t> place_;  // first index of the next slab
  RawBuffer packed_;
  bool done_ = false;
};

StorageStream::StorageStream(std::unique_ptr<Mover> mover) : mover_(std::move(mover)) {}
StorageStream::~StorageStream() = default;

Result<std::unique_ptr<StorageStream>> StorageStream::open(File file, uint64_t offset, uint64_t size_bytes,
                                                           StoragePlan plan, unsigned element_bytes) {
  const std::string where = file.path();
  int64_t stored = 1;
  for (const StoredAxis& axis : plan.stored)
    if (axis.size < 0 || __builtin_mul_overflow(stored, axis.size, &stored)) stored = INT64_MAX;
  if (plan.identity) stored = count_of(plan.shape);
  uint64_t needed = 0;
  if (stored < 0 || count_of(plan.shape) < 0 ||
      __builtin_mul_overflow(static_cast<uint64_t>(stored), uint64_t{element_bytes}, &needed) ||
      needed > size_bytes || offset > file.size() || size_bytes > file.size() - offset)
    return Error{Code::format, where + ": the stored array does not fit into its " +
                                   std::to_string(size_bytes) + " bytes at " + std::to_string(offset)};
  auto mover = std::make_unique<Mover>(std::move(file), offset, std::move(plan), element_bytes);
  if (mover->box_bytes() > kMaxBoxBytes)
    return Error{Code::unsupported, where + ": a block of " + std::to_string(mover->box_bytes()) +
                                        " bytes cannot be converted, expected at most " +
                                        std::to_string(kMaxBoxBytes)};
  return std::unique_ptr<StorageStream>(new StorageStream(std::move(mover)));
}

Result<size_t> StorageStream::read(std::span<std::byte> dst) {
  size_t done = 0;
  while (done < dst.size()) {
    if (ready_.empty()) {
      if (mover_->done()) break;
      ULPSCOPE_ASSIGN(ready_, mover_->next(slab_));
      continue;
    }
    const size_t n = std::min(dst.size() - done, ready_.size());
    std::memcpy(dst.data() + done, ready_.data(), n);
    ready_ = ready_.subspan(n);
    done += n;
  }
  return done;
}

}  // namespace ulpscope
