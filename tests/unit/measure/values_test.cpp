#include "measure/values.hpp"

#include <doctest/doctest.h>

namespace ulpscope {
namespace {

Verdict verdict(ArgumentView target, ArgumentView golden) { return compare_values(target, golden).verdict; }

}  // namespace

TEST_CASE("values: numbers are compared as numbers") {
  CHECK(verdict({"int", "1"}, {"int", "1"}) == Verdict::pass);
  CHECK(verdict({"int", "1"}, {"float", "1.0"}) == Verdict::pass);
  CHECK(verdict({"float32", "1.25"}, {"float", "1.25"}) == Verdict::pass);
  CHECK(verdict({"float", "0.0"}, {"float", "-0.0"}) == Verdict::pass);
  CHECK(verdict({"int", "1"}, {"int", "2"}) == Verdict::fail);
  CHECK(verdict({"int", "9007199254740993"}, {"int", "9007199254740992"}) == Verdict::fail);
  CHECK(verdict({"float", "\"NaN\""}, {"float", "\"NaN\""}) == Verdict::pass);
  CHECK(verdict({"float", "\"NaN\""}, {"float", "1.0"}) == Verdict::fail);
}

TEST_CASE("values: another type is a difference, also when the value reads the same") {
  CHECK(verdict({"bool", "true"}, {"int", "1"}) == Verdict::fail);
  CHECK(verdict({"str", "\"1\""}, {"int", "1"}) == Verdict::fail);
  CHECK(compare_values({"None", ""}, {"tensor", ""}).message ==
        "type of the argument: target None, golden tensor");
  CHECK(compare_values({"int", "3"}, {"str", "\"3\""}).message ==
        "type of the argument: target int, golden str (3 against \"3\")");
}

TEST_CASE("values: texts, sizes and slices by content") {
  CHECK(verdict({"str", "\"abc\""}, {"str", "\"abd\""}) == Verdict::fail);
  CHECK(verdict({"torch.Size", "[2,3]"}, {"torch.Size", "[2, 3]"}) == Verdict::pass);
  CHECK(verdict({"torch.Size", "[2,3]"}, {"torch.Size", "[2,4]"}) == Verdict::fail);
  CHECK(verdict({"slice", "[0,null,1]"}, {"slice", "[0,null,2]"}) == Verdict::fail);
  CHECK(compare_values({"slice", "[0,null,1]"}, {"slice", "[0,null,2]"}).message ==
        "value of the argument: target [0,null,1], golden [0,null,2]");
  CHECK(verdict({"torch.dtype", "\"torch.float16\""}, {"torch.dtype", "\"torch.float32\""}) == Verdict::fail);
  CHECK(verdict({"None", ""}, {"None", ""}) == Verdict::pass);
}

TEST_CASE("values: devices and reduce operations may differ, process groups warn") {
  CHECK(verdict({"torch.device", "\"npu:0\""}, {"torch.device", "\"cuda:0\""}) == Verdict::pass);
  CHECK(compare_values({"torch.device", "\"npu:0\""}, {"torch.device", "\"cuda:0\""}).message ==
        "devices may differ: target \"npu:0\", golden \"cuda:0\"");
  CHECK(verdict({"str", "\"npu:1\""}, {"torch.device", "\"cpu:None\""}) == Verdict::pass);
  CHECK(verdict({"str", "\"npufoo\""}, {"str", "\"cuda:0\""}) == Verdict::fail);
  CHECK(verdict({"torch.distributed.ReduceOp", "\"<ReduceOp at 0x*>\""},
                {"torch.distributed.ReduceOp", "\"RedOpType.SUM\""}) == Verdict::pass);
  const ValueVerdict groups =
      compare_values({"torch.ProcessGroup", "[0,1]"}, {"torch.ProcessGroup", "[0,2]"});
  CHECK(groups.verdict == Verdict::warning);
  CHECK(groups.message == "process group: target [0,1], golden [0,2]");
  CHECK(verdict({"torch.ProcessGroup", "[0,1]"}, {"torch.ProcessGroup", "[0, 1]"}) == Verdict::pass);
}

TEST_CASE("values: long and hostile texts are shown cut and made visible") {
  const std::string value = "\"" + std::string(200, 'x') + "\"";
  CHECK(compare_values({"str", value}, {"str", "\"\x1b[2J\""}).message ==
        "value of the argument: target \"" + std::string(59, 'x') + "…, golden \"\\x1b[2J\"");
}

}  // namespace ulpscope
