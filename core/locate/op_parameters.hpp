// What differs between the parameters of an operation on the two sides, where a dump records parameters apart
// from arguments (op_param.json of ATB). Another scale or epsilon is the best evidence that there is: it
// names the cause and not its effect. Used by the localisation; pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "locate/op_error.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

struct ParameterDifference {
  std::string name;            // members and numbers of entries joined by dots: "normParam.epsilon"
  std::string target, golden;  // as JSON; "none" where a side lacks it
  bool real = false;           // numbers on both sides, one of them with a fraction, that are not the same
};

// The members that differ between two JSON objects, in the order of the target's, those of golden alone
// behind them; at most 64. Numbers are equal that print alike in six digits. Texts that are no objects have
// no members.
std::vector<ParameterDifference> parameter_differences(std::string_view target, std::string_view golden);

// "qkScale: target 0.4, golden 0.353553", several joined by "; ", after 4 how many more there are.
std::string parameter_text(const std::vector<ParameterDifference>& differences);

// The differences of all ops of a table. A kernel has the parameters of the operation around it.
class OpParameters {
 public:
  // ops are the rows of op_errors(table, …), of which all positions below speak.
  OpParameters(const ResultTable& table, const std::vector<OpError>& ops);

  // null: they agree, or one side does not record them.
  const std::vector<ParameterDifference>* of(size_t op) const;
  // Whether a number with a fraction differs: that changes results on every device.
  bool real_differs(size_t op) const;
  const std::map<size_t, std::vector<ParameterDifference>>& all() const { return differences_; }

 private:
  std::map<size_t, std::vector<ParameterDifference>> differences_;
};

}  // namespace ulpscope
