// The data of report.html as blocks that the page reads: a header (JSON: what compare_result.json has but the
// rows, every text once, the list of columns) and one block a column. Each block is zlib-compressed and in
// base64, so that no text of a dump stands in the file as it is. Used by html.cpp; the reader is
// html/src/data.ts.
//
//   integers  the difference to the row before, 32 bit, as four planes of bytes: first all lowest bytes
//   numbers   doubles as planes of bytes, the highest four, or all eight where four do not hold them; a
//             mantissa keeps 14 bits, integers are exact. All bits set: absent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

struct PageBlocks {
  std::string header;
  std::vector<std::string> columns;  // in the order of the header's list
};

// rows: those that the page holds, in report order. no_memory: the compressor has none. Any thread.
Result<PageBlocks> page_blocks(const ReportView& report, const std::vector<int64_t>& rows, ThreadPool* pool);

}  // namespace ulpscope
