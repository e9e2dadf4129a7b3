// config.json of the ATB probe: what the next run is to dump. Written for the user by the localisation, and
// checked for the values that the probe misreads without a word. Knows the probe's keys and defaults; starts
// no run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct AtbConfig {
  std::string task = "tensor";     // tensor, statistics or all
  std::string exec_range = "all";  // all, none, or pairs of first and last round
  std::string ids;                 // "4,5_1"; empty with op_name empty: all layers
  std::string op_name;             // beginnings of names
  bool save_child = false;         // also everything below what is chosen
  std::string device;              // "0,1"; empty: all
  int32_t filter_level = 1;        // 0 stores every use of a tensor, 1 the first one, 2 no kernels either
};

// The file on one line, dumping enabled.
std::string atb_config_text(const AtbConfig& config);
// What to type before the server is started.
std::string atb_load_line(std::string_view config_path, std::string_view output_path);

// What the probe would misread in the text of such a file, one line a finding; empty: nothing. format: not
// JSON or no object, as the probe would not read it at all.
Result<std::vector<std::string>> check_atb_config(std::string_view text);

}  // namespace ulpscope
