#include "cli/locate_json.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/context.hpp"
#include "flow/request.hpp"

namespace ulpscope {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json first_json(const FirstDifference& first) {
  return {{"op", first.op},
          {"op_type", first.op_type},
          {"output", first.output},
          {"cosine", optional(first.cosine)},
          {"original_ops", first.original_ops},
          {"inputs", std::string(to_text(first.inputs))}};
}

Json input_json(const ComparedInput& input) {
  Json out = {{"name", input.name},
              {"equal", input.equal},
              {"cosine", optional(input.cosine)},
              {"max_abs_err", optional(input.max_abs_err)}};
  if (!input.problem.empty()) out["problem"] = input.problem;
  return out;
}

Json step_json(const FlowStep& step) {
  Json out = {{"step", step.step},
              {"stage", step.stage},
              {"final_cosine", optional(step.final_cosine)},
              {"met", optional(step.met)}};
  if (!step.met_by.empty()) out["met_by"] = step.met_by;
  if (step.round > 0) out["round"] = step.round;
  if (step.compares) {
    out["mine"] = step.mine;
    out["reference"] = step.reference;
    out["first"] = step.first ? first_json(*step.first) : Json(nullptr);
    out["below_limit"] = Json::array();
    out["differing"] = Json::array();
    for (const DifferingOp& op : step.below_limit) {
      out["below_limit"].push_back(op.op);
      out["differing"].push_back({{"op", op.op},
                                  {"op_type", op.op_type},
                                  {"original_ops", op.original_ops},
                                  {"cosine", optional(op.cosine)},
                                  {"inputs", std::string(to_text(op.inputs))}});
    }
    out["keep_list"] = step.keep_list;
  }
  if (!step.inputs.empty()) {
    out["inputs"] = Json::array();
    for (const ComparedInput& input : step.inputs) out["inputs"].push_back(input_json(input));
  }
  if (!step.notes.empty()) out["notes"] = step.notes;
  out["next"] = step.next;
  return out;
}

Json ask_json(const FlowRequest& ask, const std::string& folder, const std::string& stage_file) {
  Json out = {{"stage", ask.stage}, {"instructions", request_lines(ask, folder, stage_file)}};
  if (!ask.question.empty()) {
    out["question"] = ask.question;
    return out;
  }
  out["options"] = ask.options;
  out["removed_options"] = ask.removed_options;
  out["runtime"] = {{"acl_json", "acl.json"}, {"runs", 1}, {"input_data", "that of stage origin"}};
  out["fusion_json"] = "atc --mode=1 --om=MODEL.om --json=fusion.json";
  out["files"] = ask.files;
  out["folder"] = folder;
  if (!ask.keep.empty()) out["keep"] = ask.keep;
  return out;
}

}  // namespace

std::string locate_json(const FlowResult& result, const StageFile& stages, const std::string& folder,
                        const std::string& stage_file) {
  Json out = {{"schema", "ulpscope.locate/1"}, {"version", std::string(product_version())},
              {"stage_file", stage_file},      {"golden", stages.golden},
              {"op_limit", stages.op_limit},   {"accuracy_limit", stages.accuracy_limit}};
  out["stages"] = Json::array();
  for (const Stage& stage : stages.stages)
    out["stages"].push_back({{"name", stage.name},
                             {"dump", stage.dump},
                             {"fusion", stage.fusion},
                             {"met", optional(stage.met)},
                             {"keep", stage.keep}});
  out["steps"] = Json::array();
  for (const FlowStep& step : result.steps) out["steps"].push_back(step_json(step));
  out["outcome"] = result.outcome;
  out["keep_list"] = result.keep_list;
  out["ask"] = result.ask ? ask_json(*result.ask, folder, stage_file) : Json(nullptr);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ulpscope
