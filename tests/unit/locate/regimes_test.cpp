// What formats, order and chance make of a difference: saved values, coarse formats, choices, statistics that
// end.
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "script.hpp"

namespace ulpscope {
namespace {

using namespace test;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string content(const std::string& mark, const char* what, const std::string& number) {
  return mark + what + number;
}

TensorRecord half(Role role, const std::string& path, const std::string& content, int64_t columns = 4) {
  TensorRecord record = known(role, path, content);
  record.dtype = DType::bf16;
  record.shape = {4, columns};
  return record;
}

// Products of equal inputs; the last one gives another result on the target.
Script products(bool bad, DType dtype, int count) {
  Script script;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    std::vector<TensorRecord> tensors = {
        known(Role::input, "0", "a" + number),
        known(Role::output, "0", (bad && i + 1 == count ? "X" : "b") + number)};
    for (TensorRecord& tensor : tensors) tensor.dtype = dtype;
    script.op("Torch.matmul." + number + ".forward", tensors);
  }
  return script;
}

TensorRecord masked(Role role, const std::string& path, double max) {
  TensorRecord record = measured(role, path, 1);
  record.stats.max = max;
  record.stats.min = record.stats.mean = -kInfinity;
  record.stats.l2norm = kInfinity;
  return record;
}

// Linear calls that are off by error, and a choice over the last one's result.
Script choice(double error, double largest_index) {
  Script script;
  for (int i = 0; i < 5; ++i)
    script.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", 1 + i), measured(Role::output, "0", (2 + i) * (1 + error))});
  TensorRecord index = measured(Role::output, "0", 1);
  index.dtype = DType::i64;
  index.shape = {7};
  index.stats.max = largest_index;
  script.op("Torch.argmax.0.forward", {measured(Role::input, "0", 6 * (1 + error)), index});
  return script;
}

}  // namespace

TEST_CASE("localise: in a coarse format one element that differs does not make agreeing calls a witness") {
  const std::map<std::string, double> one = {{"Torch.matmul.10.forward output.0", kOneElement / 2}};
  const auto verdict = [&](DType dtype, const std::map<std::string, double>& sizes) {
    return run(products(true, dtype, 11), products(false, dtype, 11), nullptr, &sizes)
        .table.localisation.verdict;
  };
  // 160 elements that agree: by chance in bf16, where sums in another order mostly round alike.
  CHECK(verdict(DType::bf16, one) == "rounding");
  CHECK(verdict(DType::f32, one) == "compute_fault");
  const std::map<std::string, double> all = {{"Torch.matmul.10.forward output.0", 1e-3}};
  CHECK(verdict(DType::bf16, all) == "compute_fault");
}

TEST_CASE("localise: a last bit that moved in a coarse format is what is left of another order of sums") {
  constexpr int kCalls = 400;
  const auto verdict = [&](double size) {
    const std::map<std::string, double> sizes = {
        {"Torch.matmul." + std::to_string(kCalls - 1) + ".forward output.0", size}};
    return run(products(true, DType::bf16, kCalls), products(false, DType::bf16, kCalls), nullptr, &sizes)
        .table.localisation.verdict;
  };
  CHECK(verdict(kOneElement / 2) == "rounding");
  // All 16 elements of one call and none of 6 384 others.
  CHECK(verdict(1e-3) == "compute_fault");
}

TEST_CASE("localise: a position of a later step is no choice of a sampler") {
  // Two steps with a product that is off by its roundings, and a gather at a number from outside.
  const auto script = [](double error, double first, double second) {
    Script side;
    for (const int32_t step : {0, 1}) {
      side.at(step, 0);
      for (int i = 0; i < 5; ++i)
        side.op("Functional.linear." + std::to_string(i) + ".forward",
                {measured(Role::input, "0", 1 + i), measured(Role::output, "0", (2 + i) * (1 + error))});
      TensorRecord index = measured(Role::input, "1", 1);
      index.dtype = DType::i64;
      index.shape = {1};
      index.stats.max = index.stats.min = index.stats.mean = index.stats.l2norm = step == 0 ? first : second;
      side.op("Torch.index_select.0.forward",
              {measured(Role::input, "0", 7), index, measured(Role::output, "0", 1 + index.stats.max)});
    }
    return side;
  };
  CHECK(first(run(script(1e-7, 9, 9), script(0, 9, 10)).table.localisation) ==
        "input_fault Torch.index_select.0.forward input.1 step 1 rank 0");
  // Golden does not count: a token, which flips with nearly equal logits.
  CHECK(run(script(1e-7, 9, 9), script(0, 9, 3)).table.localisation.culprits.empty());
}

TEST_CASE("localise: statistics of a coarse format that are all off by one factor are no rounding") {
  const auto coarse = [](TensorRecord record) {
    record.dtype = DType::bf16;
    return record;
  };
  // Two products whose inputs are off by half a roundoff of bfloat16 (2^-8); the second result by extremes
  // and norm as given.
  const auto answer = [&](double max, double min, double norm) {
    Script target, golden;
    for (Script* side : {&target, &golden})
      for (int i = 0; i < 2; ++i) {
        TensorRecord in = coarse(measured(Role::input, "0", 1)), out = coarse(measured(Role::output, "0", 2));
        if (side == &target) {
          in.stats.max *= 1 + 0x1p-9;
          out.stats.max *= i == 0 ? 1 - 0x1p-9 : max;
          out.stats.min *= i == 0 ? 1 + 0x1p-9 : min;
          out.stats.l2norm *= i == 0 ? 1 : norm;
        }
        side->op("Functional.linear." + std::to_string(i) + ".forward", {in, out});
      }
    return first(run(target, golden).table.localisation);
  };
  CHECK(answer(1.02, 1.024, 1.018) == "compute_fault Functional.linear.1.forward output.0 step 0 rank 0");
  CHECK(answer(0.98, 0.976, 0.982) == "compute_fault Functional.linear.1.forward output.0 step 0 rank 0");
  CHECK(answer(1.02, 1.024, 1.008) == "none");  // the norm hardly moved
  CHECK(answer(1.02, 0.98, 1.018) == "none");   // no common direction
  CHECK(answer(1.009, 1.01, 1.008) == "none");  // what healthy runs reach
}

TEST_CASE("localise: products of 16-bit formats are summed in float32") {
  const auto verdict = [](double error) {
    Script target, golden;
    for (Script* side : {&target, &golden})
      side->op("Torch.matmul.0.forward", {half(Role::input, "0", "a", 64), half(Role::input, "1", "w", 64),
                                          half(Role::output, "0", side == &target ? "X" : "b", 64)});
    const std::map<std::string, double> sizes = {{"Torch.matmul.0.forward output.0", error}};
    return run(target, golden, nullptr, &sizes).table.localisation.verdict;
  };
  // 4 * 2 roundings of 2^-8; with sqrt(K) it would be 12 %.
  CHECK(verdict(0.03) == "rounding");
  CHECK(verdict(0.05) == "compute_fault");
}

TEST_CASE("localise: a backward call may be off as far as what its forward call had and gave") {
  const auto culprits = [](double error) {
    Script target, golden;
    for (Script* side : {&target, &golden}) {
      const std::string mark = side == &target ? "T" : "g";
      side->call("Functional.mse_loss.0.forward", {mark + "0", "wanted"}, mark + "1");
      side->call("Functional.mse_loss.0.backward", {"one"}, mark + "2");
    }
    const std::map<std::string, double> sizes = {{"Functional.mse_loss.0.forward input.0", 2e-7},
                                                 {"Functional.mse_loss.0.forward output.0", 4e-6},
                                                 {"Functional.mse_loss.0.backward output.0", error}};
    return run(target, golden, nullptr, &sizes).table.localisation.culprits;
  };
  CHECK(culprits(5e-6).empty());
  REQUIRE(culprits(1e-4).size() == 1);
  CHECK(culprits(1e-4)[0].op_name == "Functional.mse_loss.0.backward");
}

TEST_CASE("localise: another index is a tie only where rounding makes one likely") {
  // Seven choices, off by 2e-7 each.
  const Localisation found = run(choice(2e-7, 30), choice(0, 31)).table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(first(found) == "compute_fault Torch.argmax.0.forward output.0 step 0 rank 0");
  const Localisation likely = run(choice(0, 31), choice(0, 31)).table.localisation;
  CHECK(likely.verdict == "identical");
}

TEST_CASE("localise: a statistic far above those of its siblings stands out, however they scatter") {
  const auto script = [](const std::vector<double>& errors) {
    Script side;
    for (size_t i = 0; i < errors.size(); ++i) {
      const double rms = 1 + 0.1 * static_cast<double>(i);
      side.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", rms * (1 + (errors[i] > 0 ? 2e-7 : 0))),
               measured(Role::output, "0", 2 * rms * (1 + errors[i]))});
    }
    return side;
  };
  const std::vector<double> zeros(10, 0.0);
  // Amplifications of 0.1 to 2; 6 deviations in log2 would allow 30, 6 times the largest is 12.
  CHECK(run(script({1e-7, 1.5e-6, 2e-7, 9e-7, 1.4e-6, 1e-7, 1.3e-6, 3e-7, 8e-7, 5e-6}), script(zeros))
            .table.localisation.verdict == "rounding");
  const Localisation found =
      run(script({1e-7, 1.5e-6, 2e-7, 9e-7, 1.4e-6, 1e-7, 1.3e-6, 3e-7, 8e-7, 1.2e-5}), script(zeros))
          .table.localisation;
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits[0].op_name == "Functional.linear.9.forward");
}

TEST_CASE("localise: a product of two operands may be off as far as both together") {
  const auto culprits = [](double error) {
    Script target, golden;
    std::map<std::string, double> sizes;
    for (Script* side : {&target, &golden})
      for (int i = 0; i < 8; ++i) {
        const std::string number = std::to_string(i), mark = side == &target ? "T" : "g";
        const std::string call = "Torch.mul." + number + ".forward";
        side->call(call, {content(mark, "a", number), content(mark, "b", number)},
                   content(mark, "c", number));
        sizes[call + " input.0"] = sizes[call + " input.1"] = 2e-7;
        sizes[call + " output.0"] = i == 5 ? error : 1.5e-7;
      }
    return run(target, golden, nullptr, &sizes).table.localisation.culprits.size();
  };
  CHECK(culprits(6e-7) == 0);
  CHECK(culprits(2e-6) == 1);
}

TEST_CASE("localise: a type with one call is held against the calls of its class") {
  const auto culprits = [](double error) {
    Script target, golden;
    std::map<std::string, double> sizes;
    for (Script* side : {&target, &golden}) {
      const std::string mark = side == &target ? "T" : "g";
      for (int i = 0; i < 8; ++i) {
        const std::string call =
            i < 7 ? "Functional.linear." + std::to_string(i) + ".forward" : "Torch.bmm.0.forward";
        side->call(call, {content(mark, "a", std::to_string(i))}, content(mark, "b", std::to_string(i)));
        sizes[call + " input.0"] = 2e-7;
        sizes[call + " output.0"] = i == 7 ? error : 2e-7;
      }
    }
    return run(target, golden, nullptr, &sizes).table.localisation.culprits;
  };
  // kappa alone would allow 1.3e-5.
  CHECK(culprits(2e-6).empty());
  REQUIRE(culprits(8e-6).size() == 1);
  CHECK(culprits(8e-6)[0].op_name == "Torch.bmm.0.forward");
}

TEST_CASE("localise: the first call of a type is held against those behind it where no others are") {
  const auto culprits = [](double error) {
    Script target, golden;
    std::map<std::string, double> sizes;
    for (Script* side : {&target, &golden})
      for (int i = 0; i < 8; ++i) {
        const std::string number = std::to_string(i), mark = side == &target ? "T" : "g";
        const std::string call = "Functional.linear." + number + ".forward";
        side->call(call, {content(mark, "a", number)}, content(mark, "b", number));
        sizes[call + " input.0"] = 2e-7;
        sizes[call + " output.0"] = i == 0 ? error : 2e-7;
      }
    return run(target, golden, nullptr, &sizes).table.localisation.culprits;
  };
  // 2.5 bits above the others; of a type of its own 3.5 would be allowed.
  CHECK(culprits(8e-7).empty());
  REQUIRE(culprits(4e-6).size() == 1);
  CHECK(culprits(4e-6)[0].op_name == "Functional.linear.0.forward");
}

TEST_CASE("localise: errors of few elements lie further off by chance than those of many") {
  const auto culprits = [](int64_t columns) {
    Script target, golden;
    std::map<std::string, double> sizes;
    for (Script* side : {&target, &golden})
      for (int i = 0; i < 8; ++i) {
        const std::string number = std::to_string(i), mark = side == &target ? "T" : "g";
        const std::string call = "Torch.rsqrt." + number + ".forward";
        std::vector<TensorRecord> tensors = {known(Role::input, "0", content(mark, "a", number)),
                                             known(Role::output, "0", content(mark, "b", number))};
        for (TensorRecord& tensor : tensors) tensor.shape = {4, columns};
        side->op(call, tensors);
        sizes[call + " input.0"] = 2e-7;
        sizes[call + " output.0"] = i == 5 ? 4e-7 : 1e-7;
      }
    return run(target, golden, nullptr, &sizes).table.localisation.culprits.size();
  };
  // 2 bits above the median: 1 is allowed, and with 16 elements 3 * 1.44 / 4 more.
  CHECK(culprits(4) == 0);
  CHECK(culprits(1024) == 1);
}

TEST_CASE("localise: scores that went past the mask are the fault of the call that reads them") {
  const auto script = [](bool past, double error) {
    Script side;
    for (int i = 0; i < 5; ++i)
      side.op("Functional.linear." + std::to_string(i) + ".forward",
              {measured(Role::input, "0", 1 + i), measured(Role::output, "0", (2 + i) * (1 + error))});
    const TensorRecord scores = measured(Role::output, "0", 9 * (1 + error));
    TensorRecord read = scores;
    read.role = Role::input;
    side.op("Torch.mul.0.forward", {measured(Role::input, "0", 18 * (1 + error)), scores});
    if (!past) side.op("Torch.add.0.forward", {read, masked(Role::output, "0", 20)});
    side.op("Functional.softmax.0.forward",
            {past ? read : masked(Role::input, "0", 20), measured(Role::output, "0", past ? 0.3 : 0.2)});
    return side;
  };
  const Localisation found = run(script(true, 1e-7), script(false, 0)).table.localisation;
  REQUIRE(!found.culprits.empty());
  CHECK(first(found) == "input_fault Functional.softmax.0.forward input.0 step 0 rank 0");
}

TEST_CASE("localise: another index among equal values is looked at before it counts") {
  // Inputs agree bit for bit in runs whose roundings differ.
  const auto script = [](const char* mark) {
    Script side = products(mark[0] == 'X', DType::bf16, 11);
    TensorRecord index = known(Role::output, "0", mark);
    index.dtype = DType::i64;
    side.op("Torch.argmax.0.forward", {half(Role::input, "0", "scores"), index});
    return side;
  };
  const std::map<std::string, double> sizes = {{"Torch.matmul.10.forward output.0", kOneElement / 2},
                                               {"Torch.argmax.0.forward output.0", 1e-3}};
  const Localisation found = run(script("X"), script("y"), nullptr, &sizes).table.localisation;
  CHECK(found.claimed_ties.size() == 1);
}

TEST_CASE("localise: in a run that agrees bit for bit too an index among equal values is no fault") {
  const auto script = [](const char* mark) {
    Script side = products(false, DType::bf16, 11);
    TensorRecord index = known(Role::output, "0", mark);
    index.dtype = DType::i64;
    side.op("Torch.argmax.0.forward", {half(Role::input, "0", "scores"), index});
    TensorRecord read = index;
    read.role = Role::input;
    side.op("Torch.embedding.0.forward", {read, half(Role::output, "0", std::string(mark) + "row")});
    return side;
  };
  const std::map<std::string, double> sizes = {{"Torch.argmax.0.forward output.0", 1e-3}};
  const Localisation found = run(script("x"), script("y"), nullptr, &sizes).table.localisation;
  CHECK(found.claimed_ties.size() == 1);
  CHECK(found.culprits.empty());
  CHECK(found.verdict == "rounding");
}

TEST_CASE("localise: minus infinity is one number in all formats, and masks of it are compared") {
  const auto script = [](DType format, double max) {
    Script side;
    TensorRecord scores = measured(Role::input, "0", 1), mask = masked(Role::input, "1", max),
                 result = masked(Role::output, "0", 2);
    for (TensorRecord* tensor : {&scores, &mask, &result}) tensor->dtype = format;
    side.op("Torch.add.0.forward", {scores, mask, result});
    return side;
  };
  CHECK(first(run(script(DType::bf16, 0), script(DType::f32, 0)).table.localisation) == "none");
  CHECK(first(run(script(DType::bf16, 0), script(DType::f32, 5)).table.localisation) ==
        "input_fault Torch.add.0.forward input.1 step 0 rank 0");
}

TEST_CASE("localise: where statistics end, the calls to dump are listed") {
  Script target, golden;
  for (Script* side : {&target, &golden}) {
    for (int i = 0; i < 3; ++i)
      side->op("Functional.linear." + std::to_string(i) + ".forward",
               {measured(Role::input, "0", 1 + i), measured(Role::output, "0", 2 + i)});
    side->op("Torch.add.0.forward", {measured(Role::input, "0", 7), masked(Role::output, "0", 3)});
    side->op("Functional.softmax.0.forward",
             {masked(Role::input, "0", 3), measured(Role::output, "0", side == &target ? 0.3 : 0.25)});
  }
  const Localisation found = run(target, golden).table.localisation;
  CHECK(found.verdict == "inconclusive");
  REQUIRE(!found.notes.empty());
  CHECK(found.notes[0].find(R"("list": ["Functional.softmax.0.forward", "Torch.add.0.forward"])") !=
        std::string::npos);
}

TEST_CASE("localise: the same calls in another order make a run structure_only") {
  Script target, golden;
  add_witnesses(golden);
  golden.call("Torch.mul.0.forward", {"b0"}, "b1").call("Torch.neg.0.forward", {"b2"}, "b3");
  add_witnesses(target);
  target.call("Torch.neg.0.forward", {"b2"}, "b3").call("Torch.mul.0.forward", {"b0"}, "b1");
  const Localisation found = run(target, golden).table.localisation;
  CHECK(found.verdict == "structure_only");
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0] == "Torch.mul.0.forward stands at another place among the calls of the other side");
}

}  // namespace ulpscope
