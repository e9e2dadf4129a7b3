#include "formats/fusion_graph.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "formats/acl_types.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxOps = 1 << 22;
constexpr size_t kMaxNotes = 20;
constexpr size_t kMaxDims = 32;

// Calls visit(child) for each member or element of a container.
template <class F>
void for_children(const JsonTape& tape, uint32_t node, F visit) {
  if (node == JsonTape::kNone) return;
  const JsonKind kind = tape.at(node).kind;
  if (kind != JsonKind::object && kind != JsonKind::array) return;
  for (uint32_t child = node + 1; child != tape.at(node).next; child = tape.at(child).next) visit(child);
}

std::string text_of(const JsonTape& tape, uint32_t node) {
  return tape.is(node, JsonKind::text) ? std::string(tape.text(node)) : std::string();
}

std::optional<int64_t> integer_of(const JsonTape& tape, uint32_t node) {
  // Writers of 64-bit numbers put them into texts.
  if (!tape.is(node, JsonKind::number) && !tape.is(node, JsonKind::text)) return std::nullopt;
  return json_int(tape.text(node));
}

}  // namespace

// Turns the entries of "op" lists into FusionOps.
class FusionReader {
 public:
  FusionReader(JsonLexer& lexer, std::string_view where) : lexer_(lexer), where_(where) {}

  Result<FusionGraph> run() {
    if (lexer_.next() != JsonToken::begin_object) return fail("expected an object");
    bool found = false;
    JsonToken token = lexer_.next();
    for (; token == JsonToken::key; token = lexer_.next()) {
      const bool is_graph = lexer_.text() == "graph";
      token = lexer_.next();
      if (is_graph && token == JsonToken::begin_array) {
        found = true;
        if (!read_graphs()) return fail("expected a list of graphs");
      } else if (!skip_json_value(lexer_, token)) {
        return fail("not a value");
      }
    }
    if (token != JsonToken::end_object) return fail("expected a member");
    if (!found) return Error{Code::format, where_ + ": no list \"graph\": not a compiled model as json"};
    resolve();
    return std::move(graph_);
  }

 private:
  Error fail(std::string_view what) const {
    const bool broken = lexer_.depth() == 0 ? false : true;
    JsonLexer& lexer = lexer_;
    const JsonToken token = broken ? lexer.next() : JsonToken::end;
    if (token == JsonToken::broken) return {Code::format, where_ + ": " + lexer.error().message};
    return {Code::format, where_ + ": byte " + std::to_string(lexer_.offset()) + ": " + std::string(what)};
  }

  void note(std::string text) {
    if (graph_.notes_.size() < kMaxNotes) graph_.notes_.push_back(std::move(text));
  }

  bool read_graphs() {
    for (;;) {
      JsonToken token = lexer_.next();
      if (token == JsonToken::end_array) return true;
      if (token != JsonToken::begin_object) {
        if (!skip_json_value(lexer_, token)) return false;
        continue;
      }
      for (token = lexer_.next(); token == JsonToken::key; token = lexer_.next()) {
        const bool is_ops = lexer_.text() == "op";
        token = lexer_.next();
        if (is_ops && token == JsonToken::begin_array) {
          if (!read_ops()) return false;
        } else if (!skip_json_value(lexer_, token)) {
          return false;
        }
      }
      if (token != JsonToken::end_object) return false;
    }
  }

  bool read_ops() {
    for (;;) {
      const JsonToken token = lexer_.next();
      if (token == JsonToken::end_array) return true;
      const uint64_t at = lexer_.offset();
      switch (tape_.read(lexer_, token)) {
        case JsonRead::broken:
          return false;
        case JsonRead::too_deep:
        case JsonRead::too_large:
          note("byte " + std::to_string(at) +
               ": an operator nested deeper than 64 or larger than 64 MiB: left out");
          continue;
        case JsonRead::ok:
          break;
      }
      if (graph_.ops_.size() < kMaxOps && tape_.is(0, JsonKind::object)) read_op();
    }
  }

  void read_op() {
    FusionOp op;
    op.name = text_of(tape_, tape_.find(0, "name"));
    op.type = text_of(tape_, tape_.find(0, "type"));
    op.id = integer_of(tape_, tape_.find(0, "id")).value_or(0);
    if (op.name.empty()) return;
    for_children(tape_, tape_.find(0, "input"), [&](uint32_t child) { add_edge(op, text_of(tape_, child)); });
    for_children(tape_, tape_.find(0, "input_desc"),
                 [&](uint32_t child) { op.input_tensors.push_back(read_tensor(child)); });
    for_children(tape_, tape_.find(0, "output_desc"),
                 [&](uint32_t child) { op.output_tensors.push_back(read_tensor(child)); });
    for_children(tape_, tape_.find(0, "attr"), [&](uint32_t attribute) { read_attribute(op, attribute); });
    const auto row = static_cast<uint32_t>(graph_.ops_.size());
    if (!graph_.by_name_.emplace(op.name, row).second) {
      note("two operators are called " + printable(op.name) + ": the first one counts");
      return;
    }
    graph_.ops_.push_back(std::move(op));
  }

  // "" is an optional input that is not used, ":-1" a control edge: neither is in the dump.
  static void add_edge(FusionOp& op, const std::string& text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return;
    const auto output = parse_int(std::string_view(text).substr(colon + 1));
    if (!output || *output < 0 || *output > INT32_MAX) return;
    op.inputs.push_back({kNoIndex, text.substr(0, colon), static_cast<uint32_t>(*output)});
  }

  void read_attribute(FusionOp& op, uint32_t attribute) const {
    const uint32_t key = tape_.find(attribute, "key"), value = tape_.find(attribute, "value");
    if (!tape_.is(key, JsonKind::text)) return;
    const std::string_view name = tape_.text(key);
    if (name == "_datadump_original_op_names") {
      op.names_originals = true;
      for_children(tape_, tape_.find(tape_.find(value, "list"), "s"), [&](uint32_t child) {
        if (tape_.is(child, JsonKind::text) && !tape_.text(child).empty())
          op.originals.emplace_back(tape_.text(child));
      });
      if (const std::string one = text_of(tape_, tape_.find(value, "s")); !one.empty())
        op.originals.push_back(one);
    } else if (name == "_datadump_is_multiop") {
      const uint32_t flag = tape_.find(value, "b");
      op.is_multi_op = tape_.is(flag, JsonKind::boolean) && tape_.at(flag).truth;
    }
  }

  FusionTensor read_tensor(uint32_t node) const {
    FusionTensor tensor;
    tensor.format = acl_format_number(text_of(tape_, tape_.find(node, "layout"))).value_or(-1);
    int32_t compiled_format = -1;
    for_children(tape_, tape_.find(node, "attr"), [&](uint32_t attribute) {
      const std::string key = text_of(tape_, tape_.find(attribute, "key"));
      const uint32_t value = tape_.find(attribute, "value");
      const uint32_t text = tape_.find(value, "s");
      if (key == "_datadump_origin_name" && tape_.is(text, JsonKind::text))
        tensor.origin_name = tape_.text(text);
      // An empty text may be left out by the writer, as protobuf leaves out what is empty.
      if (key == "_datadump_origin_name" && text == JsonTape::kNone) tensor.origin_name = "";
      if (key == "_datadump_origin_output_index") {
        tensor.has_origin_output = true;
        const int64_t index = integer_of(tape_, tape_.find(value, "i")).value_or(0);
        tensor.origin_output = index < 0 || index > INT32_MAX ? 0 : static_cast<uint32_t>(index);
      }
      if (key == "_datadump_origin_format")
        tensor.origin_format = acl_format_number(text_of(tape_, text)).value_or(-1);
      if (key == "origin_format") compiled_format = acl_format_number(text_of(tape_, text)).value_or(-1);
      if (key == "origin_shape") read_shape(tape_.find(tape_.find(value, "list"), "i"), tensor);
    });
    if (tensor.origin_format < 0) tensor.origin_format = compiled_format;
    return tensor;
  }

  void read_shape(uint32_t list, FusionTensor& tensor) const {
    tensor.has_origin_shape = true;
    for_children(tape_, list, [&](uint32_t child) {
      const auto dim = integer_of(tape_, child);
      if (dim && tensor.origin_shape.size() < kMaxDims)
        tensor.origin_shape.push_back(*dim);
      else
        tensor.has_origin_shape = false;
    });
  }

  void resolve() {
    for (FusionOp& op : graph_.ops_)
      for (FusionEdge& edge : op.inputs) edge.producer = graph_.find(edge.name);
  }

  JsonLexer& lexer_;
  std::string where_;
  JsonTape tape_;
  FusionGraph graph_;
};

Result<FusionGraph> FusionGraph::read(const File& file) {
  JsonLexer lexer(file);
  return read(lexer, file.path());
}

Result<FusionGraph> FusionGraph::read(JsonLexer& lexer, std::string_view where) {
  return FusionReader(lexer, where).run();
}

uint32_t FusionGraph::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? kNoIndex : found->second;
}

FusionKey FusionGraph::output_key(uint32_t op, uint32_t output) const {
  const FusionOp& row = ops_[op];
  if (row.is_inserted()) return {FusionKey::Kind::none, {}};
  const FusionTensor* tensor = output < row.output_tensors.size() ? &row.output_tensors[output] : nullptr;
  if (tensor != nullptr && tensor->origin_name) {
    if (tensor->origin_name->empty()) return {FusionKey::Kind::inner, {}};
    const uint32_t index = tensor->has_origin_output ? tensor->origin_output : output;
    return {FusionKey::Kind::original, *tensor->origin_name + ":" + std::to_string(index)};
  }
  if (!row.names_originals) return {FusionKey::Kind::original, row.name + ":" + std::to_string(output)};
  if (row.originals.size() == 1 && !row.is_multi_op)
    return {FusionKey::Kind::original, row.originals[0] + ":" + std::to_string(output)};
  return {FusionKey::Kind::inner, {}};
}

FusionEdge FusionGraph::walk(uint32_t op, uint32_t input) const {
  if (input >= ops_[op].inputs.size()) return {};
  FusionEdge edge = ops_[op].inputs[input];
  // Inserted operators may stand in a ring in a damaged file: no path is longer than the graph.
  for (size_t steps = 0; edge.producer != kNoIndex && ops_[edge.producer].is_inserted(); ++steps) {
    const FusionOp& inserted = ops_[edge.producer];
    if (inserted.inputs.empty() || steps > ops_.size()) return {};
    edge = inserted.inputs[0];
  }
  return edge;
}

FusionKey FusionGraph::input_key(uint32_t op, uint32_t input) const {
  const FusionEdge edge = walk(op, input);
  if (edge.producer == kNoIndex) return {};
  return output_key(edge.producer, edge.output);
}

bool FusionGraph::is_constant(uint32_t op, uint32_t input) const {
  constexpr std::array<std::string_view, 4> kConstants = {"Const", "Constant", "Variable", "FileConstant"};
  const FusionEdge edge = walk(op, input);
  return edge.producer != kNoIndex &&
         std::find(kConstants.begin(), kConstants.end(), ops_[edge.producer].type) != kConstants.end();
}

}  // namespace ulpscope
