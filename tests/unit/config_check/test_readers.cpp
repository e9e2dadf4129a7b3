// The readers of a bundle: prints of Python, shell scripts, environments, package lists, secrets.
#include <doctest/doctest.h>

#include "config_check/catalogue.hpp"
#include "config_check/launch_script.hpp"
#include "config_check/log_facts.hpp"
#include "config_check/python_print.hpp"
#include "config_check/secrets.hpp"
#include "config_check/shell_words.hpp"
#include "config_check/text_inputs.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

std::string options_of(const std::string& script) {
  return config_json(parse_launch(script, {}).options, true);
}

// Bytes that mean something to the readers, in an order that only the seed decides.
std::string noise(uint32_t seed, size_t size) {
  constexpr std::string_view kAlphabet = "ab=('\"[{}]),:\\$\n #<>|&;-_.0xSamplingParams(ModelConfig(\xff\xe4";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    seed = seed * 1664525u + 1013904223u;
    text += kAlphabet[(seed >> 8) % kAlphabet.size()];
  }
  return text;
}

}  // namespace

TEST_CASE("python print: nested values, quotes and calls") {
  const ConfigValue value =
      parse_python_fields("a='x, (y)', b=[1, 2.5], c={'k': None}, d=torch.bfloat16, e=F(g=True), h=auto)");
  CHECK(
      config_json(value) ==
      R"x({"a": "x, (y)", "b": [1, 2.5], "c": {"k": null}, "d": "torch.bfloat16", "e": {"g": true}, "h": "auto"})x");
}

TEST_CASE("python print: a list cut short ends without its last member") {
  CHECK(config_json(parse_python_fields("a=1, b='c', ...")) == R"({"a": 1, "b": "c"})");
}

TEST_CASE("python print: escapes become characters") {
  CHECK(parse_python_value("'\\u4e2d\\n\\x41\\''").text == "\xe4\xb8\xad\nA'");
}

TEST_CASE("python print: depth has an end") {
  CHECK_NOTHROW(parse_python_value(std::string(100'000, '[')));
  CHECK_NOTHROW(parse_python_fields(std::string(100'000, '(')));
}

TEST_CASE("launch: flags, short names, lists and JSON") {
  CHECK(
      options_of("vllm serve M -tp 2 --no-a-b --c --d -1 --e x y --f.g 3 -O3\n") ==
      R"({"a_b": false, "c": true, "compilation_config": {"level": 3}, "d": -1, "e": ["x", "y"], "f": {"g": 3}, )"
      R"("model": "M", "tensor_parallel_size": 2})");
}

TEST_CASE("launch: the engine wins over helpers, wrappers are looked through") {
  CHECK(options_of("python prepare.py --x 1\nnumactl -N 0 vllm serve M --seed 1 > log 2>&1 &\n") ==
        R"({"model": "M", "seed": 1})");
  CHECK(options_of("torchrun --nproc_per_node 8 t.py --lr 1\n") ==
        R"({"lr": 1, "nproc_per_node": [8, "t.py"]})");
}

TEST_CASE("shell: substitution, defaults, appended arrays and inline environment") {
  const LaunchCommand launch = parse_launch(
      "A=(--x 1)\nA+=(\"--y\" 'b c')\nB=${NONE:-d}\nexport E=\"$B\"\nF=1 vllm serve $B \"${A[@]}\"",
      {{"Z", "z"}});
  CHECK(config_json(launch.options, true) == R"({"model": "d", "x": 1, "y": "b c"})");
  CHECK(launch.inline_environment.at("F") == "1");
  CHECK(launch.exported.at("E") == "d");
}

TEST_CASE("shell: a variable that doubles itself has an end") {
  std::string script = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 64; ++i) script += "A=$A$A\n";
  CHECK_NOTHROW(parse_launch(script + "vllm serve $A\n", {}));
}

TEST_CASE("environment: env, declare, NUL and functions") {
  const NamedTexts plain = parse_environment("A=1\nBASH_FUNC_m%%=() {  x\n y=2\n}\nB=two\nlines\n");
  CHECK(plain.size() == 2);
  CHECK(plain.at("B") == "two\nlines");
  CHECK(parse_environment("declare -x A=\"a \\\"b\\\"\"\ndeclare -x B\n").at("A") == "a \"b\"");
  CHECK(parse_environment(std::string_view("A=1\0B=2\0", 8)).at("B") == "2");
}

TEST_CASE("packages: every form that pip prints") {
  const NamedTexts found = parse_packages(
      "Package Version Editable project location\n------- -------\nFlash_Attn 2.7 /x\n"
      "a @ file:///p/a-1.0%2Bcu1-py3-none-any.whl#sha256=0\n-e git+https://h/b@abc#egg=b_c\nd.e==2\nf=3\n# "
      "g==1\n");
  CHECK(found ==
        NamedTexts{{"flash-attn", "2.7"}, {"a", "1.0+cu1"}, {"b-c", "git:abc"}, {"d-e", "2"}, {"f", "3"}});
}

TEST_CASE("secrets: by name, and by value wherever it stands") {
  CHECK(is_secret_variable("HF_TOKEN"));
  CHECK(is_secret_option("api_key"));
  CHECK(is_secret_option("hf-token"));
  for (const char* name : {"max_tokens", "eos_token_id", "bos_token", "num_key_value_heads",
                           "maxInputTokenLen", "pass_config"}) {
    CAPTURE(name);
    CHECK_FALSE(is_secret_option(name));
  }
  SecretValues seen;
  const std::string line =
      hide_in_line("export A_KEY=\"topsecret\" --api-key abcdefg max_tokens=64 https://u:pw@h/x", seen);
  CHECK(line.find("topsecret") == std::string::npos);
  CHECK(line.find("abcdefg") == std::string::npos);
  CHECK(line.find("u:pw") == std::string::npos);
  CHECK(line.find("max_tokens=64") != std::string::npos);
  CHECK(seen.hide("x topsecret y").find("topsecret") == std::string::npos);
  for (const char* header : {"Authorization: Bearer t0ps3cret", "-H 'authorization: basic  t0ps3cret' x",
                             "{\"Authorization\": \"Bearer t0ps3cret\"}", "Proxy-Authorization: t0ps3cret"}) {
    const std::string hidden = hide_in_line(header, seen);
    INFO(hidden);
    CHECK(hidden.find("t0ps3cret") == std::string::npos);
    CHECK(hidden.find("<hidden:") != std::string::npos);
  }
  CHECK(hide_in_line("token Bearer is wanted", seen) == "token Bearer is wanted");
}

TEST_CASE("log: a prompt full of the words of a log") {
  const test::TempFolder folder;
  Diagnostics diagnostics;
  const auto facts = read_log(folder.write("s.log",
                                           "Received request a: prompt: 'params: SamplingParams(top_k=9), "
                                           "x', params: SamplingParams(top_k=3), "
                                           "prompt_token_ids: [1, 2]\nx Initializing a V1 LLM engine "
                                           "(v0.9.1) with config: dtype=auto, seed=0\n"),
                              diagnostics);
  REQUIRE(facts.ok());
  REQUIRE(facts->requests.size() == 1);
  CHECK(config_json(facts->requests[0].parameters) == R"({"top_k": 3})");
  CHECK(facts->requests[0].prompt_ids == std::vector<int64_t>{1, 2});
  CHECK(facts->version == "0.9.1");
  CHECK(config_json(facts->engine) == R"({"dtype": "auto", "seed": 0})");
}

TEST_CASE("catalogue: patterns, dotted parts and lists of objects") {
  const auto catalogue = Catalogue::builtin();
  REQUIRE(catalogue.ok());
  CHECK(catalogue->severity("launch", "additional_config.dump_config_path") == ConfigSeverity::ignored);
  CHECK(catalogue->severity("launch", "additional_config.x") == ConfigSeverity::warning);
  CHECK(catalogue->severity("launch", "enable_lora") == ConfigSeverity::error);
  CHECK(catalogue->severity("mindie", "A.ModelConfig[12].backendType", true) == ConfigSeverity::error);
  CHECK(catalogue->severity("mindie", "ServerConfig.port", true) == ConfigSeverity::ignored);
  CHECK(catalogue->severity("pip", "pandas") == ConfigSeverity::ignored);
}

TEST_CASE("values: numbers by value, at float32 where asked") {
  CHECK(equal_values(value_of_word("1"), value_of_word("1.0")));
  CHECK(equal_values(value_of_word("2"), ConfigValue::of_text("2")));
  CHECK_FALSE(equal_values(value_of_word("0.69999998"), value_of_word("0.7")));
  CHECK(equal_as_float32(value_of_word("0.69999998"), value_of_word("0.7")));
  CHECK_FALSE(equal_values(value_of_word("9007199254740993"), value_of_word("9007199254740992")));
}

TEST_CASE("no reader fails on noise") {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const std::string text = noise(seed, 2000);
    SecretValues seen;
    CHECK_NOTHROW(parse_launch("vllm serve " + text, {}));
    CHECK_NOTHROW(parse_environment(text));
    CHECK_NOTHROW(parse_packages(text));
    CHECK_NOTHROW(parse_versions(text));
    CHECK_NOTHROW(parse_model_config_print("ModelConfig(" + text));
    CHECK_NOTHROW(hide_in_line(text, seen));
  }
}
