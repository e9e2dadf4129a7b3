// What must never be shown or written: values of variables and options that are named like a secret. Used by
// everything of config-check that prints or copies. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace ulpscope {

// Whether an environment variable is a secret by its name: TOKEN, KEY, SECRET, PASS, CREDENTIAL, AUTH or
// COOKIE anywhere in it, in any case.
bool is_secret_variable(std::string_view name);
// Whether an option or a member of a JSON file is: one of those words stands as a part of its own ("api_key",
// "hfToken"), and it is no id or count of tokens ("eos_token_id", "max_tokens").
bool is_secret_option(std::string_view name);

// "<hidden:1a2b3c4d>": the first 8 digits of the SHA-256.
std::string hidden(std::string_view value);

// Secrets that were seen, to be hidden wherever they turn up.
class SecretValues {
 public:
  // Values shorter than 6 bytes are hidden by name only: they would be found in any text.
  void add(std::string_view value);
  std::string hide(std::string text) const;

 private:
  std::set<std::string, std::less<>> values_;
};

// A line of a script or a log without its secrets: NAME=value, --option value, 'name': 'value', name='value',
// and the user and password of an address. Collects what it hid.
std::string hide_in_line(std::string_view line, SecretValues& seen);

}  // namespace ulpscope
