// The page of check and precision-compare: which APIs are in error, the call and number that shows it best,
// and every output in the page's table. Made from the result file alone, so that report makes the same page
// again. Of a large run it holds the calls in error first, then those with a warning, then an even sample.
#pragma once

#include <cstdint>
#include <string>

#include "base/file.hpp"
#include "base/result.hpp"
#include "report/html.hpp"

namespace ulpscope {

// Reads file, a result of one of both commands, twice and writes the page to path ("-": the standard output).
// io, format: as read_api_result; io: path exists or cannot be written. Any thread.
Status write_api_page(const File& file, const std::string& path, const HtmlOptions& options,
                      ThreadPool* pool);

}  // namespace ulpscope
