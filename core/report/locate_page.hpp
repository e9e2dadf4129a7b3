// The page of locate: the six steps of the flow as a path, the operators at fault, what each stage was
// compared with and what came out, and what to do next. Made from locate_result.json alone, so that report
// makes the same page again.
#pragma once

#include <string>
#include <string_view>

#include "base/file.hpp"
#include "base/result.hpp"
#include "report/html.hpp"

namespace ulpscope {

constexpr std::string_view kLocateSchema = "ulpscope.locate/1";

// Reads file, a result of locate, and writes its page to path ("-": the standard output). format: it is no
// such result (the message names the member: "steps[2].round"); io: it cannot be read, or path exists or
// cannot be written. Any thread.
Status write_locate_page(const File& file, const std::string& path, const HtmlOptions& options,
                         ThreadPool* pool);

}  // namespace ulpscope
