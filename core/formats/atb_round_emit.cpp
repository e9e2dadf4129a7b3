// The records of one round: operations, tensors, and what is said of those that are not there.
#include <algorithm>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/atb_codes.hpp"
#include "formats/atb_names.hpp"
#include "formats/atb_round.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMaxParameterBytes = 1 << 20;
// More missing tensors than this in front of one index are no gap, but an odd file name.
constexpr int64_t kMaxGap = 4096;

bool is_json(std::string_view text) {
  JsonLexer lexer(text);
  JsonToken token = lexer.next();
  while (token != JsonToken::end && token != JsonToken::broken) token = lexer.next();
  return token == JsonToken::end;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (const int64_t dim : shape) text += (text.size() > 1 ? "," : "") + std::to_string(dim);
  return text + "]";
}

}  // namespace

// Its op_param.json, else what the graph says; with what is inside it where that was not dumped, so that
// layers alone show which parameter differs.
std::string AtbRoundReader::parameters_of(RecordSink& sink, const AtbOp& op) const {
  const AtbTopology::Node* node = topology_.find(op.ids);
  if (node != nullptr && op.children.empty() && !node->children.empty())
    return topology_.parameters_with_inside(*node);
  if (op.parameter_file.empty()) return node == nullptr ? "" : node->parameters;
  const std::string path = path_of(op.parameter_file);
  const auto file = File::open_under(root_, path);
  auto text = file.ok() ? file->read_text(kMaxParameterBytes) : Result<std::string>(file.error());
  if (text.ok() && valid_utf8(*text) == *text && is_json(*text)) {
    while (text->ends_with('\n')) text->pop_back();
    return std::move(text).value();
  }
  sink.diagnose(ULPSCOPE_E_FORMAT, path,
                text.ok() ? "not JSON, the parameters are not known" : text.error().message);
  return "";
}

void AtbRoundReader::emit_op(RecordSink& sink, uint32_t number, uint32_t parent) {
  const AtbOp& op = tree_.ops()[number];
  OpRecord record;
  record.kind = kind_of(op);
  record.step = round_.step;
  record.rank = round_.rank;
  record.parent = parent;
  record.name = op.path;
  record.type = op.type;
  record.attributes_json = parameters_of(sink, op);
  const uint32_t sink_number = sink.add(record);
  const AtbTopology::Node* node = topology_.find(op.ids);
  for (const bool is_output : {false, true}) {
    int64_t next = 0;
    for (size_t i = first_of_op_[number]; i < first_of_op_[number + 1]; ++i) {
      const Stored& stored = stored_[i];
      if (stored.place.is_output != is_output) continue;
      if (stored.place.index - next <= kMaxGap)
        emit_gaps(sink, op, is_output, next, stored.place.index, sink_number);
      emit_tensor(sink, stored, sink_number);
      next = stored.place.index + 1;
    }
    // A graph operation without a single tensor was not asked for: its children were.
    const bool was_dumped = first_of_op_[number] != first_of_op_[number + 1];
    if (node == nullptr || !was_dumped) continue;
    const size_t count = is_output ? node->outputs.size() : node->inputs.size();
    emit_gaps(sink, op, is_output, next, static_cast<int64_t>(count), sink_number);
  }
}

// Tensors that the operation has and the dump does not.
void AtbRoundReader::emit_gaps(RecordSink& sink, const AtbOp& op, bool is_output, int64_t first, int64_t end,
                               uint32_t number) {
  const AtbTopology::Node* node = topology_.find(op.ids);
  for (int64_t index = first; index < end; ++index) {
    TensorRecord record;
    record.op = number;
    record.role = is_output ? Role::output : Role::input;
    record.path = std::to_string(index);
    record.absent = tree_.has_files() ? ULPSCOPE_ABSENT_NOT_DUMPED : ULPSCOPE_ABSENT_NO_STATISTICS;
    const auto place = static_cast<size_t>(index);
    if (node != nullptr && place < (is_output ? node->outputs : node->inputs).size())
      record.link = (is_output ? node->outputs : node->inputs)[place];
    sink.add(record);
  }
}

// The name of the value in the graph; without a graph the file that aliases mean, on both ends of an alias.
std::string AtbRoundReader::link_of(const Stored& stored, const Stored* data) const {
  const AtbOp& op = tree_.ops()[stored.op];
  if (const AtbTopology::Node* node = topology_.find(op.ids)) {
    const auto& names = stored.place.is_output ? node->outputs : node->inputs;
    const auto index = static_cast<size_t>(stored.place.index);
    if (index < names.size()) return names[index];
  }
  if (data != nullptr && data != &stored) return link_of(*data, nullptr);
  std::string key = atb_tensor_key(atb_id_text(op.ids), stored.place.is_output, stored.place.index);
  return aliased_.contains(key) ? key : "";
}

void AtbRoundReader::emit_tensor(RecordSink& sink, const Stored& stored, uint32_t number) {
  const AtbTensor& tensor = *stored.tensor;
  TensorRecord record;
  record.op = number;
  record.role = stored.place.is_output ? Role::output : Role::input;
  record.path = std::to_string(stored.place.index);
  if (tensor.has_row) {
    record.stats = tensor.stats;
    record.shape = tensor.shape;
    record.storage = tensor.format;
    if (const AtbDType* type = atb_dtype(std::string_view(tensor.dtype))) record.dtype = type->dtype;
  }
  if (stored.header) {
    fill_from_file(sink, stored, record);
  } else {
    // Where the elements would be: by this name the user finds them.
    record.data.file = path_of(tree_.ops()[stored.op].path +
                               (stored.place.is_output ? "/after/outtensor" : "/before/intensor") +
                               record.path + (tensor.label.empty() ? "" : "_" + tensor.label) + ".bin");
    if (tensor.names_file)
      record.absent = ULPSCOPE_ABSENT_NO_DATA;
    else if (tensor.stats.present == 0)
      record.absent = ULPSCOPE_ABSENT_NO_STATISTICS;
    record.link = link_of(stored, nullptr);
  }
  sink.add(record);
}

void AtbRoundReader::fill_from_file(RecordSink& sink, const Stored& stored, TensorRecord& out) {
  const std::string file = path_of(stored.tensor->file);
  const AtbContainer* container = stored.container();
  out.data.file = file;
  if (container == nullptr) {
    sink.diagnose(static_cast<ulpscope_status>(stored.header->error().code), file,
                  stored.header->error().message);
    out.absent = ULPSCOPE_ABSENT_BAD;
    out.link = link_of(stored, nullptr);
    return;
  }
  for (const std::string& warning : container->warnings) sink.diagnose(ULPSCOPE_E_FORMAT, file, warning);
  out.dtype = container->dtype;
  out.shape = container->shape;
  out.storage = atb_format_name(container->format);
  if (container->stats.present != 0) out.stats = container->stats;
  if (container->is_alias) {
    fill_from_alias(sink, stored, out);
  } else {
    if (container->has_data) place_elements(*container, file, out);
    out.link = link_of(stored, nullptr);
  }
}

void AtbRoundReader::fill_from_alias(RecordSink& sink, const Stored& stored, TensorRecord& out) {
  const auto refuse = [&](const std::string& text) {
    sink.diagnose(ULPSCOPE_E_FORMAT, out.data.file, text);
    out.absent = ULPSCOPE_ABSENT_BAD;
    out.link = link_of(stored, nullptr);
  };
  const auto data = resolve(stored);
  if (!data.ok()) return refuse(data.error().message);
  if (*data == nullptr) {
    out.absent = ULPSCOPE_ABSENT_FILTERED;
    out.link = link_of(stored, nullptr);
    return;
  }
  const AtbContainer &alias = *stored.container(), &target = *(*data)->container();
  if (alias.type_text != target.type_text ||
      atb_element_count(alias.shape) != atb_element_count(target.shape))
    return refuse("alias of " + printable(alias.alias) + " says " + printable(alias.type_text) + " " +
                  shape_text(alias.shape) + ", that file holds " + printable(target.type_text) + " " +
                  shape_text(target.shape));
  out.link = link_of(stored, *data);
  if (!target.has_data) {
    out.stats = target.stats;
    return;
  }
  AtbContainer elements = target;
  elements.shape = alias.shape;
  place_elements(elements, path_of((*data)->tensor->file), out);
}

// Elements without a value known here are bytes, and elements of a blocked format stand in another order than
// the dims say: the storage text marks both, so that only equal things are compared.
void AtbRoundReader::place_elements(const AtbContainer& container, const std::string& file,
                                    TensorRecord& out) const {
  out.data = DataRef::at(file, container.data_offset, container.data_size);
  if (container.dtype == DType::none) {
    out.storage = "as stored: dtype " + valid_utf8(container.type_text) + " " + shape_text(container.shape) +
                  " " + out.storage;
    out.shape = {static_cast<int64_t>(container.data_size)};
  } else if (!is_dense_atb_format(container.format)) {
    out.storage = "as stored: " + out.storage;
  }
}

void AtbRoundReader::tell_of_table(RecordSink& sink) const {
  const std::string where = path_of("statistic.csv");
  const AtbTableNotes& notes = tree_.notes();
  const auto tell = [&](ulpscope_status code, int64_t count, const std::string& text) {
    if (count > 0) sink.diagnose(code, where, count_text(count) + text);
  };
  if (table_error_)
    sink.diagnose(ULPSCOPE_E_IO, where, table_error_->message + "; the folders alone are read");
  tell(ULPSCOPE_E_IO, notes.bad, " rows cannot be used as they are, first " + notes.first_bad);
  tell(ULPSCOPE_E_FORMAT, notes.repeated, " rows stand there again, the last one of each counts");
  tell(ULPSCOPE_E_IO, notes.missing_files,
       " files that the table names are not there, first " + notes.first_missing);
  tell(ULPSCOPE_OK, notes.rowless_files,
       " files have no row in the table (rows with -inf are never written)");
}

void AtbRoundReader::tell_of_aliases(RecordSink& sink) const {
  const std::string where = round_.relative.empty() ? root_ : round_.relative;
  if (alias_count_ > 0)
    sink.diagnose(
        ULPSCOPE_OK, where,
        count_text(alias_count_) +
            " tensors are kept once under the name of another use "
            "(filter_level 1 or 2): memory that something overwrote in between does not show; repeat with "
            "filter_level 0 to see it");
  if (filtered_count_ > 0)
    sink.diagnose(ULPSCOPE_OK, where,
                  count_text(filtered_count_) + " tensors were filtered when they were dumped");
}

}  // namespace ulpscope
