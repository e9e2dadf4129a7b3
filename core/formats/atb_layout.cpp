#include "formats/atb_layout.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "formats/atb_names.hpp"
#include "formats/atb_statistics.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTable = "statistic.csv";

// Whether a folder of the dump is there. A link is none: it may lead anywhere.
bool is_folder(const std::string& path) { return entry_kind(path) == EntryKind::folder; }

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

// Names of the folders in a folder, sorted; none when it cannot be listed. Links are not entered.
std::vector<std::string> folders_in(FolderNames& tree, const std::string& path) {
  std::vector<std::string> names;
  const auto& entries = tree.in(path);
  if (!entries.ok()) return names;
  for (const FolderNames::Entry& entry : *entries)
    if (entry.kind == EntryKind::folder) names.push_back(entry.name);
  return names;
}

std::string last_part(const std::string& path) { return fs::path(path).filename().string(); }
std::string parent_of(const std::string& path) { return fs::path(path).parent_path().string(); }

// A table that is there and cannot be opened is one too: what it lacks is told when it is read.
bool has_table(const std::string& folder) {
  const auto file = File::open_under(folder, kTable);
  return file.ok() ? is_atb_statistics(*file) : entry_kind(joined(folder, std::string(kTable))).has_value();
}

// A folder of an operation: "4_Prefill_layer". "0_39943" is a process.
bool is_op_folder(const std::string& name) {
  const auto op = parse_atb_op_name(name);
  return op && !parse_atb_number(op->type);
}

bool is_round(FolderNames& tree, const std::string& folder) {
  if (has_table(folder)) return true;
  for (const std::string& name : folders_in(tree, folder)) {
    if (!is_op_folder(name)) continue;
    const std::string op = folder + "/" + name;
    if (is_folder(op + "/before") || is_folder(op + "/after")) return true;
    for (const std::string& inner : folders_in(tree, op))
      if (is_op_folder(inner)) return true;
  }
  return false;
}

// The rounds of a process. Beside a round, a folder whose table is empty or broken, or that cannot be listed,
// is one too: what it lacks is told when it is read.
std::vector<std::pair<int64_t, std::string>> rounds_in(FolderNames& tree, const std::string& folder) {
  std::vector<std::pair<int64_t, std::string>> rounds, broken;
  for (const std::string& name : folders_in(tree, folder)) {
    const auto number = parse_atb_number(name);
    if (!number || *number > INT32_MAX) continue;
    const std::string path = folder + "/" + name;
    if (is_round(tree, path))
      rounds.emplace_back(*number, name);
    else if (entry_kind(joined(path, std::string(kTable))) || !listing_trouble(path).empty())
      broken.emplace_back(*number, name);
  }
  if (!rounds.empty()) rounds.insert(rounds.end(), broken.begin(), broken.end());
  std::sort(rounds.begin(), rounds.end());
  return rounds;
}

bool is_process(FolderNames& tree, const std::string& folder) { return !rounds_in(tree, folder).empty(); }

std::vector<std::string> processes_in(FolderNames& tree, const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& name : folders_in(tree, folder))
    if (parse_atb_process(name) && is_process(tree, folder + "/" + name)) names.push_back(name);
  return names;
}

// Whether the name is that of a root of the older layout.
bool is_older_root(const std::string& name) {
  return name.starts_with("msit_dump") || name.starts_with("ait_dump");
}

// The folder below `kind` that belongs to a process: of its name, of its process id, or the only one.
std::string topology_folder(FolderNames& tree, const std::string& kind, const std::string& process_name) {
  const std::vector<std::string> names = folders_in(tree, kind);
  const auto process = parse_atb_process(process_name);
  for (const std::string& name : names)
    if (name == process_name) return kind + "/" + name;
  for (const std::string& name : names)
    if (const auto other = parse_atb_process(name); process && other && other->pid == process->pid)
      return kind + "/" + name;
  return names.size() == 1 ? kind + "/" + names[0] : "";
}

// process_path is the absolute path of a folder of rounds.
AtbProcessFolders topology_of(FolderNames& tree, const std::string& process_path) {
  const std::string base = parent_of(parent_of(process_path)), name = last_part(process_path);
  const std::string info = is_folder(base + "/info") ? base + "/info" : base;
  return {topology_folder(tree, info + "/model", name), topology_folder(tree, info + "/layer", name)};
}

bool listed(const std::vector<int32_t>& list, int64_t number) {
  return list.empty() || std::find(list.begin(), list.end(), number) != list.end();
}

class Finder {
 public:
  Finder(std::string path, const AtbChoice& choice) : choice_(choice) {
    out_.root = std::move(path);
    char real[PATH_MAX];
    absolute_ = ::realpath(out_.root.c_str(), real) != nullptr ? real : out_.root;
  }

  Result<AtbLayout> run() {
    std::error_code ignored;
    if (fs::is_regular_file(out_.root, ignored))
      return Error{Code::usage, out_.root +
                                    ": a file, expected a folder of the dump (a single .bin file is "
                                    "read by the source tensor_files)"};
    if (!fs::is_directory(out_.root, ignored)) return Error{Code::io, out_.root + ": no such folder"};
    if (const std::string trouble = listing_trouble(out_.root); !trouble.empty())
      return Error{Code::io, out_.root + ": " + trouble};
    ULPSCOPE_ASSIGN(const bool found, folder(""));
    if (!found && !out_.unread.empty())
      return Error{Code::io, full(out_.unread[0].first) + ": " + out_.unread[0].second};
    if (!found)
      return Error{Code::format, out_.root +
                                     ": no round of an ATB dump in it, expected folders such as "
                                     "atb_dump_data/data/<device>_<pid>/<round>"};
    std::stable_sort(out_.rounds.begin(), out_.rounds.end(), [](const AtbRound& a, const AtbRound& b) {
      return std::pair(a.rank, a.step) < std::pair(b.rank, b.step);
    });
    return std::move(out_);
  }

 private:
  std::string full(const std::string& relative) const { return joined(out_.root, relative); }
  std::string absolute(const std::string& relative) const {
    return relative.empty() ? absolute_ : absolute_ + "/" + relative;
  }

  // Recognises a folder from the innermost level outwards. False: it is none of them.
  Result<bool> folder(const std::string& relative) {
    const std::string path = full(relative);
    if (is_round(names_, path)) {
      lone_round(relative);
      return true;
    }
    if (is_process(names_, path)) {
      process(relative);
      return true;
    }
    note_unread(relative);
    if (const auto names = processes_in(names_, path); !names.empty()) {
      ULPSCOPE_TRY(processes(relative, names));
      return true;
    }
    for (const char* name : {"data", "tensors", "atb_dump_data"})
      if (is_folder(path + "/" + name)) {
        ULPSCOPE_ASSIGN(const bool found, folder(joined(relative, name)));
        if (found) return true;
      }
    return older_roots(relative);
  }

  // What may hold rounds by its name and is not looked into.
  void note_unread(const std::string& relative) {
    const auto& entries = names_.in(full(relative));
    if (!entries.ok()) return;
    for (const auto& [name, kind] : *entries) {
      const std::string path = full(relative) + "/" + name;
      const bool is_round_of = parse_atb_number(name) && parse_atb_process(last_part(absolute(relative)));
      const bool is_level =
          name == "atb_dump_data" || (!relative.empty() && (name == "data" || name == "tensors"));
      if (!is_level && !is_round_of && !parse_atb_process(name)) continue;
      std::error_code ignored;
      std::string trouble;
      if (kind == EntryKind::folder) trouble = listing_trouble(path);
      if (kind == EntryKind::link && fs::is_directory(path, ignored))
        trouble = "a symbolic link in place of a folder is not followed";
      if (!trouble.empty()) out_.unread.emplace_back(joined(relative, name), trouble);
    }
  }

  Result<bool> older_roots(const std::string& relative) {
    std::vector<std::string> roots;
    for (const std::string& name : folders_in(names_, full(relative)))
      if (is_older_root(name) && is_folder(full(relative) + "/" + name + "/tensors")) roots.push_back(name);
    if (roots.empty()) return false;
    if (roots.size() > 1) return several("dumps", relative, roots);
    return folder(joined(relative, roots[0]));
  }

  Error several(const std::string& what, const std::string& relative,
                const std::vector<std::string>& names) const {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + printable(name);
    return {Code::usage, full(relative) + ": several " + what + " (" + list + "), name one by its path"};
  }

  // A round that was named itself: its number and process are in the names of the folders around it.
  void lone_round(const std::string& relative) {
    const std::string path = absolute(relative);
    AtbRound round{relative, -1, 0, out_.processes.size()};
    const auto number = parse_atb_number(last_part(path));
    if (number && *number <= INT32_MAX) round.step = static_cast<int32_t>(*number);
    if (const auto process = parse_atb_process(last_part(parent_of(path)))) round.rank = process->device;
    out_.processes.push_back(topology_of(names_, parent_of(path)));
    if (listed(choice_.steps, round.step) && listed(choice_.ranks, round.rank)) out_.rounds.push_back(round);
  }

  void process(const std::string& relative) {
    const auto process = parse_atb_process(last_part(absolute(relative)));
    const int32_t rank = process ? process->device : 0;
    if (!listed(choice_.ranks, rank)) return;
    for (const auto& [number, name] : rounds_in(names_, full(relative)))
      if (listed(choice_.steps, number))
        out_.rounds.push_back(
            {joined(relative, name), static_cast<int32_t>(number), rank, out_.processes.size()});
    out_.processes.push_back(topology_of(names_, absolute(relative)));
  }

  Status processes(const std::string& relative, const std::vector<std::string>& names) {
    std::vector<std::pair<int32_t, std::string>> known;
    for (const std::string& name : names) {
      const auto process = parse_atb_process(name);
      if (process && listed(choice_.ranks, process->device)) known.emplace_back(process->device, name);
    }
    std::sort(known.begin(), known.end());
    for (size_t i = 1; i < known.size(); ++i)
      if (known[i].first == known[i - 1].first)
        return several("processes of device " + std::to_string(known[i].first), relative, names);
    for (const auto& [device, name] : known) process(joined(relative, name));
    return {};
  }

  const AtbChoice& choice_;
  FolderNames names_;
  std::string absolute_;
  AtbLayout out_;
};

}  // namespace

Result<AtbLayout> find_atb_rounds(const std::string& path, const AtbChoice& choice) {
  return Finder(path, choice).run();
}

AtbEvidence probe_atb(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {0, "not a folder"};
  const auto layout = find_atb_rounds(path, {});
  if (!layout.ok() && layout.error().code == Code::usage) return {90, "several ATB dumps"};
  if (!layout.ok() && layout.error().code == Code::io) return {60, layout.error().message};
  if (!layout.ok() || layout->rounds.empty()) return {0, "no round of an ATB dump in it"};
  const std::string round = joined(layout->root, layout->rounds.front().relative);
  if (has_table(round)) return {95, "a round with statistic.csv"};
  return {90, "a round of operations with tensors before and after them"};
}

}  // namespace ulpscope
