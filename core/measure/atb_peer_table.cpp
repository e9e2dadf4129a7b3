#include "measure/atb_peer_table.hpp"

#include <fmt/format.h>
#include <ulpscope/half.hpp>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "formats/atb_codes.hpp"
#include "formats/atb_names.hpp"
#include "kernels/pair_metrics.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kSource = "mindie_atb";
constexpr const char* kNone = "N/A";

std::string absolute(const std::string& path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) != nullptr ? real : path;
}

const TensorRow& tensor_of(const DumpIndex& index, ItemId item) {
  return index.tensors()[index.items()[item].tensor];
}

// Where a tensor of a dump lies, by the names of the folders around its file.
struct Place {
  std::string process, round, label;
};

// …/<device>_<pid>/<round>/<operations>/<before or after>/<file>. A parameter name counts where the file is
// the tensor's own: the files that aliases mean are those of other operations.
Place place_of(const DumpIndex& index, const std::string& root, ItemId item) {
  const std::string_view file = index.text(tensor_of(index, item).data_file);
  const std::string path = root + "/" + std::string(file);
  std::vector<std::string_view> parts = split(path, '/');
  Place place;
  if (parts.size() < 4) return place;
  const std::string_view op = index.text(index.ops()[index.items()[item].op].name);
  const std::string own = "/" + std::string(op) + "/";
  const bool is_own = path.find(own + std::string(parts[parts.size() - 2]) + "/") != std::string::npos;
  if (const auto name = parse_atb_tensor_name(parts.back()); name && is_own) place.label = name->label;
  parts.resize(parts.size() - 2);
  while (parts.size() > 2 && parse_atb_op_name(parts.back())) parts.pop_back();
  place.round = parts.back();
  place.process = parts[parts.size() - 2];
  return place;
}

std::string data_name(const DumpIndex& index, ItemId item, const Place& place) {
  std::string name(index.text(index.ops()[index.items()[item].op].name));
  name.append("/").append(index.item_name(item));
  return place.label.empty() ? name : name + "_" + place.label;
}

std::string shape_text(std::span<const int64_t> shape) { return fmt::format("{}", fmt::join(shape, "x")); }

// A number as a tensor of its own type holds it: bf16 and float16 keep theirs, everything else goes through
// float32.
std::string own_type(DType dtype, double value) {
  if (std::isnan(value)) return kNone;
  if (dtype == DType::bf16 || dtype == DType::f16) value = round_to(dtype, value);
  return python_float(static_cast<double>(static_cast<float>(value)));
}

// torch rounds the sum to the type before it divides.
double mean_in(DType dtype, const SideSums& side) {
  const auto value = mean(side);
  if (!value) return std::numeric_limits<double>::quiet_NaN();
  if (dtype != DType::bf16 && dtype != DType::f16) return *value;
  const auto count = static_cast<double>(side.finite);
  return round_to(dtype, *value * count) / count;
}

// Max, Min, Mean and Norm over all elements, as torch gives them.
std::array<std::string, 4> measured_cells(DType dtype, const SideSums& side) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (side.nan_count > 0) return {kNone, kNone, kNone, kNone};
  const bool up = side.positive_inf > 0, down = side.negative_inf > 0;
  const double max_value = up ? kInfinity : max(side).value_or(-kInfinity);
  const double min_value = down ? -kInfinity : min(side).value_or(kInfinity);
  if (dtype == DType::b8) {
    const auto truth = [](double v) { return std::string(v != 0 ? "tensor(True)" : "tensor(False)"); };
    return {truth(max_value), truth(min_value), kNone, kNone};
  }
  const double mean_value = up && down ? kNan : up ? kInfinity : down ? -kInfinity : mean_in(dtype, side);
  const double norm = up || down ? kInfinity : l2norm(side).value_or(kNan);
  return {own_type(dtype, max_value), own_type(dtype, min_value), own_type(dtype, mean_value),
          own_type(dtype, norm)};
}

// The cells of a row of statistic.csv: six decimals; extremes of integers without any.
std::array<std::string, 4> recorded_cells(const TensorRow& tensor) {
  const ulpscope_stats& stats = tensor.stats;
  const double values[] = {stats.max, stats.min, stats.mean, stats.l2norm};
  std::array<std::string, 4> cells;
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool whole = i < 2 && (is_integer(tensor.dtype) || tensor.dtype == DType::b8);
    if ((stats.present & (1u << i)) == 0)
      cells[i] = kNone;
    else
      cells[i] = whole ? fmt::format("{:.0f}", values[i]) : fmt::format("{:.6f}", values[i]);
  }
  return cells;
}

void append(std::vector<std::string>& cells, std::initializer_list<const char*> names) {
  cells.insert(cells.end(), names.begin(), names.end());
}

}  // namespace

bool is_atb_comparison(const ResultTable& table) {
  return table.target->source_name() == kSource && table.golden->source_name() == kSource;
}

AtbPeerTable::AtbPeerTable(const ResultTable& table, const PeerGroup& group)
    : table_(table),
      target_root_(absolute(table.target->root())),
      golden_root_(absolute(table.golden->root())) {
  const auto in_table = [](const DumpIndex& index, ItemId item) {
    return item != kNoIndex && index.items()[item].tensor != kNoIndex &&
           tensor_of(index, item).data_file != 0;
  };
  for (const int64_t number : group.rows) {
    const ResultRow& row = table.rows[static_cast<size_t>(number)];
    if (!in_table(*table.target, row.pair.target) || !in_table(*table.golden, row.pair.golden)) continue;
    has_elements_ |= row.mode == Mode::data;
    rows_.push_back(number);
  }
}

std::vector<std::string> AtbPeerTable::header() const {
  std::vector<std::string> names;
  append(names, {"Target Data Name", "Golden Data Name", "Target Device and PID", "Golden Device and PID",
                 "Target Execution Count", "Golden Execution Count", "Target Data Type", "Golden Data Type",
                 "Target Data Shape", "Golden Data Shape"});
  if (has_elements_)
    append(names, {"Cosine", "Euc Distance", "Max Absolute Err", "Max Relative Err",
                   "One Thousandth Err Ratio", "Five Thousandth Err Ratio"});
  else
    append(names, {"Max Diff", "Min Diff", "Mean Diff", "Norm Diff", "Relative Err of Max(%)",
                   "Relative Err of Min(%)", "Relative Err of Mean(%)", "Relative Err of Norm(%)"});
  append(names, {"Target Max", "Golden Max", "Target Min", "Golden Min", "Target Mean", "Golden Mean",
                 "Target Norm", "Golden Norm"});
  return names;
}

// Nothing is said of pairs of other shapes, of unreadable ones, and of those whose NaN or infinities stand at
// other places.
void AtbPeerTable::add_element_cells(std::vector<std::string>& cells, const ResultRow& row) const {
  const TensorRow &t = tensor_of(*table_.target, row.pair.target),
                  &g = tensor_of(*table_.golden, row.pair.golden);
  if (row.metrics < 0) {
    cells.insert(cells.end(), 14, kNone);
    return;
  }
  const DataMetrics& metrics = table_.data_metrics[static_cast<size_t>(row.metrics)];
  const auto t_shape = table_.target->shape_of(table_.target->items()[row.pair.target].tensor);
  const auto g_shape = table_.golden->shape_of(table_.golden->items()[row.pair.golden].tensor);
  std::vector<std::string> six(6, kNone);
  if (metrics.peer && std::equal(t_shape.begin(), t_shape.end(), g_shape.begin(), g_shape.end())) {
    PeerSums sums = *metrics.peer;
    const bool single = sums.elements == 1;
    if (single) {  // counted twice, so that the cells are those of several elements
      sums.elements = 2;
      sums.within_1e3 *= 2;
      sums.within_5e3 *= 2;
    }
    six = element_cells(sums);
    if (single && six[0] != kNone) six[0] = "unsupported";
  }
  cells.insert(cells.end(), six.begin(), six.end());
  const auto target = measured_cells(t.dtype, metrics.sums.target),
             golden = measured_cells(g.dtype, metrics.sums.golden);
  for (size_t i = 0; i < 4; ++i) {
    cells.push_back(target[i]);
    cells.push_back(golden[i]);
  }
}

// Difference = target - golden, with its sign. Relative = |difference / golden| in percent; none where golden
// is 0.
void AtbPeerTable::add_statistics_cells(std::vector<std::string>& cells, const ResultRow& row) const {
  const auto target = recorded_cells(tensor_of(*table_.target, row.pair.target));
  const auto golden = recorded_cells(tensor_of(*table_.golden, row.pair.golden));
  std::vector<std::string> relatives;
  for (size_t i = 0; i < 4; ++i) {
    const auto t = parse_double(target[i]), g = parse_double(golden[i]);
    if (!t || !g) {
      cells.emplace_back(kNone);
      relatives.emplace_back(kNone);
      continue;
    }
    const double difference = *t - *g;
    cells.push_back(python_float(difference));
    relatives.push_back(difference == 0 ? "0.0"
                        : *g == 0       ? kNone
                                        : python_float(std::fabs(difference / *g) * 100));
  }
  cells.insert(cells.end(), relatives.begin(), relatives.end());
  for (size_t i = 0; i < 4; ++i) {
    cells.push_back(target[i]);
    cells.push_back(golden[i]);
  }
}

std::vector<std::string> AtbPeerTable::row(size_t place) const {
  const ResultRow& row = table_.rows[static_cast<size_t>(rows_[place])];
  const DumpIndex &target = *table_.target, &golden = *table_.golden;
  const Place t = place_of(target, target_root_, row.pair.target),
              g = place_of(golden, golden_root_, row.pair.golden);
  const auto type = [](const DumpIndex& index, ItemId item) {
    return std::string(atb_dtype_name(tensor_of(index, item).dtype));
  };
  std::vector<std::string> cells = {data_name(target, row.pair.target, t),
                                    data_name(golden, row.pair.golden, g),
                                    t.process,
                                    g.process,
                                    t.round,
                                    g.round,
                                    type(target, row.pair.target),
                                    type(golden, row.pair.golden),
                                    shape_text(target.shape_of(target.items()[row.pair.target].tensor)),
                                    shape_text(golden.shape_of(golden.items()[row.pair.golden].tensor))};
  if (has_elements_)
    add_element_cells(cells, row);
  else
    add_statistics_cells(cells, row);
  return cells;
}

}  // namespace ulpscope
