#include "execute/recorded_outputs.hpp"

#include <cstring>

#include "base/text.hpp"
#include "execute/call_inputs.hpp"
#include "formats/json_lexer.hpp"

namespace ulpscope {
namespace {

template <class T>
RecordedOutput number(DType dtype, T value, std::string_view type, std::string_view path) {
  RecordedOutput out;
  out.tensor.path = path;
  out.tensor.dtype = dtype;
  out.tensor.data.resize(sizeof value);
  std::memcpy(out.tensor.data.data(), &value, sizeof value);
  out.class_text = "<class '" + std::string(type) + "'>";
  return out;
}

// Values stand as JSON text: a number, true, or "NaN" in quotes.
std::optional<RecordedOutput> scalar(std::string_view type, std::string_view text, std::string_view path) {
  if (text.size() > 1 && text.front() == '"') text = text.substr(1, text.size() - 2);
  if (type == "bool") return number<uint8_t>(DType::b8, text == "true" ? 1 : 0, type, path);
  if (type == "int") {
    if (const auto value = json_int(text)) return number<int64_t>(DType::i64, *value, type, path);
    return std::nullopt;
  }
  if (type == "float")
    if (const auto value = parse_double(text)) return number<double>(DType::f64, *value, type, path);
  return std::nullopt;
}

}  // namespace

bool has_recorded_outputs(const DumpIndex& index, OpId op) {
  bool any = false;
  for (const ItemRow& row : index.items(op)) {
    if (row.role != Role::output || row.tensor == kNoIndex) continue;
    if (index.tensors()[row.tensor].data_kind == ULPSCOPE_DATA_NONE) return false;
    any = true;
  }
  return any;
}

Result<std::vector<std::optional<RecordedOutput>>> recorded_outputs(const DumpIndex& index, OpId op,
                                                                    uint64_t limit_bytes) {
  std::vector<std::optional<RecordedOutput>> out;
  for (const ItemRow& row : index.items(op)) {
    if (row.role != Role::output) continue;
    const std::string path(index.text(row.path));
    if (row.tensor == kNoIndex) {
      out.push_back(scalar(index.text(row.type), index.text(row.value), path));
      continue;
    }
    auto read = read_tensor(index, row.tensor, limit_bytes);
    if (!read.ok()) return std::move(read).error().within("recorded output " + printable(path));
    limit_bytes -= read->data.size();
    RecordedOutput one;
    one.tensor = {path, read->dtype, std::move(read->shape), std::move(read->data)};
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace ulpscope
