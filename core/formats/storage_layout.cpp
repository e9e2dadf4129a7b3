#include "formats/storage_layout.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string_view>

#include "formats/acl_types.hpp"

namespace ulpscope {
namespace {

namespace fmt = acl_format;

constexpr int64_t kMaxGroups = 1 << 16;

bool is_plain(int32_t format) { return format == fmt::kNd || !layout_letters(format).empty(); }

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(shape[i]);
  return text + ")";
}

Error refusal(const StorageQuery& query, const std::string& why) {
  return {Code::unsupported,
          acl_format_name(query.format) + " " + shape_text(query.stored) + " cannot be brought to " +
              (query.original_known ? shape_text(query.original) : "its original layout") + ": " + why};
}

int64_t blocks(int64_t count, int64_t block) {
  return block <= 0 ? -1 : count / block + (count % block != 0);
}

std::optional<int64_t> product(std::initializer_list<int64_t> factors) {
  int64_t out = 1;
  for (const int64_t factor : factors)
    if (__builtin_mul_overflow(out, factor, &out)) return std::nullopt;
  return out;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return -1;
  return count;
}

// The original shape read as one layout.
struct Logical {
  std::string_view letters;
  const Shape& shape;
  int32_t place(char letter) const { return static_cast<int32_t>(letters.find(letter)); }
  int64_t size(char letter) const { return shape[letters.find(letter)]; }
};

// Axes of a stored array while they are put together; fits() says whether they describe the stored shape.
class AxisList {
 public:
  explicit AxisList(const Logical& logical) : logical_(logical) {}
  AxisList& whole(char letter) { return add(logical_.size(letter), letter, 1, 0); }
  AxisList& outer(char letter, int64_t block) {
    return add(blocks(logical_.size(letter), block), letter, block, 0);
  }
  AxisList& inner(char letter, int64_t block) { return add(block, letter, 1, block); }
  std::vector<StoredAxis> take() { return std::move(axes_); }
  // Whether the first count axes, multiplied, and then all others one by one are the stored shape.
  bool fits(const Shape& stored, size_t count) const {
    if (axes_.size() != stored.size() + count - 1) return false;
    int64_t first = 1;
    for (size_t i = 0; i < count; ++i)
      if (__builtin_mul_overflow(first, axes_[i].size, &first)) return false;
    if (first != stored[0]) return false;
    for (size_t i = 1; i < stored.size(); ++i)
      if (axes_[i + count - 1].size != stored[i]) return false;
    return true;
  }

 private:
  AxisList& add(int64_t size, char letter, int64_t divisor, int64_t modulus) {
    axes_.push_back({size, logical_.place(letter), divisor, modulus});
    return *this;
  }
  const Logical& logical_;
  std::vector<StoredAxis> axes_;
};

// E of a grouped FRACTAL_Z: how many groups share a stored block, so that channels and filters fill it.
std::optional<int64_t> groups_per_block(int64_t channels, int64_t filters, int64_t c0, int64_t n0,
                                        int64_t groups) {
  const auto repeat = [](int64_t count, int64_t block) { return block / std::gcd(count, block); };
  const auto least = product(
      {repeat(channels, c0) / std::gcd(repeat(channels, c0), repeat(filters, n0)), repeat(filters, n0)});
  if (!least) return std::nullopt;
  return std::min(*least, groups);
}

// cin' = E*cin and cout' = E*cout rounded up to C0 and N0; stored (G1*C1*H*W, cout'/N0, N0, C0).
std::optional<StoragePlan> plan_grouped(const StorageQuery& query, const Logical& logical) {
  const Shape& stored = query.stored;
  const int64_t groups = query.sub_format, c0 = stored[3], n0 = stored[2];
  const int64_t n = logical.size('N'), channels = logical.size('C');
  if (groups > kMaxGroups || c0 <= 0 || n0 <= 0 || n <= 0 || channels <= 0 || n % groups != 0)
    return std::nullopt;
  const int64_t filters = n / groups;
  const auto block = groups_per_block(channels, filters, c0, n0, groups);
  if (!block) return std::nullopt;
  const auto block_channels = product({*block, channels}), block_filters = product({*block, filters});
  if (!block_channels || !block_filters) return std::nullopt;
  const int64_t c1 = blocks(*block_channels, c0), n1 = blocks(*block_filters, n0);
  const int64_t g1 = blocks(groups, *block);
  const auto first = product({g1, c1, logical.size('H'), logical.size('W')});
  if (!first || *first != stored[0] || n1 != stored[1]) return std::nullopt;
  StoragePlan plan;
  plan.shape = query.original;
  plan.grouped = true;
  plan.groups = {groups, *block, channels, filters, c0};
  plan.n_dimension = logical.place('N');
  plan.c_dimension = logical.place('C');
  plan.stored = {{g1, -1, 1, 0},
                 {c1, -1, 1, 0},
                 {logical.size('H'), logical.place('H'), 1, 0},
                 {logical.size('W'), logical.place('W'), 1, 0},
                 {n1 * n0, -1, 1, 0},
                 {c0, -1, 1, 0}};
  return plan;
}

std::optional<StoragePlan> finish(AxisList& axes, const StorageQuery& query, size_t joined) {
  if (!axes.fits(query.stored, joined)) return std::nullopt;
  StoragePlan plan;
  plan.shape = query.original;
  plan.stored = axes.take();
  return plan;
}

// The plan of a blocked format when the original is in this layout.
std::optional<StoragePlan> plan_blocked(const StorageQuery& query, std::string_view letters) {
  if (letters.size() != query.original.size()) return std::nullopt;
  const Logical logical{letters, query.original};
  const Shape& stored = query.stored;
  AxisList axes(logical);
  switch (query.format) {
    case fmt::kNc1hwc0:
    case fmt::kNc1hwc0C04:
      if (letters.size() != 4 || stored.size() != 5) return std::nullopt;
      axes.whole('N').outer('C', stored[4]).whole('H').whole('W').inner('C', stored[4]);
      return finish(axes, query, 1);
    case fmt::kNdc1hwc0:
      if (letters.size() != 5 || stored.size() != 6) return std::nullopt;
      axes.whole('N').whole('D').outer('C', stored[5]).whole('H').whole('W').inner('C', stored[5]);
      return finish(axes, query, 1);
    case fmt::kFractalZ:
      if (letters.size() != 4 || stored.size() != 4) return std::nullopt;
      if (query.sub_format > 1) return plan_grouped(query, logical);
      axes.outer('C', stored[3]).whole('H').whole('W').outer('N', stored[2]).inner('N', stored[2]);
      axes.inner('C', stored[3]);
      return finish(axes, query, 3);
    case fmt::kFractalZ3d:
      if (letters.size() != 5 || stored.size() != 4) return std::nullopt;
      axes.whole('D').outer('C', stored[3]).whole('H').whole('W').outer('N', stored[2]);
      axes.inner('N', stored[2]).inner('C', stored[3]);
      return finish(axes, query, 4);
    case fmt::kC1hwncoc0:
      if (letters.size() != 4 || stored.size() != 6 || stored[4] != stored[5]) return std::nullopt;
      axes.outer('C', stored[5]).whole('H').whole('W').whole('N').inner('C', stored[5]);
      axes.inner('C', stored[5]);
      return finish(axes, query, 1);
    default:
      return std::nullopt;
  }
}

// FRACTAL_NZ does not name its dimensions: the last two are cut, all before them must agree.
Result<StoragePlan> plan_nz(const StorageQuery& query) {
  Shape original = query.original;
  if (original.size() == 1) original.insert(original.begin(), 1);
  const Shape& stored = query.stored;
  if (original.size() < 2 || stored.size() != original.size() + 2)
    return refusal(query, "expected " + std::to_string(original.size() + 2) + " stored dimensions");
  const size_t batch = original.size() - 2;
  const int64_t r0 = stored[batch + 2], c0 = stored[batch + 3];
  const int64_t rows = original[batch], columns = original[batch + 1];
  const bool fits =
      std::equal(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(batch), stored.begin()) &&
      stored[batch] == blocks(columns, c0) && stored[batch + 1] == blocks(rows, r0);
  if (!fits) return refusal(query, "the blocks do not hold these rows and columns");
  StoragePlan plan;
  plan.shape = query.original;
  const bool vector = query.original.size() == 1;
  const auto row = static_cast<int32_t>(batch), column = vector ? 0 : row + 1;
  for (size_t i = 0; i < batch; ++i) plan.stored.push_back({stored[i], static_cast<int32_t>(i), 1, 0});
  plan.stored.push_back({stored[batch], column, c0, 0});
  plan.stored.push_back({stored[batch + 1], vector ? -1 : row, r0, 0});
  plan.stored.push_back({r0, vector ? -1 : row, 1, r0});
  plan.stored.push_back({c0, column, 1, c0});
  return plan;
}

// A named layout stored as another named one.
std::optional<StoragePlan> plan_transposed(const StorageQuery& query) {
  const std::string_view from = layout_letters(query.format);
  if (from.empty() || query.layouts.empty()) return std::nullopt;
  const std::string_view to = layout_letters(query.layouts[0]);
  if (to == from || to.size() != from.size() || query.original.size() != to.size() ||
      query.stored.size() != from.size())
    return std::nullopt;
  StoragePlan plan;
  plan.shape = query.original;
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t place = to.find(from[i]);
    if (place == std::string_view::npos || query.stored[i] != query.original[place]) return std::nullopt;
    plan.stored.push_back({query.stored[i], static_cast<int32_t>(place), 1, 0});
  }
  return plan;
}

StoragePlan as_it_is(Shape shape) {
  StoragePlan plan;
  plan.shape = std::move(shape);
  plan.identity = true;
  return plan;
}

Result<StoragePlan> plan_plain(const StorageQuery& query) {
  if (!query.original_known) return as_it_is(query.stored);
  if (auto plan = plan_transposed(query)) return *std::move(plan);
  const Shape &stored = query.stored, &original = query.original;
  if (stored == original) return as_it_is(stored);
  const bool larger = stored.size() == original.size() &&
                      std::equal(stored.begin(), stored.end(), original.begin(), std::greater_equal<>());
  if (larger) {
    StoragePlan plan;
    plan.shape = original;
    plan.note = "stored with padding as " + shape_text(stored);
    for (size_t i = 0; i < stored.size(); ++i)
      plan.stored.push_back({stored[i], static_cast<int32_t>(i), 1, 0});
    return plan;
  }
  if (query.format == fmt::kNd && element_count(stored) == element_count(original)) return as_it_is(original);
  return refusal(query, "expected the same shape or a padded one");
}

Result<StoragePlan> plan_by_layout(const StorageQuery& query) {
  std::string note;
  for (const int32_t layout : query.layouts) {
    const std::string_view letters = layout_letters(layout);
    if (letters.empty()) continue;
    if (auto plan = plan_blocked(query, letters)) {
      plan->note = note;
      return *std::move(plan);
    }
    if (note.empty())
      note = "the original is not in the layout " + std::string(letters) + " that is recorded; ";
  }
  // Nothing says it: the first layout that the stored shape can hold. Right unless dimensions are equal by
  // chance.
  constexpr std::array kTrials = {fmt::kNchw,  fmt::kNhwc,  fmt::kHwcn, fmt::kChwn,
                                  fmt::kNcdhw, fmt::kNdhwc, fmt::kDhwcn};
  std::optional<StoragePlan> first;
  std::string_view taken;
  bool several = false;
  for (const int32_t layout : kTrials) {
    auto plan = plan_blocked(query, layout_letters(layout));
    several |= plan && first;
    if (!plan || first) continue;
    first = std::move(plan);
    taken = layout_letters(layout);
  }
  if (!first) return refusal(query, "no known layout of the original fits the stored shape");
  if (several) note += "more than one layout of the original fits; ";
  if (!note.empty()) first->note = note + "read as " + std::string(taken);
  return *std::move(first);
}

}  // namespace

std::string_view layout_letters(int32_t format) {
  switch (format) {
    case fmt::kNchw:
      return "NCHW";
    case fmt::kNhwc:
      return "NHWC";
    case fmt::kHwcn:
      return "HWCN";
    case fmt::kChwn:
      return "CHWN";
    case fmt::kNcdhw:
      return "NCDHW";
    case fmt::kNdhwc:
      return "NDHWC";
    case fmt::kDhwcn:
      return "DHWCN";
    case fmt::kDhwnc:
      return "DHWNC";
    case fmt::kNc:
      return "NC";
    case fmt::kNcl:
      return "NCL";
    default:
      return {};
  }
}

Result<StoragePlan> plan_storage(const StorageQuery& query) {
  constexpr std::array kBlocked = {fmt::kNc1hwc0,  fmt::kNc1hwc0C04, fmt::kNdc1hwc0,
                                   fmt::kFractalZ, fmt::kFractalZ3d, fmt::kC1hwncoc0};
  const bool blocked = std::find(kBlocked.begin(), kBlocked.end(), query.format) != kBlocked.end();
  if (is_plain(query.format)) return plan_plain(query);
  if (!blocked && query.format != fmt::kFractalNz) {
    StoragePlan plan = as_it_is(query.stored);
    if (!query.original_known || query.stored != query.original)
      plan.note = acl_format_name(query.format) + " is not converted: the stored array is shown";
    return plan;
  }
  if (!query.original_known) return refusal(query, "its original shape is not recorded");
  if (element_count(query.original) < 0 || element_count(query.stored) < 0)
    return refusal(query, "a shape that no tensor has");
  return query.format == fmt::kFractalNz ? plan_nz(query) : plan_by_layout(query);
}

}  // namespace ulpscope
