#include "cli/help.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/wrap_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kOptionColumn = 30;   // where the text of an option starts
constexpr size_t kCommandColumn = 21;  // where the summary of a command starts

std::string option_heading(const OptionSpec& spec) {
  std::string heading;
  for (const std::string& name : spec.shorts) heading += "-" + name + ", ";
  heading += "--" + with_dashes(spec.name);
  if (!spec.value_name.empty()) heading += " " + spec.value_name;
  return heading;
}

std::string option_lines(const std::vector<OptionSpec>& specs) {
  std::string out;
  for (const OptionSpec& spec : specs) {
    if (spec.hidden) continue;
    std::string heading = "  " + option_heading(spec);
    const std::string text = wrap_text(spec.doc, kOptionColumn, kWidth);
    if (heading.size() + 2 > kOptionColumn) {
      out.append(heading).append("\n").append(text);
    } else {
      heading.resize(kOptionColumn, ' ');
      out.append(heading).append(text, kOptionColumn);
    }
  }
  return out;
}

}  // namespace

std::string program_help(const CommandList& commands) {
  std::string out =
      "ulpscope finds the operation at fault between two dumps of one model\n\n"
      "usage: ulpscope COMMAND [OPTIONS] ...\n";
  for (const CommandGroup group : {CommandGroup::compare, CommandGroup::look, CommandGroup::results,
                                   CommandGroup::incident, CommandGroup::extend}) {
    std::string lines;
    for (const auto& command : commands) {
      const CommandInfo info = command->info();
      if (info.group != group) continue;
      std::string line = "  " + info.name;
      line.resize(std::max(kCommandColumn, line.size() + 2), ' ');
      std::string summary = info.summary;
      if (!info.aliases.empty()) summary += " (alias " + info.aliases.front() + ")";
      lines += line + wrap_text(summary, kCommandColumn, kWidth).substr(kCommandColumn);
    }
    if (!lines.empty()) out += "\n" + std::string(to_text(group)) + "\n" + lines;
  }
  const auto first = std::find_if(commands.begin(), commands.end(), [](const auto& command) {
    return command->info().group != CommandGroup::extend;
  });
  out += "\n'ulpscope COMMAND --help' lists the options of a command.\n";
  if (first != commands.end()) out += "\nexample:\n  " + (*first)->info().example + "\n";
  return out;
}

std::string command_help(const CommandInfo& info, const std::vector<OptionSpec>& own,
                         const std::vector<OptionSpec>& common) {
  std::string out = info.summary + "\n\n";
  const std::string usage = wrap_text("usage: ulpscope " + info.name + " " + info.synopsis, 7, kWidth);
  out += usage.substr(7);
  for (const std::string& alias : info.aliases) out += "       alias: ulpscope " + alias + "\n";
  for (const std::string_view paragraph : split(info.description, '\n'))
    if (!paragraph.empty()) out += "\n" + wrap_text(paragraph, 0, kWidth);
  if (const std::string lines = option_lines(own); !lines.empty()) out += "\noptions\n" + lines;
  out += "\noptions of every command ('_' and '-' are alike in long names)\n" + option_lines(common);
  out += "\nexample:\n  " + info.example + "\n";
  return out;
}

}  // namespace ulpscope
