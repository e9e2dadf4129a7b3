// Loads the three examples of the SDK and the documented judgement from a folder and uses each: run_plugin
// PLUGIN_FOLDER DUMP_FOLDER. Writes a small dump into DUMP_FOLDER, opens and scans it with raw_dir, measures
// and judges two of its tensors with sum_err, runs relu on one.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "plugin/outputs.hpp"
#include "plugin/registry.hpp"
#include "policy/chooser.hpp"
#include "policy/loader.hpp"

namespace {

using namespace ulpscope;

void require(bool condition, const std::string& fact) {
  if (condition) return;
  std::fprintf(stderr, "not so: %s\n", fact.c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) require(false, result.error().message);
  return std::move(result).value();
}

void must(const Status& status) {
  if (!status.ok()) require(false, status.error().message);
}

template <size_t N>
void write_floats(const std::string& path, const std::array<float, N>& values) {
  std::ofstream file(path, std::ios::binary);
  std::array<char, N * sizeof(float)> bytes;
  std::memcpy(bytes.data(), values.data(), bytes.size());
  file.write(bytes.data(), bytes.size());
}

// What a scan emitted.
struct Records {
  std::vector<std::string> ops;
  std::vector<std::string> tensors;  // op.role.path dtype dim_count file
  std::vector<std::string> files;
  std::vector<std::string> diagnoses;
};

ulpscope_status add_op(void* ctx, const ulpscope_op_record* op, uint32_t* index, ulpscope_error*) {
  auto& records = *static_cast<Records*>(ctx);
  *index = static_cast<uint32_t>(records.ops.size());
  records.ops.emplace_back(to_view(op->name));
  return ULPSCOPE_OK;
}

ulpscope_status add_tensor(void* ctx, const ulpscope_tensor_record* t, uint32_t* index, ulpscope_error*) {
  auto& records = *static_cast<Records*>(ctx);
  *index = static_cast<uint32_t>(records.tensors.size());
  records.tensors.push_back(records.ops.at(t->op) + (t->role == ULPSCOPE_INPUT ? ".input." : ".output.") +
                            std::string(to_view(t->path)) + " " + name(static_cast<DType>(t->dtype)) + " " +
                            std::to_string(t->dim_count));
  records.files.emplace_back(to_view(t->data.file));
  return ULPSCOPE_OK;
}

void diagnose(void* ctx, ulpscope_status, ulpscope_str where, ulpscope_str text) {
  static_cast<Records*>(ctx)->diagnoses.push_back(std::string(to_view(where)) + ": " +
                                                  std::string(to_view(text)));
}

std::vector<float> read_floats(const std::string& root, const std::string& name) {
  const File file = must(File::open_under(root, name));
  std::vector<float> values(file.size() / sizeof(float));
  must(file.read_exact(0, std::as_writable_bytes(std::span(values))));
  return values;
}

ulpscope_view view_of(const std::vector<float>& values) {
  return {values.data(), values.size(), ULPSCOPE_F32, 0};
}

void write_dump(const std::string& dump) {
  std::filesystem::create_directories(dump);
  write_floats<4>(dump + "/1_relu.input.0.float32.2x2.bin", {-1.0F, 2.0F, -0.5F, 0.25F});
  write_floats<4>(dump + "/1_relu.output.0.float32.2x2.bin", {0.0F, 2.0F, 0.0F, 0.25F});
  write_floats<4>(dump + "/2_good.float32.4.bin", {0.0F, 2.0F, 0.0F, 0.25F});
  write_floats<1>(dump + "/3_short.float32.4.bin", {1.0F});
}

Records scan(SourceHandle& source) {
  Records records;
  ulpscope_record_sink sink = {};
  sink.struct_size = sizeof(sink);
  sink.ctx = &records;
  sink.add_op = add_op;
  sink.add_tensor = add_tensor;
  sink.diagnose = diagnose;
  must(source.scan(sink));
  return records;
}

void use_source(Registry& registry, const std::string& dump) {
  SourceHandle source = must(registry.open_source("auto", dump, R"({"steps": [0]})"));
  require(source.source_name() == "raw_dir", "probing takes raw_dir");
  const Records records = scan(source);
  require(records.ops == std::vector<std::string>{"1_relu", "2_good", "3_short"},
          "three ops in order of name");
  require(
      records.tensors == std::vector<std::string>{"1_relu.input.0 float32 2", "1_relu.output.0 float32 2",
                                                  "2_good.output.0 float32 1", "3_short.output.0 float32 1"},
      "four tensors, inputs first");
  require(records.files.at(0) == "1_relu.input.0.float32.2x2.bin", "the first tensor lies in its file");
  require(records.files.at(3).empty(), "a file of the wrong size has no data");
  require(records.diagnoses ==
              std::vector<std::string>{"3_short.float32.4.bin: 4 bytes, expected 16 bytes by its name"},
          "the wrong size is reported");
}

PairVerdict judge(Registry& registry, const std::vector<float>& actual, const std::vector<float>& golden) {
  const JudgementHandle judgement = must(registry.create_judgement("sum_err", "{}"));
  const ulpscope_op_record op = {};
  ulpscope_pair pair = {};
  pair.struct_size = sizeof(pair);
  pair.op = &op;
  pair.actual_dtype = pair.golden_dtype = ULPSCOPE_F32;
  pair.count = actual.size();
  std::string why_not;
  require(judgement.applies(pair, why_not), "sum_err applies to float32");
  MeasureHandle measure = must(judgement.begin(pair));
  must(measure.consume(view_of(actual), view_of(golden)));
  const Measurement measurement = must(measure.finish());
  return must(judgement.judge(pair, measurement.metrics, {}));
}

// A judgement that a policy chooses: as docs/writing-a-judgement.md has it.
void use_policy(Registry& registry, const std::string& folder) {
  const std::string path = folder + "/policy.yaml";
  std::ofstream(path) << "version: 1\nextends: none\nrules:\n  - {api: [layer_norm, softmax], use: bias}\n";
  JudgementChooser chooser(must(load_policy(path, registry)), registry);
  const ulpscope_op_record op = {};
  ulpscope_pair pair = {};
  pair.struct_size = sizeof(pair);
  pair.op = &op;
  pair.actual_dtype = pair.golden_dtype = ULPSCOPE_F32;
  const PolicySubject subject{"softmax",
                              "Functional.softmax.0.forward",
                              OpKind::api,
                              Phase::forward,
                              Role::output,
                              DType::f32,
                              {},
                              -1,
                              -1};
  const Choice choice = must(chooser.choose(subject, pair, false));
  require(choice.judgement >= 0 && chooser.judgement(choice.judgement).name() == "bias",
          "the policy chooses bias");
  const std::vector<float> actual = {1, 2, 3, 4}, golden = {1, 2, 3, 4}, off = {1, 2, 3, 5};
  const auto judged = [&](const std::vector<float>& values) {
    MeasureHandle measure = must(chooser.judgement(choice.judgement).begin(pair));
    must(measure.consume(view_of(values), view_of(golden)));
    return must(chooser.judgement(choice.judgement).judge(pair, must(measure.finish()).metrics, {})).overall;
  };
  require(judged(actual) == ULPSCOPE_PASS, "no bias passes");
  require(judged(off) == ULPSCOPE_FAIL, "a bias of 0.1 fails");
}

void use_executor(Registry& registry, const std::vector<float>& input, const std::vector<float>& expected) {
  const ExecutorHandle executor = must(registry.create_executor("relu", "{}"));
  ulpscope_op_record op = {};
  op.struct_size = sizeof(op);
  op.type = to_str("relu");
  require(executor.supports(op), "relu supports relu");
  const std::array<int64_t, 2> dims = {2, 2};
  const ulpscope_tensor tensor = {ULPSCOPE_INPUT, 2, dims.data(), to_str("0"), view_of(input), 0, 0};
  OutputCollector outputs(1 << 20);
  must(executor.run(op, std::span(&tensor, 1), outputs.sink()));
  const std::vector<OutputTensor> results = outputs.take();
  require(results.size() == 1 && results[0].shape == Shape{2, 2}, "one output of shape [2, 2]");
  require(std::memcmp(results[0].data.data(), expected.data(), results[0].data.size()) == 0, "max(x, 0)");
  require(!executor.run(op, {}, outputs.sink()).ok(), "relu without an input is an error");
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 3, "usage: run_plugin PLUGIN_FOLDER DUMP_FOLDER");
  const std::string dump = argv[2];
  write_dump(dump);
  ThreadPool pool(2);
  Cancel cancel;
  Diagnostics diagnostics;
  const HostServices host(pool, cancel, {}, "0");
  Registry registry({{{argv[1], "--plugin-path"}}, {}, false}, host, diagnostics);
  use_source(registry, dump);
  const std::vector<float> input = read_floats(dump, "1_relu.input.0.float32.2x2.bin");
  const std::vector<float> output = read_floats(dump, "1_relu.output.0.float32.2x2.bin");
  require(judge(registry, output, read_floats(dump, "2_good.float32.4.bin")).overall == ULPSCOPE_PASS,
          "equal tensors pass");
  require(judge(registry, input, output).overall == ULPSCOPE_FAIL, "a sum of 1.5 fails");
  use_executor(registry, input, output);
  use_policy(registry, dump);
  require(registry.plugins().size() == 5, "five plugins");
  require(diagnostics.count() == 0, "nothing to report");
  return 0;
}
