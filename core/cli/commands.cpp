#include "cli/commands.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cli/context.hpp"

namespace ulpscope {

CommandList make_commands() {
  CommandList commands;
  commands.push_back(make_compare_command());
  commands.push_back(make_locate_command());
  commands.push_back(make_check_command());
  commands.push_back(make_multi_check_command());
  commands.push_back(make_check_worker_command());
  commands.push_back(make_precision_compare_command());
  commands.push_back(make_replay_command());
  commands.push_back(make_list_command());
  commands.push_back(make_show_command());
  commands.push_back(make_convert_command());
  commands.push_back(make_overflow_command());
  commands.push_back(make_merge_command());
  commands.push_back(make_mapping_command());
  commands.push_back(make_policy_command());
  commands.push_back(make_report_command());
  commands.push_back(make_config_check_command());
  commands.push_back(make_first_token_diff_command());
  commands.push_back(make_anomaly_command());
  commands.push_back(make_badcase_command());
  commands.push_back(make_guide_command());
  commands.push_back(make_instrument_command());
  commands.push_back(make_flow_command());
  commands.push_back(make_plugins_command());
  commands.push_back(make_completion_command());
  commands.push_back(make_manual_command());
  commands.push_back(make_version_command());
  return commands;
}

std::vector<OptionSpec> remaining_common(const std::vector<OptionSpec>& own, bool writes_output) {
  std::vector<OptionSpec> common = common_options();
  if (writes_output)
    for (OptionSpec& spec : output_options()) common.push_back(std::move(spec));
  for (OptionSpec& spec : common)
    for (const OptionSpec& mine : own)
      for (const std::string& name : mine.shorts)
        spec.shorts.erase(std::remove(spec.shorts.begin(), spec.shorts.end(), name), spec.shorts.end());
  common.erase(std::remove_if(common.begin(), common.end(),
                              [&](const OptionSpec& spec) {
                                return std::any_of(own.begin(), own.end(), [&](const OptionSpec& mine) {
                                  return mine.name == spec.name;
                                });
                              }),
               common.end());
  return common;
}

}  // namespace ulpscope
