#include "formats/element_stream_gather.hpp"

#include <algorithm>
#include <cstring>

namespace ulpscope {
namespace {

// One loop of the copy: over count elements, stride apart in the storage and step apart in the block.
struct Loop {
  uint64_t count = 0, stride = 0, step = 0;
};

// Elements further apart than this in a file are read one by one; nearer ones together with what lies
// between.
constexpr uint64_t kMaxGapBytes = 4096;
constexpr size_t kSpanBytes = size_t{1} << 20;

template <size_t N>
void copy_fixed(const std::byte* from, uint64_t from_step, std::byte* to, uint64_t to_step, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, N);
}

// Copies count elements of width bytes; steps in bytes.
void copy_run(const std::byte* from, uint64_t from_step, std::byte* to, uint64_t to_step, uint64_t count,
              uint64_t width) {
  if (from_step == width && to_step == width) {
    std::memcpy(to, from, count * width);
    return;
  }
  switch (width) {
    case 1:
      return copy_fixed<1>(from, from_step, to, to_step, count);
    case 2:
      return copy_fixed<2>(from, from_step, to, to_step, count);
    case 4:
      return copy_fixed<4>(from, from_step, to, to_step, count);
    case 8:
      return copy_fixed<8>(from, from_step, to, to_step, count);
    default:
      return copy_fixed<16>(from, from_step, to, to_step, count);
  }
}

class Copier {
 public:
  Copier(const GatherSource& source, uint64_t width, std::span<std::byte> block)
      : source_(source), width_(width), block_(block) {}

  // The innermost loop, from storage element first to block element at.
  Status run(const Loop& loop, uint64_t first, uint64_t at) {
    std::byte* const to = block_.data() + at * width_;
    if (source_.file == nullptr) {
      copy_run(source_.memory.data() + first * width_, loop.stride * width_, to, loop.step * width_,
               loop.count, width_);
      return {};
    }
    if (loop.stride == 1 && loop.step == 1) return read(first, {to, loop.count * width_});
    const uint64_t gap = loop.stride * width_;
    const uint64_t batch = gap > kMaxGapBytes ? 1 : std::max<uint64_t>(1, kSpanBytes / std::max(gap, width_));
    for (uint64_t done = 0; done < loop.count; done += batch) {
      const uint64_t n = std::min(batch, loop.count - done);
      span_.resize((n - 1) * gap + width_);
      ULPSCOPE_TRY(read(first + done * loop.stride, span_));
      copy_run(span_.data(), gap, to + done * loop.step * width_, loop.step * width_, n, width_);
    }
    return {};
  }

 private:
  Status read(uint64_t first, std::span<std::byte> dst) {
    return source_.file->read_exact(source_.offset + first * width_, dst);
  }

  const GatherSource& source_;
  const uint64_t width_;
  std::span<std::byte> block_;
  std::vector<std::byte> span_;
};

// Storage order: the smallest stride innermost. Repeated dimensions (stride 0) are outermost, where they cost
// a second pass over rows instead of one read for each element.
void sort_loops(std::vector<Loop>& loops) {
  std::stable_sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
    if ((a.stride == 0) != (b.stride == 0)) return a.stride == 0;
    return a.stride > b.stride;
  });
}

}  // namespace

Gather make_gather(const TensorPlace& place) {
  Gather gather;
  gather.element_bytes = size_bytes(place.dtype);
  gather.first = static_cast<uint64_t>(place.first_element);
  for (size_t i = 0; i < place.shape.size(); ++i) {
    const auto size = static_cast<uint64_t>(place.shape[i]), stride = static_cast<uint64_t>(place.strides[i]);
    if (size == 1) continue;
    if (!gather.sizes.empty() && gather.strides.back() == stride * size) {
      gather.sizes.back() *= size;
      gather.strides.back() = stride;
      continue;
    }
    gather.sizes.push_back(size);
    gather.strides.push_back(stride);
  }
  if (gather.sizes.empty()) {
    gather.sizes.push_back(1);
    gather.strides.push_back(1);
  }
  return gather;
}

Status gather_block(const Gather& gather, const GatherSource& source, size_t axis,
                    std::span<const uint64_t> outer, uint64_t begin, uint64_t count,
                    std::span<std::byte> block) {
  uint64_t first = gather.first + begin * gather.strides[axis];
  for (size_t i = 0; i < axis; ++i) first += outer[i] * gather.strides[i];
  std::vector<Loop> loops;
  uint64_t step = 1;
  for (size_t i = gather.sizes.size(); i-- > axis;) {
    const uint64_t size = i == axis ? count : gather.sizes[i];
    if (size > 1) loops.push_back({size, gather.strides[i], step});
    step *= size;
  }
  if (loops.empty()) loops.push_back({1, 1, 1});
  sort_loops(loops);
  const Loop inner = loops.back();
  loops.pop_back();
  Copier copier(source, gather.element_bytes, block);
  // An odometer over the remaining loops; at and from move with it.
  std::vector<uint64_t> digits(loops.size());
  uint64_t at = 0, from = first;
  for (;;) {
    ULPSCOPE_TRY(copier.run(inner, from, at));
    size_t i = loops.size();
    while (i > 0) {
      const Loop& loop = loops[i - 1];
      at += loop.step;
      from += loop.stride;
      if (++digits[i - 1] < loop.count) break;
      digits[i - 1] = 0;
      at -= loop.count * loop.step;
      from -= loop.count * loop.stride;
      --i;
    }
    if (i == 0) return {};
  }
}

}  // namespace ulpscope
