#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/flow_run.hpp"
#include "cli/table.hpp"
#include "cli/wrap_text.hpp"
#include "formats/atb_config.hpp"
#include "guide/collect_guide.hpp"
#include "guide/determinism.hpp"
#include "report/json_text.hpp"
#include "report/output_file.hpp"

namespace ulpscope {
namespace {

// What a topic answers: text in the language asked for, JSON in English.
struct Topic {
  std::string text, json;
  ExitCode code = ExitCode::success;
};

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string as_json_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + as_json(text);
  return out + "]";
}

std::string say(GuideLanguage language, std::string_view en, std::string_view zh) {
  return std::string(language == GuideLanguage::english ? en : zh);
}

std::string json_head(std::string_view topic) {
  return "{\"schema\": \"ulpscope.guide/1\", \"topic\": " + as_json(topic);
}

Topic symptoms_topic(GuideLanguage language) {
  Topic topic;
  topic.json = json_head("symptoms") + ",\n \"symptoms\": [";
  for (const GuideSymptom& each : symptoms()) {
    topic.text += std::string(each.label) + "\n" + wrap_text(each.seen.in(language), 4, line_limit()) +
                  wrap_text("→ " + each.decided_by.in(language), 4, line_limit());
    topic.json += (each.label == symptoms().front().label ? "\n  {\"label\": " : ",\n  {\"label\": ") +
                  as_json(each.label) + ", \"seen\": " + as_json(each.seen.en) +
                  ", \"decided_by\": " + as_json(each.decided_by.en) + "}";
  }
  topic.text += say(language, "\ncauses: most are mistakes in practice, not numeric error\n\n",
                    "\n常见原因：多数是使用问题，而非数值误差\n\n");
  topic.json += "],\n \"causes\": [";
  bool first = true;
  for (const GuideCause& each : causes()) {
    topic.text += wrap_text(each.group.in(language) + ": " + each.cause.in(language), 0, line_limit()) +
                  wrap_text(each.looks.in(language), 4, line_limit()) +
                  wrap_text("→ " + each.check.in(language), 4, line_limit());
    topic.json += (first ? "\n  {\"group\": " : ",\n  {\"group\": ") + as_json(each.group.en) +
                  ", \"cause\": " + as_json(each.cause.en) + ", \"looks_like\": " + as_json(each.looks.en) +
                  ", \"first_check\": " + as_json(each.check.en) + "}";
    first = false;
  }
  topic.json += "]}\n";
  return topic;
}

Topic checklist_topic(GuideLanguage language) {
  Topic topic;
  topic.text = wrap_text(say(language,
                             "equal on both sides, or the difference explained (ulpscope config-check "
                             "compares them)",
                             "两侧须一致，或差异有解释（ulpscope config-check 自动比较）"),
                         0, line_limit()) +
               "\n";
  topic.json = json_head("checklist") + ",\n \"items\": [";
  int number = 0;
  for (const BothLanguages& item : checklist()) {
    topic.text += wrap_text(std::to_string(++number) + ". " + item.in(language), 0, line_limit());
    topic.json += (number == 1 ? "\n  " : ",\n  ") + as_json(item.en);
  }
  topic.json += "]}\n";
  return topic;
}

Topic determinism_topic(const std::string& device, bool batch_invariant, GuideLanguage language) {
  const Determinism facts = determinism(device, batch_invariant);
  Topic topic;
  topic.text = determinism_script(facts, language);
  topic.json = json_head("determinism") + ", \"device\": " + as_json(device) + ",\n \"environment\": {";
  for (const DeterminismLine& line : facts.variables)
    topic.json += (line.name == facts.variables.front().name ? "" : ", ") + as_json(line.name) + ": " +
                  as_json(line.value);
  topic.json += "},\n \"flags\": " + as_json_list(facts.flags) + ",\n \"notes\": [";
  for (size_t i = 0; i < facts.notes.size(); ++i)
    topic.json += (i == 0 ? "" : ", ") + as_json(facts.notes[i].en);
  topic.json += "]}\n";
  return topic;
}

std::string place_text(const GuidePlace& place, GuideLanguage language) {
  std::string text = place.anchor + "  " + place.file;
  if (place.line) text += ":" + std::to_string(*place.line);
  if (!place.method.empty())
    text += "  " + (place.class_name.empty() ? "" : place.class_name + ".") + place.method;
  if (place.recommended) text += say(language, "  (recommended)", "  （推荐）");
  text += "\n" + wrap_text(place.what.in(language), 4, line_limit());
  return place.start.empty() ? text : text + "    " + place.start + "\n";
}

std::string kind_text(RuleKind kind, GuideLanguage language) {
  constexpr const char* kChinese[] = {"错误", "告警", "提示"};
  return say(language, std::string(to_text(kind)), kChinese[static_cast<size_t>(kind)]);
}

std::string collect_text(const CollectGuide& guide, GuideLanguage language) {
  const auto head = [&](const char* number, const char* en, const char* zh) {
    return std::string(number) + " " + say(language, en, zh) + "\n";
  };
  const size_t limit = line_limit();
  std::string out = head("1", "processes", "进程") + say(language, "  engine ", "  引擎 ") + guide.engine +
                    (guide.engine == "v1" ? ", model runner " + guide.runner : "") + "\n";
  for (const GuideProcess& each : guide.processes)
    out += wrap_text("rank " + each.ranks + ": " + each.process.in(language), 2, limit);
  out += head("2", "places", "位置");
  for (const GuidePlace& place : guide.places) out += "  " + place_text(place, language);
  if (guide.places.empty()) out += say(language, "  nothing to patch\n", "  无需修改代码\n");
  if (!guide.instrument.empty())
    out += wrap_text(say(language, "recommended, encloses each call with whatever its returns run:",
                         "推荐，包住整个调用（含 return 中执行的代码）："),
                     2, limit) +
           "    " + guide.instrument + "\n";
  out += head("3", "start and stop", "启动与停止");
  out += guide.start.empty() ? say(language, "  nothing to insert\n", "  无需插入\n")
                             : "  " + guide.start + "\n  " + guide.stop + "\n";
  out += head("4", "launch flags to add", "需要添加的启动参数");
  for (const GuideFlag& flag : guide.flags) {
    const std::string& note = flag.note.in(language);
    out += "  " + flag.text + (note.empty() ? "" : "  # " + note) + "\n";
  }
  out += head("5", "config.json", "config.json") + guide.config_json;
  out += head("6", "from token to step", "从 token 到步");
  for (const BothLanguages& rule : guide.step_rules) out += wrap_text(rule.in(language), 2, limit);
  out += head("7", "warnings", "告警");
  for (const RuleHit& hit : guide.rules)
    out += wrap_text(
        kind_text(hit.kind, language) + (hit.id.empty() ? "" : " " + hit.id) + ": " + hit.text.in(language),
        2, limit);
  return out;
}

std::string collect_json(const CollectGuide& guide, const GuideRequest& request) {
  std::string out =
      json_head("collect") + ", \"framework\": \"vllm\", \"vllm\": " + as_json(request.vllm->text) +
      ", \"vllm_ascend\": " + (request.vllm_ascend ? as_json(request.vllm_ascend->text) : "null") +
      ", \"engine\": " + as_json(guide.engine) + ", \"model_runner\": " + as_json(guide.runner) +
      ",\n \"processes\": [";
  for (size_t i = 0; i < guide.processes.size(); ++i)
    out += (i > 0 ? ", {\"ranks\": " : "{\"ranks\": ") + as_json(guide.processes[i].ranks) +
           ", \"process\": " + as_json(guide.processes[i].process.en) + "}";
  out += "],\n \"anchors\": [";
  for (size_t i = 0; i < guide.places.size(); ++i) {
    const GuidePlace& place = guide.places[i];
    out += (i > 0 ? ",\n  {\"id\": " : "\n  {\"id\": ") + as_json(place.anchor) +
           ", \"file\": " + as_json(place.file) + ", \"class\": " + as_json(place.class_name) +
           ", \"method\": " + as_json(place.method) +
           ", \"line\": " + (place.line ? std::to_string(*place.line) : "null") +
           ", \"insert\": " + as_json(place.what.en) +
           ", \"start\": " + (place.start.empty() ? "null" : as_json(place.start)) +
           ", \"recommended\": " + (place.recommended ? "true" : "false") + "}";
  }
  std::vector<std::string> flags;
  for (const GuideFlag& flag : guide.flags)
    flags.push_back(flag.text + (flag.note.en.empty() ? "" : "  # " + flag.note.en));
  out += "],\n \"start\": " + as_json(guide.start) + ", \"stop\": " + as_json(guide.stop) +
         ", \"instrument\": " + (guide.instrument.empty() ? "null" : as_json(guide.instrument)) +
         ", \"model\": " + as_json(guide.model_expression) + ",\n \"flags\": " + as_json_list(flags) +
         ",\n \"config\": " + guide.config_json + ", \"step_rules\": [";
  for (size_t i = 0; i < guide.step_rules.size(); ++i)
    out += (i > 0 ? ",\n  " : "\n  ") + as_json(guide.step_rules[i].en);
  out += "],\n \"rules\": [";
  for (size_t i = 0; i < guide.rules.size(); ++i)
    out += (i > 0 ? ",\n  {\"id\": " : "\n  {\"id\": ") +
           (guide.rules[i].id.empty() ? "null" : as_json(guide.rules[i].id)) +
           ", \"severity\": " + as_json(to_text(guide.rules[i].kind)) +
           ", \"text\": " + as_json(guide.rules[i].text.en) + "}";
  return out + "]}\n";
}

Status write_config(const ParsedOptions& options, const std::string& text) {
  const auto path = options.text("emit_config");
  if (!path) return {};
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(*path));
  file.text() += text;
  return file.commit();
}

Result<std::optional<EngineVersion>> version_option(const ParsedOptions& options, const char* name) {
  const auto text = options.text(name);
  if (!text) return std::optional<EngineVersion>();
  auto version = parse_engine_version(*text);
  if (!version)
    return Error{Code::usage, "option --" + std::string(name) + ": '" + printable(*text) +
                                  "', expected a version such as 0.9.1"};
  return std::optional<EngineVersion>(std::move(version));
}

Result<GuideRequest> read_request(const ParsedOptions& options) {
  constexpr int64_t kMostRanks = 1'000'000;
  GuideRequest request;
  if (const auto root = options.text("tree")) {
    ULPSCOPE_ASSIGN(EngineTree tree, read_engine_tree(*root));
    request.vllm = tree.vllm;
    request.vllm_ascend = tree.vllm_ascend;
    request.tree = std::move(tree);
  }
  ULPSCOPE_ASSIGN(auto vllm, version_option(options, "vllm_version"));
  ULPSCOPE_ASSIGN(auto ascend, version_option(options, "ascend_version"));
  if (vllm) request.vllm = std::move(vllm);
  if (ascend) request.vllm_ascend = std::move(ascend);
  if (!request.vllm)
    return Error{Code::usage, options.has("tree")
                                  ? "the tree does not say its version of vLLM: give --vllm-version"
                                  : "the version of vLLM is missing: --tree DIR or --vllm-version VERSION"};
  ULPSCOPE_ASSIGN(request.engine, options.choice("engine", {"auto", "v0", "v1"}));
  ULPSCOPE_ASSIGN(request.model_runner, options.choice("model_runner", {"auto", "v1", "v2"}));
  ULPSCOPE_ASSIGN(request.mode, options.choice("mode", {"offline", "online"}));
  ULPSCOPE_ASSIGN(request.device, options.choice("device", {"gpu", "npu"}));
  // A tree with vllm-ascend in it is an NPU's.
  if (!options.has("device") && request.vllm_ascend) request.device = "npu";
  ULPSCOPE_ASSIGN(request.level, options.choice("level", {"mix", "L0", "L1"}));
  ULPSCOPE_ASSIGN(request.task, options.choice("task", {"statistics", "tensor"}));
  ULPSCOPE_ASSIGN(request.tensor_parallel, options.integer("tp", 1, 1, kMostRanks));
  ULPSCOPE_ASSIGN(request.pipeline_parallel, options.integer("pp", 1, 1, kMostRanks));
  ULPSCOPE_ASSIGN(request.data_parallel, options.integer("dp", 1, 1, kMostRanks));
  if (options.has("token")) {
    ULPSCOPE_ASSIGN(const int64_t token, options.integer("token", 0, 0, INT32_MAX));
    request.token = token;
  }
  if (options.has("step")) {
    ULPSCOPE_ASSIGN(const int64_t step, options.integer("step", 0, 0, INT32_MAX));
    request.step = step;
  }
  request.disable_frontend_multiprocessing = options.has("disable_frontend_multiprocessing");
  request.enforce_eager = options.has("enforce_eager");
  request.allow_unknown_shape = options.has("allow_unknown_shape");
  request.dump_path = options.text_or("dump_path", request.dump_path);
  std::error_code failed;
  if (const auto path = options.text("emit_config"))
    request.config_path = std::filesystem::absolute(*path, failed).lexically_normal().string();
  for (const std::string& assignment : options.all("env")) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      return Error{Code::usage, "option --env: '" + printable(assignment) + "', expected NAME=VALUE"};
    request.environment[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
  for (const auto& [option, flag] : {std::pair{"max_num_seqs", "--max-num-seqs"},
                                     {"no_enable_prefix_caching", "--no-enable-prefix-caching"},
                                     {"max_num_batched_tokens", "--max-num-batched-tokens"},
                                     {"no_async_scheduling", "--no-async-scheduling"}})
    if (options.has(option)) request.launch_flags.emplace_back(flag);
  return request;
}

Result<Topic> collect_topic(const ParsedOptions& options, GuideLanguage language) {
  ULPSCOPE_ASSIGN(const GuideRequest request, read_request(options));
  ULPSCOPE_ASSIGN(const AnchorTable table, AnchorTable::builtin());
  const CollectGuide guide = collect_guide(request, table);
  Topic topic{collect_text(guide, language), collect_json(guide, request), ExitCode::success};
  if (guide.has_error())
    topic.code = ExitCode::usage;
  else if (guide.has_warning() && options.has("strict"))
    topic.code = ExitCode::finding;
  if (!guide.has_error()) ULPSCOPE_TRY(write_config(options, guide.config_json));
  return topic;
}

// token: the option as it is to be given again; empty: none.
std::vector<BothLanguages> mindie_steps(const std::string& phase, const std::string& token) {
  const std::string next = "ulpscope guide --framework mindie --phase op --ids 5" + token;
  if (phase == "layer")
    return {{"run good and bad, compare the folders of one execution round, take the earliest layer with a "
             "problem "
             "(5_Prefill_layer: id 5)",
             "好坏各跑一次，比较同一轮次目录，取最早有问题的层（5_Prefill_layer：id 5）"},
            {"then: " + next, "然后：" + next}};
  return {{"run again, compare, take the first operation or kernel whose inputs agree and outputs do not",
           "重跑并比较，取输入一致而输出不一致的第一个 operation 或 kernel"},
          {"repeat it alone; if it is right alone, suspect memory overwritten",
           "单独重放；单独正确则怀疑内存踩踏"}};
}

Result<Topic> mindie_topic(const ParsedOptions& options, GuideLanguage language) {
  ULPSCOPE_ASSIGN(const std::string phase, options.choice("phase", {"layer", "op"}));
  AtbConfig config;
  config.ids = options.text_or("ids", "");
  config.save_child = phase == "op";
  config.exec_range = "0,0";
  if (phase == "op" && config.ids.empty())
    return Error{Code::usage, "--phase op needs --ids: the id of the first bad layer, 5 of 5_Prefill_layer"};
  if (phase == "layer" && !config.ids.empty())
    return Error{Code::usage, "--ids belongs to --phase op; --phase layer looks at every layer"};
  if (config.ids.find_first_not_of("0123456789,_") != std::string::npos)
    return Error{Code::usage,
                 "option --ids: '" + printable(config.ids) + "', expected ids such as 5 or 4,5_1"};
  std::string round = say(language, "decode round k-1 (token 0: prefill round 0)",
                          "decode 第 k-1 轮（token 0：prefill 第 0 轮）");
  if (options.has("token")) {
    ULPSCOPE_ASSIGN(const int64_t token, options.integer("token", 0, 0, INT32_MAX));
    const std::string number = std::to_string(token > 0 ? token - 1 : 0);
    config.exec_range = number + "," + number;
    round = (token == 0 ? "prefill " : "decode ") + say(language, "round ", "轮次 ") + number;
  }
  const std::string text = atb_config_text(config), path = options.text_or("emit_config", "config.json");
  ULPSCOPE_TRY(write_config(options, text.ends_with("\n") ? text : text + "\n"));
  const std::string load = atb_load_line(path, options.text_or("dump_path", "./ulpscope_dump"));
  const std::vector<BothLanguages> steps =
      mindie_steps(phase, options.has("token") ? " --token " + options.text_or("token", "") : "");
  const BothLanguages check = {
      "prefill and decode are separate models of ATB; check once with exec_range all (not verified on "
      "hardware)",
      "prefill 与 decode 是不同的 ATB 模型；请先用 exec_range all 核对一次（未在硬件上验证）"};
  Topic topic;
  topic.text = "config.json\n" + text + (text.ends_with("\n") ? "" : "\n") +
               say(language, "load before MindIE is started\n", "启动 MindIE 之前加载\n") + load + "\n" +
               round + "\n";
  topic.json = json_head("collect") + ", \"framework\": \"mindie\", \"phase\": " + as_json(phase) +
               ", \"config\": " + text + ", \"load\": " + as_json(load) +
               ", \"exec_range\": " + as_json(config.exec_range) + ", \"steps\": [";
  for (const BothLanguages& step : steps) {
    topic.text += step.in(language) + "\n";
    topic.json += (topic.json.ends_with("[") ? "" : ", ") + as_json(step.en);
  }
  topic.text += check.in(language) + "\n";
  topic.json += ", " + as_json(check.en) + "]}\n";
  return topic;
}

Result<Topic> topic_of(const std::string& name, const ParsedOptions& options, const std::string& framework,
                       const std::string& device, GuideLanguage language) {
  if (name == "symptoms") return symptoms_topic(language);
  if (name == "checklist") return checklist_topic(language);
  if (name == "determinism") return determinism_topic(device, options.has("batch_invariant"), language);
  if (framework == "mindie") return mindie_topic(options, language);
  return collect_topic(options, language);
}

class GuideCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "guide";
    info.group = CommandGroup::incident;
    info.summary = "Says where and how to collect, and what to check before";
    info.synopsis = "[symptoms | checklist | determinism | collect | flow [DIR]]";
    info.description =
        "collect (the default) prints, for an engine, version, launch mode and device: the processes, the "
        "places to patch, the "
        "start, launch flags, config.json, the step of a token, and warnings. It never touches a tree; "
        "instrument does. Exit "
        "code 2 when the request cannot work.";
    info.example = "ulpscope guide --vllm-version 0.9.1 --device npu --mode online --tp 2 --token 5";
    info.max_positional = 2;
    info.writes_output = true;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    const auto value = [](const char* name, const char* what, const char* doc) {
      return OptionSpec{name, {}, OptionKind::value, what, doc};
    };
    const auto flag = [](const char* name, const char* doc) {
      return OptionSpec{name, {}, OptionKind::flag, "", doc};
    };
    return {
        value("framework", "NAME", "vllm (default) or mindie"),
        value("tree", "DIR", "folder that holds vllm/ (and vllm_ascend/): version and line numbers"),
        value("vllm_version", "VERSION", "when there is no tree"),
        value("ascend_version", "VERSION", "the same of vllm-ascend"),
        value("engine", "NAME", "v0 or v1; default: what the version chooses"),
        value("model_runner", "NAME", "v1 or v2"),
        value("mode", "NAME", "offline (default) or online"),
        value("tp", "N", "tensor parallel size"),
        value("pp", "N", "pipeline parallel size"),
        value("dp", "N", "data parallel size"),
        flag("disable_frontend_multiprocessing", "as given to vLLM"),
        flag("enforce_eager", "as given to vLLM"),
        value("max_num_seqs", "N", "as given to vLLM"),
        value("max_num_batched_tokens", "N", "as given to vLLM"),
        flag("no_enable_prefix_caching", "as given to vLLM"),
        flag("no_async_scheduling", "as given to vLLM"),
        {"env", {}, OptionKind::many, "NAME=VALUE", "an environment variable of the launch; may be repeated"},
        value("device", "NAME", "gpu or npu; default: by the tree, else gpu"),
        value("level", "LEVEL", "mix (default), L0 or L1"),
        value("task", "TASK", "statistics (default) or tensor"),
        value("token", "K", "position of the token to dump"),
        value("step", "N", "step that makes it, as a step ledger tells: for config.json"),
        value("phase", "NAME", "mindie: layer (default) or op"),
        value("ids", "LIST", "mindie: ids for --phase op"),
        value("dump_path", "DIR", "where the dump goes"),
        value("emit_config", "FILE", "write the collector's config.json"),
        flag("batch_invariant", "determinism: outputs independent of the batch"),
        flag("strict", "exit code 1 when there are warnings"),
        flag("allow_unknown_shape", "an unknown version is a warning"),
        flag("go_on", "flow: do not stop at a step that must be put right first"),
        value("lang", "LANGUAGE", "en (default) or zh"),
        value("format", "FORMAT", "text (default) or json; determinism: sh too")};
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& options = context.options();
    const std::string name = options.positional().empty() ? "collect" : options.positional()[0];
    const std::vector<std::string> known = {"symptoms", "checklist", "determinism", "collect", "flow"};
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{Code::usage, "unknown topic '" + printable(name) + "'" + suggestion(name, known) +
                                    ", expected symptoms, checklist, determinism, collect or flow"};
    if (name == "flow")
      return run_incident_flow(context, options.positional().size() > 1 ? options.positional()[1] : ".");
    if (options.positional().size() > 1)
      return Error{Code::usage, "unexpected argument '" + printable(options.positional()[1]) + "'"};
    std::vector<std::string> formats = {"text", "json"};
    if (name == "determinism") formats.emplace_back("sh");
    ULPSCOPE_ASSIGN(const std::string format, options.choice("format", formats));
    ULPSCOPE_ASSIGN(const std::string lang, options.choice("lang", {"en", "zh"}));
    ULPSCOPE_ASSIGN(const std::string framework, options.choice("framework", {"vllm", "mindie"}));
    ULPSCOPE_ASSIGN(const std::string device, options.choice("device", {"gpu", "npu"}));
    const GuideLanguage language = lang == "zh" ? GuideLanguage::chinese : GuideLanguage::english;
    ULPSCOPE_ASSIGN(const Topic topic, topic_of(name, options, framework, device, language));
    ULPSCOPE_TRY(give_answer(context, {"guide", topic.text, topic.json, ""}, format));
    return topic.code;
  }
};

}  // namespace

std::unique_ptr<Command> make_guide_command() { return std::make_unique<GuideCommand>(); }

}  // namespace ulpscope
