// Calls that what they read tells apart: orders that changed under equal names, and calls that only look
// alike.
#include <algorithm>
#include <string>
#include <vector>

#include "match_support.hpp"

namespace ulpscope {
namespace {

using namespace test;
using Lines = std::vector<std::string>;

TensorRecord content(Role role, const std::string& path, const std::string& digest) {
  TensorRecord record;
  record.role = role;
  record.path = path;
  record.dtype = DType::f32;
  record.shape = {4, 4};
  record.digest = "crc32:" + digest;
  return record;
}

// Two products of x, and one that reads both results: the first of them as its left operand.
MemoryDump projections(const Lines& weights, const Lines& results, const Lines& operands) {
  MemoryDump dump;
  for (size_t i = 0; i < weights.size(); ++i)
    dump.op("Functional.linear." + std::to_string(i) + ".forward")
        .tensor(content(Role::input, "0", "x"))
        .tensor(content(Role::input, "1", weights[i]))
        .tensor(content(Role::output, "0", results[i]));
  dump.op("Torch.matmul.0.forward");
  for (size_t i = 0; i < operands.size(); ++i)
    dump.tensor(content(Role::input, std::to_string(i), operands[i]));
  dump.tensor(content(Role::output, "0", "scores"));
  return dump;
}

Lines partners(const DumpIndex& target, const DumpIndex& golden) {
  Lines lines;
  for (const OpPair& pair : pairs_of(target, golden).ops) {
    const auto name = [](const DumpIndex& index, OpId op) {
      return op == kNoIndex ? std::string("-") : std::string(index.text(index.ops()[op].name));
    };
    lines.push_back(name(target, pair.target) + " | " + name(golden, pair.golden));
  }
  return lines;
}

bool holds(const Lines& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

TEST_CASE("calls in another order under the same names belong to those that read the same") {
  const DumpIndex target = projections({"wk", "wq"}, {"k", "q"}, {"q", "k"}).index();
  const DumpIndex golden = projections({"wq", "wk"}, {"q", "k"}, {"q", "k"}).index();
  const Lines lines = partners(target, golden);
  CHECK(holds(lines, "Functional.linear.0.forward | Functional.linear.1.forward"));
  CHECK(holds(lines, "Functional.linear.1.forward | Functional.linear.0.forward"));
  CHECK(holds(lines, "Torch.matmul.0.forward | Torch.matmul.0.forward"));
}

TEST_CASE("calls in another order are known although the result of one is wrong") {
  const DumpIndex target = projections({"wk", "wq"}, {"k", "Q"}, {"Q", "k"}).index();
  const DumpIndex golden = projections({"wq", "wk"}, {"q", "k"}, {"q", "k"}).index();
  CHECK(holds(partners(target, golden), "Functional.linear.1.forward | Functional.linear.0.forward"));
}

TEST_CASE("exchanged weights are no other order: what reads the results reads others") {
  const DumpIndex target = projections({"wk", "wq"}, {"k", "q"}, {"k", "q"}).index();
  const DumpIndex golden = projections({"wq", "wk"}, {"q", "k"}, {"q", "k"}).index();
  const Lines lines = partners(target, golden);
  CHECK(holds(lines, "Functional.linear.0.forward | Functional.linear.0.forward"));
  CHECK(holds(lines, "Functional.linear.1.forward | Functional.linear.1.forward"));
}

TEST_CASE("one call that reads what another one reads besides it keeps its partner") {
  const DumpIndex target = projections({"wq", "wq"}, {"q", "q"}, {"q", "q"}).index();
  const DumpIndex golden = projections({"wq", "wk"}, {"q", "k"}, {"q", "k"}).index();
  CHECK(holds(partners(target, golden), "Functional.linear.1.forward | Functional.linear.1.forward"));
}

TEST_CASE("calls of other shapes are no pair where one side makes more of them") {
  // Target multiplies in two parts what golden multiplies at once.
  const auto dump = [](bool in_parts) {
    MemoryDump d;
    for (int i = 0; i < 6; ++i) d.op("Torch.add." + std::to_string(i) + ".forward").output("0", {2, 8});
    if (!in_parts) d.op("Torch.cat.0.forward").output("0", {2, 12});
    const std::vector<int64_t> widths = in_parts ? std::vector<int64_t>{8, 4} : std::vector<int64_t>{12};
    for (size_t i = 0; i < widths.size(); ++i)
      d.op("Torch.matmul." + std::to_string(i) + ".forward").input("0", {2, widths[i]}).output("0", {2, 2});
    if (in_parts) d.op("Torch.add.6.forward").output("0", {2, 2});
    d.op("Torch.softmax.0.forward").output("0", {2, 2});
    return d;
  };
  const DumpIndex target = dump(true).index(), golden = dump(false).index();
  const Lines lines = partners(target, golden);
  CHECK(holds(lines, "Torch.matmul.0.forward | -"));
  CHECK(holds(lines, "Torch.matmul.1.forward | -"));
  CHECK(holds(lines, "Torch.softmax.0.forward | Torch.softmax.0.forward"));
}

TEST_CASE("backward entries follow their forward calls through another order") {
  MemoryDump a = projections({"wk", "wq"}, {"k", "q"}, {"q", "k"});
  MemoryDump b = projections({"wq", "wk"}, {"q", "k"}, {"q", "k"});
  for (MemoryDump* dump : {&a, &b})
    for (const char* name : {"Torch.matmul.0.backward", "Functional.linear.1.backward",
                             "Functional.linear.0.backward", "Module.m.M.parameters_grad"})
      dump->op(name).output("0", {4, 4});
  const DumpIndex target = a.index(), golden = b.index();
  const Lines lines = partners(target, golden);
  CHECK(holds(lines, "Functional.linear.0.backward | Functional.linear.1.backward"));
  CHECK(holds(lines, "Functional.linear.1.backward | Functional.linear.0.backward"));
  CHECK(holds(lines, "Module.m.M.parameters_grad | Module.m.M.parameters_grad"));
}

}  // namespace
}  // namespace ulpscope
