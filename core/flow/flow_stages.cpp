#include "flow/flow_stages.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/acl_tree.hpp"

namespace ulpscope {
namespace {

Result<std::optional<FusionGraph>> read_graph(const Stage& stage, const std::string& source) {
  std::string path = stage.fusion;
  if (path.empty() && source == "acl_om") {
    ULPSCOPE_ASSIGN(const AclTree tree, find_acl_tree(stage.dump));
    ULPSCOPE_ASSIGN(const FusionFile found, find_fusion_json(tree, tree.leaves[0]));
    if (!found.unreadable.empty()) return Error{Code::io, found.unreadable[0]};
    path = found.path;
  }
  if (path.empty()) return std::optional<FusionGraph>();
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  ULPSCOPE_ASSIGN(FusionGraph graph, FusionGraph::read(file));
  return std::optional<FusionGraph>(std::move(graph));
}

// The keys of the tensors that leave the model.
std::vector<std::string> final_keys(const StageDump& stage) {
  std::vector<std::string> keys;
  if (!stage.graph) return keys;
  for (uint32_t op = 0; op < stage.graph->ops().size(); ++op) {
    const FusionOp& row = stage.graph->ops()[op];
    if (row.type != "NetOutput") continue;
    for (uint32_t i = 0; i < row.inputs.size(); ++i)
      if (const FusionKey key = stage.graph->input_key(op, i); !key.text.empty()) keys.push_back(key.text);
  }
  return keys;
}

bool is_final(const std::vector<std::string>& keys, const StageComparison& comparison, const ComparedOp& op,
              const ComparedOutput& output) {
  if (keys.empty()) return &op == &comparison.ops.back();
  return std::find(keys.begin(), keys.end(), output.key) != keys.end();
}

}  // namespace

Status FlowStages::check_model(const StageDump& stage, const std::string& fusion) {
  if (!stage.graph || stage.index.ops().empty()) return {};
  size_t known = 0;
  for (const OpRow& op : stage.index.ops())
    known += stage.graph->find(stage.index.text(op.name)) == kNoIndex ? 0 : 1;
  const size_t all = stage.index.ops().size();
  if (known * 2 >= all) return {};
  return Error{Code::format, "stage " + stage.name + ": only " + std::to_string(known) + " of its " +
                                 std::to_string(all) + " operators are in " +
                                 (fusion.empty() ? "the json of its model" : fusion) +
                                 ": it is that of another build"};
}

Status FlowStages::check_same_input(const StageDump& stage) {
  const auto origin = opened_.find("origin");
  if (stage.name == "origin" || stage.name == "data_checked" || origin == opened_.end()) return {};
  ULPSCOPE_ASSIGN(const std::vector<ComparedInput> inputs,
                  compare_inputs(stage, origin->second.get(), origin->second->index, *host_.pool,
                                 *host_.cancel, *host_.diagnostics));
  for (const ComparedInput& input : inputs)
    if (input.compared && !input.equal)
      return Error{Code::format, "stage " + stage.name + ": its input " + printable(input.name) +
                                     " is not that of stage origin: stages were not run with the same input"};
  return {};
}

Result<const StageDump*> FlowStages::stage(const std::string& name) {
  if (const auto found = opened_.find(name); found != opened_.end()) return found->second.get();
  const Stage& described = *file_.find(name);
  auto graph = read_graph(described, file_.source);
  if (!graph.ok()) return std::move(graph).error().within("stage " + name);
  auto index = host_.open(described.dump, file_.source, described.fusion);
  if (!index.ok()) return std::move(index).error().within("stage " + name);
  if (index->groups().size() > 1)
    return Error{Code::usage, "stage " + name + ": " + std::to_string(index->groups().size()) +
                                  " steps or devices in its dump, name one of them"};
  auto stage =
      std::make_unique<StageDump>(StageDump{name, std::move(index).value(), std::move(graph).value()});
  ULPSCOPE_TRY(check_whole("stage " + name));
  ULPSCOPE_TRY(check_model(*stage, described.fusion));
  ULPSCOPE_TRY(check_same_input(*stage));
  return (opened_[name] = std::move(stage)).get();
}

// What cannot be read may be what is at fault: nothing is concluded over it.
Status FlowStages::check_whole(const std::string& place) const {
  const int64_t lost = host_.diagnostics->count(Severity::error);
  if (lost == 0) return {};
  return Error{Code::io, place + ": " + count_text(lost) +
                             (lost == 1 ? " part of its dump" : " parts of its dump") +
                             " cannot be read, expected all of it; nothing is concluded"};
}

Result<StageComparison> FlowStages::whole(Result<StageComparison> comparison,
                                          const std::string& place) const {
  if (!comparison.ok()) return comparison;
  ULPSCOPE_TRY(check_whole(place));
  if (comparison->unreadable == 0) return comparison;
  return Error{Code::io, place + ": " + count_text(comparison->unreadable) +
                             (comparison->unreadable == 1 ? " tensor" : " tensors") +
                             " cannot be compared, data is missing or unreadable; nothing is concluded"};
}

Result<const DumpIndex*> FlowStages::golden() {
  if (golden_) return golden_.get();
  auto index = host_.open(file_.golden, "auto", "");
  if (!index.ok()) return std::move(index).error().within("golden");
  ULPSCOPE_TRY(check_whole("golden"));
  golden_ = std::make_unique<DumpIndex>(std::move(index).value());
  return golden_.get();
}

Result<StageComparison> FlowStages::compare(const std::string& mine, const std::string& reference) {
  ULPSCOPE_ASSIGN(const StageDump* m, stage(mine));
  ULPSCOPE_ASSIGN(const StageDump* r, stage(reference));
  return whole(compare_stages(*m, r->index, {file_.op_limit}, *host_.pool, *host_.cancel, *host_.diagnostics),
               "stage " + mine + " against " + reference);
}

Result<StageComparison> FlowStages::compare_with_golden(const std::string& mine) {
  ULPSCOPE_ASSIGN(const StageDump* m, stage(mine));
  ULPSCOPE_ASSIGN(const DumpIndex* g, golden());
  return whole(compare_stages(*m, *g, {file_.op_limit}, *host_.pool, *host_.cancel, *host_.diagnostics),
               "stage " + mine + " against golden");
}

Result<std::vector<ComparedInput>> FlowStages::inputs_against_golden(const std::string& mine) {
  ULPSCOPE_ASSIGN(const StageDump* m, stage(mine));
  ULPSCOPE_ASSIGN(const DumpIndex* g, golden());
  return compare_inputs(*m, nullptr, *g, *host_.pool, *host_.cancel, *host_.diagnostics);
}

Result<StageVerdict> FlowStages::verdict(const std::string& name) {
  StageVerdict verdict;
  const Stage& described = *file_.find(name);
  if (described.met) {
    verdict.met = described.met;
    verdict.by = "user";
  }
  if (!has_golden()) return verdict;
  ULPSCOPE_ASSIGN(const StageDump* mine, stage(name));
  ULPSCOPE_ASSIGN(const StageComparison comparison, compare_with_golden(name));
  const std::vector<std::string> keys = final_keys(*mine);
  bool met = true, any = false;
  for (const ComparedOp& op : comparison.ops)
    for (const ComparedOutput& output : op.outputs) {
      if (!output.compared || !is_final(keys, comparison, op, output)) continue;
      any = true;
      met &= !output.nonfinite && output.cosine.value_or(0) >= file_.accuracy_limit;
      if (output.cosine && (!verdict.final_cosine || *output.cosine < *verdict.final_cosine))
        verdict.final_cosine = output.cosine;
    }
  if (any && !verdict.met) {
    verdict.met = met;
    verdict.by = "computed";
  }
  return verdict;
}

}  // namespace ulpscope
