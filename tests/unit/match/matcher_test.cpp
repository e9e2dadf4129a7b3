#include "match/matcher.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "match/op_keys.hpp"
#include "match_support.hpp"

using namespace ulpscope;
using namespace ulpscope::test;

namespace {

// A call of a made-up program: an API with a shape.
struct Call {
  std::string api;
  Shape shape;
};

// Numbers the calls as a collector does.
MemoryDump dump_of(const std::vector<Call>& calls) {
  MemoryDump dump;
  std::map<std::string, int> counts;
  for (const Call& call : calls)
    dump.op(call.api + "." + std::to_string(counts[call.api]++) + ".forward")
        .input("0", call.shape)
        .output("0", call.shape);
  return dump;
}

std::vector<Call> random_calls(std::mt19937& random, size_t count) {
  const std::vector<std::string> apis = {"Torch.matmul", "Torch.add", "Functional.linear", "Tensor.mul"};
  std::vector<Call> calls;
  for (size_t i = 0; i < count; ++i)
    calls.push_back({apis[random() % apis.size()], {static_cast<int64_t>(1 + random() % 3), 8}});
  return calls;
}

// Each op of both sides stands in exactly one pair.
void check_complete(const DumpIndex& target, const DumpIndex& golden, const PairList& pairs) {
  std::vector<int> seen_target(target.ops().size(), 0), seen_golden(golden.ops().size(), 0);
  std::vector<int> items_target(target.items().size(), 0), items_golden(golden.items().size(), 0);
  for (const OpPair& pair : pairs.ops) {
    if (pair.target != kNoIndex) ++seen_target[pair.target];
    if (pair.golden != kNoIndex) ++seen_golden[pair.golden];
    REQUIRE((pair.target == kNoIndex) == (pair.how == MatchKind::only_golden));
    REQUIRE((pair.golden == kNoIndex) == (pair.how == MatchKind::only_target));
  }
  for (const ItemPair& pair : pairs.items) {
    if (pair.target != kNoIndex) ++items_target[pair.target];
    if (pair.golden != kNoIndex) ++items_golden[pair.golden];
    REQUIRE(pair.op_pair < pairs.ops.size());
  }
  for (const auto* counts : {&seen_target, &seen_golden, &items_target, &items_golden})
    REQUIRE(std::all_of(counts->begin(), counts->end(), [](int count) { return count == 1; }));
}

Lines sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Pairs as lines with the sides exchanged.
Lines exchanged(const DumpIndex& target, const DumpIndex& golden, const PairList& pairs) {
  Lines lines;
  for (const OpPair& pair : pairs.ops)
    lines.push_back(op_name(golden, pair.golden) + " | " + op_name(target, pair.target));
  return sorted(lines);
}

Lines as_given(const DumpIndex& target, const DumpIndex& golden, const PairList& pairs) {
  Lines lines;
  for (const OpPair& pair : pairs.ops)
    lines.push_back(op_name(target, pair.target) + " | " + op_name(golden, pair.golden));
  return sorted(lines);
}

}  // namespace

TEST_CASE("equal sequences pair exactly, in order") {
  std::mt19937 random(1);
  for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{200}}) {
    CAPTURE(count);
    const std::vector<Call> calls = random_calls(random, count);
    const DumpIndex target = dump_of(calls).index(), golden = dump_of(calls).index();
    const PairList pairs = pairs_of(target, golden);
    check_complete(target, golden, pairs);
    CHECK(count_how(pairs, MatchKind::exact) == count);
    CHECK(pairs.notices.empty());
  }
}

TEST_CASE("random edits: every op and item stands in one row, and the pairs do not depend on the side") {
  std::mt19937 random(20240607);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    std::vector<Call> calls = random_calls(random, 5 + random() % 60);
    std::vector<Call> edited = calls;
    for (auto edit = random() % 6; edit > 0; --edit) {
      const size_t at = random() % edited.size();
      if (random() % 2 == 0 && edited.size() > 1)
        edited.erase(edited.begin() + static_cast<std::ptrdiff_t>(at));
      else
        edited.insert(edited.begin() + static_cast<std::ptrdiff_t>(at), random_calls(random, 1)[0]);
    }
    const DumpIndex target = dump_of(edited).index(), golden = dump_of(calls).index();
    const PairList forth = pairs_of(target, golden), back = pairs_of(golden, target);
    check_complete(target, golden, forth);
    REQUIRE(as_given(golden, target, back) == exchanged(target, golden, forth));
    for (const OpPair& pair : forth.ops)
      if (pair.target != kNoIndex && pair.golden != kNoIndex)
        REQUIRE(target.text(target.ops()[pair.target].type) == golden.text(golden.ops()[pair.golden].type));
  }
}

TEST_CASE("calls that nobody edited keep their partners") {
  // Every call has a shape of its own, so that there is one right answer: the call of equal shape.
  std::mt19937 random(5);
  std::vector<Call> golden_calls;
  for (int64_t i = 0; i < 300; ++i)
    golden_calls.push_back({i % 3 == 0 ? "Torch.add" : "Torch.matmul", {i + 1}});
  std::vector<Call> target_calls = golden_calls;
  for (int64_t edit = 0; edit < 10; ++edit) {
    // Calls of add go, calls of matmul come: none of them has a namesake among the others.
    target_calls.erase(target_calls.begin() + 21 + 24 * edit);
    target_calls.insert(target_calls.begin() + 10 + 24 * edit, Call{"Torch.matmul", {1000 + edit}});
  }
  const DumpIndex target = dump_of(target_calls).index(), golden = dump_of(golden_calls).index();
  const PairList pairs = pairs_of(target, golden);
  check_complete(target, golden, pairs);
  size_t right = 0;
  for (const OpPair& pair : pairs.ops) {
    if (pair.target == kNoIndex || pair.golden == kNoIndex) continue;
    const auto a = target.shape_of(target.items(pair.target)[0].tensor);
    const auto b = golden.shape_of(golden.items(pair.golden)[0].tensor);
    right += std::equal(a.begin(), a.end(), b.begin(), b.end()) ? 1 : 0;
  }
  CHECK(right == 290);
  CHECK(count_how(pairs, MatchKind::only_target) == 10);
  CHECK(count_how(pairs, MatchKind::only_golden) == 10);
}

TEST_CASE("one call more shifts the numbers, not the pairs") {
  const DumpIndex target =
      dump_of({{"Torch.mm", {9, 9}}, {"Torch.mm", {2, 3}}, {"Torch.mm", {4, 5}}}).index();
  const DumpIndex golden = dump_of({{"Torch.mm", {2, 3}}, {"Torch.mm", {4, 5}}}).index();
  CHECK(op_lines(target, golden, pairs_of(target, golden)) ==
        Lines{"Torch.mm.0.forward | - | only_target", "Torch.mm.1.forward | Torch.mm.0.forward | aligned",
              "Torch.mm.2.forward | Torch.mm.1.forward | aligned"});
}

TEST_CASE("among equal calls those whose names stand on both sides keep each other") {
  const DumpIndex target = dump_of({{"Torch.mm", {2}}, {"Torch.mm", {2}}, {"Torch.mm", {2}}}).index();
  const DumpIndex golden = dump_of({{"Torch.mm", {2}}, {"Torch.mm", {2}}}).index();
  CHECK(op_lines(target, golden, pairs_of(target, golden)) ==
        Lines{"Torch.mm.0.forward | Torch.mm.0.forward | exact",
              "Torch.mm.1.forward | Torch.mm.1.forward | exact", "Torch.mm.2.forward | - | only_target"});
}

TEST_CASE("a floating format, a shape or another dtype undoes no pair") {
  MemoryDump a, b;
  a.op("Torch.f.0.forward").output("0", {2, 3}, DType::bf16);
  a.op("Torch.g.0.forward").output("0", {2, 3});
  a.op("Torch.h.0.forward").output("0", {2}, DType::i32);
  b.op("Torch.f.0.forward").output("0", {2, 3}, DType::f32);
  b.op("Torch.x.0.forward").output("0", {1});
  b.op("Torch.g.0.forward").output("0", {7, 7});
  b.op("Torch.h.0.forward").output("0", {2}, DType::i64);
  const DumpIndex target = a.index(), golden = b.index();
  const PairList pairs = pairs_of(target, golden);
  CHECK(count_how(pairs, MatchKind::exact) == 3);
  CHECK(count_how(pairs, MatchKind::only_golden) == 1);
}

TEST_CASE("the same calls in the same order pair by name although routed shapes differ") {
  // Three experts; one row was routed to another of them. By shape alone calls 1 and 2 would change places.
  std::vector<Call> a = {
      {"Torch.gate", {9}}, {"Torch.mm", {3}}, {"Torch.mm", {4}}, {"Torch.mm", {3}}, {"Torch.sum", {9}}};
  std::vector<Call> b = {
      {"Torch.gate", {9}}, {"Torch.mm", {3}}, {"Torch.mm", {3}}, {"Torch.mm", {4}}, {"Torch.sum", {9}}};
  const DumpIndex target = dump_of(a).index(), golden = dump_of(b).index();
  CHECK(count_how(pairs_of(target, golden), MatchKind::exact) == 5);
}

TEST_CASE("calls stay inside their modules") {
  // The same API in two modules; the target's first module makes one call less.
  const auto dump = [](int in_first) {
    MemoryDump d;
    int number = 0;
    d.op("Module.a.A.forward.0").output("0", {2});
    d.op("Module.b.B.forward.0").output("0", {2});
    for (int i = 0; i < in_first; ++i)
      d.op("Torch.add." + std::to_string(number++) + ".forward").output("0", {2}).parent(0);
    for (int i = 0; i < 2; ++i)
      d.op("Torch.add." + std::to_string(number++) + ".forward").output("0", {2}).parent(1);
    return d;
  };
  const DumpIndex target = dump(1).index(), golden = dump(2).index();
  CHECK(op_lines(target, golden, pairs_of(target, golden)) ==
        Lines{"Module.a.A.forward.0 | Module.a.A.forward.0 | exact",
              "Module.b.B.forward.0 | Module.b.B.forward.0 | exact",
              "Torch.add.0.forward | Torch.add.0.forward | exact", "- | Torch.add.1.forward | only_golden",
              "Torch.add.1.forward | Torch.add.2.forward | aligned",
              "Torch.add.2.forward | Torch.add.3.forward | aligned"});
}

TEST_CASE("a backward entry follows its forward call") {
  // The target's first call is new (its shape tells); backward entries look all alike.
  MemoryDump a, b;
  for (const int64_t size : {9, 2, 3})
    a.op("Torch.f." + std::to_string(a.size()) + ".forward").output("0", {size});
  for (const int64_t size : {2, 3})
    b.op("Torch.f." + std::to_string(b.size()) + ".forward").output("0", {size});
  for (const std::string n : {"2", "1", "0"}) a.op("Torch.f." + n + ".backward").output("0", {1});
  for (const std::string n : {"1", "0"}) b.op("Torch.f." + n + ".backward").output("0", {1});
  const DumpIndex target = a.index(), golden = b.index();
  const Lines lines = op_lines(target, golden, pairs_of(target, golden));
  CHECK(holds(lines, "Torch.f.1.forward | Torch.f.0.forward | aligned"));
  CHECK(holds(lines, "Torch.f.2.backward | Torch.f.1.backward | aligned"));
  CHECK(holds(lines, "Torch.f.1.backward | Torch.f.0.backward | aligned"));
  CHECK(holds(lines, "Torch.f.0.backward | - | only_target"));
}

TEST_CASE("gradients pair by order: their numbers may count over steps") {
  MemoryDump a, b;
  a.op("Module.x.Y.parameters_grad.3").tensor(Role::gradient, "weight", {2});
  a.op("Module.x.Y.parameters_grad.4").tensor(Role::gradient, "weight", {2});
  b.op("Module.x.Y.parameters_grad.4").tensor(Role::gradient, "weight", {2});
  b.op("Module.x.Y.parameters_grad.5").tensor(Role::gradient, "weight", {2});
  const DumpIndex target = a.index(), golden = b.index();
  CHECK(op_lines(target, golden, pairs_of(target, golden)) ==
        Lines{"Module.x.Y.parameters_grad.3 | Module.x.Y.parameters_grad.4 | aligned",
              "Module.x.Y.parameters_grad.4 | Module.x.Y.parameters_grad.5 | aligned"});
}

TEST_CASE("never a forward with a backward, never one API with another") {
  MemoryDump a, b;
  a.op("Torch.f.0.forward").output("0", {2});
  b.op("Torch.f.0.backward").output("0", {2});
  b.op("Torch.g.0.forward").output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  CHECK(op_lines(target, golden, pairs_of(target, golden)) == Lines{"- | Torch.f.0.backward | only_golden",
                                                                    "- | Torch.g.0.forward | only_golden",
                                                                    "Torch.f.0.forward | - | only_target"});
}

TEST_CASE("one step and one rank pair whatever their numbers, and it is said") {
  MemoryDump a, b;
  a.at(4, 0).op("Torch.f.0.forward").output("0", {2});
  b.at(0, 3).op("Torch.f.0.forward").output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  const PairList pairs = pairs_of(target, golden);
  CHECK(count_how(pairs, MatchKind::exact) == 1);
  CHECK(pairs.notices == Lines{"step 4 of target is compared with step 0 of golden: each is the only one",
                               "rank 0 of target is compared with rank 3 of golden: each is the only one"});
}

TEST_CASE("a side that knows no steps pairs with the only one without a notice") {
  MemoryDump a, b;
  a.at(-1, -1).op("Torch.f.0.forward").output("0", {2});
  b.at(3, 1).op("Torch.f.0.forward").output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  const PairList pairs = pairs_of(target, golden);
  CHECK(count_how(pairs, MatchKind::exact) == 1);
  CHECK(pairs.notices.empty());
}

TEST_CASE("a golden that knows no steps goes with the first step of several, and it is said") {
  MemoryDump a("mindie_atb"), b("tensor_files");
  for (const int32_t step : {2, 3}) a.at(step, 0).op("4_Layer").output("0", {2});
  b.at(-1, -1).op("4_Layer").output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  const PairList pairs = pairs_of(target, golden);
  CHECK(count_how(pairs, MatchKind::exact) == 1);
  CHECK(pairs.notices ==
        Lines{"golden says nothing of steps and ranks: it is compared with step 2 rank 0, the "
              "first (--step and --rank choose)"});
}

TEST_CASE("steps and ranks of one side only are rows") {
  MemoryDump a, b;
  for (const auto& [step, rank] : std::vector<std::pair<int, int>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}})
    a.at(step, rank).op("Torch.f.0.forward").output("0", {2});
  for (const auto& [step, rank] : std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {1, 1}, {2, 0}, {3, 0}})
    b.at(step, rank).op("Torch.f.0.forward").output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  const PairList pairs = pairs_of(target, golden);
  check_complete(target, golden, pairs);
  CHECK(count_how(pairs, MatchKind::exact) == 3);
  CHECK(count_how(pairs, MatchKind::only_target) == 1);
  CHECK(count_how(pairs, MatchKind::only_golden) == 2);
  CHECK(pairs.notices.empty());  // the localisation tells them, with their rows
}

TEST_CASE("a dump against an empty one: all rows are of one side") {
  const DumpIndex target = dump_of({{"Torch.f", {2}}}).index(), golden = MemoryDump().index();
  const PairList pairs = pairs_of(target, golden);
  check_complete(target, golden, pairs);
  CHECK(count_how(pairs, MatchKind::only_target) == 1);
}

TEST_CASE("tensor files pair by name; two single files whatever their names") {
  MemoryDump a("tensor_files", "/tmp"), b("tensor_files", "/tmp");
  a.op("layer.forward.0").output("0", {2});
  a.op("x").output("0", {2});
  b.op("layer.forward.1").output("0", {2});
  b.op("x").output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  CHECK(op_lines(target, golden, pairs_of(target, golden)) ==
        Lines{"- | layer.forward.1 | only_golden", "layer.forward.0 | - | only_target", "x | x | exact"});

  MemoryDump c("tensor_files", "/nowhere/a.npy"), d("tensor_files", "/nowhere/b.safetensors");
  c.op("a").output("0", {2});
  d.op("b/weight").output("0", {2});
  const DumpIndex one = c.index(), other = d.index();
  CHECK(pairs_of(one, other).ops.size() == 1);

  MemoryDump e("tensor_files", "/nowhere/e.safetensors"), f("tensor_files", "/nowhere/f.safetensors");
  for (const std::string name : {"bias", "weight"}) e.op("e/" + name).output("0", {2});
  for (const std::string name : {"scale", "weight"}) f.op("f/" + name).output("0", {2});
  const DumpIndex first = e.index(), second = f.index();
  CHECK(holds(op_lines(first, second, pairs_of(first, second)), "e/weight | f/weight | exact"));
  CHECK(pairs_of(first, second).ops.size() == 3);
}

TEST_CASE("the only member of a tensor file pairs with the file of that name that has no members") {
  MemoryDump a("tensor_files", "/tmp"), b("tensor_files", "/tmp");
  for (const std::string name : {"h.0/tensor", "two/bias", "two/weight", "same/tensor"})
    a.op(name).output("0", {2});
  for (const std::string name : {"h.0", "two", "same/tensor"}) b.op(name).output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  const Lines expected{"- | two | only_golden", "h.0/tensor | h.0 | exact",
                       "same/tensor | same/tensor | exact", "two/bias | - | only_target",
                       "two/weight | - | only_target"};
  Lines found = op_lines(target, golden, pairs_of(target, golden));
  std::sort(found.begin(), found.end());
  CHECK(found == expected);
  Lines turned = op_lines(golden, target, pairs_of(golden, target));
  CHECK(holds(turned, "h.0 | h.0/tensor | exact"));
}

TEST_CASE("parts of ATB paths may have other ids") {
  MemoryDump a("mindie_atb"), b("mindie_atb");
  for (const std::string name : {"0_Embedding", "1_Extra", "2_Prefill_layer", "3_Prefill_layer"})
    a.op(name).output("0", {2});
  for (const std::string name : {"0_Embedding", "1_Prefill_layer", "2_Prefill_layer"})
    b.op(name).output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  CHECK(op_lines(target, golden, pairs_of(target, golden)) ==
        Lines{"0_Embedding | 0_Embedding | exact", "1_Extra | - | only_target",
              "2_Prefill_layer | 1_Prefill_layer | aligned", "3_Prefill_layer | 2_Prefill_layer | aligned"});
}

TEST_CASE("a merged projection pairs with the separate ones of golden") {
  MemoryDump a("vllm_v1"), b;
  a.op("Module.m.layers.0.mlp.gate_up_proj.Merged.forward.0").input("0", {1, 8}).output("0", {1, 12});
  b.op("Module.m.layers.0.mlp.up_proj.Linear.forward.0").input("0", {1, 8}).output("0", {1, 6});
  b.op("Module.m.layers.0.mlp.gate_proj.Linear.forward.0").input("0", {1, 8}).output("0", {1, 6});
  const DumpIndex target = a.index(), golden = b.index();
  const PairList pairs = pairs_of(target, golden);
  CHECK(pairs.ops.size() == 2);
  CHECK(count_how(pairs, MatchKind::mapped) == 2);
  REQUIRE(pairs.merges.size() == 2);
  CHECK(!pairs.merges[1].target_side);
  CHECK(pairs.merges[1].axis == 0);  // [1, 6] without the dimension of size 1
  CHECK(item_text(golden, pairs.merges[1].items[0]).find("gate_proj") != std::string::npos);
}

TEST_CASE("calls of one side that a filter left out on the other are said in one line") {
  MemoryDump a, b;
  for (int i = 0; i < 10; ++i) {
    a.op("Torch.mm." + std::to_string(i) + ".forward").output("0", {2});
    a.op("Tensor.view." + std::to_string(i) + ".forward").output("0", {2});
    b.op("Torch.mm." + std::to_string(i) + ".forward").output("0", {2});
  }
  const DumpIndex target = a.index(), golden = b.index();
  CHECK(pairs_of(target, golden).notices ==
        Lines{"10 calls are only in target, all of shape, copy and creation (view, to, cat, zeros, …): the "
              "filters of "
              "the dumps differ, golden was probably recorded with risk_level FOCUS"});
}

TEST_CASE("modules that one side did not record are said in one line") {
  MemoryDump a, b;
  for (int i = 0; i < 8; ++i) {
    a.op("Torch.mm." + std::to_string(i) + ".forward").output("0", {2});
    a.op("Module.l" + std::to_string(i) + ".Linear.forward.0").output("0", {2});
    b.op("Torch.mm." + std::to_string(i) + ".forward").output("0", {2});
  }
  const DumpIndex target = a.index(), golden = b.index();
  CHECK(pairs_of(target, golden).notices ==
        Lines{"8 modules are only in target: golden was recorded without modules (level L1)"});
  for (auto& [op, tensors] : b.records())
    op = [] {
      OpRecord r;
      r.kind = OpKind::module;
      r.step = r.rank = 0;
      return r;
    }();
  int n = 0;
  for (auto& [op, tensors] : b.records())
    op.name = "Module.l" + std::to_string(n++) + ".Linear.forward.0", op.phase = Phase::forward;
  const DumpIndex modules = b.index();
  CHECK(pairs_of(target, modules).notices ==
        Lines{"8 API calls are only in target: golden was recorded without APIs (level L0)"});
}

TEST_CASE(
    "items: a keyword meets a positional argument, two keywords do not meet, duplicates never multiply") {
  MemoryDump a, b;
  a.op("Torch.f.0.forward").input("0", {2}).input("1", {3}).output("0", {2}).output("0", {4});
  b.op("Torch.f.0.forward")
      .input("0", {2})
      .tensor(Role::kwarg, "other", {3})
      .output("0", {2})
      .output("0", {4});
  a.op("Torch.g.0.forward").attributes(R"({"kwarg":{"alpha":{"type":"int","value":1}}})");
  b.op("Torch.g.0.forward").attributes(R"({"kwarg":{"beta":{"type":"int","value":1}}})");
  const DumpIndex target = a.index(), golden = b.index();
  const PairList pairs = pairs_of(target, golden);
  CHECK(item_lines(target, golden, pairs) ==
        Lines{"Torch.f.0.forward.input.0 | Torch.f.0.forward.input.0 | exact",
              "Torch.f.0.forward.input.1 | Torch.f.0.forward.input.other | aligned",
              "Torch.f.0.forward.output.0 | Torch.f.0.forward.output.0 | exact",
              "Torch.f.0.forward.output.0 | Torch.f.0.forward.output.0 | exact",
              "- | Torch.g.0.forward.input.beta | only_golden",
              "Torch.g.0.forward.input.alpha | - | only_target"});
  CHECK(pairs.notices == Lines{"1 item is paired by place, because the paths differ"});
}

TEST_CASE("items: rows of golden alone stay within their role") {
  MemoryDump a, b;
  a.op("Torch.f.0.forward").input("0", {2}).output("0", {2});
  b.op("Torch.f.0.forward").input("0", {2}).input("1", {2}).output("0", {2}).output("1", {2});
  const DumpIndex target = a.index(), golden = b.index();
  CHECK(item_lines(target, golden, pairs_of(target, golden)) ==
        Lines{"Torch.f.0.forward.input.0 | Torch.f.0.forward.input.0 | exact",
              "- | Torch.f.0.forward.input.1 | only_golden",
              "Torch.f.0.forward.output.0 | Torch.f.0.forward.output.0 | exact",
              "- | Torch.f.0.forward.output.1 | only_golden"});
}

TEST_CASE("names are taken apart from the right") {
  const auto parsed = [](std::string_view name) {
    const ParsedName p = parse_name(name);
    return std::string(p.stem) + " " + std::to_string(p.call) +
           (p.phase == Phase::forward    ? " forward"
            : p.phase == Phase::backward ? " backward"
                                         : "");
  };
  CHECK(parsed("Torch.matmul.2.forward") == "Torch.matmul 2 forward");
  CHECK(parsed("Module.layers.0.feed_forward.w1.Linear.forward.3") ==
        "Module.layers.0.feed_forward.w1.Linear 3 forward");
  CHECK(parsed("Module.a.forward.B.backward.0") == "Module.a.forward.B 0 backward");
  CHECK(parsed("Module.a.B.parameters_grad") == "Module.a.B -1 backward");
  CHECK(parsed("Module.a.B.parameters_grad.2") == "Module.a.B 2 backward");
  CHECK(parsed("x_grad.1.debug") == "x_grad 1");
  CHECK(parsed("Torch.f.01.forward") == "Torch.f.01.forward -1");
  CHECK(parsed("forward") == "forward -1");
  CHECK(parsed("0.forward") == "0.forward -1");
  CHECK(parsed("") == " -1");
}
