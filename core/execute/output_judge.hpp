// Judges one output of a device against the golden: structure first, then the indicators of stage one of the
// pre-check and the metrics of the judgement that the policy names for the API. Used where APIs run.
#pragma once

#include <ulpscope/abi.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "execute/check_report.hpp"
#include "plugin/outputs.hpp"
#include "plugin/registry.hpp"
#include "policy/chooser.hpp"

namespace ulpscope {

// What is known of the API that made an output.
struct JudgedApi {
  std::string_view api;  // "linear"
  const ulpscope_op_record* op = nullptr;
  std::vector<DType> input_dtypes;
};

class OutputJudge {
 public:
  // usage: the plugins of the judgements are not there or refuse their options. registry outlives the object.
  // quantised: APIs whose integers may be off by one, beside those of the policy.
  static Result<OutputJudge> make(Policy policy, Registry& registry,
                                  std::set<std::string, std::less<>> quantised);

  // The row of name. Errors of a judgement become a SKIP row.
  CheckOutput judge(const JudgedApi& api, std::string name, const OutputTensor& golden,
                    const OutputTensor& device);

 private:
  OutputJudge(JudgementChooser chooser, JudgementHandle precheck, JudgementHandle binary,
              JudgementHandle quantised, std::set<std::string, std::less<>> quantised_apis);
  Status judge_floats(const JudgedApi& api, const ulpscope_pair& pair, const OutputTensor& golden,
                      const OutputTensor& device, CheckOutput& row);
  Status judge_exact(const JudgedApi& api, const ulpscope_pair& pair, const OutputTensor& golden,
                     const OutputTensor& device, CheckOutput& row);
  Status measure_chosen(const JudgedApi& api, const ulpscope_pair& pair, const OutputTensor& golden,
                        const OutputTensor& device, CheckOutput& row);

  JudgementChooser chooser_;
  JudgementHandle precheck_, binary_, quantised_;
  std::set<std::string, std::less<>> quantised_apis_;
};

// "(3, 4)", "(5,)", "()": as Python writes a shape.
std::string shape_text(const Shape& shape);
// The row of an output that could not be compared.
CheckOutput skipped_output(std::string name, std::string message);
// How many elements are zero, of any type.
int64_t zero_count(const OutputTensor& tensor);
// Elements of the tensor.
int64_t element_count(const OutputTensor& tensor);

}  // namespace ulpscope
