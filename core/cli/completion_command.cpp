#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/option_values.hpp"

namespace ulpscope {
namespace {

// A command and the options that it takes, as the shells get them.
struct Words {
  std::vector<std::string> names;  // of the command, aliases included
  std::string summary;
  std::vector<OptionSpec> options;
};

std::vector<Words> all_words() {
  std::vector<Words> all;
  for (const auto& command : make_commands()) {
    const CommandInfo info = command->info();
    if (info.group == CommandGroup::hidden) continue;
    Words words{{info.name}, info.summary, {}};
    words.names.insert(words.names.end(), info.aliases.begin(), info.aliases.end());
    const auto add = [&](const std::vector<OptionSpec>& specs) {
      for (const OptionSpec& spec : specs)
        if (!spec.hidden) words.options.push_back(spec);
    };
    const std::vector<OptionSpec> own = command->options();
    add(own);
    add(remaining_common(own, info.writes_output));
    all.push_back(std::move(words));
  }
  return all;
}

// text between single quotes of a shell; escaped says how a quote is written there.
std::string quoted(const std::string& text, std::string_view escaped) {
  std::string out = "'";
  for (const char c : text)
    if (c == '\'')
      out += escaped;
    else
      out += c;
  return out + "'";
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : between).append(word);
  return text;
}

// Calls visit(pattern, values) for each option that has them: pattern is what stands before the value in a
// case of bash and zsh, 'compare --format'|'report --format', long names with dashes.
template <class F>
void for_values(const std::vector<Words>& all, F visit) {
  for (const Words& command : all)
    for (const OptionSpec& option : command.options) {
      const OptionValues values = option_values(command.names.front(), option.name);
      if (values.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : command.names) {
        patterns.push_back(fmt::format("'{} --{}'", name, with_dashes(option.name)));
        for (const std::string& word : option.shorts) patterns.push_back(fmt::format("'{} -{}'", name, word));
      }
      visit(joined(patterns, "|"), values);
    }
}

std::string bash_values(const std::vector<Words>& all) {
  std::string cases;
  for_values(all, [&](const std::string& pattern, const OptionValues& values) {
    cases += "    " + pattern + ") words='" + joined(values.words, " ") + "'";
    if (!values.component.empty())
      cases.append("\" $(_ulpscope_names ").append(values.component).append(")\"");
    cases += values.is_list ? " list=yes ;;\n" : " ;;\n";
  });
  return cases;
}

std::string bash_second_words(const std::vector<Words>& all) {
  std::string cases;
  for (const Words& command : all)
    if (const auto words = second_words(command.names.front()); !words.empty())
      cases += "      " + joined(command.names, "|") + ") words='" + joined(words, " ") + "' ;;\n";
  return cases;
}

std::string bash_script(const std::vector<Words>& all) {
  std::string names, cases;
  for (const Words& command : all) {
    names.append(names.empty() ? "" : " ").append(joined(command.names, " "));
    std::string options;
    for (const OptionSpec& option : command.options) {
      options.append(options.empty() ? "--" : " --").append(with_dashes(option.name));
      for (const std::string& name : option.shorts) options.append(" -").append(name);
    }
    cases += "      " + joined(command.names, "|") + ") words='" + options + "' ;;\n";
  }
  return "# Completion of ulpscope for bash: source this file, or put it into bash-completion's folder.\n"
         "_ulpscope_names() {\n"
         "  local kind name rest\n"
         "  \"${COMP_WORDS[0]}\" plugins list 2>/dev/null |\n"
         "    while read -r kind name rest; do [ \"$kind\" != \"$1\" ] || echo \"$name\"; done\n"
         "}\n"
         "_ulpscope() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before= words= list= prefix=\n"
         "  COMPREPLY=()\n"
         "  [ \"$COMP_CWORD\" -lt 2 ] || before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  # bash takes --format=json apart at the sign.\n"
         "  if [ \"$before\" = = ]; then\n"
         "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
         "  elif [ \"$current\" = = ]; then\n"
         "    current=\n"
         "  fi\n"
         "  [[ $before != --* ]] || before=${before//_/-}\n"
         "  case \"${COMP_WORDS[1]} $before\" in\n" +
         bash_values(all) +
         "  esac\n"
         "  if [ -n \"$words\" ]; then\n"
         "    [ -z \"$list\" ] || [[ $current != *,* ]] || prefix=${current%,*},\n"
         "    current=${current#\"$prefix\"}\n"
         "  elif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    words='" +
         names +
         "'\n"
         "  elif [[ $current == -* ]]; then\n"
         "    case ${COMP_WORDS[1]} in\n" +
         cases +
         "    esac\n"
         "  elif [ \"$COMP_CWORD\" -eq 2 ]; then\n"
         "    case ${COMP_WORDS[1]} in\n" +
         bash_second_words(all) +
         "    esac\n"
         "  fi\n"
         "  [ -z \"$words\" ] || mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -W \"$words\" -- "
         "\"$current\")\n"
         "}\n"
         "complete -o bashdefault -o default -F _ulpscope ulpscope\n";
}

// A colon parts a word from what is said of it.
std::string zsh_entry(const std::string& word, const std::string& doc) {
  std::string text = word + ":";
  for (const char c : doc) text += c == ':' ? std::string("\\:") : std::string(1, c);
  return quoted(text, "'\\''");
}

std::string zsh_values(const std::vector<Words>& all) {
  std::string cases;
  for_values(all, [&](const std::string& pattern, const OptionValues& values) {
    cases += "  " + pattern + ") values=(" + joined(values.words, " ");
    if (!values.component.empty())
      cases.append(" ${(f)\"$(_ulpscope_names ").append(values.component).append(")\"}");
    cases += values.is_list ? ") list=yes ;;\n" : ") ;;\n";
  });
  return cases;
}

std::string zsh_script(const std::vector<Words>& all) {
  std::string names, cases, second;
  for (const Words& command : all)
    if (const auto words = second_words(command.names.front()); !words.empty())
      second += "    " + joined(command.names, "|") + ") values=(" + joined(words, " ") + ") ;;\n";
  for (const Words& command : all) {
    for (const std::string& name : command.names) names += "    " + zsh_entry(name, command.summary) + "\n";
    cases += "    " + joined(command.names, "|") + ") options=(\n";
    for (const OptionSpec& option : command.options) {
      cases += "      " + zsh_entry("--" + with_dashes(option.name), option.doc) + "\n";
      for (const std::string& name : option.shorts)
        cases += "      " + zsh_entry("-" + name, option.doc) + "\n";
    }
    cases += "    ) ;;\n";
  }
  return "#compdef ulpscope\n"
         "_ulpscope_names() {\n"
         "  local kind name rest\n"
         "  $words[1] plugins list 2>/dev/null |\n"
         "    while read -r kind name rest; do [[ $kind != $1 ]] || print -r -- $name; done\n"
         "}\n"
         "local -a commands options values\n"
         "local before=$words[CURRENT-1] list=\n"
         "[[ $before != --* ]] || before=${before//_/-}\n"
         "case \"$words[2] $before\" in\n" +
         zsh_values(all) +
         "esac\n"
         "if (( CURRENT == 3 && ! $#values )) && [[ $PREFIX != -* ]]; then\n"
         "  case $words[2] in\n" +
         second +
         "  esac\n"
         "fi\n"
         "if (( $#values )); then\n"
         "  [[ -z $list ]] || compset -P '*,'\n"
         "  compadd -a values\n"
         "elif (( CURRENT == 2 )); then\n"
         "  commands=(\n" +
         names +
         "  )\n"
         "  _describe command commands\n"
         "elif [[ $PREFIX == -* ]]; then\n"
         "  case $words[2] in\n" +
         cases +
         "  esac\n"
         "  _describe option options\n"
         "else\n"
         "  _files\n"
         "fi\n";
}

// fish parts letters ("-o") from names behind a single dash ("-tp").
std::string fish_shorts(const OptionSpec& option) {
  std::string out;
  for (const std::string& name : option.shorts) out += (name.size() == 1 ? " -s " : " -o ") + name;
  return out;
}

std::string fish_names(std::string_view component) {
  if (component.empty()) return "";
  return " (ulpscope plugins list 2>/dev/null | string replace -rf '^" + std::string(component) +
         " +(\\S+).*' '$1')";
}

// What fish runs or reads to offer the values of an option.
std::string fish_values(const OptionValues& values) {
  if (values.empty()) return "";
  std::string text = joined(values.words, " ");
  if (values.is_list)
    text = "(__fish_append , " + text + fish_names(values.component) + ")";
  else
    text += fish_names(values.component);
  return " -f -a " + quoted(text, "\\'");
}

std::string fish_script(const std::vector<Words>& all) {
  constexpr std::string_view kQuote = "\\'";
  std::string text = "# Completion of ulpscope for fish.\n";
  for (const Words& command : all) {
    for (const std::string& name : command.names)
      text += "complete -c ulpscope -n __fish_use_subcommand -f -a " + name + " -d " +
              quoted(command.summary, kQuote) + "\n";
    if (const auto words = second_words(command.names.front()); !words.empty())
      text += "complete -c ulpscope -n '__fish_seen_subcommand_from " + joined(command.names, " ") +
              "; and test (count (commandline -opc)) -eq 2' -f -a " + quoted(joined(words, " "), kQuote) +
              "\n";
    for (const OptionSpec& option : command.options)
      text += "complete -c ulpscope -n '__fish_seen_subcommand_from " + joined(command.names, " ") + "' -l " +
              with_dashes(option.name) + fish_shorts(option) +
              (option.kind == OptionKind::flag ? "" : " -r") +
              fish_values(option_values(command.names.front(), option.name)) + " -d " +
              quoted(option.doc, kQuote) + "\n";
  }
  return text;
}

class CompletionCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "completion";
    info.group = CommandGroup::extend;
    info.summary = "Prints the completion of commands and options for a shell";
    info.synopsis = "bash|zsh|fish";
    info.description =
        "An installed ulpscope has brought its completions along. Otherwise: source <(ulpscope completion "
        "bash).";
    info.example = "ulpscope completion fish > ~/.config/fish/completions/ulpscope.fish";
    info.max_positional = 1;
    return info;
  }

  Result<ExitCode> run(Context& context) override {
    ULPSCOPE_ASSIGN(const std::string shell, context.options().required(0, "SHELL"));
    const std::vector<Words> all = all_words();
    if (shell == "bash")
      context.out() << bash_script(all);
    else if (shell == "zsh")
      context.out() << zsh_script(all);
    else if (shell == "fish")
      context.out() << fish_script(all);
    else
      return Error{Code::usage, "no completion for '" + printable(shell) + "', expected bash, zsh or fish"};
    return ExitCode::success;
  }
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace ulpscope
