#include "measure/tie_check.hpp"

#include <ulpscope/elementwise.hpp>
#include <ulpscope/half.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
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

Result<TieLook> read_tie(const ResultTable& table, int64_t row, int64_t input) {
  const ItemPair &indexes = table.rows[static_cast<size_t>(row)].pair,
                 &values = table.rows[static_cast<size_t>(input)].pair;
  const DumpIndex& golden = *table.golden;
  const TensorId chosen_from = golden.items()[values.golden].tensor;
  const auto shape = golden.shape_of(chosen_from);
  const auto axis = axis_of(shape, golden.shape_of(golden.items()[indexes.golden].tensor));
  if (!axis) return TieLook();
  ULPSCOPE_ASSIGN(const std::vector<double> elements, read_doubles(golden, values.golden));
  ULPSCOPE_ASSIGN(const std::vector<double> golden_indexes, read_doubles(golden, indexes.golden));
  ULPSCOPE_ASSIGN(const std::vector<double> target_indexes, read_doubles(*table.target, indexes.target));
  const DType t = table.target->tensors()[table.target->items()[values.target].tensor].dtype;
  const DType g = golden.tensors()[chosen_from].dtype;
  const PairSums& sums =
      table.data_metrics[static_cast<size_t>(table.rows[static_cast<size_t>(input)].metrics)].sums;
  const double roundoff = std::max(is_floating(t) ? unit_roundoff(t) : 0, unit_roundoff(g));
  return look_at_tie(TieChoice{elements, shape, axis->axis, target_indexes, golden_indexes, axis->chosen,
                               max_abs_err(sums).value_or(0), roundoff});
}

// Whether a row holds indexes into its op's input.
bool is_index_choice(const ResultTable& table, int64_t row) {
  constexpr std::string_view kTypes[] = {"*argmax*", "*argmin*", "*topk*", "*top_k*", "*sort*", "max", "min"};
  const ItemId item = table.rows[static_cast<size_t>(row)].pair.golden;
  if (item == kNoIndex) return false;
  const DumpIndex& golden = *table.golden;
  const ItemRow& record = golden.items()[item];
  if (record.role != Role::output || record.tensor == kNoIndex ||
      !is_integer(golden.tensors()[record.tensor].dtype))
    return false;
  const std::string_view type = golden.text(golden.ops()[record.op].type);
  return std::any_of(std::begin(kTypes), std::end(kTypes),
                     [&](std::string_view glob) { return glob_match(glob, type, true); });
}

// "golden's values at the indexes 79 and 39 are both 5.344: a tie, either may be taken"
std::string choice_text(const TieLook& look) {
  const std::string indexes = fmt::format("{:.17g} and {:.17g}", look.target_index, look.golden_index);
  const std::string which = look.choices == 1 ? "" : fmt::format(", of {} choices", count_text(look.choices));
  if (look.tie == Tie::tied && look.target_value == look.golden_value)
    return fmt::format("golden's values at the indexes {}{} are both {:.7g}: a tie, either may be taken",
                       indexes, which, look.golden_value);
  return fmt::format("golden's values at the indexes {}{} are {:.7g} and {:.7g}{}", indexes, which,
                     look.target_value, look.golden_value,
                     look.tie == Tie::tied ? ", nearer to each other than rounding moves them: a tie" : "");
}

// "Torch.argmax.0.forward output.0 of step 3"
std::string place_of(const ResultTable& table, int64_t row) {
  const ItemId item = table.rows[static_cast<size_t>(row)].pair.target;
  const OpRow& op = table.target->ops()[table.target->items()[item].op];
  const std::string step = op.step < 0 ? "" : fmt::format(" of step {}", op.step);
  return fmt::format("{} {}{}", table.target->text(op.name), table.target->item_name(item), step);
}

}  // namespace

TieLook look_at_tie(const TieChoice& choice) {
  const int64_t extent = choice.shape[choice.axis];
  const int64_t inner = product(choice.shape.subspan(choice.axis + 1));
  const int64_t outer = product(choice.shape.first(choice.axis));
  const auto count = static_cast<size_t>(outer * choice.chosen * inner);
  if (choice.target.size() != count || choice.golden.size() != count) return {};
  TieLook found{Tie::tied, 0, 0, 0, 0, 0};
  for (size_t i = 0; i < count; ++i) {
    if (choice.target[i] == choice.golden[i]) continue;
    const auto place = static_cast<int64_t>(i);
    const int64_t first = place / (choice.chosen * inner) * extent * inner + place % inner;
    const auto value = [&](double at) {
      const bool in_range = at >= 0 && at < static_cast<double>(extent);
      return in_range ? choice.values[static_cast<size_t>(first + static_cast<int64_t>(at) * inner)]
                      : std::numeric_limits<double>::quiet_NaN();
    };
    const double a = value(choice.target[i]), b = value(choice.golden[i]);
    const double allowed = kInputErrors * choice.input_error +
                           kRoundoffs * choice.roundoff * std::max(std::fabs(a), std::fabs(b));
    const double apart = std::fabs(a - b);
    const bool in_range = std::min(choice.target[i], choice.golden[i]) >= 0 &&
                          std::max(choice.target[i], choice.golden[i]) < static_cast<double>(extent);
    const bool tied = in_range && (a == b || (std::isnan(a) && std::isnan(b)) || apart <= allowed);
    const bool is_widest = found.choices++ == 0 || apart > std::fabs(found.target_value - found.golden_value);
    if (tied && !is_widest) continue;
    found = {tied ? Tie::tied : Tie::not_tied, found.choices, choice.target[i], choice.golden[i], a, b};
    if (!tied) return found;
  }
  return found;
}

Tie tie_of(const TieChoice& choice) { return look_at_tie(choice).tie; }

TieLook look_at_tie(const ResultTable& table, int64_t row, const Cancel& cancel) {
  const ResultRow& indexes = table.rows[static_cast<size_t>(row)];
  if (indexes.mode != Mode::data || indexes.metrics < 0 || indexes.pair.merge >= 0) return {};
  const int64_t input = input_row(table, row);
  if (input < 0 || cancel.requested()) return {};
  const Result<TieLook> look = read_tie(table, row, input);
  return look.ok() ? look.value() : TieLook();
}

Tie tie_of(const ResultTable& table, int64_t row, const Cancel& cancel) {
  return look_at_tie(table, row, cancel).tie;
}

void add_tie_texts(ResultTable& table, const std::vector<int64_t>& assumed, const Cancel& cancel) {
  constexpr size_t kMaxTold = 3;
  Localisation& found = table.localisation;
  for (size_t i = 0; i < std::min(kMaxTold, found.culprits.size()); ++i) {
    Culprit& culprit = found.culprits[i];
    if (!is_index_choice(table, culprit.row)) continue;
    const TieLook look = look_at_tie(table, culprit.row, cancel);
    if (look.choices > 0) culprit.evidence.emplace_back("choice", choice_text(look));
  }
  size_t told = 0;
  for (const int64_t row : assumed) {
    if (told == kMaxTold) break;
    const TieLook look = look_at_tie(table, row, cancel);
    if (look.choices == 0) continue;
    ++told;
    found.notes.push_back(fmt::format("tie: {}: {}", place_of(table, row), choice_text(look)));
  }
  const size_t more = told == kMaxTold ? assumed.size() - told : 0;
  if (more > 0) found.notes.push_back(fmt::format("and {} more {}", more, more == 1 ? "tie" : "ties"));
}

}  // namespace ulpscope
