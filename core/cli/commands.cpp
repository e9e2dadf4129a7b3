#include "cli/commands.hpp"

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
  commands.push_back(make_version_command());
  return commands;
}

}  // namespace ulpscope
