#include "instrument/tree_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/sha256.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

Error failure(const std::string& path, const char* what) {
  return {Code::io, printable(path) + ": " + what + ": " + std::generic_category().message(errno)};
}

Status write_all(int descriptor, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(descriptor, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failure(path, "cannot be written");
    text.remove_prefix(static_cast<size_t>(wrote));
  }
  if (::fsync(descriptor) != 0) return failure(path, "cannot be synced");
  return {};
}

// Replaces path by text in one step. The new file has mode and owner of the old one.
Status replace_file(const std::string& path, const std::string& text) {
  struct stat old = {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  const std::string temporary = path + ".ulpscope_" + std::to_string(::getpid());
  const int descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor < 0) return failure(temporary, "cannot be made");
  Status status = write_all(descriptor, temporary, text);
  if (status.ok() && exists) {
    // Only root may give a file away; others own it already.
    if (::fchown(descriptor, old.st_uid, old.st_gid) != 0 && errno != EPERM)
      status = failure(temporary, "owner");
    if (status.ok() && ::fchmod(descriptor, old.st_mode & 07777u) != 0) status = failure(temporary, "mode");
  }
  if (::close(descriptor) != 0 && status.ok()) status = failure(temporary, "cannot be closed");
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = failure(path, "cannot be replaced");
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

struct Undo {
  std::string path, content;
  bool existed = false;
};

// Makes the folder and those above it that are missing, and notes them, outermost first.
void make_folders(const std::filesystem::path& folder, std::vector<std::string>& made) {
  std::error_code failed;
  if (folder.empty() || std::filesystem::exists(folder, failed)) return;
  make_folders(folder.parent_path(), made);
  if (std::filesystem::create_directory(folder, failed)) made.push_back(folder.string());
}

Status change_one(const EngineTree& tree, const FileChange& change, std::vector<Undo>& undo,
                  std::vector<std::string>& folders) {
  const TreeFile now = read_tree_file(tree, change.path);
  if (now.problem == TreeFileProblem::outside || now.problem == TreeFileProblem::unreadable)
    return Error{Code::io, now.message};
  const bool exists = now.problem == TreeFileProblem::none;
  if ((exists ? sha256_hex(now.content) : std::string()) != change.expected)
    return Error{Code::format, now.path + ": changed since it was read, expected it to stay as it was"};
  const std::string path = exists ? now.path : tree.root + "/" + change.path;
  if (change.removes) {
    if (::unlink(path.c_str()) != 0) return failure(path, "cannot be removed");
  } else {
    make_folders(std::filesystem::path(path).parent_path(), folders);
    ULPSCOPE_TRY(replace_file(path, change.content));
  }
  undo.push_back({path, now.content, exists});
  return {};
}

}  // namespace

Status change_files(const EngineTree& tree, const std::vector<FileChange>& changes) {
  std::vector<Undo> undo;
  std::vector<std::string> folders;
  for (const FileChange& change : changes) {
    const Status status = change_one(tree, change, undo, folders);
    if (status.ok()) continue;
    std::string left;
    for (size_t i = undo.size(); i-- > 0;) {
      const bool back = undo[i].existed ? replace_file(undo[i].path, undo[i].content).ok()
                                        : ::unlink(undo[i].path.c_str()) == 0;
      if (!back) left += (left.empty() ? "; not put back: " : ", ") + undo[i].path;
    }
    for (size_t i = folders.size(); i-- > 0;)
      ::rmdir(folders[i].c_str());  // holds others' files now, or goes
    return Error{status.error().code, status.error().message + left};
  }
  return {};
}

std::string hash_of_file(const EngineTree& tree, const std::string& path) {
  const TreeFile file = read_tree_file(tree, path);
  return file.problem == TreeFileProblem::none ? sha256_hex(file.content) : std::string();
}

}  // namespace ulpscope
