#include "measure/baseline.hpp"

#include <yaml-cpp/yaml.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "match/yaml_limits.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{16} << 20;

std::string place_of(const std::string& path, const YAML::Mark& mark) {
  return path + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

Error wrong(const std::string& path, const YAML::Mark& mark, const std::string& text) {
  return {Code::usage, place_of(path, mark) + ": " + text};
}

Result<AcceptedDifference> read_entry(const std::string& path, const YAML::Node& node) {
  if (!node.IsMap()) return wrong(path, node.Mark(), "expected {op, tensor, why}");
  AcceptedDifference entry;
  entry.place = place_of(path, node.Mark());
  for (const auto& member : node) {
    const std::string key = member.first.Scalar();
    if (!member.second.IsScalar()) return wrong(path, member.second.Mark(), "expected a text");
    if (key == "op")
      entry.op = member.second.Scalar();
    else if (key == "tensor")
      entry.tensor = member.second.Scalar();
    else if (key == "why")
      entry.why = member.second.Scalar();
    else
      return wrong(path, member.first.Mark(),
                   "unknown key '" + printable(key) + "', expected op, tensor or why");
  }
  if (entry.why.empty()) return wrong(path, node.Mark(), "an accepted difference needs a reason: why");
  return entry;
}

}  // namespace

Result<Baseline> load_baseline(const std::string& path) {
  Baseline baseline;
  if (path.empty()) return baseline;
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMaxFileBytes));
  ULPSCOPE_TRY(check_yaml(path, text));
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap() || root.size() != 1 || !root["accept"] || !root["accept"].IsSequence())
      return wrong(path, root.Mark(), "expected a map with one list, accept");
    for (const YAML::Node& node : root["accept"]) {
      ULPSCOPE_ASSIGN(AcceptedDifference entry, read_entry(path, node));
      baseline.push_back(std::move(entry));
    }
  } catch (const YAML::Exception& problem) {
    return wrong(path, problem.mark, problem.msg);
  }
  return baseline;
}

std::vector<std::string> apply_baseline(ResultTable& table, const Baseline& baseline) {
  if (baseline.empty()) return {};
  std::vector<bool> used(baseline.size());
  for (ResultRow& row : table.rows) {
    if (row.verdict != Verdict::fail && row.verdict != Verdict::warning) continue;
    const bool on_target = row.pair.target != kNoIndex;
    const DumpIndex& index = on_target ? *table.target : *table.golden;
    const ItemId item = on_target ? row.pair.target : row.pair.golden;
    const std::string_view op = index.text(index.ops()[index.items()[item].op].name);
    for (size_t i = 0; i < baseline.size(); ++i) {
      const AcceptedDifference& entry = baseline[i];
      if (!glob_match(entry.op, op) || !glob_match(entry.tensor, index.item_name(item))) continue;
      used[i] = true;
      row.verdict = Verdict::pass;
      if (!row.message.empty()) row.message += "; ";
      row.message += "accepted by " + entry.place + ": " + entry.why;
      break;
    }
  }
  std::vector<std::string> unused;
  for (size_t i = 0; i < baseline.size(); ++i)
    if (!used[i]) unused.push_back(baseline[i].place + ": accepts nothing that fails or warns in this run");
  return unused;
}

}  // namespace ulpscope
