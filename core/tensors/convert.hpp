// Tensors of a dump as .npy, .pt or .safetensors files: which file each one becomes, and the writing of one
// of them. Streams; a tensor is never whole in memory. Used by convert, which runs tensors side by side and
// writes the manifest.
#pragma once

#include <ulpscope/types.hpp>

#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "formats/storage_back.hpp"
#include "formats/tensor_file.hpp"
#include "index/dump_index.hpp"

namespace ulpscope {

// One tensor and the file it becomes, relative to the output folder.
struct ConvertItem {
  ItemId item = kNoIndex;
  std::string path;
};

// Every tensor of the dump that should have data, in order, each with a path of its own. The folders are
// those of the dump's files; a tensor without a file stands under step<N>/rank<R>. The file is called after
// op and tensor, a tensor file of a folder after itself. Pure.
std::vector<ConvertItem> plan_conversion(const DumpIndex& index, TensorFileKind kind);

// Whether the dump knows that this tensor has no data: such tensors are listed, not converted.
bool is_known_absent(const TensorRow& tensor);

// What a tensor becomes.
struct ConvertTarget {
  TensorFileKind kind = TensorFileKind::npy;
  std::optional<StorageTarget> storage;  // a storage format of an accelerator; nothing: elements as they are
};

struct Converted {
  DType from = DType::none, to = DType::none;
  uint64_t size_bytes = 0;  // of the elements written
  std::string note;         // why to differs from from
  Shape stored;             // with a storage format: the shape written
  bool crc_right = true;    // the bytes have the CRC-32 that their file states, or it states none
};

// The dtype that a format stores values of dtype in without loss: dtype itself, or float32 or complex64 where
// they hold every value of it. unsupported: neither. Pure.
Result<DType> stored_dtype(TensorFileKind kind, DType dtype);

// Writes one tensor to folder/path, making folders as needed; never over an existing file. With a storage
// format the elements go through a file beside it, which is gone afterwards. unsupported: the target has no
// such type or shape. Any thread.
Result<Converted> convert_tensor(const DumpIndex& index, TensorId tensor, const ConvertTarget& target,
                                 const std::string& folder, const std::string& path, const Cancel& cancel);

}  // namespace ulpscope
