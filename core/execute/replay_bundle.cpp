#include "execute/replay_bundle.hpp"

#include <ulpscope/half.hpp>

#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/text.hpp"
#include "execute/replay_script.hpp"
#include "formats/tensor_writer.hpp"
#include "report/json_text.hpp"
#include "report/output_file.hpp"

namespace ulpscope {
namespace {

Status write(const std::string& path, DType dtype, const Shape& shape, const std::vector<std::byte>& data) {
  // A .npy file has no bfloat16 and no 8-bit float; float32 holds their values.
  const bool widen = is_floating(dtype) && dtype != DType::f16 && dtype != DType::f32 && dtype != DType::f64;
  std::vector<std::byte> wide;
  if (widen) {
    const size_t size = size_bytes(dtype), count = data.size() / size;
    wide.resize(count * sizeof(float));
    for (size_t i = 0; i < count; ++i) {
      uint64_t code = 0;
      std::memcpy(&code, data.data() + i * size, size);
      const auto value = static_cast<float>(float_to_double(dtype, code));
      std::memcpy(wide.data() + i * sizeof value, &value, sizeof value);
    }
  }
  ULPSCOPE_ASSIGN(TensorWriter writer,
                  TensorWriter::begin(TensorFileKind::npy, path, widen ? DType::f32 : dtype, shape));
  ULPSCOPE_TRY(writer.append(widen ? wide : data));
  return writer.finish();
}

void append_tensor(std::string& out, bool& first, const std::string& file, std::string_view role,
                   std::string_view path, DType dtype, uint32_t flags) {
  out += first ? "\n    " : ",\n    ";
  first = false;
  out += "{\"file\": ";
  append_json_string(out, file);
  out += ", \"role\": ";
  append_json_string(out, role);
  out += ", \"path\": ";
  append_json_string(out, path);
  out += ", \"dtype\": ";
  append_json_string(out, name(dtype));
  out += std::string(", \"requires_grad\": ") + ((flags & ULPSCOPE_GRAD_YES) != 0 ? "true" : "false") + "}";
}

std::string_view role_of(Role role) {
  return role == Role::kwarg ? "kwarg" : role == Role::gradient ? "gradient" : "input";
}

Status write_text(const std::string& path, std::string_view text) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  file.text() += text;
  return file.commit();
}

}  // namespace

ReplayCall replay_call(const DumpIndex& index, const CheckItem& item, Phase phase) {
  return {item.type, item.api, std::string(index.text(index.ops()[item.forward].attributes)), phase};
}

Status write_replay_bundle(const std::string& folder, const std::string& name, const ReplayCall& call,
                           const ReplaySide& side) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{Code::io, folder + ": " + failed.message()};
  if (!std::filesystem::is_empty(folder, failed) || failed)
    return Error{Code::usage,
                 "option --export: " + printable(folder) + " is not empty, expected a new folder"};
  std::string json = "{\n  \"op\": ";
  append_json_string(json, name);
  json += ",\n  \"type\": ";
  append_json_string(json, call.type);
  json += ",\n  \"api\": ";
  append_json_string(json, call.api);
  json += std::string(",\n  \"backward\": ") + (call.phase == Phase::backward ? "true" : "false");
  json += ",\n  \"arguments\": " + (call.attributes.empty() ? "null" : call.attributes);
  json += ",\n  \"tensors\": [";
  bool first = true;
  size_t number = 0;
  for (const HeldTensor& tensor : side.inputs.tensors()) {
    const std::string file = "input." + std::to_string(number++) + ".npy";
    ULPSCOPE_TRY(write(folder + "/" + file, tensor.dtype, tensor.shape, tensor.data));
    append_tensor(json, first, file, role_of(tensor.role), tensor.path, tensor.dtype, tensor.flags);
  }
  json += "],\n  \"outputs\": " + std::to_string(side.exact.size()) + "\n}\n";
  for (size_t i = 0; i < side.exact.size(); ++i)
    ULPSCOPE_TRY(write(folder + "/float64." + std::to_string(i) + ".npy", side.exact[i].dtype,
                       side.exact[i].shape, side.exact[i].data));
  for (size_t i = 0; i < side.recorded.size(); ++i)
    ULPSCOPE_TRY(write(folder + "/recorded." + std::to_string(i) + ".npy", side.recorded[i].dtype,
                       side.recorded[i].shape, side.recorded[i].data));
  ULPSCOPE_TRY(write_text(folder + "/call.json", json));
  return write_text(folder + "/replay.py", kReplayScript);
}

}  // namespace ulpscope
