#include "cli/plugins_new.hpp"

#include <string>

#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>

#include "base/text.hpp"
#include "plugin/library.hpp"
#include "plugin/table_checks.hpp"
#include "template_executor.hpp"
#include "template_judgement.hpp"
#include "template_source.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

// "my_framework" as the name of a class: "MyFramework".
std::string class_name(std::string_view name) {
  std::string text;
  bool starts = true;
  for (const char c : name) {
    if (c == '_') {
      starts = true;
      continue;
    }
    text += starts && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    starts = false;
  }
  return text;
}

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string filled_in(std::string_view text, const std::string& name) {
  return replaced(replaced(std::string(text), "my_plugin", name), "MyPlugin", class_name(name));
}

std::span<const TemplateFile> files_of(std::string_view kind) {
  if (kind == "source") return kTemplateSource;
  if (kind == "judgement") return kTemplateJudgement;
  if (kind == "executor") return kTemplateExecutor;
  return {};
}

// Where this program is installed with its SDK; empty when it runs from somewhere else.
std::string installed_prefix() {
  const auto folder = program_folder();
  if (!folder.ok()) return "";
  const fs::path prefix = fs::path(*folder).parent_path();
  std::error_code error;
  return fs::exists(prefix / "lib/cmake/UlpscopeSDK", error) ? prefix.string() : "";
}

Status write_file(const fs::path& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return Error{Code::io, printable(path.parent_path().string()) + ": " + error.message()};
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return Error{Code::io, printable(path.string()) + ": cannot be written"};
  return {};
}

}  // namespace

Result<ExitCode> new_plugin_action(Context& context) {
  ULPSCOPE_ASSIGN(const std::string kind, context.options().required(1, "KIND"));
  ULPSCOPE_ASSIGN(const std::string name, context.options().required(2, "NAME"));
  const std::span<const TemplateFile> files = files_of(kind);
  if (files.empty())
    return Error{Code::usage, "no kind of plugin is named '" + printable(kind) +
                                  "', expected source, judgement or executor" +
                                  suggestion(kind, {"source", "judgement", "executor"})};
  if (!is_plugin_name(name))
    return Error{Code::usage, "name '" + printable(name) + "', expected lower-case letters, digits and '_'"};
  const fs::path folder = fs::path(context.options().text_or("output_path", ".")) / name;
  std::error_code error;
  if (fs::exists(fs::symlink_status(folder, error)))
    return Error{Code::io, printable(folder.string()) + ": exists already, and nothing is overwritten"};
  for (const TemplateFile& file : files)
    ULPSCOPE_TRY(write_file(folder / filled_in(file.path, name), filled_in(file.text, name)));
  Output& out = context.out();
  const std::string prefix = installed_prefix(), build = printable((folder / "build").string());
  out << "made " << printable(folder.string()) << ", " << (kind == "executor" ? "an " : "a ") << kind
      << " that builds as it is:\n\n"
      << "  cmake -S " << printable(folder.string()) << " -B " << build
      << " -DCMAKE_PREFIX_PATH=" << (prefix.empty() ? "PREFIX" : printable(prefix)) << "\n"
      << "  cmake --build " << build << "\n"
      << "  ctest --test-dir " << build << "\n\n";
  if (prefix.empty()) out << "PREFIX is where ulpscope is installed. ";
  out << "README.md in it says what is yours to change.\n";
  return ExitCode::success;
}

}  // namespace ulpscope
