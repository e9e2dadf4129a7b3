#include "formats/framework_dump_layout.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "base/folder.hpp"
#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct NumberedFolder {
  std::string name;
  int64_t number = 0;
};

// The number behind a prefix: "step12" is 12. No leading zeros, so that no two names mean one number.
std::optional<int64_t> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  if (digits.empty() || digits.front() == '-' || (digits.size() > 1 && digits.front() == '0'))
    return std::nullopt;
  const auto number = parse_int(digits);
  return number && *number <= INT32_MAX ? number : std::nullopt;
}

// rank3, or rank alone as first writers had it.
std::optional<int64_t> rank_number(std::string_view name) {
  return name == "rank" ? 0 : number_after(name, "rank");
}

// A process that had no rank. Process ids may be written with leading zeros.
std::optional<int64_t> process_number(std::string_view name) {
  for (const std::string_view prefix : {"proc", "pid"})
    if (name.starts_with(prefix) && name.size() > prefix.size() && name[prefix.size()] != '-')
      if (const auto number = parse_int(name.substr(prefix.size()))) return number;
  return std::nullopt;
}

void sort_by_number(std::vector<NumberedFolder>& folders) {
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) {
    return a.number != b.number ? a.number < b.number : a.name < b.name;
  });
}

std::string joined(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

// A link to nothing is there too: it is to be reported, not passed over.
bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

bool is_rank_folder(const std::string& path) {
  return exists(path + "/dump.json") || exists(path + "/debug.json") || exists(path + "/dump_tensor_data");
}

bool is_listed(const std::vector<int32_t>& list, int64_t number) {
  return list.empty() || std::find(list.begin(), list.end(), number) != list.end();
}

class FolderFinder {
 public:
  FolderFinder(DumpLayout& layout, const FrameworkOptions& options) : layout_(layout), options_(options) {}

  // False when the folder holds no step folders.
  Result<bool> root(const std::string& relative) {
    ULPSCOPE_ASSIGN(const auto names, folders_in(relative));
    std::vector<NumberedFolder> steps;
    for (const std::string& name : names)
      if (const auto number = number_after(name, "step")) steps.push_back({name, *number});
    if (steps.empty()) return false;
    note_others(relative, names.size() - steps.size());
    sort_by_number(steps);
    for (const NumberedFolder& folder : steps) {
      if (!keep_step(folder.number)) continue;
      const std::string inside = joined(relative, folder.name);
      if (const std::string trouble = listing_trouble(joined(layout_.root, inside)); !trouble.empty()) {
        layout_.unread.emplace_back(inside, trouble);
        continue;
      }
      ULPSCOPE_ASSIGN(const bool any, step(inside, folder.number));
      if (!any) layout_.warnings.push_back(joined(relative, folder.name) + ": no rank folder in it");
    }
    return true;
  }

  // False when the folder holds no rank folders.
  Result<bool> step(const std::string& relative, std::optional<int64_t> number) {
    ULPSCOPE_ASSIGN(const auto names, folders_in(relative));
    std::vector<NumberedFolder> ranks, processes;
    for (const std::string& name : names) {
      if (const auto rank = rank_number(name))
        ranks.push_back({name, *rank});
      else if (const auto process = process_number(name))
        processes.push_back({name, *process});
    }
    if (ranks.empty() && processes.empty()) return false;
    note_others(relative, names.size() - ranks.size() - processes.size());
    if (!ranks.empty() && !processes.empty())
      layout_.notices.push_back(place(relative) + ": " + std::to_string(processes.size()) +
                                " proc folders beside rank folders are not read");
    if (ranks.empty()) {
      sort_by_number(processes);
      if (processes.size() > 1)
        layout_.warnings.push_back(
            place(relative) + ": " + std::to_string(processes.size()) +
            " proc folders and no rank folder; they count as ranks in order of their numbers");
      for (size_t i = 0; i < processes.size(); ++i) processes[i].number = static_cast<int64_t>(i);
      ranks = std::move(processes);
    }
    sort_by_number(ranks);
    for (const NumberedFolder& folder : ranks) rank(joined(relative, folder.name), number, folder.number);
    return true;
  }

  void rank(const std::string& relative, std::optional<int64_t> step, std::optional<int64_t> rank) {
    if (step && !keep_step(*step)) return;
    if (rank && !is_listed(options_.ranks, *rank)) return;
    DumpFolder folder;
    folder.relative = relative;
    if (step) folder.step = static_cast<int32_t>(*step + options_.step_offset);
    if (rank) folder.rank = static_cast<int32_t>(*rank);
    layout_.folders.push_back(std::move(folder));
  }

 private:
  // The folders in a folder, a link to one is one too.
  Result<std::vector<std::string>> folders_in(const std::string& relative) {
    const std::string path = joined(layout_.root, relative);
    const auto& entries = names_.in(path);
    if (!entries.ok()) return entries.error();
    std::vector<std::string> folders;
    std::error_code ignored;
    for (const FolderNames::Entry& entry : *entries)
      if (entry.kind == EntryKind::folder || fs::is_directory(path + "/" + entry.name, ignored))
        folders.push_back(entry.name);
    return folders;
  }

  std::string place(const std::string& relative) const { return relative.empty() ? layout_.root : relative; }

  bool keep_step(int64_t number) const {
    const bool skipped = !options_.skip_steps.empty() && is_listed(options_.skip_steps, number);
    return !skipped && is_listed(options_.steps, number + options_.step_offset);
  }

  void note_others(const std::string& relative, size_t count) {
    if (count > 0)
      layout_.notices.push_back(place(relative) + ": " + std::to_string(count) +
                                " folders of other names are not read");
  }

  DumpLayout& layout_;
  const FrameworkOptions& options_;
  FolderNames names_;
};

// The step and rank that the folder's own names say, for a path that starts below the dump root.
struct OwnNumbers {
  std::optional<int64_t> step, rank;
};
OwnNumbers own_numbers(const std::string& folder) {
  std::error_code error;
  const fs::path full = fs::weakly_canonical(folder, error);
  if (error) return {};
  const std::string name = full.filename().string();
  OwnNumbers own;
  if ((own.step = number_after(name, "step"))) return own;
  own.rank = rank_number(name);
  if (!own.rank && process_number(name)) own.rank = 0;
  if (own.rank) own.step = number_after(full.parent_path().filename().string(), "step");
  return own;
}

Error option_error(std::string_view name, std::string_view expected) {
  return {Code::usage, "option " + std::string(name) + ": expected " + std::string(expected)};
}

Status set_flag(const Json& value, std::string_view name, bool& out) {
  if (!value.is_boolean()) return option_error(name, "true or false");
  out = value.get<bool>();
  return {};
}

Status set_number(const Json& value, std::string_view name, int32_t& out, int64_t least) {
  if (!value.is_number_integer() || value > INT32_MAX || value < least)
    return option_error(name, "a whole number from " + std::to_string(least));
  out = value.get<int32_t>();
  return {};
}

Status set_numbers(const Json& value, std::string_view name, std::vector<int32_t>& out) {
  if (!value.is_array()) return option_error(name, "a list of whole numbers");
  for (const Json& number : value) {
    if (!number.is_number_integer() || number > INT32_MAX || number < INT32_MIN)
      return option_error(name, "a list of whole numbers");
    out.push_back(number.get<int32_t>());
  }
  return {};
}

Status set_option(FrameworkOptions& options, const std::string& name, const Json& value) {
  if (name == "steps") return set_numbers(value, name, options.steps);
  if (name == "ranks") return set_numbers(value, name, options.ranks);
  if (name == "skip_steps") return set_numbers(value, name, options.skip_steps);
  if (name == "step_offset") return set_number(value, name, options.step_offset, -1000000);
  if (name == "first_token") return set_number(value, name, options.first_token, 0);
  if (name == "salvage") return set_flag(value, name, options.salvage);
  if (name == "follow_links") return set_flag(value, name, options.follow_links);
  if (name == "strict") return set_flag(value, name, options.strict);
  if (name == "layout") {
    // The files of this family hold rows only: both words mean the same bytes.
    if (value != "original" && value != "raw") return option_error(name, "\"original\" or \"raw\"");
    return {};
  }
  return Error{Code::usage, "option " + name + ": not an option of this source"};
}

}  // namespace

Result<FrameworkOptions> parse_framework_options(std::string_view json,
                                                 const std::vector<std::string_view>& names) {
  FrameworkOptions options;
  if (json.empty()) return options;
  const Json parsed = Json::parse(json, nullptr, false);
  if (!parsed.is_object()) return Error{Code::usage, "options: expected a JSON object"};
  for (const auto& [name, value] : parsed.items()) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      return Error{Code::usage, "option " + name + ": not an option of this source"};
    ULPSCOPE_TRY(set_option(options, name, value));
  }
  return options;
}

Result<std::vector<std::string>> files_in(const std::string& path) {
  std::vector<std::string> names;
  ULPSCOPE_TRY(for_each_entry(path, [&](std::string_view name, EntryKind kind) {
    std::error_code ignored;
    const bool is_folder =
        kind == EntryKind::folder ||
        (kind == EntryKind::link && fs::is_directory(path + "/" + std::string(name), ignored));
    if (!is_folder) names.emplace_back(name);
    return true;
  }));
  std::sort(names.begin(), names.end());
  return names;
}

Result<DumpLayout> find_dump_folders(const std::string& path, const FrameworkOptions& options) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Error{Code::io, path + ": no such file or folder"};
  DumpLayout layout;
  FolderFinder finder(layout, options);
  if (!fs::is_directory(status)) {
    const fs::path parent = fs::path(path).parent_path();
    layout.root = parent.empty() ? "." : parent.string();
    layout.file = fs::path(path).filename().string();
    const OwnNumbers own = own_numbers(layout.root);
    finder.rank("", own.rank ? own.step : std::nullopt, own.rank);
    return layout;
  }
  layout.root = path.size() > 1 && path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  const OwnNumbers own = own_numbers(layout.root);
  if (const std::string trouble = listing_trouble(layout.root); !trouble.empty())
    return Error{Code::io, layout.root + ": " + trouble};
  if (is_rank_folder(layout.root)) {
    finder.rank("", own.rank ? own.step : std::nullopt, own.rank);
    return layout;
  }
  ULPSCOPE_ASSIGN(const bool has_steps, finder.root(""));
  if (has_steps && layout.folders.empty() && !layout.unread.empty())
    return Error{Code::io, joined(layout.root, layout.unread[0].first) + ": " + layout.unread[0].second};
  if (has_steps) return layout;
  ULPSCOPE_ASSIGN(const bool has_ranks, finder.step("", own.rank ? std::nullopt : own.step));
  if (has_ranks) return layout;
  // MindSpore puts one more level above the steps.
  for (const char* mode : {"pynative", "graph"}) {
    if (!exists(layout.root + "/" + mode)) continue;
    ULPSCOPE_ASSIGN(const bool inside, finder.root(mode));
    if (inside) return layout;
  }
  return Error{Code::format, layout.root + ": expected step folders, rank folders or a dump.json"};
}

}  // namespace ulpscope
