// The options of the page of check, precision-compare and locate, whose tables and JSON are written in any
// case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/context.hpp"
#include "report/html.hpp"

namespace ulpscope {

constexpr std::string_view kPageFile = "report.html";

// formats: the words that --format takes besides html, "json,csv": what the command writes in any case.
std::vector<OptionSpec> page_options(std::string_view formats);

struct PageChoice {
  bool wanted = true;
  HtmlOptions options;
};
// usage: a word of --format or --lang that is not known.
Result<PageChoice> chosen_page(const ParsedOptions& options, std::string_view formats);

// Writes the page of a result file beside it and answers its path; where none is wanted the folder itself.
// format, io: as write_result_page.
Result<std::string> write_chosen_page(Context& context, const PageChoice& choice, const std::string& folder,
                                      std::string_view result_file);

}  // namespace ulpscope
