#include "report/junit.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/output_file.hpp"
#include "report/xml_text.hpp"

namespace ulpscope {
namespace {

// Messages of one case above this many rows are counted instead.
constexpr size_t kMaxLines = 20;

// What the rows of one op pair say together.
struct Case {
  std::string name, suite;
  Verdict verdict = Verdict::skip;
  size_t rows = 0, told = 0;
  std::vector<std::string> lines;  // of the rows that decide, at most kMaxLines
};

std::string suite_name(const RowView& row) {
  std::string name = row.step < 0 ? "step-none" : "step" + std::to_string(row.step);
  name += row.rank < 0 ? ".rank-none" : ".rank" + std::to_string(row.rank);
  return row.token < 0 ? name : name + ".token" + std::to_string(row.token);
}

void add_row(Case& into, const RowView& row) {
  if (into.rows++ == 0) {
    into.name = row.named().op;
    into.suite = suite_name(row);
  }
  if (row.verdict > into.verdict) {
    into.verdict = row.verdict;
    into.lines.clear();
    into.told = 0;
  }
  if (row.verdict != into.verdict || into.verdict == Verdict::pass) return;
  ++into.told;
  if (into.lines.size() >= kMaxLines) return;
  std::string line(row.named().item);
  line += ": ";
  line += !row.message.empty() ? row.message : row.one_sided() ? row.match : to_text(row.verdict);
  into.lines.push_back(std::move(line));
}

void append_lines(std::string& out, const Case& test) {
  for (const std::string& line : test.lines) {
    append_xml(out, line);
    out += '\n';
  }
  if (test.told > test.lines.size())
    out.append("and ").append(std::to_string(test.told - test.lines.size())).append(" more rows\n");
}

void append_case(std::string& out, const Case& test) {
  out += "    <testcase classname=\"";
  append_xml(out, test.suite);
  out += "\" name=\"";
  append_xml(out, test.name);
  out += '"';
  if (test.verdict == Verdict::pass) {
    out += "/>\n";
    return;
  }
  const bool fail = test.verdict == Verdict::fail, skip = test.verdict == Verdict::skip;
  const std::string_view element = fail ? "failure" : skip ? "skipped" : "system-out";
  out.append(">\n      <").append(element);
  if (fail || skip) {
    out += " message=\"";
    append_xml(out, test.lines.empty() ? std::string_view() : std::string_view(test.lines.front()));
    out += '"';
  }
  out += '>';
  append_lines(out, test);
  out.append("</").append(element).append(">\n    </testcase>\n");
}

// Calls take(case) for each op pair in report order.
template <class Take>
void for_each_case(const ReportView& report, Take take) {
  RowView row;
  Case test;
  int64_t op_pair = -1;
  for (int64_t i = 0; i < report.row_count(); ++i) {
    report.read_row(i, row);
    if (row.op_pair != op_pair && test.rows > 0) take(std::exchange(test, {}));
    op_pair = row.op_pair;
    add_row(test, row);
  }
  if (test.rows > 0) take(test);
}

struct Counts {
  int64_t tests = 0, failures = 0, skipped = 0;
  void add(Verdict verdict) {
    ++tests;
    failures += verdict == Verdict::fail;
    skipped += verdict == Verdict::skip;
  }
};

void append_counts(std::string& out, const Counts& counts) {
  out.append("tests=\"").append(std::to_string(counts.tests));
  out.append("\" failures=\"").append(std::to_string(counts.failures));
  out.append("\" errors=\"0\" skipped=\"").append(std::to_string(counts.skipped)).append("\">\n");
}

}  // namespace

Status write_junit(const ReportView& report, const std::string& path) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  // Counts stand before the cases, so the cases are visited twice. A step and rank lies together in report
  // order.
  std::vector<std::pair<std::string, Counts>> suites;
  Counts all;
  for_each_case(report, [&](const Case& test) {
    if (suites.empty() || suites.back().first != test.suite) suites.emplace_back(test.suite, Counts());
    suites.back().second.add(test.verdict);
    all.add(test.verdict);
  });
  std::string& out = file.text();
  out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ulpscope compare\" ";
  append_counts(out, all);
  size_t suite = 0;
  int64_t left = 0;  // cases of the open suite that are to come
  for_each_case(report, [&](const Case& test) {
    if (left == 0) {
      out.append("  <testsuite name=\"").append(suites[suite].first).append("\" ");
      append_counts(out, suites[suite].second);
      left = suites[suite++].second.tests;
    }
    append_case(out, test);
    if (--left == 0) out += "  </testsuite>\n";
    file.flush_when_large();
  });
  out += "</testsuites>\n";
  return file.commit();
}

}  // namespace ulpscope
