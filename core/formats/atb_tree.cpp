#include "formats/atb_tree.hpp"

#include <algorithm>
#include <utility>

#include "base/folder.hpp"
#include "base/text.hpp"
#include "formats/atb_names.hpp"

namespace ulpscope {
namespace {

constexpr int kMaxDepth = 32;  // the writer's own limit of a path
constexpr size_t kMaxOddities = 1000;
constexpr std::string_view kParameters = "op_param.json";

struct Entry {
  std::string name;
  bool is_folder = false, is_file = false, is_link = false;
};

// The entries of a folder, in order of names.
Result<std::vector<Entry>> list(const std::string& folder) {
  std::vector<Entry> entries;
  ULPSCOPE_TRY(for_each_entry(folder, [&](std::string_view name, EntryKind kind) {
    entries.push_back(
        {std::string(name), kind == EntryKind::folder, kind == EntryKind::file, kind == EntryKind::link});
    return true;
  }));
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

}  // namespace

uint32_t AtbTree::add_op(uint32_t parent, int64_t id, std::string_view type) {
  AtbOp op;
  op.parent = parent;
  op.type = valid_utf8(type);
  if (parent != AtbOp::kNone) {
    op.ids = ops_[parent].ids;
    op.path = ops_[parent].path + "/";
  }
  op.ids.push_back(id);
  op.path += std::to_string(id) + "_" + op.type;
  if (const auto found = by_path_.find(op.path); found != by_path_.end()) return found->second;
  const auto number = static_cast<uint32_t>(ops_.size());
  (parent == AtbOp::kNone ? layers_ : ops_[parent].children).push_back(number);
  by_path_.emplace(op.path, number);
  by_ids_.emplace(atb_id_text(op.ids), number);
  ops_.push_back(std::move(op));
  return number;
}

uint32_t AtbTree::find_or_add(std::string_view path) {
  if (const auto found = by_path_.find(std::string(path)); found != by_path_.end()) return found->second;
  uint32_t op = AtbOp::kNone;
  int depth = 0;
  for (const std::string_view part : split(path, '/')) {
    const auto name = parse_atb_op_name(part);
    if (!name || ++depth > kMaxDepth) return AtbOp::kNone;
    op = add_op(op, name->id, name->type);
  }
  return op;
}

uint32_t AtbTree::find(std::string_view id_text) const {
  const auto found = by_ids_.find(std::string(id_text));
  return found == by_ids_.end() ? AtbOp::kNone : found->second;
}

Status AtbTree::read_folders(const std::string& root, const std::string& relative) {
  return read_op(relative.empty() ? root : joined(root, relative), "", AtbOp::kNone, 0);
}

// One folder: of the round where op is kNone, else of an operation.
Status AtbTree::read_op(const std::string& folder, const std::string& relative, uint32_t op, int depth) {
  const auto odd = [&](const std::string& name, const std::string& what, bool is_lost) {
    if (oddities_.size() < kMaxOddities) oddities_.push_back({joined(folder, name), what, is_lost});
  };
  ULPSCOPE_ASSIGN(const std::vector<Entry> entries, list(folder));
  for (const Entry& entry : entries) {
    if (op != AtbOp::kNone && entry.is_file && entry.name == kParameters)
      ops_[op].parameter_file = joined(relative, entry.name);
    const auto name = parse_atb_op_name(entry.name);
    if (entry.is_link && (name || entry.name == "before" || entry.name == "after"))
      odd(entry.name, "a symbolic link in place of a folder is not followed", true);
    if (!entry.is_folder) continue;
    if (op != AtbOp::kNone && (entry.name == "before" || entry.name == "after")) {
      read_tensors(folder + "/" + entry.name, joined(relative, entry.name), op, entry.name == "after");
    } else if (!name) {
      odd(entry.name, "not a folder of an operation, expected <number>_<name>; it is not read", false);
    } else if (depth == kMaxDepth) {
      odd(entry.name, "operations are nested deeper than 32, it is not read", true);
    } else {
      const uint32_t child = add_op(op, name->id, name->type);
      ops_[child].in_tree = true;
      const std::string path = folder + "/" + entry.name;
      const Status read = read_op(path, joined(relative, entry.name), child, depth + 1);
      if (!read.ok()) odd(entry.name, listing_trouble(path), true);
    }
  }
  return {};
}

// Inputs are kept from before the execution and outputs from after it; the other copy, which some runs store
// too, stands in only where the usual one is missing.
void AtbTree::read_tensors(const std::string& folder, const std::string& relative, uint32_t op, bool after) {
  const auto entries = list(folder);
  if (!entries.ok()) {
    oddities_.push_back({folder, listing_trouble(folder), true});
    return;
  }
  for (const Entry& entry : *entries) {
    const auto name = parse_atb_tensor_name(entry.name);
    if (!name) continue;
    AtbTensor& tensor = ops_[op].tensors[{name->is_output, name->index}];
    const bool usual = name->is_output == after;
    // "after" is read before "before".
    if (!tensor.file.empty() && !usual) continue;
    if (!tensor.file.empty() && tensor.file.starts_with(relative + "/")) {
      oddities_.push_back({folder + "/" + entry.name, "a second file of the same tensor is not read"});
      continue;
    }
    tensor.file = joined(relative, entry.name);
    tensor.label = valid_utf8(name->label);
    tensor.is_link = entry.is_link;
    has_files_ = true;
  }
}

Status AtbTree::read_table(const File& file) {
  has_table_ = true;
  AtbStatisticsSink sink;
  sink.on_row = [this](const AtbStatisticsRow& row) { take_row(row); };
  sink.on_bad_row = [this](int64_t line, std::string_view what) {
    if (notes_.bad++ == 0) notes_.first_bad = "line " + std::to_string(line) + ": " + std::string(what);
  };
  return read_atb_statistics(file, sink);
}

void AtbTree::take_row(const AtbStatisticsRow& row) {
  const uint32_t op = find_or_add(valid_utf8(row.op_path));
  if (op == AtbOp::kNone) {
    ++notes_.bad;
    return;
  }
  AtbTensor& tensor = ops_[op].tensors[{row.is_output, row.index}];
  ++notes_.rows;
  notes_.repeated += tensor.has_row ? 1 : 0;
  tensor.has_row = true;
  tensor.names_file = row.names_file;
  tensor.dtype = row.dtype;
  tensor.format = row.format;
  tensor.shape = row.shape;
  tensor.stats = row.stats;
  if (tensor.file.empty()) tensor.label = valid_utf8(row.label);
}

void AtbTree::finish() {
  const auto by_id = [this](uint32_t a, uint32_t b) {
    return std::pair(ops_[a].ids.back(), std::string_view(ops_[a].type)) <
           std::pair(ops_[b].ids.back(), std::string_view(ops_[b].type));
  };
  std::sort(layers_.begin(), layers_.end(), by_id);
  for (AtbOp& op : ops_) {
    std::sort(op.children.begin(), op.children.end(), by_id);
    for (const auto& [place, tensor] : op.tensors) {
      const bool missing = tensor.has_row && tensor.names_file && tensor.file.empty();
      if (missing && notes_.missing_files++ == 0)
        notes_.first_missing = op.path + (place.is_output ? "/after/outtensor" : "/before/intensor") +
                               std::to_string(place.index) +
                               (tensor.label.empty() ? "" : "_" + tensor.label) + ".bin";
      notes_.rowless_files += has_table_ && !tensor.has_row && !tensor.file.empty() ? 1 : 0;
    }
  }
}

}  // namespace ulpscope
