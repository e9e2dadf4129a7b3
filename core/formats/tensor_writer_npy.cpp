// Writes .npy, version 1.0: magic, version, header length, a dictionary padded to 64 bytes, elements.
#include "formats/npy.hpp"
#include "formats/tensor_writer_formats.hpp"

namespace ulpscope {

Result<std::unique_ptr<TensorWriter::Format>> begin_npy(const std::string& path, DType dtype,
                                                        const Shape& shape) {
  const std::string_view descr = npy_descr(dtype);
  if (descr.empty())
    return Error{Code::unsupported,
                 path + ": npy has no dtype for " + name(dtype) + ", expected pt or safetensors"};
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) header += ' ';
    header += std::to_string(shape[i]);
    if (i + 1 < shape.size() || shape.size() == 1) header += ',';
  }
  header += "), }";
  constexpr size_t kPrefix = 10, kAlignment = 64;  // numpy aligns the elements to 64
  while ((kPrefix + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  ULPSCOPE_ASSIGN(NewFile file, NewFile::create(path));
  std::string prefix(kNpyMagic);
  prefix += '\1';
  prefix += '\0';
  prefix += static_cast<char>(header.size() & 0xff);  // 32 dimensions stay far below 65 535
  prefix += static_cast<char>(header.size() >> 8);
  ULPSCOPE_TRY(file.append(prefix + header));
  return std::make_unique<TensorWriter::Format>(std::move(file));
}

}  // namespace ulpscope
