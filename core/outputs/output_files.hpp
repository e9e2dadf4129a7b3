// The files that hold the outputs of one side: named one by one, as folders, or "-" for the standard input.
// Used by every command that reads outputs. Looks at no content.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

// A file, opened when it is read: a folder may hold more files than a process may have open.
struct OutputFileHandle {
  struct Closer {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };

  std::string path;
  std::string name;                         // as it is shown
  std::unique_ptr<std::FILE, Closer> kept;  // the copy of the standard input: path holds while this is open

  // io: it is gone or unreadable.
  Result<File> open() const { return File::open(path); }
};

// Every file of paths, folders file by file in the order of their names (links are not followed into
// folders). The standard input is copied into a file without a name first, since outputs are read twice.
// io: one is missing or unreadable, or a folder holds over a hundred thousand files. Any thread.
Result<std::vector<OutputFileHandle>> open_output_files(const std::vector<std::string>& paths);

}  // namespace ulpscope
