#include "execute/error_data.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/file.hpp"
#include "formats/tensor_writer.hpp"

namespace ulpscope {
namespace {

Status write(const std::string& path, DType dtype, const Shape& shape, const std::vector<std::byte>& data) {
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) return {};
  ULPSCOPE_ASSIGN(TensorWriter writer, TensorWriter::begin(TensorFileKind::pt, path, dtype, shape));
  ULPSCOPE_TRY(writer.append(data));
  return writer.finish();
}

// An id as a file name: it comes out of a dump.
std::string file_safe(std::string_view id) {
  std::string out(id);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '/' || c == '\\' || c == '\0'; }, '_');
  return out;
}

}  // namespace

Status save_error_data(const std::string& folder, std::string_view id, std::string_view direction,
                       const std::deque<HeldTensor>& inputs, const std::vector<OutputTensor>& golden,
                       const std::vector<OutputTensor>& device) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{Code::io, folder + ": " + failed.message()};
  const std::string start = fmt::format("{}/{}.{}.", folder, file_safe(id), direction);
  size_t number = 0;
  for (const Role role : {Role::input, Role::kwarg, Role::gradient})
    for (const HeldTensor& tensor : inputs)
      if (tensor.role == role)
        ULPSCOPE_TRY(
            write(fmt::format("{}input.{}.pt", start, number++), tensor.dtype, tensor.shape, tensor.data));
  for (size_t i = 0; i < golden.size(); ++i)
    ULPSCOPE_TRY(write(fmt::format("{}output.bench.{}.pt", start, i), golden[i].dtype, golden[i].shape,
                       golden[i].data));
  for (size_t i = 0; i < device.size(); ++i)
    ULPSCOPE_TRY(write(fmt::format("{}output.device.{}.pt", start, i), device[i].dtype, device[i].shape,
                       device[i].data));
  return {};
}

}  // namespace ulpscope
