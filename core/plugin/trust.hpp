// Who could have put a plugin where it lies. Loading a plugin runs its code with the user's rights, so the
// file must belong to root or the user, and nobody else may be able to change it or the folder that it lies
// in.
#pragma once

#include <string>

#include "base/result.hpp"

namespace ulpscope {

// The path of a plugin file after every symbolic link. io when there is none. Any thread.
Result<std::string> canonical_path(const std::string& path);

// Checks one file or folder. usage: "refused: PATH is writable by everyone" or "refused: PATH belongs to
// another user"; io when it cannot be asked. Any thread.
Status check_trust(const std::string& path);

// Checks a plugin file (canonical) and its folder. Any thread.
Status check_plugin_trust(const std::string& file);

}  // namespace ulpscope
