#include "merge/merge_table.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_set>

#include "base/folder.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kResultName = "compare_result.json";
constexpr size_t kNoMetric = static_cast<size_t>(-1);

// What is shown where nobody chose: the numbers that most judgements go by.
constexpr std::string_view kDefaultMetrics[] = {"max_abs_err", "max_rel_err", "rel_l2",
                                                "cosine",      "within_1e-3", "max_rel",
                                                "min_rel",     "mean_rel",    "l2norm_rel"};

template <class T>
void put(std::vector<T>& values, size_t row, T value) {
  if (values.size() <= row) values.resize(row + 1);
  values[row] = std::move(value);
}

// The names of the folders that lead to a result, the last one first.
std::vector<std::string> folder_names(const std::string& result_path) {
  std::error_code failed;
  fs::path path = fs::absolute(result_path, failed);
  if (failed) path = result_path;
  std::vector<std::string> names;
  for (const fs::path& part : path.lexically_normal().parent_path())
    if (part != part.root_path()) names.insert(names.begin(), part.string());
  return names;
}

// The last folders of a path, as many as are asked for: "out_b/run_a".
std::string last_folders(const std::vector<std::string>& names, size_t count) {
  std::string text;
  for (size_t i = std::min(count, names.size()); i-- > 0;) text += names[i] + (i > 0 ? "/" : "");
  return text;
}

// What to call each result: its folder, with those above it until no two have one name.
std::unordered_map<std::string, std::string> run_names(const std::unordered_set<std::string>& paths) {
  std::unordered_map<std::string, std::vector<std::string>> folders;
  size_t deepest = 1;
  for (const std::string& path : paths)
    deepest = std::max(deepest, folders.emplace(path, folder_names(path)).first->second.size());
  std::unordered_map<std::string, std::string> names;
  for (size_t count = 1; count <= deepest; ++count) {
    std::unordered_set<std::string> taken;
    names.clear();
    for (const auto& [path, parts] : folders)
      taken.insert(names.emplace(path, last_folders(parts, count)).first->second);
    if (taken.size() == folders.size()) return names;
  }
  for (auto& [path, name] : names) name = path;  // two files of one folder
  return names;
}

bool is_result(const fs::path& folder) {
  std::error_code failed;
  return fs::is_regular_file(folder / kResultName, failed);
}

// A folder inside the one that was named. What is passed over is told in problems.
void add_inner(const std::string& path, EntryKind kind, std::vector<std::string>& inner,
               std::vector<Error>& problems) {
  const std::string result = path + "/" + std::string(kResultName);
  if (kind == EntryKind::link && is_result(path))
    problems.push_back({Code::io, printable(path) + ": a symbolic link is not followed, name its folder"});
  if (kind != EntryKind::folder) return;
  if (const std::string trouble = listing_trouble(path); !trouble.empty())
    problems.push_back({Code::io, printable(path) + ": " + trouble});
  else if (entry_kind(result) == EntryKind::link)
    problems.push_back({Code::io, printable(result) + ": a symbolic link is not followed, name its folder"});
  else if (is_result(path))
    inner.push_back(result);
}

Status add_results(const std::string& path, std::vector<std::string>& found, std::vector<Error>& problems) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status)) return Error{Code::io, printable(path) + ": no such file or folder"};
  if (!fs::is_directory(status)) {
    found.push_back(path);
    return {};
  }
  if (is_result(path)) {
    found.push_back((fs::path(path) / kResultName).string());
    return {};
  }
  std::vector<std::string> inner;
  const size_t before = problems.size();
  const Status listed = for_each_entry(path, [&](std::string_view name, EntryKind kind) {
    add_inner((fs::path(path) / name).string(), kind, inner, problems);
    return true;
  });
  if (!listed.ok()) return Error{Code::io, printable(path) + ": " + listing_trouble(path)};
  if (inner.empty() && problems.size() == before)
    return Error{Code::io, printable(path) + ": holds no " + std::string(kResultName) +
                               ", expected the folder of a comparison or a folder of such folders"};
  std::sort(inner.begin(), inner.end());
  found.insert(found.end(), inner.begin(), inner.end());
  return {};
}

}  // namespace

std::optional<double> MergeColumn::value(size_t metric, size_t row) const {
  return metric < values.size() && row < values[metric].size() ? values[metric][row] : std::nullopt;
}

std::optional<Verdict> MergeColumn::verdict(size_t row) const {
  return row < verdicts.size() ? verdicts[row] : std::nullopt;
}

MergeTable::MergeTable(MergeRequest request) : request_(std::move(request)) {
  if (request_.metrics.empty()) return;
  has_verdict_ = false;
  for (const std::string& name : request_.metrics) {
    if (name == "verdict")
      has_verdict_ = true;
    else if (std::find(metrics_.begin(), metrics_.end(), name) == metrics_.end())
      metrics_.push_back(name);
  }
}

bool MergeTable::wanted(const StoredSide& named) const {
  if (!request_.name_glob.empty() && !glob_match(request_.name_glob, named.op)) return false;
  if (request_.apis.empty()) return true;
  const std::string row_name = named.op + "." + named.item;
  return std::any_of(request_.apis.begin(), request_.apis.end(),
                     [&](const std::string& api) { return row_name.find(api + ".") != std::string::npos; });
}

size_t MergeTable::metric_of(std::string_view name) {
  const auto found = std::find(metrics_.begin(), metrics_.end(), name);
  if (found != metrics_.end()) return static_cast<size_t>(found - metrics_.begin());
  const bool is_default =
      std::find(std::begin(kDefaultMetrics), std::end(kDefaultMetrics), name) != std::end(kDefaultMetrics);
  if (!request_.metrics.empty() || !is_default) return kNoMetric;
  metrics_.emplace_back(name);
  return metrics_.size() - 1;
}

size_t MergeTable::row_of(const StoredRow& row, const StoredSide& named) {
  // A step and two names, apart by a byte that no number has and that keeps ("a", "bc") from ("ab", "c").
  std::string key = std::to_string(row.step) + ":" + std::to_string(row.token) + ":" +
                    std::to_string(named.op.size()) + ":" + named.op + named.item;
  const auto [found, is_new] = row_ids_.emplace(std::move(key), rows_.size());
  if (is_new) rows_.push_back({row.step, named.op, named.item});
  return found->second;
}

void MergeTable::add(const StoredResult& result, const std::string& path) {
  std::vector<size_t> metric_ids;
  for (const std::string& name : result.head.metric_names) metric_ids.push_back(metric_of(name));
  std::unordered_map<int32_t, size_t> columns;  // rank to column
  for (const StoredRow& row : result.rows) {
    const StoredSide& named = row.target.present ? row.target : row.golden;
    if (!wanted(named)) continue;
    const auto [column_at, is_new] = columns.emplace(row.rank, columns_.size());
    if (is_new) {
      columns_.emplace_back();
      columns_.back().path = path;
      columns_.back().rank = row.rank;
    }
    MergeColumn& column = columns_[column_at->second];
    const size_t id = row_of(row, named);
    if (column.verdict(id)) {
      ++repeated_;
      continue;
    }
    put(column.verdicts, id, std::optional(row.verdict));
    for (const auto& [index, number] : row.metrics) {
      if (index >= metric_ids.size() || metric_ids[index] == kNoMetric) continue;
      if (column.values.size() < metrics_.size()) column.values.resize(metrics_.size());
      put(column.values[metric_ids[index]], id, std::optional(number));
    }
  }
}

void MergeTable::finish() {
  std::set<int32_t> ranks;
  std::unordered_set<std::string> paths;
  for (const MergeColumn& column : columns_) {
    ranks.insert(column.rank);
    paths.insert(column.path);
  }
  const bool by_rank = ranks.size() == columns_.size() && *ranks.begin() >= 0;
  const std::unordered_map<std::string, std::string> names = run_names(paths);
  for (MergeColumn& column : columns_) {
    const std::string rank = column.rank < 0 ? std::string() : "rank" + std::to_string(column.rank);
    const std::string& run = names.at(column.path);
    column.label = by_rank ? rank : rank.empty() ? run : run + " " + rank;
  }
  if (by_rank)
    std::sort(columns_.begin(), columns_.end(),
              [](const MergeColumn& a, const MergeColumn& b) { return a.rank < b.rank; });
  // What no result has is told, and takes no column.
  for (size_t metric = metrics_.size(); metric-- > 0;) {
    const bool is_there = std::any_of(columns_.begin(), columns_.end(), [&](const MergeColumn& column) {
      return metric < column.values.size() && !column.values[metric].empty();
    });
    if (is_there) continue;
    if (!request_.metrics.empty()) missing_.insert(missing_.begin(), metrics_[metric]);
    metrics_.erase(metrics_.begin() + static_cast<std::ptrdiff_t>(metric));
    for (MergeColumn& column : columns_)
      if (metric < column.values.size())
        column.values.erase(column.values.begin() + static_cast<std::ptrdiff_t>(metric));
  }
}

std::vector<std::string> find_results(const std::vector<std::string>& paths, std::vector<Error>& problems) {
  std::vector<std::string> found;
  for (const std::string& path : paths)
    if (Status added = add_results(path, found, problems); !added.ok())
      problems.push_back(std::move(added).error());
  std::unordered_set<std::string> seen;
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const std::string& path) { return !seen.insert(path).second; }),
              found.end());
  return found;
}

}  // namespace ulpscope
