#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "locate/op_parameters.hpp"
#include "script.hpp"

namespace ulpscope {
namespace {

using namespace test;

std::string told(const char* target, const char* golden) {
  return parameter_text(parameter_differences(target, golden));
}

TEST_CASE("op parameters: members that differ by their path, members of one side") {
  CHECK(told(R"({"a":1,"normParam":{"epsilon":1e-05,"type":"x"},"list":[1,2]})",
             R"({"normParam":{"epsilon":1e-06,"type":"y"},"list":[1,3],"b":true})") ==
        "a: target 1, golden none; normParam.epsilon: target 1e-05, golden 1e-06; "
        "normParam.type: target \"x\", golden \"y\"; list.1: target 2, golden 3; and 1 more");
}

TEST_CASE("op parameters: numbers that print alike in six digits are equal, integers are exact") {
  CHECK(told(R"({"scale":0.35355339059327373,"n":8})", R"({"scale":0.353553,"n":8.0})").empty());
  CHECK(told(R"({"n":10000001})", R"({"n":10000000})") == "n: target 10000001, golden 10000000");
}

TEST_CASE("op parameters: only a number with a fraction counts as real") {
  const auto differences = parameter_differences(R"({"scale":0.4,"heads":4,"on":true,"list":[1]})",
                                                 R"({"scale":1,"heads":2,"on":false,"list":1.5})");
  REQUIRE(differences.size() == 4);
  CHECK(differences[0].real);
  CHECK_FALSE(differences[1].real);
  CHECK_FALSE(differences[2].real);
  CHECK_FALSE(differences[3].real);
}

TEST_CASE("op parameters: texts that are no objects have no members") {
  CHECK(told("[1]", "[2]").empty());
  CHECK(told("{", "{\"a\":1}").empty());
  CHECK(told("", "{\"a\":1}").empty());
}

TensorRecord linked(Role role, const std::string& path, double rms, const std::string& link) {
  TensorRecord record = measured(role, path, rms);
  record.link = link;
  return record;
}

// Attention behind a layer that differs by rounding, known by statistics; its own result is off by so little
// that rounding would explain it.
Script attention(bool bad, const std::string& parameters) {
  Script script;
  script.dump = MemoryDump("mindie_atb");
  script.op("3_Layer",
            {linked(Role::input, "0", 1, "x"), linked(Role::output, "0", bad ? 1.0000001 : 1, "a")});
  script.op("4_Layer/0_SelfAttentionOperation", {linked(Role::input, "0", bad ? 1.0000001 : 1, "a"),
                                                 linked(Role::output, "0", bad ? 1.0000002 : 1, "b")});
  script.dump.attributes(parameters);
  script.dump.record().type = "SelfAttentionOperation";
  script.op("5_Layer", {linked(Role::input, "0", bad ? 1.0000002 : 1, "b"),
                        linked(Role::output, "0", bad ? 1.0000003 : 1, "c")});
  return script;
}

TEST_CASE("localise: another scale among the parameters names the operation, however small its effect") {
  const Outcome healthy = run(attention(true, R"({"qkScale":0.5})"), attention(false, R"({"qkScale":0.5})"));
  CHECK(healthy.table.localisation.culprits.empty());
  const Outcome outcome = run(attention(true, R"({"qkScale":0.51})"), attention(false, R"({"qkScale":0.5})"));
  const Localisation& found = outcome.table.localisation;
  CHECK(first(found) == "compute_fault 4_Layer/0_SelfAttentionOperation output.0 step 0 rank 0");
  REQUIRE(found.culprits.size() == 1);
  CHECK(found.culprits[0].evidence[0].second == "a parameter differs: qkScale: target 0.51, golden 0.5");
  CHECK(found.culprits[0].evidence[1] ==
        std::pair<std::string, std::string>("parameters", "qkScale: target 0.51, golden 0.5"));
}

TEST_CASE("localise: a parameter that is no real number is told and blames nothing by itself") {
  const Outcome outcome = run(attention(true, R"({"maskType":1})"), attention(false, R"({"maskType":2})"));
  const Localisation& found = outcome.table.localisation;
  CHECK(found.culprits.empty());
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0] ==
        "parameters differ in 1 operation, first 4_Layer/0_SelfAttentionOperation: maskType: target 1, "
        "golden 2");
}

}  // namespace
}  // namespace ulpscope
