#include "merge/merge_config.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "base/text.hpp"
#include "match/yaml_limits.hpp"
#include "report/metrics.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostBytes = 1 << 20;

struct ColumnName {
  std::string_view peer;
  std::string_view ours;
};

// MaxRelativeErr means the relative difference of the maxima in statistics tables, the largest relative error
// in others.
constexpr std::array<ColumnName, 25> kColumns = {{{"Max diff", "max_diff"},
                                                  {"Min diff", "min_diff"},
                                                  {"Mean diff", "mean_diff"},
                                                  {"L2norm diff", "l2norm_diff"},
                                                  {"MaxRelativeErr", "max_rel"},
                                                  {"MaxRelativeErr", "max_rel_err"},
                                                  {"MinRelativeErr", "min_rel"},
                                                  {"MeanRelativeErr", "mean_rel"},
                                                  {"NormRelativeErr", "l2norm_rel"},
                                                  {"NPU max", "target_max"},
                                                  {"NPU min", "target_min"},
                                                  {"NPU mean", "target_mean"},
                                                  {"NPU l2norm", "target_l2norm"},
                                                  {"Bench max", "golden_max"},
                                                  {"Bench min", "golden_min"},
                                                  {"Bench mean", "golden_mean"},
                                                  {"Bench l2norm", "golden_l2norm"},
                                                  {"Cosine", "cosine"},
                                                  {"EucDist", "euclidean"},
                                                  {"MaxAbsErr", "max_abs_err"},
                                                  {"One Thousandth Err Ratio", "within_1e-3"},
                                                  {"Five Thousandths Err Ratio", "within_5e-3"},
                                                  {"Result", "verdict"},
                                                  {"verdict", "verdict"},
                                                  {"Verdict", "verdict"}}};

Error bad_form(const std::string& path, const YAML::Mark& mark, const std::string& expected) {
  return {Code::usage, printable(path) + ":" + std::to_string(mark.line + 1) + ":" +
                           std::to_string(mark.column + 1) + ": expected " + expected};
}

Result<std::vector<std::string>> text_list(const std::string& path, const YAML::Node& root, const char* key) {
  std::vector<std::string> texts;
  const YAML::Node list = root[key];
  if (!list || list.IsNull()) return texts;
  if (!list.IsSequence()) return bad_form(path, list.Mark(), "a list under '" + std::string(key) + "'");
  for (const YAML::Node& each : list) {
    if (!each.IsScalar()) return bad_form(path, each.Mark(), "a text in the list '" + std::string(key) + "'");
    texts.push_back(each.Scalar());
  }
  return texts;
}

Result<MergeConfig> read_root(const std::string& path, const YAML::Node& root) {
  if (!root.IsMap()) return bad_form(path, root.Mark(), "the members 'api' and 'compare_index'");
  for (const auto& member : root) {
    const std::string key = member.first.IsScalar() ? member.first.Scalar() : std::string();
    if (key != "api" && key != "compare_index")
      return bad_form(path, member.first.Mark(), "'api' or 'compare_index', not '" + printable(key) + "'");
  }
  MergeConfig config;
  ULPSCOPE_ASSIGN(config.apis, text_list(path, root, "api"));
  ULPSCOPE_ASSIGN(const std::vector<std::string> columns, text_list(path, root, "compare_index"));
  for (const std::string& column : columns) {
    const std::vector<std::string> names = metrics_of_column(column);
    if (names.empty())
      config.notes.push_back("column '" + printable(column) + "' has no counterpart and is left out");
    config.metrics.insert(config.metrics.end(), names.begin(), names.end());
  }
  if (!columns.empty() && config.metrics.empty())
    return Error{Code::usage, printable(path) + ": none of the columns of 'compare_index' has a counterpart"};
  return config;
}

}  // namespace

std::vector<std::string> metrics_of_column(const std::string& column) {
  std::vector<std::string> names;
  for (const ColumnName& each : kColumns)
    if (each.peer == column) names.emplace_back(each.ours);
  if (!names.empty()) return names;
  const auto known = metric_columns();
  const bool is_ours =
      std::any_of(known.begin(), known.end(), [&](const MetricColumn& each) { return each.name == column; });
  // A judgement's own metric has a dot in its name, and is known only to the results.
  if (is_ours || column.find('.') != std::string::npos) names.push_back(column);
  return names;
}

Result<MergeConfig> read_merge_config(const std::string& path) {
  const auto file = File::open(path);
  const auto text = file.ok() ? file->read_text(kMostBytes) : Result<std::string>(file.error());
  // A configuration that is not there is the caller's mistake, not missing data.
  if (!text.ok()) return Error{Code::usage, text.error().message};
  ULPSCOPE_TRY(check_yaml(printable(path), *text));
  try {
    return read_root(path, YAML::Load(*text));
  } catch (const YAML::Exception& problem) {
    return bad_form(path, problem.mark, "YAML: " + problem.msg);
  }
}

}  // namespace ulpscope
