#include "instrument/code_blocks.hpp"

#include "report/json_text.hpp"

namespace ulpscope {
namespace {

std::string import_line(const BlockContext& context) {
  return "import " + context.module + " as _ulpscope_hook";
}

std::string config_argument(const InstrumentOptions& options) {
  return options.config.empty() ? "__import__(\"os\").environ.get(\"ULPSCOPE_CONFIG\")"
                                : python_text(options.config);
}

// The guard in place: is this call a step?
std::string direct_condition(const BlockContext& context) {
  const std::string& work = context.anchor.argument;
  std::string text = "True";
  if (context.anchor.id == "V0-W")
    text = work + " is None or getattr(" + work + ", \"seq_group_metadata_list\", None)";
  else if (context.anchor.id == "V0-P")
    text = "method in (\"execute_model\", \"start_worker_execution_loop\")";
  else if (!work.empty())
    text = "getattr(" + work + ", \"total_num_scheduled_tokens\", 0) > 0 and not any(str(each).startswith(" +
           "(\"_warmup\", \"_v2_mixed_warmup\")) for each in (getattr(" + work +
           ", \"num_scheduled_tokens\", None) or ()))";
  if (context.has_dummy_run) text = "(" + text + ") and not dummy_run";
  if (!context.options.gate.empty())
    text = "(" + text + ") and __import__(\"os\").path.exists(" + python_text(context.options.gate) + ")";
  return text;
}

std::vector<std::string> direct_init(const BlockContext& context) {
  std::vector<std::string> lines = {"from msprobe.pytorch import PrecisionDebugger"};
  if (context.options.seed_all) {
    lines.emplace_back("from msprobe.pytorch import seed_all");
    lines.emplace_back("seed_all(mode=True)");
  }
  lines.push_back(context.owner + "._ulpscope_debugger = PrecisionDebugger(config_path=" +
                  config_argument(context.options) + ")");
  return lines;
}

std::vector<std::string> direct_begin(const BlockContext& context) {
  const std::string& owner = context.owner;
  std::vector<std::string> lines = {"if not hasattr(" + owner + ", \"_ulpscope_debugger\"):"};
  for (const std::string& line : direct_init(context)) lines.push_back("    " + line);
  lines.push_back("if getattr(" + owner + ", \"_ulpscope_open\", False):");
  lines.emplace_back(
      "    __import__(\"logging\").getLogger(\"ulpscope\").warning(\"a step was still open and is closed\")");
  lines.push_back("    " + owner + "._ulpscope_debugger.stop()");
  lines.push_back("    " + owner + "._ulpscope_debugger.step()");
  lines.push_back(owner + "._ulpscope_open = bool(" + direct_condition(context) + ")");
  lines.push_back("if " + owner + "._ulpscope_open:");
  const std::string model =
      context.options.wants_begin_with_model() ? "model=" + context.model_expression : "";
  lines.push_back("    " + owner + "._ulpscope_debugger.start(" + model + ")");
  return lines;
}

std::vector<std::string> direct_end(const BlockContext& context, bool empty) {
  const std::string& owner = context.owner;
  std::vector<std::string> lines = {"if getattr(" + owner + ", \"_ulpscope_open\", False):",
                                    "    " + owner + "._ulpscope_debugger.stop()"};
  // Other ranks of V0 learn only here that there was nothing to do.
  if (empty) lines.push_back("    if " + context.anchor.argument + " is not None:");
  lines.push_back((empty ? "        " : "    ") + owner + "._ulpscope_debugger.step()");
  lines.push_back("    " + owner + "._ulpscope_open = False");
  return lines;
}

}  // namespace

std::string python_text(const std::string& text) {
  std::string out;
  append_json_string(out, text);  // every JSON string is a Python literal
  return out;
}

std::vector<std::string> init_lines(const BlockContext& context) {
  if (context.options.is_direct()) return direct_init(context);
  return {import_line(context), "_ulpscope_hook.init(" + context.owner + ")"};
}

std::vector<std::string> begin_lines(const BlockContext& context) {
  if (context.options.is_direct()) return direct_begin(context);
  std::string arguments = context.owner + ", \"" + context.anchor.id + "\"";
  if (context.anchor.id == "V0-P") arguments += ", method";
  if (!context.anchor.argument.empty()) arguments += ", " + context.anchor.argument;
  if (context.has_dummy_run) arguments += ", dummy_run";
  return {import_line(context), "_ulpscope_step = _ulpscope_hook.begin(" + arguments + ")"};
}

std::vector<std::string> end_lines(const BlockContext& context, bool empty) {
  if (context.options.is_direct()) return direct_end(context, empty);
  return {empty ? "_ulpscope_step.end(empty=True)" : "_ulpscope_step.end()"};
}

std::vector<std::string> raise_lines(const BlockContext& context) {
  if (context.options.is_direct()) return {};
  // What raised may stand before the begin of the first step.
  return {"if \"_ulpscope_step\" in locals():", "    _ulpscope_step.end()"};
}

std::vector<std::string> keep_lines(const BlockContext& context) {
  if (context.options.is_direct()) return {"pass  # the step stays open for sample_tokens"};
  return {"_ulpscope_step.keep()"};
}

std::vector<std::string> resume_lines(const BlockContext& context) {
  if (context.options.is_direct()) return {"pass  # the step that execute_model opened goes on"};
  return {import_line(context), "_ulpscope_step = _ulpscope_hook.resume(" + context.owner + ")"};
}

std::vector<std::string> wrap_lines(const BlockContext& context, bool opens, bool keeps) {
  std::string arguments = "\"" + context.anchor.id + "\"";
  if (!opens) arguments += ", opens=False";
  if (keeps) arguments += ", keeps=True";
  return {import_line(context), "@_ulpscope_hook.wrap(" + arguments + ")"};
}

}  // namespace ulpscope
