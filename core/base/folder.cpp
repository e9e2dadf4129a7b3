#include "base/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace ulpscope {
namespace {

EntryKind kind_of(int folder, const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return EntryKind::file;
    case DT_DIR:
      return EntryKind::folder;
    case DT_LNK:
      return EntryKind::link;
    case DT_UNKNOWN:
      break;
    default:
      return EntryKind::other;
  }
  struct stat info = {};
  if (::fstatat(folder, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return EntryKind::other;
  if (S_ISREG(info.st_mode)) return EntryKind::file;
  if (S_ISDIR(info.st_mode)) return EntryKind::folder;
  return S_ISLNK(info.st_mode) ? EntryKind::link : EntryKind::other;
}

Error failed(const std::string& folder) { return {Code::io, folder + ": " + std::strerror(errno)}; }

}  // namespace

Status for_each_entry(const std::string& folder,
                      const std::function<bool(std::string_view, EntryKind)>& body) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
  if (stream == nullptr) return failed(folder);
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) return errno == 0 ? Status{} : Status{failed(folder)};
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!body(name, kind_of(::dirfd(stream.get()), *entry))) return {};
  }
}

std::string dump_root(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return path;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace ulpscope
