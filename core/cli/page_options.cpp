#include "cli/page_options.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/result_page.hpp"

namespace ulpscope {

std::vector<OptionSpec> page_options(std::string_view formats) {
  const std::string words = std::string(formats) + ",html";
  return {{"format",
           {},
           OptionKind::value,
           "LIST",
           "any of " + words + " (default all); without html no page, the others are written in any case"},
          {"lang", {}, OptionKind::value, "WORD", "language that the page starts in: en (default) or zh"}};
}

Result<PageChoice> chosen_page(const ParsedOptions& options, std::string_view formats) {
  PageChoice choice;
  const std::string all = std::string(formats) + ",html";
  const std::vector<std::string_view> known = split(all, ',');
  const std::string given = options.text_or("format", all);
  choice.wanted = false;
  for (const std::string_view word : split(given, ',')) {
    if (std::find(known.begin(), known.end(), word) == known.end())
      return Error{Code::usage, "--format: '" + printable(word) +
                                    "' is not a format of this command, expected any of " + all};
    choice.wanted = choice.wanted || word == "html";
  }
  ULPSCOPE_ASSIGN(choice.options.language, parse_language(options.text_or("lang", "en")));
  return choice;
}

Result<std::string> write_chosen_page(Context& context, const PageChoice& choice, const std::string& folder,
                                      std::string_view result_file) {
  if (!choice.wanted) return folder;
  ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
  std::string path = folder + "/" + std::string(kPageFile);
  ULPSCOPE_TRY(write_result_page(folder + "/" + std::string(result_file), path, choice.options, pool));
  return path;
}

}  // namespace ulpscope
