#include "cli/dump_rows.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "tensors/element_text.hpp"

namespace ulpscope {
namespace {

std::string_view kind_text(OpKind kind) {
  switch (kind) {
    case OpKind::api:
      return "api";
    case OpKind::module:
      return "module";
    case OpKind::layer:
      return "layer";
    case OpKind::kernel:
      return "kernel";
    case OpKind::communication:
      return "communication";
  }
  return "api";
}

std::string number_cell(int64_t number) { return number < 0 ? std::string() : std::to_string(number); }

// "float32 [2, 5, 5]" of an op's first output tensor.
std::string first_output(const DumpIndex& index, OpId op) {
  for (const ItemRow& item : index.items(op)) {
    if (item.role != Role::output || item.tensor == kNoIndex) continue;
    return std::string(name(index.tensors()[item.tensor].dtype)) + " " +
           shape_text(index.shape_of(item.tensor));
  }
  return "";
}

std::string statistic(const ulpscope_stats& stats, uint32_t bit, double value) {
  return (stats.present & bit) != 0 ? number_text(value) : std::string();
}

std::string range_text(int32_t kind, std::string_view file, uint64_t offset, uint64_t size_bytes) {
  if (kind != ULPSCOPE_DATA_FILE) return "recorded, converted while it is read";
  return std::string(file) + " +" + std::to_string(offset) + " " + std::to_string(size_bytes) + " B";
}

}  // namespace

std::string place_text(const DumpIndex& index, TensorId tensor) {
  const TensorRow& row = index.tensors()[tensor];
  if (row.data_kind == ULPSCOPE_DATA_NONE) return row.absent == 0 ? "none" : absent_text(row.absent);
  if (row.data_kind != ULPSCOPE_DATA_LATER)
    return range_text(row.data_kind, index.text(row.data_file), row.data_offset, row.data_size);
  const auto found = index.source().locate(row.data_token);
  if (!found.ok()) return "unreadable: " + found.error().message;
  return range_text(found->kind, to_view(found->file), found->offset, found->size);
}

std::vector<RowColumn> OpRows::columns() const {
  const auto tokens =
      std::any_of(index_.ops().begin(), index_.ops().end(), [](const OpRow& op) { return op.token >= 0; });
  return {{"STEP", "step", true, true},
          {"RANK", "rank", true, true},
          {"TOKEN", "token", true, tokens},
          {"OPERATION", "op", false, true},
          {"KIND", "kind", false, true},
          {"TYPE", "type", false, false},
          {"PARENT", "parent", false, false},
          {"IN", "inputs", true, true},
          {"OUT", "outputs", true, true},
          {"OTHER", "other_tensors", true, true},
          {"FIRST OUTPUT", "first_output", false, true}};
}

void OpRows::cells(size_t row, std::vector<std::string>& out) const {
  const OpRow& op = index_.ops()[row];
  int64_t inputs = 0, outputs = 0, others = 0;
  for (const ItemRow& item : index_.items(static_cast<OpId>(row))) {
    if (item.tensor == kNoIndex) continue;
    const bool is_input = item.role == Role::input || item.role == Role::kwarg;
    ++(is_input ? inputs : item.role == Role::output ? outputs : others);
  }
  out.clear();
  out.push_back(number_cell(op.step));
  out.push_back(number_cell(op.rank));
  out.push_back(number_cell(op.token));
  out.emplace_back(index_.text(op.name));
  out.emplace_back(kind_text(op.kind));
  out.emplace_back(index_.text(op.type));
  out.emplace_back(op.parent == kNoIndex ? std::string_view() : index_.text(index_.ops()[op.parent].name));
  out.push_back(std::to_string(inputs));
  out.push_back(std::to_string(outputs));
  out.push_back(std::to_string(others));
  out.push_back(first_output(index_, static_cast<OpId>(row)));
}

TensorRows::TensorRows(const DumpIndex& index) : index_(index) {
  const auto items = index.items();
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].tensor != kNoIndex) items_.push_back(static_cast<ItemId>(i));
}

std::vector<RowColumn> TensorRows::columns() const {
  const auto tokens =
      std::any_of(index_.ops().begin(), index_.ops().end(), [](const OpRow& op) { return op.token >= 0; });
  const auto stored = std::any_of(index_.tensors().begin(), index_.tensors().end(),
                                  [](const TensorRow& tensor) { return tensor.storage != 0; });
  return {{"STEP", "step", true, true},      {"RANK", "rank", true, true},
          {"TOKEN", "token", true, tokens},  {"OPERATION", "op", false, true},
          {"TENSOR", "tensor", false, true}, {"DTYPE", "dtype", false, true},
          {"SHAPE", "shape", false, true},   {"MAX", "max", true, true},
          {"MIN", "min", true, true},        {"MEAN", "mean", true, true},
          {"L2NORM", "l2norm", true, true},  {"DIGEST", "digest", false, false},
          {"BYTES", "bytes", true, false},   {"STORAGE", "storage", false, stored},
          {"DATA", "data", false, true}};
}

void TensorRows::cells(size_t row, std::vector<std::string>& out) const {
  const ItemId item = items_[row];
  const TensorId id = index_.items()[item].tensor;
  const TensorRow& tensor = index_.tensors()[id];
  const OpRow& op = index_.ops()[tensor.op];
  const ulpscope_stats& stats = tensor.stats;
  out.clear();
  out.push_back(number_cell(op.step));
  out.push_back(number_cell(op.rank));
  out.push_back(number_cell(op.token));
  out.emplace_back(index_.text(op.name));
  out.push_back(index_.item_name(item));
  out.emplace_back(name(tensor.dtype));
  out.push_back(shape_text(index_.shape(tensor.shape)));
  out.push_back(statistic(stats, ULPSCOPE_STAT_MAX, stats.max));
  out.push_back(statistic(stats, ULPSCOPE_STAT_MIN, stats.min));
  out.push_back(statistic(stats, ULPSCOPE_STAT_MEAN, stats.mean));
  out.push_back(statistic(stats, ULPSCOPE_STAT_L2, stats.l2norm));
  out.emplace_back(index_.text(tensor.digest));
  out.push_back(number_cell(byte_count(index_, id)));
  out.emplace_back(index_.text(tensor.storage));
  out.push_back(place_text(index_, id));
}

}  // namespace ulpscope
