#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "conformance/check.hpp"
#include "conformance/judgement_samples.hpp"
#include "conformance/quiet_watch.hpp"
#include "conformance/recorder.hpp"
#include "plugin/outputs.hpp"

namespace ulpscope {
namespace {

constexpr int kLimitSeconds = 60;
constexpr uint64_t kMostOutputBytes = uint64_t{1} << 24;

// Both texts must outlive the record.
ulpscope_op_record op_of(std::string_view name, std::string_view type) {
  ulpscope_op_record op = {};
  op.struct_size = sizeof op;
  op.kind = ULPSCOPE_OP_API;
  op.phase = ULPSCOPE_FORWARD;
  op.step = op.rank = op.token = -1;
  op.parent = ULPSCOPE_NO_INDEX;
  op.name = to_str(name);
  op.type = to_str(type);
  return op;
}

template <class F>
void for_executors(const CheckSubject& subject, CheckFindings& report, F body) {
  const CheckHost host;
  for (const ulpscope_executor_desc& desc : subject.tables->executors) {
    report.set_component(desc.name);
    const auto executor = ExecutorHandle::create(desc, host.table(), "{}");
    if (executor.ok())
      body(*executor);
    else
      report.error("cannot be made without options: " + executor.error().message);
  }
}

// Operations that take one or two tensors, of which an executor is likely to know some.
struct KnownOp {
  const char* type;
  size_t inputs;
};
constexpr KnownOp kKnownOps[] = {{"relu", 1},    {"abs", 1},  {"neg", 1},  {"exp", 1},
                                 {"sigmoid", 1}, {"tanh", 1}, {"sqrt", 1}, {"softmax", 1},
                                 {"add", 2},     {"mul", 2},  {"sub", 2},  {"matmul", 2}};

template <class F>
void for_known_ops(const ExecutorHandle& executor, F body) {
  for (const KnownOp& known : kKnownOps) {
    const std::string name = "Torch." + std::string(known.type) + ".0.forward";
    const ulpscope_op_record op = op_of(name, known.type);
    if (executor.supports(op)) body(known, op);
  }
}

// Square matrices, so that each of the operations can take them.
struct Inputs {
  static constexpr int64_t kSide = 4;
  explicit Inputs(size_t count, DType dtype) : pair(noisy_pair(dtype, kSide * kSide)) {
    for (size_t i = 0; i < count; ++i) {
      const SampleTensor& tensor = i == 0 ? pair.actual : pair.golden;
      tensors.push_back(
          {ULPSCOPE_INPUT, 2, dims, to_str(i == 0 ? "0" : "1"), tensor.view(0, tensor.count), 0, 0});
    }
  }
  SamplePair pair;
  int64_t dims[2] = {kSide, kSide};
  std::vector<ulpscope_tensor> tensors;
};

Result<std::vector<OutputTensor>> run(const ExecutorHandle& executor, const ulpscope_op_record& op,
                                      const std::vector<ulpscope_tensor>& inputs) {
  OutputCollector collector(kMostOutputBytes);
  ULPSCOPE_TRY(executor.run(op, inputs, collector.sink()));
  return collector.take();
}

void check_unknown_op(const CheckSubject& subject, CheckFindings& report) {
  for_executors(subject, report, [&](const ExecutorHandle& executor) {
    const std::string name = "Torch.there_is_no_such_operation.0.forward",
                      type = "there_is_no_such_operation";
    const ulpscope_op_record op = op_of(name, type);
    if (executor.supports(op)) report.error("says that it supports an operation that does not exist");
    const Inputs inputs(1, DType::f32);
    const auto outputs = run(executor, op, inputs.tensors);
    if (outputs.ok()) report.error("runs an operation that does not exist without an error");
    if (!outputs.ok() && outputs.error().code == Code::internal) report.error(outputs.error().message);
  });
}

void check_wrong_inputs(const CheckSubject& subject, CheckFindings& report) {
  for_executors(subject, report, [&](const ExecutorHandle& executor) {
    for_known_ops(executor, [&](const KnownOp& known, const ulpscope_op_record& op) {
      const auto nothing = run(executor, op, {});
      if (nothing.ok()) report.error(fmt::format("{} without an input gives no error", known.type));
      if (!nothing.ok() && nothing.error().code == Code::internal)
        report.error(fmt::format("{} without an input: {}", known.type, nothing.error().message));
      const auto logical = run(executor, op, Inputs(known.inputs, DType::b8).tensors);
      if (!logical.ok() && logical.error().code == Code::internal)
        report.error(fmt::format("{} of bool: {}", known.type, logical.error().message));
    });
  });
}

void check_inputs_unchanged(const CheckSubject& subject, CheckFindings& report) {
  for_executors(subject, report, [&](const ExecutorHandle& executor) {
    for_known_ops(executor, [&](const KnownOp& known, const ulpscope_op_record& op) {
      const Inputs inputs(known.inputs, DType::f32);
      const SamplePair before = inputs.pair;
      (void)run(executor, op, inputs.tensors);
      if (inputs.pair.actual.bytes != before.actual.bytes || inputs.pair.golden.bytes != before.golden.bytes)
        report.error(fmt::format("{} changes its inputs", known.type));
    });
  });
}

void check_run_twice(const CheckSubject& subject, CheckFindings& report) {
  for_executors(subject, report, [&](const ExecutorHandle& executor) {
    size_t ran = 0;
    for_known_ops(executor, [&](const KnownOp& known, const ulpscope_op_record& op) {
      const Inputs inputs(known.inputs, DType::f32);
      const auto first = run(executor, op, inputs.tensors), second = run(executor, op, inputs.tensors);
      ran += first.ok() ? 1 : 0;
      if (first.ok() != second.ok())
        return report.error(fmt::format("{} runs once and not again", known.type));
      if (!first.ok()) return;
      bool equal = first->size() == second->size();
      for (size_t i = 0; equal && i < first->size(); ++i) equal = (*first)[i].data == (*second)[i].data;
      if (!equal) report.error(fmt::format("{} gives other numbers the second time", known.type));
    });
    if (ran == 0) report.note("runs none of the operations that the kit knows: nothing was compared");
  });
}

void check_quiet(const CheckSubject& subject, CheckFindings& report) {
  for_executors(subject, report, [&](const ExecutorHandle& executor) {
    // A library that an executor stands on may start its workers with the first run.
    for_known_ops(executor, [&](const KnownOp& known, const ulpscope_op_record& op) {
      (void)run(executor, op, Inputs(known.inputs, DType::f64).tensors);
    });
    const QuietWatch watch;
    for_known_ops(executor, [&](const KnownOp& known, const ulpscope_op_record& op) {
      (void)run(executor, op, Inputs(known.inputs, DType::f32).tensors);
    });
    watch.report("while it runs", report);
  });
}

}  // namespace

std::vector<Check> executor_checks() {
  constexpr CheckKind kind = CheckKind::executor;
  return {
      {"executor.unknown_op", kind, false, kLimitSeconds, "an operation that does not exist is an error",
       check_unknown_op},
      {"executor.wrong_inputs", kind, false, kLimitSeconds, "no input and the wrong type are errors",
       check_wrong_inputs},
      {"executor.inputs_unchanged", kind, false, kLimitSeconds, "inputs are left as they were",
       check_inputs_unchanged},
      {"executor.run_twice", kind, false, kLimitSeconds, "the same run gives the same bits", check_run_twice},
      {"executor.quiet", kind, false, kLimitSeconds, "prints nothing and changes nothing around",
       check_quiet},
  };
}

}  // namespace ulpscope
