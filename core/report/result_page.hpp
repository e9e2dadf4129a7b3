// report.html of the commands that are no comparison of dumps: check, precision-compare and locate. Each page
// is made from the result file of its command, which is also how report makes it again.
#pragma once

#include <string>

#include "base/result.hpp"
#include "report/html.hpp"

namespace ulpscope {

// The schema that a result file names: "ulpscope.check/1". io: it cannot be read; format: no JSON object with
// such a member. Any thread.
Result<std::string> result_schema(const std::string& path);

// Whether a schema is one that write_result_page knows.
bool has_result_page(std::string_view schema);

// Reads the result file at json_path and writes its page to path ("-": the standard output). io, format: the
// result cannot be read, or is of another schema; io: path exists or cannot be written. Any thread.
Status write_result_page(const std::string& json_path, const std::string& path, const HtmlOptions& options,
                         ThreadPool* pool);

}  // namespace ulpscope
