#include "cli/manual.hpp"

#include "base/text.hpp"

namespace ulpscope {
namespace {

// A word that users type: its dashes are dashes, not hyphens.
std::string typed(std::string_view text) {
  std::string out;
  for (const char c : roff_text(text))
    if (c == '-')
      out += "\\-";
    else
      out += c;
  return out;
}

std::string page_name(const std::string& command) { return "ulpscope-" + command; }

std::string heading(const OptionSpec& spec) {
  std::string out;
  for (const std::string& name : spec.shorts) out += "\\fB\\-" + typed(name) + "\\fR, ";
  out += "\\fB\\-\\-" + typed(with_dashes(spec.name)) + "\\fR";
  if (!spec.value_name.empty()) out += " \\fI" + typed(spec.value_name) + "\\fR";
  return out;
}

std::string option_list(const std::vector<OptionSpec>& specs) {
  std::string out;
  for (const OptionSpec& spec : specs)
    if (!spec.hidden) out += ".TP\n" + heading(spec) + "\n" + roff_text(spec.doc) + "\n";
  return out;
}

std::string command_list(const CommandList& commands) {
  std::string out;
  for (const CommandGroup group : {CommandGroup::compare, CommandGroup::look, CommandGroup::results,
                                   CommandGroup::incident, CommandGroup::extend}) {
    out += ".SS " + roff_text(to_text(group)) + "\n";
    for (const auto& command : commands) {
      const CommandInfo info = command->info();
      if (info.group != group) continue;
      out += ".TP\n\\fB" + typed(info.name) + "\\fR " + typed(info.synopsis) + "\n" + roff_text(info.summary);
      for (const std::string& alias : info.aliases) out += "; alias \\fB" + typed(alias) + "\\fR";
      out += ".\nSee \\fB" + typed(page_name(info.name)) + "\\fR(1)\n";
    }
  }
  return out;
}

}  // namespace

std::string roff_text(std::string_view text) {
  std::string out;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else
      out += c;
    starts_line = c == '\n';
  }
  return out;
}

std::string manual_of_command(const CommandInfo& info, const std::vector<OptionSpec>& own,
                              const std::vector<OptionSpec>& common) {
  std::string title = page_name(info.name);
  for (char& c : title)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  std::string out = ".TH " + title + " 1 \"\" \"ulpscope\" \"User Commands\"\n.SH NAME\n" +
                    typed(page_name(info.name)) + " \\- " + roff_text(info.summary) + "\n.SH SYNOPSIS\n";
  out += "\\fBulpscope " + typed(info.name) + "\\fR " + typed(info.synopsis) + "\n";
  for (const std::string& alias : info.aliases) out += ".PP\nalias: \\fBulpscope " + typed(alias) + "\\fR\n";
  out += ".SH DESCRIPTION\n" + roff_text(info.summary) + ".\n";
  for (const std::string_view paragraph : split(info.description, '\n'))
    if (!paragraph.empty()) out += ".PP\n" + roff_text(paragraph) + "\n";
  if (const std::string options = option_list(own); !options.empty()) out += ".SH OPTIONS\n" + options;
  out += ".SH OPTIONS OF EVERY COMMAND\n" + option_list(common);
  return out + ".SH EXAMPLE\n.nf\n" + typed(info.example) + "\n.fi\n.SH SEE ALSO\n.BR ulpscope (1)\n";
}

std::string manual_of_program(std::string_view frame, const CommandList& commands,
                              const std::vector<OptionSpec>& common) {
  std::string out;
  for (const std::string_view line : split(frame, '\n')) {
    if (line == ".\\\" COMMANDS")
      out += command_list(commands);
    else if (line == ".\\\" OPTIONS")
      out += option_list(common);
    else
      out.append(line).append("\n");
  }
  while (out.size() > 1 && out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace ulpscope
