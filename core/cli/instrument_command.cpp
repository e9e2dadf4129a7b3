#include <algorithm>

#include "base/text.hpp"
#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "instrument/apply.hpp"
#include "instrument/plan.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

struct Outcome {
  std::string action;  // plan, apply, check, revert
  std::string state;   // of the tree afterwards, or as it is
  InstrumentPlan plan;
  std::vector<std::string> lines;
  ExitCode code = ExitCode::success;
};

void append_member(std::string& out, const char* name, std::string_view text) {
  out += std::string(", \"") + name + "\": ";
  append_json_string(out, text);
}

void append_texts(std::string& out, const char* name, const std::vector<std::string>& texts) {
  out += std::string(", \"") + name + "\": [";
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, texts[i]);
  }
  out += "]";
}

std::string plan_diff(const InstrumentPlan& plan) {
  std::string out;
  for (const PlannedFile& file : plan.files) out += unified_diff(file.path, file.original, file.changed);
  return out;
}

// The lines of a text from the tree, tabs kept: what else a terminal would act on is written out.
std::string printable_lines(std::string_view text) {
  std::string out;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find_first_of("\n\t", begin), text.size());
    out += printable(text.substr(begin, end - begin));
    if (end < text.size()) out += text[end];
    begin = end + 1;
  }
  return out;
}

std::string to_json(const Outcome& outcome, const EngineTree& tree) {
  std::string out = "{\"schema\": \"ulpscope.instrument/1\"";
  append_member(out, "action", outcome.action);
  append_member(out, "tree", tree.root);
  append_member(out, "vllm", tree.vllm ? tree.vllm->text : "");
  append_member(out, "vllm_ascend", tree.vllm_ascend ? tree.vllm_ascend->text : "");
  append_member(out, "state", outcome.state);
  if (outcome.plan.refusal) {
    append_member(out, "refused", outcome.plan.refusal->code);
    append_member(out, "message", outcome.plan.refusal->message);
  } else {
    out += ", \"refused\": null";
  }
  out += ",\n \"files\": [";
  bool first = true;
  for (const PlannedFile& file : outcome.plan.files) {
    out += first ? "\n  {\"path\": " : ",\n  {\"path\": ";
    first = false;
    append_json_string(out, file.path);
    out += std::string(", \"new\": ") + (file.is_new ? "true" : "false") + ", \"parts\": [";
    for (size_t i = 0; i < file.insertions.size(); ++i) {
      out += i > 0 ? ", {\"part\": " : "{\"part\": ";
      append_json_string(out, file.insertions[i].part);
      out += ", \"line\": " + std::to_string(file.insertions[i].line + 1) + "}";
    }
    out += "]}";
  }
  out += "],\n \"outside\": [";
  for (size_t i = 0; i < outcome.plan.outside.size(); ++i) {
    out += i > 0 ? ", {\"path\": " : "{\"path\": ";
    append_json_string(out, outcome.plan.outside[i].path);
    out += ", \"line\": " + std::to_string(outcome.plan.outside[i].line) + ", \"text\": ";
    append_json_string(out, outcome.plan.outside[i].text);
    out += "}";
  }
  out += "]";
  append_texts(out, "notes", outcome.plan.notes);
  append_texts(out, "lines", outcome.lines);
  append_member(out, "diff", plan_diff(outcome.plan));
  return out + "}\n";
}

std::string to_text(const Outcome& outcome, const EngineTree& tree) {
  if (outcome.plan.refusal)
    return "refused  " + outcome.plan.refusal->code + "  " + printable(outcome.plan.refusal->message) +
           "\nnothing was written\n";
  std::string out;
  if (outcome.action == "plan") out += printable_lines(plan_diff(outcome.plan)) + "\n";
  out += printable(tree.root) + "   vllm " + (tree.vllm ? printable(tree.vllm->text) : "?") +
         (tree.vllm_ascend ? "   vllm-ascend " + printable(tree.vllm_ascend->text) : "") + "   " +
         outcome.state + "\n";
  for (const std::string& line : outcome.lines) out += "  " + printable(line) + "\n";
  if (outcome.action != "check" && outcome.action != "revert")
    for (const PlannedFile& file : outcome.plan.files)
      out += "  " + printable(file.path) +
             (file.is_new ? ": new" : ": " + std::to_string(file.insertions.size()) + " blocks") + "\n";
  for (const OutsideReturn& each : outcome.plan.outside)
    out += "  not enclosed: " + printable(each.path) + ":" + std::to_string(each.line) + " " +
           printable(each.text) + "  (--style wrap encloses it)\n";
  for (const std::string& note : outcome.plan.notes) out += "  note: " + printable(note) + "\n";
  return out;
}

Result<InstrumentOptions> read_options(const ParsedOptions& given) {
  InstrumentOptions options;
  ULPSCOPE_ASSIGN(options.strategy, given.choice("strategy", {"worker", "guide"}));
  ULPSCOPE_ASSIGN(options.style, given.choice("style", {"inline", "wrap"}));
  ULPSCOPE_ASSIGN(options.window, given.choice("window", {"forward", "forward+sample"}));
  ULPSCOPE_ASSIGN(options.emit, given.choice("emit", {"hook", "direct"}));
  ULPSCOPE_ASSIGN(options.level, given.choice("level", {"mix", "L0", "L1"}));
  ULPSCOPE_ASSIGN(options.device, given.choice("device", {"auto", "gpu", "npu"}));
  ULPSCOPE_ASSIGN(options.engine, given.choice("engine", {"auto", "v0", "v1"}));
  ULPSCOPE_ASSIGN(options.model_runner, given.choice("model_runner", {"auto", "v1", "v2"}));
  options.config = given.text_or("config", "");
  options.ledger = given.text_or("ledger", "");
  options.gate = given.text_or("gate", "");
  options.ledger_only = given.has("ledger_only");
  options.seed_all = given.has("seed_all");
  options.allow_unknown_shape = given.has("allow_unknown_shape");
  options.vllm_version = given.text_or("vllm_version", "");
  options.ascend_version = given.text_or("ascend_version", "");
  for (const auto& [name, path] :
       {std::pair{"config", &options.config}, {"ledger", &options.ledger}, {"gate", &options.gate}})
    if (!path->empty() && path->front() != '/')
      return Error{Code::usage, std::string("option --") + name + ": '" + printable(*path) +
                                    "', expected an absolute path: workers may run in another folder"};
  if (options.is_direct() && (options.is_wrap() || !options.ledger.empty() || options.ledger_only))
    return Error{Code::usage,
                 "--emit direct goes with --style inline and without a ledger: the guard, the ledger and "
                 "the decorator are in the module that --emit hook writes"};
  if (options.ledger_only && options.ledger.empty())
    return Error{Code::usage, "--ledger-only needs --ledger FILE"};
  if (options.allow_unknown_shape && !options.is_wrap())
    return Error{Code::usage, "--allow-unknown-shape goes with --style wrap only, which depends on no shape"};
  return options;
}

Status take_version(const std::string& text, const char* option, std::optional<EngineVersion>& version) {
  if (text.empty()) return {};
  version = parse_engine_version(text);
  if (!version)
    return Error{Code::usage, std::string("option --") + option + ": '" + printable(text) +
                                  "', expected a version such as 0.9.1"};
  return {};
}

void add_notes(const InstrumentOptions& options, const EngineTree& tree, InstrumentPlan& plan) {
  if (options.config.empty() && !options.ledger_only)
    plan.notes.emplace_back(
        "no --config: the collector's file is that of $ULPSCOPE_CONFIG, or its own default");
  if (options.is_direct())
    plan.notes.emplace_back(
        "--emit direct does not close a step when the method raises; --emit hook and --style wrap do");
  if (options.strategy == "guide")
    plan.notes.push_back(
        "V0-G: rank 0 of an offline run is collected in the user's script:\n" +
        script_lines(options,
                     tree.vllm && *tree.vllm < *parse_engine_version("0.7.0")
                         ? "llm.llm_engine.model_executor.driver_worker.model_runner.model"
                         : "llm.llm_engine.model_executor.driver_worker.worker.model_runner.get_model()"));
}

class InstrumentCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "instrument";
    info.group = CommandGroup::incident;
    info.summary = "Makes an installed vLLM collect tensors, and undoes it";
    info.synopsis = "--tree DIR [--plan | --apply | --check | --revert]";
    info.description =
        "Inserts the collector's start, stop and step where the model runs, in the tree that holds vllm/ "
        "(and "
        "vllm_ascend/). --plan, the default, prints the change as a diff and writes nothing. A tree of "
        "another shape "
        "than the known versions is refused (exit code 3) with the reason. --revert gives back the same "
        "bytes.";
    info.example =
        "ulpscope instrument --tree /usr/lib/python3/dist-packages --apply --config /tmp/config.json";
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
        value("tree", "DIR", "folder that holds vllm/ and perhaps vllm_ascend/"),
        flag("plan", "print what would change (default)"),
        flag("apply", "change the tree"),
        flag("check", "say whether the tree is clean, applied, foreign or broken"),
        flag("revert", "put the tree back"),
        flag("force", "revert: take complete blocks out of a tree without manifest"),
        value("strategy", "NAME",
              "worker (default): the model runners; guide: the places that the seed guide names"),
        value("style", "NAME", "inline (default): a call before every return; wrap: a decorator"),
        value("window", "NAME", "forward (default) or forward+sample"),
        value("emit", "NAME", "hook (default): calls of a small module; direct: the collector's own calls"),
        value("level", "LEVEL", "mix (default), L0 or L1: whether the collector gets the model"),
        value("config", "PATH", "config.json of the collector, an absolute path"),
        value("ledger", "FILE", "write which step made which token, one JSON object a line"),
        flag("ledger_only", "write the ledger and collect nothing"),
        value("gate", "FILE", "collect only while this file exists"),
        flag("seed_all", "also fix the seeds when a model runner is made"),
        value("device", "NAME", "gpu or npu; default: whatever the tree has"),
        value("engine", "NAME", "v0 or v1; default: whatever the tree has"),
        value("model_runner", "NAME", "v1 or v2; default: whatever the tree has"),
        value("vllm_version", "VERSION", "where the tree does not say"),
        value("ascend_version", "VERSION", "the same of vllm-ascend"),
        flag("allow_unknown_shape", "with --style wrap: go on at a version that is not known"),
        value("format", "FORMAT", "text (default) or json")};
  }

  Result<ExitCode> run(Context& context) override {
    const ParsedOptions& given = context.options();
    ULPSCOPE_ASSIGN(const std::string format, given.choice("format", {"text", "json"}));
    ULPSCOPE_ASSIGN(const InstrumentOptions options, read_options(given));
    Outcome outcome;
    ULPSCOPE_ASSIGN(outcome.action, action_of(given));
    const std::string root = given.text_or("tree", "");
    if (root.empty()) return Error{Code::usage, "the tree is missing: instrument --tree DIR"};
    ULPSCOPE_ASSIGN(EngineTree tree, read_engine_tree(root));
    ULPSCOPE_TRY(take_version(options.vllm_version, "vllm-version", tree.vllm));
    ULPSCOPE_TRY(take_version(options.ascend_version, "ascend-version", tree.vllm_ascend));
    ULPSCOPE_ASSIGN(const AnchorTable table, AnchorTable::builtin());
    if (outcome.action == "check")
      ULPSCOPE_TRY(check(tree, table, outcome));
    else if (outcome.action == "revert")
      ULPSCOPE_TRY(revert(tree, table, given.has("force"), outcome));
    else
      ULPSCOPE_TRY(plan_or_apply(tree, table, options, outcome));
    if (outcome.plan.refusal) outcome.code = ExitCode::unreadable;
    ULPSCOPE_TRY(
        give_answer(context, {"instrument", to_text(outcome, tree), to_json(outcome, tree), ""}, format));
    return outcome.code;
  }

 private:
  static Result<std::string> action_of(const ParsedOptions& given) {
    std::string action;
    for (const char* each : {"plan", "apply", "check", "revert"}) {
      if (!given.has(each)) continue;
      if (!action.empty())
        return Error{Code::usage,
                     "--" + action + " and --" + std::string(each) + " at once, expected one of them"};
      action = each;
    }
    return action.empty() ? "plan" : action;
  }

  static Status check(const EngineTree& tree, const AnchorTable& table, Outcome& outcome) {
    ULPSCOPE_ASSIGN(const TreeReport report, inspect_tree(tree, table));
    outcome.state = ulpscope::to_text(report.state);
    outcome.lines = report.lines;
    if (report.manifest) outcome.lines.push_back("applied by ulpscope " + report.manifest->tool);
    if (report.state == TreeState::foreign || report.state == TreeState::broken)
      outcome.code = ExitCode::finding;
    return {};
  }

  static Status revert(const EngineTree& tree, const AnchorTable& table, bool force, Outcome& outcome) {
    ULPSCOPE_ASSIGN(const RevertResult result, revert_tree(tree, table, force));
    outcome.plan.refusal = result.refusal;
    for (const std::string& file : result.files)
      outcome.lines.push_back(file + (file == hook_path(tree) ? ": removed" : ": as it was"));
    ULPSCOPE_ASSIGN(const TreeReport report, inspect_tree(tree, table));
    outcome.state = ulpscope::to_text(report.state);
    if (result.files.empty() && !result.refusal) outcome.lines.emplace_back("nothing to revert");
    if (!result.files.empty() && !result.refusal)
      outcome.plan.notes.emplace_back("running processes keep the changed code: start them again");
    return {};
  }

  static Status plan_or_apply(const EngineTree& tree, const AnchorTable& table,
                              const InstrumentOptions& options, Outcome& outcome) {
    ULPSCOPE_ASSIGN(const TreeReport report, inspect_tree(tree, table));
    const std::optional<Manifest>& manifest = report.manifest;
    outcome.state = ulpscope::to_text(report.state);
    if (report.state == TreeState::broken || (report.state == TreeState::applied && !manifest)) {
      outcome.plan.refusal = Refusal{
          "E_CHANGED", report.lines.empty()
                           ? tree.root
                           : tree.root + "/" + report.lines.front() +
                                 ", expected a clean tree; instrument --revert, or put it back by hand"};
      return {};
    }
    outcome.plan = make_plan(tree, table, options, [&](const std::string& path) {
      return manifest ? original_of(tree, *manifest, path) : std::nullopt;
    });
    if (!outcome.plan.refusal) outcome.plan.refusal = refuse_taken(tree, outcome.plan, manifest);
    if (outcome.plan.refusal) return {};
    add_notes(options, tree, outcome.plan);
    if (outcome.action != "apply") return {};
    if (report.state == TreeState::applied && manifest->options == options_json(options)) {
      outcome.lines.emplace_back("applied already with these options: nothing changed");
      return {};
    }
    ULPSCOPE_ASSIGN(outcome.plan.refusal,
                    apply_plan(tree, outcome.plan, options, manifest, std::string(product_version())));
    if (outcome.plan.refusal) return {};
    outcome.state = "applied";
    outcome.plan.notes.emplace_back("running processes keep the old code: start them again");
    return {};
  }
};

}  // namespace

std::unique_ptr<Command> make_instrument_command() { return std::make_unique<InstrumentCommand>(); }

}  // namespace ulpscope
