#include "formats/storage_box.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ulpscope {
namespace {

constexpr int64_t kLineBytes = 64;
// Runs that begin at multiples of this many bytes share few places of a first-level cache.
constexpr int64_t kAliasBytes = 512;
// Runs that are shorter are read together with what lies between them, if that is not more than a page each.
constexpr int64_t kShortRunBytes = 2048;
constexpr int64_t kPageBytes = 4096;
constexpr int64_t kGatherBytes = 256 * 1024;

// Places of the axes in the file, in elements.
std::vector<int64_t> file_strides(const std::vector<StoredAxis>& axes) {
  std::vector<int64_t> strides(axes.size(), 1);
  for (size_t i = axes.size(); i-- > 1;) strides[i - 1] = strides[i] * axes[i].size;
  return strides;
}

// A stretch of one dimension whose places are sums of index times stride.
struct Piece {
  int64_t from = 0, to = 0;
  std::vector<CopyAxis> axes;
};

// How one dimension is stored: places of whole blocks and of the elements inside of one, of the box in
// memory.
struct DimensionStorage {
  int64_t block = 1;
  int64_t outer_stride = 0, inner_stride = 0;  // of the next block; of the next element inside
  int64_t base = 0;                            // place of logical index 0, may lie before the box
};

DimensionStorage storage_of(const std::vector<StoredAxis>& axes, const StoredBox& box, int32_t dimension) {
  DimensionStorage out;
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].dimension != dimension) continue;
    out.base -= box.ranges[a].first * box.strides[a];
    out.block = std::max(out.block, axes[a].modulus);
    (axes[a].modulus > 0 ? out.inner_stride : out.outer_stride) += box.strides[a];
  }
  return out;
}

// Cuts a range at the borders of blocks: a rest of the first block, whole blocks, a part of the last one.
std::vector<Piece> pieces_of(const DimensionStorage& storage, const IndexRange& range, int64_t to_stride) {
  std::vector<Piece> pieces;
  const int64_t block = storage.block, end = range.first + range.count;
  for (int64_t at = range.first; at < end;) {
    const int64_t inside = at % block;
    const int64_t whole = inside == 0 ? (end - at) / block : 0;
    Piece piece{storage.base + at / block * storage.outer_stride + inside * storage.inner_stride,
                (at - range.first) * to_stride,
                {}};
    const int64_t count = whole > 0 ? block : std::min(block - inside, end - at);
    if (whole > 0) piece.axes.push_back({whole, storage.outer_stride, to_stride * block});
    if (block > 1) piece.axes.push_back({count, storage.inner_stride, to_stride});
    at += whole > 0 ? whole * block : count;
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// Reads one run, or several at once into scratch where they are short and close together.
struct RunReader {
  const File& file;
  uint64_t offset;
  unsigned element_bytes;
  std::vector<std::byte> scratch = {};

  // count runs of run elements, each from elements behind the other in the file and to in memory.
  Status read(int64_t at, int64_t count, int64_t from, int64_t run, int64_t to, std::byte* memory) {
    const int64_t run_bytes = run * element_bytes, from_bytes = from * element_bytes;
    const uint64_t place = offset + static_cast<uint64_t>(at) * element_bytes;
    if (run_bytes >= kShortRunBytes || from_bytes > kPageBytes || count == 1) {
      for (int64_t i = 0; i < count; ++i)
        ULPSCOPE_TRY(file.read_exact(place + static_cast<uint64_t>(i * from_bytes),
                                     {memory + i * to * element_bytes, static_cast<size_t>(run_bytes)}));
      return {};
    }
    const int64_t most = std::max<int64_t>(1, kGatherBytes / from_bytes);
    for (int64_t first = 0; first < count; first += most) {
      const int64_t n = std::min(most, count - first);
      scratch.resize(static_cast<size_t>((n - 1) * from_bytes + run_bytes));
      ULPSCOPE_TRY(file.read_exact(place + static_cast<uint64_t>(first * from_bytes), scratch));
      copy_nest(scratch.data(), {0, 0, {{n, from, to}, {run, 1, 1}}}, element_bytes,
                memory + first * to * element_bytes);
    }
    return {};
  }
};

}  // namespace

void pack_box(const std::vector<StoredAxis>& axes, unsigned element_bytes, StoredBox& box) {
  // Axes from `whole` on are complete: together with the range of the one before them they lie in one run.
  size_t whole = axes.size();
  while (whole > 0 && box.ranges[whole - 1].count == axes[whole - 1].size) --whole;
  box.run_axis = whole == 0 ? 0 : whole - 1;
  box.strides.assign(box.ranges.size(), 1);
  box.elements = 1;
  box.run = 1;
  for (size_t i = box.ranges.size(); i-- > 0;) {
    box.strides[i] = box.elements;
    box.elements *= box.ranges[i].count;
    if (i != box.run_axis) continue;
    box.run = box.elements;
    const bool aliased = i > 0 && box.run * element_bytes % kAliasBytes == 0;
    if (aliased) box.elements += kLineBytes / element_bytes;
  }
}

StoredBox box_of(const std::vector<StoredAxis>& axes, std::span<const IndexRange> ranges,
                 unsigned element_bytes) {
  StoredBox box;
  for (const StoredAxis& axis : axes) {
    if (axis.dimension < 0) {
      box.ranges.push_back({0, 1});
      continue;
    }
    const IndexRange& range = ranges[static_cast<size_t>(axis.dimension)];
    const int64_t first = range.first, last = range.first + range.count - 1;
    if (axis.modulus == 0)
      box.ranges.push_back({first / axis.divisor, last / axis.divisor - first / axis.divisor + 1});
    else if (first / axis.modulus == last / axis.modulus)
      box.ranges.push_back({first % axis.modulus, range.count});
    else
      box.ranges.push_back({0, axis.modulus});
  }
  pack_box(axes, element_bytes, box);
  return box;
}

Status load_box(const File& file, uint64_t offset, const std::vector<StoredAxis>& axes, const StoredBox& box,
                unsigned element_bytes, std::span<std::byte> memory) {
  const std::vector<int64_t> strides = file_strides(axes);
  RunReader reader{file, offset, element_bytes};
  if (axes.empty()) return reader.read(0, 1, 1, 1, 1, memory.data());
  // One axis of runs is read at a time, all combinations of those before it one after the other.
  const size_t run_axis = box.run_axis, outer = run_axis == 0 ? 0 : run_axis - 1;
  int64_t start = 0;
  for (size_t i = 0; i < axes.size(); ++i) start += box.ranges[i].first * strides[i];
  const int64_t count = run_axis == 0 ? 1 : box.ranges[outer].count;
  std::vector<int64_t> place(outer, 0);
  for (;;) {
    int64_t from = start, to = 0;
    for (size_t i = 0; i < outer; ++i) {
      from += place[i] * strides[i];
      to += place[i] * box.strides[i];
    }
    ULPSCOPE_TRY(reader.read(from, count, strides[outer], box.run, box.strides[outer],
                             memory.data() + to * element_bytes));
    size_t i = outer;
    while (i > 0 && ++place[i - 1] == box.ranges[i - 1].count) place[--i] = 0;
    if (i == 0) return {};
  }
}

std::vector<int64_t> dense_strides(std::span<const IndexRange> ranges) {
  std::vector<int64_t> strides(ranges.size(), 1);
  for (size_t i = ranges.size(); i-- > 1;) strides[i - 1] = strides[i] * ranges[i].count;
  return strides;
}

std::vector<CopyNest> nests_of(const std::vector<StoredAxis>& axes, const StoredBox& box,
                               std::span<const IndexRange> ranges, std::span<const int64_t> to_strides) {
  std::vector<CopyNest> nests(1);
  for (size_t d = 0; d < ranges.size(); ++d) {
    const DimensionStorage storage = storage_of(axes, box, static_cast<int32_t>(d));
    std::vector<Piece> pieces;
    if (storage.block > 1)
      pieces = pieces_of(storage, ranges[d], to_strides[d]);
    else
      pieces = {{storage.base + ranges[d].first * (storage.outer_stride + storage.inner_stride),
                 0,
                 {{ranges[d].count, storage.outer_stride + storage.inner_stride, to_strides[d]}}}};
    std::vector<CopyNest> next;
    for (const CopyNest& nest : nests)
      for (const Piece& piece : pieces) {
        next.push_back(nest);
        next.back().from += piece.from;
        next.back().to += piece.to;
        next.back().axes.insert(next.back().axes.end(), piece.axes.begin(), piece.axes.end());
      }
    nests = std::move(next);
  }
  return nests;
}

std::vector<CopyNest> grouped_nests_of(const StoragePlan& plan, const StoredBox& box,
                                       std::span<const IndexRange> ranges) {
  const StorageGroups& groups = plan.groups;
  const auto n_at = static_cast<size_t>(plan.n_dimension), c_at = static_cast<size_t>(plan.c_dimension);
  const std::vector<int64_t> to = dense_strides(ranges);
  // H and W, and the filters of one group; axes of the plan: G1, C1, H, W, O, C0.
  std::vector<CopyAxis> common = {{groups.filters, box.strides[4], to[n_at]}};
  for (const size_t axis : {size_t{2}, size_t{3}}) {
    const auto d = static_cast<size_t>(plan.stored[axis].dimension);
    common.push_back({ranges[d].count, box.strides[axis], to[d]});
  }
  std::vector<CopyNest> nests;
  const int64_t first = ranges[n_at].first / groups.filters, count = ranges[n_at].count / groups.filters;
  const bool even = plan.stored[1].size == 1;  // all channels of a block in one C0: groups are evenly spaced
  for (int64_t g = first; g < first + count;) {
    const int64_t within = g % groups.block;
    const int64_t together = even ? std::min(groups.block - within, first + count - g) : 1;
    for (int64_t c = 0; c < groups.channels;) {
      const int64_t i = within * groups.channels + c, inside = i % groups.c0;
      const int64_t run = std::min(groups.c0 - inside, groups.channels - c);
      CopyNest nest{(g / groups.block - box.ranges[0].first) * box.strides[0] +
                        i / groups.c0 * box.strides[1] + within * groups.filters * box.strides[4] + inside,
                    (g - first) * groups.filters * to[n_at] + c * to[c_at], common};
      nest.axes.push_back({run, 1, to[c_at]});
      nest.axes.push_back(
          {together, groups.filters * box.strides[4] + groups.channels, groups.filters * to[n_at]});
      nests.push_back(std::move(nest));
      c += run;
    }
    g += together;
  }
  return nests;
}

}  // namespace ulpscope
