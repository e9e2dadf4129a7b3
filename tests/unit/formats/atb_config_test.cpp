#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/atb_config.hpp"

using namespace ulpscope;

namespace {

std::vector<std::string> findings(const std::string& members) {
  const auto found = check_atb_config("{\"dump_enable\": true, \"exec_range\": \"all\", " + members + "}");
  return found.ok() ? *found : std::vector<std::string>{"error: " + found.error().message};
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("atb config: the text is what the probe reads, and has nothing to find") {
  AtbConfig config;
  config.exec_range = "1,1";
  config.ids = "4_1";
  config.save_child = true;
  const std::string text = atb_config_text(config);
  CHECK(text == R"({"task": "tensor", "dump_enable": true, "exec_range": "1,1", "ids": "4_1", )"
                R"("op_name": "", "save_child": true, )"
                R"("device": "", "filter_level": 1})");
  CHECK(check_atb_config(text)->empty());
  CHECK(atb_load_line("config.json", "/data") ==
        "source load_atb_probe.sh --output=/data --config=config.json");
}

TEST_CASE("atb config: what the probe misreads without a word") {
  CHECK(findings(R"("ids": "4,5_1", "device": "0,1", "filter_level": 0, "op_name": "Prefill")").empty());
  CHECK(findings(R"("ids": "4, 5")") ==
        Lines{"ids: \" 5\" finds nothing, expected numbers joined by _ without blanks, as 4_1"});
  CHECK(findings(R"("device": "npu0")") ==
        Lines{"device: \"npu0\" finds nothing, expected numbers without blanks"});
  CHECK(findings(R"("task": "everything")") ==
        Lines{"task: \"everything\" is none of tensor, statistics and all, the probe writes no data for it"});
  CHECK(findings(R"("task": 1)") == Lines{"task: expected a text, any other value counts as missing"});
  CHECK(findings(R"("save_child": "true")") ==
        Lines{"save_child: expected true or false without quotes, anything else counts as false"});
  CHECK(findings(R"("filter_level": 3)") ==
        Lines{"filter_level: expected 0, 1 or 2, anything else counts as 1"});
  CHECK(findings(R"("filter_level": 2)").front().starts_with("filter_level: 2 ends the serving process"));
  CHECK(findings(R"("colour": 2)") == Lines{"colour: not a key of the probe, it is ignored"});
}

TEST_CASE("atb config: rounds and the switch") {
  CHECK(
      *check_atb_config(R"({"dump_enable": "true"})") ==
      Lines{"dump_enable: expected true without quotes, anything else counts as false and nothing is dumped",
            "exec_range: missing, only round 0 is dumped"});
  CHECK(*check_atb_config(R"({"dump_enable": false, "exec_range": "none"})") ==
        Lines{"dump_enable: false, nothing is dumped", "exec_range: none, nothing is dumped"});
  for (const char* range : {"1", "2,1", "1,2,3", "ALL", "1x,2"}) {
    CAPTURE(range);
    CHECK(check_atb_config(std::string(R"({"dump_enable": true, "exec_range": ")") + range + "\"}")->size() ==
          1);
  }
}

TEST_CASE("atb config: what the probe cannot read at all") {
  CHECK(check_atb_config("[]").error().message == "expected an object of settings");
  CHECK(check_atb_config("{\"a\"").error().message.starts_with("byte "));
}
