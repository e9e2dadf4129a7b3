#include "measure/tie_check.hpp"

#include <ulpscope/elementwise.hpp>
#include <ulpscope/half.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/pair_metrics.hpp"
#include "measure/pair_reader.hpp"

namespace ulpscope {
namespace {

// Each value may be off by the inputs' error, in opposite directions, and by roundings of its own.
constexpr double kInputErrors = 2;
constexpr double kRoundoffs = 4;
constexpr int64_t kChunkElements = 1 << 16;

int64_t product(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

// The elements of one side as doubles.
Result<std::vector<double>> read_doubles(const DumpIndex& index, ItemId item) {
  ULPSCOPE_ASSIGN(const SideShape side, side_shape(index, item, nullptr));
  const int64_t count = side.element_count();
  if (count < 0 || count > kMaxTieElements) return Error{Code::unsupported, "too many elements"};
  ULPSCOPE_ASSIGN(SideReader reader, SideReader::open(index, side));
  if (is_complex(side.dtype)) return Error{Code::unsupported, "complex values have no order"};
  std::vector<double> values(static_cast<size_t>(count));
  const uint64_t size = size_bytes(side.dtype);
  std::vector<std::byte> bytes(kChunkElements * size);
  for (int64_t done = 0; done < count; done += kChunkElements) {
    const int64_t n = std::min(kChunkElements, count - done);
    const auto block = std::span(bytes).first(static_cast<size_t>(n) * size);
    ULPSCOPE_TRY(reader.read(static_cast<uint64_t>(done) * size, block));
    if (!widen(side.dtype, block.data(), static_cast<uint64_t>(n), values.data() + done))
      return Error{Code::unsupported, "elements without a value"};
  }
  return values;
}

// Along which dimension of shape the indexes were chosen, and how many: one dimension is shorter (topk), gone
// (argmax) or, where the shapes are equal (sort), the last one. No dimension at all: of all elements.
struct Axis {
  size_t axis = 0;
  int64_t chosen = 1;
};
std::optional<Axis> axis_of(std::span<const int64_t> shape, std::span<const int64_t> indexes) {
  if (shape.empty()) return std::nullopt;
  if (shape.size() == indexes.size()) {
    std::optional<Axis> found;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == indexes[i]) continue;
      if (found || indexes[i] > shape[i]) return std::nullopt;
      found = Axis{i, indexes[i]};
    }
    return found ? found : Axis{shape.size() - 1, shape.back()};
  }
  if (shape.size() != indexes.size() + 1) return std::nullopt;
  for (size_t axis = shape.size(); axis-- > 0;) {
    std::vector<int64_t> rest(shape.begin(), shape.end());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    if (std::equal(rest.begin(), rest.end(), indexes.begin(), indexes.end())) return Axis{axis, 1};
  }
  return std::nullopt;
}

// The first floating input of the op that a row belongs to.
int64_t input_row(const ResultTable& table, int64_t row) {
  const uint32_t op_pair = table.rows[static_cast<size_t>(row)].pair.op_pair;
  for (int64_t i = row; i-- > 0 && table.rows[static_cast<size_t>(i)].pair.op_pair == op_pair;) {
    const ResultRow& candidate = table.rows[static_cast<size_t>(i)];
    if (candidate.mode != Mode::data || candidate.metrics < 0 || candidate.pair.merge >= 0) continue;
    const ItemRow& item = table.golden->items()[candidate.pair.golden];
    if (item.role == Role::input && is_floating(table.golden->tensors()[item.tensor].dtype)) return i;
  }
  return -1;
}

Result<Tie> read_tie(const ResultTable& table, int64_t row, int64_t input) {
  const ItemPair &indexes = table.rows[static_cast<size_t>(row)].pair,
                 &values = table.rows[static_cast<size_t>(input)].pair;
  const DumpIndex& golden = *table.golden;
  const TensorId chosen_from = golden.items()[values.golden].tensor;
  const auto shape = golden.shape_of(chosen_from);
  const auto axis = axis_of(shape, golden.shape_of(golden.items()[indexes.golden].tensor));
  if (!axis) return Tie::unknown;
  ULPSCOPE_ASSIGN(const std::vector<double> elements, read_doubles(golden, values.golden));
  ULPSCOPE_ASSIGN(const std::vector<double> golden_indexes, read_doubles(golden, indexes.golden));
  ULPSCOPE_ASSIGN(const std::vector<double> target_indexes, read_doubles(*table.target, indexes.target));
  const DType t = table.target->tensors()[table.target->items()[values.target].tensor].dtype;
  const DType g = golden.tensors()[chosen_from].dtype;
  const PairSums& sums =
      table.data_metrics[static_cast<size_t>(table.rows[static_cast<size_t>(input)].metrics)].sums;
  const double roundoff = std::max(is_floating(t) ? unit_roundoff(t) : 0, unit_roundoff(g));
  return tie_of(TieChoice{elements, shape, axis->axis, target_indexes, golden_indexes, axis->chosen,
                          max_abs_err(sums).value_or(0), roundoff});
}

}  // namespace

Tie tie_of(const TieChoice& choice) {
  const int64_t extent = choice.shape[choice.axis];
  const int64_t inner = product(choice.shape.subspan(choice.axis + 1));
  const int64_t outer = product(choice.shape.first(choice.axis));
  const auto count = static_cast<size_t>(outer * choice.chosen * inner);
  if (choice.target.size() != count || choice.golden.size() != count) return Tie::unknown;
  for (size_t i = 0; i < count; ++i) {
    if (choice.target[i] == choice.golden[i]) continue;
    const auto place = static_cast<int64_t>(i);
    const int64_t first = place / (choice.chosen * inner) * extent * inner + place % inner;
    const auto in_range = [&](double at) { return at >= 0 && at < static_cast<double>(extent); };
    if (!in_range(choice.target[i]) || !in_range(choice.golden[i])) return Tie::not_tied;
    const auto value = [&](double at) {
      return choice.values[static_cast<size_t>(first + static_cast<int64_t>(at) * inner)];
    };
    const double a = value(choice.target[i]), b = value(choice.golden[i]);
    const double allowed = kInputErrors * choice.input_error +
                           kRoundoffs * choice.roundoff * std::max(std::fabs(a), std::fabs(b));
    const bool tied = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= allowed;
    if (!tied) return Tie::not_tied;
  }
  return Tie::tied;
}

Tie tie_of(const ResultTable& table, int64_t row, const Cancel& cancel) {
  const ResultRow& indexes = table.rows[static_cast<size_t>(row)];
  if (indexes.mode != Mode::data || indexes.metrics < 0 || indexes.pair.merge >= 0) return Tie::unknown;
  const int64_t input = input_row(table, row);
  if (input < 0 || cancel.requested()) return Tie::unknown;
  const Result<Tie> tie = read_tie(table, row, input);
  return tie.ok() ? tie.value() : Tie::unknown;
}

}  // namespace ulpscope
