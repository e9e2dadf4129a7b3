// The folders of an ATB dump: from any path that a user may name (output folder, atb_dump_data, data, device
// and process, round, or a root of the older layout) to the rounds to read, in order. Used by the source
// mindie_atb; looks at names only and opens no file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// One execution count of one process.
struct AtbRound {
  std::string relative;  // to the root; empty: the root itself
  int32_t step = -1, rank = 0;
  size_t process = 0;  // entry of AtbLayout::processes
};

// Where the topology of a process lies; empty where there is none.
struct AtbProcessFolders {
  std::string model_folder, layer_folder;
};

struct AtbLayout {
  std::string root;              // the folder that was named; what file names are relative to
  std::vector<AtbRound> rounds;  // by rank, then step
  std::vector<AtbProcessFolders> processes;
  std::vector<std::string> warnings;
  // Folders below the root that may hold more of the dump and are not read, and why.
  std::vector<std::pair<std::string, std::string>> unread;
};

// Empty lists: all.
struct AtbChoice {
  std::vector<int32_t> steps, ranks;
};

// io: the path is no folder or cannot be listed; format: no round lies there; usage: two processes of one
// device, or several dumps, of which none is named. Any thread.
Result<AtbLayout> find_atb_rounds(const std::string& path, const AtbChoice& choice);

// How sure one can be that a folder is a dump of this kind, 0 to 100, and by what.
struct AtbEvidence {
  int score = 0;
  std::string why;
};
AtbEvidence probe_atb(const std::string& path);

}  // namespace ulpscope
