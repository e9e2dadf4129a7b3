// Single elements and small descriptions of tensors as text: for show, list and convert. Elements print in
// the fewest digits that read back as the same bits of their dtype.
#pragma once

#include <ulpscope/types.hpp>

#include <cstddef>
#include <span>
#include <string>

#include "index/dump_index.hpp"

namespace ulpscope {

// The element whose bytes these are (size_bytes(dtype) of them): "1.5", "True", "1+2j", "nan"; "0x1f" for a
// type whose elements are packed or opaque. Any thread.
std::string element_text(DType dtype, std::span<const std::byte> bytes);

// "[2, 5, 5]", "[]" for a scalar.
std::string shape_text(std::span<const int64_t> shape);

// Why a tensor has no data, in words for a person; empty for absent = 0.
std::string absent_text(int32_t absent);

// The op's name and the item's: "Torch.matmul.2.forward output.0".
std::string full_name(const DumpIndex& index, ItemId item);

// Bytes of a tensor by shape and dtype; -1 when they do not fit or the dtype is opaque.
int64_t byte_count(const DumpIndex& index, TensorId tensor);

}  // namespace ulpscope
