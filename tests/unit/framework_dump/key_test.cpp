#include <doctest/doctest.h>

#include <string>

#include "formats/framework_dump_key.hpp"

using namespace ulpscope;

TEST_CASE("key: an API call") {
  const DumpKey key = parse_dump_key("Functional.linear.3.forward");
  CHECK(key.form == KeyForm::api);
  CHECK(key.kind == OpKind::api);
  CHECK(key.phase == Phase::forward);
  CHECK(key.counted == "Functional.linear");
  CHECK(key.type == "linear");
  CHECK(key.call == 3);
}

TEST_CASE("key: prefixes are no closed list and a collective is a communication") {
  CHECK(parse_dump_key("my_pkg.ops.compute.0.backward").type == "compute");
  CHECK(parse_dump_key("my_pkg.ops.compute.0.backward").phase == Phase::backward);
  CHECK(parse_dump_key("Distributed.all_reduce.1.forward").kind == OpKind::communication);
  CHECK(parse_dump_key("Tensor.__getitem__.0.forward").type == "__getitem__");
}

TEST_CASE("key: an overload is not the operation") {
  CHECK(parse_dump_key("Aten.add.Tensor.3.forward").type == "add");
  CHECK(parse_dump_key("Torch._C_ascend.rotary.default.3.forward").type == "rotary");
  CHECK(parse_dump_key("Torch._C_ascend.rotary.3.forward").type == "rotary");
}

TEST_CASE("key: a module, whose path may hold numbers and any word") {
  const DumpKey key = parse_dump_key("Module.model.layers.0.forward.mlp.LlamaMLP.forward.12");
  CHECK(key.form == KeyForm::module);
  CHECK(key.kind == OpKind::module);
  CHECK(key.path == "Module.model.layers.0.forward.mlp");
  CHECK(key.type == "LlamaMLP");
  CHECK(key.counted == "Module.model.layers.0.forward.mlp.LlamaMLP");
  CHECK(key.call == 12);
}

TEST_CASE("key: gradients with and without a number") {
  for (const char* text : {"Module.fc1.Linear.parameters_grad", "Module.fc1.Linear.parameters_grad.2"}) {
    CAPTURE(text);
    const DumpKey key = parse_dump_key(text);
    CHECK(key.form == KeyForm::gradient);
    CHECK(key.phase == Phase::backward);
    CHECK(key.type == "Linear");
  }
  CHECK(parse_dump_key("Module.fc1.Linear.parameters_grad.2").call == 2);
}

TEST_CASE("key: a saved variable, and what is of no known form") {
  CHECK(parse_dump_key("y_grad.1.debug").form == KeyForm::debug);
  CHECK(parse_dump_key("y_grad.1.debug").type == "y_grad");
  CHECK(parse_dump_key("optimizer.step").form == KeyForm::unknown);
  CHECK(parse_dump_key("optimizer.step").type == "step");
  CHECK(parse_dump_key("optimizer.7").type == "optimizer");
  CHECK(parse_dump_key("").form == KeyForm::unknown);
  CHECK(parse_dump_key("7").type == "7");
  CHECK(parse_dump_key("...").form == KeyForm::unknown);
  CHECK(parse_dump_key("a.99999999999.forward").form == KeyForm::unknown);
  CHECK(parse_dump_key("0.forward").form == KeyForm::unknown);
}

TEST_CASE("key: a table gives one id for one text, whatever its size") {
  TextTable table;
  const std::string large(200000, 'x');
  CHECK(table.add("") == 0);
  CHECK(table.add(large) == 1);
  for (int i = 0; i < 1000; ++i) table.add("key" + std::to_string(i));
  CHECK(table.add("key999") == 1001);
  CHECK(table.find(large) == 1);
  CHECK(table.text(1) == large);
  CHECK(table.find("") == 0);
  CHECK(table.find("none") == TextTable::kNone);
  CHECK(table.size() == 1002);
}
