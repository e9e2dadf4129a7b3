#include "plugin/source_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ulpscope {
namespace {

std::string score_table(const std::vector<ProbeRow>& rows) {
  size_t width = 6;
  for (const ProbeRow& row : rows) width = std::max(width, row.source.size());
  std::string text;
  for (const ProbeRow& row : rows)
    text += fmt::format("\n  {:<{}}  {:>3}  {}", row.source, width, row.score, row.why);
  return text;
}

}  // namespace

Result<std::string> choose_source(const std::string& path, std::vector<ProbeRow> rows) {
  if (rows.empty())
    return Error{Code::usage,
                 path +
                     ": there is no source to read it, expected plugins in one of the folders of "
                     "`ulpscope plugins path`"};
  std::sort(rows.begin(), rows.end(), [](const ProbeRow& a, const ProbeRow& b) {
    return a.score != b.score ? a.score > b.score : a.source < b.source;
  });
  if (rows.front().score < kLeastScore)
    return Error{Code::usage,
                 fmt::format("{}: no source is sure of it (best score {}, expected at least {}), "
                             "name one with -m:{}",
                             path, rows.front().score, kLeastScore, score_table(rows))};
  if (rows.size() > 1 && rows[1].score == rows.front().score)
    return Error{Code::usage, fmt::format("{}: '{}' and '{}' are equally sure of it, name one with -m:{}",
                                          path, rows[0].source, rows[1].source, score_table(rows))};
  return rows.front().source;
}

}  // namespace ulpscope
