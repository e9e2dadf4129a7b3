// The outputs that a dump recorded of a call, in memory, in the form in which an executor gives its own: so
// that a recorded device can stand where one would run. Used by check and replay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "index/dump_index.hpp"
#include "plugin/outputs.hpp"

namespace ulpscope {

// A tensor, or a number as a tensor without dimensions; class_text is then that of Python ("<class 'int'>").
struct RecordedOutput {
  OutputTensor tensor;
  std::string class_text;
};

// The outputs of op in order, None (and what is neither tensor nor number) as nothing. io and format: the
// data of one cannot be read, with its name; no_memory: more than limit_bytes.
Result<std::vector<std::optional<RecordedOutput>>> recorded_outputs(const DumpIndex& index, OpId op,
                                                                    uint64_t limit_bytes);

// Whether the dump holds the data of every tensor that op gives.
bool has_recorded_outputs(const DumpIndex& index, OpId op);

}  // namespace ulpscope
