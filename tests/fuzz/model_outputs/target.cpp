// Files of model outputs (jsonl, json, csv, logs): any bytes give outputs, or say why not.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "memory_file.hpp"
#include "outputs/output_scan.hpp"

using namespace ulpscope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::MemoryPath path(data, size);
  std::vector<OutputFileHandle> files(1);
  files[0].path = path.text();
  files[0].name = "outputs";
  Diagnostics diagnostics;
  const Cancel never;
  ScanOptions options;
  (void)scan_outputs(files, options, diagnostics, never, [&](ModelOutput&&, const OutputPlace& place) {
    if (place.file != 0 || place.ranges.empty()) std::abort();
    for (const ByteRange& range : place.ranges)
      if (range.offset > size || range.size > size - range.offset) std::abort();
  });
  return 0;
}
