// Checks one API call: runs it in high precision and on the device (or takes what the dump recorded of one),
// compares every output and every gradient. The work of a worker process; knows no files but the dump's and
// those of saved error data.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "execute/call_inputs.hpp"
#include "execute/check_plan.hpp"
#include "execute/check_report.hpp"
#include "execute/output_judge.hpp"
#include "plugin/handles.hpp"

namespace ulpscope {

// Who runs the calls. golden: in order of preference, those that do not support a call are passed over.
struct CheckExecutors {
  std::vector<ExecutorHandle> golden;
  std::optional<ExecutorHandle> device;  // none: the recorded outputs are the device's
};

struct CheckRules {
  InputRules inputs;
  std::string error_folder;                   // where to save what did not pass; empty: nowhere
  uint64_t limit_bytes = uint64_t{16} << 30;  // of the outputs of one run
};

class ApiChecker {
 public:
  // take_notes gives what the executors logged since it was last called. All outlive the checker.
  ApiChecker(const DumpIndex& index, CheckExecutors& executors, OutputJudge& judge, CheckRules rules,
             std::function<std::vector<std::string>()> take_notes)
      : index_(index),
        executors_(executors),
        judge_(judge),
        rules_(std::move(rules)),
        take_notes_(std::move(take_notes)) {}

  // Never fails: what cannot be run or compared is SKIP with the reason.
  CheckReport check(const CheckItem& item);

 private:
  struct Run {
    std::vector<OutputTensor> outputs;
    std::string error, notes;  // error: why there are no outputs
  };
  Run run(const std::vector<ExecutorHandle*>& executors, const CheckItem& item, Phase phase,
          const CallInputs& inputs);
  Run golden(const CheckItem& item, Phase phase, const CallInputs& inputs);
  Run device(const CheckItem& item, Phase phase, const CallInputs& inputs);
  std::vector<CheckOutput> compare_forward(const CheckItem& item, const Run& golden, const Run& device);
  void check_backward(const CheckItem& item, CallInputs& inputs, size_t output_count, CheckReport& report);
  std::vector<CheckOutput> compare_backward(const CheckItem& item, const CallInputs& inputs,
                                            const Run& golden, const Run& device);
  JudgedApi judged(const CheckItem& item, const ulpscope_op_record& op) const;
  void save(const CheckItem& item, std::string_view direction, OutputStatus status, const CallInputs& inputs,
            const Run& golden, const Run& device, CheckReport& report);

  const DumpIndex& index_;
  CheckExecutors& executors_;
  OutputJudge& judge_;
  CheckRules rules_;
  std::function<std::vector<std::string>()> take_notes_;
};

}  // namespace ulpscope
