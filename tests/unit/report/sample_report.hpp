// Results that the tests of the writers share, as they would come out of a file. A side with text of every
// hostile kind.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "report/metrics.hpp"
#include "report/read_result.hpp"

namespace ulpscope::test {

inline uint32_t metric_index(const std::string& name) {
  const auto columns = metric_columns();
  for (uint32_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return i;
  throw std::runtime_error("no metric " + name);
}

inline StoredSide tensor_side(std::string op, std::string item, std::string dtype,
                              std::vector<int64_t> shape) {
  StoredSide side;
  side.present = side.is_tensor = true;
  side.op = std::move(op);
  side.item = std::move(item);
  side.dtype = std::move(dtype);
  side.shape = std::move(shape);
  return side;
}

inline StoredSide value_side(std::string op, std::string item, std::string type, std::string value) {
  StoredSide side;
  side.present = true;
  side.op = std::move(op);
  side.item = std::move(item);
  side.dtype = std::move(type);
  side.value = std::move(value);
  return side;
}

inline StoredRow row_of(StoredSide target, StoredSide golden, Verdict verdict, int64_t op_pair) {
  StoredRow row;
  row.step = row.rank = 0;
  row.op_pair = op_pair;
  row.target = std::move(target);
  row.golden = std::move(golden);
  row.match = !row.golden.present ? "only_target" : !row.target.present ? "only_golden" : "exact";
  row.mode = row.target.present && row.golden.present ? (row.target.is_tensor ? "data" : "value") : "none";
  row.judgement = "similarity";
  row.judged = row.verdict = verdict;
  return row;
}

inline StoredResult empty_result() {
  StoredResult result;
  result.head.version = "0.1.0";
  result.head.command = {"ulpscope", "compare", "out_a", "out_b"};
  result.head.target = {"out_a/step0/rank0", "torch_api", "tensor", "L1", 40, 122};
  result.head.golden = {"out_b/step0/rank0", "torch_api", "tensor", "L1", 40, 122};
  result.head.policy_profile = "seed";
  result.head.policy_hash = "00";
  for (const MetricColumn& column : metric_columns()) result.head.metric_names.emplace_back(column.name);
  return result;
}

// One matmul with equal inputs and a wrong output: the numbers of the summary in the user's guide.
inline StoredResult matmul_result() {
  StoredResult result = empty_result();
  const std::string op = "Torch.matmul.2.forward";
  for (const char* item : {"input.0", "input.1"}) {
    StoredRow input = row_of(tensor_side(op, item, "float32", {2, 5, 5}),
                             tensor_side(op, item, "float32", {2, 5, 5}), Verdict::pass, 0);
    input.bit_identical = true;
    input.metrics = {{metric_index("elements"), 50}, {metric_index("unequal"), 0}};
    result.rows.push_back(std::move(input));
  }
  StoredRow output = row_of(tensor_side(op, "output.0", "float32", {2, 5, 5}),
                            tensor_side(op, "output.0", "float32", {2, 5, 5}), Verdict::fail, 0);
  output.judged = Verdict::pass;
  output.cause = Cause::culprit;
  output.metrics = {{metric_index("elements"), 50},
                    {metric_index("unequal"), 50},
                    {metric_index("max_abs_err"), 0.0297},
                    {metric_index("cosine"), 0.999997}};
  result.rows.push_back(std::move(output));
  result.head.summary = {3, 2, 0, 1, 0, 0, 0, 0, 0};
  Culprit culprit;
  culprit.op_name = op;
  culprit.tensor = "output.0";
  culprit.kind = "compute_fault";
  culprit.confidence = "certain";
  culprit.step = culprit.rank = 0;
  culprit.row = 2;
  culprit.stack = {
      "File /home/user/llm/hooks.py, line 51, in call_impl, \n result = self.forward(*args, **kwargs)",
      "File /home/user/llm/llm_model.py, line 114, in forward, \n scores = q @ k"};
  culprit.next = {"ulpscope replay out_a --op Torch.matmul.2.forward"};
  culprit.worst = {{{1, 2, 1}, -1.708, -1.678}};
  result.head.localisation.verdict = "compute_fault";
  result.head.localisation.culprits = {culprit};
  result.head.localisation.propagated = 33;
  return result;
}

// Two ops, of which the second reads what the first made wrong.
inline StoredResult flow_result() {
  StoredResult result = empty_result();
  const std::string matmul = "Torch.matmul.0.forward", relu = "Torch.relu.0.forward";
  const auto add = [&](const std::string& op, const char* item, Verdict verdict,
                       int64_t op_pair) -> StoredRow& {
    result.rows.push_back(row_of(tensor_side(op, item, "float32", {2, 5}),
                                 tensor_side(op, item, "float32", {2, 5}), verdict, op_pair));
    result.rows.back().module = "Module.layers.0.Block.forward.0";
    return result.rows.back();
  };
  add(matmul, "input.0", Verdict::pass, 0).bit_identical = true;
  StoredRow& wrong = add(matmul, "output.0", Verdict::fail, 0);
  wrong.cause = Cause::culprit;
  wrong.metrics = {{metric_index("rel_l2"), 0.25}, {metric_index("cosine"), 0.9}};
  wrong.octaves = ErrorOctaves{-7, 1, {4, 5}};
  StoredRow& read = add(relu, "input.0", Verdict::pass, 1);
  read.cause = Cause::inherited;
  read.producer = 1;
  read.metrics = {{metric_index("rel_l2"), 0.2}};
  StoredRow& next = add(relu, "output.0", Verdict::fail, 1);
  next.cause = Cause::inherited;
  next.metrics = {{metric_index("rel_l2"), 0.5}};
  result.head.summary = {4, 2, 0, 2, 0, 0, 0, 0, 0};
  Culprit culprit;
  culprit.op_name = matmul;
  culprit.tensor = "output.0";
  culprit.kind = "compute_fault";
  culprit.confidence = "certain";
  culprit.step = culprit.rank = 0;
  culprit.row = 1;
  culprit.worst = {{{0, 3}, 1.5, 1.25}};
  result.head.localisation.verdict = "compute_fault";
  result.head.localisation.culprits = {culprit};
  result.head.localisation.propagated = 2;
  return result;
}

// Text that a stranger could put into a dump: formulas, quotes, line ends, invalid UTF-8, terminal escapes.
inline StoredResult hostile_result() {
  StoredResult result = empty_result();
  result.head.target.path = "evil\x1b]0;title\x07/step0";
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();

  StoredRow formula = row_of(tensor_side("=cmd|' /C calc'!A0", "input.0", "float32", {}),
                             tensor_side("=cmd|' /C calc'!A0", "input.0", "float32", {}), Verdict::pass, 0);
  formula.metrics = {{metric_index("max_abs_err"), nan}, {metric_index("max_rel_err"), infinity},
                     {metric_index("rmse"), -infinity},  {metric_index("rel_l2"), 1e-5},
                     {metric_index("target_min"), -1.5}, {metric_index("golden_min"), -0.0}};
  result.rows.push_back(std::move(formula));

  StoredRow quotes =
      row_of(tensor_side("say \"hi\",\r\nbye\t\\", "output.0", "bfloat16", {2, 3}),
             tensor_side("say \"hi\",\r\nbye\t\\", "output.0", "float32", {6}), Verdict::fail, 1);
  quotes.message = "<script>alert(1)</script> | shapes [2, 3] & [6] differ ]]>";
  quotes.cause = Cause::inherited;
  result.rows.push_back(std::move(quotes));

  StoredRow value = row_of(value_side("bad\xff\xc3(utf8", "input.x", "str", "\"a\\\"b\""),
                           value_side("bad\xff\xc3(utf8", "input.x", "float", "NaN"), Verdict::warning, 2);
  value.message = "\x1b[31mred\x1b[0m";
  result.rows.push_back(std::move(value));

  StoredRow lone = row_of(tensor_side("+extra", "output.0", "int64", {4}), {}, Verdict::skip, 3);
  lone.step = lone.rank = -1;
  result.rows.push_back(std::move(lone));

  StoredRow unreadable =
      row_of(tensor_side("noncharacter \xEF\xBF\xBF", "output.0", "int64", {4}),
             tensor_side("noncharacter \xEF\xBF\xBF", "output.0", "int64", {4}), Verdict::skip, 4);
  unreadable.absent = "bad";
  unreadable.unreadable = true;
  unreadable.token = 3;
  unreadable.message = "data file is missing";
  result.rows.push_back(std::move(unreadable));

  result.head.summary = {4, 1, 1, 1, 1, 1, 0, 1, 7};
  result.head.localisation.verdict = "inconclusive";
  result.head.localisation.notes = {"outputs of -3 ops were not recorded"};
  result.head.diagnostics = {{Severity::error, Code::io, "step0/\x1b[2Jx.pt", "cannot be opened"},
                             {Severity::warning, Code::format, "", "=1+1"}};
  result.head.notices = {"step 1 is only in the target"};
  return result;
}

}  // namespace ulpscope::test
