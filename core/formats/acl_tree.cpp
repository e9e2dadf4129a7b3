#include "formats/acl_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "formats/acl_names.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTimeDigits = 14;

bool is_number(std::string_view text) { return is_acl_hash(text) && text.size() < 10; }
bool is_time(std::string_view text) { return is_acl_hash(text) && text.size() == kTimeDigits; }

// The last folder names of an absolute path, innermost first.
std::vector<std::string> names_up(const fs::path& folder) {
  std::vector<std::string> names;
  for (fs::path at = folder; names.size() < 6 && at.has_filename() && at != at.root_path();
       at = at.parent_path())
    names.push_back(at.filename().string());
  return names;
}

fs::path absolute(const std::string& path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole;
}

// How many folders above a leaf its time folder stands; -1: none is known.
int time_level(const std::vector<std::string>& names) {
  if (names.size() >= 5 && is_number(names[0]) && is_number(names[1]) && is_number(names[3]) &&
      is_time(names[4]))
    return 4;
  if (names.size() >= 2 && is_number(names[0]) && is_time(names[1])) return 1;
  return -1;
}

AclLeaf make_leaf(const fs::path& root, const std::string& relative) {
  AclLeaf leaf;
  leaf.folder = relative;
  const std::vector<std::string> names = names_up(relative.empty() ? root : root / relative);
  const auto number = [&](size_t i) { return static_cast<int32_t>(parse_int(names[i]).value_or(-1)); };
  const int level = time_level(names);
  if (level == 4) {
    leaf.step = number(0);
    leaf.rank = number(3);
    leaf.run = names[4] + "/" + names[2] + "/" + names[1];
  } else if (level == 1) {
    leaf.rank = number(0);
    leaf.run = names[1];
  } else if (names.size() >= 4 && is_number(names[0]) && is_number(names[1]) && is_number(names[3])) {
    leaf.step = number(0);
    leaf.rank = number(3);
    leaf.run = names[2] + "/" + names[1];
  } else if (!relative.empty()) {
    // Below the root the names say what the tree is, as far down as it is known.
    const std::vector<std::string> own = names_up(relative);
    if (is_number(own[0])) leaf.step = number(0);
    leaf.run = fs::path(relative).parent_path().string();
  }
  return leaf;
}

bool has_graph(const File& file) {
  JsonLexer lexer(file);
  if (lexer.next() != JsonToken::begin_object) return false;
  for (JsonToken token = lexer.next(); token == JsonToken::key; token = lexer.next()) {
    const bool found = lexer.text() == "graph";
    const JsonToken value = lexer.next();
    if (found) return value == JsonToken::begin_array;
    if (!skip_json_value(lexer, value)) return false;
  }
  return false;
}

// unreadable: the reasons of the json files that cannot be opened.
std::vector<std::string> graph_files(const fs::path& folder, std::vector<std::string>& unreadable) {
  std::vector<std::string> found;
  // A folder that cannot be listed holds none.
  (void)for_each_entry(folder.string(), [&](std::string_view name, EntryKind kind) {
    if (kind == EntryKind::folder || !name.ends_with(".json")) return true;
    const auto file = File::open_under(folder.string(), name);
    if (!file.ok()) unreadable.push_back(file.error().message);
    if (file.ok() && has_graph(*file)) found.push_back(file->path());
    return true;
  });
  std::sort(found.begin(), found.end());
  return found;
}

// What the names of the files in a folder say of it.
class LeafSigns {
 public:
  void see(std::string_view name, EntryKind kind) {
    if (kind == EntryKind::folder) return;
    named_ = named_ || parse_acl_name(name).has_value();
    mapping_ |= name == "mapping.csv";
    hash_ |= is_acl_hash(name);
  }
  bool is_sure() const { return named_; }
  bool is_leaf() const { return named_ || (mapping_ && hash_); }

 private:
  bool named_ = false, mapping_ = false, hash_ = false;
};

// Whether the folder itself holds files of an offline-model dump.
bool is_leaf(const std::string& folder) {
  LeafSigns signs;
  // A folder that cannot be listed is none.
  (void)for_each_entry(folder, [&](std::string_view name, EntryKind kind) {
    signs.see(name, kind);
    return !signs.is_sure();
  });
  return signs.is_leaf();
}

// The leaves below the root, and what may be one and is not read: the root alone where it is one itself.
Status find_leaves(const fs::path& root, AclTree& tree) {
  LeafSigns root_signs;
  const auto visit = [&](const std::string& relative, EntryKind kind) {
    const bool is_below = relative.find('/') != std::string::npos;
    if (!is_below) root_signs.see(relative, kind);
    if (is_below ? root_signs.is_leaf() : root_signs.is_sure()) return Walk::end;
    const std::string path = tree.root + "/" + relative;
    std::error_code ignored;
    if (kind == EntryKind::link && is_acl_hash(fs::path(relative).filename().string()) &&
        fs::is_directory(path, ignored))
      tree.unread.emplace_back(relative, "a symbolic link in place of a folder is not followed");
    tree.has_others |= kind == EntryKind::file && !relative.ends_with(".json") && !relative.ends_with(".csv");
    if (kind == EntryKind::folder && is_leaf(path)) tree.leaves.push_back(make_leaf(root, relative));
    return Walk::enter;
  };
  ULPSCOPE_TRY(walk_folder(tree.root, visit, [&](const std::string& relative, const std::string& why) {
    tree.unread.emplace_back(relative, why);
  }));
  if (!root_signs.is_leaf()) return {};
  tree.leaves = {make_leaf(root, "")};
  tree.unread.clear();
  tree.has_others = false;
  return {};
}

}  // namespace

Result<AclTree> find_acl_tree(const std::string& path) {
  AclTree tree;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return Error{Code::io, path + ": no such file or folder"};
  if (!fs::is_directory(status)) {
    const fs::path parent = fs::path(path).parent_path();
    tree.root = parent.empty() ? "." : parent.string();
    tree.file = fs::path(path).filename().string();
    tree.leaves.push_back(make_leaf(absolute(tree.root), ""));
    return tree;
  }
  tree.root = path;
  const fs::path root = absolute(path);
  ULPSCOPE_TRY(find_leaves(root, tree));
  const auto may_hold = [](const auto& each) {
    return is_acl_hash(fs::path(each.first).filename().string());  // every level but the model is a number
  };
  const auto lost = std::find_if(tree.unread.begin(), tree.unread.end(), may_hold);
  if (tree.leaves.empty() && lost != tree.unread.end() && !tree.has_others)
    return Error{Code::io, path + "/" + lost->first + ": " + lost->second};
  if (tree.leaves.empty())
    return Error{Code::format, path +
                                   ": no file of an offline-model dump in it, expected names such as "
                                   "Conv2D.conv1.5.9.1773500000124010"};
  std::sort(tree.leaves.begin(), tree.leaves.end(), [](const AclLeaf& a, const AclLeaf& b) {
    return std::tie(a.run, a.step, a.rank, a.folder) < std::tie(b.run, b.step, b.rank, b.folder);
  });
  return tree;
}

Result<FusionFile> find_fusion_json(const AclTree& tree, const AclLeaf& leaf) {
  const fs::path root = absolute(tree.root);
  fs::path folder = leaf.folder.empty() ? root : root / leaf.folder;
  const int level = time_level(names_up(folder));
  // Without a time folder nothing above the path that the user named is looked at.
  const int above_root =
      leaf.folder.empty()
          ? 0
          : static_cast<int>(std::distance(fs::path(leaf.folder).begin(), fs::path(leaf.folder).end()));
  const int levels = level >= 0 ? level + 1 : above_root;
  FusionFile none;
  for (int i = 0; i <= levels; ++i, folder = folder.parent_path()) {
    const std::vector<std::string> found = graph_files(folder, none.unreadable);
    if (found.empty()) continue;
    if (found.size() == 1) return FusionFile{found[0], {}};
    std::string list;
    for (const std::string& each : found)
      list += (list.empty() ? "" : ", ") + fs::path(each).filename().string();
    return Error{Code::usage, folder.string() + ": several models as json (" + printable(list) +
                                  "): name one with the option fusion"};
  }
  return none;
}

}  // namespace ulpscope
