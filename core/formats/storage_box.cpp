#include "formats/storage_box.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace ulpscope {
namespace {

// Elements of the innermost dimension that are moved before the next line: so many source lines stay in the
// first-level cache while their neighbours are taken from them.
constexpr int64_t kTile = 512;

// The stride of a table whose offsets grow evenly from 0.
std::optional<int64_t> stride_of(const OffsetTable& table) {
  if (table.empty() || table[0] != 0) return std::nullopt;
  if (table.size() == 1) return 0;
  const int64_t stride = table[1];
  for (size_t i = 2; i < table.size(); ++i)
    if (table[i] != stride * static_cast<int64_t>(i)) return std::nullopt;
  return stride;
}

// Joins neighbours of which the inner one continues the outer one: (h, w) becomes one dimension.
void join_even(std::vector<OffsetTable>& tables) {
  std::erase_if(tables, [](const OffsetTable& table) { return table.size() == 1 && table[0] == 0; });
  for (size_t i = tables.size(); i-- > 1;) {
    const auto outer = stride_of(tables[i - 1]), inner = stride_of(tables[i]);
    const auto count = static_cast<int64_t>(tables[i].size());
    if (!outer || !inner || *outer != *inner * count) continue;
    OffsetTable joined(tables[i - 1].size() * tables[i].size());
    for (size_t j = 0; j < joined.size(); ++j) joined[j] = *inner * static_cast<int64_t>(j);
    tables[i - 1] = std::move(joined);
    tables.erase(tables.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Length of the runs of neighbours that a table is made of; 1 when they are of several lengths.
int64_t run_of(const OffsetTable& table) {
  int64_t run = 1;
  const auto count = static_cast<int64_t>(table.size());
  while (run < count && table[static_cast<size_t>(run)] == table[0] + run) ++run;
  for (int64_t begin = 0; begin < count; begin += run)
    for (int64_t i = 1; i < std::min(run, count - begin); ++i)
      if (table[static_cast<size_t>(begin + i)] != table[static_cast<size_t>(begin)] + i) return 1;
  return run;
}

template <size_t kBytes>
struct Element {
  std::byte bytes[kBytes];
};

// Moves two dimensions, tile by tile of the inner one.
template <size_t kBytes>
class PlaneMover {
 public:
  PlaneMover(const OffsetTable& lines, const OffsetTable& inner)
      : lines_(lines), inner_(inner), stride_(stride_of(inner)), run_(run_of(inner)) {}

  void move(const Element<kBytes>* source, Element<kBytes>* out) const {
    const auto count = static_cast<int64_t>(inner_.size());
    const int64_t tile = run_ > 1 ? std::max(run_, kTile / run_ * run_) : kTile;
    for (int64_t begin = 0; begin < count; begin += tile) {
      const int64_t n = std::min(tile, count - begin);
      for (size_t line = 0; line < lines_.size(); ++line)
        move_line(source + lines_[line], begin, n, out + static_cast<int64_t>(line) * count + begin);
    }
  }

 private:
  void move_line(const Element<kBytes>* source, int64_t begin, int64_t n, Element<kBytes>* out) const {
    const int64_t* table = inner_.data() + begin;
    if (run_ > 1) {
      for (int64_t i = 0; i < n; i += run_)
        std::memcpy(out + i, source + table[i], static_cast<size_t>(std::min(run_, n - i)) * kBytes);
    } else if (stride_) {
      const Element<kBytes>* from = source + begin * *stride_;
      for (int64_t i = 0; i < n; ++i) out[i] = from[i * *stride_];
    } else {
      for (int64_t i = 0; i < n; ++i) out[i] = source[table[i]];
    }
  }

  const OffsetTable& lines_;
  const OffsetTable& inner_;
  std::optional<int64_t> stride_;
  int64_t run_;
};

template <size_t kBytes>
void move_all(const std::byte* packed, std::vector<OffsetTable>& tables, std::byte* out) {
  const auto* source = reinterpret_cast<const Element<kBytes>*>(packed);
  auto* to = reinterpret_cast<Element<kBytes>*>(out);
  while (tables.size() < 2) tables.insert(tables.begin(), OffsetTable{0});
  const size_t outer = tables.size() - 2;
  const PlaneMover<kBytes> plane(tables[outer], tables[outer + 1]);
  const size_t plane_elements = tables[outer].size() * tables[outer + 1].size();
  std::vector<size_t> place(outer, 0);
  for (;;) {
    int64_t base = 0;
    for (size_t i = 0; i < outer; ++i) base += tables[i][place[i]];
    plane.move(source + base, to);
    to += plane_elements;
    size_t axis = outer;
    while (axis > 0 && ++place[axis - 1] == tables[axis - 1].size()) place[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace

void pack_box(StoredBox& box) {
  box.strides.assign(box.ranges.size(), 1);
  box.elements = 1;
  for (size_t i = box.ranges.size(); i-- > 0;) {
    box.strides[i] = box.elements;
    box.elements *= box.ranges[i].count;
  }
}

StoredBox box_of(const std::vector<StoredAxis>& axes, std::span<const IndexRange> ranges) {
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
  pack_box(box);
  return box;
}

Status load_box(const File& file, uint64_t offset, const std::vector<StoredAxis>& axes, const StoredBox& box,
                unsigned element_bytes, std::span<std::byte> packed) {
  // Axes from `whole` on are complete: together with the range of the one before them they lie in one run.
  size_t whole = axes.size();
  while (whole > 0 && box.ranges[whole - 1].count == axes[whole - 1].size) --whole;
  const size_t cut = whole == 0 ? 0 : whole - 1;
  const int64_t run = box.ranges.empty() ? 1 : box.ranges[cut].count * box.strides[cut];
  std::vector<int64_t> stored_strides(axes.size(), 1);
  for (size_t i = axes.size(); i-- > 1;) stored_strides[i - 1] = stored_strides[i] * axes[i].size;
  std::vector<int64_t> place(cut, 0);
  std::span<std::byte> left = packed;
  const size_t run_bytes = static_cast<size_t>(run) * element_bytes;
  while (!left.empty()) {
    int64_t from = box.ranges.empty() ? 0 : box.ranges[cut].first * stored_strides[cut];
    for (size_t i = 0; i < cut; ++i) from += (box.ranges[i].first + place[i]) * stored_strides[i];
    ULPSCOPE_TRY(
        file.read_exact(offset + static_cast<uint64_t>(from) * element_bytes, left.first(run_bytes)));
    left = left.subspan(run_bytes);
    for (size_t i = cut; i-- > 0;) {
      if (++place[i] < box.ranges[i].count) break;
      place[i] = 0;
    }
  }
  return {};
}

std::vector<OffsetTable> offset_tables(const std::vector<StoredAxis>& axes, const StoredBox& box,
                                       std::span<const IndexRange> ranges) {
  std::vector<OffsetTable> tables;
  for (const IndexRange& range : ranges) tables.emplace_back(static_cast<size_t>(range.count), 0);
  for (size_t a = 0; a < axes.size(); ++a) {
    const StoredAxis& axis = axes[a];
    if (axis.dimension < 0) continue;
    const IndexRange& range = ranges[static_cast<size_t>(axis.dimension)];
    OffsetTable& table = tables[static_cast<size_t>(axis.dimension)];
    for (int64_t i = 0; i < range.count; ++i) {
      int64_t index = (range.first + i) / axis.divisor;
      if (axis.modulus != 0) index %= axis.modulus;
      table[static_cast<size_t>(i)] += (index - box.ranges[a].first) * box.strides[a];
    }
  }
  return tables;
}

void move_elements(std::span<const std::byte> packed, std::vector<OffsetTable> tables, unsigned element_bytes,
                   std::byte* out) {
  join_even(tables);
  switch (element_bytes) {
    case 1:
      return move_all<1>(packed.data(), tables, out);
    case 2:
      return move_all<2>(packed.data(), tables, out);
    case 4:
      return move_all<4>(packed.data(), tables, out);
    case 8:
      return move_all<8>(packed.data(), tables, out);
    case 16:
      return move_all<16>(packed.data(), tables, out);
    default:
      return;
  }
}

}  // namespace ulpscope
