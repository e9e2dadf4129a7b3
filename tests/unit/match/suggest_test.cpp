#include "match/suggest.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "memory_source.hpp"

using namespace ulpscope;

namespace {

// Statistics by the l2norm that a test gives a tensor; 0: none.
TensorRecord tensor(Role role, const std::string& path, Shape shape, double norm) {
  TensorRecord record;
  record.role = role;
  record.path = path;
  record.shape = std::move(shape);
  record.dtype = DType::f32;
  if (norm != 0) record.stats = {ULPSCOPE_STAT_L2, 0, 0, 0, 0, norm};
  return record;
}

StatisticsReader recorded(const DumpIndex& target, const DumpIndex& golden) {
  return [&](bool of_target, TensorId id) -> std::optional<ulpscope_stats> {
    const ulpscope_stats& stats = (of_target ? target : golden).tensors()[id].stats;
    return stats.present == 0 ? std::nullopt : std::optional(stats);
  };
}

// Layers as MindIE runs them against the modules of the same model; scale 0 leaves the statistics away.
test::MemoryDump layers(double scale) {
  test::MemoryDump dump("mindie_atb");
  dump.op("0_WordEmbedding").tensor(tensor(Role::output, "0", {6, 32}, 5 * scale));
  for (int layer = 2; layer < 5; ++layer)
    dump.op(std::to_string(layer) + "_Prefill_layer")
        .tensor(tensor(Role::input, "0", {6, 32}, layer * scale))
        .tensor(tensor(Role::output, "0", {6, 32}, (layer + 1) * scale));
  return dump;
}

test::MemoryDump modules(double scale) {
  test::MemoryDump dump("torch_api");
  dump.op("Module.model.embed_tokens.Embedding.forward.0")
      .tensor(tensor(Role::output, "0", {1, 6, 32}, 5 * scale));
  for (int layer = 0; layer < 3; ++layer) {
    const std::string name = "Module.model.layers." + std::to_string(layer) + ".";
    dump.op(name + "mlp.LlamaMLP.forward.0").tensor(tensor(Role::output, "0", {1, 6, 32}, 90 * scale));
    dump.op(name + "LlamaDecoderLayer.forward.0")
        .tensor(tensor(Role::input, "hidden_states", {1, 6, 32}, (layer + 2) * scale))
        .tensor(tensor(Role::output, "0", {1, 6, 32}, (layer + 3.01) * scale));
  }
  return dump;
}

}  // namespace

TEST_CASE("suggest mapping: layers against modules, by values, with the tensors that are called otherwise") {
  const DumpIndex target = layers(1).index(), golden = modules(1).index();
  CHECK(
      mapping_text(suggest_mapping(target, golden, recorded(target, golden))) ==
      "ops:\n"
      "  \"0_WordEmbedding\": \"Module.model.embed_tokens.Embedding.forward.0\"  # 1 pair, values of 1 of 1 "
      "alike\n"
      "  \"{n}_Prefill_layer\": \"Module.model.layers.{n-2}.LlamaDecoderLayer.forward.0\"  # 3 pairs, values "
      "of 3 of 3 alike\n"
      "items:\n"
      "  \"{n}_Prefill_layer\":\n"
      "    \"input.0\": \"input.hidden_states\"\n");
}

TEST_CASE("suggest mapping: without values words decide, and the remark says so") {
  const DumpIndex target = layers(0).index(), golden = modules(0).index();
  const auto rules = suggest_mapping(target, golden, recorded(target, golden));
  REQUIRE(rules.size() == 2);
  CHECK(rules[1].golden == "Module.model.layers.{n-2}.LlamaDecoderLayer.forward.0");
  CHECK(mapping_text(rules).find("# 3 pairs, by shapes and names alone: check it") != std::string::npos);
}

TEST_CASE("suggest mapping: other values, other shapes and other numbers of layers do not pair") {
  const DumpIndex target = layers(1).index(), unlike = modules(2).index();
  CHECK(suggest_mapping(target, unlike, recorded(target, unlike)).empty());
  test::MemoryDump fewer("torch_api");
  fewer.op("Module.layers.0.Layer.forward.0").tensor(tensor(Role::output, "0", {6, 32}, 77));
  const DumpIndex golden = fewer.index();
  CHECK(suggest_mapping(target, golden, recorded(target, golden)).empty());
}

TEST_CASE("suggest mapping: behind a fault values differ, and one of two embeddings has a partner") {
  test::MemoryDump faulty = layers(1);
  faulty.op("8_WordEmbedding").tensor(tensor(Role::output, "0", {1, 32}, 4));
  faulty.records()[2].second[1].stats.l2norm = 40;  // the output of the second layer
  faulty.records()[3].second[1].stats.l2norm = 50;
  const DumpIndex target = faulty.index(), golden = modules(1).index();
  const auto rules = suggest_mapping(target, golden, recorded(target, golden));
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].target == "0_WordEmbedding");
  CHECK(rules[1].golden == "Module.model.layers.{n-2}.LlamaDecoderLayer.forward.0");
  CHECK(rules[1].alike == 1);
}

TEST_CASE("suggest mapping: names that agree need no rule") {
  const DumpIndex target = layers(1).index(), golden = layers(1).index();
  CHECK(suggest_mapping(target, golden, recorded(target, golden)).empty());
  CHECK(mapping_text({}) == "ops: {}\n");
}
