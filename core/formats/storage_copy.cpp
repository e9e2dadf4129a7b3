#include "formats/storage_copy.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ulpscope {
namespace {

// Bytes of a cache line; so many are written to one place before the next.
constexpr int64_t kLineBytes = 64;

template <size_t kBytes>
struct Element {
  std::byte bytes[kBytes];
};

// Lines of elements in registers, as many of them as a line has elements:
//   a0 a1 a2 a3        a0 b0 c0 d0
//   b0 b1 b2 b3   to   a1 b1 c1 d1      (32 bits; 8 x 8 of 16 bits, 2 x 2 of 64 bits)
// A step lays line i and the one half a square behind it together, element by element, and gives lines 2 i
// and 2 i + 1; when every bit of the place has been exchanged so, lines have become columns.
template <size_t kBytes>
struct Lane;
template <>
struct Lane<1> {
  using Type = uint8_t;
};
template <>
struct Lane<2> {
  using Type = uint16_t;
};
template <>
struct Lane<4> {
  using Type = uint32_t;
};
template <>
struct Lane<8> {
  using Type = uint64_t;
};

constexpr size_t kVectorBytes = 16;

template <size_t kBytes>
using Vector [[gnu::vector_size(kVectorBytes)]] = typename Lane<kBytes>::Type;

// The halves of two vectors laid together: a0 b0 a1 b1 ..., from element kFirst on.
template <size_t kBytes, size_t kFirst, size_t... kPlace>
Vector<kBytes> laid_together(Vector<kBytes> a, Vector<kBytes> b, std::index_sequence<kPlace...> /*places*/) {
  constexpr size_t kCount = sizeof...(kPlace);
  return __builtin_shufflevector(a, b, static_cast<int>(kFirst + kPlace / 2 + kPlace % 2 * kCount)...);
}

template <size_t kBytes>
Vector<kBytes> low(Vector<kBytes> a, Vector<kBytes> b) {
  constexpr size_t kCount = kVectorBytes / kBytes;
  return laid_together<kBytes, 0>(a, b, std::make_index_sequence<kCount>());
}
template <size_t kBytes>
Vector<kBytes> high(Vector<kBytes> a, Vector<kBytes> b) {
  constexpr size_t kCount = kVectorBytes / kBytes;
  return laid_together<kBytes, kCount / 2>(a, b, std::make_index_sequence<kCount>());
}

// Side of a square.
template <size_t kBytes>
constexpr int64_t kSquare = kBytes < kVectorBytes ? static_cast<int64_t>(kVectorBytes / kBytes) : 1;

template <size_t kBytes>
void exchange(Vector<kBytes>* lines) {
  constexpr int64_t kSide = kSquare<kBytes>;
  for (int64_t step = 1; step < kSide; step *= 2) {
    Vector<kBytes> next[kSide];
    for (int64_t i = 0; i < kSide / 2; ++i) {
      next[2 * i] = low<kBytes>(lines[i], lines[i + kSide / 2]);
      next[2 * i + 1] = high<kBytes>(lines[i], lines[i + kSide / 2]);
    }
    std::copy(next, next + kSide, lines);
  }
}

// out[j * to + i] = source[i * from + j] for i, j below kSquare.
template <size_t kBytes>
void transpose_square(const Element<kBytes>* source, int64_t from, Element<kBytes>* out, int64_t to) {
  constexpr int64_t kSide = kSquare<kBytes>;
  Vector<kBytes> lines[kSide];
  for (int64_t i = 0; i < kSide; ++i) std::memcpy(&lines[i], source + i * from, kVectorBytes);
  exchange<kBytes>(lines);
  for (int64_t j = 0; j < kSide; ++j) std::memcpy(out + j * to, &lines[j], kVectorBytes);
}

// A square of 8 x 8 bytes, because convolutions of 3 x 3 have few more places: two lines become one of pairs,
// and those squares of wider elements.
constexpr int64_t kSmallSquare = 8;
void transpose_small_square(const Element<1>* source, int64_t from, Element<1>* out, int64_t to) {
  Vector<2> pairs[4];
  for (int64_t i = 0; i < 4; ++i) {
    Vector<1> a = {}, b = {};
    std::memcpy(&a, source + 2 * i * from, kSmallSquare);
    std::memcpy(&b, source + (2 * i + 1) * from, kSmallSquare);
    pairs[i] = reinterpret_cast<Vector<2>>(low<1>(a, b));
  }
  // Columns 0 to 3 and 4 to 7 of lines 0 to 3, and of lines 4 to 7; 32 bits each.
  const auto wide = [](Vector<2> value) { return reinterpret_cast<Vector<4>>(value); };
  const Vector<4> above[2] = {wide(low<2>(pairs[0], pairs[1])), wide(high<2>(pairs[0], pairs[1]))};
  const Vector<4> below[2] = {wide(low<2>(pairs[2], pairs[3])), wide(high<2>(pairs[2], pairs[3]))};
  for (int64_t j = 0; j < kSmallSquare; j += 2) {
    const Vector<4> a = above[j / 4], b = below[j / 4];
    const auto columns = reinterpret_cast<Vector<8>>(j % 4 == 0 ? low<4>(a, b) : high<4>(a, b));
    const uint64_t first = columns[0], second = columns[1];
    std::memcpy(out + j * to, &first, kSmallSquare);
    std::memcpy(out + (j + 1) * to, &second, kSmallSquare);
  }
}

// out[j * to + i] = source[i * from + j] for i below lines and j below columns. Whole cache lines of a few
// places are written at a time: more of them would drive each other out of the cache where `to` is a large
// power of two.
template <size_t kBytes>
void transpose(const Element<kBytes>* source, int64_t lines, int64_t from, Element<kBytes>* out,
               int64_t columns, int64_t to) {
  constexpr int64_t kSide = kSquare<kBytes>;
  constexpr int64_t kStrip = std::max<int64_t>(kLineBytes / static_cast<int64_t>(kBytes), kSide);
  for (int64_t strip = 0; strip < lines; strip += kStrip) {
    const int64_t end = std::min(lines, strip + kStrip);
    int64_t j = 0;
    if constexpr (kSide > 1) {
      for (; j + kSide <= columns; j += kSide) {
        int64_t i = strip;
        for (; i + kSide <= end; i += kSide)
          transpose_square<kBytes>(source + i * from + j, from, out + j * to + i, to);
        if constexpr (kBytes == 1)
          for (; i + kSmallSquare <= end; i += kSmallSquare)
            for (int64_t k = j; k < j + kSide; k += kSmallSquare)
              transpose_small_square(source + i * from + k, from, out + k * to + i, to);
        for (; i < end; ++i)
          for (int64_t k = j; k < j + kSide; ++k) out[k * to + i] = source[i * from + k];
      }
    }
    for (; j < columns; ++j)
      for (int64_t i = strip; i < end; ++i) out[j * to + i] = source[i * from + j];
  }
}

// Runs of neighbours, kRunBytes each.
template <size_t kRunBytes>
void copy_fixed_runs(const std::byte* source, int64_t count, int64_t from, std::byte* out, int64_t to) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * to, source + i * from, kRunBytes);
}

// from and to: bytes from one run to the next.
void copy_runs(const std::byte* source, int64_t count, int64_t from, std::byte* out, int64_t to,
               size_t run_bytes) {
  switch (run_bytes) {
    case 8:
      return copy_fixed_runs<8>(source, count, from, out, to);
    case 16:
      return copy_fixed_runs<16>(source, count, from, out, to);
    case 32:
      return copy_fixed_runs<32>(source, count, from, out, to);
    case 64:
      return copy_fixed_runs<64>(source, count, from, out, to);
    case 128:
      return copy_fixed_runs<128>(source, count, from, out, to);
    default:
      for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * to, source + i * from, run_bytes);
  }
}

// Leaves the axes in the order of the array that is written, the outermost first, with neighbours joined
// where the inner one continues the outer one.
void simplify(std::vector<CopyAxis>& axes) {
  std::erase_if(axes, [](const CopyAxis& axis) { return axis.count == 1; });
  std::stable_sort(axes.begin(), axes.end(),
                   [](const CopyAxis& a, const CopyAxis& b) { return a.to > b.to; });
  for (size_t i = axes.size(); i-- > 1;) {
    CopyAxis& outer = axes[i - 1];
    const CopyAxis& inner = axes[i];
    if (outer.from != inner.from * inner.count || outer.to != inner.to * inner.count) continue;
    outer = {outer.count * inner.count, inner.from, inner.to};
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Calls visit with both offsets of every combination of the axes.
template <class Visit>
void for_places(const std::vector<CopyAxis>& axes, const Visit& visit) {
  std::vector<int64_t> place(axes.size(), 0);
  int64_t from = 0, to = 0;
  for (;;) {
    visit(from, to);
    size_t i = axes.size();
    for (; i > 0; --i) {
      const CopyAxis& axis = axes[i - 1];
      from += axis.from;
      to += axis.to;
      if (++place[i - 1] < axis.count) break;
      from -= axis.from * axis.count;
      to -= axis.to * axis.count;
      place[i - 1] = 0;
    }
    if (i == 0) return;
  }
}

// As for_places, but in another order: of the axis whose steps are shortest in the array that is read, a few
// are taken before the axes behind it go on. What is read lies together then, on few cache lines and pages,
// and what is written is a few streams.
template <class Visit>
void for_close_places(const std::vector<CopyAxis>& axes, const Visit& visit) {
  constexpr int64_t kTile = 16;
  const auto closest = std::min_element(axes.begin(), axes.end(),
                                        [](const CopyAxis& a, const CopyAxis& b) { return a.from < b.from; });
  if (closest == axes.end() || closest + 1 == axes.end()) return for_places(axes, visit);
  const CopyAxis lines = *closest;
  const std::vector<CopyAxis> before(axes.begin(), closest), after(closest + 1, axes.end());
  for_places(before, [&](int64_t outer_from, int64_t outer_to) {
    for (int64_t first = 0; first < lines.count; first += kTile) {
      const int64_t end = std::min(lines.count, first + kTile);
      for_places(after, [&](int64_t from, int64_t to) {
        for (int64_t line = first; line < end; ++line)
          visit(outer_from + from + line * lines.from, outer_to + to + line * lines.to);
      });
    }
  });
}

// Runs of inner.count neighbours for all combinations of the axes.
template <size_t kBytes>
void copy_all_runs(const Element<kBytes>* source, std::vector<CopyAxis>& axes, int64_t run,
                   Element<kBytes>* out) {
  constexpr auto kSize = static_cast<int64_t>(kBytes);
  constexpr int64_t kTile = 32;
  CopyAxis runs;
  if (!axes.empty()) {
    runs = axes.back();
    axes.pop_back();
  }
  // Few runs at a time, so that for_close_places has something to choose.
  int64_t rest = runs.count;
  if (!axes.empty() && runs.count > kTile) {
    axes.push_back({runs.count / kTile, runs.from * kTile, runs.to * kTile});
    rest = kTile;
  }
  const auto copy = [&](int64_t count) {
    return [&, count](int64_t from, int64_t to) {
      copy_runs(reinterpret_cast<const std::byte*>(source + from), count, runs.from * kSize,
                reinterpret_cast<std::byte*>(out + to), runs.to * kSize, static_cast<size_t>(run * kSize));
    };
  };
  for_close_places(axes, copy(rest));
  if (rest == runs.count || runs.count % kTile == 0) return;
  axes.pop_back();
  source += runs.count / kTile * kTile * runs.from;
  out += runs.count / kTile * kTile * runs.to;
  for_places(axes, copy(runs.count % kTile));
}

template <size_t kBytes>
void copy_all(const std::byte* from, std::vector<CopyAxis>& axes, std::byte* to) {
  const auto* source = reinterpret_cast<const Element<kBytes>*>(from);
  auto* out = reinterpret_cast<Element<kBytes>*>(to);
  CopyAxis inner{1, 1, 1};
  if (!axes.empty()) {
    inner = axes.back();
    axes.pop_back();
  }
  if (inner.from == 1 && inner.to == 1) return copy_all_runs<kBytes>(source, axes, inner.count, out);
  const auto dense =
      std::find_if(axes.begin(), axes.end(), [](const CopyAxis& axis) { return axis.from == 1; });
  if (inner.to == 1 && dense != axes.end()) {
    const CopyAxis columns = *dense;
    axes.erase(dense);
    return for_close_places(axes, [&](int64_t a, int64_t b) {
      transpose<kBytes>(source + a, inner.count, inner.from, out + b, columns.count, columns.to);
    });
  }
  for_close_places(axes, [&](int64_t a, int64_t b) {
    for (int64_t i = 0; i < inner.count; ++i) out[b + i * inner.to] = source[a + i * inner.from];
  });
}

}  // namespace

void copy_nest(const std::byte* from, CopyNest nest, unsigned element_bytes, std::byte* to) {
  const bool empty =
      std::any_of(nest.axes.begin(), nest.axes.end(), [](const CopyAxis& axis) { return axis.count <= 0; });
  if (empty) return;
  simplify(nest.axes);
  from += nest.from * static_cast<int64_t>(element_bytes);
  to += nest.to * static_cast<int64_t>(element_bytes);
  switch (element_bytes) {
    case 1:
      return copy_all<1>(from, nest.axes, to);
    case 2:
      return copy_all<2>(from, nest.axes, to);
    case 4:
      return copy_all<4>(from, nest.axes, to);
    case 8:
      return copy_all<8>(from, nest.axes, to);
    case 16:
      return copy_all<16>(from, nest.axes, to);
    default:
      return;
  }
}

}  // namespace ulpscope
