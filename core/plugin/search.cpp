#include "plugin/search.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "plugin/library.hpp"

namespace ulpscope {
namespace {

// A variable of the environment; empty when it is not set or the program runs with a raised privilege.
std::string variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

// $XDG_DATA_HOME, by its own rules: only when absolute, else ~/.local/share.
std::string user_data_folder() {
  std::string data = variable("XDG_DATA_HOME");
  if (!data.empty() && data.front() == '/') return data;
  const std::string home = variable("HOME");
  return !home.empty() && home.front() == '/' ? home + "/.local/share" : "";
}

}  // namespace

std::vector<std::string> absolute_folders(std::string_view colon_list) {
  std::vector<std::string> folders;
  for (const std::string_view part : split(colon_list, ':'))
    if (!part.empty() && part.front() == '/') folders.emplace_back(part);
  return folders;
}

PluginSearch standard_search(const std::vector<std::string>& given, std::vector<BuiltinPlugin> builtin,
                             bool allow_unsafe) {
  PluginSearch search;
  search.builtin = std::move(builtin);
  search.allow_unsafe = allow_unsafe;
  for (const std::string& folder : given) {
    std::error_code failed;
    const std::filesystem::path absolute = std::filesystem::absolute(folder, failed);
    search.folders.push_back({failed ? folder : absolute.lexically_normal().string(), "--plugin-path"});
  }
  for (std::string& folder : absolute_folders(variable("ULPSCOPE_PLUGIN_PATH")))
    search.folders.push_back({std::move(folder), "ULPSCOPE_PLUGIN_PATH"});
  if (const std::string data = user_data_folder(); !data.empty())
    search.folders.push_back({data + "/ulpscope/plugins", "user"});
  if (const auto program = program_folder(); program.ok()) {
    const std::filesystem::path prefix = std::filesystem::path(program.value()).parent_path();
    search.folders.push_back({(prefix / "lib/ulpscope/plugins").string(), "installation"});
  }
  return search;
}

}  // namespace ulpscope
