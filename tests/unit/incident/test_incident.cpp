// The parts of the flow: steps of a dump against those of a ledger, engines of bundles, findings, the state.
#include <doctest/doctest.h>

#include "incident/incident_engine.hpp"
#include "incident/incident_findings.hpp"
#include "incident/incident_state.hpp"
#include "incident/incident_steps.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

std::string dump_of(const std::string& shapes) {
  return R"({"data": {"x": {"input_args": [{"shape": [)" + shapes + R"(], "shape": [32, 16]}]}}})";
}

// A ledger whose steps compute so many tokens.
std::string ledger_of(std::initializer_list<int> tokens) {
  std::string text;
  int step = 0;
  for (const int count : tokens) {
    text.append(R"({"step": )").append(std::to_string(step++));
    text.append(R"(, "rank": 0, "reqs": {"a": {"prompt": 9, "computed": 0, "scheduled": )");
    text.append(std::to_string(count)).append("}}}\n");
  }
  return text;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("incident: a dump without folders of steps, or without a ledger, is told nothing of") {
  const test::TempFolder folder;
  folder.write("d/x.npy", "");
  const std::string ledger = folder.write("l.jsonl", ledger_of({4, 1}));
  CHECK(check_dump_steps("golden", folder / "d", ledger, 1).text.en.empty());
  CHECK(check_dump_steps("golden", folder / "d", ledger, 1).count == 0);
  folder.write("d/step1/rank0/dump.json", dump_of("1"));
  const DumpSteps steps = check_dump_steps("golden", folder / "d", "", 1);
  CHECK(steps.text.en.empty());
  CHECK(steps.folder == "step1");
  CHECK(check_dump_steps("golden", folder / "no", folder / "no.jsonl", std::nullopt).folder.empty());
}

TEST_CASE("incident: steps of a dump are those of the ledger, moved, or others") {
  const test::TempFolder folder;
  const std::string ledger = folder.write("l.jsonl", ledger_of({40, 17, 1, 1}));
  folder.write("d/step0/rank1/dump.json", dump_of("40, 8"));
  folder.write("d/step1/rank/dump.json", dump_of("1, 17, 8"));
  folder.write("d/step2/rank0/dump.json", "no JSON");
  DumpSteps steps = check_dump_steps("golden", folder / "d", ledger, 2);
  CHECK_FALSE(steps.disagrees);
  CHECK(steps.count == 3);
  CHECK(steps.text.en == "golden_dump: step 2 is that of the ledger, tokens: 1");
  CHECK(steps.text.zh == "golden_dump：第 2 步与账本一致，token 数 1");

  folder.write("m/step1/rank0/dump.json", dump_of("40, 8"));
  folder.write("m/step2/rank0/dump.json", dump_of("17, 8"));
  folder.write("m/step3/rank0/dump.json", dump_of("1, 8"));
  steps = check_dump_steps("problem", folder / "m", ledger, 2);
  CHECK(steps.disagrees);
  CHECK(has(steps.text.en, "step 1 of problem_dump has no tensor with the 17 rows"));
  CHECK(has(steps.text.en, "by its tokens step 2 of the ledger is step 3 of problem_dump"));
  CHECK(steps.folder == "step3");

  // One token a step fits everywhere: nothing is concluded from it.
  folder.write("o/step9/rank0/dump.json", dump_of("1, 8"));
  steps = check_dump_steps("problem", folder / "o", ledger, 2);
  CHECK(
      steps.text.en ==
      "warning: problem_dump has step 9, not step 2 that makes the token; 1 steps of problem_dump are not in "
      "the ledger, whose last is step 3");
  CHECK(steps.folder.empty());
}

TEST_CASE("incident: numbers that nobody writes do no harm") {
  const test::TempFolder folder;
  const std::string ledger = folder.write(
      "l.jsonl",
      R"({"step": 9223372036854775807, "reqs": {"a": {"scheduled": 9223372036854775807}, "b": {"scheduled": -1}}}
{"step": -9223372036854775808, "reqs": {"a": {"scheduled": 2147483647}, "b": {"scheduled": 2147483647}}}
{"step": 1e9, "reqs": []}
)");
  folder.write("d/step18446744073709551616/rank0/dump.json", dump_of("1"));
  folder.write("d/step9223372036854775807/rank0/dump.json", dump_of("99999999999999999999, "));
  folder.write("d/step5/rank99999999999999999999/dump.json", R"("shape" "shape":[ "shape": [ 5)");
  for (const int64_t wanted : {INT64_MIN, int64_t{-1}, INT64_MAX})
    CHECK_NOTHROW(check_dump_steps("golden", folder / "d", ledger, wanted));
}

TEST_CASE("incident: the engine of a bundle and the words of guide") {
  const test::TempFolder folder;
  folder.write("b/bundle.json", R"({"device": "npu", "vllm": "0.9.1", "vllm_ascend": "0.9.1rc1"})");
  folder.write("b/launch.sh", "VLLM_USE_V1=0 vllm serve m -tp 2 --pipeline-parallel-size 99999999 -dp x\n");
  folder.write("b/env.txt", "VLLM_USE_V1=1\n");
  const IncidentEngine engine = read_incident_engine("problem", folder / "b");
  const std::vector<std::string> words = {"guide",
                                          "collect",
                                          "--vllm-version",
                                          "0.9.1",
                                          "--enforce-eager",
                                          "--mode",
                                          "online",
                                          "--tp",
                                          "2",
                                          "--env",
                                          "VLLM_USE_V1=0",
                                          "--device",
                                          "npu",
                                          "--ascend-version",
                                          "0.9.1rc1",
                                          "--token",
                                          "4"};
  CHECK(guide_words(engine, "4") == words);
  const std::vector<std::string> unknown = {"guide", "collect", "--vllm-version", "VERSION",
                                            "--enforce-eager"};
  CHECK(guide_words(read_incident_engine("problem", ""), "") == unknown);
  CHECK(guide_words(read_incident_engine("problem", folder / "no"), "") == unknown);
}

TEST_CASE("incident: results of strangers are findings or unreadable, never more") {
  const test::TempFolder folder;
  for (const char* text :
       {"", "7", "[]", "{}", R"({"requests": 7, "outputs": {}, "badcases": [[]]})",
        R"({"localisation": {"culprits": [7]}, "rules": [7, {"severity": 1}]})",
        R"({"localisation": {"culprits": [{"op": "a", "next": [7]}]}})", "{\"localisation\": {"}) {
    const std::string path = folder.write("r.json", text);
    for (int step = 0; step <= 10; ++step) CHECK_NOTHROW(finding_of(step, path));
  }
  const std::string refused = folder.write(
      "g.json", R"({"rules": [{"id": "G01", "severity": "error", "text": "no V0"}, {"severity": "note"}]})");
  CHECK(finding_of(6, refused).text.en == "G01 no V0");
  CHECK(replay_finding(folder.write("r.txt", "x\nboth sides are off\n\n")).zh == "两侧均有误差");
  CHECK(replay_finding(folder.write("r.txt", "off: a\n")).zh == "有误差：a");
  CHECK(replay_finding(folder / "no").en.empty());
}

TEST_CASE("incident: a state comes back as it was written") {
  const test::TempFolder folder;
  IncidentState state;
  state.steps.push_back({4, "done", "c", "ulpscope_out/4_x", {"one", "一"}, {{"m", "缺"}}, "i", false});
  folder.write("flow.json", incident_json(state));
  const auto steps = read_incident_state(folder.path());
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].number == 4);
  CHECK(steps[0].finding.en == "one");
  CHECK(steps[0].finding.zh == "一");
  CHECK(steps[0].inputs == "i");
  folder.write("flow.json", R"({"steps": [{"step": 4, "finding": "old"}, {"step": 1e400}, 7]})");
  CHECK(read_incident_state(folder.path()).size() <= 1);
}
