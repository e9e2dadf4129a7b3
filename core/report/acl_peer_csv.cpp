#include "report/acl_peer_csv.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "kernels/pair_metrics.hpp"
#include "report/csv.hpp"
#include "report/output_file.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kNone = "NaN";
// Values of the standard deviation column below this are printed as 0.
constexpr double kLeastShown = 0.001;
// The largest float16: what overflows is kept there by accelerators that do not make infinities.
constexpr double kLargestFloat16 = 65504;

// Places of the optional columns: before Index + 1 and before the measures.
constexpr std::ptrdiff_t kSequencePlace = 1, kOverflowPlace = 10;

// The place of an operator in the compiled model, which the source records as {..., "id": 5}; else its place
// in the dump.
std::string index_of(const DumpIndex& index, OpId op) {
  constexpr std::string_view kMember = "\"id\": ";
  const std::string_view attributes = index.text(index.ops()[op].attributes);
  const size_t at = attributes.rfind(kMember);
  if (at == std::string_view::npos || !attributes.ends_with('}')) return std::to_string(op);
  const std::string_view number = attributes.substr(at + kMember.size());
  return std::string(number.substr(0, number.size() - 1));
}

std::string number_cell(std::optional<double> value) {
  return value && !std::isnan(*value) ? fmt::format("{:.6f}", *value) : std::string(kNone);
}

double shown(double value) { return std::fabs(value) < kLeastShown ? 0 : value; }

class AclTable {
 public:
  AclTable(const ResultTable& table, const AclPeerColumns& columns) : table_(table), columns_(columns) {}

  std::vector<std::string> header() const {
    std::vector<std::string> cells = plain_header();
    if (columns_.overflow) cells.insert(cells.begin() + kOverflowPlace, "OverFlow");
    if (columns_.sequence) cells.insert(cells.begin() + kSequencePlace, "OpSequence");
    return cells;
  }

  static std::vector<std::string> plain_header() {
    return {"Index",
            "OpType",
            "NPUDump",
            "DataType",
            "Address",
            "GroundTruth",
            "DataType",
            "Address",
            "TensorIndex",
            "Shape",
            "CosineSimilarity",
            "MaxAbsoluteError",
            "AccumulatedRelativeError",
            "RelativeEuclideanDistance",
            "KullbackLeiblerDivergence",
            "StandardDeviation",
            "MeanAbsoluteError",
            "RootMeanSquareError",
            "MaxRelativeError",
            "MeanRelativeError",
            "CompareFailReason"};
  }

  std::vector<std::string> row(const ResultRow& row) const {
    const bool on_target = row.pair.target != kNoIndex;
    const DumpIndex& index = on_target ? *table_.target : *table_.golden;
    const ItemRow& item = index.items()[on_target ? row.pair.target : row.pair.golden];
    const OpRow& op = index.ops()[item.op];
    const std::string name(index.text(op.name));
    std::vector<std::string> cells = {index_of(index, item.op), std::string(index.text(op.type)),
                                      on_target ? name : std::string("*")};
    cells.push_back(on_target ? dtype_of(index, item) : std::string(kNone));
    cells.emplace_back(kNone);
    cells.push_back(ground_truth(row, index, op, on_target));
    cells.push_back(row.pair.golden == kNoIndex
                        ? std::string(kNone)
                        : dtype_of(*table_.golden, table_.golden->items()[row.pair.golden]));
    cells.emplace_back(kNone);
    cells.push_back(name + ":" + std::string(role_word(item.role)) + ":" +
                    std::string(index.text(item.path)));
    cells.push_back(shape_of(index, item));
    add_measures(row, cells);
    if (columns_.overflow) cells.insert(cells.begin() + kOverflowPlace, overflow_cell(row, index, item));
    if (columns_.sequence) cells.insert(cells.begin() + kSequencePlace, std::to_string(item.op));
    cells.push_back(row.mode == Mode::data ? state_of(row) : row.message);
    return cells;
  }

 private:
  static std::string dtype_of(const DumpIndex& index, const ItemRow& item) {
    return item.tensor == kNoIndex ? std::string(kNone)
                                   : std::string(name(index.tensors()[item.tensor].dtype));
  }

  static std::string shape_of(const DumpIndex& index, const ItemRow& item) {
    if (item.tensor == kNoIndex) return std::string(kNone);
    std::string text = "[";
    for (const int64_t dim : index.shape_of(item.tensor))
      text += (text.size() > 1 ? "," : "") + std::to_string(dim);
    return text + "]";
  }

  std::string ground_truth(const ResultRow& row, const DumpIndex& index, const OpRow& op,
                           bool on_target) const {
    std::string text;
    for (const std::string_view each : split(index.text(op.originals), '\n'))
      if (!each.empty()) text += (text.empty() ? "" : ",") + std::string(each);
    if (!text.empty()) return text;
    if (on_target && row.pair.golden == kNoIndex) return "*";
    const DumpIndex& golden = *table_.golden;
    return std::string(golden.text(golden.ops()[golden.items()[row.pair.golden].op].name));
  }

  // Why a measured pair has no direction to compare.
  std::string state_of(const ResultRow& row) const {
    if (row.metrics < 0) return row.message;
    const PairSums& sums = table_.data_metrics[static_cast<size_t>(row.metrics)].sums;
    if (sums.elements == 0) return "empty";
    if (sums.elements == 1) return "scalar";
    const bool target = sums.squares_target == 0, golden = sums.squares_golden == 0;
    if (sums.finite_pairs == 0) return "no finite pair";
    return target && golden ? "both zero" : target ? "mine zero" : golden ? "golden zero" : "";
  }

  void add_measures(const ResultRow& row, std::vector<std::string>& cells) const {
    if (row.mode != Mode::data || row.metrics < 0) {
      cells.insert(cells.end(), 10, std::string(kNone));
      return;
    }
    const DataMetrics& metrics = table_.data_metrics[static_cast<size_t>(row.metrics)];
    const PairSums& sums = metrics.sums;
    const bool relative = sums.relative_pairs > 0 && (sums.groups & kGroupRelative) != 0;
    cells.push_back(number_cell(state_of(row).empty() ? cosine(sums) : std::nullopt));
    cells.push_back(number_cell(max_abs_err(sums)));
    cells.push_back(number_cell(relative ? std::optional(sums.sum_rel_err) : std::nullopt));
    cells.push_back(number_cell(rel_l2(sums)));
    cells.push_back(number_cell(metrics.distribution ? std::optional(metrics.distribution->kl_divergence)
                                                     : std::nullopt));
    cells.push_back(metrics.distribution
                        ? fmt::format("({:.3f};{:.3f}),({:.3f};{:.3f})", shown(mean(sums.target).value_or(0)),
                                      shown(metrics.distribution->target_std),
                                      shown(mean(sums.golden).value_or(0)),
                                      shown(metrics.distribution->golden_std))
                        : std::string(kNone));
    cells.push_back(number_cell(mean_abs_err(sums)));
    cells.push_back(number_cell(rmse(sums)));
    cells.push_back(number_cell(max_rel_err(sums)));
    // Over all elements, those with golden 0 as 0: what old tables hold.
    cells.push_back(number_cell(
        relative ? std::optional(sums.sum_rel_err / static_cast<double>(sums.elements)) : std::nullopt));
  }

  // YES, NO, or NaN where the type has no such limit or the tensor was not measured.
  std::string overflow_cell(const ResultRow& row, const DumpIndex& index, const ItemRow& item) const {
    const bool narrow = item.tensor != kNoIndex && index.tensors()[item.tensor].dtype == DType::f16;
    if (!narrow || row.pair.target == kNoIndex || row.mode != Mode::data || row.metrics < 0)
      return std::string(kNone);
    const SideSums& sums = table_.data_metrics[static_cast<size_t>(row.metrics)].sums.target;
    const bool infinite = sums.positive_inf + sums.negative_inf > 0;
    const bool large = sums.finite > 0 && (sums.max >= kLargestFloat16 || sums.min <= -kLargestFloat16);
    return infinite || large ? "YES" : "NO";
  }

  const ResultTable& table_;
  AclPeerColumns columns_;
};

}  // namespace

Status write_acl_peer_table(const ResultTable& table, const std::string& path,
                            const AclPeerColumns& columns) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  // The address of a file is none: that tool leaves the column out then.
  const bool files = table.golden->source_name() == "tensor_files";
  const std::ptrdiff_t golden_address = columns.sequence ? 8 : 7;
  const auto line = [&](std::vector<std::string> cells) {
    if (files) cells.erase(cells.begin() + golden_address);
    append_csv_line(file.text(), cells);
    file.flush_when_large();
  };
  const AclTable rows(table, columns);
  line(rows.header());
  for (const ResultRow& row : table.rows) line(rows.row(row));
  return file.commit();
}

}  // namespace ulpscope
