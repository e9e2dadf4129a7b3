// Commands of a finding, written so that what a person copies from a terminal or a ticket runs. Used by the
// reports that people read; compare_result.json holds the commands as they are.
#pragma once

#include <string>
#include <string_view>

namespace ulpscope {

// The command, printable: a quoted word that holds what printable() would change becomes $'…' with \xNN for
// each of those bytes, which bash, zsh and ksh read back as the bytes themselves. Pure.
std::string pasteable(std::string_view command);

}  // namespace ulpscope
