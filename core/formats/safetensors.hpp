// Finds the tensors of a .safetensors file and writes such a header. Used by tensor_file and by the writer.
// Reads the JSON header only; its names are never used as paths.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/tensor_file.hpp"
#include "formats/tensor_file_bytes.hpp"

namespace ulpscope {

constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;  // the limit of the format's own reader
constexpr std::string_view kSafetensorsMetadata = "__metadata__";

// Whether the first bytes of a file of that size look like the format: a header length that fits, then '{'.
bool looks_like_safetensors(Bytes head, uint64_t file_size);

// The tensors in the order of the header. A dtype that has no counterpart here gives a place with a refusal.
// format: a header that is not as described, a name twice, or ranges that overlap, leave the file or do not
// fit shape and dtype; io. Any thread.
Result<std::vector<TensorPlace>> read_safetensors(const FileEnds& ends);

// The format's word for a dtype ("F32"), empty when it has none.
std::string_view safetensors_dtype(DType dtype);

}  // namespace ulpscope
