// Writes report.html: one file that a browser opens without a network. The page (html/, built into the
// program) is put around the data of the run (page_data.hpp); a browser that runs no script shows the finding
// as text. No text of a dump stands in the file but escaped in that text, and packed in the data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "report/page_data.hpp"
#include "report/report_view.hpp"

namespace ulpscope {

// The language that the page starts in; it has a switch.
enum class Language : uint8_t { english, chinese };
// What --lang says: en or zh. usage: another word.
Result<Language> parse_language(std::string_view word);

struct HtmlOptions {
  Language language = Language::english;
  // Rows that the page holds; of a larger run it holds the worst and a sample, and says so.
  int64_t most_rows = 100'000;
};

// Writes the page to path, or to the standard output for "-". io: the file exists or cannot be written. Any
// thread.
Status write_html(const ReportView& report, const std::string& path, const HtmlOptions& options = {},
                  ThreadPool* pool = nullptr);

// A list of the page without script, each line escaped.
void append_html_list(std::string& out, const std::vector<std::string>& lines);

// The page around blocks of any kind of report (page_data.hpp, page_table.hpp). finding: HTML for browsers
// that run no script, made with append_html. Errors as write_html.
Status write_page(const std::string& path, Language language, std::string_view finding,
                  const PageBlocks& blocks);

// Appends text with &, <, >, " and ' escaped and with control characters made visible.
void append_html(std::string& out, std::string_view text);

}  // namespace ulpscope
