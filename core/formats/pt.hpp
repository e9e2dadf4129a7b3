// Finds the one tensor of a .pt file: the ZIP container of torch, or the stream that torch wrote before 1.6.
// Used by tensor_file. Reads the directory and the pickle, never the elements.
#pragma once

#include "base/result.hpp"
#include "formats/pickle.hpp"
#include "formats/tensor_file.hpp"
#include "formats/tensor_file_bytes.hpp"
#include "formats/zip.hpp"

namespace ulpscope {

// First bytes of the two containers.
constexpr std::string_view kZipMagic = "PK\3\4";
constexpr std::string_view kLegacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e";

// The tensor of a ZIP container. format: the archive or the pickle is broken, or the tensor reaches outside
// its storage; unsupported: TorchScript, anything but one tensor, globals and dtypes outside the list; io.
// Any thread.
Result<TensorPlace> read_pt_zip(const FileEnds& ends);

// The same of a legacy stream.
Result<TensorPlace> read_pt_legacy(const FileEnds& ends);

// Where a tensor lies inside the record that holds its storage; checks every element's place against the
// record. For the two readers. Messages name no file.
Result<TensorPlace> place_tensor(const PickleTensor& tensor, const PickleStorage& storage,
                                 const ZipRecord& record, bool big_endian);

// The tensor that a pickle built. unsupported when it built anything else.
Result<const PickleTensor*> only_tensor(const PickleResult& pickle);

}  // namespace ulpscope
