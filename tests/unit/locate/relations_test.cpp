// Faults beyond the data flow of one step: other ranks, earlier steps, statistics that show nothing, and the
// noise between two golden runs.
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "script.hpp"

namespace ulpscope {
namespace {

using namespace test;

// Linear calls whose statistics are off by errors[i] after inputs that are off by input_error: the input of
// the next call is one of its own, so that no error is passed on.
Script linears(const std::vector<double>& errors, double input_error = 0) {
  Script script;
  for (size_t i = 0; i < errors.size(); ++i) {
    const double rms = 1 + 0.1 * static_cast<double>(i);
    script.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", rms * (1 + input_error)),
               measured(Role::output, "0", 2 * rms * (1 + errors[i]))});
  }
  return script;
}

NoiseFloor noise_of(const Script& twin, const Script& golden) {
  const DumpIndex a = twin.dump.index(), b = golden.dump.index();
  ResultTable table;
  measure_pair(table, a, b);
  ThreadPool pool(1);
  return noise_floor(table, pool);
}

}  // namespace

TEST_CASE("localise: a collective is not at fault for what another rank brings, even a rank judged later") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, "p0");
    side->call("Distributed.all_reduce.0.forward", {"p0"}, bad ? "S" : "s");
    side->at(0, 1);
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, bad ? "P1" : "p1");
    side->call("Distributed.all_reduce.0.forward", {bad ? "P1" : "p1"}, bad ? "S" : "s");
  }
  const Outcome outcome = run(target, golden);
  const Localisation& found = outcome.table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "compute_fault Torch.matmul.1.forward output.0 step 0 rank 1");
}

TEST_CASE("localise: a collective without the other ranks' records is a weak culprit only") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, "p0");
    side->call("Distributed.all_reduce.0.forward", {"p0"}, side == &target ? "S" : "s");
  }
  const Outcome outcome = run(target, golden);
  REQUIRE(outcome.table.localisation.culprits.size() == 1);
  CHECK(outcome.table.localisation.culprits[0].confidence == "weak");
}

TEST_CASE("localise: what a call without a partner passes on is inherited") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, bad ? "X5" : "a5");
    side->call(bad ? "Torch.bmm.0.forward" : "Torch.baddbmm.0.forward", {bad ? "X5" : "a5"},
               bad ? "X6" : "a6");
    side->call("Torch.mul.0.forward", {bad ? "X6" : "a6"}, bad ? "X7" : "a7");
  }
  const Outcome outcome = run(target, golden);
  REQUIRE(outcome.table.localisation.culprits.size() == 1);
  CHECK(outcome.table.localisation.culprits[0].op_name == "Torch.matmul.1.forward");
}

TEST_CASE("localise: a checksum that a call of the target alone changed is a fault, rounding or not") {
  const auto script = [](bool shifts) {
    Script side;
    side.call("Torch.arange.0.forward", {}, "positions");
    if (shifts) side.call("Tensor.__add__.0.forward", {"positions"}, "shifted");
    side.call("Tensor.unsqueeze.0.forward", {shifts ? "shifted" : "positions"}, shifts ? "s1" : "p1");
    return side;
  };
  const Localisation found = run(script(true), script(false)).table.localisation;
  CHECK(first(found) == "input_fault Tensor.unsqueeze.0.forward input.0 step 0 rank 0");
}

TEST_CASE("localise: a call without a partner may pass on a cache that no recorded call gave") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, bad ? "X5" : "a5");
    side->at(1, 0);
    add_witnesses(*side);
    // The cache holds what step 0 gave, in another layout.
    side->call(bad ? "Torch.bmm.0.forward" : "Torch.baddbmm.0.forward", {"a4", bad ? "C" : "c"},
               bad ? "X6" : "a6");
    side->call("Torch.mul.0.forward", {bad ? "X6" : "a6"}, bad ? "X7" : "a7");
  }
  const Outcome outcome = run(target, golden);
  REQUIRE(outcome.table.localisation.culprits.size() == 1);
  CHECK(outcome.table.localisation.culprits[0].op_name == "Torch.matmul.1.forward");
}

TEST_CASE("localise: an output of the step before that comes back as an input is known by its content") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    add_witnesses(*side);
    side->call("Torch.matmul.1.forward", {"a4", "w1"}, bad ? "K" : "k");
    side->at(1, 0);
    add_witnesses(*side);
    side->call("Torch.cat.0.forward", {bad ? "K" : "k"}, bad ? "K2" : "k2");
  }
  const Outcome outcome = run(target, golden);
  CHECK(outcome.table.localisation.culprits.size() == 1);
  const OpId cat = static_cast<OpId>(outcome.target.ops().size() - 1);
  const ItemId input = outcome.target.ops()[cat].first_item;
  const DataFlow flow(outcome.target, {});
  REQUIRE(flow.producer(input) != kNoIndex);
  CHECK(outcome.target.ops()[outcome.target.items()[flow.producer(input)].op].step == 0);
}

TEST_CASE("localise: statistics of masked values that agree prove nothing") {
  const double infinity = std::numeric_limits<double>::infinity();
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    for (int i = 0; i < 3; ++i)
      side->op("Functional.linear." + std::to_string(i) + ".forward",
               {measured(Role::input, "0", 1 + i), measured(Role::output, "0", 2 + i)});
    TensorRecord masked = measured(Role::input, "0", 1);
    masked.stats.min = masked.stats.mean = -infinity;
    masked.stats.l2norm = infinity;
    side->op("Functional.softmax.0.forward",
             {masked, measured(Role::output, "0", side == &target ? 0.3 : 0.25)});
  }
  const Localisation found = run(target, golden).table.localisation;
  CHECK(found.verdict == "inconclusive");
  CHECK(found.culprits.empty());
  REQUIRE(!found.notes.empty());
  CHECK(found.notes[0].find("Functional.softmax.0.forward") != std::string::npos);
}

TEST_CASE("localise: NaN that appears behind masked scores would have shown in them") {
  const double infinity = std::numeric_limits<double>::infinity();
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    for (int i = 0; i < 3; ++i)
      side->op("Functional.linear." + std::to_string(i) + ".forward",
               {measured(Role::input, "0", 1 + i), measured(Role::output, "0", 2 + i)});
    TensorRecord masked = measured(Role::input, "0", 1), result = measured(Role::output, "0", 0.25);
    masked.stats.min = masked.stats.mean = -infinity;
    masked.stats.l2norm = infinity;
    if (side == &target)
      result.stats.max = result.stats.min = result.stats.mean = result.stats.l2norm = std::nan("");
    side->op("Functional.softmax.0.forward", {masked, result});
  }
  const Localisation found = run(target, golden).table.localisation;
  CHECK(first(found) == "compute_fault Functional.softmax.0.forward output.0 step 0 rank 0");
  CHECK(found.culprits[0].confidence == "strong");
}

TEST_CASE("localise: equal statistics of truth values do not say what was picked by them") {
  const auto script = [](int64_t rows) {
    Script side;
    for (int i = 0; i < 3; ++i)
      side.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", 1 + i), measured(Role::output, "0", 2 + i)});
    TensorRecord truth = measured(Role::input, "0", 1), index = measured(Role::output, "0", 3);
    truth.dtype = DType::b8;
    truth.stats.present = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN;
    index.dtype = DType::i64;
    index.shape = {rows, 2};
    side.op("Tensor.nonzero.0.forward", {truth, index});
    return side;
  };
  const Localisation found = run(script(5), script(7)).table.localisation;
  CHECK(found.verdict == "inconclusive");
  CHECK(found.culprits.empty());
}

TEST_CASE("localise: weights that were trained with a wrong gradient are no further faults") {
  const auto script = [](const char* gradient, const char* weight) {
    Script side;
    add_witnesses(side);
    side.call("Torch.matmul.0.backward", {"l0"}, gradient);
    side.at(1, 0);
    side.call("Functional.linear.0.forward", {"x1", weight}, std::string("y") + weight);
    return side;
  };
  const Localisation found = run(script("G", "W"), script("g", "w")).table.localisation;
  CHECK(first(found) == "compute_fault Torch.matmul.0.backward output.0 step 0 rank 0");
  CHECK(found.culprits.size() == 1);
}

TEST_CASE("localise: in a group of four only a distant outlier is a culprit") {
  const Script golden = linears({0, 0, 0, 0, 0});
  // The kind of operation alone would allow 1.5e-5.
  CHECK(run(linears({2e-7, 3e-7, 4e-7, 2e-7, 2e-6}, 2e-7), golden).table.localisation.verdict == "rounding");
  const Localisation found = run(linears({2e-7, 3e-7, 4e-7, 2e-7, 1e-5}, 2e-7), golden).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits[0].op_name == "Functional.linear.4.forward");
}

TEST_CASE("localise: what two golden runs differ by is no fault, and what leaves that is one") {
  const std::vector<double> usual = {3e-7, 2e-4, 4e-7, 2e-7, 3e-7, 5e-7};
  const Script golden = linears({0, 0, 0, 0, 0, 0});
  const NoiseFloor noise = noise_of(linears(usual), golden);
  // Without the noise the second call stands out.
  REQUIRE(run(linears({2e-7, 1e-4, 3e-7, 3e-7, 2e-7, 4e-7}), golden).table.localisation.culprits.size() == 1);
  CHECK(run(linears({2e-7, 1e-4, 3e-7, 3e-7, 2e-7, 4e-7}), golden, &noise).table.localisation.verdict ==
        "rounding");
  const Localisation found =
      run(linears({2e-7, 1e-4, 3e-7, 5e-6, 2e-7, 4e-7}), golden, &noise).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits[0].op_name == "Functional.linear.3.forward");
}

}  // namespace ulpscope
