#include "tensors/convert.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <ulpscope/elementwise.hpp>

#include "base/text.hpp"
#include "formats/atb_names.hpp"
#include "formats/tensor_writer.hpp"
#include "formats/tensor_writer_file.hpp"
#include "index/tensor_data.hpp"
#include "tensors/element_text.hpp"
#include "tensors/safe_path.hpp"
#include "tensors/statistics.hpp"

namespace ulpscope {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;  // a multiple of every element

std::string folder_of(std::string_view file) {
  const size_t slash = file.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(file.substr(0, slash + 1));
}

std::string step_rank_folder(const OpRow& op) {
  std::string folder;
  if (op.step >= 0) folder += "step" + std::to_string(op.step) + "/";
  if (op.rank >= 0) folder += "rank" + std::to_string(op.rank) + "/";
  return folder;
}

// The file of a tensor that the source locates late; its error shows again, with its text, when the tensor is
// opened.
std::string file_of(const DumpIndex& index, const TensorRow& tensor) {
  if (tensor.data_kind != ULPSCOPE_DATA_LATER) return std::string(index.text(tensor.data_file));
  const auto found = index.source().locate(tensor.data_token);
  return found.ok() ? std::string(to_view(found->file)) : std::string();
}

bool is_atb_op_folder(std::string_view name) {
  const auto op = parse_atb_op_name(name);
  return op && !parse_atb_number(op->type);  // "0_39943" is a process
}

// The folder of an ATB tensor is that of its operation; the file of an alias lies in that of another one.
std::string atb_folder(const std::string& file, const std::string& op_name, Role role) {
  std::vector<std::string_view> parts = split(file, '/');
  parts.resize(parts.size() - std::min<size_t>(parts.size(), 2));  // without before or after, and the file
  while (!parts.empty() && is_atb_op_folder(parts.back())) parts.pop_back();
  std::string folder;
  for (const std::string_view part : parts) folder.append(part).append("/");
  return folder + op_name + (role == Role::output ? "/after" : "/before");
}

std::string wanted_path(const DumpIndex& index, ItemId item) {
  const TensorRow& tensor = index.tensors()[index.items()[item].tensor];
  const OpRow& op = index.ops()[tensor.op];
  const std::string op_name(index.text(op.name));
  // In a folder of tensor files an op is a file: its name is the relative path.
  if (index.source_name() == "tensor_files") return safe_relative_path(op_name);
  const std::string file = file_of(index, tensor);
  const bool is_atb = index.source_name() == "mindie_atb" && !file.empty();
  const std::string folder = is_atb         ? atb_folder(file, op_name, index.items()[item].role)
                             : file.empty() ? step_rank_folder(op)
                                            : folder_of(file);
  const std::string name = safe_component(op_name + "." + index.item_name(item));
  return folder.empty() ? name : safe_relative_path(folder) + "/" + name;
}

bool has_npy_dtype(DType dtype) {
  return dtype == DType::b8 || (is_integer(dtype) && dtype != DType::i4x2) || dtype == DType::f16 ||
         dtype == DType::f32 || dtype == DType::f64 || dtype == DType::c64 || dtype == DType::c128;
}

bool has_safetensors_dtype(DType dtype) {
  return (has_npy_dtype(dtype) && dtype != DType::c128) || dtype == DType::bf16 ||
         dtype == DType::f8_e4m3fn || dtype == DType::f8_e5m2 || dtype == DType::f8_e8m0;
}

bool has_native(TensorFileKind kind, DType dtype) {
  switch (kind) {
    case TensorFileKind::npy:
      return has_npy_dtype(dtype);
    case TensorFileKind::safetensors:
      return has_safetensors_dtype(dtype);
    case TensorFileKind::pt:
      break;
  }
  return dtype != DType::none && dtype != DType::hif8 && dtype != DType::i4x2;
}

// Widens a chunk through double, exactly: every narrow float, and its complex pair, is a float32.
Status append_widened(TensorWriter& writer, DType from, std::span<const std::byte> bytes) {
  const uint64_t count = bytes.size() / size_bytes(from);
  std::vector<double> numbers(count * parts(from));
  widen(from, bytes.data(), count, numbers.data());
  std::vector<float> values(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) values[i] = static_cast<float>(numbers[i]);
  return writer.append(std::as_bytes(std::span(values)));
}

Status make_folder_for(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{Code::io, folder.string() + ": " + failed.message()};
  return {};
}

using Take = std::function<void(std::span<const std::byte>)>;

Result<StoredForm> form_of(const StorageTarget& storage, DType dtype, const Shape& shape) {
  if (dtype == DType::i4x2 || dtype == DType::f4_e2m1x2)
    return Error{Code::unsupported, std::string(name(dtype)) +
                                        " elements share bytes, expected whole ones for a storage format"};
  return stored_form(storage, shape, size_bytes(dtype));
}

// Gives the elements of a tensor in the order of a stored form, and answers as for_each_chunk. They are laid
// down in a file first, because a storage format takes them from many places.
Result<std::optional<bool>> for_each_stored(TensorData& data, DType dtype, StoredForm form,
                                            const std::string& scratch, const Cancel& cancel,
                                            const Take& take) {
  ULPSCOPE_ASSIGN(NewFile laid_down, NewFile::create(scratch));
  Status written;
  ULPSCOPE_ASSIGN(const std::optional<bool> crc_right,
                  for_each_chunk(data, dtype, cancel, [&](std::span<const std::byte> bytes) {
                    if (written.ok()) written = laid_down.append(bytes);
                  }));
  if (!written.ok()) return std::move(written).error();
  ULPSCOPE_TRY(laid_down.commit());
  auto original = File::open(scratch);
  std::error_code ignored;
  std::filesystem::remove(scratch, ignored);  // the open file stays readable
  if (!original.ok()) return std::move(original).error();
  ULPSCOPE_ASSIGN(const auto stream,
                  StorageBackStream::open(std::move(original).value(), std::move(form), size_bytes(dtype)));
  std::vector<std::byte> piece(kPieceBytes);
  for (;;) {
    if (cancel.requested()) return Error{Code::cancelled, "cancelled"};
    ULPSCOPE_ASSIGN(const size_t got, stream->read(piece));
    if (got == 0) return crc_right;
    take(std::span<const std::byte>(piece).first(got));
  }
}

}  // namespace

bool is_known_absent(const TensorRow& tensor) {
  return tensor.data_kind == ULPSCOPE_DATA_NONE && tensor.absent != ULPSCOPE_ABSENT_BAD;
}

std::vector<ConvertItem> plan_conversion(const DumpIndex& index, TensorFileKind kind) {
  std::vector<ConvertItem> plan;
  UniquePaths paths;
  for (size_t i = 0; i < index.items().size(); ++i) {
    const ItemRow& item = index.items()[i];
    if (item.tensor == kNoIndex || is_known_absent(index.tensors()[item.tensor])) continue;
    const std::string path = paths.take(wanted_path(index, static_cast<ItemId>(i)));
    plan.push_back({static_cast<ItemId>(i), path + std::string(extension(kind))});
  }
  return plan;
}

Result<DType> stored_dtype(TensorFileKind kind, DType dtype) {
  if (has_native(kind, dtype)) return dtype;
  if (dtype == DType::c32) return DType::c64;
  if (is_floating(dtype) && is_widenable(dtype)) return DType::f32;
  return Error{Code::unsupported, std::string(extension(kind)) + " files have no type for " + name(dtype) +
                                      " elements, and no wider type holds them"};
}

Result<Converted> convert_tensor(const DumpIndex& index, TensorId tensor, const ConvertTarget& target,
                                 const std::string& folder, const std::string& path, const Cancel& cancel) {
  const TensorRow& row = index.tensors()[tensor];
  const TensorFileKind kind = target.kind;
  Converted result;
  result.from = row.dtype;
  if (row.data_kind == ULPSCOPE_DATA_NONE)
    return Error{Code::format, "its record is unusable, as a warning about its file says"};
  ULPSCOPE_ASSIGN(TensorData data, TensorData::open(index, tensor));  // before anything is said of its dtype
  ULPSCOPE_ASSIGN(result.to, stored_dtype(kind, row.dtype));
  const auto dims = index.shape(row.shape);
  Shape shape(dims.begin(), dims.end());
  StoredForm form;
  if (target.storage) {
    ULPSCOPE_ASSIGN(form, form_of(*target.storage, row.dtype, shape));
    result.stored = shape = form.shape;
  }
  const std::string file = folder + "/" + path;
  ULPSCOPE_TRY(make_folder_for(file));
  ULPSCOPE_ASSIGN(TensorWriter writer, TensorWriter::begin(kind, file, result.to, shape));
  Status written;
  const Take append = [&](std::span<const std::byte> bytes) {
    if (!written.ok()) return;
    written = result.to == row.dtype ? writer.append(bytes) : append_widened(writer, row.dtype, bytes);
  };
  ULPSCOPE_ASSIGN(const std::optional<bool> crc_right,
                  target.storage
                      ? for_each_stored(data, row.dtype, std::move(form), file + ".original", cancel, append)
                      : for_each_chunk(data, row.dtype, cancel, append));
  if (!written.ok()) return std::move(written).error();
  ULPSCOPE_TRY(writer.finish());
  result.crc_right = crc_right.value_or(true);
  result.size_bytes = dense_bytes(shape, result.to).value_or(0);
  if (result.to != row.dtype)
    result.note = std::string(extension(kind)) + " has no " + name(row.dtype) + "; " + name(result.to) +
                  " holds every value of it exactly";
  return result;
}

}  // namespace ulpscope
