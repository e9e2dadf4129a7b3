#include "outputs/output_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 100'000;
constexpr int kMostFolders = 16;  // inside each other

Result<std::vector<std::string>> files_of(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code code;
  fs::recursive_directory_iterator entry(folder, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    if (entry.depth() >= kMostFolders) entry.disable_recursion_pending();
    std::error_code unreadable;
    if (!entry->is_regular_file(unreadable) || unreadable) continue;
    files.push_back(entry->path().string());
    if (files.size() > kMostFiles)
      return Error{Code::io,
                   printable(folder) + ": expected at most " + std::to_string(kMostFiles) + " files"};
  }
  if (code) return Error{Code::io, printable(folder) + ": " + code.message()};
  std::sort(files.begin(), files.end());
  return files;
}

Error temporary_error() {
  return {Code::io, "standard input: no temporary file: " + std::generic_category().message(errno)};
}

// The standard input copied into a file that has no name.
Result<OutputFileHandle> standard_input() {
  OutputFileHandle handle;
  handle.name = "standard input";
  handle.kept.reset(std::tmpfile());
  std::FILE* const copy = handle.kept.get();
  if (copy == nullptr) return temporary_error();
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      return Error{Code::io, "standard input: " + std::generic_category().message(errno)};
    }
    if (std::fwrite(buffer.data(), 1, static_cast<size_t>(got), copy) != static_cast<size_t>(got))
      return temporary_error();
  }
  if (std::fflush(copy) != 0) return temporary_error();
  handle.path = "/proc/self/fd/" + std::to_string(::fileno(copy));
  return handle;
}

Status can_be_read(const std::string& path) {
  const auto file = File::open(path);
  return file.ok() ? Status() : file.error();
}

}  // namespace

Result<std::vector<OutputFileHandle>> open_output_files(const std::vector<std::string>& paths) {
  std::vector<OutputFileHandle> files;
  for (const std::string& path : paths) {
    if (path == "-") {
      ULPSCOPE_ASSIGN(OutputFileHandle handle, standard_input());
      files.push_back(std::move(handle));
      continue;
    }
    std::error_code code;
    if (!fs::is_directory(path, code)) {
      ULPSCOPE_TRY(can_be_read(path));
      files.push_back({path, path, nullptr});
      continue;
    }
    ULPSCOPE_ASSIGN(const std::vector<std::string> inside, files_of(path));
    if (inside.empty()) return Error{Code::io, printable(path) + ": the folder holds no files"};
    for (const std::string& name : inside) files.push_back({name, name, nullptr});
  }
  return files;
}

}  // namespace ulpscope
