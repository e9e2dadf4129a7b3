#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "locate/evidence.hpp"
#include "script.hpp"

namespace ulpscope {
namespace {

using namespace test;

TEST_CASE("localise: equal dumps are identical") {
  Script script;
  add_witnesses(script);
  const Outcome outcome = run(script, script);
  CHECK(outcome.table.localisation.verdict == "identical");
  CHECK(outcome.table.localisation.culprits.empty());
}

TEST_CASE(
    "localise: the first call with equal inputs and another output is the culprit, what follows inherits") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, bad ? "X5" : "a5");
    side->call("Torch.softmax.1.forward", {bad ? "X5" : "a5"}, bad ? "X6" : "a6");
    side->call("Torch.matmul.2.forward", {bad ? "X6" : "a6", "w2"}, bad ? "X7" : "a7");
  }
  const Outcome outcome = run(target, golden);
  const Localisation& found = outcome.table.localisation;
  CHECK(found.verdict == "compute_fault");
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "compute_fault Torch.matmul.1.forward output.0 step 0 rank 0");
  CHECK(found.culprits[0].confidence == "certain");
  CHECK(found.propagated == 4);
}

TEST_CASE("localise: an input names the row of the output that it came from, an external one none") {
  Script script;
  script.call("Torch.matmul.0.forward", {"a1", "w1"}, "a2");
  script.call("Torch.softmax.0.forward", {"a2"}, "a3");
  const Outcome outcome = run(script, script);
  const std::vector<ResultRow>& rows = outcome.table.rows;
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].producer == -1);
  CHECK(rows[1].producer == -1);
  CHECK(rows[3].producer == 2);
  CHECK(rows[4].producer == -1);
}

TEST_CASE("localise: an input that no call produced is the fault, however many calls read it") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const std::string table = side == &target ? "T" : "t";
    const std::string mark = side == &target ? "X" : "a";
    add_witnesses(*side);
    side->call("Torch.mul.0.forward", {"a4", table}, mark + "5");
    side->call("Torch.mul.1.forward", {"a3", table}, mark + "6");
  }
  const Outcome outcome = run(target, golden);
  const Localisation& found = outcome.table.localisation;
  CHECK(found.verdict == "input_fault");
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "input_fault Torch.mul.0.forward input.1 step 0 rank 0");
}

TEST_CASE("localise: a weight that another call of golden reads is told with that call") {
  const auto reason_of = [](const char* first, const char* second) {
    Script target, golden;
    for (Script* side : {&target, &golden}) add_witnesses(*side);
    golden.call("Functional.linear.0.forward", {"a4", "w1"}, "b0");
    golden.call("Functional.linear.1.forward", {"b0", "w2"}, "b1");
    target.call("Functional.linear.0.forward", {"a4", first}, "X0");
    target.call("Functional.linear.1.forward", {"X0", second}, "X1");
    const Localisation found = run(target, golden).table.localisation;
    REQUIRE(found.culprits.size() == 1);
    CHECK(found.culprits[0].op_name == "Functional.linear.0.forward");
    CHECK(found.culprits[0].tensor == "input.1");
    REQUIRE(found.culprits[0].evidence[0].first == "reason");
    return found.culprits[0].evidence[0].second;
  };
  const std::string outside = "no recorded operation produced this input, and it differs";
  const std::string there = "; target reads here what golden reads as input.1 of Functional.linear.1.forward";
  CHECK(reason_of("w2", "w1") ==
        outside + there + ", and there what golden reads here: the two were exchanged");
  CHECK(reason_of("w2", "w2") == outside + there);
  CHECK(reason_of("w3", "w2") == outside);
}

TEST_CASE("localise: a wrong weight behind a fault is a second culprit, a value of the run is not") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, bad ? "X5" : "a5");
    // Through something that was not recorded: another content on both sides, and no producer.
    side->call("Torch.softmax.1.forward", {bad ? "X6" : "a6"}, bad ? "X7" : "a7");
    side->call("Functional.linear.0.forward", {"a3", bad ? "W" : "w"}, bad ? "X8" : "a8");
  }
  const Outcome outcome = run(target, golden);
  const Localisation& found = outcome.table.localisation;
  REQUIRE(found.culprits.size() == 2);
  CHECK(found.culprits[0].op_name == "Torch.matmul.1.forward");
  CHECK(found.culprits[1].op_name == "Functional.linear.0.forward");
  CHECK(found.culprits[1].tensor == "input.1");
}

TEST_CASE("localise: of a module and the call inside it the call is named, and the module is its place") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const std::string out = side == &target ? "X5" : "a5";
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, out);
    const uint32_t inner = side->dump.last();
    side->call("Module.model.attn.Attention.forward.0", {"a4"}, out);
    side->dump.records()[inner].first.parent = side->dump.last();
  }
  const Outcome outcome = run(target, golden);
  const Localisation& found = outcome.table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits[0].op_name == "Torch.matmul.1.forward");
  CHECK(found.culprits[0].module == "Module.model.attn.Attention.forward.0");
  CHECK(found.culprits[0].next[0].starts_with("dump its tensors on both sides: \"task\": \"tensor\", "));
}

TEST_CASE("localise: a module at fault without its inside says how to dump that") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    add_witnesses(*side);
    side->call("Module.fc.Linear.forward.0", {"a4"}, side == &target ? "X" : "b0");
  }
  const Localisation found = run(target, golden).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  REQUIRE(found.culprits[0].next.size() == 1);
  CHECK(found.culprits[0].next[0] ==
        "dump what is inside it on both sides: \"level\": \"mix\", \"task\": \"tensor\", \"step\": [0], "
        "\"rank\": [0], \"list\": [\"Module.fc.Linear.forward.0\"]");
}

TEST_CASE("localise: a collective is not blamed for what another rank brought in") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    for (const int32_t rank : {0, 1}) {
      side->at(0, rank);
      add_witnesses(*side);
      const std::string mine = rank == 1 && bad ? "X5" : "a5";
      side->call("Torch.matmul.1.forward", {"a4", "w1"}, mine);
      side->call("Distributed.all_reduce.0.forward", {mine}, bad ? "X6" : "a6");
    }
  }
  const Outcome outcome = run(target, golden);
  const Localisation& found = outcome.table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "compute_fault Torch.matmul.1.forward output.0 step 0 rank 1");
}

TEST_CASE("localise: the same fault in a later step is a culprit of its own, a cached value is not") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    for (const int32_t step : {0, 1}) {
      side->at(step, 0);
      add_witnesses(*side);
      side->call("Torch.matmul.1.forward", {"a4", "w1"}, bad ? "X5" : "a5");
      // Step 1 reads a cache that holds what step 0 made.
      side->call("Torch.softmax.1.forward",
                 {step == 0 ? "a3"
                  : bad     ? "C"
                            : "c"},
                 step == 0 ? "a6"
                 : bad     ? "X7"
                           : "a7");
    }
  }
  const Outcome outcome = run(target, golden);
  const Localisation& found = outcome.table.localisation;
  REQUIRE(found.culprits.size() == 2);
  CHECK(found.culprits[0].step == 0);
  CHECK(found.culprits[1].step == 1);
  CHECK(found.culprits[1].op_name == "Torch.matmul.1.forward");
}

TEST_CASE("localise: a call that only the target has leaves the verdict structure_only") {
  Script target, golden;
  add_witnesses(target);
  target.call("Functional.dropout.0.forward", {"a4"}, "a4");
  add_witnesses(golden);
  for (Script* side : {&target, &golden}) side->call("Torch.matmul.1.forward", {"a4", "w1"}, "a5");
  const Outcome outcome = run(target, golden);
  CHECK(outcome.table.localisation.verdict == "structure_only");
  CHECK(outcome.table.localisation.culprits.empty());
}

bool says(const Localisation& found, const std::string& text) {
  return std::any_of(found.notes.begin(), found.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

TEST_CASE("localise: an output that one side did not record is no equal one") {
  Script target, golden;
  for (Script* side : {&target, &golden}) add_witnesses(*side);
  target.op("Functional.linear.0.forward", {known(Role::input, "0", "a4")});
  golden.call("Functional.linear.0.forward", {"a4"}, "b0");
  const Localisation found = run(target, golden).table.localisation;
  CHECK(found.verdict == "structure_only");
  CHECK(says(found, "first Functional.linear.0.forward output.0"));
}

TEST_CASE("localise: the last call of the target without a partner is told") {
  Script target, golden;
  for (Script* side : {&target, &golden}) add_witnesses(*side);
  target.call("Torch.addmm.0.forward", {"a4"}, "X");
  golden.call("Functional.linear.0.forward", {"a4"}, "b0");
  const Localisation found = run(target, golden).table.localisation;
  CHECK(found.verdict == "structure_only");
  CHECK(says(found, "Torch.addmm.0.forward, the last call of step 0, has no partner"));
}

TEST_CASE("localise: steps and ranks that one side has alone are told with their rows") {
  Script target, golden;
  for (const auto& [step, rank] : std::vector<std::pair<int, int>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}})
    target.at(step, rank).call("Torch.add.0.forward", {"a0"}, "a1");
  for (const auto& [step, rank] :
       std::vector<std::pair<int, int>>{{0, 0}, {0, 7}, {1, 0}, {1, 1}, {1, 7}, {2, 0}, {3, 0}, {3, 7}})
    golden.at(step, rank).call("Torch.add.0.forward", {"a0", "b"}, "a1");
  const Localisation found = run(target, golden).table.localisation;
  CHECK(found.notes ==
        std::vector<std::string>{"step 0 rank 1 is only in target: its 2 rows were not compared",
                                 "steps 2, 3 are only in golden: their 9 rows were not compared",
                                 "rank 7 is only in golden: its 6 rows were not compared"});
}

TEST_CASE("localise: many lone steps are told as ranges, and not without end") {
  const auto note_of = [](const std::vector<int>& steps) {
    Script target, golden;
    for (Script* side : {&target, &golden}) side->at(1000, 0).call("Torch.add.0.forward", {"a0"}, "a1");
    for (const int step : steps) golden.at(step, 0).call("Torch.add.0.forward", {"a0"}, "a1");
    const Localisation found = run(target, golden).table.localisation;
    return found.notes.size() == 1 ? found.notes[0] : "";
  };
  CHECK(note_of({0, 1, 2, 5, 7, 8}) ==
        "steps 0-2, 5, 7, 8 are only in golden: their 12 rows were not compared");
  std::vector<int> apart(21);
  for (size_t i = 0; i < apart.size(); ++i) apart[i] = static_cast<int>(2 * i);
  CHECK(note_of(apart) ==
        "steps 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, … (21 in all) are "
        "only "
        "in golden: their 42 rows were not compared");
}

TEST_CASE("localise: NaN on both sides is equal, and told") {
  Script side;
  TensorRecord result = measured(Role::output, "0", 1);
  result.stats.max = result.stats.min = result.stats.mean = result.stats.l2norm = std::nan("");
  side.op("Functional.linear.0.forward", {measured(Role::input, "0", 1), result});
  const Localisation found = run(side, side).table.localisation;
  CHECK(found.verdict == "identical");
  CHECK(says(found, "NaN on both sides in 1 output, first Functional.linear.0.forward output.0"));
}

TEST_CASE("localise: what uninitialised memory holds is no fault") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    add_witnesses(*side);
    side->call("Torch.empty.0.forward", {"s"}, side == &target ? "X" : "a");
  }
  CHECK(run(target, golden).table.localisation.culprits.empty());
}

TEST_CASE("localise: a culprit is raised to fail and its row says so") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, side == &target ? "X5" : "a5");
  }
  const Outcome outcome = run(target, golden);
  const ResultRow& row = outcome.table.rows[static_cast<size_t>(outcome.table.localisation.culprits[0].row)];
  CHECK(row.cause == Cause::culprit);
  CHECK(row.verdict == Verdict::fail);
}

TEST_CASE("evidence: a position becomes a place in the shape") {
  const std::vector<int64_t> shape = {2, 5, 5};
  CHECK(unravel(36, shape) == std::vector<int64_t>{1, 2, 1});
  CHECK(unravel(0, std::vector<int64_t>{}).empty());
}

TEST_CASE("evidence: names are quoted for a shell only where they must be") {
  CHECK(shell_word("Torch.matmul.2.forward") == "Torch.matmul.2.forward");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("").size() == 2);
}

TEST_CASE("priors: mistakes are named with line and column") {
  const auto broken = parse_priors("format_constant: [1]\n");
  REQUIRE(!broken.ok());
  CHECK(broken.error().message == "priors.yaml:1:18: format_constant: expected a positive number");
  REQUIRE(load_priors().ok());
  CHECK(load_priors()->kappa("no_such_operation") == load_priors()->other_kappa);
}

}  // namespace
}  // namespace ulpscope
