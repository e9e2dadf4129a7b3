// The tensors of a call: names, keys and layouts, and the joining of slices.
#include <algorithm>

#include "base/text.hpp"
#include "formats/acl_source.hpp"
#include "formats/acl_types.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {
namespace {

std::string stored_text(const AclTensor& tensor) {
  std::string text = acl_format_name(tensor.format);
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    text += (i == 0 ? " " : ",") + std::to_string(tensor.shape[i]);
  return text;
}

bool is_known(const Shape& shape) {
  return !shape.empty() && std::all_of(shape.begin(), shape.end(), [](int64_t dim) { return dim >= 0; });
}

bool is_packed(DType dtype) { return dtype == DType::i4x2 || dtype == DType::f4_e2m1x2; }

Role role_of(AclPart part) { return part == AclPart::input ? Role::input : Role::output; }

// Casts and layout changes that the compiler puts in are called trans_Cast_0, trans_TransData_1, ...
bool is_inserted_by_name(const AclCall& call) {
  return (call.type == "Cast" || call.type == "TransData") && call.name.starts_with("trans_");
}

}  // namespace

void AclSource::name_tensor(TensorRecord& record, AclPart part, uint32_t index, const AclCall& call,
                            const AclTensor* tensor) const {
  if (part != AclPart::input && part != AclPart::output) return;
  const std::string own = call.name + ":" + std::to_string(index);
  if (graph_ == nullptr || call.fusion_op == kNoIndex) {
    if (part == AclPart::input) return;
    record.link = own;
    // The header of a fused operator may still say which original its output is.
    const bool said = tensor != nullptr && !tensor->original_name.empty();
    if (!is_inserted_by_name(call))
      record.origin = said ? tensor->original_name + ":" + std::to_string(tensor->original_index) : own;
    return;
  }
  const bool inserted = graph_->ops()[call.fusion_op].is_inserted();
  if (part == AclPart::output) {
    const FusionKey key = graph_->output_key(call.fusion_op, index);
    if (key.kind == FusionKey::Kind::inner && record.absent == 0) record.absent = ULPSCOPE_ABSENT_INNER;
    record.origin = key.text;
    record.link = key.text.empty() ? own : key.text;
    return;
  }
  const FusionKey key = graph_->input_key(call.fusion_op, index);
  if (!inserted) record.origin = key.text;
  // A weight comes from no operator of the run.
  if (graph_->is_constant(call.fusion_op, index)) return;
  record.link = key.text;
  const auto& inputs = graph_->ops()[call.fusion_op].inputs;
  if (key.text.empty() && index < inputs.size())
    record.link = inputs[index].name + ":" + std::to_string(inputs[index].output);
}

// The original shape and the plan to it. A tensor whose layout cannot be brought back keeps its place but is
// not usable, unless raw elements are asked for.
void AclSource::put_layout(const AclTensor& tensor, const AclCall& call, Placed& placed,
                           std::string& note) const {
  Part& part = placed.part;
  TensorRecord& record = placed.record;
  StorageQuery query{tensor.format & 0xff, tensor.sub_format, tensor.shape, tensor.original_shape, false, {}};
  if (graph_ != nullptr && call.fusion_op != kNoIndex) {
    const FusionOp& op = graph_->ops()[call.fusion_op];
    const auto& tensors = tensor.part == AclPart::input ? op.input_tensors : op.output_tensors;
    if (tensor.index < tensors.size()) {
      const FusionTensor& known = tensors[tensor.index];
      if (known.origin_format >= 0) query.layouts.push_back(known.origin_format);
      if (!is_known(query.original) && known.has_origin_shape) query.original = known.origin_shape;
    }
  }
  std::string guessed;
  const bool is_plain = query.format == acl_format::kNd || !layout_letters(query.format).empty();
  if (!is_known(query.original) && !is_plain) {
    TensorRecord named;
    name_tensor(named, tensor.part, tensor.index, call, &tensor);
    if (auto shape = golden_.find(named.origin)) {
      query.original = *std::move(shape);
      guessed = "its original shape is not recorded: that of the golden array is taken; ";
    }
  }
  if (tensor.original_format >= 0) query.layouts.push_back(tensor.original_format);
  query.original_known = is_known(query.original);
  placed.usable = true;
  if (options_.raw || is_packed(record.dtype)) {
    part.plan.identity = true;
    part.plan.shape = tensor.shape;
  } else {
    auto plan = plan_storage(query);
    if (!plan.ok()) {
      note = plan.error().message + "; its stored form can be had raw";
      placed.usable = false;
      record.absent = ULPSCOPE_ABSENT_BAD;
      return;
    }
    part.plan = std::move(plan).value();
    note = guessed + part.plan.note;
    if (part.plan.note.empty() && note.ends_with("; ")) note.resize(note.size() - 2);
  }
  record.shape = part.plan.shape;
  // Two elements share a byte: the last dimension counts bytes.
  if (is_packed(record.dtype)) {
    const bool whole = !record.shape.empty() && record.shape.back() % 2 == 0;
    record.shape = whole ? record.shape : Shape{static_cast<int64_t>(tensor.size_bytes)};
    if (whole) record.shape.back() /= 2;
    part.plan.shape = record.shape;
  }
}

AclSource::Placed AclSource::place(RecordSink& sink, const AclFile& file, const AclTensor& tensor,
                                   const AclCall& call) const {
  Placed placed;
  TensorRecord& record = placed.record;
  record.role = role_of(tensor.part);
  record.path = std::to_string(tensor.index);
  record.shape = tensor.shape;
  const std::string where = file.file + ": " + tensor.name();
  if (tensor.part == AclPart::buffer || tensor.part == AclPart::space) {
    record.path = std::string(to_text(tensor.part)) + "." + record.path;
    record.absent = tensor.state == AclState::bad ? ULPSCOPE_ABSENT_BAD : 0;
    record.shape = {static_cast<int64_t>(tensor.size_bytes)};
    placed.usable = tensor.state == AclState::good && tensor.size_bytes > 0;
    placed.part = {file.file, tensor.offset, tensor.size_bytes, {}, 1, 0};
    placed.part.plan.identity = true;
    return placed;
  }
  record.dtype = acl_type(tensor.data_type).dtype;
  if (tensor.format != acl_format::kNd || tensor.shape != tensor.original_shape)
    record.storage = stored_text(tensor);
  if (!tensor.warning.empty()) sink.diagnose(ULPSCOPE_E_FORMAT, where, tensor.warning);
  std::string note;
  switch (tensor.state) {
    case AclState::good: {
      placed.part = {file.file, tensor.offset, tensor.size_bytes, {}, size_bytes(record.dtype), 0};
      put_layout(tensor, call, placed, note);
      if (!note.empty()) sink.diagnose(placed.usable ? ULPSCOPE_OK : ULPSCOPE_E_FORMAT, where, note);
      const auto bytes = dense_bytes(record.shape, record.dtype);
      placed.usable &= bytes.has_value();
      record.data.size = bytes.value_or(0);
      if (placed.part.plan.identity) placed.part.size_bytes = record.data.size;
      break;
    }
    case AclState::not_dumped:
      record.absent = ULPSCOPE_ABSENT_NOT_DUMPED;
      break;
    case AclState::no_data:
      record.absent = ULPSCOPE_ABSENT_NO_DATA;
      break;
    case AclState::unsupported:
      // The run recorded it and it cannot be compared: that is not "no data".
      record.absent = ULPSCOPE_ABSENT_BAD;
      sink.diagnose(ULPSCOPE_OK, where,
                    "element type " + std::to_string(tensor.data_type) + " (" +
                        std::string(acl_type(tensor.data_type).name) +
                        ") is not supported (recorded at byte " + std::to_string(tensor.record_at) + ")");
      break;
    case AclState::bad:
      record.absent = ULPSCOPE_ABSENT_BAD;
      // The data is lost to the run, whatever else is compared.
      sink.diagnose(ULPSCOPE_E_IO, where, tensor.problem);
      break;
  }
  // What no tensor can have would be refused by everything behind this.
  if (!dense_bytes(record.shape, record.dtype)) record.shape.clear();
  name_tensor(record, tensor.part, tensor.index, call, &tensor);
  return placed;
}

// Joins one tensor of all slices along its axis. False: the slices do not fit together.
bool AclSource::join_one(const AclSlicing& slicing, const std::vector<Placed>& slices,
                         const AclTensor& tensor, TensorRecord& record) {
  const auto& axes = tensor.part == AclPart::input ? slicing.input_axes : slicing.output_axes;
  const bool cut = tensor.index < axes.size() && axes[tensor.index] >= 0;
  if (!std::all_of(slices.begin(), slices.end(), [](const Placed& slice) { return slice.usable; }))
    return false;
  record = slices.back().record;  // without a cut every slice holds the whole: the last one counts
  std::vector<Part> parts = {slices.back().part};
  if (cut) {
    const auto axis = static_cast<size_t>(axes[tensor.index]);
    const bool plain = std::all_of(slices.begin(), slices.end(),
                                   [](const Placed& slice) { return slice.part.plan.identity; });
    if (axis >= record.shape.size() || (axis > 0 && !plain)) return false;
    parts.clear();
    record.shape[axis] = 0;
    for (const Placed& slice : slices) {
      Shape shape = slice.record.shape;
      if (shape.size() != record.shape.size()) return false;
      record.shape[axis] += shape[axis];
      parts.push_back(slice.part);
      shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
      parts.back().run_bytes = dense_bytes(shape, record.dtype).value_or(0);
      Shape a = slice.record.shape, b = record.shape;
      a[axis] = b[axis] = 0;
      if (a != b) return false;
    }
  }
  const auto bytes = dense_bytes(record.shape, record.dtype);
  if (!bytes) return false;
  record.data = DataRef::stream(streams_.size(), *bytes);
  streams_.push_back(std::move(parts));
  return true;
}

void AclSource::join_slices(RecordSink& sink, const AclLeafContents& contents, const AclCall& call,
                            uint32_t op) {
  const AclFile& first = contents.files[call.files[0]];
  auto slicing = parse_acl_slicing(first.dump.attributes[0].second);
  if (!slicing.ok()) {
    sink.diagnose(ULPSCOPE_E_FORMAT, first.file, "slices of an operator: " + slicing.error().message);
    slicing = AclSlicing{};
  } else if (slicing->instances != static_cast<int64_t>(call.files.size())) {
    sink.diagnose(
        ULPSCOPE_E_FORMAT, first.file,
        std::to_string(call.files.size()) + " slices, expected " + std::to_string(slicing->instances));
  }
  for (size_t t = 0; t < first.dump.tensors.size(); ++t) {
    const AclTensor& tensor = first.dump.tensors[t];
    std::vector<Placed> slices;
    for (const size_t i : call.files) {
      const AclFile& file = contents.files[i];
      if (t >= file.dump.tensors.size() || file.dump.tensors[t].part != tensor.part) break;
      slices.push_back(place(sink, file, file.dump.tensors[t], call));
    }
    TensorRecord record = slices[0].record;
    if (slices.size() != call.files.size() || !join_one(*slicing, slices, tensor, record)) {
      record = slices[0].record;
      record.data = DataRef::none();
      if (record.absent == 0) record.absent = ULPSCOPE_ABSENT_BAD;
      sink.diagnose(ULPSCOPE_E_FORMAT, first.file + ": " + tensor.name(), "its slices cannot be joined");
    }
    record.op = op;
    sink.add(record);
  }
}

}  // namespace ulpscope
