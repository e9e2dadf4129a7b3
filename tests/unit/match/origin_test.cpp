#include "match_support.hpp"

using namespace ulpscope;
using namespace ulpscope::test;

namespace {

TensorRecord tensor(Role role, const std::string& path, const std::string& origin, Shape shape = {4}) {
  TensorRecord record;
  record.role = role;
  record.path = path;
  record.origin = origin;
  record.shape = std::move(shape);
  record.dtype = DType::f32;
  record.stats.present = 1;
  return record;
}

MemoryDump& compiled(MemoryDump& dump, const std::string& name, const std::string& originals) {
  dump.op(name);
  dump.record().originals = originals;
  return dump;
}

std::vector<std::string> lines(const DumpIndex& target, const DumpIndex& golden, const PairList& pairs) {
  std::vector<std::string> out;
  for (const ItemPair& pair : pairs.items)
    out.push_back(item_text(target, pair.target) + " | " + item_text(golden, pair.golden) + " | " +
                  std::string(to_text(pair.how)) +
                  (pair.why == OneSided::inner          ? " inner"
                   : pair.why == OneSided::no_reference ? " no reference"
                                                        : ""));
  return out;
}

}  // namespace

TEST_CASE("origin: fused outputs pair with the file of their last original, inputs with their producer's") {
  MemoryDump target("acl_om"), golden("tensor_files");
  compiled(target, "conv", "conv\nbn.1")
      .tensor(tensor(Role::input, "0", "data:0"))
      .tensor(tensor(Role::input, "1", "conv_w:0"))
      .tensor(tensor(Role::output, "0", "bn.1:0"));
  target.op("trans_Cast_0").tensor(tensor(Role::input, "0", "")).tensor(tensor(Role::output, "0", ""));
  compiled(target, "relu", "relu")
      .tensor(tensor(Role::input, "0", "bn.1:0"))
      .tensor(tensor(Role::output, "0", "relu:0"));
  golden.at(-1, -1);
  for (const char* name : {"data.0.10", "conv.0.11", "bn_1.0.12", "bn_1.0.13", "relu.0.14"})
    golden.op(name).output("0", {4});
  const DumpIndex t = target.index(), g = golden.index();
  const PairList pairs = pairs_of(t, g);
  CHECK(lines(t, g, pairs) == std::vector<std::string>{
                                  "conv.input.0 | data.0.10.output.0 | origin",
                                  "conv.input.1 | - | only_target no reference",
                                  "conv.output.0 | bn_1.0.13.output.0 | origin",
                                  "relu.input.0 | bn_1.0.13.output.0 | origin",
                                  "relu.output.0 | relu.0.14.output.0 | origin",
                                  "- | conv.0.11.output.0 | only_golden inner",
                                  "- | bn_1.0.12.output.0 | only_golden inner",
                              });
  CHECK(pairs.notices.back() ==
        "1 operator that the compiler put in is left out: the original model has none for them");
}

TEST_CASE("origin: repeated operators pair call by call, inner outputs are no difference of structure") {
  MemoryDump target("acl_om"), golden("acl_om");
  for (MemoryDump* dump : {&target, &golden})
    for (uint32_t call = 0; call < 2; ++call) {
      compiled(*dump, "loop", "loop").record().call = call;
      dump->tensor(tensor(Role::output, "0", "loop:0"));
    }
  compiled(target, "fused", "a\nb").tensor([] {
    TensorRecord inner = tensor(Role::output, "0", "");
    inner.absent = ULPSCOPE_ABSENT_INNER;
    return inner;
  }());
  const DumpIndex t = target.index(), g = golden.index();
  const PairList pairs = pairs_of(t, g);
  REQUIRE(pairs.items.size() == 3);
  CHECK(pairs.items[0].golden == 0);
  CHECK(pairs.items[1].golden == 1);
  CHECK(pairs.items[2].why == OneSided::inner);
  CHECK(pairs.ops[2].by_design);
}

TEST_CASE("origin: a file name that stands for two operators is ambiguous unless shapes decide") {
  MemoryDump target("acl_om"), golden("tensor_files");
  compiled(target, "a.b", "a.b").tensor(tensor(Role::output, "0", "a.b:0", {4}));
  compiled(target, "a/b", "a/b").tensor(tensor(Role::output, "0", "a/b:0", {5}));
  compiled(target, "c.d", "c.d").tensor(tensor(Role::output, "0", "c.d:0", {4}));
  compiled(target, "c/d", "c/d").tensor(tensor(Role::output, "0", "c/d:0", {4}));
  golden.at(-1, -1).op("a_b.0.10").output("0", {5});
  golden.op("c_d.0.10").output("0", {4});
  const DumpIndex t = target.index(), g = golden.index();
  const PairList pairs = pairs_of(t, g);
  CHECK(pairs.items[0].golden == kNoIndex);
  CHECK(pairs.items[1].golden == 0);
  CHECK(pairs.items[2].golden == kNoIndex);
  CHECK(pairs.items[3].golden == kNoIndex);
  CHECK(pairs.notices.back().find("ambiguous: the file name of golden tensor c/d:0") == 0);
}

TEST_CASE("origin: a golden of files goes with the first step and rank of several, and says so") {
  MemoryDump target("acl_om"), golden("tensor_files");
  for (const int32_t step : {1, 2}) {
    target.at(step, 0);
    compiled(target, "a", "a").tensor(tensor(Role::output, "0", "a:0"));
  }
  golden.at(-1, -1).op("a.0.10").output("0", {4});
  const DumpIndex t = target.index(), g = golden.index();
  const PairList pairs = pairs_of(t, g);
  REQUIRE(pairs.items.size() == 2);
  CHECK(pairs.items[0].golden == 0);
  CHECK(pairs.items[1].golden == kNoIndex);
  CHECK(pairs.notices == std::vector<std::string>{
                             "golden says nothing of steps and ranks: it is compared with step 1 rank 0, the "
                             "first (--step and --rank choose)"});
}
