#include "incident/incident_flow.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "incident/incident_engine.hpp"
#include "incident/incident_findings.hpp"
#include "incident/incident_inputs.hpp"
#include "incident/incident_state.hpp"
#include "incident/incident_steps.hpp"
#include "locate/evidence.hpp"
#include "report/output_file.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr int kSteps = 10, kMostFolders = 10'000;
constexpr int kUnreadable = 3, kUsage = 2, kInternal = 4;

using Words = std::vector<std::string>;

std::string shown(const Words& words) {
  std::string text = "ulpscope";
  for (const std::string& word : words) text.append(" ").append(shell_word(word));
  return text;
}

Words joined(Words words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The …_result.json of a folder of results; empty: none.
std::string result_file(const std::string& folder) {
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    if (at->path().filename().string().ends_with("_result.json")) return at->path().string();
  return {};
}

constexpr std::string_view kUnequal = " does not equal itself";
constexpr std::string_view kReplayFile = "replay_result.txt";

std::string or_word(const std::string& text, const std::string& word) { return text.empty() ? word : text; }

class Flow {
 public:
  Flow(std::string folder, bool go_on, const IncidentHost& host, IncidentInputs inputs)
      : folder_(std::move(folder)),
        go_on_(go_on),
        host_(host),
        in_(std::move(inputs)),
        before_(read_incident_state(folder_)) {}

  IncidentState run() {
    outputs();
    scores();
    configuration();
    repeats();
    first_token();
    places();
    ledgers();
    dumps();
    comparison();
    replay();
    state_.next = next_step();
    return std::move(state_);
  }

 private:
  // Whether later steps have answered what a step would have been for.
  bool is_passed(const IncidentStep& step) const {
    if (step.state != "todo" || step.missing.empty()) return false;
    const auto is_done = [&](int number) {
      return state_.steps[static_cast<size_t>(number - 1)].state == "done";
    };
    if (!culprit_.empty()) return step.number < kSteps;
    if (step.number == 2) return !token_.empty();                 // a case is picked
    return (step.number == 6 || step.number == 7) && is_done(8);  // the dumps are there
  }

  int next_step() const {
    for (const IncidentStep& step : state_.steps)
      if (step.state == "failed" && (blocked_by_ == 0 || go_on_ || step.number < blocked_by_))
        return step.number;
    if (blocked_by_ > 0 && !go_on_) return blocked_by_;
    for (const IncidentStep& step : state_.steps)
      if (step.state != "done" && !is_passed(step)) return step.number;
    return 0;
  }

  // A path in the folder of the incident, as it can be given to a command.
  std::string in_folder(const std::string& name) const {
    return folder_ == "." ? name : folder_ + "/" + name;
  }

  // An option that takes several files.
  Words files_or(const char* option, const std::vector<std::string>& paths, const char* name) const {
    return joined({option}, paths.empty() ? Words{in_folder(name)} : paths);
  }

  // Says that a step waits for another one.
  void wait(IncidentStep& step) const {
    const std::string number = std::to_string(blocked_by_);
    step.state = "blocked";
    step.finding = {"step " + number + " comes first (--go-on does not wait for it)",
                    "先处理步骤 " + number + "（--go-on 不等待）"};
  }

  IncidentStep& open(int number) {
    IncidentStep step;
    step.number = number;
    state_.steps.push_back(std::move(step));
    return state_.steps.back();
  }

  // Whether a step can be run; says in it why not.
  bool is_ready(IncidentStep& step, const std::string& command) const {
    if (!step.missing.empty()) return false;
    if (blocked_by_ > 0 && !go_on_) {
      wait(step);
      return false;
    }
    if (host_.has_command(command)) return true;
    step.finding = {"this program has no command " + command, "本程序没有命令 " + command};
    return false;
  }

  // Runs the command of a step, or keeps what it found when its inputs are the same. file: "anomaly".
  void execute(IncidentStep& step, Words words, const std::string& file,
               const std::vector<std::string>& inputs) {
    step.command = shown(words);
    if (!is_ready(step, words[0])) return;
    step.inputs = fingerprint(inputs) + ":" + step.command;
    const IncidentStep* old = kept(step);
    if (old != nullptr) {
      step.result = old->result;
      step.state = "done";
    } else {
      run_command(step, std::move(words), file);
    }
    if (step.state == "done") judge(step);
  }

  struct SideCommand {
    std::string side;
    Words words;
  };

  // The same of a step with a command for each side; say tells of the side whose result step.result is.
  void execute_sides(IncidentStep& step, const std::vector<SideCommand>& commands, const std::string& file,
                     const std::vector<std::string>& inputs,
                     const std::function<BothLanguages(const std::string&)>& say) {
    for (const SideCommand& each : commands)
      step.command += (step.command.empty() ? "" : " && ") + shown(each.words);
    if (!is_ready(step, commands[0].words[0])) return;
    step.inputs = fingerprint(inputs) + ":" + step.command;
    if (const IncidentStep* old = kept(step)) {
      step.state = "done";
      step.result = old->result;
      step.finding = old->finding;
      return;
    }
    BothLanguages finding;
    for (const SideCommand& each : commands) {
      run_command(step, each.words, file);
      if (step.state != "done") return;
      const BothLanguages said = say(each.side);
      finding.en += (finding.en.empty() ? "" : "; ") + said.en;
      finding.zh += (finding.zh.empty() ? "" : "；") + said.zh;
    }
    step.finding = finding;
  }

  const IncidentStep* kept(const IncidentStep& step) const {
    std::error_code failed;
    for (const IncidentStep& old : before_)
      if (old.number == step.number && old.state == "done" && old.inputs == step.inputs &&
          is_safe_relative(old.result) && fs::is_directory(folder_ + "/" + old.result, failed))
        return &old;
    return nullptr;
  }

  void run_command(IncidentStep& step, Words words, const std::string& file) {
    if (host_.started) host_.started(step.number, shown(words));
    std::error_code failed;
    const std::string base = "ulpscope_out/" + std::to_string(step.number) + "_" + file;
    step.result = base;
    for (int i = 2; fs::exists(folder_ + "/" + step.result, failed) && i < kMostFolders; ++i)
      step.result = base + "-" + std::to_string(i);
    std::string output;
    if (step.number == kSteps) {
      // replay writes no files: its answer is kept.
      fs::create_directories(folder_ + "/" + step.result, failed);
      output = folder_ + "/" + step.result + "/" + std::string(kReplayFile);
    } else {
      for (const char* word : {"-q", "--exact-output", "-o"}) words.emplace_back(word);
      words.push_back(folder_ + "/" + step.result);
    }
    const auto code = host_.run(words, output);
    exit_code_ = code.ok() ? *code : kInternal;
    const bool failure = exit_code_ == kUsage || exit_code_ >= kUnreadable;
    step.state = failure ? "failed" : "done";
    if (!failure) return;
    const std::string number = std::to_string(exit_code_);
    const bool unreadable = exit_code_ == kUnreadable;
    step.finding =
        code.ok() ? BothLanguages{"exit code " + number + (unreadable ? ": something could not be read" : ""),
                                  "退出码 " + number + (unreadable ? "：有内容无法读取" : "")}
                  : BothLanguages{code.error().message, code.error().message};
    const StepFinding found = finding_of(step.number, result_file(folder_ + "/" + step.result));
    if (found.text.en.empty()) return;
    step.finding.en += "; " + found.text.en;
    step.finding.zh += "；" + found.text.zh;
  }

  void judge(IncidentStep& step) {
    if (step.number == kSteps) {
      step.finding = replay_finding(folder_ + "/" + step.result + "/" + std::string(kReplayFile));
      return;
    }
    const StepFinding found = finding_of(step.number, result_file(folder_ + "/" + step.result));
    if (!found.readable) {
      step.state = "failed";
      const std::string place = in_folder(step.result);
      step.finding = {place + ": holds no readable …_result.json", place + "：没有可读的 …_result.json"};
      return;
    }
    step.finding = found.text;
    step.stops = found.stops;
    if (!found.culprit.empty()) {
      culprit_ = found.culprit;
      dump_again_ = found.dump_again;
    }
    if (!found.token.empty()) token_ = found.token;
    golden_step_ = found.golden_step;
    problem_step_ = found.problem_step;
    if (step.stops) block(step);
  }

  void block(IncidentStep& step) {
    step.stops = true;
    if (blocked_by_ == 0) blocked_by_ = step.number;
  }

  void need(IncidentStep& step, bool there, std::string en, std::string zh) {
    if (!there) step.missing.push_back({std::move(en), std::move(zh)});
  }

  void outputs() {
    IncidentStep& step = open(1);
    need(step, !in_.problem_outputs.empty(),
         "problem.outputs*: outputs of the problem run (OpenAI JSON, token lines, prints)",
         "problem.outputs*：问题侧输出（OpenAI JSON、token 行、打印）");
    Words words = joined({"anomaly"}, in_.problem_outputs);
    if (in_.problem_outputs.empty()) words.push_back(in_folder("problem.outputs.jsonl"));
    execute(step, words, "anomaly", in_.problem_outputs);
  }

  void scores() {
    IncidentStep& step = open(2);
    need(step, !in_.golden_scores.empty(),
         "golden.scores*: per-sample results of the golden run (CSV, OpenCompass, AISBench, lm-eval)",
         "golden.scores*：标杆侧逐样本结果（CSV、OpenCompass、AISBench、lm-eval）");
    need(step, !in_.problem_scores.empty(), "problem.scores*: the same of the problem run",
         "problem.scores*：问题侧的同类结果");
    const Words words =
        joined(joined({"badcase"}, files_or("--golden", in_.golden_scores, "golden.scores.csv")),
               files_or("--problem", in_.problem_scores, "problem.scores.csv"));
    execute(step, words, "badcase", joined(in_.golden_scores, in_.problem_scores));
  }

  void configuration() {
    IncidentStep& step = open(3);
    const std::string collect = "ulpscope config-check collect -o DIR --model … --launch … --log …";
    const std::string how = " (" + collect + ", on that machine)", zh = "（在该机器上运行 " + collect + "）";
    need(step, !in_.golden_bundle.empty(), "golden/: bundle of the golden run" + how,
         "golden/：标杆侧配置包" + zh);
    need(step, !in_.problem_bundle.empty(), "problem/: bundle of the problem run" + how,
         "problem/：问题侧配置包" + zh);
    execute(step,
            {"config-check", "--golden", or_word(in_.golden_bundle, in_folder("golden")), "--problem",
             or_word(in_.problem_bundle, in_folder("problem"))},
            "config_check", {in_.golden_bundle, in_.problem_bundle});
  }

  void need_runs(IncidentStep& step, const std::string& side, const std::string& zh,
                 const std::vector<std::string>& outputs, const std::vector<std::string>& repeats) {
    need(step, !outputs.empty(), side + ".outputs*: outputs of the " + side + " run",
         side + ".outputs*：" + zh + "输出");
    need(
        step, !repeats.empty(),
        side +
            ".run2*: the same requests a second time (ulpscope guide determinism says how to fix randomness)",
        side + ".run2*：相同请求再跑一次（固定随机性见 ulpscope guide determinism）");
  }

  void repeats() {
    IncidentStep& step = open(4);
    need_runs(step, "golden", "标杆侧", in_.golden_outputs, in_.golden_repeats);
    need_runs(step, "problem", "问题侧", in_.problem_outputs, in_.problem_repeats);
    std::vector<SideCommand> commands;
    for (const char* side : {"golden", "problem"}) {
      const bool golden = side == std::string_view("golden");
      const auto& outputs = golden ? in_.golden_outputs : in_.problem_outputs;
      const auto& repeats = golden ? in_.golden_repeats : in_.problem_repeats;
      Words words = {"first-token-diff", "--runs"};
      words =
          joined(words, outputs.empty() ? Words{in_folder(side + std::string(".outputs.jsonl"))} : outputs);
      words = joined(words, repeats.empty() ? Words{in_folder(side + std::string(".run2.jsonl"))} : repeats);
      commands.push_back({side, std::move(words)});
    }
    const Words inputs = joined(joined(in_.golden_outputs, in_.golden_repeats),
                                joined(in_.problem_outputs, in_.problem_repeats));
    execute_sides(step, commands, "first_token_diff", inputs, [&](const std::string& side) {
      const bool equal = has_one_output_each(result_file(folder_ + "/" + step.result));
      return BothLanguages{
          side + (equal ? " equals itself" : std::string(kUnequal)),
          (side == "golden" ? "标杆侧" : "问题侧") + std::string(equal ? "与自身一致" : "与自身不一致")};
    });
    if (step.state == "done" && step.finding.en.find(kUnequal) != std::string::npos) block(step);
  }

  // Both sides' outputs, as first-token-diff takes them.
  Words sides() const {
    return joined(files_or("--golden", in_.golden_outputs, "golden.outputs.jsonl"),
                  files_or("--problem", in_.problem_outputs, "problem.outputs.jsonl"));
  }

  void first_token() {
    IncidentStep& step = open(5);
    need(step, !in_.golden_outputs.empty(), "golden.outputs*: outputs of the golden run, with token ids",
         "golden.outputs*：标杆侧输出，含 token id");
    need(step, !in_.problem_outputs.empty(), "problem.outputs*: outputs of the problem run, with token ids",
         "problem.outputs*：问题侧输出，含 token id");
    const Words words = joined({"first-token-diff"}, sides());
    execute(step, words, "first_token_diff", joined(in_.golden_outputs, in_.problem_outputs));
  }

  // Where both sides are collected; the golden one as far as its bundle says.
  void places() {
    IncidentStep& step = open(6);
    golden_engine_ = read_incident_engine("golden", in_.golden_bundle);
    problem_engine_ = read_incident_engine("problem", in_.problem_bundle);
    const bool is_npu = problem_engine_.device == "npu";
    need(step, !problem_engine_.vllm.empty(),
         "problem/bundle.json or problem/pip.txt with the version of vLLM",
         "problem/bundle.json 或 problem/pip.txt 中的 vLLM 版本");
    need(step, !is_npu || problem_engine_.vllm.empty() || !problem_engine_.vllm_ascend.empty(),
         "the version of vllm-ascend: \"vllm_ascend\" in problem/bundle.json",
         "vllm-ascend 版本：problem/bundle.json 中的 \"vllm_ascend\"");
    std::vector<SideCommand> commands;
    if (!golden_engine_.vllm.empty() &&
        (golden_engine_.device != "npu" || !golden_engine_.vllm_ascend.empty()))
      commands.push_back({"golden", guide_words(golden_engine_, token_)});
    commands.push_back({"problem", guide_words(problem_engine_, token_)});
    execute_sides(
        step, commands, "guide", {in_.golden_bundle, in_.problem_bundle}, [&](const std::string& side) {
          const std::string text = in_folder(step.result + "/guide_result.txt");
          return BothLanguages{side + ": the places are in " + text,
                               (side == "golden" ? "标杆侧" : "问题侧") + std::string("采集位置见 ") + text};
        });
  }

  void ledgers() {
    IncidentStep& step = open(7);
    const std::string run = "ulpscope instrument --tree DIR --apply --ledger FILE --ledger-only";
    const std::string how = " (" + run + ", then one run)", zh = "（" + run + "，再跑一次）";
    need(step, !in_.golden_ledger.empty(), "golden.ledger.jsonl: step ledger of the golden run" + how,
         "golden.ledger.jsonl：标杆侧步账本" + zh);
    need(step, !in_.problem_ledger.empty(), "problem.ledger.jsonl: step ledger of the problem run" + how,
         "problem.ledger.jsonl：问题侧步账本" + zh);
    need(step, !in_.golden_outputs.empty() && !in_.problem_outputs.empty(),
         "golden.outputs* and problem.outputs*", "golden.outputs* 与 problem.outputs*");
    const Words words = joined(
        {"first-token-diff", "--golden-ledger", or_word(in_.golden_ledger, in_folder("golden.ledger.jsonl")),
         "--problem-ledger", or_word(in_.problem_ledger, in_folder("problem.ledger.jsonl"))},
        sides());
    execute(step, words, "first_token_diff", {words.begin() + 1, words.end()});
  }

  // One side's dump, by the step that the ledger told.
  void need_dump(IncidentStep& step, bool there, const std::string& side, const std::string& number) {
    const bool known = !number.empty() && number != "null";
    need(step, there,
         side + "_dump/: dump of " + (known ? "step " + number : "the step that makes the token") +
             ", written by the collector with " + side + ".config.json (copy its dump_path here)",
         side + "_dump/：" + (known ? "第 " + number + " 步" : "产生该 token 的步") + "的 dump，由采集器按 " +
             side + ".config.json 写出（将其 dump_path 复制到此）");
    Words words = guide_words(side == "golden" ? golden_engine_ : problem_engine_, token_);
    if (known) words = joined(words, {"--step", number});
    step.command += (step.command.empty() ? "" : " && ") +
                    shown(joined(words, {"--emit-config", in_folder(side + ".config.json")}));
  }

  void dumps() {
    IncidentStep& step = open(8);
    need_dump(step, !in_.golden_dump.empty(), "golden", golden_step_);
    need_dump(step, !in_.problem_dump.empty(), "problem", problem_step_);
    if (!step.missing.empty()) return;
    const auto wanted = [](const std::string& number) { return parse_int(number); };
    golden_steps_ = check_dump_steps("golden", in_.golden_dump, in_.golden_ledger, wanted(golden_step_));
    problem_steps_ = check_dump_steps("problem", in_.problem_dump, in_.problem_ledger, wanted(problem_step_));
    if (blocked_by_ > 0 && !go_on_) return wait(step);
    step.state = "done";
    step.finding = {"both dumps are there", "两侧 dump 均已就绪"};
    for (const DumpSteps* side : {&golden_steps_, &problem_steps_}) {
      if (side->text.en.empty()) continue;
      step.finding.en += "; " + side->text.en;
      step.finding.zh += "；" + side->text.zh;
    }
  }

  // The dump of a side; of several steps the one that makes the token, where its number is another on the
  // other side.
  std::string compared(const std::string& dump, const DumpSteps& steps) const {
    const bool apart = !golden_steps_.folder.empty() && !problem_steps_.folder.empty() &&
                       golden_steps_.folder != problem_steps_.folder;
    return apart && golden_steps_.count + problem_steps_.count > 2 ? dump + "/" + steps.folder : dump;
  }

  void comparison() {
    IncidentStep& step = open(9);
    need(step, !in_.golden_dump.empty(), "golden_dump/", "golden_dump/");
    need(step, !in_.problem_dump.empty(), "problem_dump/", "problem_dump/");
    const std::string problem =
                          compared(or_word(in_.problem_dump, in_folder("problem_dump")), problem_steps_),
                      golden = compared(or_word(in_.golden_dump, in_folder("golden_dump")), golden_steps_);
    execute(step, {"compare", problem, golden}, "compare", {in_.problem_dump, in_.golden_dump});
  }

  void replay() {
    IncidentStep& step = open(10);
    need(step, !culprit_.empty(), "a culprit of step 9", "步骤 9 找到的嫌疑算子");
    need(step, dump_again_.empty(), "data of " + culprit_ + " in the dumps; " + dump_again_,
         "dump 中 " + culprit_ + " 的张量数据；" + dump_again_);
    execute(step,
            {"replay", compared(or_word(in_.problem_dump, in_folder("problem_dump")), problem_steps_), "--op",
             culprit_.empty() ? "NAME" : culprit_, "--against",
             compared(or_word(in_.golden_dump, in_folder("golden_dump")), golden_steps_)},
            "replay", {in_.problem_dump});
  }

  const std::string folder_;
  const bool go_on_;
  const IncidentHost& host_;
  const IncidentInputs in_;
  const std::vector<IncidentStep> before_;
  IncidentState state_;
  int blocked_by_ = 0, exit_code_ = 0;
  std::string culprit_, dump_again_, token_, golden_step_, problem_step_;
  DumpSteps golden_steps_, problem_steps_;
  IncidentEngine golden_engine_, problem_engine_;
};

}  // namespace

bool IncidentState::any_failed() const {
  return std::any_of(steps.begin(), steps.end(),
                     [](const IncidentStep& step) { return step.state == "failed"; });
}

Result<IncidentState> run_incident(std::string folder, bool go_on, const IncidentHost& host) {
  while (folder.size() > 1 && folder.ends_with("/")) folder.pop_back();
  ULPSCOPE_ASSIGN(IncidentInputs inputs, find_incident_inputs(folder));
  IncidentState state = Flow(folder, go_on, host, std::move(inputs)).run();
  const std::string path = folder + "/flow.json";
  std::error_code ignored;
  fs::remove(path, ignored);
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  file.text() += incident_json(state);
  ULPSCOPE_TRY(file.commit());
  return state;
}

}  // namespace ulpscope
