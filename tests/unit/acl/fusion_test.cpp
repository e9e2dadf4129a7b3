#include <doctest/doctest.h>

#include "formats/fusion_graph.hpp"

using namespace ulpscope;

namespace {

Result<FusionGraph> read(std::string_view json) {
  JsonLexer lexer(json);
  return FusionGraph::read(lexer, "x.json");
}

constexpr std::string_view kModel = R"({"name": "m", "graph": [{"name": "g", "op": [
  {"name": "data", "type": "Data"},
  {"name": "w", "type": "Const", "id": 1},
  {"name": "cast", "type": "Cast", "id": 2, "input": ["data:0"],
   "attr": [{"key": "_datadump_original_op_names", "value": {"list": {"val_type": "VT_LIST_STRING"}}}]},
  {"name": "conv", "type": "Conv2D", "id": 3, "input": ["cast:0", "", "w:0", "ctl:-1"],
   "attr": [{"key": "_datadump_original_op_names", "value": {"list": {"s": ["conv", "bn"]}}}],
   "output_desc": [
     {"layout": "NC1HWC0", "attr": [{"key": "_datadump_origin_name", "value": {"s": "bn"}},
       {"key": "_datadump_origin_output_index", "value": {"i": 1}}, {"key": "_datadump_origin_format", "value": {"s": "NHWC"}},
       {"key": "origin_format", "value": {"s": "NCHW"}}, {"key": "origin_shape", "value": {"list": {"i": [1, 2]}}}]},
     {"attr": [{"key": "_datadump_origin_name", "value": {"s": ""}}]},
     {}]},
  {"name": "split_1", "type": "Mul", "id": 4, "input": ["conv:0"],
   "attr": [{"key": "_datadump_original_op_names", "value": {"list": {"s": ["gelu"]}}},
            {"key": "_datadump_is_multiop", "value": {"b": true}}]},
  {"name": "renamed", "type": "Relu", "id": 5, "input": ["split_1:0"],
   "attr": [{"key": "_datadump_original_op_names", "value": {"list": {"s": ["relu"]}}}]}
]}]})";

std::string key(const FusionGraph& graph, const char* op, uint32_t output) {
  const FusionKey found = graph.output_key(graph.find(op), output);
  return found.kind == FusionKey::Kind::inner  ? "inner"
         : found.kind == FusionKey::Kind::none ? "none"
                                               : found.text;
}

}  // namespace

TEST_CASE("fusion: what each output is in the original model") {
  const auto graph = read(kModel);
  REQUIRE(graph.ok());
  CHECK(key(*graph, "data", 0) == "data:0");
  CHECK(key(*graph, "cast", 0) == "none");
  CHECK(key(*graph, "conv", 0) == "bn:1");
  CHECK(key(*graph, "conv", 1) == "inner");
  CHECK(key(*graph, "conv", 2) == "inner");
  CHECK(key(*graph, "split_1", 0) == "inner");
  CHECK(key(*graph, "renamed", 2) == "relu:2");
}

TEST_CASE("fusion: inputs are what their producer is, inserted operators passed over") {
  const auto graph = read(kModel);
  REQUIRE(graph.ok());
  const uint32_t conv = graph->find("conv");
  CHECK(graph->ops()[conv].inputs.size() == 2);
  CHECK(graph->input_key(conv, 0).text == "data:0");
  CHECK(graph->input_key(conv, 1).text == "w:0");
  CHECK(graph->is_constant(conv, 1));
  CHECK_FALSE(graph->is_constant(conv, 0));
  CHECK(graph->input_key(conv, 9).text.empty());
  CHECK(graph->ops()[conv].output_tensors[0].origin_format == 1);
  CHECK(graph->ops()[conv].output_tensors[0].origin_shape == Shape{1, 2});
}

TEST_CASE("fusion: a ring of inserted operators ends") {
  const auto graph = read(R"({"graph": [{"op": [
    {"name": "a", "input": ["b:0"], "attr": [{"key": "_datadump_original_op_names", "value": {"list": {}}}]},
    {"name": "b", "input": ["a:0"], "attr": [{"key": "_datadump_original_op_names", "value": {"list": {}}}]},
    {"name": "c", "input": ["a:0"]}]}]})");
  REQUIRE(graph.ok());
  CHECK(graph->input_key(graph->find("c"), 0).kind == FusionKey::Kind::none);
}

TEST_CASE("fusion: texts that are no compiled model") {
  const auto message = [](std::string_view json) {
    const auto graph = read(json);
    return graph.ok() ? std::string("read") : graph.error().message;
  };
  CHECK(message("[]").find("expected an object") != std::string::npos);
  CHECK(message("{}") == "x.json: no list \"graph\": not a compiled model as json");
  CHECK(message(R"({"graph": 3})") == "x.json: no list \"graph\": not a compiled model as json");
  CHECK(message(R"({"graph": [{"op": [{"name": )").find("x.json: ") == 0);
  CHECK(message("nonsense").find("x.json: ") == 0);
}

TEST_CASE("fusion: an operator nested too deep is left out, the others count") {
  std::string deep(200, '[');
  deep += std::string(200, ']');
  const auto graph =
      read(R"({"graph": [{"op": [{"name": "a", "x": )" + deep + R"(}, {"name": "b"}, 3, {"name": "b"}]}]})");
  REQUIRE(graph.ok());
  CHECK(graph->find("a") == kNoIndex);
  CHECK(graph->find("b") != kNoIndex);
  CHECK(graph->notes().size() == 2);
}
