#include "instrument/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "guide/python_source.hpp"
#include "instrument/code_blocks.hpp"
#include "instrument/hook_py.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kInitEnd = "-I";

bool is_init(const Anchor& anchor) { return anchor.method == "__init__"; }
bool is_sample(const Anchor& anchor) { return anchor.method == "sample_tokens"; }

std::string counts_text(const std::vector<int64_t>& counts) {
  std::string text;
  for (const int64_t count : counts) text += (text.empty() ? "" : " or ") + std::to_string(count);
  return text;
}

bool is_writable(const std::string& path) { return ::access(path.c_str(), W_OK) == 0; }

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool says_nothing(std::string_view code) {
  return code == "return" || code == "return None" || code == "return []";
}

// self.something(…), or one of the calls that run the model in a return.
bool calls_model(std::string_view code) {
  for (size_t at = code.find("self."); at != std::string_view::npos; at = code.find("self.", at + 1)) {
    size_t end = at + 5;
    while (end < code.size() &&
           (std::isalnum(static_cast<unsigned char>(code[end])) != 0 || code[end] == '_' || code[end] == '.'))
      ++end;
    if (end < code.size() && code[end] == '(') return true;
  }
  return false;
}

// Where a code of a file stands in the table of docs/instrument.md.
size_t place_in_table(std::string_view code) {
  constexpr std::string_view kCodes[] = {"E_NOFILE",   "E_NOCLASS", "E_NOMETHOD", "E_TWICE",   "E_RETURNS",
                                         "E_SAMELINE", "E_TABS",    "E_FIRST",    "E_FOREIGN", "E_PERM"};
  return static_cast<size_t>(std::find(std::begin(kCodes), std::end(kCodes), code) - std::begin(kCodes));
}

class FilePlanner {
 public:
  FilePlanner(const EngineTree& tree, const InstrumentOptions& options, InstrumentPlan& plan,
              const BaseText& base)
      : tree_(tree), options_(options), plan_(plan), base_(base) {}

  // All anchors of one file; answers whether the plan goes on. Of several refusals the first of the table
  // counts.
  bool add(const std::string& path, const std::vector<const Anchor*>& anchors) {
    PlannedFile file;
    file.path = path;
    const TreeFile source = read_tree_file(tree_, path);
    if (source.problem == TreeFileProblem::missing) {
      if (all_optional(anchors) || may_be_gone(*anchors.front())) return true;
      return refuse("E_NOFILE", source.message);
    }
    if (source.problem != TreeFileProblem::none) return refuse("E_PERM", source.message);
    const auto base = base_(path);
    file.original = base ? *base : source.content;
    source_ = scan_python(file.original);
    path_ = path;
    for (const Anchor* anchor : anchors) add_anchor(*anchor, file);
    if (has_foreign_collector(file.original))
      refuse("E_FOREIGN", path +
                              ": calls a collector already (PrecisionDebugger, or debugger.start, stop or "
                              "step), expected an untouched file; take those calls out first");
    // The originals are kept in a folder of the tree.
    for (const std::string& needed : {source.path, folder_of(source.path), tree_.root})
      if (!is_writable(needed)) refuse("E_PERM", needed + ": not writable");
    if (plan_.refusal) return false;
    if (file.insertions.empty()) return true;
    file.changed = with_blocks(file.original, file.insertions);
    plan_.files.push_back(std::move(file));
    return true;
  }

 private:
  static bool all_optional(const std::vector<const Anchor*>& anchors) {
    return std::all_of(anchors.begin(), anchors.end(), [](const Anchor* anchor) { return anchor->optional; });
  }

  // V0 went away between two releases.
  bool may_be_gone(const Anchor& anchor) const {
    if (!anchor.knows(version_of(anchor))) return true;
    return anchor.engine == "v0" && tree_.vllm->is_development && options_.engine == "auto";
  }

  bool refuse(const std::string& code, const std::string& message) {
    if (!plan_.refusal || place_in_table(code) < place_in_table(plan_.refusal->code))
      plan_.refusal = Refusal{code, message};
    return false;
  }
  std::string place(size_t logical) const {
    return path_ + ":" + std::to_string(source_.logical[logical].first + 1);
  }

  bool add_anchor(const Anchor& anchor, PlannedFile& file) {
    size_t class_line = kNoLine;
    if (!anchor.class_name.empty()) {
      const auto classes = find_classes(source_, anchor.class_name);
      if (classes.empty()) return refuse("E_NOCLASS", path_ + ": no class " + anchor.class_name);
      if (classes.size() > 1)
        return refuse("E_TWICE", place(classes[1]) + ": class " + anchor.class_name +
                                     " a second time, expected it once");
      class_line = classes[0];
    }
    const auto functions = find_functions(source_, class_line, anchor.method);
    if (functions.empty()) {
      // Models that sample inside execute_model have no sample_tokens.
      if (is_sample(anchor)) return true;
      return refuse("E_NOMETHOD", path_ + ": " + name_of(anchor) + " is not there");
    }
    if (functions.size() > 1)
      return refuse("E_TWICE",
                    place(functions[1].def) + ": " + name_of(anchor) + " a second time, expected it once");
    if (!check_shape(anchor, functions[0])) return false;
    insert(anchor, class_line, functions[0], file);
    return true;
  }

  static std::string name_of(const Anchor& anchor) {
    return anchor.class_name.empty() ? anchor.method : anchor.class_name + "." + anchor.method;
  }

  bool patches_inside(const Anchor& anchor) const {
    if (is_init(anchor) || !anchor.call.empty()) return false;
    return !options_.is_wrap() && !(is_sample(anchor) && options_.window == "forward");
  }

  bool check_shape(const Anchor& anchor, const PythonFunction& function) {
    const std::vector<int64_t> known = anchor.returns_at(version_of(anchor));
    const int64_t count = static_cast<int64_t>(function.returns.size());
    bool right = true;
    if (patches_inside(anchor)) {
      if (!known.empty() && std::find(known.begin(), known.end(), count) == known.end())
        right = refuse("E_RETURNS", place(function.def) + ": " + name_of(anchor) + " has " +
                                        std::to_string(count) + " returns, expected " + counts_text(known) +
                                        " at " + version_of(anchor).text +
                                        "; --style wrap does not depend on them");
      if (!function.returns_on_a_line.empty())
        right =
            refuse("E_SAMELINE", place(function.returns_on_a_line[0]) +
                                     ": a return on the line of its block, expected it on a line of its own; "
                                     "--style wrap does not depend on it");
    }
    for (size_t i = function.decorators; right && i < function.end; ++i)
      if (source_.logical[i].has_tab || source_.logical[i].indent % 4 != 0)
        right = refuse("E_TABS", place(i) + ": indented by tabs, or by no multiple of 4 blanks");
    return check_first_statement(anchor, function) && right;
  }

  bool check_first_statement(const Anchor& anchor, const PythonFunction& function) {
    if (function.first_statement >= function.end)
      return refuse("E_FIRST", place(function.def) + ": " + name_of(anchor) + " has no statement");
    if (anchor.starts_with.empty() || !anchor.knows(version_of(anchor))) return true;
    const std::string& first = source_.logical[function.first_statement].code;
    const std::string_view rest =
        std::string_view(first).substr(std::min(anchor.starts_with.size(), first.size()));
    const bool assigns = first.starts_with(anchor.starts_with) &&
                         (rest.starts_with(" =") || rest.starts_with("=") || rest.starts_with(":"));
    if (assigns) return true;
    return refuse("E_FIRST", place(function.first_statement) + ": " + name_of(anchor) +
                                 " does not start with the assignment of " + anchor.starts_with);
  }

  const EngineVersion& version_of(const Anchor& anchor) const {
    return anchor.project == "vllm_ascend" ? *tree_.vllm_ascend : *tree_.vllm;
  }

  void put(PlannedFile& file, size_t line, size_t indent, const std::string& part,
           std::vector<std::string> lines) {
    file.insertions.push_back({line, indent, part, std::move(lines)});
  }

  BlockContext context_of(const Anchor& anchor, size_t class_line, const PythonFunction& function) const {
    BlockContext context{options_,
                         anchor,
                         tree_.has_vllm ? "vllm.ulpscope_hook" : "vllm_ascend.ulpscope_hook",
                         anchor.owner.empty() ? "self" : anchor.owner,
                         "",
                         false};
    context.has_dummy_run = has_word(source_.logical[function.def].code, "dummy_run");
    const EngineVersion since = *parse_engine_version("0.7.0");
    const bool has_method =
        class_line != kNoLine && !find_functions(source_, class_line, "get_model").empty();
    const bool late = !(*tree_.vllm < since);
    if (anchor.id == "V0-W")
      context.model_expression = late ? "self.model_runner.get_model()" : "self.model_runner.model";
    else if (anchor.id == "V0-P")
      context.model_expression =
          late ? "worker.worker.model_runner.get_model()" : "worker.worker.model_runner.model";
    else if (anchor.id == "V0-E")
      context.model_expression =
          late ? "self.engine.model_executor.driver_worker.worker.model_runner.get_model()"
               : "self.engine.model_executor.driver_worker.model_runner.model";
    else
      context.model_expression = has_method ? "self.get_model()" : "self.model";
    return context;
  }

  void insert(const Anchor& anchor, size_t class_line, const PythonFunction& function, PlannedFile& file) {
    const BlockContext context = context_of(anchor, class_line, function);
    const LogicalLine& first = source_.logical[function.first_statement];
    if (is_init(anchor)) {
      const std::string id = anchor.id.ends_with(kInitEnd) && anchor.id != "V1-I"
                                 ? anchor.id.substr(0, anchor.id.size() - kInitEnd.size())
                                 : anchor.id;
      return put(file, first.first, first.indent, id + ".init", init_lines(context));
    }
    if (!anchor.call.empty()) return insert_around_call(anchor, class_line, function, context, file);
    const bool split = options_.window == "forward+sample" && class_line != kNoLine &&
                       !find_functions(source_, class_line, "sample_tokens").empty();
    if (is_sample(anchor) && !split) return;
    if (options_.is_wrap()) {
      const LogicalLine& line = source_.logical[function.decorators];
      return put(file, line.first, line.indent, anchor.id + ".wrap",
                 wrap_lines(context, !is_sample(anchor), split && !is_sample(anchor)));
    }
    put(file, first.first, first.indent, anchor.id + (is_sample(anchor) ? ".resume" : ".begin"),
        is_sample(anchor) ? resume_lines(context) : begin_lines(context));
    for (size_t i = 0; i < function.returns.size(); ++i) {
      const LogicalLine& line = source_.logical[function.returns[i]];
      const bool keeps =
          split && !is_sample(anchor) && i + 1 == function.returns.size() && line.code == "return None";
      const bool empty = anchor.id == "V0-W" && says_nothing(line.code);
      put(file, line.first, line.indent, anchor.id + (keeps ? ".keep" : ".end"),
          keeps ? keep_lines(context) : end_lines(context, empty));
      if (calls_model(line.code)) plan_.outside.push_back({path_, line.code, line.first + 1});
    }
  }

  void insert_around_call(const Anchor& anchor, size_t class_line, const PythonFunction& function,
                          const BlockContext& context, PlannedFile& file) {
    for (size_t i = function.first_statement; i < function.end; ++i) {
      const LogicalLine& line = source_.logical[i];
      const bool calls = std::any_of(anchor.call.begin(), anchor.call.end(), [&](const std::string& word) {
        return line.code.find(word) != std::string::npos;
      });
      if (!calls) continue;
      put(file, line.first, line.indent, anchor.id + ".begin", begin_lines(context));
      put(file, line.last + 1, line.indent, anchor.id + ".end", end_lines(context, false));
      return end_where_it_raises(anchor, function, i, context, file);
    }
    const auto called = anchor.called.empty() ? std::vector<PythonFunction>()
                                              : find_functions(source_, class_line, anchor.called);
    if (called.size() == 1 && !options_.is_direct()) {
      const LogicalLine& line = source_.logical[called[0].decorators];
      plan_.notes.push_back(anchor.id + ": the call of " + anchor.called + " is not in " + name_of(anchor) +
                            "; the method itself is wrapped");
      return put(file, line.first, line.indent, anchor.id + ".wrap", wrap_lines(context, true, false));
    }
    plan_.notes.push_back(anchor.id + ": the statement that runs the model is not in " + name_of(anchor) +
                          "; nothing is collected there");
  }

  // A loop that catches what its call raises keeps its frame, and with it the step: the handlers close it.
  void end_where_it_raises(const Anchor& anchor, const PythonFunction& function, size_t call,
                           const BlockContext& context, PlannedFile& file) {
    const std::vector<std::string> lines = raise_lines(context);
    if (lines.empty()) return;
    for (const size_t handler : find_handlers(source_, function, call)) {
      const size_t body = handler + 1;
      if (body < function.end && source_.logical[body].indent > source_.logical[handler].indent)
        put(file, source_.logical[body].first, source_.logical[body].indent, anchor.id + ".raise", lines);
      else
        plan_.notes.push_back(place(handler) + ": a handler on one line; a step whose call raises is " +
                              "closed by the next one");
    }
  }

  const EngineTree& tree_;
  const InstrumentOptions& options_;
  InstrumentPlan& plan_;
  const BaseText& base_;
  PythonSource source_;
  std::string path_;
};

bool is_wanted(const Anchor& anchor, const EngineTree& tree, const AnchorTable& table,
               const InstrumentOptions& options) {
  const bool around_call = !anchor.call.empty();
  if (around_call != (options.strategy == "guide")) return false;
  if (options.engine != "auto" && anchor.engine != options.engine) return false;
  if (options.model_runner != "auto" && !anchor.runner.empty() && anchor.runner != options.model_runner)
    return false;
  const bool of_ascend = anchor.project == "vllm_ascend";
  if (options.device == "gpu" && of_ascend) return false;
  if (options.device == "npu" && !of_ascend && anchor.engine == "v1") return false;
  if (of_ascend) return tree.has_ascend && tree.vllm_ascend && anchor.knows(*tree.vllm_ascend);
  const bool tried = options.allow_unknown_shape && !table.knows(*tree.vllm) && anchor.engine == "v1";
  return tried || anchor.knows(*tree.vllm);
}

// Where an engine is collected whose package is in another tree: vLLM and vllm-ascend may be two checkouts.
std::string place_elsewhere(const AnchorTable& table, const EngineTree& tree,
                            const InstrumentOptions& options) {
  if (options.strategy == "guide") return {};
  const Anchor* anchor = nullptr;
  if (!tree.has_vllm && options.engine != "v1" && table.find("V0-W")->knows(*tree.vllm))
    anchor = table.find("V0-W");
  if (!tree.has_ascend && options.engine != "v0" && options.device == "npu") anchor = table.find("V1-A");
  if (anchor == nullptr) return {};
  return "runs of engine " + anchor->engine + " are collected in " + anchor->file + " (" + anchor->id +
         "), which this tree does not have: instrument the tree that holds it too";
}

// What the engine itself offers from 0.12.0rc1 on.
const AscendSwitch* builtin_switch(const EngineTree& tree, const AnchorTable& table,
                                   const InstrumentOptions& options) {
  if (!tree.vllm_ascend || options.device == "gpu" || options.engine == "v0") return nullptr;
  return table.switch_at(*tree.vllm_ascend);
}

std::optional<Refusal> check_version(const EngineTree& tree, const AnchorTable& table,
                                     const InstrumentOptions& options) {
  if (!tree.vllm)
    return Refusal{"E_VERSION",
                   tree.root +
                       ": no version of vLLM found in vllm/_version.py, vllm/version.py, "
                       "vllm-*.dist-info, PKG-INFO or a tag of the checkout; give --vllm-version"};
  if (!table.knows(*tree.vllm) && !options.allow_unknown_shape)
    return Refusal{"E_VERSION", "vLLM " + tree.vllm->text +
                                    " is not in the anchor table, the nearest known is " +
                                    table.nearest(*tree.vllm)};
  if (tree.has_ascend && !tree.vllm_ascend && options.device != "gpu")
    return Refusal{"E_VERSION", tree.root + ": no version of vllm-ascend found; give --ascend-version"};
  return std::nullopt;
}

// The ids of the anchors that a plan patches: "V1-X, V1-M".
std::string patched_places(const InstrumentPlan& plan) {
  std::string places;
  for (const PlannedFile& file : plan.files)
    for (const Insertion& each : file.insertions) {
      const std::string id = each.part.substr(0, each.part.find('.'));
      if (!each.part.ends_with(".init") && places.find(id) == std::string::npos)
        places += (places.empty() ? "" : ", ") + id;
    }
  return places;
}

std::string hook_text(const InstrumentOptions& options) {
  std::string text(kHookPy);
  const std::string_view place = "@OPTIONS@";
  // Inside a raw Python text between three quotes, which no option may end.
  std::string json;
  for (const char c : options_json(options)) json += c == '\'' ? std::string("\\u0027") : std::string(1, c);
  text.replace(text.find(place), place.size(), json);
  return text;
}

// The plan of a tree whose versions are good.
InstrumentPlan plan_of(const EngineTree& tree, const AnchorTable& table, const InstrumentOptions& options,
                       const BaseText& base) {
  InstrumentPlan plan;
  std::vector<std::pair<std::string, std::vector<const Anchor*>>> files;
  for (const Anchor& anchor : table.anchors) {
    if (!is_wanted(anchor, tree, table, options)) continue;
    if (anchor.project == "vllm" && !tree.has_vllm) continue;
    if (files.empty() || files.back().first != anchor.file) files.push_back({anchor.file, {}});
    files.back().second.push_back(&anchor);
  }
  FilePlanner planner(tree, options, plan, base);
  for (const auto& [path, anchors] : files)
    if (!planner.add(path, anchors)) break;
  if (const AscendSwitch* own = builtin_switch(tree, table, options); own != nullptr && !plan.refusal)
    plan.refusal =
        Refusal{"E_BUILTIN", "vllm-ascend " + tree.vllm_ascend->text +
                                 " has a collector of its own: start with " + "--additional-config '" +
                                 own->text + "' and --enforce-eager; --device gpu patches the GPU runner"};
  const std::string elsewhere = place_elsewhere(table, tree, options);
  if (!plan.refusal && plan.files.empty()) {
    const std::string& why = plan.notes.empty() ? elsewhere : plan.notes.front();
    plan.refusal = Refusal{plan.notes.empty() ? "E_NOFILE" : "E_NOMETHOD",
                           tree.root + ": no anchor of " + tree.vllm->text +
                               " for these options is in the tree" + (why.empty() ? "" : ": " + why)};
  }
  if (plan.refusal) {
    plan.files.clear();
    return plan;
  }
  if (!elsewhere.empty()) plan.notes.push_back(elsewhere);
  if (!table.knows(*tree.vllm))
    plan.notes.push_back("vLLM " + tree.vllm->text + " is an untested version: collected at the places of " +
                         table.vllm.last.text + " (" + patched_places(plan) + ")");
  if (!options.is_direct()) {
    PlannedFile hook;
    hook.path = hook_path(tree);
    hook.changed = hook_text(options);
    hook.is_new = true;
    plan.files.push_back(std::move(hook));
  }
  return plan;
}

// What can be done with a tree that is newer than the table: whether its places are those of the newest
// version that is known.
std::string newest_places(const EngineTree& tree, const AnchorTable& table, InstrumentOptions options,
                          const BaseText& base) {
  const std::string newest = table.vllm.last.text;
  if (*tree.vllm < table.vllm.first || options.engine == "v0" || options.strategy != "worker" ||
      options.is_direct())
    return "--style wrap --allow-unknown-shape collects in the model runners of V1, --vllm-version gives "
           "another version";
  options.style = "wrap";
  options.allow_unknown_shape = true;
  const InstrumentPlan plan = plan_of(tree, table, options, base);
  if (plan.refusal) return "and its places are not those of " + newest + ": " + plan.refusal->message;
  return "its places are those of " + newest + " (" + patched_places(plan) +
         "): --style wrap --allow-unknown-shape collects there, untested";
}

}  // namespace

std::string hook_path(const EngineTree& tree) {
  return tree.has_vllm ? "vllm/ulpscope_hook.py" : "vllm_ascend/ulpscope_hook.py";
}

bool has_foreign_collector(std::string_view text) {
  for (const LogicalLine& line : scan_python(text).logical) {
    if (has_word(line.code, "PrecisionDebugger")) return true;
    for (const char* call : {"debugger.start(", "debugger.stop(", "debugger.step("}) {
      const size_t at = line.code.find(call);
      // As an attribute (self.debugger) or by itself, not as the end of another name.
      if (at != std::string::npos && (at == 0 || line.code[at - 1] == '.' || line.code[at - 1] == ' '))
        return true;
    }
  }
  return false;
}

std::string options_json(const InstrumentOptions& options) {
  std::string out = "{";
  const auto add = [&](const char* name, const std::string& value) {
    out += (out.size() > 1 ? ", \"" : "\"") + std::string(name) + "\": ";
    append_json_string(out, value);
  };
  const auto add_flag = [&](const char* name, bool value) {
    out += ", \"" + std::string(name) + "\": " + (value ? "true" : "false");
  };
  add("strategy", options.strategy);
  add("style", options.style);
  add("window", options.window);
  add("emit", options.emit);
  add("level", options.level);
  add("config", options.config);
  add("ledger", options.ledger);
  add("gate", options.gate);
  add("device", options.device);
  add("engine", options.engine);
  add("model_runner", options.model_runner);
  add_flag("ledger_only", options.ledger_only);
  add_flag("seed_all", options.seed_all);
  add_flag("allow_unknown_shape", options.allow_unknown_shape);
  return out + "}";
}

InstrumentPlan make_plan(const EngineTree& tree, const AnchorTable& table, const InstrumentOptions& options,
                         const BaseText& base) {
  InstrumentPlan plan;
  plan.refusal = check_version(tree, table, options);
  if (!plan.refusal) return plan_of(tree, table, options, base);
  if (tree.vllm && !table.knows(*tree.vllm))
    plan.refusal->message += "; " + newest_places(tree, table, options, base);
  return plan;
}

std::string script_lines(const InstrumentOptions& options, const std::string& model_expression) {
  std::string out = "from msprobe.pytorch import PrecisionDebugger\n";
  out += "debugger = PrecisionDebugger(config_path=" +
         python_text(options.config.empty() ? std::string("/path/to/config.json") : options.config) + ")\n";
  out += options.wants_begin_with_model()
             ? "debugger.start(model=" + model_expression + ", token_range=[k, k])\n"
             : "debugger.start(token_range=[k, k])  # needs a model: use level mix\n";
  return out + "outputs = llm.generate(prompts, sampling_params)\ndebugger.stop()\ndebugger.step()\n";
}

}  // namespace ulpscope
