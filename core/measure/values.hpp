// Compares arguments that are not tensors: numbers, texts, shapes, slices, process groups. Used by the
// similarity rules. Values are the JSON texts that a dump's argument tree holds; nothing in them is
// evaluated.
#pragma once

#include <string>
#include <string_view>

#include "report/result_table.hpp"

namespace ulpscope {

// One side of such a pair.
struct ArgumentView {
  std::string_view type;   // as the dump spells it: "int", "slice", "None"; of a tensor "tensor"
  std::string_view value;  // JSON text; empty where the type says all
};

// verdict pass, warning (process groups that differ) or fail; the message names both values, or says why a
// difference does not count.
struct ValueVerdict {
  Verdict verdict = Verdict::pass;
  std::string message;
};

// Equal are: values equal as JSON with numbers compared as numbers (1 and 1.0 alike, whatever the number's
// type). Device names and reduce operations may differ. A different type is a difference, None against a
// tensor too. Never fails.
ValueVerdict compare_values(const ArgumentView& target, const ArgumentView& golden);

// The argument of item, for messages and tables. Texts live as long as index.
ArgumentView argument_of(const DumpIndex& index, ItemId item);

}  // namespace ulpscope
