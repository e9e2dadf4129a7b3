// The list of all commands of the program. A new command is one file, one line here and one line in
// commands.cpp.
#pragma once

#include <memory>
#include <vector>

#include "cli/command.hpp"
#include "cli/help.hpp"

namespace ulpscope {

std::unique_ptr<Command> make_compare_command();
std::unique_ptr<Command> make_locate_command();
std::unique_ptr<Command> make_check_command();
std::unique_ptr<Command> make_multi_check_command();
std::unique_ptr<Command> make_check_worker_command();
std::unique_ptr<Command> make_precision_compare_command();
std::unique_ptr<Command> make_replay_command();
std::unique_ptr<Command> make_list_command();
std::unique_ptr<Command> make_show_command();
std::unique_ptr<Command> make_convert_command();
std::unique_ptr<Command> make_overflow_command();
std::unique_ptr<Command> make_merge_command();
std::unique_ptr<Command> make_mapping_command();
std::unique_ptr<Command> make_policy_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_config_check_command();
std::unique_ptr<Command> make_first_token_diff_command();
std::unique_ptr<Command> make_anomaly_command();
std::unique_ptr<Command> make_badcase_command();
std::unique_ptr<Command> make_guide_command();
std::unique_ptr<Command> make_instrument_command();
std::unique_ptr<Command> make_flow_command();
std::unique_ptr<Command> make_plugins_command();
std::unique_ptr<Command> make_completion_command();
std::unique_ptr<Command> make_manual_command();
std::unique_ptr<Command> make_version_command();

// Every command, in the order of the help.
CommandList make_commands();
// The options of every command, those of output among them, that do not collide with the command's own: they
// lose the letters that the command uses.
std::vector<OptionSpec> remaining_common(const std::vector<OptionSpec>& own, bool writes_output);

}  // namespace ulpscope
