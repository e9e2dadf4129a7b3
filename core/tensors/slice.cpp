#include "tensors/slice.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "tensors/element_text.hpp"

namespace ulpscope {
namespace {

constexpr int64_t kWhole = 1000;  // elements that are printed without leaving any out
constexpr int64_t kEdge = 3;      // places kept at either end of a long dimension
constexpr int64_t kMostPrinted = 100'000;
constexpr int64_t kWindowBytes = 64 * 1024;

Error bad_part(std::string_view part, const std::string& expected) {
  return {Code::usage, "slice part '" + printable(part) + "', expected " + expected};
}

// One bound of a range as numpy takes it: negative counts from the end, and what is outside is moved to the
// edge.
Result<int64_t> bound(std::string_view part, std::string_view text, int64_t otherwise, int64_t size) {
  if (text.empty()) return otherwise;
  const auto number = parse_int(text);
  if (!number) return bad_part(part, "a form like 2, 1:4 or ::2");
  return std::clamp<int64_t>(*number < 0 ? *number + size : *number, 0, size);
}

Result<SliceDim> parse_dim(std::string_view part, int64_t size) {
  const std::vector<std::string_view> fields = split(part, ':');
  SliceDim dim;
  if (fields.size() == 1) {
    const auto number = parse_int(part);
    if (!number) return bad_part(part, "a form like 2, 1:4 or ::2");
    if (*number < -size || *number >= size)
      return bad_part(part, "a place within a dimension of " + std::to_string(size));
    return SliceDim{*number < 0 ? *number + size : *number, 1, 1, true};
  }
  if (fields.size() > 3) return bad_part(part, "at most start:stop:step");
  ULPSCOPE_ASSIGN(dim.first, bound(part, fields[0], 0, size));
  ULPSCOPE_ASSIGN(const int64_t stop, bound(part, fields[1], size, size));
  if (fields.size() == 3 && !fields[2].empty()) {
    const auto step = parse_int(fields[2]);
    if (!step || *step < 1) return bad_part(part, "a step of 1 or more");
    dim.step = *step;
  }
  // Written so that a huge step cannot overflow.
  dim.count = stop > dim.first ? (stop - dim.first - 1) / dim.step + 1 : 0;
  return dim;
}

// Reads elements at rising places through a window, so that both files and streams are read forward only.
class Window {
 public:
  Window(TensorData& data, DType dtype) : data_(data), width_(std::max(1U, size_bytes(dtype))) {}

  Result<std::span<const std::byte>> element(int64_t place) {
    const uint64_t offset = static_cast<uint64_t>(place) * width_;
    while (offset < start_ || offset + width_ > start_ + buffer_.size()) {
      const uint64_t from = data_.seekable() ? offset : start_ + buffer_.size();
      if (from > data_.size_bytes() || width_ > data_.size_bytes() - from)
        return Error{Code::internal, "element " + std::to_string(place) + " is past the tensor"};
      const uint64_t step = kWindowBytes / width_ * width_;
      buffer_.resize(std::min(step, data_.size_bytes() - from));
      ULPSCOPE_TRY(data_.read(from, buffer_));
      start_ = from;
    }
    return std::span<const std::byte>(buffer_).subspan(offset - start_, width_);
  }

 private:
  TensorData& data_;
  uint64_t width_;
  uint64_t start_ = 0;
  std::vector<std::byte> buffer_;
};

class Printer {
 public:
  Printer(Window& window, DType dtype, std::span<const int64_t> shape, const Slice& slice)
      : window_(window), dtype_(dtype), shape_(shape), slice_(slice) {
    int64_t total = 1;
    for (const SliceDim& dim : slice.dims)
      if (__builtin_mul_overflow(total, dim.count, &total)) total = kWhole + 1;
    shortened_ = total > kWhole;
  }

  // Elements that will be printed; a shortened slice may still hold too many when it has many dimensions.
  bool too_many() const {
    int64_t printed = 1;
    for (const SliceDim& dim : slice_.dims)
      if (__builtin_mul_overflow(printed, std::min(dim.count, shortened_ ? 2 * kEdge : dim.count), &printed))
        return true;
    return printed > kMostPrinted;
  }

  Status collect() { return collect_from(0, 0); }
  std::string text() {
    for (const std::string& cell : cells_) width_ = std::max(width_, cell.size());
    std::string out;
    append(out, 0, 0);
    return out + "\n";
  }

 private:
  bool is_left_out(const SliceDim& dim, int64_t i) const {
    return shortened_ && dim.count > 2 * kEdge && i >= kEdge && i < dim.count - kEdge;
  }

  // Recursion is as deep as the tensor has dimensions: at most 32.
  Status collect_from(size_t depth, int64_t base) {
    if (depth == slice_.dims.size()) {
      ULPSCOPE_ASSIGN(const std::span<const std::byte> bytes, window_.element(base));
      cells_.push_back(element_text(dtype_, bytes));
      return {};
    }
    const SliceDim& dim = slice_.dims[depth];
    for (int64_t i = 0; i < dim.count; ++i) {
      if (is_left_out(dim, i)) {
        i = dim.count - kEdge - 1;
        continue;
      }
      ULPSCOPE_TRY(collect_from(depth + 1, base * shape_[depth] + dim.first + i * dim.step));
    }
    return {};
  }

  bool is_innermost(size_t depth) const {
    return std::all_of(slice_.dims.begin() + static_cast<std::ptrdiff_t>(depth) + 1, slice_.dims.end(),
                       [](const SliceDim& dim) { return dim.dropped; });
  }

  void append(std::string& out, size_t depth, size_t open) {
    if (depth == slice_.dims.size()) {
      const std::string& cell = cells_[next_cell_++];
      out += std::string(width_ - cell.size(), ' ') + cell;
      return;
    }
    const SliceDim& dim = slice_.dims[depth];
    if (dim.dropped) {
      append(out, depth + 1, open);
      return;
    }
    const std::string gap = is_innermost(depth) ? ", " : ",\n" + std::string(open + 1, ' ');
    out += "[";
    for (int64_t i = 0; i < dim.count; ++i) {
      if (i > 0) out += gap;
      if (is_left_out(dim, i)) {
        out += "...";
        i = dim.count - kEdge - 1;
        continue;
      }
      append(out, depth + 1, open + 1);
    }
    out += "]";
  }

  Window& window_;
  DType dtype_;
  std::span<const int64_t> shape_;
  const Slice& slice_;
  bool shortened_ = false;
  std::vector<std::string> cells_;
  size_t next_cell_ = 0, width_ = 0;
};

}  // namespace

Result<Slice> parse_slice(std::string_view text, std::span<const int64_t> shape) {
  Slice slice;
  std::vector<std::string_view> given;
  if (!text.empty()) given = split(text, ',');
  size_t at = 0;
  bool seen_dots = false;
  const auto whole = [&] { slice.dims.push_back({0, 1, shape[slice.dims.size()], false}); };
  for (; at < given.size(); ++at) {
    std::string_view part = given[at];
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (part == "...") {
      if (seen_dots) return bad_part(part, "'...' at most once");
      seen_dots = true;
      const size_t behind = given.size() - at - 1;
      while (slice.dims.size() + behind < shape.size()) whole();
      continue;
    }
    if (slice.dims.size() == shape.size())
      return Error{Code::usage,
                   "slice '" + printable(text) + "' has more dimensions than the shape " + shape_text(shape)};
    ULPSCOPE_ASSIGN(const SliceDim dim, parse_dim(part, shape[slice.dims.size()]));
    slice.dims.push_back(dim);
  }
  while (slice.dims.size() < shape.size()) whole();
  return slice;
}

Result<std::string> slice_text(TensorData& data, DType dtype, std::span<const int64_t> shape,
                               const Slice& slice) {
  Window window(data, dtype);
  Printer printer(window, dtype, shape, slice);
  if (printer.too_many())
    return Error{Code::usage, "the slice is too large to print, expected at most " +
                                  count_text(kMostPrinted) + " elements"};
  ULPSCOPE_TRY(printer.collect());
  return printer.text();
}

}  // namespace ulpscope
