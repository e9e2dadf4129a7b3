#include "report/html.hpp"

#include <utility>

#include "base/text.hpp"
#include "report/finding.hpp"
#include "report/html_page.hpp"
#include "report/output_file.hpp"
#include "report/page_rows.hpp"

namespace ulpscope {
namespace {

// Places in the built page.
constexpr std::string_view kLanguage = "<html lang=\"en\">", kStatic = "<!--finding-->",
                           kData = "<!--data-->";
constexpr size_t kStaticCulprits = 20;

// The finding for browsers that run no script.
void append_finding(std::string& out, const ReportView& report) {
  const Localisation& found = report.head().localisation;
  out += "<h1>";
  append_html(out, headline(found.verdict));
  out += "</h1>";
  append_html_list(out, run_sentences(report));
  append_html_list(out, found.notes);
  for (size_t i = 0; i < found.culprits.size() && i < kStaticCulprits; ++i) {
    const Culprit& culprit = found.culprits[i];
    out += "<h2>";
    append_html(out, culprit.op_name + " " + culprit.tensor);
    out += "</h2>";
    append_html_list(out, culprit_sentences(report, culprit));
    append_html_list(out, culprit.next);
  }
}

void append_block(std::string& out, std::string_view name, std::string_view base64) {
  out.append("<script type=\"text/plain\" id=\"").append(name).append("\">").append(base64);
  out += "</script>\n";
}

}  // namespace

Result<Language> parse_language(std::string_view word) {
  if (word == "en") return Language::english;
  if (word == "zh") return Language::chinese;
  return Error{Code::usage,
               "--lang: '" + printable(word) + "' is no language of the page, expected en or zh"};
}

void append_html(std::string& out, std::string_view text) {
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
}

void append_html_list(std::string& out, const std::vector<std::string>& lines) {
  out += "<ul>";
  for (const std::string& line : lines) {
    out += "<li>";
    append_html(out, line);
    out += "</li>";
  }
  out += "</ul>";
}

Status write_html(const ReportView& report, const std::string& path, const HtmlOptions& options,
                  ThreadPool* pool) {
  ULPSCOPE_ASSIGN(const PageBlocks blocks,
                  page_blocks(report, choose_page_rows(report, options.most_rows), pool));
  std::string finding;
  append_finding(finding, report);
  return write_page(path, options.language, finding, blocks);
}

Status write_page(const std::string& path, Language language, std::string_view finding,
                  const PageBlocks& blocks) {
  std::string_view page = kHtmlPage;
  // The text of the built page up to a place, which is taken away with it.
  const auto up_to = [&](std::string_view place) {
    const size_t at = page.find(place);
    const std::string_view text = page.substr(0, at);
    page.remove_prefix(at == std::string_view::npos ? page.size() : at + place.size());
    return text;
  };
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  std::string& out = file.text();
  out += up_to(kLanguage);
  out += language == Language::chinese ? "<html lang=\"zh\">" : kLanguage;
  out += up_to(kStatic);
  out += finding;
  out += up_to(kData);
  append_block(out, "block-header", blocks.header);
  for (size_t i = 0; i < blocks.columns.size(); ++i) {
    append_block(out, "block-" + std::to_string(i), blocks.columns[i]);
    file.flush_when_large();
  }
  out += page;
  return file.commit();
}

}  // namespace ulpscope
