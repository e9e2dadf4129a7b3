// Listing a folder: names and what they are, with one system call for many entries where the file system says
// the kind in the listing. Used by the readers that walk dump trees; dumps of tens of thousands of small
// files are common, and each source lists them while it finds out whether they are its own. Follows no link.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ulpscope {

enum class EntryKind { file, folder, link, other };

// Calls body(name, kind) for each entry of folder but "." and "..", in no order, until it answers false. name
// is valid during the call. io when folder cannot be listed. Any thread.
Status for_each_entry(const std::string& folder,
                      const std::function<bool(std::string_view, EntryKind)>& body);

// The folder that the file names of a dump are relative to: path itself, or the folder of the file that path
// is. Any thread.
std::string dump_root(const std::string& path);

}  // namespace ulpscope
