#include "formats/acl_source.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/acl_types.hpp"

namespace ulpscope {
namespace {

[[noreturn]] void raise(const Error& error) {
  throw Failure(static_cast<ulpscope_status>(error.code), error.message);
}

bool listed(const std::vector<int32_t>& list, int32_t number) {
  return list.empty() || number < 0 || std::binary_search(list.begin(), list.end(), number);
}

// Which runs there are, for a user who has to choose one.
std::string list_runs(const AclTree& tree) {
  std::string text;
  std::string_view last;
  size_t count = 0;
  for (const AclLeaf& leaf : tree.leaves) {
    if (leaf.run == last) continue;
    last = leaf.run;
    if (++count <= 20) text += "\n  " + printable(tree.root + "/" + leaf.folder);
  }
  return text;
}

bool is_one_run(const AclTree& tree) {
  return std::all_of(tree.leaves.begin(), tree.leaves.end(),
                     [&](const AclLeaf& leaf) { return leaf.run == tree.leaves[0].run; });
}

Result<std::vector<int32_t>> number_list(const nlohmann::json& value, const std::string& name) {
  std::vector<int32_t> list;
  if (!value.is_array()) return Error{Code::usage, "option " + name + ": expected a list of whole numbers"};
  for (const nlohmann::json& each : value) {
    if (!each.is_number_integer())
      return Error{Code::usage, "option " + name + ": expected a list of whole numbers"};
    list.push_back(each.get<int32_t>());
  }
  std::sort(list.begin(), list.end());
  return list;
}

class StorageByteStream final : public ByteStream {
 public:
  explicit StorageByteStream(std::unique_ptr<StorageStream> elements) : elements_(std::move(elements)) {}
  uint64_t read(void* dst, uint64_t size) override {
    auto got = elements_->read({static_cast<std::byte*>(dst), static_cast<size_t>(size)});
    if (!got.ok()) raise(got.error());
    return *got;
  }

 private:
  std::unique_ptr<StorageStream> elements_;
};

}  // namespace

Result<AclOptions> parse_acl_options(std::string_view json) {
  AclOptions options;
  if (json.empty()) return options;
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) return Error{Code::usage, "options: expected a JSON object"};
  for (const auto& [name, value] : parsed.items()) {
    if (name == "steps") {
      ULPSCOPE_ASSIGN(options.steps, number_list(value, name));
    } else if (name == "ranks") {
      ULPSCOPE_ASSIGN(options.ranks, number_list(value, name));
    } else if (name == "fusion") {
      if (!value.is_string()) return Error{Code::usage, "option fusion: expected the path of a json file"};
      options.fusion = value.get<std::string>();
    } else if (name == "golden") {
      if (!value.is_string()) return Error{Code::usage, "option golden: expected the path of a folder"};
      options.golden = value.get<std::string>();
    } else if (name == "raw") {
      if (!value.is_boolean()) return Error{Code::usage, "option raw: expected true or false"};
      options.raw = value.get<bool>();
    } else {
      return Error{Code::usage, "option " + name + ": not an option of this source"};
    }
  }
  return options;
}

Result<std::unique_ptr<AclSource>> AclSource::open(Host host, const std::string& path,
                                                   const AclOptions& options) {
  ULPSCOPE_ASSIGN(AclTree tree, find_acl_tree(path));
  if (!is_one_run(tree))
    return Error{Code::usage, path + ": several runs or models, name one of them:" + list_runs(tree)};
  return std::unique_ptr<AclSource>(new AclSource(host, std::move(tree), options));
}

void AclSource::scan(RecordSink& sink) {
  for (const auto& [folder, why] : tree_.unread) sink.diagnose(ULPSCOPE_E_IO, printable(folder), why);
  for (const AclLeaf& leaf : tree_.leaves)
    if (listed(options_.steps, leaf.step) && listed(options_.ranks, leaf.rank)) scan_leaf(sink, leaf);
}

void AclSource::scan_leaf(RecordSink& sink, const AclLeaf& leaf) {
  std::string fusion = options_.fusion;
  if (fusion.empty()) {
    auto found = find_fusion_json(tree_, leaf);
    if (!found.ok()) raise(found.error());
    for (const std::string& each : found->unreadable)
      sink.diagnose(ULPSCOPE_E_IO, leaf.folder, each + "; it may be the json of the compiled model");
    fusion = found->path;
  }
  const std::string where = leaf.folder.empty() ? tree_.root : leaf.folder;
  graph_.reset();
  if (!fusion.empty()) {
    auto file = File::open(fusion);
    if (!file.ok()) raise(file.error());
    auto graph = FusionGraph::read(*file);
    if (!graph.ok()) raise(graph.error());
    graph_ = std::make_unique<FusionGraph>(std::move(graph).value());
    for (const std::string& note : graph_->notes()) sink.diagnose(ULPSCOPE_E_FORMAT, fusion, note);
  } else {
    sink.diagnose(ULPSCOPE_OK, where, "no json of the compiled model: operators are matched by name");
  }
  const AclDiagnose diagnose = [&](ulpscope_status code, const std::string& file, const std::string& text) {
    sink.diagnose(code, file, text);
  };
  auto contents = read_acl_leaf(host_, tree_, leaf, graph_.get(), diagnose);
  if (!contents.ok()) raise(contents.error());
  for (const AclCall& call : contents->calls) {
    host_.check_cancelled();
    emit(sink, leaf, *contents, call);
  }
}

std::string AclSource::originals_of(const AclCall& call) const {
  if (graph_ == nullptr || call.fusion_op == kNoIndex) return {};
  const FusionOp& op = graph_->ops()[call.fusion_op];
  if (!op.names_originals) return op.name;
  std::string text;
  for (const std::string& name : op.originals) text += (text.empty() ? "" : "\n") + name;
  return text;
}

// {"overflow": [...], "id": 5}, each where it is known; the id is that of the compiled model.
std::string AclSource::attributes_of(const AclCall& call) const {
  std::string text = call.overflows.empty() ? std::string() : overflow_json(call.overflows);
  if (graph_ == nullptr || call.fusion_op == kNoIndex) return text;
  const std::string id = "\"id\": " + std::to_string(graph_->ops()[call.fusion_op].id) + "}";
  if (text.empty()) return "{" + id;
  text.pop_back();
  return text + ", " + id;
}

void AclSource::emit(RecordSink& sink, const AclLeaf& leaf, const AclLeafContents& contents,
                     const AclCall& call) {
  OpRecord op;
  op.kind = OpKind::kernel;
  op.step = leaf.step;
  op.rank = leaf.rank;
  op.call = call.call;
  op.name = call.name;
  op.type = call.type;
  op.originals = originals_of(call);
  op.attributes_json = attributes_of(call);
  const uint32_t number = sink.add(op);
  if (call.files.size() > 1)
    join_slices(sink, contents, call, number);
  else
    emit_tensors(sink, contents, call, number);
}

void AclSource::emit_tensors(RecordSink& sink, const AclLeafContents& contents, const AclCall& call,
                             uint32_t op) {
  if (!call.files.empty()) {
    const AclFile& file = contents.files[call.files[0]];
    for (const AclTensor& tensor : file.dump.tensors) {
      Placed placed = place(sink, file, tensor, call);
      placed.record.op = op;
      if (placed.usable && placed.part.plan.identity) {
        const Part& part = placed.part;
        placed.record.data = DataRef::at(part.file, part.offset, part.size_bytes);
      } else if (placed.usable) {
        placed.record.data = DataRef::stream(streams_.size(), placed.record.data.size);
        streams_.push_back({std::move(placed.part)});
      }
      sink.add(placed.record);
    }
  }
  for (const AclArray& array : call.arrays) emit_array(sink, array, call, op);
  for (const AclStatistic& row : call.statistics) {
    TensorRecord record;
    record.op = op;
    record.role = row.part == AclPart::input ? Role::input : Role::output;
    record.path = std::to_string(row.index);
    record.dtype = acl_type(row.data_type).dtype;
    record.shape = row.shape;
    record.stats = row.stats;
    if (row.format > acl_format::kNd) record.storage = acl_format_name(row.format);
    if (row.stats.present == 0) record.absent = ULPSCOPE_ABSENT_NO_STATISTICS;
    name_tensor(record, row.part, row.index, call, nullptr);
    sink.add(record);
  }
}

// An array of a framework beside the dumps: in the original layout, and its file says all of it.
void AclSource::emit_array(RecordSink& sink, const AclArray& array, const AclCall& call, uint32_t op) {
  TensorRecord record;
  record.op = op;
  record.role = Role::output;
  record.path = std::to_string(array.output);
  auto part = read_acl_array(tree_.root, array.file, record);
  if (!part.ok()) {
    record.absent = ULPSCOPE_ABSENT_BAD;
    sink.diagnose(ULPSCOPE_E_IO, array.file, part.error().message);
  } else if (part->plan.identity) {
    record.data = DataRef::at(part->file, part->offset, part->size_bytes);
  } else {
    record.data = DataRef::stream(streams_.size(), part->size_bytes);
    streams_.push_back({*std::move(part)});
  }
  name_tensor(record, AclPart::output, array.output, call, nullptr);
  sink.add(record);
}

std::unique_ptr<ByteStream> AclSource::stream(uint64_t token) const {
  if (token >= streams_.size())
    throw Failure(ULPSCOPE_E_USAGE, "no tensor has token " + std::to_string(token));
  std::vector<std::unique_ptr<ByteStream>> parts;
  std::vector<uint64_t> runs;
  for (const Part& part : streams_[token]) {
    auto file = File::open_under(tree_.root, part.file);
    if (!file.ok()) raise(file.error());
    auto elements = StorageStream::open(std::move(file).value(), part.offset, part.size_bytes, part.plan,
                                        part.element_bytes);
    if (!elements.ok()) raise(elements.error());
    parts.push_back(std::make_unique<StorageByteStream>(std::move(elements).value()));
    runs.push_back(part.run_bytes);
  }
  return parts.size() == 1 ? std::move(parts[0]) : join_streams(std::move(parts), std::move(runs));
}

Probe probe_acl(std::string_view path) {
  std::error_code error;
  const std::string text(path);
  if (std::filesystem::is_directory(text, error)) {
    const auto tree = find_acl_tree(text);
    if (!tree.ok() && tree.error().code == Code::io) return {55, tree.error().message};
    if (!tree.ok()) return {0, "no file is named as those of an offline-model dump"};
    if (tree->leaves.front().folder.empty()) return {90, "files named as those of an offline-model dump"};
    return {85, "folders with files named as those of an offline-model dump"};
  }
  const std::string name = std::filesystem::path(text).filename().string();
  if (!std::filesystem::is_regular_file(text, error)) return {0, "no such file or folder"};
  return parse_acl_name(name) ? Probe{90, "a file named as those of an offline-model dump"}
                              : Probe{0, "not named as a file of an offline-model dump"};
}

}  // namespace ulpscope
