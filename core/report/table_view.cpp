#include "report/table_view.hpp"

#include <algorithm>
#include <utility>

#include "report/finding.hpp"
#include "report/json_text.hpp"
#include "report/metrics.hpp"

namespace ulpscope {
namespace {

// The statistics that both sides recorded; nothing for arguments.
std::optional<StatisticsComparison> compared_statistics(const ResultTable& table, const ItemPair& pair) {
  const TensorId target = table.target->items()[pair.target].tensor,
                 golden = table.golden->items()[pair.golden].tensor;
  if (target == kNoIndex || golden == kNoIndex) return std::nullopt;
  const TensorRow& t = table.target->tensors()[target];
  const TensorRow& g = table.golden->tensors()[golden];
  return compare_statistics(t.stats, t.dtype, g.stats, g.dtype);
}

void put_item_name(const DumpIndex& index, const ItemRow& item, std::string& name) {
  name = role_word(item.role);
  const std::string_view path = index.text(item.path);
  if (!path.empty()) name.append(".").append(path);
}

void read_side(const DumpIndex& index, ItemId item, RowSide& side, std::string& name) {
  side = {};
  side.present = item != kNoIndex;
  if (!side.present) return;
  const ItemRow& row = index.items()[item];
  put_item_name(index, row, name);
  side.op = index.text(index.ops()[row.op].name);
  side.item = name;
  side.is_tensor = row.tensor != kNoIndex;
  if (!side.is_tensor) {
    side.dtype = index.text(row.type);
    side.value = index.text(row.value);
    return;
  }
  const TensorRow& tensor = index.tensors()[row.tensor];
  side.dtype = ulpscope::name(tensor.dtype);
  side.shape = index.shape(tensor.shape);
  side.digest = index.text(tensor.digest);
}

// The innermost module around an op.
std::string_view module_of(const DumpIndex& index, const OpRow& op) {
  for (OpId parent = op.parent; parent != kNoIndex; parent = index.ops()[parent].parent)
    if (index.ops()[parent].kind == OpKind::module) return index.text(index.ops()[parent].name);
  return {};
}

// Whether both sides hold the same content. A hash of zeros stands for none.
bool is_same_content(const DataMetrics& data) {
  const bool hashed = data.hash_target[0] != 0 || data.hash_target[1] != 0;
  return hashed && data.hash_target[0] == data.hash_golden[0] && data.hash_target[1] == data.hash_golden[1];
}

}  // namespace

void append_shape(std::string& out, std::span<const int64_t> shape) {
  out += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) out += ", ";
    append_json_number(out, shape[i]);
  }
  out += ']';
}

TableView::TableView(const ResultTable& table, std::string version) : table_(table) {
  head_.version = std::move(version);
  head_.command = table.command;
  head_.target = side_info(*table.target);
  head_.golden = side_info(*table.golden);
  head_.reference = table.reference;
  head_.policy_file = table.policy_file;
  head_.policy_profile = table.policy_profile;
  head_.policy_hash = table.policy_hash;
  head_.summary = summarise(table);
  head_.localisation = table.localisation;
  head_.notices = table.pairs.notices;
  head_.diagnostics = table.diagnostics;
  for (const MetricColumn& column : metric_columns()) head_.metric_names.emplace_back(column.name);
  for (size_t i = 0; i < table.judgements.size(); ++i) {
    judgement_metrics_.emplace_back();
    if (i >= table.judgement_columns.size()) continue;
    // Several judgements of one row name their columns themselves: "ulp.max_ulp" of "ulp,benchmark".
    const bool several = table.judgements[i].find(',') != std::string::npos;
    for (const std::string& name : table.judgement_columns[i]) {
      const std::string full = several ? name : table.judgements[i] + "." + name;
      const auto found = std::find(head_.metric_names.begin(), head_.metric_names.end(), full);
      judgement_metrics_.back().push_back(static_cast<size_t>(found - head_.metric_names.begin()));
      if (found == head_.metric_names.end()) head_.metric_names.push_back(full);
    }
  }
}

namespace {

// What the localisation says of a row whose own numbers gave no reason.
std::string_view cause_message(Cause cause) {
  switch (cause) {
    case Cause::culprit:
      return kCulpritMessage;
    case Cause::inherited:
      return "differs because of an operation at fault before it";
    case Cause::rounding:
      return "explained by the number formats";
    default:
      return {};
  }
}

std::string_view message_of(const ResultRow& row) {
  return row.message.empty() ? cause_message(row.cause) : std::string_view(row.message);
}

}  // namespace

RowOutline TableView::outline(int64_t index) const {
  const ResultRow& row = table_.rows[static_cast<size_t>(index)];
  return {row.pair.target != kNoIndex,
          row.pair.golden != kNoIndex,
          row.pair.op_pair,
          to_text(row.pair.how),
          to_text(row.mode),
          message_of(row),
          row.verdict};
}

void TableView::read_row(int64_t index, RowView& view) const {
  const ResultRow& row = table_.rows[static_cast<size_t>(index)];
  read_side(*table_.target, row.pair.target, view.target, view.target_item);
  read_side(*table_.golden, row.pair.golden, view.golden, view.golden_item);

  const bool on_target = view.target.present;
  const DumpIndex& place = on_target ? *table_.target : *table_.golden;
  const OpRow& op = place.ops()[place.items()[on_target ? row.pair.target : row.pair.golden].op];
  view.step = op.step;
  view.rank = op.rank;
  view.token = op.token;
  view.op_pair = row.pair.op_pair;
  view.module = module_of(place, op);
  view.producer = row.producer;
  view.match = to_text(row.pair.how);
  view.mode = to_text(row.mode);
  view.judgement = table_.judgements[static_cast<size_t>(row.judgement)];
  view.absent = row.absent == Absent::none ? std::string_view() : to_text(row.absent);
  view.message = message_of(row);
  view.judged = row.judged;
  view.verdict = row.verdict;
  view.cause = row.cause;
  view.unreadable = row.unreadable;
  const bool same_type =
      view.target.dtype == view.golden.dtype && view.target.is_tensor && view.golden.is_tensor;
  if (row.mode == Mode::data)
    view.bit_identical = same_type && row.metrics >= 0 &&
                         is_same_content(table_.data_metrics[static_cast<size_t>(row.metrics)]);
  else
    view.bit_identical = same_type && row.mode == Mode::digest && view.target.digest == view.golden.digest;
  read_metrics(row, view);
  view.has_octaves = view.wants_octaves && row.mode == Mode::data && row.metrics >= 0 &&
                     table_.data_metrics[static_cast<size_t>(row.metrics)].detail.has_value();
  if (view.has_octaves)
    table_.data_metrics[static_cast<size_t>(row.metrics)].detail->errors.octaves(view.octaves);
}

void TableView::read_metrics(const ResultRow& row, RowView& view) const {
  view.metrics.clear();
  if (!view.wants_metrics) return;
  view.metrics.resize(head_.metric_names.size());
  RowNumbers numbers;
  std::optional<StatisticsComparison> statistics;
  if (row.mode == Mode::data && row.metrics >= 0)
    numbers.data = &table_.data_metrics[static_cast<size_t>(row.metrics)];
  else if (row.mode == Mode::statistics)
    statistics = compared_statistics(table_, row.pair);
  if (statistics) numbers.statistics = &*statistics;
  const std::span<const MetricColumn> columns = metric_columns();
  const MetricSource other = numbers.data != nullptr ? MetricSource::statistics : MetricSource::elements;
  if (numbers.data != nullptr || numbers.statistics != nullptr)
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i].source != other) view.metrics[i] = columns[i].read(numbers);
  if (row.judgement_metrics < 0) return;
  const std::vector<ulpscope_metric>& values =
      table_.judgement_metrics[static_cast<size_t>(row.judgement_metrics)].values;
  const std::vector<size_t>& places = judgement_metrics_[static_cast<size_t>(row.judgement)];
  for (size_t i = 0; i < std::min(values.size(), places.size()); ++i)
    if (values[i].available != 0) view.metrics[places[i]] = values[i].value;
}

}  // namespace ulpscope
