// Writers of tensor files for convert: .npy, .pt and .safetensors, streamed, never the whole tensor in
// memory. A file is written under a temporary name beside its place and appears under its own name only when
// it is complete; an existing file is never overwritten.
#pragma once

#include <ulpscope/types.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {

// One tensor of a safetensors file.
struct NamedTensor {
  std::string name;
  DType dtype = DType::none;
  Shape shape;
};

// A tensor file in the making. One thread at a time.
class TensorWriter {
 public:
  // Starts the file of one tensor; in a safetensors file its name is "tensor". unsupported: the format has no
  // such dtype; usage: a shape that no tensor has; io: the file exists already or cannot be made.
  static Result<TensorWriter> begin(TensorFileKind kind, const std::string& path, DType dtype,
                                    const Shape& shape);
  // Starts a safetensors file of several tensors, whose bytes are then appended in this order. usage: a name
  // is empty, reserved, not UTF-8 or occurs twice; else as begin.
  static Result<TensorWriter> begin_safetensors(const std::string& path,
                                                const std::vector<NamedTensor>& tensors);

  TensorWriter(TensorWriter&&) noexcept;
  TensorWriter& operator=(TensorWriter&&) noexcept;
  // Removes the temporary file unless finish succeeded.
  ~TensorWriter();

  // The next bytes: dense, row-major, little-endian, in pieces of any size. internal: more than the shape
  // holds; io.
  Status append(std::span<const std::byte> bytes);
  // Completes the file and gives it its name. internal: bytes are missing; io: the name was taken meanwhile,
  // or writing failed. The file is closed either way.
  Status finish();

  class Format;  // what differs between the formats; not for callers

 private:
  TensorWriter(std::unique_ptr<Format> format, uint64_t size_bytes);
  std::unique_ptr<Format> format_;
  uint64_t expected_ = 0, appended_ = 0;  // bytes
};

}  // namespace ulpscope
