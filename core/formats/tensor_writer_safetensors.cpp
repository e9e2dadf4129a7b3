// Writes .safetensors: u64 header length, JSON header padded with spaces to 8 bytes, elements in the given
// order.
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/text.hpp"
#include "formats/safetensors.hpp"
#include "formats/tensor_writer_formats.hpp"

namespace ulpscope {
namespace {

// A JSON text of name, which is valid UTF-8.
std::string quoted(const std::string& name) { return nlohmann::json(name).dump(); }

std::string entry(const NamedTensor& tensor, std::string_view word, uint64_t begin, uint64_t end) {
  std::string text = quoted(tensor.name) + ":{\"dtype\":\"" + std::string(word) + "\",\"shape\":[";
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    text += (i > 0 ? "," : "") + std::to_string(tensor.shape[i]);
  return text + "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

}  // namespace

Result<std::unique_ptr<TensorWriter::Format>> begin_safetensors_file(
    const std::string& path, const std::vector<NamedTensor>& tensors) {
  std::unordered_set<std::string> names;
  std::string header = "{";
  uint64_t offset = 0;
  for (const NamedTensor& tensor : tensors) {
    const auto refuse = [&](Code code, const std::string& what) {
      return Error{code, path + ": tensor '" + printable(tensor.name) + "': " + what};
    };
    if (tensor.name.empty() || tensor.name == kSafetensorsMetadata || valid_utf8(tensor.name) != tensor.name)
      return refuse(Code::usage, "a name that safetensors does not allow, expected UTF-8 text");
    if (!names.insert(tensor.name).second) return refuse(Code::usage, "the name occurs twice");
    const std::string_view word = safetensors_dtype(tensor.dtype);
    if (word.empty())
      return refuse(Code::unsupported, std::string("safetensors has no dtype for ") + name(tensor.dtype) +
                                           ", expected pt or npy");
    const uint64_t end = offset + *dense_bytes(tensor.shape, tensor.dtype);
    if (header.size() > 1) header += ',';
    header += entry(tensor, word, offset, end);
    offset = end;
  }
  header += '}';
  header.resize((header.size() + 7) / 8 * 8, ' ');
  if (header.size() > kMaxSafetensorsHeader)
    return Error{Code::unsupported, path + ": a header of " + std::to_string(header.size()) +
                                        " bytes, expected at most " + std::to_string(kMaxSafetensorsHeader)};
  ULPSCOPE_ASSIGN(NewFile file, NewFile::create(path));
  std::string length;
  for (uint64_t i = 0, n = header.size(); i < 8; ++i, n >>= 8) length += static_cast<char>(n & 0xff);
  ULPSCOPE_TRY(file.append(length + header));
  return std::make_unique<TensorWriter::Format>(std::move(file));
}

}  // namespace ulpscope
