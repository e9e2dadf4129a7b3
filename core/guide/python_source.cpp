#include "guide/python_source.hpp"

#include <algorithm>
#include <cctype>

#include "guide/python_string.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostLogicalLines = 100'000;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  PythonSource run() {
    split_lines();
    while (at_ < text_.size() && source_.logical.size() < kMostLogicalLines) step();
    end_line();
    return std::move(source_);
  }

 private:
  void split_lines() {
    for (size_t begin = 0; begin < text_.size();) {
      const size_t end = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
      source_.lines.push_back(text_.substr(begin, end - begin));
      begin = end;
    }
    source_.crlf = !source_.lines.empty() && source_.lines[0].ends_with("\r\n");
  }

  void step() {
    const char c = text_[at_];
    if (c == '\n') {
      if (depth_ == 0)
        end_line();
      else
        line_.code += ' ';
      ++at_;
      ++physical_;
    } else if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == '\\' && is_line_end(at_ + 1)) {
      at_ = text_.find('\n', at_) + 1;
      ++physical_;
      line_.code += ' ';
    } else if (c == '"' || c == '\'') {
      begin_line();
      string();
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      if (open_)
        line_.code += ' ';
      else
        indent(c);
      ++at_;
    } else {
      begin_line();
      if (c == '(' || c == '[' || c == '{') ++depth_;
      if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
      line_.code += c;
      ++at_;
    }
  }

  bool is_line_end(size_t at) const {
    return at < text_.size() &&
           (text_[at] == '\n' || (text_[at] == '\r' && at + 1 < text_.size() && text_[at + 1] == '\n'));
  }

  void indent(char c) {
    if (c == '\t') tab_ = true;
    if (c == ' ' || c == '\t') ++columns_;
  }

  void begin_line() {
    if (open_) return;
    open_ = true;
    line_.first = physical_;
    line_.indent = columns_;
    line_.has_tab = tab_;
  }

  void end_line() {
    if (open_) {
      line_.last = physical_;
      while (!line_.code.empty() && line_.code.back() == ' ') line_.code.pop_back();
      source_.logical.push_back(std::move(line_));
    }
    line_ = {};
    open_ = tab_ = false;
    columns_ = 0;
  }

  void string() {
    const PythonStringEnd end = end_of_python_string(text_, at_);
    at_ = end.at;
    physical_ += end.lines;
    line_.code += "\"\"";
  }

  std::string_view text_;
  PythonSource source_;
  size_t at_ = 0, physical_ = 0, depth_ = 0, columns_ = 0;
  bool open_ = false, tab_ = false;
  LogicalLine line_;
};

// Whether a line is a string alone: a docstring where it stands first.
bool is_string(std::string_view code) {
  while (!code.empty()) {
    const size_t quotes = code.find("\"\"");
    if (quotes == std::string_view::npos || quotes > 2) return false;
    code.remove_prefix(quotes + 2);
    while (!code.empty() && code[0] == ' ') code.remove_prefix(1);
  }
  return true;
}

bool begins_with_word(std::string_view code, std::string_view word) {
  return code.starts_with(word) && (code.size() == word.size() || !is_name(code[word.size()]));
}

bool opens_scope(std::string_view code) {
  return begins_with_word(code, "def") || begins_with_word(code, "class") ||
         (begins_with_word(code, "async") && has_word(code, "def"));
}

PythonFunction function_at(const PythonSource& source, size_t def) {
  const std::vector<LogicalLine>& lines = source.logical;
  PythonFunction found;
  found.def = found.decorators = def;
  while (found.decorators > 0 && lines[found.decorators - 1].indent == lines[def].indent &&
         lines[found.decorators - 1].code.starts_with("@"))
    --found.decorators;
  found.end = def + 1;
  while (found.end < lines.size() && lines[found.end].indent > lines[def].indent) ++found.end;
  found.first_statement = def + 1;
  if (found.first_statement < found.end && is_string(lines[found.first_statement].code))
    ++found.first_statement;
  if (found.end == def + 1 && has_word(lines[def].code, "return")) found.returns_on_a_line.push_back(def);
  for (size_t i = def + 1; i < found.end; ++i) {
    if (opens_scope(lines[i].code)) {
      const size_t indent = lines[i].indent;
      while (i + 1 < found.end && lines[i + 1].indent > indent) ++i;
    } else if (begins_with_word(lines[i].code, "return")) {
      found.returns.push_back(i);
    } else if (has_word(lines[i].code, "return")) {
      found.returns_on_a_line.push_back(i);
    }
  }
  return found;
}

}  // namespace

bool has_word(std::string_view code, std::string_view word) {
  for (size_t at = code.find(word); at != std::string_view::npos; at = code.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_name(code[at - 1])) && (end == code.size() || !is_name(code[end]))) return true;
  }
  return false;
}

std::vector<size_t> find_handlers(const PythonSource& source, const PythonFunction& function, size_t line) {
  const std::vector<LogicalLine>& lines = source.logical;
  // Outwards over the headers that hold the line. A clause of a try is as far in as its try, which is passed.
  size_t within = lines[line].indent, opening = line;
  while (opening > function.def && !(lines[opening].indent < within && lines[opening].code == "try:")) {
    within = std::min(within, lines[opening].indent);
    --opening;
  }
  if (opening <= function.def) return {};
  std::vector<size_t> handlers, final;
  const size_t indent = lines[opening].indent;
  for (size_t i = line + 1; i < function.end && lines[i].indent >= indent; ++i) {
    if (lines[i].indent > indent) continue;
    const std::string& code = lines[i].code;
    if (begins_with_word(code, "except"))
      handlers.push_back(i);
    else if (begins_with_word(code, "finally"))
      final.push_back(i);
    else if (!begins_with_word(code, "else"))
      break;
  }
  return handlers.empty() ? final : handlers;
}

PythonSource scan_python(std::string_view text) { return Scanner(text).run(); }

std::vector<size_t> find_classes(const PythonSource& source, std::string_view name) {
  std::vector<size_t> found;
  const std::string begin = "class " + std::string(name);
  for (size_t i = 0; i < source.logical.size(); ++i) {
    const LogicalLine& line = source.logical[i];
    if (line.indent == 0 && begins_with_word(line.code, begin)) found.push_back(i);
  }
  return found;
}

std::vector<PythonFunction> find_functions(const PythonSource& source, size_t class_line,
                                           std::string_view name) {
  std::vector<PythonFunction> found;
  const std::vector<LogicalLine>& lines = source.logical;
  size_t end = lines.size();
  if (class_line != kNoLine)
    for (end = class_line + 1; end < lines.size() && lines[end].indent > 0;) ++end;
  const size_t begin = class_line == kNoLine ? 0 : class_line + 1;
  // The indentation of the class body, whatever its width: what is odd about it is for the caller to say.
  const size_t indent = class_line == kNoLine ? 0 : begin < end ? lines[begin].indent : 0;
  for (size_t i = begin; i < end; ++i) {
    std::string_view code = lines[i].code;
    if (lines[i].indent != indent) continue;
    if (code.starts_with("async ")) code.remove_prefix(6);
    if (begins_with_word(code, "def " + std::string(name))) found.push_back(function_at(source, i));
  }
  return found;
}

}  // namespace ulpscope
