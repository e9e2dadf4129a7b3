#include "flow/flow.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "flow/flow_stages.hpp"
#include "flow/request.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kOrigin = "origin", kHigh = "high_precision";
// A keep list of more than this share of the operators says that the whole network needs high precision;
// lists of a few operators say nothing yet.
constexpr size_t kKeepShare = 3, kLeastKept = 8;
// Limits of the hint that a scale is wrong, which a cosine does not see.
constexpr double kScaleCosine = 0.999, kScaleError = 0.05;
// The largest float16; accelerators saturate at it.
constexpr double kHalfLimit = 65504;

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// All of an operator's originals are kept already.
bool is_kept(const std::vector<std::string>& keep, const ComparedOp& op) {
  return std::all_of(op.originals.begin(), op.originals.end(),
                     [&](const std::string& name) { return contains(keep, name); });
}

// A name that a list of one name a line may not carry as it is.
bool is_odd_name(const std::string& name) {
  return name.empty() || name[0] == '#' || std::any_of(name.begin(), name.end(), [](char c) {
           return c <= ' ' || static_cast<unsigned char>(c) > 0x7e;
         });
}

FirstDifference first_of(const ComparedOp& op) {
  const ComparedOutput& output = *op.difference();
  return {op.name, op.type, output.output, output.cosine, op.originals, op.inputs};
}

class Flow {
 public:
  Flow(const StageFile& file, const FlowHost& host) : file_(file), host_(host), stages_(file, host) {}

  Result<FlowResult> run() {
    ULPSCOPE_TRY(start(std::string(kOrigin)));
    return std::move(out_);
  }

 private:
  FlowStep& add_step(std::string step, std::string stage) {
    out_.steps.push_back({});
    FlowStep& added = out_.steps.back();
    added.step = std::move(step);
    added.stage = std::move(stage);
    return added;
  }

  Status end(std::string_view outcome) {
    out_.outcome = outcome;
    out_.keep_list = keep_;
    return {};
  }

  Status ask(const std::string& stage, const std::string& question = {}) {
    out_.ask = make_request(stage, keep_, file_.find(kOrigin)->options);
    if (!question.empty()) out_.ask->question = question;
    return end("asked");
  }

  // The verdict of a stage as a step; false: it is not known, and the flow has ended with a question.
  Result<bool> judge(const std::string& step, const std::string& stage) {
    ULPSCOPE_ASSIGN(const StageDump* opened, stages_.stage(stage));
    static_cast<void>(opened);
    ULPSCOPE_ASSIGN(StageVerdict verdict, stages_.verdict(stage));
    const std::string question = "does the final result of stage " + stage + " reach the required accuracy?";
    if (!verdict.met) {
      verdict.met = host_.ask(question);
      verdict.by = "user";
    }
    if (!verdict.met) {
      ULPSCOPE_TRY(
          ask(stage, question + " Answer with met: true or met: false in the stage file, or name a golden"));
      return false;
    }
    FlowStep& added = add_step(step, stage);
    added.final_cosine = verdict.final_cosine;
    added.met = verdict.met;
    added.met_by = verdict.by;
    return true;
  }

  Status start(const std::string& origin) {
    origin_ = origin;
    ULPSCOPE_ASSIGN(const bool known, judge("1", origin));
    if (!known) return {};
    const bool met = *out_.steps.back().met;
    out_.steps.back().next = met ? "end" : "2a";
    return met ? end("met") : high_precision();
  }

  Status high_precision() {
    if (!stages_.has(std::string(kHigh))) return ask(std::string(kHigh));
    ULPSCOPE_ASSIGN(const bool known, judge("2a", std::string(kHigh)));
    if (!known) return {};
    if (!*out_.steps.back().met) {
      out_.steps.back().next = "3";
      return cache();
    }
    std::optional<bool> performance = file_.keep_performance;
    if (!performance) performance = host_.ask("high precision cures the result; is its speed needed back?");
    out_.steps.back().next = performance.value_or(true) ? "2b" : "end";
    return performance.value_or(true) ? keep_rounds() : end("cured_by_high_precision");
  }

  Result<FlowStep*> comparing_step(const std::string& step, const std::string& mine,
                                   const std::string& reference, StageComparison& comparison) {
    FlowStep& added = add_step(step, mine);
    added.compares = true;
    added.mine = mine;
    added.reference = reference;
    for (const ComparedOp& op : comparison.ops) {
      const ComparedOutput* output = op.difference();
      if (output == nullptr) continue;
      added.below_limit.push_back({op.name, op.type, op.originals, output->cosine, op.inputs});
      if (!added.first) added.first = first_of(op);
    }
    add_notes(comparison, added);
    return &added;
  }

  static void add_notes(const StageComparison& comparison, FlowStep& step) {
    if (comparison.all_equal)
      step.notes.emplace_back(
          "the two builds gave equal values: the option changed nothing (equal is not yet right)");
    if (comparison.unreadable > 0)
      step.notes.push_back(std::to_string(comparison.unreadable) + " tensors could not be read");
    for (const ComparedOp& op : comparison.ops)
      for (const ComparedOutput& output : op.outputs) {
        const std::string name = printable(op.name) + " output " + std::to_string(output.output);
        if (output.differs && output.largest >= kHalfLimit && output.dtype == DType::f16)
          step.notes.push_back(name + " reaches " + number_text(output.largest) + ": an overflow of float16");
        if (!output.differs && output.cosine && *output.cosine > kScaleCosine &&
            output.rel_l2.value_or(0) > kScaleError)
          step.notes.push_back(name + " has a cosine near 1 and a relative error of " +
                               number_text(*output.rel_l2) + ": a wrong scale?");
      }
    if (step.first && step.first->inputs == InputState::bad)
      step.notes.push_back("the inputs of " + printable(step.first->op) +
                           " differ already: what fed it had no counterpart");
  }

  // S2: compare, keep one more operator, rebuild, until nothing differs.
  Status keep_rounds() {
    std::string current = origin_;
    for (int64_t round = 1;; ++round) {
      ULPSCOPE_ASSIGN(StageComparison comparison, stages_.compare(current, std::string(kHigh)));
      ULPSCOPE_ASSIGN(FlowStep * step, comparing_step("2c", current, std::string(kHigh), comparison));
      step->round = round;
      ULPSCOPE_ASSIGN(const StageVerdict verdict, stages_.verdict(current));
      step->final_cosine = verdict.final_cosine;
      step->met = verdict.met;
      step->met_by = verdict.by;
      const std::vector<const ComparedOp*> chosen = choose(comparison, *step);
      for (const ComparedOp* op : chosen)
        for (const std::string& name : op->originals) {
          if (contains(keep_, name)) continue;
          keep_.push_back(name);
          if (is_odd_name(name))
            step->notes.push_back("check that the converter takes the name '" + printable(name) + "'");
        }
      step->keep_list = keep_;
      step->next = chosen.empty() ? "end" : "2d";
      if (chosen.empty()) return end_of_rounds(*step, current);
      if (round >= file_.max_rounds ||
          (keep_.size() > kLeastKept && keep_.size() * kKeepShare > comparison.ops.size())) {
        step->next = "end";
        step->notes.emplace_back("so many operators need high precision: build the whole network with it");
        return end("no_progress");
      }
      const std::string next = "keep_" + std::to_string(round);
      if (!stages_.has(next)) return ask(next);
      current = next;
      // What the user says was kept counts; left out, it is the list found so far.
      if (const Stage& stage = *file_.find(next); !stage.keep.empty()) keep_ = stage.keep;
    }
  }

  // The operators to keep next: the first that differs and is not kept yet. One that is kept and differs
  // still is passed over if it really ran in float32.
  std::vector<const ComparedOp*> choose(const StageComparison& comparison, FlowStep& step) const {
    std::vector<const ComparedOp*> chosen;
    for (const ComparedOp& op : comparison.ops) {
      const ComparedOutput* output = op.difference();
      if (output == nullptr) continue;
      if (is_kept(keep_, op)) {
        if (output->dtype != DType::f32) {
          step.notes.push_back(printable(op.name) + " is in the keep list and still " + name(output->dtype) +
                               ": keeping had no effect; try OpType::" + printable(op.type) +
                               ", then --customize_dtypes, then --modify_mixlist");
          break;
        }
        step.notes.push_back(
            printable(op.name) +
            " is kept without effect: it ran in float32 and differs still; look at its inputs");
        continue;
      }
      const bool passed_kept = !chosen.empty() || step.first->op != op.name;
      if (passed_kept && op.inputs == InputState::bad) continue;
      chosen.push_back(&op);
      if (static_cast<int64_t>(chosen.size()) >= file_.batch) break;
    }
    for (const ComparedOp* op : chosen)
      if (op->originals.size() > 1)
        step.notes.push_back(printable(op->name) + " is fused: its originals are kept together");
    return chosen;
  }

  Status end_of_rounds(const FlowStep& step, const std::string& current) {
    if (step.first) return end("no_progress");
    if (!step.met) {
      const std::string question =
          "does the final result of stage " + current + " reach the required accuracy?";
      const std::optional<bool> answer = host_.ask(question);
      if (!answer) return ask(current, question + " Answer with met: true or met: false in the stage file");
      return end(*answer ? "cured_by_keep" : "nothing_found");
    }
    return end(*step.met ? "cured_by_keep" : "nothing_found");
  }

  // S3 and S4: a build without one optimisation; when it cures, what that optimisation broke is listed.
  Status without(const std::string& stage, const char* verdict_step, const char* compare_step,
                 const char* if_cured, const char* otherwise, const char* outcome, Status (Flow::*go_on)()) {
    if (!stages_.has(stage)) return ask(stage);
    ULPSCOPE_ASSIGN(const bool known, judge(verdict_step, stage));
    if (!known) return {};
    const bool met = *out_.steps.back().met;
    out_.steps.back().next = met ? if_cured : otherwise;
    if (!met) return (this->*go_on)();
    ULPSCOPE_ASSIGN(StageComparison comparison, stages_.compare(origin_, stage));
    ULPSCOPE_ASSIGN(FlowStep * step, comparing_step(compare_step, origin_, stage, comparison));
    step->next = "contact support";
    return end(outcome);
  }

  Status cache() { return without("cache_off", "3a", "3c", "3b", "4", "cache", &Flow::fusion); }
  Status fusion() { return without("fusion_off", "4a", "4c", "4b", "5", "fusion", &Flow::data); }

  Status data() {
    FlowStep& step = add_step("5", origin_);
    if (stages_.has_golden()) {
      ULPSCOPE_ASSIGN(step.inputs, stages_.inputs_against_golden(origin_));
    }
    const bool differ = std::any_of(step.inputs.begin(), step.inputs.end(), [](const ComparedInput& input) {
      return input.compared && !input.equal;
    });
    const bool agree =
        std::any_of(step.inputs.begin(), step.inputs.end(), [](const ComparedInput& i) { return i.equal; });
    std::optional<bool> right = file_.data_right;
    if (differ) {
      step.notes.emplace_back("the network's input differs from golden's: mend this first");
      right = false;
    } else if (agree) {
      step.notes.emplace_back(
          "the network's inputs agree with golden's: AIPP and pre-processing are unlikely");
    }
    const std::string question =
        "are data, pre-processing, AIPP configuration and post-processing those of the framework's run?";
    if (!right) right = host_.ask(question);
    if (!right) {
      step.next = "5";
      return ask("data_check",
                 question + " Answer with data_check: right or data_check: wrong in the stage file");
    }
    step.next = *right ? "6" : "end";
    if (*right) return golden();
    if (!stages_.has("data_checked") || origin_ == "data_checked") return end("data");
    return start("data_checked");
  }

  Status golden() {
    if (!stages_.has_golden())
      return ask("golden", "name the folder of golden tensors (npy files of a CPU or GPU run) as golden");
    ULPSCOPE_ASSIGN(StageComparison comparison, stages_.compare_with_golden(origin_));
    ULPSCOPE_ASSIGN(FlowStep * step, comparing_step("6", origin_, "golden", comparison));
    step->next = "contact support";
    return end("golden_compared");
  }

  const StageFile& file_;
  const FlowHost& host_;
  FlowStages stages_;
  std::string origin_;
  std::vector<std::string> keep_;
  FlowResult out_;
};

}  // namespace

Result<FlowResult> run_flow(const StageFile& file, const FlowHost& host) { return Flow(file, host).run(); }

}  // namespace ulpscope
