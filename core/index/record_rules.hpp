// What a record of a source must keep by itself, whatever stands around it: numbers that mean something,
// texts of UTF-8, shapes whose elements can be counted. The index asks it of every record before it believes
// one, and the conformance kit of those of a sample. Looks at one record, keeps nothing. Any thread.
#pragma once

#include <ulpscope/abi.h>

#include <string>
#include <vector>

namespace ulpscope {

enum class RecordRule : int {
  numbers,  // kind, phase, role, element type, reason of absence, kind of data: none that the interface has
  texts,    // not UTF-8
  shape,    // a negative dimension, more than kMostDims of them, more elements than can be counted
  attributes,  // not JSON
};

struct RecordMistake {
  RecordRule rule;
  std::string text;  // "kind 99, expected 1 to 5"
};

constexpr uint32_t kMostDims = 32;

// Every rule that the record breaks; empty, and without cost worth speaking of, for a good one.
std::vector<RecordMistake> mistakes_of(const ulpscope_op_record& op);
std::vector<RecordMistake> mistakes_of(const ulpscope_tensor_record& tensor);

}  // namespace ulpscope
