// Where the files of a run go: a fresh folder inside the base, or the base itself. No run writes into the
// result of another one. Used by every command that writes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ulpscope {

struct FolderRequest {
  std::string base = "./ulpscope_out";
  std::string command;  // "compare": the first word of the new folder's name
  bool exact = false;   // base itself; refused when it holds a result
  bool resume = false;  // base is the folder of the run that goes on; it must be there
};

// The folder, made where it was not there: base/<command>_<UTC time, 20260808T140500Z>, with -2, -3, … behind
// it when that name is taken. usage: exact and base holds a result, or resume and base is no folder. io: it
// cannot be made. Any thread; two runs that ask at the same time get two folders.
Result<std::string> make_output_folder(const FolderRequest& request);

// Whether a folder holds what a run of ulpscope writes: a …_result.json, a result table, or a journal.
bool holds_result(const std::string& folder);

}  // namespace ulpscope
