// Faults that single differences do not show: operands taken from elsewhere, gradients without inputs, and
// what the calls beside one tell of it.
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "script.hpp"

namespace ulpscope {
namespace {

using namespace test;

// Content of one side: "x3" of golden, "X3" of a target that rounds otherwise.
std::string name_of(const Script& side, const Script& target, const std::string& what) {
  return (&side == &target ? "T" : "g") + what;
}

// Calls of one type with equal inputs, each giving another result on the target.
void add_calls(Script& side, const Script& target, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    side.call("Torch.matmul." + number + ".forward", {"m" + number, "n" + number},
              name_of(side, target, "m" + number));
  }
}

Script backward_pass(double weight_error, double recorded_error) {
  Script script;
  const double u = 0x1p-24;
  for (int i = 0; i < 5; ++i)
    script.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", 1 + i), measured(Role::output, "0", (2 + i) * (1 + u))});
  script.op("Functional.linear.4.backward",
            {measured(Role::input, "0", 3), measured(Role::output, "0", 5 * (1 + u)),
             measured(Role::output, "1", 7 * (1 + weight_error))});
  script.op("Module.fc.Linear.parameters_grad.0",
            {measured(Role::gradient, "weight", 7 * (1 + recorded_error))});
  return script;
}

}  // namespace

TEST_CASE("localise: a gradient of parameters follows from the backward call that gave it") {
  const Script golden = backward_pass(0, 0);
  // Four roundings are 2.4e-7: the call before explains more.
  CHECK(run(backward_pass(1.5e-6, 1.5e-6), golden).table.localisation.verdict == "rounding");
  const Localisation found = run(backward_pass(1e-7, 1), golden).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "compute_fault Module.fc.Linear.parameters_grad.0 gradient.weight step 0 rank 0");
  CHECK(found.culprits[0].confidence == "strong");
  CHECK(found.culprits[0].evidence[0].second ==
        "the gradient differs by more than the backward calls before it explain");
}

TEST_CASE("localise: a record of gradients that stands before its backward call is judged after it") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    add_witnesses(*side);
    side->op("Module.fc.Linear.parameters_grad.0", {known(Role::gradient, "weight", bad ? "W" : "w")});
    side->call("Functional.linear.0.backward", {"a3"}, bad ? "W" : "w");
  }
  const Localisation found = run(target, golden).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits[0].op_name == "Functional.linear.0.backward");
}

TEST_CASE(
    "localise: an operand that is another result than golden's is the fault, though every result is fine") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const auto name = [&](const char* what) { return name_of(*side, target, what); };
    add_calls(*side, target, 4);
    side->call("Torch.add.0.forward", {name("m0"), name("m1")}, name("sum"));
    side->call("Functional.silu.0.forward", {name("sum")}, name("act"));
    side->call("Torch.add.1.forward", {side == &target ? name("act") : name("sum"), name("m2")}, name("out"));
  }
  const std::map<std::string, double> sizes = {{"Torch.add.1.forward input.0", 0.9},
                                               {"Torch.add.1.forward output.0", 0.6}};
  const Localisation found = run(target, golden, nullptr, &sizes).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "input_fault Torch.add.1.forward input.0 step 0 rank 0");
  CHECK(found.culprits[0].evidence[0].second ==
        "target reads the result of Functional.silu.0.forward, golden the result of Torch.add.0.forward");
  // Where both sides read the same result, its error explains that of the operand.
  const std::map<std::string, double> same = {{"Torch.add.0.forward output.0", 0.01},
                                              {"Functional.silu.0.forward input.0", 0.01},
                                              {"Functional.silu.0.forward output.0", 0.01}};
  CHECK(run(golden, golden, nullptr, &same).table.localisation.culprits.empty());
}

// Two runs whose roundings differ, with as many weights as given; that of the last product is off by so much.
Script weighted(int count, double error, double off) {
  Script script;
  for (int i = 0; i < count; ++i)
    script.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", (1 + i) * (1 + error)),
               measured(Role::input, "1", (100 + i) * (i + 1 == count ? 1 + off : 1)),
               measured(Role::output, "0", (3 + i) * (1 + 2 * error))});
  return script;
}

TEST_CASE("localise: where two runs have their weights in common, one that differs a little is wrong") {
  const auto verdict = [](int count) {
    return first(run(weighted(count, 1e-7, 1e-7), weighted(count, 0, 0)).table.localisation);
  };
  CHECK(verdict(20) == "input_fault Functional.linear.19.forward input.1 step 0 rank 0");
  CHECK(verdict(4) == "none");
}

TEST_CASE("localise: a module that lacks a call is not spoken for by those that it makes") {
  const auto script = [](bool whole, double error, double result) {
    Script side;
    for (int i = 0; i < 5; ++i)
      side.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", (1 + i) * (1 + error)),
               measured(Role::output, "0", (2 + i) * (1 + error))});
    side.op("Module.mlp.Mlp.forward.0",
            {measured(Role::input, "0", 9 * (1 + error)), measured(Role::output, "0", result)});
    const uint32_t module = side.dump.last();
    side.op("Torch.mul.0.forward",
            {measured(Role::input, "0", 9 * (1 + error)), measured(Role::output, "0", 7 * (1 + error))});
    side.dump.parent(module);
    if (whole) {
      side.op("Torch.add.0.forward", {measured(Role::input, "0", 7), measured(Role::output, "0", result)});
      side.dump.parent(module);
    }
    return side;
  };
  CHECK(first(run(script(false, 1e-7, 7), script(true, 0, 11)).table.localisation) ==
        "compute_fault Module.mlp.Mlp.forward.0 output.0 step 0 rank 0");
  CHECK(first(run(script(false, 1e-7, 11), script(true, 0, 11)).table.localisation) == "none");
}

TEST_CASE("localise: a result of another shape is no choice among equal values") {
  const auto script = [](double error, int64_t rows) {
    Script side;
    for (int i = 0; i < 5; ++i)
      side.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", 1 + i), measured(Role::output, "0", (2 + i) * (1 + error))});
    TensorRecord index = measured(Role::output, "0", 10);
    index.dtype = DType::i64;
    index.shape = {rows};
    side.op("Torch.argmax.0.forward", {measured(Role::input, "0", 6 * (1 + error)), index});
    return side;
  };
  const Localisation found = run(script(1e-7, 6), script(0, 7)).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "compute_fault Torch.argmax.0.forward output.0 step 0 rank 0");
}

TEST_CASE("localise: one call that rounds to a coarser format than its siblings is at fault") {
  const auto script = [](double error, DType format) {
    Script side;
    for (int i = 0; i < 8; ++i) {
      TensorRecord out =
          measured(Role::output, "0", (2 + i) * (1 + (i == 5 && format == DType::bf16 ? 1e-3 : error)));
      if (i == 5) out.dtype = format;
      side.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", 1 + i), out});
    }
    return side;
  };
  const Localisation found = run(script(1e-7, DType::bf16), script(0, DType::f32)).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "compute_fault Functional.linear.5.forward output.0 step 0 rank 0");
  CHECK(run(script(1e-7, DType::f32), script(0, DType::f32)).table.localisation.culprits.empty());
}

TEST_CASE("localise: calls with equal inputs show how far off one is by itself") {
  Script target, golden;
  for (Script* side : {&target, &golden}) add_calls(*side, target, 8);
  // All formats allow is 4 u sqrt(K) = 4.8e-7; eight calls without an error that large leave 4 u = 2.4e-7.
  std::map<std::string, double> sizes;
  for (int i = 0; i < 8; ++i) sizes["Torch.matmul." + std::to_string(i) + ".forward output.0"] = 1e-9;
  sizes["Torch.matmul.6.forward output.0"] = 2e-7;
  CHECK(run(target, golden, nullptr, &sizes).table.localisation.verdict == "rounding");
  sizes["Torch.matmul.6.forward output.0"] = 4e-7;
  const Localisation found = run(target, golden, nullptr, &sizes).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits[0].op_name == "Torch.matmul.6.forward");
}

TEST_CASE("localise: an output off as far as its input is ordinary, however well its siblings cancel") {
  Script target, golden;
  for (Script* side : {&target, &golden})
    for (int i = 0; i < 8; ++i) {
      const std::string number = std::to_string(i);
      side->call("Tensor.mean." + number + ".forward", {name_of(*side, target, "i" + number)},
                 name_of(*side, target, "o" + number));
    }
  const auto culprits = [&](double error) {
    std::map<std::string, double> sizes;
    for (int i = 0; i < 8; ++i) {
      const std::string call = "Tensor.mean." + std::to_string(i) + ".forward";
      // Of external inputs up to 4 u are rounded copies.
      sizes[call + " input.0"] = 2e-7;
      sizes[call + " output.0"] = i == 4 ? error : 2e-8;
    }
    return run(target, golden, nullptr, &sizes).table.localisation.culprits.size();
  };
  CHECK(culprits(2.5e-7) == 0);
  CHECK(culprits(3e-6) == 1);
}

TEST_CASE("localise: statistics of a gather and of a part follow those of what they are taken from") {
  const auto script = [](double error, double gathered) {
    Script side;
    side.op("Functional.embedding.0.forward",
            {measured(Role::input, "1", 1), measured(Role::output, "0", 2 * (1 + gathered))});
    for (int i = 0; i < 5; ++i)
      side.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", 3 + i), measured(Role::output, "0", (4 + i) * (1 + error))});
    return side;
  };
  CHECK(run(script(2e-7, 1e-7), script(0, 0)).table.localisation.culprits.empty());
  const Localisation found = run(script(2e-7, 1e-3), script(0, 0)).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits[0].op_name == "Functional.embedding.0.forward");
}

TEST_CASE("localise: the next steps of an input from a call of the target alone lead to that call") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    const bool bad = side == &target;
    add_witnesses(*side);
    side->call(bad ? "Torch.matmul.1.forward" : "Torch.bmm.0.forward", {"a4", "w1"}, bad ? "B" : "b");
    side->call("Torch.mul.0.forward", {bad ? "B" : "b", "s"}, bad ? "C" : "c");
  }
  const Localisation found = run(target, golden).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "input_fault Torch.mul.0.forward input.0 step 0 rank 0");
  CHECK(found.culprits[0].evidence[0].second ==
        "it comes from Torch.matmul.1.forward, a call that only the target makes");
  std::string next;
  for (const std::string& step : found.culprits[0].next) next += step + "\n";
  CAPTURE(next);
  CHECK(next.find("check why only the target has Torch.matmul.1.forward; if golden does the same by another "
                  "name, pair the two: ulpscope mapping suggest ") != std::string::npos);
  CHECK(next.find("not the result of a recorded operation") == std::string::npos);
}

}  // namespace ulpscope
