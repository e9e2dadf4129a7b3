// The files that hold the outputs of one side: named one by one, as folders, or "-" for the standard input.
// Used by every command that reads outputs. Looks at no content.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

// An open file and the name it is shown by.
struct OutputFileHandle {
  File file;
  std::string name;
};

// Every file of paths, folders file by file in the order of their names (links are not followed into
// folders). The standard input is copied into a file without a name first, since outputs are read twice.
// io: one is missing or unreadable, or a folder holds over a hundred thousand files. Any thread.
Result<std::vector<OutputFileHandle>> open_output_files(const std::vector<std::string>& paths);

}  // namespace ulpscope
