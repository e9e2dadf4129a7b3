#include "execute/api_checker.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/text.hpp"
#include "execute/error_data.hpp"
#include "execute/gradient_pairs.hpp"
#include "execute/recorded_outputs.hpp"

namespace ulpscope {
namespace {

// Fewer zeros than this differ by chance. Source: acc_check.
constexpr int64_t kLeastDropout = 100;
constexpr double kDropoutShare = 0.1;
constexpr std::string_view kDropoutAlgorithm = "dropout";

bool is_dropout(const CheckItem& item) { return item.id.find("dropout") != std::string::npos; }

bool is_data_error(const Error& error) { return error.code == Code::io || error.code == Code::format; }

// The two APIs of several outputs whose gradient starts at the first one.
bool has_leading_output(const CheckItem& item) {
  return item.api == "topk" || item.api == "npu_fusion_attention";
}

bool has_out_argument(const DumpIndex& index, const CheckItem& item) {
  for (const ItemRow& row : index.items(item.forward)) {
    const std::string_view path = index.text(row.path);
    if (row.role == Role::kwarg && (path == "out" || path.starts_with("out.")) &&
        (row.tensor != kNoIndex || index.text(row.type) != "None"))
      return true;
  }
  return false;
}

bool has_unusable_record(const DumpIndex& index, OpId op) {
  for (const ItemRow& row : index.items(op))
    if (row.tensor != kNoIndex && index.tensors()[row.tensor].absent == ULPSCOPE_ABSENT_BAD) return true;
  return false;
}

// Why the backward of an API is not run; empty: it is.
std::string reason_against_backward(const DumpIndex& index, const CheckItem& item, size_t outputs) {
  if (has_out_argument(index, item)) return "the backward is not run where out= is given";
  if (item.api == "repeat_interleave" || item.api == "masked_select")
    return "the backward of " + item.api + " is not run: the size of its result depends on the data";
  if (outputs != 1 && !has_leading_output(item))
    return fmt::format("the backward is not run: the API has {} outputs, expected one", outputs);
  return {};
}

std::string output_row_name(const CheckItem& item, std::string_view direction, size_t index) {
  return fmt::format("{}.{}.output.{}", item.id, direction, index);
}

// How many zeros a dropout left, against the golden's.
CheckOutput compare_dropout(std::string name, const OutputTensor& golden, const OutputTensor& device) {
  CheckOutput row = skipped_output(std::move(name), "");
  row.algorithm = kDropoutAlgorithm;
  row.status = OutputStatus::pass;
  const int64_t count = element_count(device);
  if (element_count(golden) != count) {
    row.status = OutputStatus::error;
    row.message = "the shape is " + shape_text(device.shape) + ", the golden's " + shape_text(golden.shape);
  } else if (count >= kLeastDropout) {
    const int64_t zeros = zero_count(device), expected = zero_count(golden);
    const double share = static_cast<double>(std::abs(zeros - expected)) / static_cast<double>(count);
    row.message = fmt::format("random: compared by the number of zeros, {} against {}", zeros, expected);
    if (!(share < kDropoutShare)) row.status = OutputStatus::error;
  } else {
    row.message = "random, and too small to compare the number of zeros";
  }
  return row;
}

}  // namespace

ApiChecker::Run ApiChecker::run(const std::vector<ExecutorHandle*>& executors, const CheckItem& item,
                                Phase phase, const CallInputs& inputs) {
  const ulpscope_op_record op = op_record(index_, item.forward, phase);
  const std::vector<ulpscope_tensor> views = inputs.views();
  Run run;
  take_notes_();
  for (ExecutorHandle* executor : executors) {
    if (executor != executors.back() && !executor->supports(op)) continue;
    OutputCollector collector(rules_.limit_bytes);
    const Status status = executor->run(op, views, collector.sink());
    if (status.ok()) {
      run.outputs = collector.take();
    } else {
      run.error =
          status.error().message.empty() ? std::string(to_text(status.error().code)) : status.error().message;
    }
    break;
  }
  if (executors.empty()) run.error = "there is no executor that could run it";
  for (const std::string& note : take_notes_()) add_sentence(run.notes, note);
  return run;
}

ApiChecker::Run ApiChecker::golden(const CheckItem& item, Phase phase, const CallInputs& inputs) {
  std::vector<ExecutorHandle*> all;
  for (ExecutorHandle& each : executors_.golden) all.push_back(&each);
  Run out = run(all, item, phase, inputs);
  if (!out.error.empty()) out.error = "golden: " + out.error;
  return out;
}

ApiChecker::Run ApiChecker::device(const CheckItem& item, Phase phase, const CallInputs& inputs) {
  Run out = run({&*executors_.device}, item, phase, inputs);
  if (!out.error.empty()) out.error = "device: " + out.error;
  return out;
}

JudgedApi ApiChecker::judged(const CheckItem& item, const ulpscope_op_record& op) const {
  JudgedApi api;
  api.api = item.api;
  api.op = &op;
  for (const TensorId id : tensors_of(index_, item.forward)) {
    const TensorRow& row = index_.tensors()[id];
    if (row.role == Role::input || row.role == Role::kwarg) api.input_dtypes.push_back(row.dtype);
  }
  return api;
}

std::vector<CheckOutput> ApiChecker::compare_forward(const CheckItem& item, const Run& golden,
                                                     const Run& device) {
  const ulpscope_op_record op = op_record(index_, item.forward, Phase::forward);
  const JudgedApi api = judged(item, op);
  const size_t count =
      item.api == "npu_fusion_attention" ? std::min<size_t>(1, golden.outputs.size()) : golden.outputs.size();
  std::vector<CheckOutput> rows;
  for (size_t i = 0; i < count; ++i) {
    std::string name = output_row_name(item, "forward", i);
    if (i >= device.outputs.size()) {
      CheckOutput row =
          skipped_output(std::move(name), fmt::format("the device gives {} outputs, the golden {}",
                                                      device.outputs.size(), golden.outputs.size()));
      row.status = OutputStatus::error;
      rows.push_back(std::move(row));
    } else if (is_dropout(item)) {
      rows.push_back(compare_dropout(std::move(name), golden.outputs[i], device.outputs[i]));
    } else {
      rows.push_back(judge_.judge(api, std::move(name), golden.outputs[i], device.outputs[i]));
      add_sentence(rows.back().message, device.notes);
      add_sentence(rows.back().message, golden.notes);
    }
  }
  return rows;
}

CheckReport ApiChecker::check(const CheckItem& item) {
  CheckReport report;
  report.api = item.id;
  const auto skip = [&](const std::string& message, bool bad_data) {
    report.forward = OutputStatus::skip;
    if (item.backward != kNoIndex) report.backward = OutputStatus::skip;
    report.message = message;
    report.bad_data = bad_data;
    report.outputs.push_back(skipped_output(output_row_name(item, "forward", 0), message));
    return report;
  };
  if (!item.skip.empty()) return skip(item.skip, false);
  auto loaded = CallInputs::load(index_, item, rules_.inputs);
  if (!loaded.ok()) return skip(loaded.error().message, is_data_error(loaded.error()));
  CallInputs& inputs = *loaded;
  Run recorded;
  if (!executors_.device) {
    auto outputs = recorded_outputs(index_, item.forward, rules_.limit_bytes);
    if (!outputs.ok()) return skip(outputs.error().message, is_data_error(outputs.error()));
    for (auto& output : *outputs)
      if (output) recorded.outputs.push_back(std::move(output->tensor));
    if (recorded.outputs.empty()) return skip("the dump records no output that could be compared", false);
  }
  const Run high = golden(item, Phase::forward, inputs);
  // A call whose record is unusable may lack the arguments that are missed.
  if (!high.error.empty()) return skip(high.error, has_unusable_record(index_, item.forward));
  if (high.outputs.empty()) return skip("golden: the API gives no tensor", false);
  const Run low = executors_.device ? device(item, Phase::forward, inputs) : std::move(recorded);
  if (!low.error.empty()) return skip(low.error, false);
  report.outputs = compare_forward(item, high, low);
  report.forward = roll_up(report.outputs);
  if (report.forward == OutputStatus::skip) report.message = report.outputs[0].message;
  save(item, "forward", report.forward, inputs, high, low, report);
  if (item.backward != kNoIndex) check_backward(item, inputs, high.outputs.size(), report);
  return report;
}

void ApiChecker::check_backward(const CheckItem& item, CallInputs& inputs, size_t output_count,
                                CheckReport& report) {
  const auto skip = [&](const std::string& message, bool bad_data) {
    report.backward = OutputStatus::skip;
    add_sentence(report.message, message);
    report.bad_data = report.bad_data || bad_data;
    report.outputs.push_back(skipped_output(output_row_name(item, "backward", 0), message));
  };
  if (const std::string reason = reason_against_backward(index_, item, output_count); !reason.empty())
    return skip(reason, false);
  const Status added = inputs.add_gradient(index_, item, rules_.inputs, "0");
  if (!added.ok()) return skip(added.error().message, is_data_error(added.error()));
  const Run high = golden(item, Phase::backward, inputs);
  if (!high.error.empty()) return skip(high.error, false);
  Run low;
  std::vector<CheckOutput> rows;
  if (executors_.device) {
    low = device(item, Phase::backward, inputs);
    if (!low.error.empty()) return skip(low.error, false);
    rows = compare_backward(item, inputs, high, low);
  } else {
    auto outputs = recorded_outputs(index_, item.backward, rules_.limit_bytes);
    if (!outputs.ok()) return skip(outputs.error().message, is_data_error(outputs.error()));
    const ulpscope_op_record op = op_record(index_, item.backward, Phase::backward);
    const JudgedApi api = judged(item, op);
    std::vector<GradientPair> best;
    for (const auto& pairs : pair_recorded_gradients(index_, item, high.outputs, *outputs)) {
      std::vector<CheckOutput> tried;
      for (const GradientPair& pair : pairs) {
        std::string name = output_row_name(item, "backward", pair.number);
        tried.push_back(is_dropout(item) ? compare_dropout(std::move(name), *pair.golden, *pair.recorded)
                                         : judge_.judge(api, std::move(name), *pair.golden, *pair.recorded));
      }
      if (rows.empty() || roll_up(tried) < roll_up(rows)) rows = std::move(tried);
    }
    const bool none =
        std::none_of(outputs->begin(), outputs->end(), [](const auto& each) { return each.has_value(); });
    if (rows.empty())
      return skip(
          none ? "the dump records no gradient"
               : "the gradients of the dump cannot be assigned to the arguments: their shapes fit neither "
                 "them nor the last node",
          false);
    for (auto& output : *outputs)
      if (output) low.outputs.push_back(std::move(output->tensor));
  }
  report.backward = roll_up(rows);
  if (report.backward == OutputStatus::none) return skip("no argument has a gradient", false);
  if (report.backward == OutputStatus::skip) add_sentence(report.message, rows[0].message);
  report.outputs.insert(report.outputs.end(), rows.begin(), rows.end());
  save(item, "backward", report.backward, inputs, high, low, report);
}

std::vector<CheckOutput> ApiChecker::compare_backward(const CheckItem& item, const CallInputs& inputs,
                                                      const Run& golden, const Run& device) {
  const ulpscope_op_record op = op_record(index_, item.backward, Phase::backward);
  const JudgedApi api = judged(item, op);
  const auto find = [](const Run& run, const std::string& path) -> const OutputTensor* {
    for (const OutputTensor& output : run.outputs)
      if (output.path == path) return &output;
    return nullptr;
  };
  std::vector<CheckOutput> rows;
  size_t number = 0;
  for (const Role role : {Role::input, Role::kwarg})
    for (const HeldTensor& tensor : inputs.tensors()) {
      if (tensor.role != role) continue;
      std::string name = output_row_name(item, "backward", number++);
      const std::string path = gradient_path(role, tensor.path);
      const OutputTensor *high = find(golden, path), *low = find(device, path);
      if (high == nullptr) {
        rows.push_back(skipped_output(std::move(name), "the golden gives no gradient for it"));
      } else if (low == nullptr) {
        rows.push_back(
            skipped_output(std::move(name), "the device gives no gradient for it, the golden does"));
        rows.back().status = OutputStatus::error;
      } else if (is_dropout(item)) {
        rows.push_back(compare_dropout(std::move(name), *high, *low));
      } else {
        rows.push_back(judge_.judge(api, std::move(name), *high, *low));
        add_sentence(rows.back().message, device.notes);
      }
    }
  return rows;
}

void ApiChecker::save(const CheckItem& item, std::string_view direction, OutputStatus status,
                      const CallInputs& inputs, const Run& golden, const Run& device, CheckReport& report) {
  if (rules_.error_folder.empty() || status == OutputStatus::pass) return;
  const Status saved = save_error_data(rules_.error_folder, item.id, direction, inputs.tensors(),
                                       golden.outputs, device.outputs);
  if (!saved.ok()) add_sentence(report.message, "its data could not be saved: " + saved.error().message);
}

}  // namespace ulpscope
