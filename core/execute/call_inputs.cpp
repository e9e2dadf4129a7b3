#include "execute/call_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.hpp"
#include "execute/random_input.hpp"
#include "formats/tensor_file.hpp"
#include "index/tensor_data.hpp"

namespace ulpscope {
namespace {

// "argument 0" or "argument weight".
std::string argument_name(Role role, std::string_view path) {
  return std::string(role == Role::gradient ? "the gradient" : "argument ") +
         (role == Role::gradient ? std::string() : printable(path));
}

// Classes index from 0 to their number less one. A recorded ignore_index, which is negative, would be drawn
// as a class that is none.
bool is_class_index(const CheckItem& item, Role role, std::string_view path) {
  return item.api == "cross_entropy" &&
         ((role == Role::input && path == "1") || (role == Role::kwarg && path == "target"));
}

RandomTensor random_like(const DumpIndex& index, const CheckItem& item, TensorId id, Role role,
                         std::string_view path) {
  const TensorRow& row = index.tensors()[id];
  const auto dims = index.shape(row.shape);
  RandomTensor tensor;
  tensor.dtype = row.dtype;
  tensor.shape.assign(dims.begin(), dims.end());
  constexpr uint32_t kBoth = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN;
  tensor.has_range = (row.stats.present & kBoth) == kBoth;
  tensor.low = row.stats.min;
  tensor.high = row.stats.max;
  if (tensor.has_range && is_integer(row.dtype) && tensor.low <= 0 && is_class_index(item, role, path))
    tensor.low = 0;
  return tensor;
}

}  // namespace

ulpscope_op_record op_record(const DumpIndex& index, OpId op, Phase phase) {
  const OpRow& row = index.ops()[op];
  ulpscope_op_record record = {};
  record.struct_size = sizeof record;
  record.kind = static_cast<int32_t>(row.kind);
  record.phase = static_cast<int32_t>(phase);
  record.step = row.step;
  record.rank = row.rank;
  record.call = row.call;
  record.parent = ULPSCOPE_NO_INDEX;
  record.token = row.token;
  record.name = to_str(index.text(row.name));
  record.type = to_str(index.text(row.type));
  record.attributes_json = to_str(index.text(row.attributes));
  return record;
}

Result<HeldTensor> read_tensor(const DumpIndex& index, TensorId id, uint64_t limit_bytes) {
  const TensorRow& row = index.tensors()[id];
  const auto dims = index.shape(row.shape);
  HeldTensor tensor;
  tensor.dtype = row.dtype;
  tensor.shape.assign(dims.begin(), dims.end());
  tensor.role = row.role;
  tensor.path = index.text(row.path);
  tensor.flags = row.flags;
  ULPSCOPE_ASSIGN(TensorData data, TensorData::open(index, id));
  if (data.size_bytes() > limit_bytes)
    return Error{Code::no_memory, "a tensor of " + size_text(data.size_bytes()) + ", expected at most " +
                                      size_text(limit_bytes)};
  tensor.data.resize(static_cast<size_t>(data.size_bytes()));
  ULPSCOPE_TRY(data.read(0, tensor.data));
  return tensor;
}

Status CallInputs::add(const DumpIndex& index, const CheckItem& item, TensorId id, Role role,
                       std::string path, const InputRules& rules) {
  const TensorRow& row = index.tensors()[id];
  const std::string where = argument_name(role, path);
  if (row.absent == ULPSCOPE_ABSENT_BAD) return Error{Code::format, where + ": its record is unusable"};
  if (row.dtype == DType::none) return Error{Code::unsupported, where + ": its element type is unknown"};
  const uint64_t left = rules.limit_bytes - std::min(bytes_, rules.limit_bytes);
  HeldTensor tensor;
  if (rules.random || row.data_kind == ULPSCOPE_DATA_NONE) {
    const RandomTensor wanted = random_like(index, item, id, role, path);
    RandomStream stream(rules.seed, item.id, std::string(role_word(role)) + "." + path);
    auto made = random_elements(wanted, stream, left);
    if (!made.ok()) return std::move(made).error().within(where);
    tensor.dtype = wanted.dtype;
    tensor.shape = wanted.shape;
    tensor.data = std::move(made).value();
  } else {
    auto read = read_tensor(index, id, left);
    if (!read.ok()) return std::move(read).error().within(where);
    tensor = std::move(read).value();
  }
  tensor.role = role;
  tensor.path = std::move(path);
  tensor.flags = row.flags;
  bytes_ += tensor.data.size();
  tensors_.push_back(std::move(tensor));
  return {};
}

Result<CallInputs> CallInputs::load(const DumpIndex& index, const CheckItem& item, const InputRules& rules) {
  CallInputs inputs;
  for (const TensorId id : tensors_of(index, item.forward)) {
    const TensorRow& row = index.tensors()[id];
    if (row.role != Role::input && row.role != Role::kwarg) continue;
    ULPSCOPE_TRY(inputs.add(index, item, id, row.role, std::string(index.text(row.path)), rules));
  }
  return inputs;
}

Status CallInputs::add_gradient(const DumpIndex& index, const CheckItem& item, const InputRules& rules,
                                const std::string& output_path) {
  for (const TensorId id : tensors_of(index, item.backward))
    if (index.tensors()[id].role == Role::input)
      return add(index, item, id, Role::gradient, output_path, rules);
  return Error{Code::format, "the backward of the dump holds no gradient to start from"};
}

std::vector<ulpscope_tensor> CallInputs::views() const {
  std::vector<ulpscope_tensor> out;
  for (const HeldTensor& tensor : tensors_) {
    ulpscope_tensor view = {};
    view.role = static_cast<int32_t>(tensor.role);
    view.dim_count = static_cast<uint32_t>(tensor.shape.size());
    view.dims = tensor.shape.data();
    view.path = to_str(tensor.path);
    view.view = {tensor.data.data(), tensor.data.size() / size_bytes(tensor.dtype),
                 static_cast<int32_t>(tensor.dtype), 0};
    view.flags = tensor.flags;
    out.push_back(view);
  }
  return out;
}

}  // namespace ulpscope
