// How much each name matters: the severities of config-check as data, the built-in list first and what users
// add in front of it. Used by every section. The form is explained at the top of catalogue.yaml.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// error: can change tokens by itself. warning: can change numbers. info: told. ignored: no influence.
enum class ConfigSeverity : uint8_t { error, warning, info, ignored };
std::string_view to_text(ConfigSeverity severity);

class Catalogue {
 public:
  // The one that ships with the program.
  static Result<Catalogue> builtin();
  // Adds a file of a user, which wins over what is there. io; usage: not of the form, with line and column.
  Status extend(const std::string& path);

  // What a difference of that key means. The key is matched whole, then by what its dotted beginnings name;
  // any_part: by its dotted ends too ("ModelConfig[0].worldSize" by worldSize).
  ConfigSeverity severity(std::string_view section, std::string_view key, bool any_part = false) const;
  // Whether a list of the section names it, other than by default.
  bool lists(std::string_view section, std::string_view key) const;
  // A list of a section, those of users in front.
  std::vector<std::string> list(std::string_view section, std::string_view name) const;
  bool in_list(std::string_view section, std::string_view list_name, std::string_view key) const;

 private:
  using Lists = std::map<std::string, std::vector<std::string>, std::less<>>;
  using Sections = std::map<std::string, Lists, std::less<>>;

  static Result<Sections> read(const std::string& path, const std::string& text);

  std::vector<Sections> layers_;  // the newest first
};

}  // namespace ulpscope
