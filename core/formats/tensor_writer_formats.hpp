// What differs between the writers of tensor files: the bytes before and after the elements. For
// tensor_writer alone.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/tensor_writer.hpp"
#include "formats/tensor_writer_file.hpp"

namespace ulpscope {

// One file in the making; the elements are appended between begin and finish.
class TensorWriter::Format {
 public:
  explicit Format(NewFile new_file) : file(std::move(new_file)) {}
  virtual ~Format() = default;
  virtual Status append(std::span<const std::byte> bytes) { return file.append(bytes); }
  // Writes what follows the elements; the caller commits.
  virtual Status finish() { return {}; }

  NewFile file;
};

// Each creates the file and writes what precedes the elements. Failures as TensorWriter::begin.
Result<std::unique_ptr<TensorWriter::Format>> begin_npy(const std::string& path, DType dtype,
                                                        const Shape& shape);
Result<std::unique_ptr<TensorWriter::Format>> begin_pt(const std::string& path, DType dtype,
                                                       const Shape& shape);
Result<std::unique_ptr<TensorWriter::Format>> begin_safetensors_file(const std::string& path,
                                                                     const std::vector<NamedTensor>& tensors);

}  // namespace ulpscope
