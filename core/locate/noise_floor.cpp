#include "locate/noise_floor.hpp"

#include <algorithm>
#include <limits>

namespace ulpscope {
namespace {

// The worst element of a tensor scatters more from run to run than its norm does.
constexpr double kWorstScatter = 2;

bool differs(const RowError& row) { return !row.identical || row.shape_mismatch; }

double ratio(double error, double noise) {
  if (error <= 0) return 0;
  return noise > 0 ? error / noise : std::numeric_limits<double>::infinity();
}

// Differences without a magnitude (another index, NaN, shape) are noise where the twins show them too.
double over_noise(const RowError& row, const RowError& noise) {
  if (!differs(row)) return 0;
  const auto bounded = [](const RowError& error) {
    return error.magnitude && !error.class_mismatch && !error.shape_mismatch && !error.exact_type;
  };
  if (!bounded(row)) return bounded(noise) || !differs(noise) ? std::numeric_limits<double>::infinity() : 1;
  if (!bounded(noise) && differs(noise)) return 1;
  return std::max(ratio(row.rel_l2, noise.rel_l2), ratio(row.worst, kWorstScatter * noise.worst));
}

}  // namespace

NoiseFloor noise_floor(const ResultTable& twins, ThreadPool& pool) {
  const std::vector<RowError> rows = row_errors(twins, pool);
  NoiseFloor noise(twins.golden->items().size());
  for (size_t i = 0; i < rows.size(); ++i)
    if (const ItemId golden = twins.rows[i].pair.golden; golden != kNoIndex && rows[i].comparable)
      noise[golden] = rows[i];
  return noise;
}

void apply_noise(const ResultTable& table, const NoiseFloor& noise, std::vector<RowError>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const ItemId golden = table.rows[i].pair.golden;
    if (!rows[i].comparable || golden == kNoIndex || golden >= noise.size() || !noise[golden].comparable)
      continue;
    rows[i].over_noise = over_noise(rows[i], noise[golden]);
  }
}

}  // namespace ulpscope
