// The Python lines of each part: calls of the generated module, or the collector's own calls in place. Used
// by the plan.
#pragma once

#include <string>
#include <vector>

#include "guide/anchors.hpp"
#include "guide/python_source.hpp"
#include "instrument/options.hpp"

namespace ulpscope {

// What the lines of one anchor depend on.
struct BlockContext {
  const InstrumentOptions& options;
  const Anchor& anchor;
  std::string module;            // of the hook: "vllm.ulpscope_hook"
  std::string owner = "self";    // what the step belongs to
  std::string model_expression;  // for L0 and mix
  bool has_dummy_run = false;    // the method has that parameter
};

std::vector<std::string> init_lines(const BlockContext& context);
std::vector<std::string> begin_lines(const BlockContext& context);
// empty: the return says that there was nothing to do.
std::vector<std::string> end_lines(const BlockContext& context, bool empty);
// For a handler of what the enclosed call raises; none with --emit direct.
std::vector<std::string> raise_lines(const BlockContext& context);
// For a step that another method closes.
std::vector<std::string> keep_lines(const BlockContext& context);
std::vector<std::string> resume_lines(const BlockContext& context);
std::vector<std::string> wrap_lines(const BlockContext& context, bool opens, bool keeps);

// A text as a Python literal.
std::string python_text(const std::string& text);

}  // namespace ulpscope
