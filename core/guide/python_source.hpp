// Python source as logical lines: enough to find a class, a method, its first statement and its own returns
// without Python. Strings, comments, brackets and continuation are followed, so that words inside them do not
// count. Used by guide and instrument.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope {

// One statement, which may go over several lines. code: strings are "" and comments are gone.
struct LogicalLine {
  size_t first = 0, last = 0;  // physical lines, from 0
  size_t indent = 0;           // columns
  bool has_tab = false;        // in its indentation
  std::string code;
};

struct PythonSource {
  std::vector<std::string_view> lines;  // physical, with their line ends
  std::vector<LogicalLine> logical;
  bool crlf = false;  // how lines end
};

// A function of a source, by indexes of logical lines.
struct PythonFunction {
  size_t decorators = 0;                  // the first decorator, or the def
  size_t def = 0, end = 0;                // end: behind the last line of the body
  size_t first_statement = 0;             // behind the docstring; end when there is none
  std::vector<size_t> returns;            // own ones, nested functions aside
  std::vector<size_t> returns_on_a_line;  // lines that hold a return behind something else
};

// text must outlive the result. Never fails: what is no Python gives lines that nothing is found in. Source
// that goes over 100,000 logical lines is cut.
PythonSource scan_python(std::string_view text);

// Logical lines "class NAME" at column 0.
std::vector<size_t> find_classes(const PythonSource& source, std::string_view name);
// Functions NAME inside a class (its logical line), or at column 0 with class_line npos.
std::vector<PythonFunction> find_functions(const PythonSource& source, size_t class_line,
                                           std::string_view name);

// The except clauses of the innermost try that holds a logical line of a function, by their lines; of a try
// without any, its finally. Empty: no try holds the line.
std::vector<size_t> find_handlers(const PythonSource& source, const PythonFunction& function, size_t line);

inline constexpr size_t kNoLine = static_cast<size_t>(-1);

// Whether word stands in code as a name of its own.
bool has_word(std::string_view code, std::string_view word);

}  // namespace ulpscope
