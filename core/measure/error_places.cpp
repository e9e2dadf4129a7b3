#include "measure/error_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "measure/pair_reader.hpp"

namespace ulpscope {
namespace {

// What the named indices must hold of the whole.
constexpr double kShare = 0.99;
constexpr int64_t kChunkElements = 1 << 16;
// Culprits that are looked at again; further ones are rarely read.
constexpr size_t kMaxCulprits = 8;

// The fewest indices that hold kShare of amounts; all of them when that takes too many to name.
ErrorPlace place_of(size_t axis, const std::vector<double>& amounts) {
  ErrorPlace place;
  place.axis = axis;
  place.extent = static_cast<int64_t>(amounts.size());
  const double total = std::accumulate(amounts.begin(), amounts.end(), 0.0);
  if (!(total > 0) || !std::isfinite(total)) return place;
  std::vector<size_t> order(amounts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t looked_at = std::min(order.size(), kMaxPlaceIndices);
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(looked_at), order.end(),
      [&](size_t a, size_t b) { return amounts[a] != amounts[b] ? amounts[a] > amounts[b] : a < b; });
  double held = 0;
  for (size_t i = 0; i < looked_at && held < kShare * total; ++i) {
    held += amounts[order[i]];
    place.indices.push_back(static_cast<int64_t>(order[i]));
  }
  place.share = held / total;
  std::sort(place.indices.begin(), place.indices.end());
  return place;
}

bool says_something(const ErrorPlace& place) {
  return place.share >= kShare && static_cast<int64_t>(place.indices.size()) * 2 <= place.extent &&
         place.extent > 1;
}

}  // namespace

std::vector<ErrorPlace> concentrated(const std::vector<AxisErrors>& axes) {
  std::vector<ErrorPlace> places;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const AxisErrors& errors = axes[axis];
    const bool mismatched = std::any_of(errors.mismatches.begin(), errors.mismatches.end(),
                                        [](int64_t count) { return count > 0; });
    const ErrorPlace place =
        place_of(axis, mismatched ? std::vector<double>(errors.mismatches.begin(), errors.mismatches.end())
                                  : errors.squared_error);
    if (says_something(place)) places.push_back(place);
  }
  // A single element is told as such.
  const bool single = places.size() == axes.size() &&
                      std::all_of(places.begin(), places.end(),
                                  [](const ErrorPlace& place) { return place.indices.size() == 1; });
  return single ? std::vector<ErrorPlace>() : places;
}

std::string to_text(const ErrorPlace& place) {
  std::string list;
  for (size_t i = 0; i < place.indices.size();) {
    size_t end = i + 1;
    while (end < place.indices.size() && place.indices[end] == place.indices[end - 1] + 1) ++end;
    list += list.empty() ? "" : ",";
    list += end - i > 1 ? fmt::format("{}-{}", place.indices[i], place.indices[end - 1])
                        : fmt::format("{}", place.indices[i]);
    i = end;
  }
  return fmt::format("{} {} of dimension {} ({} long)", place.indices.size() == 1 ? "index" : "indices", list,
                     place.axis, place.extent);
}

Result<std::vector<ErrorPlace>> error_places(const ResultTable& table, int64_t row, const Cancel& cancel) {
  const ItemPair& pair = table.rows[static_cast<size_t>(row)].pair;
  if (pair.merge >= 0) return std::vector<ErrorPlace>();
  ULPSCOPE_ASSIGN(const SideShape target, side_shape(*table.target, pair.target, nullptr));
  ULPSCOPE_ASSIGN(const SideShape golden, side_shape(*table.golden, pair.golden, nullptr));
  const int64_t count = target.element_count();
  if (target.shape.size() < 2 || count != golden.element_count() || count > kMaxPlaceElements)
    return std::vector<ErrorPlace>();
  ULPSCOPE_ASSIGN(AxisPass pass, AxisPass::choose(target.dtype, golden.dtype, target.shape));
  ULPSCOPE_ASSIGN(SideReader target_reader, SideReader::open(*table.target, target));
  ULPSCOPE_ASSIGN(SideReader golden_reader, SideReader::open(*table.golden, golden));
  const uint64_t target_size = size_bytes(target.dtype), golden_size = size_bytes(golden.dtype);
  std::vector<std::byte> target_bytes(kChunkElements * target_size),
      golden_bytes(kChunkElements * golden_size);
  for (int64_t done = 0; done < count; done += kChunkElements) {
    if (cancel.requested()) return Error{Code::cancelled, "cancelled"};
    const auto n = static_cast<uint64_t>(std::min(kChunkElements, count - done));
    const auto at = static_cast<uint64_t>(done);
    ULPSCOPE_TRY(target_reader.read(at * target_size, std::span(target_bytes).first(n * target_size)));
    ULPSCOPE_TRY(golden_reader.read(at * golden_size, std::span(golden_bytes).first(n * golden_size)));
    pass.run(target_bytes.data(), golden_bytes.data(), static_cast<int64_t>(n));
  }
  return concentrated(pass.axes());
}

void add_error_places(ResultTable& table, const Cancel& cancel) {
  std::vector<Culprit>& culprits = table.localisation.culprits;
  for (size_t i = 0; i < std::min(culprits.size(), kMaxCulprits); ++i) {
    const ResultRow& row = table.rows[static_cast<size_t>(culprits[i].row)];
    if (row.mode != Mode::data || row.metrics < 0) continue;
    const auto places = error_places(table, culprits[i].row, cancel);
    if (!places.ok()) continue;
    for (const ErrorPlace& place : places.value())
      culprits[i].evidence.emplace_back(fmt::format("place_{}", place.axis), to_text(place));
  }
}

}  // namespace ulpscope
