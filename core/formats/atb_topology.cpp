#include "formats/atb_topology.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "formats/atb_names.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxFiles = 100000;
constexpr uint64_t kMaxFileBytes = uint64_t{256} << 20;

using Warn = std::function<void(const std::string& file, const Error&)>;

// Names of the JSON files of a folder, sorted; warn is told what cannot be listed. A folder of no name has
// none.
std::vector<std::string> json_files(const std::string& folder, const Warn& warn) {
  std::vector<std::string> names;
  if (folder.empty()) return names;
  const Status listed = for_each_entry(folder, [&](std::string_view name, EntryKind kind) {
    if (kind != EntryKind::folder && name.ends_with(".json")) names.emplace_back(name);
    return names.size() < kMaxFiles;
  });
  if (!listed.ok()) warn(folder, {Code::io, listing_trouble(folder)});
  std::sort(names.begin(), names.end());
  return names;
}

// The counter behind the name of a layer: 4 of "Prefill_layer_4".
std::optional<int64_t> layer_id(std::string_view name) {
  const size_t mark = name.rfind('_');
  return mark == std::string_view::npos ? std::nullopt : parse_atb_number(name.substr(mark + 1));
}

using Names = std::unordered_map<std::string, std::string>;

}  // namespace

class AtbTopologyReader {
 public:
  explicit AtbTopologyReader(AtbTopology& out) : out_(out) {}

  Status read_model(const std::string& folder, const std::string& name) {
    ULPSCOPE_TRY(open(folder, name));
    const uint32_t nodes = tape_.find(0, "nodes");
    if (!tape_.is(nodes, JsonKind::array)) return Error{Code::format, "no list \"nodes\""};
    for (uint32_t node = nodes + 1; node != tape_.at(nodes).next; node = tape_.at(node).next)
      if (const auto id = id_of(node)) out_.layers_.emplace(*id, add(node, {}));
    return {};
  }

  // A layer on its own. Where the model has it without its inside the inside comes from here, and the layer's
  // own names of its ends give way to those of the model.
  Status read_layer(const std::string& folder, const std::string& name) {
    ULPSCOPE_TRY(open(folder, name));
    const auto id = id_of(0);
    if (!id) return Error{Code::format, "no \"opName\" with a number at its end"};
    const auto found = out_.layers_.find(*id);
    if (found == out_.layers_.end()) {
      out_.layers_.emplace(*id, add(0, {}));
      return {};
    }
    if (!out_.nodes_[found->second].children.empty()) return {};
    const AtbTopology::Node of_model = out_.nodes_[found->second];
    Names names;
    rename(names_of(0, "inTensors"), of_model.inputs, names);
    rename(names_of(0, "outTensors"), of_model.outputs, names);
    found->second = add(0, names);
    return {};
  }

 private:
  Status open(const std::string& folder, const std::string& name) {
    ULPSCOPE_ASSIGN(const File file, File::open_under(folder, name));
    if (file.size() > kMaxFileBytes) return Error{Code::unsupported, "larger than 256 MiB"};
    JsonLexer lexer(file);
    switch (tape_.read(lexer)) {
      case JsonRead::ok:
        break;
      case JsonRead::broken:
        return lexer.error();
      default:
        return Error{Code::unsupported, "nested too deep or too large"};
    }
    if (!tape_.is(0, JsonKind::object)) return Error{Code::format, "expected an object"};
    return {};
  }

  std::optional<int64_t> id_of(uint32_t node) const {
    const uint32_t name = tape_.is(node, JsonKind::object) ? tape_.find(node, "opName") : JsonTape::kNone;
    return tape_.is(name, JsonKind::text) ? layer_id(tape_.text(name)) : std::nullopt;
  }

  std::vector<std::string> names_of(uint32_t node, std::string_view member) const {
    std::vector<std::string> names;
    const uint32_t list = tape_.is(node, JsonKind::object) ? tape_.find(node, member) : JsonTape::kNone;
    if (!tape_.is(list, JsonKind::array)) return names;
    for (uint32_t i = list + 1; i != tape_.at(list).next; i = tape_.at(i).next)
      names.emplace_back(tape_.at(i).kind == JsonKind::text ? tape_.text(i) : std::string_view());
    return names;
  }

  static void rename(const std::vector<std::string>& from, const std::vector<std::string>& to, Names& names) {
    for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) names.emplace(from[i], to[i]);
  }

  std::vector<std::string> renamed(std::vector<std::string> names, const Names& other) const {
    for (std::string& name : names)
      if (const auto found = other.find(name); found != other.end()) name = found->second;
    return names;
  }

  void add_parameters(uint32_t node, AtbTopology::Node& out) const {
    if (!tape_.is(node, JsonKind::object)) return;
    if (const uint32_t type = tape_.find(node, "opType"); tape_.is(type, JsonKind::text))
      out.type = tape_.text(type);
    if (const uint32_t found = tape_.find(node, "param");
        tape_.is(found, JsonKind::object) && tape_.at(found).count > 0)
      out.parameters = json_text_of(tape_, found);
  }

  // Recursion ends with the depth of the tape, which is limited.
  uint32_t add(uint32_t node, const Names& names) {
    const auto number = static_cast<uint32_t>(out_.nodes_.size());
    out_.nodes_.emplace_back();
    out_.nodes_[number].inputs = renamed(names_of(node, "inTensors"), names);
    out_.nodes_[number].outputs = renamed(names_of(node, "outTensors"), names);
    add_parameters(node, out_.nodes_[number]);
    const uint32_t children = tape_.is(node, JsonKind::object) ? tape_.find(node, "nodes") : JsonTape::kNone;
    if (!tape_.is(children, JsonKind::array)) return number;
    for (uint32_t i = children + 1; i != tape_.at(children).next; i = tape_.at(i).next) {
      const uint32_t child = add(i, names);
      out_.nodes_[number].children.push_back(child);
    }
    return number;
  }

  AtbTopology& out_;
  JsonTape tape_;
};

AtbTopology AtbTopology::read(const std::string& model_folder, const std::string& layer_folder,
                              const Warn& warn) {
  AtbTopology out;
  AtbTopologyReader reader(out);
  for (const std::string& name : json_files(model_folder, warn))
    if (const Status read = reader.read_model(model_folder, name); !read.ok())
      warn(model_folder + "/" + name, read.error());
  for (const std::string& name : json_files(layer_folder, warn))
    if (const Status read = reader.read_layer(layer_folder, name); !read.ok())
      warn(layer_folder + "/" + name, read.error());
  return out;
}

const AtbTopology::Node* AtbTopology::find(std::span<const int64_t> ids) const {
  if (ids.empty()) return nullptr;
  const auto layer = layers_.find(ids[0]);
  if (layer == layers_.end()) return nullptr;
  const Node* node = &nodes_[layer->second];
  for (const int64_t id : ids.subspan(1)) {
    if (id < 0 || static_cast<size_t>(id) >= node->children.size()) return nullptr;
    node = &nodes_[node->children[static_cast<size_t>(id)]];
  }
  return node;
}

std::string AtbTopology::parameters_with_inside(const Node& node) const {
  std::string members;
  if (!node.parameters.empty()) members = node.parameters.substr(1, node.parameters.size() - 2);
  for (size_t i = 0; i < node.children.size(); ++i) {
    const Node& child = nodes_[node.children[i]];
    append_inside(child, std::to_string(i) + "_" + child.type, members);
  }
  return members.empty() ? "" : "{" + members + "}";
}

void AtbTopology::append_inside(const Node& node, const std::string& path, std::string& members) const {
  if (!node.parameters.empty()) {
    if (!members.empty()) members += ',';
    append_json_text(members, path);
    members.append(":").append(node.parameters);
  }
  for (size_t i = 0; i < node.children.size(); ++i) {
    const Node& child = nodes_[node.children[i]];
    append_inside(child, path + "/" + std::to_string(i) + "_" + child.type, members);
  }
}

}  // namespace ulpscope
