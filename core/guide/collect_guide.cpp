#include "guide/collect_guide.hpp"

#include <algorithm>
#include <array>

#include "guide/guide_rules.hpp"
#include "guide/python_source.hpp"
#include "locate/evidence.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

bool is_set(const GuideRequest& request, std::string_view name, std::string_view value) {
  const auto at = request.environment.find(name);
  return at != request.environment.end() && at->second == value;
}

std::string chosen_engine(const GuideRequest& request) {
  if (request.engine != "auto") return request.engine;
  if (!(*request.vllm < *parse_engine_version("0.11.0"))) return "v1";
  if (*request.vllm < *parse_engine_version("0.8.0"))
    return is_set(request, "VLLM_USE_V1", "1") ? "v1" : "v0";
  return is_set(request, "VLLM_USE_V1", "0") ? "v0" : "v1";
}

std::string chosen_runner(const GuideRequest& request) {
  if (request.model_runner != "auto") return request.model_runner;
  return is_set(request, "VLLM_USE_V2_MODEL_RUNNER", "1") ? "v2" : "v1";
}

// From 0.23.0 on vLLM takes model runner V2 by itself for some models.
bool is_runner_by_model(const GuideRequest& request, const CollectGuide& guide) {
  return guide.engine == "v1" && request.device == "gpu" && request.model_runner == "auto" &&
         !request.environment.contains("VLLM_USE_V2_MODEL_RUNNER") &&
         !(*request.vllm < *parse_engine_version("0.23.0"));
}

void add_process(CollectGuide& guide, std::string ranks, std::string en, std::string zh) {
  guide.processes.push_back({std::move(ranks), {std::move(en), std::move(zh)}});
}

void map_v0(const GuideRequest& request, CollectGuide& guide) {
  const bool many = request.tensor_parallel * request.pipeline_parallel > 1;
  if (request.mode == "offline") {
    add_process(guide, "0", "the user's process", "用户进程");
    if (many)
      add_process(guide, "1..", "one child each (VllmWorkerProcess), loop in _run_worker_process",
                  "各自一个子进程（VllmWorkerProcess），循环在 _run_worker_process");
    return;
  }
  if (request.pipeline_parallel == 1 && !request.disable_frontend_multiprocessing) {
    add_process(guide, "0", "a spawned engine process (run_mp_engine, class MQLLMEngine)",
                "独立的引擎进程（run_mp_engine，类 MQLLMEngine）");
    if (many)
      add_process(guide, "1..", "children of that engine process; not seen by code in run_engine_loop",
                  "该引擎进程的子进程；run_engine_loop 中的代码看不到它们");
    return;
  }
  add_process(guide, "0", "the API server process (AsyncLLMEngine)", "API 服务进程（AsyncLLMEngine）");
  if (many)
    add_process(guide, "1..", "children, loop in _run_worker_process", "子进程，循环在 _run_worker_process");
}

void map_v1(const GuideRequest& request, CollectGuide& guide) {
  const bool single = request.tensor_parallel * request.pipeline_parallel == 1;
  if (request.mode == "offline" && single && is_set(request, "VLLM_ENABLE_V1_MULTIPROCESSING", "0"))
    return add_process(guide, "0", "the user's process", "用户进程");
  if (single)
    return add_process(guide, request.data_parallel > 1 ? "each DP rank" : "0",
                       "a spawned engine core process", "独立的 engine core 进程");
  add_process(
      guide, "all",
      request.data_parallel > 1 ? "an engine core process per DP rank, and one worker process per TP×PP rank"
                                : "an engine core process, and one worker process per rank; none in the core",
      request.data_parallel > 1 ? "每个 DP rank 一个 engine core 进程，每个 TP×PP rank 一个 worker 进程"
                                : "一个 engine core 进程，每个 rank 一个 worker 进程；core 中没有 rank");
}

// The line of the def in the tree, and whether its class has get_model.
struct Found {
  std::optional<size_t> line;
  bool has_class = false, has_get_model = false;
};
Found find_in_tree(const GuideRequest& request, const Anchor& anchor) {
  Found found;
  if (!request.tree) return found;
  const TreeFile file = read_tree_file(*request.tree, anchor.file);
  if (file.problem != TreeFileProblem::none) return found;
  const PythonSource source = scan_python(file.content);
  size_t class_line = kNoLine;
  if (!anchor.class_name.empty()) {
    const auto classes = find_classes(source, anchor.class_name);
    if (classes.size() != 1) return found;
    class_line = classes[0];
    found.has_class = true;
    found.has_get_model = !find_functions(source, class_line, "get_model").empty();
  }
  const auto functions = find_functions(source, class_line, anchor.method);
  if (functions.size() == 1) found.line = source.logical[functions[0].def].first + 1;
  return found;
}

BothLanguages insertion_text(const Anchor& anchor) {
  if (anchor.method == "__init__")
    return {"make the collector before the first statement", "在第一条语句之前创建采集器"};
  if (anchor.id == "V0-P" || anchor.id == "V0-E")
    return {"start before the statement that runs the task, stop and step behind it",
            "在执行任务的语句之前 start，之后 stop 与 step"};
  if (anchor.method == "sample_tokens")
    return {"only with a window up to sampling: stop and step before every return",
            "仅当窗口延续到采样：每个 return 之前 stop 与 step"};
  return {"start before the first statement, stop and step before every return of the method's own",
          "第一条语句之前 start，方法自身的每个 return 之前 stop 与 step"};
}

// The newest places stand for those of a version that the table does not have yet.
bool is_tried(const Anchor& anchor, const GuideRequest& request, const AnchorTable& table) {
  return request.allow_unknown_shape && !table.knows(*request.vllm) && anchor.engine == "v1";
}

bool is_place(const Anchor& anchor, const GuideRequest& request, const AnchorTable& table,
              const CollectGuide& guide) {
  if (anchor.engine != guide.engine) return false;
  const bool ascend = anchor.project == "vllm_ascend";
  if (ascend) return request.device == "npu" && request.vllm_ascend && anchor.knows(*request.vllm_ascend);
  if (!anchor.knows(*request.vllm) && !is_tried(anchor, request, table)) return false;
  if (anchor.engine == "v1")
    return request.device == "gpu" && (anchor.runner == guide.runner || guide.runner_by_model);
  if (anchor.id == "V0-E")
    return request.mode == "online" && request.pipeline_parallel == 1 &&
           !request.disable_frontend_multiprocessing;
  if (anchor.id == "V0-P") return request.tensor_parallel * request.pipeline_parallel > 1;
  return true;
}

void add_places(const GuideRequest& request, const AnchorTable& table, CollectGuide& guide) {
  if (guide.engine == "v0" && request.mode == "offline")
    guide.places.push_back(
        {"V0-G",
         "the user's script",
         "",
         "",
         std::nullopt,
         {"around llm.generate(…): start with token_range before, stop and step behind; rank 0 only",
          "包住 llm.generate(…)：之前带 token_range start，之后 stop 与 step；仅 rank 0"},
         false,
         ""});
  for (const Anchor& anchor : table.anchors) {
    if (!is_place(anchor, request, table, guide)) continue;
    const Found found = find_in_tree(request, anchor);
    const bool may_be_gone = anchor.optional || !anchor.knows(*request.vllm);
    if (request.tree && !found.line && may_be_gone && anchor.project == "vllm") continue;
    guide.places.push_back({anchor.id, anchor.file, anchor.class_name, anchor.method, found.line,
                            insertion_text(anchor), anchor.id == "V0-W" || guide.engine == "v1", ""});
    // A wrapper that is no module may stand in self.model from 0.10.1 on: the collector refuses it.
    if (anchor.method == "execute_model" && guide.engine == "v1") {
      const bool early = *request.vllm < *parse_engine_version("0.10.1");
      if (!found.has_class || found.has_get_model)
        guide.model_expression =
            *request.vllm < *parse_engine_version("0.7.0") ? "self.model" : "self.get_model()";
      else if (early)
        guide.model_expression = "self.model";
    }
  }
  if (guide.engine == "v0")
    guide.model_expression = *request.vllm < *parse_engine_version("0.7.0") ? "self.model_runner.model"
                                                                            : "self.model_runner.get_model()";
}

void add_flags(const GuideRequest& request, CollectGuide& guide) {
  const auto add = [&](const std::string& flag, BothLanguages note = {}) {
    const std::string name = flag.substr(0, flag.find(' '));
    if (std::find(request.launch_flags.begin(), request.launch_flags.end(), name) ==
        request.launch_flags.end())
      guide.flags.push_back({flag, std::move(note)});
  };
  if (!request.enforce_eager) add("--enforce-eager");
  add("--max-num-seqs 1");
  add("--no-enable-prefix-caching");
  add("--max-num-batched-tokens N", {"at least the length of the prompt", "不小于 prompt 长度"});
  if (!(*request.vllm < *parse_engine_version("0.10.0")))
    add("--no-async-scheduling", {"where the option exists", "有该选项时"});
  if (guide.engine == "v0") add("--num-scheduler-steps 1");
}

void add_config(const GuideRequest& request, CollectGuide& guide) {
  if (request.step)
    guide.steps = {*request.step};
  else if (request.token)
    guide.steps = {*request.token};
  std::string steps;
  for (const int64_t step : guide.steps) steps += (steps.empty() ? "" : ", ") + std::to_string(step);
  std::string path;
  append_json_string(path, request.dump_path);
  guide.config_json =
      "{\n    \"task\": \"" + request.task + "\",\n    \"dump_path\": " + path +
      ",\n    \"rank\": [],\n    \"step\": [" + steps + "],\n    \"level\": \"" + request.level +
      "\",\n    \"async_dump\": false,\n    \"" + request.task +
      "\": {\n        \"scope\": [],\n        \"list\": [],\n        \"data_mode\": [\"all\"],\n        "
      "\"summary_mode\": \"statistics\"\n    }\n}\n";
}

void add_step_rules(const GuideRequest& request, CollectGuide& guide) {
  const std::string k = request.token ? std::to_string(*request.token) : "k";
  const std::string step = request.token ? "c - 1 + " + k : "c - 1 + k";
  guide.step_rules.push_back(
      {"token " + k + " comes from forward " + step +
           ", where c is the number of chunks of the "
           "prefill (1 if the prompt fits max_num_batched_tokens and no prefix is cached)",
       "token " + k + " 来自第 " + step +
           " 次前向，c 为 prefill 的块数（prompt 不超过 "
           "max_num_batched_tokens 且无前缀缓存时为 1）"});
  guide.step_rules.push_back(
      {"step number = steps counted before (earlier requests, warm-up) + forward; config.json " +
           (request.step
                ? "has the step that was given: " + std::to_string(*request.step)
                : "assumes a fresh process and c = 1" + std::string(request.token ? ": step " + k : "")),
       "步号 = 之前已计的步（更早的请求、预热）+ 前向序号；config.json " +
           (request.step ? "使用给定的步：" + std::to_string(*request.step)
                         : "假设新进程且 c = 1" + std::string(request.token ? "：step " + k : ""))});
  guide.step_rules.push_back({"\"step\" in config.json belongs to every place but V0-G, where token_range=[" +
                                  k + ", " + k + "] is given to start instead; never both",
                              "除 V0-G 外都用 config.json 的 \"step\"；V0-G 改为 start 时给 token_range=[" +
                                  k + ", " + k + "]；不可同用"});
  guide.step_rules.push_back(
      {"chunks and steps may differ between the sides: a ledger tells them (ulpscope instrument "
       "--ledger FILE --ledger-only, then ulpscope first-token-diff --golden-ledger … --problem-ledger …)",
       "两侧的块数与步号可能不同：用账本得知（ulpscope instrument --ledger FILE --ledger-only，再 "
       "ulpscope first-token-diff --golden-ledger … --problem-ledger …）"});
}

// How the model is reached from a place of V0.
std::string v0_model(const std::string& anchor, bool late) {
  const std::string end = late ? "get_model()" : "model";
  const std::string worker = late ? "driver_worker.worker.model_runner." : "driver_worker.model_runner.";
  if (anchor == "V0-G") return "llm.llm_engine.model_executor." + worker + end;
  if (anchor == "V0-E") return "self.engine.model_executor." + worker + end;
  if (anchor == "V0-P") return "worker.worker.model_runner." + end;
  return "self.model_runner." + end;
}

void add_starts(const GuideRequest& request, CollectGuide& guide) {
  const bool late = !(*request.vllm < *parse_engine_version("0.7.0"));
  for (GuidePlace& place : guide.places) {
    if (place.method == "__init__" || place.method == "sample_tokens") continue;
    const std::string model = guide.engine == "v0" ? v0_model(place.anchor, late) : guide.model_expression;
    std::string arguments = request.level == "L1" ? "" : "model=" + model;
    if (place.anchor == "V0-G") {
      const std::string k = request.token ? std::to_string(*request.token) : "k";
      // token_range needs the model at every level.
      arguments = "model=";
      arguments.append(model).append(", token_range=[").append(k).append(", ").append(k).append("]");
    }
    place.start = "debugger.start(" + arguments + ")";
  }
}

// wrap: it encloses a call with whatever its returns run, and depends on no shape.
std::string instrument_command(const GuideRequest& request, const AnchorTable& table,
                               const CollectGuide& guide) {
  const std::string tree = request.tree ? shell_word(request.tree->root) : "DIR";
  std::string command = "ulpscope instrument --tree " + tree;
  command += " --apply --style wrap --engine " + guide.engine;
  command += " --device " + request.device;
  if (request.level != "mix") command += " --level " + request.level;
  if (!table.knows(*request.vllm)) command += " --allow-unknown-shape";
  const std::string& config = request.config_path;
  return command + " --config " + (config.empty() ? "/path/to/config.json" : shell_word(config));
}

}  // namespace

std::string_view to_text(RuleKind kind) {
  constexpr std::array<std::string_view, 3> kWords = {"error", "warning", "note"};
  return kWords[static_cast<size_t>(kind)];
}

bool CollectGuide::has_error() const {
  return std::any_of(rules.begin(), rules.end(),
                     [](const RuleHit& hit) { return hit.kind == RuleKind::error; });
}

bool CollectGuide::has_warning() const {
  return std::any_of(rules.begin(), rules.end(),
                     [](const RuleHit& hit) { return hit.kind == RuleKind::warning; });
}

CollectGuide collect_guide(const GuideRequest& request, const AnchorTable& table) {
  CollectGuide guide;
  guide.engine = chosen_engine(request);
  guide.runner = guide.engine == "v0" ? "v1" : chosen_runner(request);
  guide.runner_by_model = is_runner_by_model(request, guide);
  if (guide.engine == "v0")
    map_v0(request, guide);
  else
    map_v1(request, guide);
  add_places(request, table, guide);
  if (!guide.places.empty())
    guide.start =
        request.level == "L1" ? "debugger.start()" : "debugger.start(model=" + guide.model_expression + ")";
  const bool patched = std::any_of(guide.places.begin(), guide.places.end(),
                                   [](const GuidePlace& place) { return !place.file.ends_with("script"); });
  if (patched) guide.instrument = instrument_command(request, table, guide);
  guide.stop = "debugger.stop(); debugger.step()";
  add_starts(request, guide);
  add_flags(request, guide);
  add_config(request, guide);
  add_step_rules(request, guide);
  apply_guide_rules(request, table, guide);
  return guide;
}

}  // namespace ulpscope
