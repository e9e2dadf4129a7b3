#include "execute/check_plan.hpp"

#include <doctest/doctest.h>

#include "memory_source.hpp"

using namespace ulpscope;
using test::MemoryDump;

namespace {

CheckPlan plan_of(MemoryDump& dump, const CheckChoice& choice = {}) {
  const DumpIndex index = dump.index();
  auto plan = plan_check(index, index.groups()[0], choice);
  REQUIRE(plan.ok());
  return std::move(plan).value();
}

}  // namespace

TEST_CASE("a plan pairs forward and backward of an API") {
  MemoryDump dump;
  dump.op("Torch.linalg.norm.3.forward").input("0", {2}).output("0", {});
  dump.op("Torch.linalg.norm.3.backward").input("0", {}).output("0", {2});
  const CheckPlan plan = plan_of(dump);
  REQUIRE(plan.items.size() == 1);
  CHECK(plan.items[0].id == "Torch.linalg.norm.3");
  CHECK(plan.items[0].type == "Torch");
  CHECK(plan.items[0].api == "linalg.norm");
  CHECK(plan.items[0].skip.empty());
  CHECK(plan.items[0].backward == 1);
}

TEST_CASE("what is not run says why") {
  MemoryDump dump;
  dump.op("Distributed.all_reduce.0.forward").input("0", {2}).output("0", {2});
  dump.op("Tensor.to.0.forward").input("0", {2}).output("0", {2});
  dump.op("Odd.forward").input("0", {2}).output("0", {2});
  dump.op("Torch.add.0.forward").input("0", {2}).output("0", {2});
  dump.op("Torch.mul.0.forward").input("0", {2}).output("0", {2});
  CheckChoice choice;
  choice.white = {"add", "mul", "nowhere"};
  choice.black = {"mul"};
  const CheckPlan plan = plan_of(dump, choice);
  REQUIRE(plan.items.size() == 5);
  CHECK(plan.items[0].skip == "APIs of type Distributed are not checked");
  CHECK(plan.items[1].skip == "the API computes nothing that could be compared");
  CHECK(plan.items[2].skip == "malformed name: expected type, name and number, as in Torch.matmul.0");
  CHECK(plan.items[3].skip.empty());
  CHECK(plan.items[4].skip == "the API is in the black list");
  CHECK(plan.unused == std::vector<std::string>{"white list: the dump has no API 'nowhere'"});
}

TEST_CASE("an API outside the white list is not run") {
  MemoryDump dump;
  dump.op("Torch.add.0.forward").input("0", {2}).output("0", {2});
  CheckChoice choice;
  choice.white = {"mul"};
  CHECK(plan_of(dump, choice).items[0].skip == "the API is not in the white list");
}

TEST_CASE("the filter leaves out calls of equal structure, whatever their numbers") {
  MemoryDump dump;
  dump.op("Torch.add.0.forward").input("0", {2}).output("0", {2});
  dump.op("Torch.add.1.forward").input("0", {2}).output("0", {2});
  dump.op("Torch.add.2.forward").input("0", {3}).output("0", {3});
  dump.op("Torch.mul.0.forward").input("0", {2}).output("0", {2});
  CheckChoice choice;
  choice.filter = true;
  const CheckPlan plan = plan_of(dump, choice);
  CHECK(plan.items.size() == 3);
  CHECK(plan.repeated == 1);
}

TEST_CASE("an id that a spreadsheet would run ends the plan") {
  MemoryDump dump;
  dump.op("=cmd.add.0.forward").input("0", {2}).output("0", {2});
  const DumpIndex index = dump.index();
  const auto plan = plan_check(index, index.groups()[0], {});
  REQUIRE(!plan.ok());
  CHECK(plan.error().message ==
        "API '=cmd.add.0' begins like a formula of a spreadsheet, expected a name of an API");
}
