// Tensor files (.pt, .npy, .safetensors): what kind a file is, and where and how each of its tensors lies in
// it. Used by every source and by convert. Reads headers only; the elements are read through
// element_stream.hpp, or directly from the byte range when a place is plain. Nothing found in a file is ever
// executed.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

// Limits that hold in every format, whatever the file says.
constexpr size_t kMaxRank = 32;

// Where and how one tensor lies in a file. All ranges were checked against the size of the file.
struct TensorPlace {
  std::string member;  // name inside a safetensors file; empty else
  DType dtype = DType::none;
  Shape shape;
  uint64_t offset = 0, size = 0;  // byte range in the file of the storage (of the tensor itself when plain);
                                  // size is that of the unpacked bytes
  bool plain = true;  // row-major, dense, little-endian, stored: [offset, offset + size) are the elements
  std::vector<int64_t> strides;  // when not plain: in elements, one for each dimension
  int64_t first_element = 0;     // when not plain: in elements from offset
  bool big_endian = false, deflated = false;
  uint64_t packed_size = 0;  // bytes in the file when deflated; 0 else
  std::optional<uint32_t>
      crc32;  // of the unpacked bytes [offset, offset + size), where the container states it
  std::vector<std::string> warnings;  // what is odd about the file without making it unreadable

  std::string quantizer;  // of a quantised tensor, whose elements are its integers: "per_tensor_affine
                          // scale 0.1 zero_point 10"; empty else
  std::optional<int64_t> npu_format;  // storage format that the tensor had on an NPU; the bytes are row-major
  std::string refusal;  // why open_elements will refuse this one tensor of several; empty: it will not
};

enum class TensorFileKind { pt, npy, safetensors };

// The usual extension with its dot: ".pt".
std::string_view extension(TensorFileKind kind);

// The kind of a file by its leading bytes, never by its name. format: empty or cut inside its first bytes;
// unsupported: anything else, with the name of what it looks like. Any thread.
Result<TensorFileKind> sniff(const File& file);

// The tensors of a file: one of a .pt or .npy, all of a .safetensors in the order of its header. Reads
// headers, never the data, and allocates in proportion to the headers at most. format: the bytes break the
// format or lie about a size; unsupported: understood but not readable here (the message names what); io. Any
// thread.
Result<std::vector<TensorPlace>> read_places(const File& file);

// Bytes of a dense tensor; nothing when a dimension is negative, the rank is above kMaxRank or the product
// overflows.
std::optional<uint64_t> dense_bytes(const Shape& shape, DType dtype);

// Strides in elements of a dense row-major tensor, dimensions of 0 counted as 1. The shape must have passed
// dense_bytes.
std::vector<int64_t> dense_strides(const Shape& shape);

}  // namespace ulpscope
