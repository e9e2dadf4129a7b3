// The metrics of a comparison: one list of names and of how each is read from a row's numbers, in the order
// in which every report shows them. A metric that does not exist for a pair is absent, never 0. Used by
// table_view.cpp; formulas live with the kernels and with the statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "measure/statistics.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// What a row's numbers are made of; each is null where the row has no such thing.
struct RowNumbers {
  const DataMetrics* data = nullptr;
  const StatisticsComparison* statistics = nullptr;
};

// Which rows a metric can exist for: reports skip the others without a call.
enum class MetricSource : uint8_t { elements, statistics, either };

struct MetricColumn {
  std::string_view name;
  MetricSource source;
  std::optional<double> (*read)(const RowNumbers& numbers);
};

// Every general metric in report order. Constant.
std::span<const MetricColumn> metric_columns();

}  // namespace ulpscope
