#include "instrument/blocks.hpp"

#include <algorithm>
#include <optional>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kHashDigits = 12, kContextLines = 3;
constexpr std::string_view kOpens = "# >>> ulpscope ", kCloses = "# <<< ulpscope ";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

std::string_view without_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

std::string_view end_of_line_in(std::string_view text) {
  const size_t end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

std::string hash_of(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return sha256_hex(all).substr(0, kHashDigits);
}

struct Mark {
  size_t indent = 0;
  std::string_view name;  // part and hash
};

std::optional<Mark> mark_of(std::string_view line, std::string_view begin) {
  line = without_end(line);
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  if (!line.substr(indent).starts_with(begin)) return std::nullopt;
  return Mark{indent, line.substr(indent + begin.size())};
}

// The line behind the block that opens at `at`; at itself when it is not whole.
size_t end_of_block(const std::vector<std::string_view>& lines, size_t at, const Mark& opened) {
  std::vector<std::string> inside;
  for (size_t i = at + 1; i < lines.size(); ++i) {
    if (const auto closed = mark_of(lines[i], kCloses)) {
      const size_t blank = opened.name.rfind(' ');
      const bool whole = closed->name == opened.name && blank != std::string_view::npos &&
                         opened.name.substr(blank + 1) == hash_of(inside);
      return whole ? i + 1 : at;
    }
    const std::string_view line = without_end(lines[i]);
    if (line.size() < opened.indent) return at;
    inside.emplace_back(line.substr(opened.indent));
  }
  return at;
}

std::string range(size_t first, size_t count) {
  return std::to_string(count == 0 ? first : first + 1) + (count == 1 ? "" : "," + std::to_string(count));
}

// One side's position in a diff by insertions only.
struct Hunk {
  size_t old_first = 0, new_first = 0, old_count = 0, new_count = 0;
  std::string text;
};

void append_line(std::string& out, char sign, std::string_view line) {
  out += sign;
  out += line;
  if (!line.ends_with("\n")) out += "\n\\ No newline at end of file\n";
}

}  // namespace

std::string block_text(const Insertion& insertion, std::string_view end_of_line) {
  const std::string indent(insertion.indent, ' '), name = insertion.part + " " + hash_of(insertion.lines);
  std::string out = indent + std::string(kOpens) + name + std::string(end_of_line);
  for (const std::string& line : insertion.lines) out += indent + line + std::string(end_of_line);
  return out + indent + std::string(kCloses) + name + std::string(end_of_line);
}

std::string with_blocks(std::string_view text, std::vector<Insertion> insertions) {
  std::stable_sort(insertions.begin(), insertions.end(),
                   [](const Insertion& a, const Insertion& b) { return a.line < b.line; });
  const std::string_view end_of_line = end_of_line_in(text);
  const std::vector<std::string_view> lines = lines_of(text);
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i <= lines.size(); ++i) {
    for (; next < insertions.size() && insertions[next].line == i; ++next) {
      if (!out.empty() && out.back() != '\n') out += end_of_line;
      out += block_text(insertions[next], end_of_line);
    }
    if (i < lines.size()) out += lines[i];
  }
  return out;
}

FoundBlocks take_out_blocks(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  FoundBlocks found;
  for (size_t i = 0; i < lines.size();) {
    if (const auto opened = mark_of(lines[i], kOpens)) {
      const size_t end = end_of_block(lines, i, *opened);
      if (end > i) {
        found.parts.emplace_back(opened->name.substr(0, opened->name.rfind(' ')));
        i = end;
        continue;
      }
      found.broken = true;
    } else if (mark_of(lines[i], kCloses)) {
      found.broken = true;
    }
    found.without += lines[i++];
  }
  return found;
}

std::string unified_diff(const std::string& path, std::string_view original, std::string_view changed) {
  if (original == changed) return {};
  const std::vector<std::string_view> before = lines_of(original), after = lines_of(changed);
  std::string out =
      "--- " + (before.empty() ? std::string("/dev/null") : "a/" + path) + "\n+++ b/" + path + "\n";
  size_t old_at = 0, new_at = 0;
  while (new_at < after.size()) {
    // Equal lines up to the next insertion.
    while (old_at < before.size() && new_at < after.size() && before[old_at] == after[new_at] &&
           !mark_of(after[new_at], kOpens)) {
      ++old_at;
      ++new_at;
    }
    if (new_at == after.size()) break;
    Hunk hunk;
    const size_t lead = std::min(old_at, kContextLines);
    hunk.old_first = old_at - lead;
    hunk.new_first = new_at - lead;
    for (size_t i = hunk.old_first; i < old_at; ++i) append_line(hunk.text, ' ', before[i]);
    hunk.old_count = hunk.new_count = lead;
    size_t equal = 0;
    while (new_at < after.size() && equal < 2 * kContextLines) {
      const bool same =
          old_at < before.size() && before[old_at] == after[new_at] && !mark_of(after[new_at], kOpens);
      if (same && equal >= kContextLines) {
        // Go on only where another insertion is near.
        bool near = false;
        for (size_t i = new_at; i < after.size() && i <= new_at + kContextLines; ++i)
          near = near || mark_of(after[i], kOpens).has_value();
        if (!near) break;
      }
      append_line(hunk.text, same ? ' ' : '+', after[new_at++]);
      hunk.old_count += same ? 1 : 0;
      ++hunk.new_count;
      old_at += same ? 1 : 0;
      equal = same ? equal + 1 : 0;
    }
    out += "@@ -" + range(hunk.old_first, hunk.old_count) + " +" + range(hunk.new_first, hunk.new_count) +
           " @@\n" + hunk.text;
  }
  return out;
}

}  // namespace ulpscope
