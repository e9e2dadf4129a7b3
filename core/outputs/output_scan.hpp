// Every output of some files, one after the other, in constant memory. Used by the index of outputs and by
// the commands that look at each output once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "outputs/json_outputs.hpp"
#include "outputs/model_output.hpp"
#include "outputs/output_files.hpp"
#include "outputs/output_format.hpp"

namespace ulpscope {

// Bytes of a file.
struct ByteRange {
  uint64_t offset = 0, size = 0;
};

// Where an output came from.
struct OutputPlace {
  uint32_t file = 0;
  uint32_t slot = 0;  // which one of its record
  // The record; of a stream all its pieces, in order.
  std::vector<ByteRange> ranges;
};

struct ScanOptions {
  std::optional<OutputFormat> format;  // nothing: found out file by file
  OutputDetail detail;
};

using OutputVisitor = std::function<void(ModelOutput&&, const OutputPlace&)>;

// Gives every output to the visitor. A file of no known format and a record that cannot be read become
// diagnostics of severity error. Prints of a request that is not finished are replaced by later ones. io:
// reading failed. One thread; several scans may run at once.
Status scan_outputs(const std::vector<OutputFileHandle>& files, const ScanOptions& options,
                    Diagnostics& diagnostics, const Cancel& cancel, const OutputVisitor& visitor);

// Reads the output at a place again, in full. format: the file has changed since. Any thread.
Result<ModelOutput> read_output(const File& file, OutputFormat format, const OutputPlace& place,
                                const std::vector<std::string>& csv_header);

// What read_output has to know of each file: its format, and the first row of a table.
struct FileFacts {
  OutputFormat format = OutputFormat::json;
  std::vector<std::string> csv_header;
  bool usable = false;
};

// The same scan, which also tells what it found out about the files.
Status scan_outputs(const std::vector<OutputFileHandle>& files, const ScanOptions& options,
                    Diagnostics& diagnostics, const Cancel& cancel, const OutputVisitor& visitor,
                    std::vector<FileFacts>& facts);

}  // namespace ulpscope
