// The result of config-check as text, JSON, CSV and Markdown. Pure. Used by the command.
#pragma once

#include <string>

#include "config_check/config_check.hpp"

namespace ulpscope {

// schema ulpscope.config_check/1, one row a line.
std::string config_check_json(const ConfigCheckResult& result);
// Columns section, key, golden, problem, severity, why (RFC 4180); an absent cell is empty.
std::string config_check_csv(const ConfigCheckResult& result);
std::string config_check_markdown(const ConfigCheckResult& result);
// A cell for people: texts without quotes, hashes shortened, "-" when absent.
std::string config_cell(const ConfigValue& value);

}  // namespace ulpscope
