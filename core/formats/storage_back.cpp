#include "formats/storage_back.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "formats/acl_types.hpp"
#include "formats/storage_box.hpp"

namespace ulpscope {
namespace {

namespace fmt = acl_format;

constexpr int64_t kSlabBytes = int64_t{4} << 20;
constexpr int64_t kMaxSlabBytes = int64_t{512} << 20;
constexpr int64_t kMaxBlock = int64_t{1} << 20;

std::string text_of(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(shape[i]);
  return text + ")";
}

Error cannot(const StorageTarget& target, const Shape& original, const std::string& expected) {
  return {Code::unsupported, text_of(original) + " cannot be stored as " + acl_format_name(target.format) +
                                 ": expected " + expected};
}

int64_t blocks(int64_t count, int64_t block) { return count / block + (count % block != 0 ? 1 : 0); }

int64_t default_c0(int32_t format, unsigned element_bytes) {
  if (format == fmt::kNc1hwc0C04) return 4;
  return element_bytes == 1 ? 32 : 16;
}

// The dimensions of an original by the letters of its layout.
struct Letters {
  std::string_view letters;
  const Shape& shape;
  int64_t operator[](char letter) const { return shape[letters.find(letter)]; }
};

// Products that do not fit are refused by the plan, which multiplies again with care.
int64_t times(std::initializer_list<int64_t> factors) {
  int64_t out = 1;
  for (const int64_t factor : factors)
    if (__builtin_mul_overflow(out, factor, &out)) return -1;
  return out;
}

// The stored shape; empty for a format that is not written.
Shape stored_shape(int32_t format, const Letters& l, int64_t c0, int64_t n0) {
  const int64_t c1 = blocks(l['C'], c0);
  switch (format) {
    case fmt::kNc1hwc0:
    case fmt::kNc1hwc0C04:
      return {l['N'], c1, l['H'], l['W'], c0};
    case fmt::kNdc1hwc0:
      return {l['N'], l['D'], c1, l['H'], l['W'], c0};
    case fmt::kFractalZ:
      return {times({c1, l['H'], l['W']}), blocks(l['N'], n0), n0, c0};
    case fmt::kFractalZ3d:
      return {times({l['D'], c1, l['H'], l['W']}), blocks(l['N'], n0), n0, c0};
    case fmt::kC1hwncoc0:
      return {c1, l['H'], l['W'], l['N'], c0, c0};
    default:
      return {};
  }
}

Shape nz_shape(const Shape& original, int64_t c0, int64_t r0) {
  if (original.size() == 1) return {blocks(original[0], c0), 1, r0, c0};
  Shape stored(original.begin(), original.end() - 2);
  stored.insert(stored.end(),
                {blocks(original.back(), c0), blocks(original[original.size() - 2], r0), r0, c0});
  return stored;
}

bool is_blocked_5d(int32_t format) { return format == fmt::kNdc1hwc0 || format == fmt::kFractalZ3d; }

Result<Shape> shape_for(const StorageTarget& target, const Shape& original, int64_t c0) {
  if (target.format == fmt::kFractalNz) {
    if (original.empty()) return cannot(target, original, "at least one dimension");
    return nz_shape(original, c0, target.n0);
  }
  const bool five = original.size() == 5;
  const int32_t layout = target.layout >= 0 ? target.layout : five ? fmt::kNcdhw : fmt::kNchw;
  const std::string_view letters = layout_letters(layout);
  const std::string_view own = layout_letters(target.format);
  const size_t dimensions = is_blocked_5d(target.format) ? 5 : own.empty() ? 4 : own.size();
  if (letters.size() != dimensions || original.size() != dimensions)
    return cannot(target, original,
                  std::to_string(dimensions) + " dimensions, in a layout such as " +
                      (dimensions == 5 ? "NCDHW" : "NCHW"));
  const Letters sizes{letters, original};
  if (own.empty()) {
    Shape stored = stored_shape(target.format, sizes, c0, target.n0);
    if (stored.empty())
      return Error{Code::unsupported,
                   acl_format_name(target.format) +
                       " is not written, expected NC1HWC0, "
                       "NC1HWC0_C04, NDC1HWC0, FRACTAL_NZ, FRACTAL_Z, FRACTAL_Z_3D, C1HWNCoC0 or a "
                       "plain layout"};
    return stored;
  }
  Shape stored;
  for (const char letter : own) {
    if (letters.find(letter) == std::string_view::npos)
      return cannot(target, original, "a layout of the dimensions " + std::string(own));
    stored.push_back(sizes[letter]);
  }
  return stored;
}

// The indexes of the original that a slab of the stored array holds.
std::vector<IndexRange> original_ranges(const StoragePlan& plan, std::span<const IndexRange> stored) {
  std::vector<IndexRange> ranges;
  for (size_t d = 0; d < plan.shape.size(); ++d) {
    IndexRange range{0, plan.shape[d]};
    for (size_t a = 0; a < plan.stored.size(); ++a) {
      const StoredAxis& axis = plan.stored[a];
      if (axis.dimension != static_cast<int32_t>(d) || axis.modulus > 0) continue;
      const int64_t first = stored[a].first * axis.divisor;
      range = {first, std::min(stored[a].count * axis.divisor, plan.shape[d] - first)};
    }
    ranges.push_back(range);
  }
  return ranges;
}

// The original as an array that is stored as it is.
std::vector<StoredAxis> plain_axes(const Shape& shape) {
  std::vector<StoredAxis> axes;
  for (size_t d = 0; d < shape.size(); ++d) axes.push_back({shape[d], static_cast<int32_t>(d), 1, 0});
  return axes;
}

}  // namespace

Result<StoredForm> stored_form(const StorageTarget& target, const Shape& original, unsigned element_bytes) {
  const int64_t c0 = target.c0 != 0 ? target.c0 : default_c0(target.format, element_bytes);
  if (c0 < 1 || c0 > kMaxBlock || target.n0 < 1 || target.n0 > kMaxBlock)
    return Error{Code::usage, "a block of " + std::to_string(c0) + " by " + std::to_string(target.n0) +
                                  ", expected 1 to " + std::to_string(kMaxBlock)};
  StoredForm form;
  ULPSCOPE_ASSIGN(form.shape, shape_for(target, original, c0));
  StorageQuery query{target.format, 0, form.shape, original, true, {}};
  query.layouts.push_back(target.layout >= 0     ? target.layout
                          : original.size() == 5 ? fmt::kNcdhw
                                                 : fmt::kNchw);
  ULPSCOPE_ASSIGN(form.plan, plan_storage(query));
  return form;
}

StorageBackStream::StorageBackStream(File original, StoredForm form, unsigned element_bytes)
    : original_(std::move(original)), form_(std::move(form)), element_bytes_(element_bytes) {
  // An array that is stored as it is has one axis that can be cut anywhere.
  if (form_.plan.identity) {
    int64_t count = 1;
    for (const int64_t dim : form_.plan.shape) count *= dim;
    form_.plan.shape = {count};
    form_.plan.stored = plain_axes(form_.plan.shape);
  }
  place_.assign(form_.plan.stored.size(), 0);
  choose_cut();
}

// Blocks are not cut: as far outside as a slab of this size allows, at most before the first axis inside a
// block.
void StorageBackStream::choose_cut() {
  const std::vector<StoredAxis>& axes = form_.plan.stored;
  size_t last = 0;
  while (last + 1 < axes.size() && axes[last + 1].modulus == 0 && axes[last + 1].dimension >= 0) ++last;
  for (cut_ = 0;; ++cut_) {
    int64_t bytes = element_bytes_;
    for (size_t a = cut_ + 1; a < axes.size(); ++a) bytes *= axes[a].size;
    chunk_ = std::clamp<int64_t>(kSlabBytes / std::max<int64_t>(bytes, 1), 1,
                                 std::max<int64_t>(axis_size(cut_), 1));
    if (bytes <= kSlabBytes || cut_ == last) break;
  }
  done_ = std::any_of(axes.begin(), axes.end(), [](const StoredAxis& axis) { return axis.size == 0; });
}

Result<std::unique_ptr<StorageBackStream>> StorageBackStream::open(File original, StoredForm form,
                                                                   unsigned element_bytes) {
  uint64_t needed = element_bytes;
  for (const int64_t dim : form.plan.shape)
    if (__builtin_mul_overflow(needed, static_cast<uint64_t>(dim), &needed)) needed = UINT64_MAX;
  if (needed > original.size())
    return Error{Code::format, original.path() + ": " + std::to_string(original.size()) +
                                   " bytes, expected " + std::to_string(needed) + " of " +
                                   text_of(form.plan.shape)};
  int64_t stored = element_bytes;
  for (const StoredAxis& axis : form.plan.stored)
    if (__builtin_mul_overflow(stored, axis.size, &stored))
      return Error{Code::unsupported,
                   original.path() + ": the stored array has more bytes than can be counted"};
  std::unique_ptr<StorageBackStream> stream(
      new StorageBackStream(std::move(original), std::move(form), element_bytes));
  int64_t bytes = stream->chunk_ * element_bytes;
  for (size_t a = stream->cut_ + 1; a < stream->form_.plan.stored.size(); ++a) bytes *= stream->axis_size(a);
  if (bytes > kMaxSlabBytes)
    return Error{Code::unsupported, stream->original_.path() + ": a block of " + std::to_string(bytes) +
                                        " bytes cannot be written, expected at most " +
                                        std::to_string(kMaxSlabBytes)};
  return stream;
}

Status StorageBackStream::next() {
  const StoragePlan& plan = form_.plan;
  StoredBox slab;  // dense, paddings included
  int64_t elements = 1;
  for (size_t a = 0; a < plan.stored.size(); ++a) {
    const bool whole = a > cut_;
    slab.ranges.push_back({whole ? 0 : place_[a], whole       ? axis_size(a)
                                                  : a == cut_ ? std::min(chunk_, axis_size(a) - place_[a])
                                                              : 1});
    elements *= slab.ranges.back().count;
  }
  slab.strides = dense_strides(slab.ranges);
  slab_.assign(static_cast<size_t>(elements) * element_bytes_, std::byte{0});
  const std::vector<IndexRange> ranges = original_ranges(plan, slab.ranges);
  const std::vector<StoredAxis> axes = plain_axes(plan.shape);
  const StoredBox box = box_of(axes, ranges, element_bytes_);
  box_.resize(static_cast<size_t>(box.elements) * element_bytes_);
  ULPSCOPE_TRY(load_box(original_, 0, axes, box, element_bytes_, box_));
  for (CopyNest& nest : nests_of(plan.stored, slab, ranges, box.strides)) {
    std::swap(nest.from, nest.to);
    for (CopyAxis& axis : nest.axes) std::swap(axis.from, axis.to);
    copy_nest(box_.data(), std::move(nest), element_bytes_, slab_.data());
  }
  advance();
  return {};
}

void StorageBackStream::advance() {
  if (place_.empty()) {
    done_ = true;
    return;
  }
  place_[cut_] += chunk_;
  if (place_[cut_] < axis_size(cut_)) return;
  place_[cut_] = 0;
  for (size_t i = cut_; i-- > 0;) {
    if (++place_[i] < axis_size(i)) return;
    place_[i] = 0;
  }
  done_ = true;
}

Result<size_t> StorageBackStream::read(std::span<std::byte> dst) {
  size_t done = 0;
  while (done < dst.size()) {
    if (given_ == slab_.size()) {
      if (done_) break;
      ULPSCOPE_TRY(next());
      given_ = 0;
      continue;
    }
    const size_t n = std::min(dst.size() - done, slab_.size() - given_);
    std::memcpy(dst.data() + done, slab_.data() + given_, n);
    given_ += n;
    done += n;
  }
  return done;
}

}  // namespace ulpscope
