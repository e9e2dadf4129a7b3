// The answer of a command that says one thing in two forms: text for people on stdout, or a JSON object with
// --format json; both as <command>_result.json and .txt in a fresh folder where -o was given. Used by the
// commands around an incident (config-check, guide, instrument, flow).
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/context.hpp"

namespace ulpscope {

struct Answer {
  std::string command;  // "config_check": the first word of the files
  std::string text;     // lines, each ended
  std::string json;     // one object, its end of line included
  std::string shown;    // what stdout gets in another format (csv, md); empty: the text
};

// Writes it. format: a word of --format. io: a folder or file that cannot be written.
Status give_answer(Context& context, const Answer& answer, const std::string& format);

}  // namespace ulpscope
