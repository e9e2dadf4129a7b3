#include "measure/padding.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "index/tensor_data.hpp"

namespace ulpscope {
namespace {

// Operations with padding rows, by a part of their type, and the argument whose sum is the number of rows
// that count.
struct PaddedOp {
  std::string_view type, argument;
};
constexpr std::array kPaddedOps = {PaddedOp{"npu_dequant_swiglu_quant", "group_index"},
                                   PaddedOp{"npu_grouped_matmul", "group_list"}};
// A list of groups is short; anything longer is no such list.
constexpr int64_t kMaxGroups = int64_t{1} << 20;

// The argument of an op by its name; kNoIndex when it has none with data.
TensorId argument_of(const DumpIndex& index, OpId op, std::string_view name) {
  for (const ItemRow& item : index.items(op))
    if (item.tensor != kNoIndex && item.role == Role::kwarg && index.text(item.path) == name &&
        index.tensors()[item.tensor].data_kind != ULPSCOPE_DATA_NONE)
      return item.tensor;
  return kNoIndex;
}

int64_t element_at(const std::byte* bytes, DType dtype) {
  const auto read = [&](auto value) {
    std::memcpy(&value, bytes, sizeof(value));
    return static_cast<int64_t>(value);
  };
  switch (dtype) {
    case DType::i64:
      return read(int64_t{});
    case DType::i32:
      return read(int32_t{});
    case DType::i16:
      return read(int16_t{});
    case DType::i8:
      return read(int8_t{});
    case DType::u8:
      return read(uint8_t{});
    case DType::b8:
      return read(uint8_t{}) != 0 ? 1 : 0;
    default:
      return 0;
  }
}

Result<int64_t> sum_of(const DumpIndex& index, TensorId tensor) {
  const DType dtype = index.tensors()[tensor].dtype;
  const int64_t count = index.element_count(tensor);
  if (!(is_integer(dtype) || dtype == DType::b8) || count < 0 || count > kMaxGroups)
    return Error{Code::format, "the list of groups is not a short list of integers"};
  ULPSCOPE_ASSIGN(TensorData data, TensorData::open(index, tensor));
  std::vector<std::byte> bytes(static_cast<size_t>(data.size_bytes()));
  ULPSCOPE_TRY(data.read(0, bytes));
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i)
    if (__builtin_add_overflow(
            sum, element_at(bytes.data() + static_cast<size_t>(i) * ulpscope::size_bytes(dtype), dtype),
            &sum))
      return Error{Code::format, "the list of groups overflows"};
  return sum;
}

}  // namespace

Result<std::optional<int64_t>> valid_rows(const DumpIndex& index, ItemId item) {
  const ItemRow& row = index.items()[item];
  if (row.role != Role::output || row.tensor == kNoIndex) return std::optional<int64_t>();
  const std::string_view type = index.text(index.ops()[row.op].type);
  for (const PaddedOp& padded : kPaddedOps) {
    if (type.find(padded.type) == std::string_view::npos) continue;
    const TensorId list = argument_of(index, row.op, padded.argument);
    const auto shape = index.shape_of(row.tensor);
    if (list == kNoIndex || shape.empty()) break;
    ULPSCOPE_ASSIGN(const int64_t rows, sum_of(index, list));
    if (rows >= 0 && rows < shape[0]) return std::optional<int64_t>(rows);
    break;
  }
  return std::optional<int64_t>();
}

}  // namespace ulpscope
