#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "opened.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;
using test::Opened;
using test::probe;

namespace {

const std::string kData = ULPSCOPE_TEST_DATA "/framework_dump/";

// A dump.json of calls, each with the token count of its tensors' first dimension.
std::string calls(const std::vector<std::pair<std::string, int>>& names) {
  std::string entries;
  for (const auto& [name, tokens] : names) {
    const std::string tensor = R"({"type":"torch.Tensor","dtype":"torch.int64","shape":[)" +
                               std::to_string(tokens) + R"(],"Max":1})";
    entries += (entries.empty() ? "\"" : ",\"") + name + R"(":{"input_args":[)" + tensor + R"(],"output":[)" +
               tensor + "]}";
  }
  return R"({"task":"statistics","level":"L1","data":{)" + entries + "}}";
}

std::vector<int32_t> tokens_of(const Opened& opened) {
  std::vector<int32_t> tokens;
  for (const OpRecord& op : opened.records.ops) tokens.push_back(op.token);
  return tokens;
}

}  // namespace

TEST_CASE("probe: a dump without vLLM is torch_api's alone") {
  const std::string path = kData + "misc_backward_tensor_mix/single";
  CHECK(probe(entry_torch_api(), path) == 60);
  CHECK(probe(entry_vllm_v0(), path) == 0);
  CHECK(probe(entry_vllm_v1(), path) == 0);
  CHECK(probe(entry_tensor_files(), path) == 0);
}

TEST_CASE("probe: one forward pass of vLLM a step is V1, two are V0") {
  const std::string one = kData + "f_identical_stat_mix/golden",
                    two = kData + "v0_token_range_stat_mix/target";
  CHECK(probe(entry_torch_api(), one) == 60);
  CHECK(probe(entry_vllm_v1(), one) == 80);
  CHECK(probe(entry_vllm_v0(), one) == 0);
  CHECK(probe(entry_vllm_v1(), two) == 70);
  CHECK(probe(entry_vllm_v0(), two) == 80);
}

TEST_CASE("probe: vLLM is also seen by its stacks, and any level may be named") {
  const test::TempFolder folder;
  folder.write("step3/rank0/dump.json", calls({{"Functional.embedding.0.forward", 5}}));
  folder.write("step3/rank0/stack.json", R"({"0": [["a"], ["File /opt/vllm/worker.py, line 1, in f"]]})");
  for (const char* name : {"", "/step3", "/step3/rank0", "/step3/rank0/dump.json"}) {
    CAPTURE(name);
    CHECK(probe(entry_vllm_v1(), folder.path() + name) == 80);
    CHECK(probe(entry_torch_api(), folder.path() + name) == 60);
  }
}

TEST_CASE("probe: debug.json is a dump, other JSON and nothing are none") {
  CHECK(probe(entry_torch_api(), kData + "misc_debug_tensor/single") == 60);
  const test::TempFolder folder;
  CHECK(probe(entry_torch_api(), folder.path()) == 0);
  CHECK(probe(entry_torch_api(), folder / "none") == 0);
  folder.write("dump.json", R"({"a": 1, "data": {}})");
  CHECK(probe(entry_torch_api(), folder.path()) == 0);
  folder.write("dump.json", R"({"task": "tensor", "level": "L1", "data": {"x)");
  CHECK(probe(entry_torch_api(), folder.path()) == 60);
}

TEST_CASE("probe: a dump.json that is empty, broken or without its members is a damaged dump") {
  for (const char* text :
       {"", "{}", "{\"task\": \"stat", "{\"task\": \"tensor\", \"level\": \"L1\"}", "[]", "hello"}) {
    CAPTURE(text);
    const test::TempFolder folder;
    folder.write("step0/rank0/dump.json", text);
    CHECK(probe(entry_torch_api(), folder.path()) == 55);
    CHECK(probe(entry_torch_api(), folder / "step0/rank0/dump.json") == 55);
    CHECK(probe(entry_vllm_v1(), folder.path()) == 0);
    folder.write("step0/rank0/model.onnx", text);
    CHECK(probe(entry_torch_api(), folder / "step0/rank0/model.onnx") == 0);
  }
}

TEST_CASE("probe: what stands beside a dump.json tells that it is missing") {
  const test::TempFolder folder;
  folder.write("step0/rank0/notes.txt", "");
  CHECK(probe(entry_torch_api(), folder.path()) == 0);
  folder.write("step0/rank0/stack.json", "{}");
  CHECK(probe(entry_torch_api(), folder.path()) == 55);
}

TEST_CASE("options: what is not an option is refused by name") {
  const std::string path = kData + "misc_backward_tensor_mix/single";
  CHECK(
      Opened(
          entry_torch_api(), path,
          R"({"steps": [0], "ranks": [0], "salvage": true, "strict": true, "layout": "raw", "follow_links": false})")
          .status == ULPSCOPE_OK);
  const auto message = [&](const ulpscope_plugin* plugin, const char* options) {
    const Opened opened(plugin, path, options);
    return opened.status == ULPSCOPE_E_USAGE ? opened.message : "no usage error";
  };
  CHECK(message(entry_torch_api(), "[]") == "options: expected a JSON object");
  CHECK(message(entry_torch_api(), R"({"skip_steps": [0]})") ==
        "option skip_steps: not an option of this source");
  CHECK(message(entry_vllm_v1(), R"({"skip_steps": 0})") ==
        "option skip_steps: expected a list of whole numbers");
  CHECK(message(entry_vllm_v1(), R"({"skip_steps": [0.5]})") ==
        "option skip_steps: expected a list of whole numbers");
  CHECK(message(entry_vllm_v1(), R"({"step_offset": "1"})") ==
        "option step_offset: expected a whole number from -1000000");
  CHECK(message(entry_vllm_v0(), R"({"first_token": -1})") ==
        "option first_token: expected a whole number from 0");
  CHECK(message(entry_torch_api(), R"({"salvage": 1})") == "option salvage: expected true or false");
  CHECK(message(entry_torch_api(), R"({"layout": "nz"})") ==
        "option layout: expected \"original\" or \"raw\"");
}

TEST_CASE("vllm_v0: forward passes of a mix dump are tokens, calls count within them") {
  const Opened opened(entry_vllm_v0(), kData + "v0_token_range_stat_mix/target", R"({"first_token": 1})");
  REQUIRE(opened.status == ULPSCOPE_OK);
  const auto& records = opened.records;
  REQUIRE(records.ops.size() == 136);
  CHECK(std::count_if(records.ops.begin(), records.ops.end(),
                      [](const OpRecord& op) { return op.token == 1; }) == 68);
  // Entry 67 is the sampler of the first pass, entry 68 the embedding of the second.
  CHECK(records.ops[67].token == 1);
  CHECK(records.ops[68].token == 2);
  const OpRecord& matmul = records.ops[records.find("Torch.matmul.6.forward")];
  CHECK(matmul.token == 2);
  CHECK(matmul.call == 2);
  CHECK(records.ops[0].attributes_json == R"({"phase":"decode"})");
}

TEST_CASE("vllm_v0: without modules each call like the first one starts a token") {
  const test::TempFolder folder;
  folder.write("dump.json", calls({{"Functional.embedding.0.forward", 5},
                                   {"Functional.linear.0.forward", 5},
                                   {"Functional.linear.1.forward", 5},
                                   {"Functional.embedding.1.forward", 1},
                                   {"Functional.linear.2.forward", 1},
                                   {"Functional.linear.3.forward", 1}}));
  const Opened opened(entry_vllm_v0(), folder.path());
  CHECK(tokens_of(opened) == std::vector<int32_t>{0, 0, 0, 1, 1, 1});
  CHECK(opened.records.ops[4].call == 0);
  CHECK(opened.records.ops[5].call == 1);
  CHECK(opened.records.ops[0].attributes_json == R"({"phase":"prefill"})");
  CHECK(opened.records.ops[3].attributes_json == R"({"phase":"decode"})");
  CHECK(opened.records.diagnoses.empty());
}

TEST_CASE("vllm_v0: calls that do not divide evenly are one token, with a warning") {
  const test::TempFolder folder;
  folder.write("dump.json", calls({{"Functional.embedding.0.forward", 5},
                                   {"Functional.linear.0.forward", 5},
                                   {"Functional.embedding.1.forward", 1}}));
  const Opened opened(entry_vllm_v0(), folder.path());
  CHECK(tokens_of(opened) == std::vector<int32_t>{0, 0, 0});
  REQUIRE(opened.records.diagnoses.size() == 1);
  CHECK(opened.records.diagnoses[0].text ==
        "the calls do not divide evenly among 2 calls like the first one; read as one token");
}

TEST_CASE("vllm_v1: the token count of the embedding tells prefill from decode") {
  const Opened opened(entry_vllm_v1(), ULPSCOPE_TEST_DATA "/framework_dump/d_matmul_noise_tensor_L1/golden");
  REQUIRE(opened.records.ops.size() == 78);
  CHECK(opened.records.ops[0].attributes_json == R"({"phase":"prefill"})");
  CHECK(opened.records.ops[40].step == 1);
  CHECK(opened.records.ops[40].attributes_json == R"({"phase":"decode"})");
  CHECK(opened.records.ops[0].token == -1);
}

TEST_CASE("graph mode: a folder of tensor files without JSON is read by names") {
  namespace fs = std::filesystem;
  const test::TempFolder folder;
  const std::string data = "step0/pid7/dump_tensor_data/";
  folder.write(data + "notes.txt", "");
  const std::string sample = kData +
                             "d_matmul_noise_tensor_L1/golden/step0/rank0/dump_tensor_data/"
                             "Functional.embedding.0.forward.input.0.pt";
  for (const char* name :
       {"Aten.add.Tensor.10.input.0.pt", "Aten.add.Tensor.10.output.pt", "Aten.add.Tensor.2.input.10.pt",
        "Aten.add.Tensor.2.input.2.pt", "Module.m.Mlp.2.input_kwargs.x.pt"})
    fs::copy_file(sample, folder / (data + name));
  folder.write(data + "Aten.mul.11.output.0.pt", "not a tensor");
  CHECK(probe(entry_torch_api(), folder.path()) == 55);
  Opened opened(entry_torch_api(), folder.path());
  std::string names;
  for (const OpRecord& op : opened.records.ops) names += op.name + " " + op.type + "\n";
  CHECK(names ==
        "Aten.add.Tensor.2.forward add\nModule.m.Mlp.forward.2 Mlp\nAten.add.Tensor.10.forward "
        "add\nAten.mul.11.forward mul\n");
  REQUIRE(opened.records.tensors.size() == 6);
  CHECK(opened.records.tensors[0].path == "2");
  CHECK(opened.records.tensors[1].path == "10");
  CHECK(opened.records.tensors[2].role == Role::kwarg);
  CHECK(opened.records.tensors[0].dtype == DType::i64);
  CHECK(opened.records.tensors[5].absent == ULPSCOPE_ABSENT_BAD);
  CHECK(opened.locate(0).size == 40);
  REQUIRE(opened.records.diagnoses.size() == 2);
  CHECK(opened.records.diagnoses[0].text ==
        "no dump.json: ops are read from file names, and their order is not known");
  CHECK(opened.records.log.at(0).second ==
        "step0/pid7/dump_tensor_data: 1 files of other names are not read");
}

TEST_CASE("graph mode: files of other names, and what convert wrote, are tensor files and no dump") {
  const test::TempFolder folder;
  const std::string sample = kData +
                             "d_matmul_noise_tensor_L1/golden/step0/rank0/dump_tensor_data/"
                             "Functional.embedding.0.forward.input.0.pt";
  for (const char* name :
       {"npy/dump_tensor_data/Torch.add.0.forward.output.0.npy", "other/dump_tensor_data/x.pt",
        "converted/dump_tensor_data/Torch.add.0.forward.output.0.pt", "converted/convert.json"}) {
    folder.write(name, "");
    if (std::string_view(name).ends_with(".pt"))
      std::filesystem::copy_file(sample, folder / name, std::filesystem::copy_options::overwrite_existing);
  }
  CHECK(probe(entry_torch_api(), folder / "npy") == 0);
  CHECK(probe(entry_torch_api(), folder / "other") == 0);
  CHECK(probe(entry_torch_api(), folder / "converted") == 0);
  CHECK(probe(entry_tensor_files(), folder / "npy") == 50);
  CHECK(probe(entry_tensor_files(), folder / "other") == 50);
  CHECK(probe(entry_tensor_files(), folder / "converted") == 50);
}

TEST_CASE("graph mode: a data folder without any file of the form is an error of that folder") {
  const test::TempFolder folder;
  folder.write("step0/rank0/dump_tensor_data/x.pt", "");
  const Opened opened(entry_torch_api(), folder.path());
  REQUIRE(opened.records.diagnoses.size() == 1);
  CHECK(opened.records.diagnoses[0].code == ULPSCOPE_E_IO);
  CHECK(opened.records.diagnoses[0].text ==
        "no dump.json, and no file of the form <name>.<call>.<input|output>.pt");
}
