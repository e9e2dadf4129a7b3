// locate_result.json: the steps of a staged localisation and what it asks for, schema ulpscope.locate/1. Used
// by the command locate.
#pragma once

#include <string>

#include "flow/flow.hpp"
#include "flow/stage_file.hpp"

namespace ulpscope {

// The whole file. folder: where the files of a request were written; stage_file: as the user named it. Pure.
std::string locate_json(const FlowResult& result, const StageFile& stages, const std::string& folder,
                        const std::string& stage_file);

}  // namespace ulpscope
