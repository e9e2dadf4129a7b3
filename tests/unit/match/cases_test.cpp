// The cases of the test data whose right answers are known. Pairs follow the peer's tables, except where the
// notes to those tables say that the peer is wrong.
#include <algorithm>

#include "match_support.hpp"

using namespace ulpscope;
using namespace ulpscope::test;

TEST_CASE("match case: exact names first, order of appearance for what is left") {
  const DumpIndex target = load("match/target"), golden = load("match/golden");
  const PairList pairs = pairs_of(target, golden);
  CHECK(op_lines(target, golden, pairs) ==
        Lines{"Functional.conv2d.0.forward | Functional.conv2d.0.forward | exact",
              "Functional.conv2d.1.forward | Functional.conv2d.1.forward | exact",
              "Functional.conv2d.2.forward | - | only_target",
              "Torch.a.0.forward | Torch.a.0.forward | exact",
              "Torch.b.0.forward | Torch.b.0.forward | exact",
              "Module.layers.0.Block.forward.0 | Module.layers.0.Block.forward.0 | exact",
              "Module.layers.0.Block.forward.1 | - | only_target",
              "Module.layers.0.Block.backward.1 | Module.layers.0.Block.backward.0 | aligned",
              "Functional.conv2d.2.backward | - | only_target",
              "Functional.conv2d.1.backward | Functional.conv2d.1.backward | exact",
              "Functional.conv2d.0.backward | Functional.conv2d.0.backward | exact",
              "- | Torch.add.5.forward | only_golden",
              "- | Module.dense1.Linear.forward.0 | only_golden",
              "- | Module.dense1.Linear.backward.0 | only_golden",
              "- | Module.dense1.Linear.parameters_grad.0 | only_golden",
              "NPU.npu_add.0.forward | - | only_target",
              "Module.fc1.NpuLinear.forward.0 | - | only_target",
              "Module.fc1.NpuLinear.backward.0 | - | only_target",
              "Module.fc1.NpuLinear.parameters_grad.0 | - | only_target",
              "optimizer.step | optimizer.step | exact"});
}

TEST_CASE("fuzzy case: call numbers do not count and feed_forward is no direction") {
  const DumpIndex target = load("fuzzy/target"), golden = load("fuzzy/golden");
  MatchOptions options;
  options.fuzzy = true;
  const PairList pairs = pairs_of(target, golden, options);
  CHECK(op_lines(target, golden, pairs) ==
        Lines{"Torch.matmul.2.forward | Torch.matmul.0.forward | fuzzy",
              "Torch.matmul.3.forward | Torch.matmul.1.forward | fuzzy",
              "- | Torch.golden_only.0.forward | only_golden",
              "Torch.target_only.0.forward | - | only_target",
              "Functional.softmax.2.forward | Functional.softmax.0.forward | fuzzy",
              "Module.layers.0.feed_forward.w1.Linear.forward.0 | "
              "Module.layers.0.feed_forward.w1.Linear.forward.0 | fuzzy",
              "Torch.matmul.4.forward | - | only_target",
              "Module.layers.1.feed_forward.w1.Linear.forward.0 | "
              "Module.layers.1.feed_forward.w1.Linear.forward.0 | fuzzy"});
  CHECK(holds(item_lines(target, golden, pairs),
              "Functional.softmax.2.forward.input.dim | Functional.softmax.0.forward.input.dim | fuzzy"));
}

TEST_CASE("without fuzzy matching the same calls are aligned") {
  const DumpIndex target = load("fuzzy/target"), golden = load("fuzzy/golden");
  const Lines lines = op_lines(target, golden, pairs_of(target, golden));
  CHECK(holds(lines, "Torch.matmul.2.forward | Torch.matmul.0.forward | aligned"));
  CHECK(holds(lines, "Torch.matmul.3.forward | Torch.matmul.1.forward | aligned"));
  CHECK(holds(lines,
              "Module.layers.1.feed_forward.w1.Linear.forward.0 | "
              "Module.layers.1.feed_forward.w1.Linear.forward.0 | exact"));
}

TEST_CASE("ranks case: each rank pairs with its number") {
  const DumpIndex target = load("ranks/target"), golden = load("ranks/golden");
  const PairList pairs = pairs_of(target, golden);
  REQUIRE(!pairs.ops.empty());
  for (const OpPair& pair : pairs.ops) {
    REQUIRE(pair.target != kNoIndex);
    REQUIRE(pair.golden != kNoIndex);
    CHECK(target.ops()[pair.target].rank == golden.ops()[pair.golden].rank);
  }
  CHECK(pairs.notices.empty());
}

TEST_CASE("stat_edge case: rows of one side only, nested outputs, None against a tensor") {
  const DumpIndex target = load("stat_edge/target"), golden = load("stat_edge/golden");
  const PairList pairs = pairs_of(target, golden);
  const Lines ops = op_lines(target, golden, pairs), items = item_lines(target, golden, pairs);
  CHECK(holds(ops, "Torch.only_target.0.forward | - | only_target"));
  CHECK(holds(ops, "- | Torch.only_golden.0.forward | only_golden"));
  CHECK(holds(ops, "Torch.dtype_bool_f32.0.forward | Torch.dtype_bool_f32.0.forward | exact"));
  CHECK(holds(items, "Torch.in_extra.0.forward.input.1 | - | only_target"));
  CHECK(holds(items, "Torch.in_extra.0.forward.input.2 | - | only_target"));
  CHECK(holds(items, "Torch.in_extra.0.forward.input.k | Torch.in_extra.0.forward.input.k | exact"));
  CHECK(
      holds(items, "Torch.in_extra.0.forward.output.1.1.a | Torch.in_extra.0.forward.output.1.1.a | exact"));
  CHECK(holds(items, "- | Torch.in_extra.0.forward.output.1.1.extra | only_golden"));
  CHECK(holds(items, "Torch.in_extra.0.forward.output.2 | Torch.in_extra.0.forward.output.2 | exact"));
  CHECK(
      holds(items,
            "Torch.in_none_vs_tensor.0.forward.input.0 | Torch.in_none_vs_tensor.0.forward.input.0 | exact"));
  CHECK(holds(items, "Torch.in_types.0.forward.input.group | Torch.in_types.0.forward.input.group | exact"));
}

TEST_CASE("a call that only the target makes is the only difference in structure") {
  const DumpIndex target = load("g_extra_dropout_tensor_L1/target"),
                  golden = load("g_extra_dropout_tensor_L1/golden");
  const PairList pairs = pairs_of(target, golden);
  CHECK(pairs.ops.size() == 41);  // 40 calls of golden and one more
  CHECK(count_how(pairs, MatchKind::exact) == 40);
  CHECK(count_how(pairs, MatchKind::only_golden) == 0);
  CHECK(holds(op_lines(target, golden, pairs), "Functional.dropout.0.forward | - | only_target"));
  CHECK(pairs.notices.empty());
}

TEST_CASE("tokens of two V0 dumps pair by number") {
  const DumpIndex target = load("v0_token_range_stat_mix/target", true),
                  golden = load("v0_token_range_stat_mix/golden", true);
  const PairList pairs = pairs_of(target, golden);
  int32_t last_token = -1;
  for (const OpPair& pair : pairs.ops) {
    REQUIRE(pair.target != kNoIndex);
    REQUIRE(pair.golden != kNoIndex);
    CHECK(pair.how == MatchKind::exact);
    CHECK(target.ops()[pair.target].token == golden.ops()[pair.golden].token);
    last_token = std::max(last_token, target.ops()[pair.target].token);
  }
  CHECK(last_token == 1);  // token_range [1, 2]: two tokens
}

TEST_CASE("consistent case: separate projections of training against the merged one of inference") {
  const DumpIndex target = load("consistent/target"), golden = load("consistent/golden");
  MatchOptions options;
  options.merge_backend = "fsdp";
  const PairList pairs = pairs_of(target, golden, options);
  const std::string layer = "Module._fsdp_wrapped_module.model.layers.0._fsdp_wrapped_module.self_attn.";
  const std::string qkv = "Module.model.layers.0.self_attn.qkv_proj.QKVParallelLinear.forward.0";
  CHECK(op_lines(target, golden, pairs) ==
        Lines{"Module._fsdp_wrapped_module.model.embed_tokens.Embedding.forward.0 | "
              "Module.model.embed_tokens.VocabParallelEmbedding.forward.0 | mapped",
              layer + "q_proj.Linear.forward.0 | " + qkv + " | mapped",
              layer + "k_proj.Linear.forward.0 | " + qkv + " | mapped",
              layer + "v_proj.Linear.forward.0 | " + qkv + " | mapped",
              layer + "o_proj.Linear.forward.0 | "
                      "Module.model.layers.0.self_attn.o_proj.RowParallelLinear.forward.0 | mapped",
              "- | Module.model.layers.0.extra.Foo.forward.0 | only_golden"});
  CHECK(item_lines(target, golden, pairs).size() == 10);  // the rows of the peer's table
  REQUIRE(pairs.merges.size() == 3);
  CHECK(pairs.merges[0].axis == -1);  // inputs: the first stands for all
  CHECK(pairs.merges[1].axis == 0);   // weights
  CHECK(pairs.merges[2].axis == 1);   // outputs [1, 5, 8], [1, 5, 4], [1, 5, 4] without the first dimension
  for (const Merge& merge : pairs.merges) {
    CHECK(merge.target_side);
    REQUIRE(merge.items.size() == 3);
    CHECK(item_text(target, merge.items[0]).find("q_proj") != std::string::npos);
    CHECK(item_text(target, merge.items[2]).find("v_proj") != std::string::npos);
  }
  CHECK(pairs.notices == Lines{"2 calls of target outside the forward pass of the model are left out"});
}

TEST_CASE("an unknown backend is refused") {
  const DumpIndex target = load("consistent/target"), golden = load("consistent/golden");
  MatchOptions options;
  options.merge_backend = "ddp";
  const auto pairs = match(target, golden, options);
  REQUIRE(!pairs.ok());
  CHECK(pairs.error().code == Code::usage);
  CHECK(pairs.error().message == "--backend: \"ddp\" is not known, expected fsdp or megatron");
}
