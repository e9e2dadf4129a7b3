#include <string>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/context.hpp"
#include "cli/plugins_check.hpp"
#include "cli/plugins_new.hpp"
#include "cli/table.hpp"
#include "cli/wrap_text.hpp"

namespace ulpscope {
namespace {

std::string place_of(const PluginInfo& plugin) { return plugin.builtin ? "compiled in" : plugin.file; }

std::string plural(size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

Result<ExitCode> list_plugins(Context& context) {
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  ColumnTable used({"KIND", "NAME", "VERSION", "SUMMARY", "FILE"}, {false, false, false, false, false});
  ColumnTable refused({"REFUSED FILE", "REASON"}, {false, false});
  for (const PluginInfo& plugin : registry->plugins()) {
    if (!plugin.refused.empty()) {
      refused.add({place_of(plugin), plugin.refused});
      continue;
    }
    for (const ComponentInfo& component : plugin.components) {
      const std::string note =
          component.hidden_by.empty() ? "" : " (not used: " + component.hidden_by + " has the same name)";
      used.add({std::string(to_text(component.kind)), component.name, plugin.version,
                component.summary + note, place_of(plugin)});
    }
  }
  if (used.empty())
    context.out() << "no plugins found; 'ulpscope plugins path' shows where they are looked for\n";
  else
    context.out() << used.text(line_limit());
  if (!refused.empty()) context.out() << "\n" << refused.text(line_limit());
  return ExitCode::success;
}

void print_options(Output& out, const ComponentInfo& component) {
  if (component.options.empty()) {
    out << "  no options\n";
    return;
  }
  ColumnTable table({"  OPTION", "TYPE", "DEFAULT", "MEANING"}, {false, false, false, false});
  for (const OptionInfo& option : component.options)
    table.add({"  " + option.name, option.type, option.default_text, option.doc});
  out << table.text(line_limit());
}

std::string better_text(int32_t better) { return better < 0 ? "lower" : better > 0 ? "higher" : "-"; }

void print_metrics(Output& out, const ComponentInfo& component) {
  constexpr const char* kReference[] = {"never looked at", "required", "used when there is one"};
  out << "  reference: " << kReference[component.needs_reference < 3 ? component.needs_reference : 0]
      << "\n\n";
  ColumnTable table({"  METRIC", "BETTER", "FORMULA"}, {false, false, false});
  for (const MetricInfo& metric : component.metrics)
    table.add({"  " + metric.name, better_text(metric.better), metric.doc});
  out << table.text(line_limit());
}

void print_component(Output& out, const ComponentInfo& component) {
  out << "\n" << to_text(component.kind) << " " << printable(component.name) << "\n";
  out << wrap_text(printable(component.summary), 2, 80);
  if (!component.hidden_by.empty())
    out << "  not used: " << printable(component.hidden_by) << " has a " << to_text(component.kind)
        << " of the same name\n";
  out << "\n";
  print_options(out, component);
  if (component.kind == ComponentKind::judgement) print_metrics(out, component);
}

void print_plugin(Output& out, const PluginInfo& plugin) {
  out << "plugin " << printable(plugin.name) << " " << printable(plugin.version) << "\n";
  out << "  file     " << printable(place_of(plugin)) << "\n";
  out << "  vendor   " << printable(plugin.vendor) << "\n";
  out << "  licence  " << printable(plugin.license) << "\n";
  out << "  ABI      " << printable(plugin.abi) << "\n";
  out << "  build    " << printable(plugin.build) << "\n";
  out << "  holds    " << plural(plugin.components.size(), "component", "components") << "\n";
  for (const ComponentInfo& component : plugin.components) print_component(out, component);
}

bool is_named(const PluginInfo& plugin, const std::string& name) {
  if (plugin.name == name || (!plugin.file.empty() && plugin.file == name)) return true;
  for (const ComponentInfo& component : plugin.components)
    if (component.name == name) return true;
  return false;
}

Result<ExitCode> show_plugin(Context& context, const std::string& name) {
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  std::vector<std::string> names;
  bool found = false;
  for (const PluginInfo& plugin : registry->plugins()) {
    if (!plugin.refused.empty()) {
      if (plugin.file == name)
        return Error{Code::usage, "plugin " + printable(name) + " is not used: " + printable(plugin.refused)};
      continue;
    }
    names.push_back(plugin.name);
    for (const ComponentInfo& component : plugin.components) names.push_back(component.name);
    if (!is_named(plugin, name)) continue;
    if (found) context.out() << "\n";
    found = true;
    print_plugin(context.out(), plugin);
  }
  if (!found)
    return Error{Code::usage,
                 "no plugin or component is named '" + printable(name) + "'" + suggestion(name, names)};
  return ExitCode::success;
}

Result<ExitCode> print_search_path(Context& context) {
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  const PluginSearch& search = registry->search();
  context.out() << "compiled in: " << plural(search.builtin.size(), "plugin", "plugins") << "\n";
  ColumnTable table({"ORDER", "FOLDER", "NAMED BY"}, {true, false, false});
  size_t order = 0;
  for (const PluginFolder& folder : search.folders)
    table.add({std::to_string(++order), folder.path, folder.origin});
  context.out() << table.text();
  return ExitCode::success;
}

class PluginsCommand : public Command {
 public:
  CommandInfo info() const override {
    CommandInfo info;
    info.name = "plugins";
    info.group = CommandGroup::extend;
    info.summary = "Lists and describes sources, judgements and executors";
    info.synopsis = "list | show NAME | path | check FILE | new KIND NAME";
    info.description =
        "list prints every component with its version and file, and the files that were refused with the "
        "reason. show prints the options and metrics of a plugin or component. path prints the folders that "
        "are searched, in order. check asks a plugin all that the host relies on, each question in a process "
        "of its own; exit code 1: it found an error. new writes a folder with a plugin of KIND source, "
        "judgement or executor that builds and passes check as it is.";
    info.example = "ulpscope plugins check build/my_framework.plugin.so --dump samples/small";
    info.max_positional = 3;
    return info;
  }

  std::vector<OptionSpec> options() const override {
    std::vector<OptionSpec> specs = plugins_check_options();
    specs.push_back(
        {"output_path", {"o"}, OptionKind::value, "DIR", "new: where to make the folder (default: here)"});
    return specs;
  }

  Result<ExitCode> run(Context& context) override {
    const auto& words = context.options().positional();
    const std::string action = words.empty() ? "list" : words[0];
    if (action == "show") {
      if (words.size() > 2) return Error{Code::usage, "unexpected argument '" + printable(words[2]) + "'"};
      ULPSCOPE_ASSIGN(const std::string name, context.options().required(1, "NAME"));
      return show_plugin(context, name);
    }
    if (action == "new") return new_plugin_action(context);
    if (words.size() > 2) return Error{Code::usage, "unexpected argument '" + printable(words[2]) + "'"};
    if (action == "check") return check_plugin_action(context);
    if (words.size() > 1) return Error{Code::usage, "unexpected argument '" + printable(words[1]) + "'"};
    if (action == "list") return list_plugins(context);
    if (action == "path") return print_search_path(context);
    return Error{Code::usage, "unknown action '" + printable(action) +
                                  "', expected list, show, path, check or new" +
                                  suggestion(action, {"list", "show", "path", "check", "new"})};
  }
};

}  // namespace

std::unique_ptr<Command> make_plugins_command() { return std::make_unique<PluginsCommand>(); }

}  // namespace ulpscope
