// What of a dump is checked: its API calls, one after the other, each with its backward, and the reasons for
// which some are passed over before anything runs. The same dump and options give the same plan, in the host
// and in its workers. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "index/dump_index.hpp"

namespace ulpscope {

// One API call of the dump.
struct CheckItem {
  // "Functional.linear.3": the key of a framework dump without its direction. Of another source the name of
  // the op, and ".N" behind it for its call N, from 1.
  std::string id;
  std::string type, api, number;  // "Functional", "linear", "3"; empty when the key is malformed
  OpId forward = kNoIndex, backward = kNoIndex;
  std::string skip;  // why it is not run; empty: it is
};

struct CheckChoice {
  std::set<std::string, std::less<>> white, black;  // names of APIs; an empty white list means all
  bool filter = false;                              // calls that repeat an earlier one are left out
};

struct CheckPlan {
  std::vector<CheckItem> items;
  int64_t repeated = 0;             // calls that the filter left out
  std::vector<std::string> unused;  // entries of the lists that name nothing in the dump
};

// The plan of one step on one rank: of a framework dump its API calls, of another source the ops with inputs
// that are neither modules nor layers. usage: an id begins like a formula of a spreadsheet.
Result<CheckPlan> plan_check(const DumpIndex& index, const StepRank& group, const CheckChoice& choice);

// The n-th tensor of an op, in the order of its records; kNoIndex when there is none.
TensorId tensor_of(const DumpIndex& index, OpId op, size_t number);
// The tensors of an op in the order of its records.
std::vector<TensorId> tensors_of(const DumpIndex& index, OpId op);

}  // namespace ulpscope
