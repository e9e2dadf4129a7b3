#include "base/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace ulpscope {
namespace {

EntryKind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::file;
  if (S_ISDIR(mode)) return EntryKind::folder;
  return S_ISLNK(mode) ? EntryKind::link : EntryKind::other;
}

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
  return kind_of_mode(info.st_mode);
}

Error failed(const std::string& folder) { return {Code::io, folder + ": " + std::strerror(errno)}; }

class Walker {
 public:
  Walker(const std::string& root, const std::function<Walk(const std::string&, EntryKind)>& body,
         const std::function<void(const std::string&, const std::string&)>& unread)
      : root_(root), body_(body), unread_(unread) {}

  // The folders of one folder are entered when its own listing is done: one open folder at a time.
  Status list(const std::string& relative, int depth) {
    const std::string prefix = relative.empty() ? "" : relative + "/";
    std::vector<std::string> folders;
    ULPSCOPE_TRY(for_each_entry(relative.empty() ? root_ : root_ + "/" + relative,
                                [&](std::string_view name, EntryKind kind) {
                                  std::string path = prefix + std::string(name);
                                  const Walk answer = body_(path, kind);
                                  ended_ = answer == Walk::end;
                                  if (answer == Walk::enter && kind == EntryKind::folder)
                                    folders.push_back(std::move(path));
                                  return !ended_;
                                }));
    for (const std::string& folder : folders) {
      if (ended_) break;
      enter(folder, depth + 1);
    }
    return {};
  }

 private:
  void enter(const std::string& folder, int depth) {
    if (depth > kMaxWalkDepth)
      return unread_(folder,
                     "folders are nested deeper than " + std::to_string(kMaxWalkDepth) + ", it is not read");
    const Status listed = list(folder, depth);
    if (listed.ok()) return;
    const std::string trouble = listing_trouble(root_ + "/" + folder);
    unread_(folder, trouble.empty() ? listed.error().message : trouble);
  }

  const std::string& root_;
  const std::function<Walk(const std::string&, EntryKind)>& body_;
  const std::function<void(const std::string&, const std::string&)>& unread_;
  bool ended_ = false;
};

}  // namespace

std::optional<EntryKind> entry_kind(const std::string& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
  return kind_of_mode(info.st_mode);
}

std::string listing_trouble(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
  return stream != nullptr ? "" : std::string("the folder cannot be listed: ") + std::strerror(errno);
}

Status walk_folder(const std::string& root, const std::function<Walk(const std::string&, EntryKind)>& body,
                   const std::function<void(const std::string&, const std::string&)>& unread) {
  return Walker(root, body, unread).list("", 0);
}

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

const Result<std::vector<FolderNames::Entry>>& FolderNames::in(const std::string& folder) {
  const auto known = listed_.find(folder);
  if (known != listed_.end()) return known->second;
  std::vector<Entry> entries;
  const Status listed = for_each_entry(folder, [&](std::string_view name, EntryKind kind) {
    if (kind == EntryKind::folder || kind == EntryKind::link) entries.push_back({std::string(name), kind});
    return true;
  });
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  auto answer = listed.ok() ? Result<std::vector<Entry>>(std::move(entries)) : listed.error();
  return listed_.emplace(folder, std::move(answer)).first->second;
}

std::string dump_root(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return path;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace ulpscope
