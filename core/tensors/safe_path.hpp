// File names from names of strangers: what convert may create, whatever a dump calls its operations. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ulpscope {

// One component of a path: no separator, control byte, blank at the ends, leading '.' or '-', nor a byte that
// other systems refuse (\ : * ? " < > |); each becomes '_'. Never empty. Names above limit_bytes are cut and
// end in a hash of the whole.
std::string safe_component(std::string_view name, size_t limit_bytes = 200);

// A relative path, component by component; "." and empty components vanish, ".." becomes "__".
std::string safe_relative_path(std::string_view path);

// Hands out each path once: the second request for one gets "-2" behind it, and so on. One thread.
class UniquePaths {
 public:
  std::string take(const std::string& path);

 private:
  std::map<std::string, int, std::less<>> taken_;  // path to the number of the last one
};

}  // namespace ulpscope
