#include "outputs/record_reader.hpp"

#include <algorithm>
#include <array>

namespace ulpscope {
namespace {

constexpr std::string_view kPrint = "RequestOutput(";

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

enum class Step : uint8_t { inside, complete, broken };

// Follows quotes and brackets of a JSON value byte by byte. A text cannot hold a line feed as it is, so one
// shows that the value was cut off before it.
struct JsonBalance {
  int64_t depth = 0;
  bool in_text = false, escaped = false;

  Step take(char c) {
    if (in_text) {
      if (c == '\n') return Step::broken;
      if (escaped)
        escaped = false;
      else if (c == '\\')
        escaped = true;
      else if (c == '"')
        in_text = false;
      return Step::inside;
    }
    if (c == '"') in_text = true;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth <= 0) return Step::complete;
    return Step::inside;
  }
};

// The same for a Python print, whose texts have either quote.
struct PythonBalance {
  int64_t depth = 0;
  char quote = 0;
  bool escaped = false;

  Step take(char c) {
    if (quote != 0) {
      if (c == '\n') return Step::broken;
      if (escaped)
        escaped = false;
      else if (c == '\\')
        escaped = true;
      else if (c == quote)
        quote = 0;
      return Step::inside;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth <= 0) return Step::complete;
    return Step::inside;
  }
};

}  // namespace

bool is_balanced_object(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && is_white(text[i])) ++i;
  if (i == text.size() || text[i] != '{') return false;
  JsonBalance balance;
  Step step = Step::inside;
  while (i < text.size() && step == Step::inside) step = balance.take(text[i++]);
  if (step != Step::complete) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), is_white);
}

Result<bool> RecordReader::next(Record& record) {
  switch (framing_) {
    case Framing::lines:
      return next_line(record);
    case Framing::objects:
      return next_object(record);
    case Framing::prints:
      return next_print(record);
    case Framing::rows:
      return next_row(record);
    case Framing::whole:
      return next_whole(record);
  }
  return false;
}

// Whether the byte at position of the rest is in memory.
bool RecordReader::reach(size_t position) {
  while (window_.rest().size() <= position)
    if (!window_.more()) return false;
  return true;
}

Result<bool> RecordReader::ended() {
  if (window_.error()) return *window_.error();
  return false;
}

void RecordReader::give(Record& record, size_t size, size_t used) {
  record.offset = window_.offset();
  record.text = window_.rest().substr(0, size);
  window_.consume(used);
}

void RecordReader::report(std::string_view what) {
  diagnostics_.add({Severity::error, Code::format, path_ + ": byte " + std::to_string(window_.offset()),
                    std::string(what)});
}

void RecordReader::skip_line() {
  while (true) {
    const size_t found = window_.rest().find('\n');
    if (found != std::string_view::npos) return window_.consume(found + 1);
    window_.consume(window_.rest().size());
    if (!window_.more()) return;
  }
}

Result<bool> RecordReader::next_line(Record& record) {
  size_t searched = 0;
  while (true) {
    const std::string_view rest = window_.rest();
    const size_t found = rest.find('\n', searched);
    if (found == std::string_view::npos) {
      searched = rest.size();
      if (window_.more()) continue;
      if (window_.is_full()) {
        report("a line of more than " + std::to_string(TextWindow::kMaxBytes) + " bytes is passed over");
        skip_line();
        searched = 0;
        continue;
      }
      if (rest.empty() || window_.error()) return ended();
    }
    const size_t size = std::min(found, rest.size());
    const size_t used = std::min(size + 1, rest.size());
    searched = 0;
    if (std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size), is_white)) {
      window_.consume(used);
      continue;
    }
    give(record, size, used);
    return true;
  }
}

Result<bool> RecordReader::next_object(Record& record) {
  while (true) {
    if (!reach(0)) return ended();
    if (window_.rest()[0] != '{') {
      window_.consume(1);
      continue;
    }
    JsonBalance balance;
    Step step = Step::inside;
    size_t at = 0;
    for (; step == Step::inside && reach(at); ++at) step = balance.take(window_.rest()[at]);
    if (step == Step::complete) {
      give(record, at, at);
      return true;
    }
    if (window_.error()) return ended();
    report(step == Step::broken ? "a text is cut off at the end of a line, expected the rest of the object"
           : window_.is_full()  ? "an object of more than " + std::to_string(TextWindow::kMaxBytes) + " bytes"
                                : "the object is cut off, expected its closing brace");
    window_.consume(std::min(at, window_.rest().size()));
  }
}

// Moves the cursor to the next name of a print; one that is the end of a longer name is none.
bool RecordReader::find_print() {
  char before = ' ';
  while (true) {
    const std::string_view rest = window_.rest();
    const size_t found = rest.find(kPrint);
    if (found != std::string_view::npos) {
      const char previous = found > 0 ? rest[found - 1] : before;
      window_.consume(found);
      if (!is_word(previous)) return true;
      before = 'R';
      window_.consume(1);
      continue;
    }
    // The name may go on behind what is in memory.
    const size_t passed = rest.size() - std::min(rest.size(), kPrint.size() - 1);
    if (passed > 0) before = rest[passed - 1];
    window_.consume(passed);
    if (!window_.more()) return false;
  }
}

Result<bool> RecordReader::next_print(Record& record) {
  while (find_print()) {
    PythonBalance balance;
    Step step = Step::inside;
    size_t at = kPrint.size() - 1;
    bool begins_again = false;
    for (; step == Step::inside && reach(at); ++at) {
      // A RequestOutput holds no other one: the first was cut off.
      begins_again = balance.quote == 0 && window_.rest()[at] == 'R' && reach(at + kPrint.size()) &&
                     window_.rest().substr(at).starts_with(kPrint) && !is_word(window_.rest()[at - 1]);
      if (begins_again) break;
      step = balance.take(window_.rest()[at]);
    }
    if (step == Step::complete) {
      give(record, at, at);
      return true;
    }
    if (window_.error()) return ended();
    report("a printed RequestOutput is cut off, expected its closing bracket");
    window_.consume(std::min(at, window_.rest().size()));
  }
  return ended();
}

// A quote opens a quoted cell at the beginning of a cell only; inside, two of them are one.
Result<bool> RecordReader::next_row(Record& record) {
  bool quoted = false, cell_begins = true;
  size_t at = 0;
  for (; reach(at); ++at) {
    const char c = window_.rest()[at];
    if (quoted) {
      if (c == '"') {
        if (reach(at + 1) && window_.rest()[at + 1] == '"')
          ++at;
        else
          quoted = false;
      }
      continue;
    }
    if (c == '\n') break;
    if (c == '"' && cell_begins) quoted = true;
    cell_begins = c == ',';
  }
  if (window_.error()) return ended();
  if (window_.is_full() && at >= window_.rest().size()) {
    report("a row of more than " + std::to_string(TextWindow::kMaxBytes) + " bytes is passed over");
    skip_line();
    return next_row(record);
  }
  const std::string_view rest = window_.rest();
  if (rest.empty()) return ended();
  give(record, std::min(at, rest.size()), std::min(at + 1, rest.size()));
  return true;
}

Result<bool> RecordReader::next_whole(Record& record) {
  while (window_.more()) {
  }
  if (window_.error()) return ended();
  const size_t size = window_.rest().size();
  if (window_.offset() > 0 || size == 0) return false;
  if (window_.is_full()) {
    report("a text of more than " + std::to_string(TextWindow::kMaxBytes) + " bytes is passed over");
    window_.consume(size);
    return false;
  }
  give(record, size, size);
  return true;
}

}  // namespace ulpscope
