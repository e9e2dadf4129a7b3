#include "flow/stage_file.hpp"

#include <doctest/doctest.h>

#include "flow/request.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

std::string message(const std::string& text) {
  const test::TempFolder folder;
  const auto file = read_stage_file(folder.write("stages.yaml", text));
  if (file.ok()) return "read";
  CHECK(file.error().code == Code::usage);
  return file.error().message.substr(folder.path().size() + 1);
}

}  // namespace

TEST_CASE("stage file: YAML and JSON, paths relative to it") {
  const test::TempFolder folder;
  const auto yaml =
      read_stage_file(folder.write("a/stages.yaml",
                                   "golden: ../golden\nop_limit: 0.9\nbatch: 2\ndata_check: wrong\n"
                                   "stages:\n  - {name: origin, dump: 1_origin, met: false}\n"
                                   "  - {name: keep_1, dump: /d, fusion: x.json, keep: [a/b, 'c d']}\n"));
  REQUIRE(yaml.ok());
  CHECK(yaml->golden == folder / "golden");
  CHECK(yaml->op_limit == 0.9);
  CHECK(yaml->accuracy_limit == 0.99);
  CHECK(yaml->batch == 2);
  CHECK(yaml->data_right == false);
  CHECK_FALSE(yaml->keep_performance.has_value());
  REQUIRE(yaml->stages.size() == 2);
  CHECK(yaml->stages[0].dump == folder / "a/1_origin");
  CHECK(yaml->stages[0].met == false);
  CHECK(yaml->stages[1].dump == "/d");
  CHECK(yaml->stages[1].fusion == folder / "a/x.json");
  CHECK(yaml->stages[1].keep == std::vector<std::string>{"a/b", "c d"});
  CHECK(read_stage_file(folder.write("s.json", R"({"stages": [{"name": "origin", "dump": "x"}]})")).ok());
}

TEST_CASE("stage file: what is wrong is told with its line") {
  CHECK(message("3") == "stages.yaml: not a stage file: expected a list of stages under 'stages'");
  CHECK(message("a: 1\n") == "stages.yaml: line 1: unknown member 'a'");
  CHECK(message("op_limit: 2\n") == "stages.yaml: line 1: op_limit: expected a number above 0, at most 1");
  CHECK(message("batch: 0\n") == "stages.yaml: line 1: batch: expected a whole number from 1 on");
  CHECK(message("keep_performance: perhaps\n") ==
        "stages.yaml: line 1: keep_performance: expected true or false");
  CHECK(message("data_check: maybe\n") == "stages.yaml: line 1: data_check: expected right or wrong");
  CHECK(message("golden: [x]\n") == "stages.yaml: line 1: golden: expected a text");
  CHECK(message("stages: x\n") == "stages.yaml: line 1: stages: expected a list");
  CHECK(message("stages:\n  - x\n") == "stages.yaml: line 2: expected a stage with name and dump");
  CHECK(message("stages:\n  - {dump: x}\n") == "stages.yaml: line 2: a stage without a name");
  CHECK(message("stages:\n  - {name: origin}\n") == "stages.yaml: line 2: stage origin: the dump is missing");
  CHECK(message("stages:\n  - {name: origin, dump: x, y: 1}\n") ==
        "stages.yaml: line 2: unknown member 'y' of a stage");
  CHECK(message("stages:\n  - {name: origin, dump: x, keep: y}\n") ==
        "stages.yaml: line 2: keep: expected a list of operators");
  CHECK(message("stages:\n  - {name: origin, dump: x}\n  - {name: origin, dump: y}\n") ==
        "stages.yaml: line 3: stage origin stands twice");
  CHECK(message("stages: []\n") ==
        "stages.yaml: the stage origin is missing: the build and run that gave the wrong result");
  CHECK(message("stages: [\n").find("stages.yaml: line 2: ") == 0);
}

TEST_CASE("request: options and files of each stage") {
  FlowRequest keep = make_request("keep_2", {"a/b", "c d"}, "");
  keep.model = "net";
  CHECK(keep.options ==
        std::vector<std::string>{"--precision_mode=force_fp16", "--keep_dtype=./exceptionlist.cfg"});
  const auto files = request_files(keep);
  REQUIRE(files.size() == 2);
  CHECK(files[0] == std::pair<std::string, std::string>("exceptionlist.cfg", "a/b\nc d\n"));
  CHECK(files[1].second ==
        "{\"dump\": {\"dump_list\": [{\"model_name\": \"net\"}], \"dump_path\": \"./dump\", \"dump_mode\": "
        "\"all\", "
        "\"dump_op_switch\": \"off\"}}\n");
  CHECK(make_request("high_precision", {}, "").options ==
        std::vector<std::string>{"--precision_mode=allow_fp32_to_fp16"});
  CHECK(make_request("cache_off", {}, "").options.back() == "--buffer_optimize=off_optimize");
  const FlowRequest fusion = make_request("fusion_off", {}, "");
  CHECK(fusion.removed_options == std::vector<std::string>{"--buffer_optimize"});
  CHECK(request_files(fusion)[0].second ==
        "{\"Switch\": {\"GraphFusion\": {\"ALL\": \"off\"}, \"UBFusion\": {\"ALL\": \"off\"}}}\n");
  CHECK(make_request("golden", {}, "").files.empty());
  FlowRequest broken = make_request("keep_1", {"a\nOpType::All"}, "");
  CHECK(request_files(broken)[0].second == "a\\x0aOpType::All\n");
}

TEST_CASE("stage file: a bare list is one of stages") {
  const test::TempFolder folder;
  const auto list = read_stage_file(folder.write(
      "stages.json", R"([{"name": "origin", "dump": "x", "options": "--precision_mode_v2=fp16"}])"));
  REQUIRE(list.ok());
  REQUIRE(list->stages.size() == 1);
  CHECK(list->stages[0].options == "--precision_mode_v2=fp16");
  CHECK(list->op_limit == 0.95);
  CHECK(message("- {name: high_precision, dump: x}\n") ==
        "stages.yaml: the stage origin is missing: the build and run that gave the wrong result");
}

TEST_CASE("request: origin's own precision option stands where the procedure says force_fp16") {
  using Options = std::vector<std::string>;
  const char* second = "--soc_version=X --precision_mode_v2=mixed_float16";
  CHECK(make_request("high_precision", {}, second).options == Options{"--precision_mode_v2=origin"});
  CHECK(make_request("keep_1", {"a"}, second).options ==
        Options{"--precision_mode_v2=mixed_float16", "--keep_dtype=./exceptionlist.cfg"});
  CHECK(make_request("cache_off", {}, "--precision_mode=allow_mix_precision").options ==
        Options{"--precision_mode=allow_mix_precision", "--buffer_optimize=off_optimize"});
}
