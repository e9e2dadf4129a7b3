#include "execute/gradient_pairs.hpp"

#include <doctest/doctest.h>

#include "execute/worker_pool.hpp"
#include "memory_source.hpp"

using namespace ulpscope;
using test::MemoryDump;

namespace {

OutputTensor tensor(const std::string& path, Shape shape) { return {path, DType::f32, std::move(shape), {}}; }
std::optional<RecordedOutput> recorded(Shape shape) {
  return RecordedOutput{tensor("", std::move(shape)), ""};
}

}  // namespace

TEST_CASE("gradients in the order of the arguments") {
  MemoryDump dump;
  dump.op("Functional.linear.0.forward").input("0", {5, 4}).input("1", {3, 4}).input("2", {3});
  const DumpIndex index = dump.index();
  const CheckItem item{"Functional.linear.0", "Functional", "linear", "0", 0, 0, ""};
  const std::vector<OutputTensor> golden = {tensor("input.0", {5, 4}), tensor("input.1", {3, 4}),
                                            tensor("input.2", {3})};
  const auto pairs =
      pair_recorded_gradients(index, item, golden, {std::nullopt, recorded({3, 4}), recorded({3})});
  REQUIRE(!pairs.empty());
  REQUIRE(pairs[0].size() == 2);
  CHECK(pairs[0][0].number == 1);
  CHECK(pairs[0][0].golden->path == "input.1");
  CHECK(pairs[0][1].golden->path == "input.2");
}

TEST_CASE("gradients of the last node: bias, nothing, transposed weight") {
  MemoryDump dump;
  dump.op("Functional.linear.0.forward").input("0", {5, 4}).input("1", {3, 4}).input("2", {3});
  const DumpIndex index = dump.index();
  const CheckItem item{"Functional.linear.0", "Functional", "linear", "0", 0, 0, ""};
  const std::vector<OutputTensor> golden = {tensor("node.0", {3}), tensor("node.2", {4, 3}),
                                            tensor("input.1", {3, 4}), tensor("input.2", {3})};
  const auto pairs =
      pair_recorded_gradients(index, item, golden, {recorded({3}), std::nullopt, recorded({4, 3})});
  REQUIRE(pairs.size() == 1);
  REQUIRE(pairs[0].size() == 2);
  CHECK(pairs[0][0].golden->path == "node.0");
  CHECK(pairs[0][1].golden->path == "node.2");
}

TEST_CASE("gradients that fit nothing are not paired") {
  MemoryDump dump;
  dump.op("Functional.relu.0.forward").input("0", {5, 4});
  const DumpIndex index = dump.index();
  const CheckItem item{"Functional.relu.0", "Functional", "relu", "0", 0, 0, ""};
  CHECK(pair_recorded_gradients(index, item, {tensor("input.0", {5, 4})}, {recorded({4, 5})}).empty());
}

TEST_CASE("an item passes a pipe unchanged") {
  const CheckItem item{"Torch.a\"b.0", "Torch", "a\"b", "0", 3, kNoIndex, ""};
  const auto back = item_from_line(to_line(item));
  REQUIRE(back.ok());
  CHECK(back->id == item.id);
  CHECK(back->forward == 3);
  CHECK(back->backward == kNoIndex);
  CHECK(item_from_line("[1]").error().message == "a line that asks for no API: '[1]'");
}
