#include "locate/gradient_sources.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ulpscope {
namespace {

// Norms of one tensor summed up in two orders: of all elements in double, and as records print them.
constexpr double kMeasuredNorm = 1e-9, kRecordedNorm = 1e-5;
// Norms of one key lie within 1 %.
constexpr double kKeysOfDouble = 64;

// What no transposition changes.
struct Print {
  double norm = 0, tolerance = 0, max = 0, min = 0;
};

ItemId item_of(const ResultTable& table, bool target_side, int64_t row) {
  const ItemPair& pair = table.rows[static_cast<size_t>(row)].pair;
  return target_side ? pair.target : pair.golden;
}

// Nothing for tensors that say too little: unknown or not finite, constant, fewer than 4 elements.
std::optional<Print> print_of(const ResultTable& table, bool target_side, int64_t row) {
  constexpr int64_t kLeastElements = 4;
  const DumpIndex& index = target_side ? *table.target : *table.golden;
  const ItemId item = item_of(table, target_side, row);
  if (item == kNoIndex || index.items()[item].tensor == kNoIndex) return std::nullopt;
  const TensorRow& tensor = index.tensors()[index.items()[item].tensor];
  if (index.element_count(index.items()[item].tensor) < kLeastElements) return std::nullopt;
  Print print;
  constexpr uint32_t kBoth = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN;
  if ((tensor.stats.present & kBoth) == kBoth) {
    print.max = tensor.stats.max;
    print.min = tensor.stats.min;
    if (print.max == print.min) return std::nullopt;
  }
  const int64_t metrics = table.rows[static_cast<size_t>(row)].metrics;
  if (table.rows[static_cast<size_t>(row)].mode == Mode::data && metrics >= 0) {
    const PairSums& sums = table.data_metrics[static_cast<size_t>(metrics)].sums;
    if (sums.finite_pairs < sums.elements) return std::nullopt;
    const double squares = target_side ? sums.squares_target : sums.squares_golden;
    print.norm = std::ldexp(std::sqrt(squares), target_side ? sums.target_exponent : sums.golden_exponent);
    print.tolerance = kMeasuredNorm;
  } else if ((tensor.stats.present & ULPSCOPE_STAT_L2) != 0) {
    print.norm = tensor.stats.l2norm;
    print.tolerance = kRecordedNorm;
  }
  if (!(print.norm > 0) || !std::isfinite(print.norm)) return std::nullopt;
  return print;
}

bool alike(const Print& a, const Print& b) {
  return std::fabs(a.norm - b.norm) <= std::max(a.tolerance, b.tolerance) * b.norm && a.max == b.max &&
         a.min == b.min;
}

}  // namespace

GradientSources::GradientSources(const ResultTable& table) : table_(&table) {
  for (const bool target_side : {false, true}) {
    const DumpIndex& index = target_side ? *table.target : *table.golden;
    for (int64_t row = 0; row < static_cast<int64_t>(table.rows.size()); ++row) {
      const ItemId item = item_of(table, target_side, row);
      if (item == kNoIndex || index.items()[item].role != Role::output) continue;
      const OpRow& op = index.ops()[index.items()[item].op];
      if (op.phase != Phase::backward) continue;
      const auto print = print_of(table, target_side, row);
      if (!print) continue;
      const auto place = static_cast<int64_t>(std::floor(std::log2(print->norm) * kKeysOfDouble));
      outputs_[target_side ? 1 : 0]
              [{op.step, op.rank, index.element_count(index.items()[item].tensor), place}]
                  .push_back(row);
    }
  }
}

int64_t GradientSources::find(bool target_side, int64_t row) const {
  const auto print = print_of(*table_, target_side, row);
  if (!print) return -1;
  const DumpIndex& index = target_side ? *table_->target : *table_->golden;
  const ItemRow& item = index.items()[item_of(*table_, target_side, row)];
  const OpRow& op = index.ops()[item.op];
  const auto place = static_cast<int64_t>(std::floor(std::log2(print->norm) * kKeysOfDouble));
  int64_t latest = -1;
  for (int64_t near = place - 1; near <= place + 1; ++near) {
    const auto found =
        outputs_[target_side ? 1 : 0].find({op.step, op.rank, index.element_count(item.tensor), near});
    if (found == outputs_[target_side ? 1 : 0].end()) continue;
    for (const int64_t candidate : found->second)
      if (const auto other = print_of(*table_, target_side, candidate); other && alike(*print, *other))
        latest = std::max(latest, candidate);
  }
  return latest;
}

GradientSources::Source GradientSources::of(int64_t row) const {
  if (table_ == nullptr) return {};
  return {find(true, row), find(false, row)};
}

}  // namespace ulpscope
