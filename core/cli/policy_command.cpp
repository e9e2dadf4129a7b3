#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/policy_options.hpp"
#include "policy/chooser.hpp"
#include "policy/import.hpp"
#include "policy/loader.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;
constexpr size_t kMostWords = 1024;  // an action and the files of check

Result<ExitCode> show(Context& context) {
  const auto& words = context.options().positional();
  if (words.size() < 2) {
    for (const std::string& name : preset_names()) context.out().line(name);
    return ExitCode::success;
  }
  ULPSCOPE_ASSIGN(const std::string_view text, preset_text(words[1]));
  context.out() << text;
  return ExitCode::success;
}

Status check_file(Context& context, Registry& registry, const std::string& path) {
  ULPSCOPE_ASSIGN(const Policy policy, load_policy(path, registry));
  size_t own = 0;
  for (const PolicyRule& rule : policy.rules) own += rule.place.preset ? 0 : 1;
  context.out() << printable(path) << ": " << std::to_string(own) << (own == 1 ? " rule" : " rules")
                << " of its own, " << std::to_string(policy.rules.size() - own) << " of a preset, "
                << std::to_string(policy.ignore.size()) << " ignored, "
                << std::to_string(policy.levels.size()) << " guard levels: no mistake found\n";
  return {};
}

// All files are read, so that one run shows what is wrong with each.
Result<ExitCode> check(Context& context) {
  ULPSCOPE_TRY(context.options().required(1, "FILE"));
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  const auto& words = context.options().positional();
  Status found;
  for (size_t i = 1; i < words.size(); ++i) {
    Status one = check_file(context, *registry, words[i]);
    if (one.ok()) continue;
    if (!found.ok()) context.log().error(found.error().message);
    found = std::move(one);
  }
  ULPSCOPE_TRY(found);
  return ExitCode::success;
}

// A pair of an output of that operation, as explain asks for it.
struct Question {
  std::string api;
  DType dtype = DType::f32;
  Role role = Role::output;
  Phase phase = Phase::forward;
  std::vector<DType> inputs;
  bool reference = true;
};

// The short names that people write for the types of a model.
std::string_view long_name(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"fp64", "float64"}, {"double", "float64"}, {"fp32", "float32"}, {"float", "float32"},
      {"fp16", "float16"}, {"half", "float16"},   {"bf16", "bfloat16"}};
  for (const auto& [brief, whole] : kShort)
    if (text == brief) return whole;
  return text;
}

Result<DType> dtype_option(const ParsedOptions& options, const char* name, DType otherwise) {
  const auto text = options.text(name);
  if (!text) return otherwise;
  const DType dtype = dtype_from_name(long_name(*text));
  std::vector<std::string> known;
  for (int32_t i = 1; i < kDTypeCount; ++i) known.emplace_back(ulpscope::name(static_cast<DType>(i)));
  if (dtype == DType::none)
    return Error{Code::usage, std::string("option --") + name + ": there is no element type '" +
                                  printable(*text) + "'" + suggestion(*text, known)};
  return dtype;
}

Result<Question> read_question(Context& context) {
  const ParsedOptions& options = context.options();
  Question question;
  ULPSCOPE_ASSIGN(question.api, options.required(1, "OP"));
  ULPSCOPE_ASSIGN(question.dtype, dtype_option(options, "dtype", DType::f32));
  ULPSCOPE_ASSIGN(const DType input, dtype_option(options, "input_dtype", question.dtype));
  question.inputs = {input};
  ULPSCOPE_ASSIGN(const std::string role,
                  options.choice("role", {"output", "input", "kwarg", "parameter", "gradient"}));
  for (const Role each : {Role::output, Role::input, Role::kwarg, Role::parameter, Role::gradient})
    if (policy_word(each) == role) question.role = each;
  ULPSCOPE_ASSIGN(const std::string phase, options.choice("phase", {"forward", "backward"}));
  question.phase = phase == "forward" ? Phase::forward : Phase::backward;
  question.reference = !options.has("no_reference");
  return question;
}

// "matmul" of "Functional.matmul.0.forward" or of "Functional.matmul"; any other text as it is.
std::string api_of(const std::string& op) {
  const auto parts = split(op, '.');
  if (parts.size() < 2) return op;
  std::string api;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parse_int(parts[i])) break;
    api += (api.empty() ? "" : ".") + std::string(parts[i]);
  }
  return api;
}

Result<ExitCode> explain(Context& context) {
  ULPSCOPE_ASSIGN(const Question question, read_question(context));
  ULPSCOPE_ASSIGN(Policy policy, chosen_policy(context, context.options()));
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  JudgementChooser chooser(std::move(policy), *registry);
  const std::string api = api_of(question.api);
  ulpscope_op_record op = {};
  op.struct_size = sizeof op;
  op.kind = ULPSCOPE_OP_API;
  op.name = to_str(question.api);
  op.type = to_str(api);
  ulpscope_pair pair = {};
  pair.struct_size = sizeof pair;
  pair.op = &op;
  pair.role = static_cast<int32_t>(question.role);
  pair.actual_dtype = pair.golden_dtype = static_cast<int32_t>(question.dtype);
  const PolicySubject subject{
      api, question.api, OpKind::api, question.phase, question.role, question.dtype, question.inputs, -1, -1};
  ULPSCOPE_ASSIGN(const Choice choice, chooser.choose(subject, pair, question.reference));
  Output& out = context.out();
  out << "operation  " << printable(api) << ", " << name(question.dtype) << ", " << policy_word(question.role)
      << "\n";
  out << "policy     " << printable(chooser.policy().name) << "\n";
  if (choice.ignored_by != Choice::kNone) {
    const IgnoreRule& rule = chooser.policy().ignore[static_cast<size_t>(choice.ignored_by)];
    out << "ignored    " << printable(rule.why) << "\n"
        << "source     " << to_text(rule.place) << "\n";
    return ExitCode::success;
  }
  out << "level      " << chooser.policy().level_of(api) << "\n";
  if (!choice.note.empty()) out << "passed     " << printable(choice.note) << "\n";
  if (choice.judgement == Choice::kNone) {
    out << "judgement  similarity (no rule is left)\n";
    return ExitCode::success;
  }
  const std::string judgement(chooser.judgement(choice.judgement).name());
  const std::string given = chooser.options_json(choice.judgement);
  out << "judgement  " << judgement << "\n";
  out << "options    " << (given == "{}" ? "" : printable(given) + ", else ")
      << "the defaults that 'ulpscope plugins show " << judgement << "' prints\n";
  out << "source     " << to_text(chooser.policy().rules[static_cast<size_t>(choice.rule)].place) << "\n";
  return ExitCode::success;
}

Result<ExitCode> import_lists(Context& context) {
  ULPSCOPE_ASSIGN(const std::string path, context.options().required(1, "FILE"));
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMostBytes));
  ULPSCOPE_ASSIGN(const ImportedPolicy imported, import_policy(path, text));
  for (const std::string& note : imported.notes) context.log().warning(note);
  context.out() << imported.text;
  return ExitCode::success;
}

class PolicyCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "policy";
    info.group = CommandGroup::extend;
    info.summary = "The rules: which judgement for which operation";
    info.synopsis = "show [NAME] | check FILE... | explain OP | import FILE";
    info.description =
        "show prints a built-in policy, or their names. check reads policy files and says what is "
        "wrong with each, with line and column. explain says which rule decides on an output of OP and with "
        "which "
        "options. "
        "import turns the standard lists of msprobe into a policy on stdout.";
    info.example = "ulpscope policy explain matmul --dtype bfloat16 --policy my.yaml";
    info.max_positional = kMostWords;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> specs = policy_options();
    specs.push_back({"dtype", {}, OptionKind::value, "TYPE", "explain: element type (default float32)"});
    specs.push_back(
        {"input_dtype", {}, OptionKind::value, "TYPE", "explain: of the inputs (default --dtype)"});
    specs.push_back({"role", {}, OptionKind::value, "ROLE", "explain: output (default), input, …"});
    specs.push_back({"phase", {}, OptionKind::value, "PHASE", "explain: forward (default) or backward"});
    specs.push_back({"no_reference", {}, OptionKind::flag, "", "explain: there is no reference device"});
    return specs;
  }

  Result<ExitCode> run(Context& context) override {
    const auto& words = context.options().positional();
    const std::vector<std::string> actions = {"show", "check", "explain", "import"};
    if (words.empty())
      return Error{Code::usage, "an action is missing, expected show, check, explain or import"};
    if (words[0] == "check") return check(context);
    if (words.size() > 2) return Error{Code::usage, "unexpected argument '" + printable(words[2]) + "'"};
    if (words[0] == "show") return show(context);
    if (words[0] == "explain") return explain(context);
    if (words[0] == "import") return import_lists(context);
    return Error{Code::usage, "unknown action '" + printable(words[0]) +
                                  "', expected show, check, explain or import" +
                                  suggestion(words[0], actions)};
  }
};

}  // namespace

std::unique_ptr<Command> make_policy_command() { return std::make_unique<PolicyCommand>(); }

}  // namespace ulpscope
