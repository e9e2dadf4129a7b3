// Finds the tensor of a .npy file, versions 1.0 to 3.0. Used by tensor_file and, for the names of dtypes, by
// the writer. The header is the text of a Python dictionary and is parsed, never evaluated. Object arrays are
// refused.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "formats/tensor_file.hpp"
#include "formats/tensor_file_bytes.hpp"

namespace ulpscope {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

// The tensor of the file. format: a broken header, or fewer bytes than the shape needs; unsupported: strings,
// objects, records, dates and other dtypes that have no counterpart here, by name; io. Any thread.
Result<TensorPlace> read_npy(const FileEnds& ends);

// The type string of a little-endian dtype ("<f4", "|b1"), empty when npy has none.
std::string_view npy_descr(DType dtype);

}  // namespace ulpscope
