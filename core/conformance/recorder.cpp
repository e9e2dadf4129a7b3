#include "conformance/recorder.hpp"

#include <ulpscope/types.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "base/file.hpp"
#include "index/argument_tree.hpp"
#include "index/record_rules.hpp"

namespace ulpscope {
namespace {

MistakeKind kind_of(RecordRule rule) {
  switch (rule) {
    case RecordRule::numbers:
      return MistakeKind::numbers;
    case RecordRule::texts:
      return MistakeKind::texts;
    case RecordRule::shape:
      return MistakeKind::shape;
    case RecordRule::attributes:
      break;
  }
  return MistakeKind::attributes;
}

std::string text_of(const ulpscope_data_ref& data) {
  return fmt::format("{} {} {} {} {}", data.kind, to_view(data.file), data.offset, data.size, data.token);
}

Result<std::string> file_bytes(const std::string& root, const std::string& name,
                               const ulpscope_data_ref& data, size_t piece_bytes, uint64_t limit_bytes) {
  ULPSCOPE_ASSIGN(const File file, File::open_under(root, name));
  std::string bytes(std::min(data.size, limit_bytes), '\0');
  const auto all = std::as_writable_bytes(std::span(bytes));
  for (size_t at = 0; at < all.size(); at += piece_bytes)
    ULPSCOPE_TRY(file.read_exact(data.offset + at, all.subspan(at, std::min(piece_bytes, all.size() - at))));
  return bytes;
}

Result<std::string> stream_bytes(const SourceHandle& source, uint64_t token, size_t piece_bytes,
                                 uint64_t limit_bytes) {
  ULPSCOPE_ASSIGN(StreamHandle stream, source.open_stream(token));
  std::string bytes, piece(piece_bytes, '\0');
  while (bytes.size() < limit_bytes) {
    const size_t wanted = std::min<uint64_t>(piece_bytes, limit_bytes - bytes.size());
    ULPSCOPE_ASSIGN(const size_t got, stream.read(std::as_writable_bytes(std::span(piece)).first(wanted)));
    if (got == 0) break;
    bytes.append(piece, 0, got);
  }
  return bytes;
}

}  // namespace

CheckHost::CheckHost() : pool(2), services(pool, cancel, {}, "0") {}

Recorder::Recorder(uint64_t fail_at) : fail_at_(fail_at) {
  sink_.struct_size = sizeof sink_;
  sink_.ctx = this;
  sink_.add_op = op_entry;
  sink_.add_tensor = tensor_entry;
  sink_.diagnose = diagnose_entry;
}

bool Recorder::refuse(ulpscope_error* err) {
  ++records_;
  if (fail_at_ == 0 || records_ < fail_at_) return false;
  if (records_ > fail_at_) ++calls_after_refusal_;
  if (err != nullptr) {
    err->code = kRefusal;
    std::strncpy(err->message, "the sink takes no more", sizeof err->message - 1);
  }
  return true;
}

ulpscope_status Recorder::op_entry(void* ctx, const ulpscope_op_record* op, uint32_t* index,
                                   ulpscope_error* err) {
  auto& self = *static_cast<Recorder*>(ctx);
  if (self.refuse(err)) return kRefusal;
  *index = self.ops_;
  self.add(*op);
  return ULPSCOPE_OK;
}

ulpscope_status Recorder::tensor_entry(void* ctx, const ulpscope_tensor_record* tensor, uint32_t* index,
                                       ulpscope_error* err) {
  auto& self = *static_cast<Recorder*>(ctx);
  if (self.refuse(err)) return kRefusal;
  *index = static_cast<uint32_t>(self.tensors_.size());
  self.add(*tensor);
  return ULPSCOPE_OK;
}

void Recorder::diagnose_entry(void* ctx, ulpscope_status code, ulpscope_str where, ulpscope_str text) {
  auto& self = *static_cast<Recorder*>(ctx);
  self.diagnoses_.push_back(fmt::format("{}: {}", to_view(where), to_view(text)));
  self.lines_.push_back(fmt::format("diagnosis {} {}", code, self.diagnoses_.back()));
}

void Recorder::add(const ulpscope_op_record& op) {
  const std::string name(to_view(op.name));
  if (name.empty()) mistakes_.push_back({MistakeKind::order, fmt::format("op {} has no name", ops_)});
  for (const RecordMistake& each : mistakes_of(op))
    mistakes_.push_back({kind_of(each.rule), fmt::format("op '{}': {}", name, each.text)});
  if (const auto tree = read_argument_tree(to_view(op.attributes_json));
      op.attributes_json.size > 0 && !tree.ok())
    mistakes_.push_back({MistakeKind::attributes, fmt::format("op '{}': {}", name, tree.error().message)});
  const std::string call = fmt::format("{} {} {} {} {}", name, op.call, op.step, op.rank, op.token);
  if (!calls_.insert(call).second)
    mistakes_.push_back(
        {MistakeKind::same_call, fmt::format("op {} has name '{}' and call {}, as an earlier one of step {}, "
                                             "rank {} has",
                                             ops_, name, op.call, op.step, op.rank)});
  places_.clear();
  lines_.push_back(fmt::format("op {} {} {} {} {} {} {} {} {} {} {} {}", op.kind, op.phase, op.step, op.rank,
                               op.call, op.parent, op.token, name, to_view(op.type), to_view(op.stack),
                               to_view(op.attributes_json), to_view(op.originals)));
  op_names_.push_back(name);
  parents_.push_back(op.parent);
  ++ops_;
}

void Recorder::add(const ulpscope_tensor_record& tensor) {
  RecordedTensor recorded;
  recorded.op = tensor.op;
  recorded.name = fmt::format("{}, role {}, path {}", tensor.op < ops_ ? op_names_[tensor.op] : "?",
                              tensor.role, to_view(tensor.path));
  if (tensor.op + uint64_t{1} != ops_)
    mistakes_.push_back(
        {MistakeKind::order, tensor.op >= ops_
                                 ? fmt::format("a tensor of op {} came before the op", tensor.op)
                                 : fmt::format("{} came after op {}, expected right behind its own op",
                                               recorded.name, ops_ - 1)});
  for (const RecordMistake& each : mistakes_of(tensor))
    mistakes_.push_back({kind_of(each.rule), fmt::format("{}: {}", recorded.name, each.text)});
  if (!places_.insert(fmt::format("{} {}", tensor.role, to_view(tensor.path))).second)
    mistakes_.push_back({MistakeKind::twice, recorded.name + " is given twice"});
  if (tensor.dtype >= 0 && tensor.dtype < kDTypeCount) recorded.dtype = static_cast<DType>(tensor.dtype);
  if (tensor.dim_count <= kMostDims) recorded.dims.assign(tensor.dims, tensor.dims + tensor.dim_count);
  recorded.data = tensor.data;
  recorded.file = to_view(tensor.data.file);
  recorded.data.file = {};
  lines_.push_back(fmt::format("tensor {} {} {} {} [{}] {} {} {} {} {} {} {} {} {} {} {} {}", tensor.op,
                               tensor.role, tensor.dtype, to_view(tensor.path), fmt::join(recorded.dims, ","),
                               tensor.flags, text_of(tensor.data), tensor.stats.present, tensor.stats.max,
                               tensor.stats.min, tensor.stats.mean, tensor.stats.l2norm,
                               to_view(tensor.digest), to_view(tensor.link), to_view(tensor.origin),
                               to_view(tensor.storage), tensor.absent));
  tensors_.push_back(std::move(recorded));
}

std::vector<RecordedMistake> Recorder::mistakes() const {
  std::vector<RecordedMistake> found = mistakes_;
  // A module ends after what it encloses, so that a parent may come later than its children.
  for (uint32_t op = 0; op < ops_; ++op)
    if (parents_[op] != ULPSCOPE_NO_INDEX && (parents_[op] >= ops_ || parents_[op] == op))
      found.push_back(
          {MistakeKind::order, fmt::format("op '{}' has parent {}, and there is no such op but itself",
                                           op_names_[op], parents_[op])});
  return found;
}

Status scan_once(const ulpscope_source_desc& desc, const ulpscope_host* host, const std::string& path,
                 Recorder& recorder) {
  ULPSCOPE_ASSIGN(SourceHandle source, SourceHandle::open(desc, host, path, "{}"));
  return source.scan(recorder.sink());
}

Result<std::string> bytes_of(const SourceHandle& source, const std::string& root,
                             const RecordedTensor& tensor, size_t piece_bytes, uint64_t limit_bytes) {
  ulpscope_data_ref data = tensor.data;
  std::string file = tensor.file;
  if (data.kind == ULPSCOPE_DATA_LATER) {
    ULPSCOPE_ASSIGN(data, source.locate(data.token));
    file = to_view(data.file);
  }
  if (data.kind == ULPSCOPE_DATA_FILE) return file_bytes(root, file, data, piece_bytes, limit_bytes);
  if (data.kind == ULPSCOPE_DATA_STREAM) return stream_bytes(source, data.token, piece_bytes, limit_bytes);
  return std::string();
}

}  // namespace ulpscope
