// What a user must do to give the flow its next stage: converter options, and the files that go with them.
// Used by the flow (which stage) and by the command (which files). Writes only what it is told to.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "flow/flow.hpp"

namespace ulpscope {

// The request for a stage, or for an answer where the stage is no build. own_options: the converter options
// that origin was built with, of which the one of precision counts; empty: force_fp16, the default of
// inference.
FlowRequest make_request(const std::string& stage, const std::vector<std::string>& keep,
                         std::string_view own_options);

// Name and content of each file of a request. Operator names stand one a line in exceptionlist.cfg.
std::vector<std::pair<std::string, std::string>> request_files(const FlowRequest& request);

// The request in words, a line each; folder is where its files are.
std::vector<std::string> request_lines(const FlowRequest& request, const std::string& folder,
                                       const std::string& stage_file);

}  // namespace ulpscope
