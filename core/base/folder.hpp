// Listing a folder: names and what they are, with one system call for many entries where the file system says
// the kind in the listing. Used by the readers that walk dump trees; dumps of tens of thousands of small
// files are common, and each source lists them while it finds out whether they are its own. Follows no link.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

enum class EntryKind { file, folder, link, other };

// Calls body(name, kind) for each entry of folder but "." and "..", in no order, until it answers false. name
// is valid during the call. io when folder cannot be listed. Any thread.
Status for_each_entry(const std::string& folder,
                      const std::function<bool(std::string_view, EntryKind)>& body);

// The folders, and the links, in folders of one tree. Finding out what a tree is asks a folder several times;
// each is listed once, which matters where tens of thousands of files lie beside the folders. One thread at a
// time; what is added to a folder afterwards is not seen.
class FolderNames {
 public:
  struct Entry {
    std::string name;
    EntryKind kind = EntryKind::folder;  // folder or link
  };

  // The entries of a folder, sorted by name, valid as long as this object. io when it cannot be listed.
  const Result<std::vector<Entry>>& in(const std::string& folder);

 private:
  std::map<std::string, Result<std::vector<Entry>>> listed_;
};

// What the entry at path itself is, without following it where it is a link. Nothing: there is none, or its
// folder cannot be searched. Any thread.
std::optional<EntryKind> entry_kind(const std::string& path);

// What for_each_entry of folder would say of a folder that cannot be listed; empty when it can. Any thread.
std::string listing_trouble(const std::string& folder);

// Whether the walk goes into the entry (which may be no folder), passes it, or ends.
enum class Walk { enter, pass, end };

// Folders below the root deeper than this are not entered.
inline constexpr int kMaxWalkDepth = 32;

// Calls body(path relative to root, kind) for each entry below root, in no order but what a folder holds
// behind it. unread is told of each folder that was to be entered and could not be listed, or lies too deep,
// with the reason; the walk goes on. io when root itself cannot be listed. Any thread.
Status walk_folder(const std::string& root, const std::function<Walk(const std::string&, EntryKind)>& body,
                   const std::function<void(const std::string&, const std::string&)>& unread);

// The folder that the file names of a dump are relative to: path itself, or the folder of the file that path
// is. Any thread.
std::string dump_root(const std::string& path);

}  // namespace ulpscope
