// Policies: what matches, which rule decides, and every mistake with its place.
#include <doctest/doctest.h>

#include <algorithm>

#include "judgement_host.hpp"
#include "policy/chooser.hpp"
#include "policy/import.hpp"
#include "policy/loader.hpp"
#include "temp_folder.hpp"

namespace {

using namespace ulpscope;
using namespace ulpscope::test;

struct PolicyFixture : JudgementHost {
  TempFolder folder;

  Result<Policy> load(const std::string& text, const std::string& name = "p.yaml") {
    folder.write(name, text);
    return load_policy(folder.path() + "/" + name, registry);
  }
  // The message of a policy that must be refused, without the folder.
  std::string refusal(const std::string& text) {
    const auto policy = load(text);
    REQUIRE_FALSE(policy.ok());
    CHECK(policy.error().code == Code::usage);
    std::string message = policy.error().message;
    for (size_t at = message.find(folder.path()); at != std::string::npos; at = message.find(folder.path()))
      message.erase(at, folder.path().size() + 1);
    return message;
  }
};

struct Question {
  std::string api = "exp";
  DType dtype = DType::f32;
  Role role = Role::output;
  bool reference = true;
  std::vector<DType> inputs = {DType::f32};
  int32_t rank = 0, step = 0;
};

struct Answer {
  Choice choice;
  std::string judgement, options;
};

Answer ask(JudgementChooser& chooser, const Question& question) {
  const std::string name = "Torch." + question.api + ".0.forward";
  const PolicySubject subject{question.api,    name,          OpKind::api,
                              Phase::forward,  question.role, question.dtype,
                              question.inputs, question.rank, question.step};
  const auto choice = chooser.choose(subject, pair_of(question.dtype, question.dtype), question.reference);
  REQUIRE(choice.ok());
  Answer answer{*choice, "", ""};
  if (choice->judgement == Choice::kNone) return answer;
  answer.judgement = chooser.judgement(choice->judgement).name();
  answer.options = chooser.options_json(choice->judgement);
  return answer;
}

std::string judgement_for(JudgementChooser& chooser, const Question& question) {
  return ask(chooser, question).judgement;
}

JudgementChooser preset(JudgementHost& host, const char* name) {
  auto policy = load_preset(name, host.registry);
  REQUIRE_MESSAGE(policy.ok(), (policy.ok() ? "" : policy.error().message));
  return JudgementChooser(std::move(policy).value(), host.registry);
}

}  // namespace

TEST_CASE("preset seed: the algorithm depends on the API, then on the type") {
  JudgementHost host;
  JudgementChooser seed = preset(host, "seed");
  CHECK(judgement_for(seed, {"mul"}) == "absolute_threshold");
  CHECK(judgement_for(seed, {"MUL"}) == "absolute_threshold");
  CHECK(judgement_for(seed, {"__isub__"}) == "absolute_threshold");
  CHECK(judgement_for(seed, {"relu"}) == "binary_consistency");
  CHECK(judgement_for(seed, {"type_as"}) == "binary_consistency");
  CHECK(judgement_for(seed, {"matmul"}) == "ulp");
  CHECK(judgement_for(seed, {"conv2d"}) == "double_thousandth");
  CHECK(judgement_for(seed, {"softmax"}) == "benchmark");
  CHECK(judgement_for(seed, {"matmul", DType::i64}) == "binary_consistency");
  CHECK(judgement_for(seed, {"matmul", DType::b8}) == "binary_consistency");
  CHECK(judgement_for(seed, {"softmax", DType::f8_e5m2}) == "ulp");
  CHECK(judgement_for(seed, {"npu_dynamic_quant", DType::i8}) == "quantised");
  CHECK(judgement_for(seed, {"softmax", DType::bf16, Role::output, true, {DType::f8_e4m3fn}}) ==
        "absolute_threshold");
}

TEST_CASE("preset seed: guard levels go to the benchmark method, names without case") {
  JudgementHost host;
  JudgementChooser seed = preset(host, "seed");
  CHECK(ask(seed, {"layer_norm"}).options == R"({"level":"L2"})");
  CHECK(ask(seed, {"GELU"}).options == R"({"level":"L2"})");
  CHECK(ask(seed, {"embedding"}).options == R"({"level":"L1"})");
  CHECK(ask(seed, {"softmax"}).options == R"({"level":"L0"})");
  CHECK(ask(seed, {"matmul"}).options == "{}");  // ulp has no levels
}

TEST_CASE("preset seed: without a reference the benchmark method is passed over, and the row says so") {
  JudgementHost host;
  JudgementChooser seed = preset(host, "seed");
  const Answer answer = ask(seed, {"softmax", DType::f32, Role::output, false});
  CHECK(answer.judgement.empty());
  CHECK(answer.choice.note == "benchmark passed over: no reference");
  CHECK(judgement_for(seed, {"matmul", DType::f32, Role::output, false}) == "ulp");
}

TEST_CASE("preset msprobe_code: every floating output by the benchmark method") {
  JudgementHost host;
  JudgementChooser code = preset(host, "msprobe_code");
  for (const char* api : {"mul", "relu", "matmul", "conv2d", "softmax"}) {
    CAPTURE(api);
    CHECK(judgement_for(code, {api}) == "benchmark");
  }
  CHECK(ask(code, {"gelu"}).options == R"({"level":"L0","profile":"msprobe_code"})");
  CHECK(ask(code, {"layer_norm"}).options == R"({"level":"L2","profile":"msprobe_code"})");
  CHECK(judgement_for(code, {"softmax", DType::bf16, Role::output, true, {DType::f8_e4m3fn}}) ==
        "absolute_threshold");
}

TEST_CASE("preset msprobe_per_api: the lists with the limits of the code") {
  JudgementHost host;
  JudgementChooser per_api = preset(host, "msprobe_per_api");
  CHECK(judgement_for(per_api, {"mul"}) == "absolute_threshold");
  CHECK(ask(per_api, {"mul"}).options == R"({"profile":"msprobe_code"})");
  CHECK(ask(per_api, {"matmul"}).options == R"({"profile":"msprobe_code"})");
  CHECK(judgement_for(per_api, {"test_api"}) == "accumulative_error");
}

TEST_CASE("preset cann_community: mean and largest relative error, integers equal") {
  JudgementHost host;
  JudgementChooser cann = preset(host, "cann_community");
  CHECK(judgement_for(cann, {"matmul", DType::f8_e5m2}) == "mere_mare");
  CHECK(judgement_for(cann, {"matmul", DType::i32}) == "binary_consistency");
  CHECK(ask(cann, {"matmul", DType::hif8}).choice.note ==
        "mere_mare passed over: the standard has no limit for hifloat8");
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: rules of a file come before those of what it extends") {
  auto policy = load("version: 1\nrules:\n  - {api: softmax, use: ulp}\n");
  REQUIRE(policy.ok());
  JudgementChooser chooser(std::move(policy).value(), registry);
  CHECK(judgement_for(chooser, {"softmax"}) == "ulp");
  CHECK(judgement_for(chooser, {"mul"}) == "absolute_threshold");
  CHECK(to_text(chooser.policy().rules[0].place) == folder.path() + "/p.yaml:3:5");
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: every key of a match must match") {
  auto policy = load(
      "version: 1\nextends: none\nrules:\n"
      "  - {api: [a*, b], dtype: [float16, torch.bfloat16], role: output, rank: 0-2, step: [1, 5], use: "
      "ulp}\n"
      "  - {name: Torch.named.*, use: binary_consistency}\n");
  REQUIRE(policy.ok());
  JudgementChooser chooser(std::move(policy).value(), registry);
  const auto with = [&](const char* api, DType dtype, Role role, int32_t rank, int32_t step) {
    return judgement_for(chooser, {api, dtype, role, true, {}, rank, step});
  };
  CHECK(with("abs", DType::f16, Role::output, 2, 5) == "ulp");
  CHECK(with("b", DType::bf16, Role::output, 0, 1) == "ulp");
  CHECK(with("bc", DType::f16, Role::output, 0, 1).empty());
  CHECK(with("abs", DType::f32, Role::output, 0, 1).empty());
  CHECK(with("abs", DType::f16, Role::input, 0, 1).empty());
  CHECK(with("abs", DType::f16, Role::output, 3, 1).empty());
  CHECK(with("abs", DType::f16, Role::output, 0, 2).empty());
  CHECK(with("named", DType::f32, Role::input, 9, 9) == "binary_consistency");
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: defaults go to every rule, and a rule may say otherwise") {
  folder.write(
      "base.yaml",
      "version: 1\nextends: none\ndefaults:\n  ulp: {float16_over_rate: 0.5, float32_mean_ulp: 2^3}\n");
  auto policy = load(
      "version: 1\nextends: base.yaml\ndefaults:\n  ulp: {float16_over_rate: 0.25}\nrules:\n"
      "  - {api: a, use: ulp}\n  - {api: b, use: ulp, with: {float16_over_rate: 0.125}}\n");
  REQUIRE_MESSAGE(policy.ok(), (policy.ok() ? "" : policy.error().message));
  CHECK(policy->rules[0].options_json == R"({"float16_over_rate":0.25,"float32_mean_ulp":8.0})");
  CHECK(policy->rules[1].options_json == R"({"float16_over_rate":0.125,"float32_mean_ulp":8.0})");
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: what is ignored is not judged") {
  auto policy = load("version: 1\nignore:\n  - {api: '*dropout*', why: random}\n");
  REQUIRE(policy.ok());
  JudgementChooser chooser(std::move(policy).value(), registry);
  const Answer answer = ask(chooser, {"alpha_dropout"});
  CHECK(answer.choice.ignored_by == 0);
  CHECK(chooser.policy().ignore[0].why == "random");
  CHECK(chooser.unused().empty());
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: rules of the user that matched nothing are named") {
  auto policy = load("version: 1\nrules:\n  - {api: never, use: ulp}\n  - {api: exp, use: ulp}\n");
  REQUIRE(policy.ok());
  JudgementChooser chooser(std::move(policy).value(), registry);
  ask(chooser, {"exp"});
  const auto unused = chooser.unused();
  REQUIRE(unused.size() == 1);
  CHECK(unused[0] == folder.path() + "/p.yaml:3:5: the rule matched nothing in this run");
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: mistakes are named with line and column") {
  CHECK(refusal("") == "p.yaml:1:1: the file is empty, expected a policy");
  CHECK(refusal("- a") == "p.yaml:1:1: expected a policy as a mapping");
  CHECK(refusal("rules: []") == "p.yaml:1:1: version is missing, expected version: 1");
  CHECK(refusal("version: 2") == "p.yaml:1:10: version: expected 1");
  CHECK(refusal("version: 1\nrule: []") == "p.yaml:2:1: unknown key 'rule' (did you mean 'rules'?)");
  CHECK(refusal("version: 1\nversion: 1") == "p.yaml:2:1: 'version' stands twice");
  CHECK(refusal("version: 1\nrules: {}") == "p.yaml:2:8: expected rules as a list");
  CHECK(refusal("version: 1\nrules:\n - {api: a}") ==
        "p.yaml:3:4: the rule has no 'use', expected the name of a judgement");
  CHECK(refusal("version: 1\nrules:\n - {apis: a, use: ulp}") ==
        "p.yaml:3:5: unknown key 'apis' (did you mean 'api'?)");
  CHECK(refusal("version: 1\nrules:\n - {api: [], use: ulp}") == "p.yaml:3:10: api: the list is empty");
  CHECK(refusal("version: 1\nrules:\n - {dtype: float17, use: ulp}") ==
        "p.yaml:3:12: unknown dtype 'float17' (did you mean 'float16'?)");
  CHECK(refusal("version: 1\nrules:\n - {role: outputs, use: ulp}") ==
        "p.yaml:3:11: unknown role 'outputs' (did you mean 'output'?)");
  CHECK(refusal("version: 1\nrules:\n - {rank: x, use: ulp}") ==
        "p.yaml:3:11: rank: expected numbers such as 0 or 2-5");
  CHECK(refusal("version: 1\nrules:\n - {api: a, use: ulp, with: {float33: 1}}")
            .find("p.yaml:3:39: judgement 'ulp' has no option 'float33'") == 0);
  CHECK(refusal("version: 1\nrules:\n - {api: a, use: ulp, with: {float32_mean_ulp: -1}}") ==
        "p.yaml:3:48: option 'float32_mean_ulp': -1, expected a number of at least 0");
  CHECK(refusal("version: 1\nrules:\n - {api: a, use: ulp, with: {float32_mean_ulp: .nan}}") ==
        "p.yaml:3:48: option 'float32_mean_ulp': .nan is no limit, expected a finite number");
  CHECK(refusal("version: 1\nrules:\n - {api: a, use: ulp, with: {float32_mean_ulp: [1]}}") ==
        "p.yaml:3:48: option 'float32_mean_ulp': expected a single value");
  CHECK(refusal("version: 1\nrules:\n - {api: a, use: ulp, with: {profile: mine}}").find("p.yaml:3:39: ") ==
        0);
  CHECK(refusal("version: 1\nlevels: {mm: L9}") == "p.yaml:2:14: level of 'mm': expected L0, L1 or L2");
  CHECK(refusal("version: 1\nignore:\n - {api: a}") ==
        "p.yaml:3:4: the entry gives no reason, expected why: TEXT");
  CHECK(refusal("version: 1\nignore:\n - {why: a}") == "p.yaml:3:4: the entry names nothing to ignore");
  CHECK(refusal("version: 1\nrules: [").find("not YAML: ") != std::string::npos);
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: every mistake of a file is named, not only the first") {
  CHECK(refusal(
            "version: 1\nlevels: {mm: L9}\nrules:\n - {role: outputs, rank: x, use: ulp}\n - {api: a}\n"
            " - {api: b, use: upl}\n - {api: c, use: ulp, with: {float33: 1}}\nignore:\n - {api: d}\nrule: 1")
            .find("p.yaml:2:14: level of 'mm': expected L0, L1 or L2\n"
                  "p.yaml:4:11: unknown role 'outputs' (did you mean 'output'?)\n"
                  "p.yaml:4:26: rank: expected numbers such as 0 or 2-5\n"
                  "p.yaml:5:4: the rule has no 'use', expected the name of a judgement\n"
                  "p.yaml:9:4: the entry gives no reason, expected why: TEXT\n"
                  "p.yaml:10:1: unknown key 'rule' (did you mean 'rules'?)\n"
                  "p.yaml:6:18: use: ") == 0);
  CHECK(
      refusal(
          "version: 1\nrules:\n - {api: b, use: upl}\n - {api: c, use: ulp, with: {float33: 1, float34: 1}}")
          .find("\np.yaml:4:39: judgement 'ulp' has no option 'float33'") != std::string::npos);
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: of very many mistakes the first hundred are named") {
  std::string text = "version: 1\nrules:\n";
  for (int i = 0; i < 500; ++i) text += " - {role: outputs, use: ulp}\n";
  const std::string message = refusal(text);
  CHECK(std::count(message.begin(), message.end(), '\n') == 100);
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: an unknown judgement is named with its place") {
  CHECK(refusal("version: 1\nrules:\n - {api: a, use: upl}").find("p.yaml:3:18: use: ") == 0);
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: what it extends must be there and no circle") {
  CHECK(refusal("version: 1\nextends: sede").find("p.yaml:2:10: extends: ") == 0);
  CHECK(refusal("version: 1\nextends: sede").find("did you mean 'seed'?") != std::string::npos);
  CHECK(refusal("version: 1\nextends: p.yaml") ==
        "p.yaml:2:10: extends: the policies extend each other in a circle");
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: a rule that is never reached is refused") {
  CHECK(refusal("version: 1\nrules:\n - {api: mul, use: ulp}\n - {api: mul, dtype: float16, use: ulp}") ==
        "p.yaml:4:4: the rule is never reached: p.yaml:3:4 decides on everything that it matches");
  CHECK(refusal("version: 1\nrules:\n - {api: '*', use: binary_consistency}\n - {api: mul, dtype: float16, "
                "use: ulp}")
            .find("p.yaml:4:4: the rule is never reached") == 0);
  // Integers are left to the second rule, and whatever has no reference to the rules after benchmark.
  CHECK(load("version: 1\nrules:\n - {api: '*', use: ulp}\n - {api: '*', use: binary_consistency}").ok());
  CHECK(load("version: 1\nrules:\n - {api: '*', use: benchmark}\n - {api: mul, dtype: float16, use: ulp}")
            .ok());
}

TEST_CASE_FIXTURE(PolicyFixture, "policy: hostile files end in a refusal") {
  std::string bomb = "version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += "*a" + std::to_string(i - 1) + (k < 9 ? ", " : "]\n");
  }
  CHECK_FALSE(load(bomb).ok());
  CHECK_FALSE(load("version: 1\nrules: " + std::string(100000, '[')).ok());
  std::string many = "version: 1\nextends: none\nlevels: {}\nrules:\n  - {use: ulp, api: &x [";
  for (int i = 0; i < 3000; ++i) many += "a" + std::to_string(i) + ",";
  many += "z]}\n";
  for (int i = 0; i < 100; ++i)
    many += "  - {use: ulp, dtype: float16, name: b" + std::to_string(i) + ", api: *x}\n";
  const auto refused = load(many);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("too large for a policy") != std::string::npos);
}

TEST_CASE("policy import: lists of APIs by standard") {
  const auto imported = import_policy(
      "s.yaml", "AbsoluteThreshStandard:\n  - mul\n  - __add__\nULPStandard: [matmul]\nOther: [x]\nEmpty:\n");
  REQUIRE(imported.ok());
  CHECK(imported->rules == 2);
  CHECK(imported->names == 3);
  REQUIRE(imported->notes.size() == 1);
  CHECK(imported->notes[0] == "s.yaml:5:1: 'Other' is no standard known here, left out");
  PolicyFixture fixture;
  auto policy = fixture.load(imported->text);
  REQUIRE_MESSAGE(policy.ok(), (policy.ok() ? "" : policy.error().message));
  CHECK(policy->rules[0].use == "absolute_threshold");
  CHECK(policy->rules[0].match.api.matches("__add__"));
  CHECK(policy->rules[1].use == "ulp");
}

TEST_CASE("policy import: limits by API and type") {
  const auto imported = import_policy(
      "t.yaml", "mul:\n  torch.float32: {rtol: 0.000001, small_value: 0.000001, small_value_atol: 1.0e-9}\n");
  REQUIRE(imported.ok());
  PolicyFixture fixture;
  auto policy = fixture.load(imported->text);
  REQUIRE_MESSAGE(policy.ok(), (policy.ok() ? "" : policy.error().message));
  CHECK(policy->rules[0].options_json ==
        R"({"float32_rtol":1e-06,"float32_small_value":1e-06,"float32_small_value_atol":1e-09})");
}

TEST_CASE("policy import: mistakes are named with their place") {
  const auto message = [](const char* text) {
    const auto imported = import_policy("i.yaml", text);
    REQUIRE_FALSE(imported.ok());
    return imported.error().message;
  };
  CHECK(message("") == "i.yaml:1:1: the file is empty, expected standard lists");
  CHECK(message("- a") == "i.yaml:1:1: expected lists of API names by standard");
  CHECK(message("x: y") == "i.yaml:1:4: expected a list of API names or limits by type");
  CHECK(message("ULPStandard: [[a]]") == "i.yaml:1:15: expected the name of an API");
  CHECK(message("Other: [x]") == "i.yaml:1:1: no standard and no limits were found");
  CHECK(message("mul: {float8: {rtol: 1}}") == "i.yaml:1:7: expected float32, float16 or bfloat16");
  CHECK(message("mul: {float32: {atol: 1}}") ==
        "i.yaml:1:17: expected rtol, small_value or small_value_atol");
  CHECK(message("mul: {float32: {rtol: -1}}") == "i.yaml:1:23: expected a number of at least 0");
}

TEST_CASE("example policies do what they say") {
  JudgementHost host;
  const auto load_example = [&](const char* name) {
    auto policy = load_policy(std::string(ULPSCOPE_EXAMPLES) + "/policies/" + name, host.registry);
    REQUIRE_MESSAGE(policy.ok(), (policy.ok() ? "" : policy.error().message));
    return JudgementChooser(std::move(policy).value(), host.registry);
  };
  SUBCASE("loosen one API") {
    JudgementChooser chooser = load_example("loosen_one_api.yaml");
    CHECK(ask(chooser, {"div"}).options == R"({"relative_error_rate":0.01})");
    CHECK(ask(chooser, {"mul"}).options == "{}");
    const Answer div = ask(chooser, {"div"}), mul = ask(chooser, {"mul"});
    const auto judged = [&](const Answer& answer) {
      return judge(chooser.judgement(answer.choice.judgement), DType::f32, DType::f32,
                   metrics_of({0, 0.005, 0}))
          .overall;
    };
    CHECK(judged(div) == ULPSCOPE_PASS);
    CHECK(judged(mul) == ULPSCOPE_FAIL);
  }
  SUBCASE("ULP for one element type") {
    JudgementChooser chooser = load_example("ulp_for_bfloat16.yaml");
    CHECK(judgement_for(chooser, {"relu", DType::bf16}) == "ulp");
    CHECK(judgement_for(chooser, {"relu", DType::f32}) == "binary_consistency");
    CHECK(judgement_for(chooser, {"relu", DType::bf16, Role::input}) == "binary_consistency");
  }
  SUBCASE("ignore dropout") {
    JudgementChooser chooser = load_example("ignore_dropout.yaml");
    CHECK(ask(chooser, {"dropout"}).choice.ignored_by == 0);
    CHECK(ask(chooser, {"feature_alpha_dropout"}).choice.ignored_by == 0);
    CHECK(ask(chooser, {"relu"}).choice.ignored_by == Choice::kNone);
  }
  SUBCASE("stricter levels") {
    JudgementChooser chooser = load_example("stricter_levels.yaml");
    CHECK(ask(chooser, {"softmax"}).options == R"({"level":"L2"})");
    CHECK(ask(chooser, {"npu_rms_norm_backward"}).options == R"({"level":"L2"})");
    CHECK(ask(chooser, {"exp"}).options == R"({"level":"L0"})");
  }
}
