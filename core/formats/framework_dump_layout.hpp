// The folders of a framework dump: from any path that a user may name (dump root, step, rank folder,
// dump.json) to the rank folders to read, in order. Used by the scan and the probe; looks at names only and
// opens no file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// What a user may set; the members are the options of the sources. Empty lists: all.
struct FrameworkOptions {
  std::vector<int32_t> steps, ranks;  // those of the records, step_offset included
  std::vector<int32_t> skip_steps;    // numbers of step folders to leave out
  int32_t step_offset = 0;            // added to each step's number
  int32_t first_token = 0;            // number of the first forward in a step folder
  bool salvage = false;               // keep what stands before the break of a cut-off file
  bool follow_links = false;          // follow symbolic links out of the dump
  bool strict = false;                // a wrong checksum of a file is an error
};

// Reads options from JSON text; names lists those that the source has. usage: not an object, an unknown name,
// or a value of another kind, each with the name. Any thread.
Result<FrameworkOptions> parse_framework_options(std::string_view json,
                                                 const std::vector<std::string_view>& names);

struct DumpFolder {
  std::string relative;  // to the dump root: "step0/rank1"; empty: the root itself
  int32_t step = -1, rank = -1;
};

struct DumpLayout {
  std::string
      root;  // what data file names are relative to: the folder that was named, or that of the named file
  std::string file;  // the one file to read, when a file was named
  std::vector<DumpFolder> folders;
  std::vector<std::string> notices, warnings;
  // Folders of the dump that cannot be listed, relative to the root, and why. What they hold is lost.
  std::vector<std::pair<std::string, std::string>> unread;
};

// Finds the folders that the options leave. io: the path, or all that is in it, is not there or cannot be
// listed; format: nothing of a dump lies there. Any thread.
Result<DumpLayout> find_dump_folders(const std::string& path, const FrameworkOptions& options);

// The names in a folder of what is no folder and no link to one, sorted. io.
Result<std::vector<std::string>> files_in(const std::string& path);

}  // namespace ulpscope
