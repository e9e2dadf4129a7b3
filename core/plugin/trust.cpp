#include "plugin/trust.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace ulpscope {

Result<std::string> canonical_path(const std::string& path) {
  char place[PATH_MAX];
  if (::realpath(path.c_str(), place) == nullptr) return Error{Code::io, path + ": " + std::strerror(errno)};
  return std::string(place);
}

Status check_trust(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return Error{Code::io, path + ": " + std::strerror(errno)};
  if ((info.st_mode & S_IWOTH) != 0)
    return Error{Code::usage, "refused: " + path + " is writable by everyone"};
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return Error{Code::usage, "refused: " + path + " belongs to another user"};
  return {};
}

Status check_plugin_trust(const std::string& file) {
  ULPSCOPE_TRY(check_trust(file));
  const size_t slash = file.rfind('/');
  return check_trust(slash == 0 || slash == std::string::npos ? "/" : file.substr(0, slash));
}

}  // namespace ulpscope
