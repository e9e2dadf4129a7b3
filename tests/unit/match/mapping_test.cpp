#include "match/mapping.hpp"

#include <string>

#include "match_support.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;
using namespace ulpscope::test;

namespace {

using Loader = Status (*)(const std::string&, Mapping&);

// The message without the folder in front.
std::string failure(Loader load_file, const std::string& content) {
  const TempFolder folder;
  Mapping mapping;
  const Status status = load_file(folder.write("rules.yaml", content), mapping);
  if (status.ok()) return "no error";
  CHECK(status.error().code == Code::usage);
  return status.error().message.substr(folder.path().size() + 1);
}

Mapping loaded(Loader load_file, const std::string& content) {
  const TempFolder folder;
  Mapping mapping;
  const Status status = load_file(folder.write("rules.yaml", content), mapping);
  if (!status.ok()) FAIL(status.error().message);
  return mapping;
}

std::string data_file(const std::string& name) {
  return std::string(ULPSCOPE_TEST_DATA) + "/match/match/" + name;
}

PairList mapped(const DumpIndex& target, const DumpIndex& golden, const Mapping& mapping) {
  MatchOptions options;
  options.mapping = &mapping;
  return pairs_of(target, golden, options);
}

}  // namespace

TEST_CASE("data mapping: the rows of the peer's table pair") {
  const DumpIndex target = load("match/target"), golden = load("match/golden");
  Mapping mapping;
  REQUIRE(load_data_mapping(data_file("data_mapping.yaml"), mapping).ok());
  const PairList pairs = mapped(target, golden, mapping);
  const Lines items = item_lines(target, golden, pairs);
  CHECK(holds(items, "NPU.npu_add.0.forward.input.0 | Torch.add.5.forward.input.0 | mapped"));
  CHECK(holds(items, "NPU.npu_add.0.forward.input.alpha | Torch.add.5.forward.input.alpha | mapped"));
  CHECK(holds(items, "NPU.npu_add.0.forward.output.0 | Torch.add.5.forward.output.0 | mapped"));
  CHECK(holds(op_lines(target, golden, pairs), "NPU.npu_add.0.forward | Torch.add.5.forward | mapped"));
  CHECK(count_how(pairs, MatchKind::mapped) == 1);
  CHECK(pairs.notices.empty());
}

TEST_CASE("cell mapping: modules, their backward entries and gradients pair") {
  const DumpIndex target = load("match/target"), golden = load("match/golden");
  for (const std::string file : {"cell_mapping.yaml", "cell_mapping_substring.yaml"}) {
    CAPTURE(file);
    Mapping mapping;
    REQUIRE(load_cell_mapping(data_file(file), mapping).ok());
    const PairList pairs = mapped(target, golden, mapping);
    const Lines ops = op_lines(target, golden, pairs), items = item_lines(target, golden, pairs);
    CHECK(holds(ops, "Module.fc1.NpuLinear.forward.0 | Module.dense1.Linear.forward.0 | mapped"));
    CHECK(holds(ops, "Module.fc1.NpuLinear.backward.0 | Module.dense1.Linear.backward.0 | mapped"));
    CHECK(holds(ops,
                "Module.fc1.NpuLinear.parameters_grad.0 | Module.dense1.Linear.parameters_grad.0 | mapped"));
    CHECK(holds(items,
                "Module.fc1.NpuLinear.parameters_grad.0.gradient.bias | "
                "Module.dense1.Linear.parameters_grad.0.gradient.bias | mapped"));
    CHECK(holds(ops, "NPU.npu_add.0.forward | - | only_target"));
    CHECK(count_how(pairs, MatchKind::mapped) == 3);
  }
}

TEST_CASE("data mapping: kwargs and input name one argument, parameters and gradients by the dump's words") {
  MemoryDump a, b;
  a.op("Module.x.Y.forward.0").tensor(Role::parameter, "weight", {2}).tensor(Role::kwarg, "mask", {4});
  a.op("Module.x.Y.parameters_grad.0").tensor(Role::gradient, "weight", {2});
  b.op("Module.z.Y.forward.0").tensor(Role::parameter, "w", {2}).tensor(Role::kwarg, "m", {4});
  b.op("Module.z.Y.parameters_grad.0").tensor(Role::gradient, "w", {2});
  const DumpIndex target = a.index(), golden = b.index();
  const Mapping mapping = loaded(load_data_mapping,
                                 "Module.x.Y.forward.0.parameters.weight: Module.z.Y.forward.0.parameters.w\n"
                                 "Module.x.Y.forward.0.kwargs.mask: Module.z.Y.forward.0.input.m\n"
                                 "Module.x.Y.parameters_grad.0.weight: Module.z.Y.parameters_grad.0.w\n");
  const PairList pairs = mapped(target, golden, mapping);
  CHECK(
      item_lines(target, golden, pairs) ==
      Lines{
          "Module.x.Y.forward.0.input.mask | Module.z.Y.forward.0.input.m | mapped",
          "Module.x.Y.forward.0.parameter.weight | Module.z.Y.forward.0.parameter.w | mapped",
          "Module.x.Y.parameters_grad.0.gradient.weight | Module.z.Y.parameters_grad.0.gradient.w | mapped"});
}

TEST_CASE("data mapping: one row goes to another call, the others stay with the namesake") {
  MemoryDump a, b;
  a.op("Torch.f.0.forward").input("0", {2}).output("0", {2});
  b.op("Torch.f.0.forward").input("0", {2}).output("0", {2});
  b.op("Torch.g.0.forward").output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  const Mapping mapping =
      loaded(load_data_mapping, "Torch.f.0.forward.output.0: Torch.g.0.forward.output.0\n");
  const PairList pairs = mapped(target, golden, mapping);
  CHECK(item_lines(target, golden, pairs) ==
        Lines{"Torch.f.0.forward.input.0 | Torch.f.0.forward.input.0 | exact",
              "Torch.f.0.forward.output.0 | Torch.g.0.forward.output.0 | mapped",
              "- | Torch.f.0.forward.output.0 | only_golden"});
}

TEST_CASE("api mapping: calls and their arguments") {
  MemoryDump a, b;
  a.op("Functional.addn.0.forward").input("0", {2}).input("1", {3}).output("0", {2});
  b.op("Torch.sum_of.4.forward").input("0", {3}).input("1", {2}).output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  const Mapping mapping = loaded(load_api_mapping,
                                 "- ms_api: Functional.addn\n  pt_api: Torch.sum_of\n"
                                 "  ms_args: [0, 1]\n  pt_args: [1, 0]\n");
  const PairList pairs = mapped(target, golden, mapping);
  CHECK(item_lines(target, golden, pairs) ==
        Lines{"Functional.addn.0.forward.input.0 | Torch.sum_of.4.forward.input.1 | mapped",
              "Functional.addn.0.forward.input.1 | Torch.sum_of.4.forward.input.0 | mapped",
              "Functional.addn.0.forward.output.0 | Torch.sum_of.4.forward.output.0 | mapped"});
}

TEST_CASE("layer mapping: children of container classes, whatever their own class") {
  MemoryDump a, b;
  a.op("Cell.network.blocks.0.attention.dense.Dense.forward.0").output("0", {2});
  a.op("Cell.network.blocks.0.Block.forward.0").output("0", {2});
  a.op("Cell.network.Net.forward.0").output("0", {2});
  b.op("Module.module.layers.0.self_attn.o_proj.Linear.forward.0").output("0", {2});
  b.op("Module.module.layers.0.Layer.forward.0").output("0", {2});
  b.op("Module.module.Model.forward.0").output("0", {2});
  const DumpIndex target = a.index(), golden = b.index();
  const Mapping mapping = loaded(load_layer_mapping,
                                 "TopLayer:\n  network: module\n"
                                 "Net:\n  blocks: layers(ModuleList)\n"
                                 "Block:\n  attention.dense: self_attn.o_proj\n");
  const PairList pairs = mapped(target, golden, mapping);
  CHECK(count_how(pairs, MatchKind::mapped) == 3);
  CHECK(holds(op_lines(target, golden, pairs),
              "Cell.network.blocks.0.attention.dense.Dense.forward.0 | "
              "Module.module.layers.0.self_attn.o_proj.Linear.forward.0 | mapped"));
}

TEST_CASE("mapping file: captured numbers lead from layers to modules") {
  MemoryDump a("mindie_atb"), b;
  for (const std::string n : {"2", "3"}) a.op(n + "_Prefill_layer").output("0", {2, 3});
  for (const std::string n : {"0", "1"})
    b.op("Module.model.layers." + n + ".Layer.forward.0").output("0.hidden", {2, 3});
  const DumpIndex target = a.index(), golden = b.index();
  // The phases differ: a layer has none.
  for (auto& [op, tensors] : b.records()) op.phase = Phase::none;
  const DumpIndex plain = b.index();
  const Mapping mapping = loaded(load_mapping,
                                 "ops:\n  \"{n}_Prefill_layer\": \"Module.model.layers.{n-2}.*\"\n"
                                 "items:\n  \"{n}_Prefill_layer\":\n    output.0: output.0.hidden\n");
  for (const DumpIndex* side : {&golden, &plain}) {
    const PairList pairs = mapped(target, *side, mapping);
    CHECK(item_lines(target, *side, pairs) ==
          Lines{"2_Prefill_layer.output.0 | Module.model.layers.0.Layer.forward.0.output.0.hidden | mapped",
                "3_Prefill_layer.output.0 | Module.model.layers.1.Layer.forward.0.output.0.hidden | mapped"});
  }
}

TEST_CASE("mapping file: of several calls those of equal shapes pair when the counts differ") {
  MemoryDump a, b;
  a.op("NPU.swiglu.0.forward").output("0", {9});
  a.op("NPU.swiglu.1.forward").output("0", {4});
  a.op("NPU.swiglu.2.forward").output("0", {5});
  b.op("Functional.silu.0.forward").output("0", {4});
  b.op("Functional.silu.1.forward").output("0", {5});
  const DumpIndex target = a.index(), golden = b.index();
  const PairList pairs =
      mapped(target, golden, loaded(load_mapping, "ops: {\"NPU.swiglu.*\": \"Functional.silu.*\"}"));
  CHECK(op_lines(target, golden, pairs) ==
        Lines{"NPU.swiglu.0.forward | - | only_target",
              "NPU.swiglu.1.forward | Functional.silu.0.forward | mapped",
              "NPU.swiglu.2.forward | Functional.silu.1.forward | mapped"});
}

TEST_CASE("a rule that finds nothing is a notice with its place") {
  MemoryDump a;
  a.op("Torch.f.0.forward").output("0", {2});
  const DumpIndex target = a.index(), golden = a.index();
  const Mapping mapping = loaded(load_mapping, "ops:\n  Torch.gone.*: Torch.f.*\n");
  const PairList pairs = mapped(target, golden, mapping);
  REQUIRE(pairs.notices.size() == 1);
  CHECK(pairs.notices[0].find("rules.yaml:2:3: the rule for \"Torch.gone.*\" found nothing to pair") !=
        std::string::npos);
  CHECK(count_how(pairs, MatchKind::exact) == 1);
}

TEST_CASE("mapping files that are wrong are refused with file, line and column") {
  CHECK(failure(load_data_mapping, "") == "rules.yaml: the file is empty, expected mapping rules");
  CHECK(failure(load_data_mapping, "- a\n") == "rules.yaml:1:1: expected lines of the form  name: name");
  CHECK(failure(load_data_mapping, "a: b\na: c\n") == "rules.yaml:2:1: \"a\" stands twice");
  CHECK(failure(load_data_mapping, "a: [b]\n") == "rules.yaml:1:4: expected a name for \"a\"");
  CHECK(failure(load_data_mapping, "[a]: b\n") == "rules.yaml:1:1: expected a name before the colon");
  CHECK(failure(load_data_mapping, "a: b: c\n").find("rules.yaml:1:5: not YAML: ") == 0);
  CHECK(failure(load_api_mapping, "a: b\n") == "rules.yaml:1:1: expected a list of APIs");
  CHECK(failure(load_api_mapping, "- ms_api: a\n") == "rules.yaml:1:3: expected both ms_api and pt_api");
  CHECK(failure(load_api_mapping, "- {ms_api: a, pt_api: b, ms_args: [0], pt_args: []}\n") ==
        "rules.yaml:1:3: ms_args has 1 arguments and pt_args has 0, expected as many");
  CHECK(failure(load_api_mapping, "- {ms_api: a, pt_api: b, ms_args: 0, pt_args: 0}\n") ==
        "rules.yaml:1:35: expected a list of arguments");
  CHECK(failure(load_api_mapping, "- {ms_api: a, pt_api: b, ms_args: [[]], pt_args: [0]}\n") ==
        "rules.yaml:1:36: expected the number or name of an argument");
  CHECK(failure(load_api_mapping, "- {ms_api: a, pt_api: b, args: []}\n") ==
        "rules.yaml:1:26: \"args\" is not known, expected ms_api, pt_api or lists like ms_args and pt_args");
  CHECK(failure(load_layer_mapping, "A: b\n") == "rules.yaml:1:4: expected lines of the form  name: name");
  CHECK(failure(load_mapping, "rules: {}\n") ==
        "rules.yaml:1:1: \"rules\" is not known, expected ops or items");
  CHECK(failure(load_mapping, "ops: {\"a{n\": b}\n") == "rules.yaml:1:7: '{' without '}' in \"a{n\"");
  CHECK(failure(load_mapping, "ops: {\"a\": \"{n}\"}\n") == "rules.yaml:1:7: {n} is not in \"a\"");
  CHECK(failure(load_mapping, "ops: {\"{n*2}\": b}\n") ==
        "rules.yaml:1:7: {n*2} in \"{n*2}\": expected a name, with + or - a number after it, and at most 16 "
        "of them");
  CHECK(failure(load_mapping, "items: {a: {inputs: output.0}}\n") ==
        "rules.yaml:1:13: \"inputs\" is no item, expected input, output, parameter or gradient, a dot and a "
        "number or "
        "name");
}

TEST_CASE("a mapping file that is not there is an io error") {
  const TempFolder folder;
  Mapping mapping;
  const Status status = load_mapping(folder / "none.yaml", mapping);
  REQUIRE(!status.ok());
  CHECK(status.error().code == Code::io);
}

TEST_CASE("patterns: wildcards, captures and their limits") {
  const auto matches = [](const std::string& pattern, const std::string& name) {
    return NamePattern::parse(pattern).value().match(name).has_value();
  };
  CHECK(matches("Torch.*.forward", "Torch.add.0.forward"));
  CHECK(!matches("Torch.*.forward", "Torch.add.0.backward"));
  CHECK(matches("a?c", "abc"));
  CHECK(!matches("a?c", "ac"));
  CHECK(matches("{n}.{n}", "12.12"));
  CHECK(!matches("{n}.{n}", "12.13"));
  CHECK(!matches("{n}", "99999999999999999999"));  // beyond 64 bits
  CHECK(matches("*{n}", "layer12"));
  const auto captures = NamePattern::parse("{n+1}_x").value().match("5_x");
  REQUIRE(captures.has_value());
  CHECK(NamePattern::parse("y{n}.{n-1}").value().with(*captures)->text() == "y4.3");
  CHECK(!NamePattern::parse("y{n-9}").value().with(*captures).has_value());  // below 0
  // Many wildcards against a long name end in bounded time.
  CHECK(!matches("*a*a*a*a*a*a*a*a*a*b", std::string(4000, 'a')));
}
