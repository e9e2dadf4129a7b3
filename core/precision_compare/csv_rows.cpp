#include "precision_compare/csv_rows.hpp"

namespace ulpscope {

CsvRows::CsvRows(std::string_view text) : text_(text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text_.substr(0, kMark.size()) == kMark) text_.remove_prefix(kMark.size());
}

void CsvRows::read_quoted(std::string& cell) {
  for (++at_; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') ++next_line_;
    if (c != '"') {
      cell += c;
    } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
      cell += '"';
      ++at_;
    } else {
      ++at_;
      return;
    }
  }
  unclosed_ = true;
}

bool CsvRows::next(std::vector<std::string>& cells) {
  cells.clear();
  while (at_ < text_.size()) {
    line_ = next_line_;
    cells.assign(1, {});
    bool ended = false, quoted = false;
    while (at_ < text_.size() && !ended) {
      const char c = text_[at_];
      if (c == '"' && cells.back().empty()) {
        read_quoted(cells.back());
        quoted = true;
        continue;
      }
      ++at_;
      if (c == ',') {
        too_wide_ |= cells.size() == kMostCells;
        if (cells.size() == kMostCells)
          cells.back().clear();  // one cell takes all that is passed over
        else
          cells.emplace_back();
      } else if (c == '\n' || c == '\r') {
        if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
        ++next_line_;
        ended = true;
      } else {
        cells.back() += c;
      }
    }
    if (cells.size() > 1 || quoted || !cells[0].empty()) return true;
  }
  cells.clear();
  return false;
}

}  // namespace ulpscope
