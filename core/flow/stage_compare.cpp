#include "flow/stage_compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "formats/acl_names.hpp"
#include "formats/acl_types.hpp"
#include "kernels/pair_metrics.hpp"
#include "match/matcher.hpp"
#include "measure/measure.hpp"

namespace ulpscope {
namespace {

// The smallest normal float16: below it a value may be what is left of zero.
constexpr double kSmallestHalf = 0x1p-14;
// Network inputs are the same data, at most rounded to float16 once (2^-11).
constexpr double kInputError = 1e-3;

Status measure_table(ResultTable& table, ThreadPool& pool, const Cancel& cancel, Diagnostics& diagnostics) {
  table.judgements = {"similarity"};
  table.judgement_columns.resize(1);
  MeasureOptions options;
  options.groups = kGroupDefault | kGroupRelative;
  return measure(table, options, pool, cancel, diagnostics, nullptr, nullptr);
}

const PairSums* sums_of(const ResultTable& table, const ResultRow& row) {
  if (row.mode != Mode::data || row.metrics < 0) return nullptr;
  return &table.data_metrics[static_cast<size_t>(row.metrics)].sums;
}

double magnitude(const SideSums& side) {
  return side.finite == 0 ? 0 : std::max(std::fabs(side.max), std::fabs(side.min));
}

// Rule of the flow: a cosine strictly below the limit, NaN or infinity of one side, something where the other
// side is all zero, or a scalar off by more than the limit allows. Empty tensors decide nothing.
bool is_different(const PairSums& sums, const CompareRules& rules) {
  if (sums.nonfinite_mismatch > 0) return true;
  if (sums.elements == 0 || sums.finite_pairs == 0) return false;
  if (sums.squares_golden == 0) return magnitude(sums.target) > kSmallestHalf;
  if (sums.squares_target == 0) return magnitude(sums.golden) > kSmallestHalf;
  if (sums.elements == 1) return sums.max_abs_err / std::fabs(sums.golden.max) > 1 - rules.op_limit;
  return !(cosine(sums).value_or(1) >= rules.op_limit);
}

class Comparison {
 public:
  Comparison(const StageDump& mine, const ResultTable& table, const CompareRules& rules)
      : mine_(mine), table_(table), rules_(rules) {}

  StageComparison run() {
    for (size_t i = 0; i < table_.rows.size(); ++i) take(table_.rows[i]);
    return std::move(out_);
  }

 private:
  void take(const ResultRow& row) {
    if (row.pair.target == kNoIndex) return;
    const DumpIndex& index = mine_.index;
    const ItemRow& item = index.items()[row.pair.target];
    if (item.tensor == kNoIndex) return;
    if (item.op != op_) begin(item.op);
    out_.unreadable += row.unreadable ? 1 : 0;
    const PairSums* sums = sums_of(table_, row);
    const bool differs = sums != nullptr && is_different(*sums, rules_);
    if (sums != nullptr) out_.all_equal &= sums->unequal == 0;
    if (item.role == Role::output) {
      add_output(row, item, sums, differs);
    } else if (sums != nullptr && sums->elements > 0 && !is_constant(item)) {
      InputState& inputs = out_.ops.back().inputs;
      if (differs)
        inputs = InputState::bad;
      else if (inputs == InputState::unknown)
        inputs = InputState::good;
    }
  }

  void begin(OpId op) {
    op_ = op;
    const OpRow& row = mine_.index.ops()[op];
    ComparedOp compared;
    compared.name = mine_.index.text(row.name);
    compared.type = mine_.index.text(row.type);
    for (const std::string_view name : split(mine_.index.text(row.originals), '\n'))
      if (!name.empty()) compared.originals.emplace_back(name);
    if (compared.originals.empty()) compared.originals.push_back(compared.name);
    out_.ops.push_back(std::move(compared));
  }

  void add_output(const ResultRow& row, const ItemRow& item, const PairSums* sums, bool differs) {
    const TensorRow& tensor = mine_.index.tensors()[item.tensor];
    ComparedOutput output;
    output.output = static_cast<int32_t>(parse_int(mine_.index.text(item.path)).value_or(0));
    output.key = mine_.index.text(tensor.origin);
    output.dtype = tensor.dtype;
    output.compared = sums != nullptr;
    output.differs = differs;
    if (sums != nullptr) {
      ++out_.compared;
      output.nonfinite = sums->nonfinite_mismatch > 0;
      output.cosine = cosine(*sums);
      output.rel_l2 = rel_l2(*sums);
      output.largest = magnitude(sums->target);
    }
    out_.unpaired += row.pair.golden == kNoIndex ? 1 : 0;
    out_.ops.back().outputs.push_back(std::move(output));
  }

  bool is_constant(const ItemRow& item) const {
    if (!mine_.graph) return false;
    const uint32_t op = mine_.graph->find(mine_.index.text(mine_.index.ops()[item.op].name));
    const auto input = parse_int(mine_.index.text(item.path));
    return op != kNoIndex && input && mine_.graph->is_constant(op, static_cast<uint32_t>(*input));
  }

  const StageDump& mine_;
  const ResultTable& table_;
  const CompareRules& rules_;
  OpId op_ = kNoIndex;
  StageComparison out_;
};

// The first input, in order of execution, that reads an output.
ItemId first_reader(const DumpIndex& index, std::string_view key) {
  for (size_t op = 0; op < index.ops().size(); ++op) {
    const OpRow& row = index.ops()[op];
    for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item) {
      const ItemRow& entry = index.items()[item];
      if (entry.tensor == kNoIndex || entry.role == Role::output) continue;
      if (index.text(index.tensors()[entry.tensor].link) == key) return item;
    }
  }
  return kNoIndex;
}

// The golden file of a key, the last one written.
ItemId golden_file(const DumpIndex& index, std::string_view name, uint32_t output) {
  ItemId found = kNoIndex;
  uint64_t newest = 0;
  for (const OpRow& op : index.ops()) {
    const std::string_view text = index.text(op.name);
    const auto golden = parse_golden_name(text.substr(text.rfind('/') + 1));
    if (!golden || golden->output != output || acl_escaped(golden->name) != acl_escaped(name)) continue;
    if (found == kNoIndex || golden->timestamp >= newest) {
      found = op.first_item;
      newest = golden->timestamp;
    }
  }
  return found;
}

ComparedInput judge_input(std::string name, const ResultTable& table, const ResultRow& row) {
  ComparedInput input;
  input.name = std::move(name);
  const PairSums* sums = sums_of(table, row);
  if (sums == nullptr) {
    const auto shape = [](const DumpIndex& index, ItemId item) {
      std::string text = "[";
      for (const int64_t dim : index.shape_of(index.items()[item].tensor))
        text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
      return text + "]";
    };
    input.compared = row.mode == Mode::data;
    input.problem = row.mode == Mode::data ? "shape " + shape(*table.target, row.pair.target) + " against " +
                                                 shape(*table.golden, row.pair.golden)
                                           : row.message;
    return input;
  }
  input.compared = true;
  input.cosine = cosine(*sums);
  input.max_abs_err = max_abs_err(*sums);
  input.equal = sums->nonfinite_mismatch == 0 && !(rel_l2(*sums).value_or(0) > kInputError);
  return input;
}

}  // namespace

std::string_view to_text(InputState state) {
  switch (state) {
    case InputState::good:
      return "good";
    case InputState::bad:
      return "bad";
    case InputState::unknown:
      return "unknown";
  }
  return "unknown";
}

const ComparedOutput* ComparedOp::difference() const {
  const auto found =
      std::find_if(outputs.begin(), outputs.end(), [](const ComparedOutput& o) { return o.differs; });
  return found == outputs.end() ? nullptr : &*found;
}

Result<StageComparison> compare_stages(const StageDump& mine, const DumpIndex& reference,
                                       const CompareRules& rules, ThreadPool& pool, const Cancel& cancel,
                                       Diagnostics& diagnostics) {
  ResultTable table;
  table.target = &mine.index;
  table.golden = &reference;
  ULPSCOPE_ASSIGN(table.pairs, match(mine.index, reference, {}));
  ULPSCOPE_TRY(measure_table(table, pool, cancel, diagnostics));
  StageComparison out = Comparison(mine, table, rules).run();
  if (out.compared == 0)
    return Error{Code::io, "stage " + mine.name + ": no operator has a counterpart in " + reference.path() +
                               ": wrong folder or model?"};
  return out;
}

Result<std::vector<ComparedInput>> compare_inputs(const StageDump& mine, const StageDump* other,
                                                  const DumpIndex& reference, ThreadPool& pool,
                                                  const Cancel& cancel, Diagnostics& diagnostics) {
  if (!mine.graph) return std::vector<ComparedInput>();
  ResultTable table;
  table.target = &mine.index;
  table.golden = &reference;
  std::vector<std::string> names;
  for (const FusionOp& op : mine.graph->ops()) {
    if (op.type != "Data" && op.type != "RefData") continue;
    const std::string key = mine.graph->output_key(mine.graph->find(op.name), 0).text;
    const ItemId target = first_reader(mine.index, key);
    const ItemId golden =
        other != nullptr ? first_reader(reference, key) : golden_file(reference, op.name, 0);
    if (target == kNoIndex || golden == kNoIndex) continue;
    table.pairs.items.push_back(
        {target, golden, MatchKind::origin, static_cast<uint32_t>(table.pairs.ops.size())});
    table.pairs.ops.push_back(
        {mine.index.items()[target].op, reference.items()[golden].op, MatchKind::origin});
    names.push_back(op.name);
  }
  ULPSCOPE_TRY(measure_table(table, pool, cancel, diagnostics));
  std::vector<ComparedInput> inputs;
  for (size_t i = 0; i < table.rows.size(); ++i)
    inputs.push_back(judge_input(names[i], table, table.rows[i]));
  return inputs;
}

}  // namespace ulpscope
