#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <zlib.h>
#include "base/file.hpp"
#include "base/text.hpp"
#include "collect.hpp"
#include "formats/framework_dump.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

const std::string kData = ULPSCOPE_TEST_DATA "/framework_dump/";

// A scanned dump.
struct Scan {
  explicit Scan(const std::string& path, FrameworkOptions options = {},
                FrameworkFlavour flavour = FrameworkFlavour::torch_api) {
    auto opened = FrameworkDump::open(records.host(), path, flavour, options);
    if (!opened.ok()) {
      error = opened.error().message;
      return;
    }
    dump = std::move(opened).value();
    RecordSink sink(records.sink_table());
    dump->scan(sink);
  }
  // The bytes of a tensor, through whatever way the dump offers.
  std::string bytes(size_t tensor, const std::string& root) const {
    DataRef ref = records.tensors[tensor].data;
    if (ref.kind == ULPSCOPE_DATA_LATER) ref = dump->locate(ref.token);
    std::string data(static_cast<size_t>(ref.size), '\0');
    if (ref.kind == ULPSCOPE_DATA_FILE) {
      const auto file = File::open_under(root, ref.file);
      REQUIRE(file.ok());
      REQUIRE(file->read_exact(ref.offset, std::as_writable_bytes(std::span(data))).ok());
      return data;
    }
    const auto stream = dump->stream(ref.token);
    size_t done = 0;
    while (const uint64_t got = stream->read(data.data() + done, std::min<size_t>(data.size() - done, 1000)))
      done += got;
    CHECK(done == data.size());
    return data;
  }
  std::string locate_error(size_t tensor) const {
    try {
      dump->locate(records.tensors[tensor].data.token);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return {};
  }
  test::Collector records;
  std::unique_ptr<FrameworkDump> dump;
  std::string error;
};

// The counts that count.py made.
std::vector<std::vector<std::string>> expected_counts() {
  std::ifstream file(kData + "counts.csv");
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> row;
    for (const std::string_view cell : split(line, ',')) row.emplace_back(cell);
    rows.push_back(row);
  }
  return rows;
}

// What was diagnosed, one a line.
std::string texts_of(const Scan& scan) {
  std::string texts;
  for (const auto& diagnosis : scan.records.diagnoses)
    texts += diagnosis.where + ": " + diagnosis.text + "\n";
  return texts;
}

std::string number(uint64_t n) { return std::to_string(n); }

const std::string kEntry =
    R"({"input_args":[],"output":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[2],"Max":1,"Min":0,"Mean":0.5,"Norm":1}]})";

std::string dump_of(const std::string& entries, const std::string& task = "statistics") {
  return "{\"task\":\"" + task + "\",\"level\":\"L1\",\"data\":{" + entries + "}}";
}

}  // namespace

TEST_CASE("scan: records of every sample dump equal an independent count, in the order of the file") {
  const auto rows = expected_counts();
  REQUIRE(rows.size() == 19);
  for (const auto& row : rows) {
    CAPTURE(row[0]);
    const Scan scan(kData + row[0]);
    CHECK(scan.error.empty());
    CHECK(number(scan.records.ops.size()) == row[1]);
    CHECK(number(scan.records.tensors.size()) == row[2]);
    uint64_t files = 0, numbers = 0, sums = 0;
    for (const TensorRecord& tensor : scan.records.tensors) {
      const bool is_text_array = tensor.absent == ULPSCOPE_ABSENT_NO_DATA && tensor.dtype == DType::none;
      files += tensor.data.kind == ULPSCOPE_DATA_LATER || is_text_array;
      numbers += tensor.stats.present != 0;
      sums += !tensor.digest.empty();
    }
    CHECK(number(files) == row[3]);
    CHECK(number(numbers) == row[4]);
    CHECK(number(sums) == row[5]);
    uLong keys = 0;
    for (const OpRecord& op : scan.records.ops) {
      const std::string line = op.name + "\n";
      keys = crc32(keys, reinterpret_cast<const Bytef*>(line.data()), static_cast<uInt>(line.size()));
    }
    CHECK(number(keys) == row[6]);
    // The one key of another form in these dumps is "optimizer.step".
    CHECK(scan.records.diagnoses.size() == (row[0] == "match/target" ? 1 : 0));
  }
}

TEST_CASE("scan: checksums of stored tensors equal those that another run recorded") {
  const std::string root = kData + "d_matmul_noise_tensor_L1/golden";
  const Scan files(root), sums(kData + "d_matmul_noise_md5_L1/golden");
  REQUIRE(files.records.tensors.size() == sums.records.tensors.size());
  for (size_t i = 0; i < files.records.tensors.size(); ++i) {
    CAPTURE(i);
    const std::string data = files.bytes(i, root);
    char text[16];
    std::snprintf(text, sizeof(text), "crc32:%08lx",
                  crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
    CHECK(sums.records.tensors[i].digest == text);
  }
}

TEST_CASE("scan: the last byte of every kind of file that the writer leaves can be read") {
  const std::string root = kData + "misc_value_types_tensor_mix/single";
  const Scan scan(root);
  for (size_t i = 0; i < scan.records.tensors.size(); ++i) {
    const TensorRecord& tensor = scan.records.tensors[i];
    if (tensor.absent != 0) continue;
    CAPTURE(i);
    uint64_t expected = size_bytes(tensor.dtype);
    for (const int64_t dim : tensor.shape) expected *= static_cast<uint64_t>(dim);
    CHECK(scan.bytes(i, root).size() == expected);
  }
}

TEST_CASE("scan: steps, ranks, parents and stacks of a mix dump") {
  const Scan scan(kData + "f_identical_stat_mix/golden");
  const auto& ops = scan.records.ops;
  const uint32_t linear = scan.records.find("Functional.linear.0.forward");
  REQUIRE(linear < ops.size());
  CHECK(ops[linear].step == 0);
  CHECK(ops[linear].rank == 0);
  CHECK(ops[linear].token == -1);
  CHECK(ops[linear].type == "linear");
  REQUIRE(ops[linear].parent < ops.size());
  CHECK(ops[ops[linear].parent].name ==
        "Module.model.layers.0.self_attn.qkv_proj.QKVParallelLinear.forward.0");
  CHECK(ops[linear].parent > linear);
  CHECK(ops[linear].stack.starts_with("File /home/user/llm/llm_model.py, line "));
  CHECK(ops[linear].stack.find("\n ") == std::string::npos);
}

TEST_CASE("scan: any level of the tree may be named") {
  const std::string base = kData + "d_matmul_noise_stat_L0/golden";
  const Scan root(base), step(base + "/step1"), rank(base + "/step1/rank0/"),
      file(base + "/step1/rank0/dump.json");
  CHECK(root.records.ops.size() == 60);
  for (const Scan* scan : {&step, &rank, &file}) {
    REQUIRE(scan->records.ops.size() == 30);
    CHECK(scan->records.ops[0].step == 1);
    CHECK(scan->records.ops[0].rank == 0);
    CHECK_FALSE(scan->records.ops[0].stack.empty());
  }
}

TEST_CASE("scan: data files are relative to what was named") {
  const std::string base = kData + "d_matmul_noise_tensor_L1/golden";
  const Scan root(base), rank(base + "/step1/rank0"), file(base + "/step1/rank0/dump.json");
  CHECK(root.dump->locate(0).file ==
        "step0/rank0/dump_tensor_data/Functional.embedding.0.forward.input.0.pt");
  CHECK(rank.dump->locate(0).file == "dump_tensor_data/Functional.embedding.0.forward.input.0.pt");
  CHECK(file.dump->locate(0).file == rank.dump->locate(0).file);
  const DataRef ref = root.dump->locate(0);
  CHECK(ref.kind == ULPSCOPE_DATA_FILE);
  CHECK(ref.size == 40);          // five int64
  CHECK((ref.token >> 32) == 1);  // with a CRC-32
}

TEST_CASE("scan: only the steps and ranks asked for are opened") {
  FrameworkOptions options;
  options.steps = {1};
  CHECK(Scan(kData + "d_matmul_noise_stat_L0/golden", options).records.ops.size() == 30);
  FrameworkOptions one_rank;
  one_rank.ranks = {1};
  const Scan scan(kData + "misc_dist_types_stat_L1/single", one_rank);
  CHECK(scan.records.ops.size() == 8);
  CHECK(scan.records.ops[0].rank == 1);
}

TEST_CASE("scan: skipped and shifted steps") {
  FrameworkOptions options;
  options.skip_steps = {0};
  options.step_offset = 9;
  const Scan scan(kData + "d_matmul_noise_stat_L0/golden", options, FrameworkFlavour::vllm_v1);
  REQUIRE(scan.records.ops.size() == 30);
  CHECK(scan.records.ops[0].step == 10);
}

TEST_CASE("scan: folders are taken by number and others passed over") {
  const test::TempFolder folder;
  for (const char* name :
       {"step10/rank0", "step9/rank1", "step9/rank10", "step9/rank2", "step9/proc77", "step01/rank0", "logs"})
    folder.write(std::string(name) + "/dump.json", dump_of("\"Torch.f.0.forward\":" + kEntry));
  const Scan scan(folder.path());
  std::vector<std::pair<int32_t, int32_t>> order;
  for (const OpRecord& op : scan.records.ops) order.emplace_back(op.step, op.rank);
  CHECK(order == std::vector<std::pair<int32_t, int32_t>>{{9, 1}, {9, 2}, {9, 10}, {10, 0}});
  REQUIRE(scan.records.log.size() == 2);
  CHECK(scan.records.log[0].second == folder.path() + ": 2 folders of other names are not read");
  CHECK(scan.records.log[1].second == "step9: 1 proc folders beside rank folders are not read");
}

TEST_CASE("scan: process folders without a rank") {
  const test::TempFolder folder;
  folder.write("step0/proc200/dump.json", dump_of("\"Torch.f.0.forward\":" + kEntry));
  CHECK(Scan(folder.path()).records.ops.at(0).rank == 0);
  folder.write("step0/proc31/dump.json", dump_of("\"Torch.g.0.forward\":" + kEntry));
  const Scan two(folder.path());
  REQUIRE(two.records.ops.size() == 2);
  CHECK(two.records.ops[0].name == "Torch.g.0.forward");
  CHECK(two.records.ops[1].rank == 1);
  REQUIRE(two.records.diagnoses.size() == 1);
  CHECK(two.records.diagnoses[0].text ==
        "step0: 2 proc folders and no rank folder; they count as ranks in order of their numbers");
}

TEST_CASE("scan: a folder with nothing of a dump is refused") {
  const test::TempFolder folder;
  CHECK(Scan(folder.path()).error == folder.path() + ": expected step folders, rank folders or a dump.json");
  CHECK(Scan(folder / "none").error == folder / "none" + ": no such file or folder");
  folder.write("a.txt", "hello");
  CHECK(Scan(folder / "a.txt").error == folder / "a.txt" + ": byte 0: expected a value");
  folder.write("empty.json", "");
  CHECK(Scan(folder / "empty.json").error == folder / "empty.json" + ": byte 0: the file is empty");
  folder.write("list.json", "[]");
  CHECK(Scan(folder / "list.json").error ==
        folder / "list.json" + ": not a dump.json or debug.json: expected an object");
}

TEST_CASE("scan: an unreadable rank is diagnosed and the others are read") {
  const test::TempFolder folder;
  folder.write("step0/rank0/stack.json", "{}");
  folder.write("step0/rank1/dump.json",
               "{\"task\":\"statistics\",\"data\":{\"Torch.f.0.forward\":" + kEntry + ",\"Torch.g");
  folder.write("step0/rank2/dump.json", "{\"task\":\"statistics\"}");
  folder.write("step0/rank3/dump.json", "{\"task\":\"statistics\",\"data\":[]}");
  folder.write("step0/rank4/dump.json", dump_of(""));
  folder.write("step0/rank5/dump.json", dump_of("\"Torch.f.0.forward\":" + kEntry));
  folder.write("step0/rank6/dump.json", "[]");
  const Scan scan(folder.path());
  CHECK(scan.records.ops.size() == 1);
  const std::string texts = texts_of(scan);
  CHECK(texts ==
        "step0/rank0: dump.json is missing\n"
        "step0/rank1/dump.json: byte 182: the text ends early (an unfinished run?); --source-option "
        "salvage=true keeps "
        "the 1 entries before it\n"
        "step0/rank2/dump.json: byte 21: no member \"data\"\n"
        "step0/rank3/dump.json: byte 28: expected data to be an object\n"
        "step0/rank4/dump.json: no records\n"
        "step0/rank6/dump.json: byte 0: expected an object\n");
  CHECK(scan.records.diagnoses[0].code == ULPSCOPE_E_IO);
  CHECK(scan.records.diagnoses[1].code == ULPSCOPE_E_IO);
}

TEST_CASE("scan: salvage keeps what is whole") {
  const test::TempFolder folder;
  folder.write("dump.json", "{\"task\":\"statistics\",\"data\":{\"Torch.f.0.forward\":" + kEntry +
                                ",\"Torch.f.1.forward\":" + kEntry + ",\"Torch.g.0.forward\":{\"input");
  FrameworkOptions options;
  options.salvage = true;
  const Scan scan(folder.path(), options);
  CHECK(scan.records.ops.size() == 2);
  CHECK(scan.records.tensors.size() == 2);
  REQUIRE(scan.records.diagnoses.size() == 1);
  CHECK(scan.records.diagnoses[0].text.ends_with("; kept the 2 entries before it"));
}

TEST_CASE("scan: an entry that is too deep keeps a row, the rest goes on") {
  const test::TempFolder folder;
  const std::string deep = "{\"output\":" + std::string(70, '[') + std::string(70, ']') + "}";
  folder.write("dump.json", dump_of("\"Torch.f.0.forward\":" + deep + ",\"Torch.g.0.forward\":" + kEntry));
  const Scan scan(folder.path());
  REQUIRE(scan.records.ops.size() == 2);
  REQUIRE(scan.records.tensors.size() == 2);
  CHECK(scan.records.tensors[0].absent == ULPSCOPE_ABSENT_BAD);
  CHECK(scan.records.tensors[1].absent == 0);
  REQUIRE(scan.records.diagnoses.size() == 1);
  CHECK(scan.records.diagnoses[0].where == "dump.json: Torch.f.0.forward");
  CHECK(scan.records.diagnoses[0].text == "nested deeper than 64 containers");
}

TEST_CASE("scan: an entry of a call that is no object keeps a row, and what it is is told") {
  const std::pair<const char*, const char*> kEntries[] = {
      {"null", "null"}, {"true", "a truth value"}, {"3", "a number"}, {"\"x\"", "a text"}, {"[1]", "a list"}};
  for (const auto& each : kEntries) {
    const std::string entry = each.first, word = each.second;
    CAPTURE(entry);
    const test::TempFolder folder;
    std::string entries = "\"Torch.f.0.forward\":";
    entries.append(entry).append(",\"Torch.g.0.forward\":").append(kEntry).append(",\"x.0.debug\":null");
    folder.write("dump.json", dump_of(entries));
    const Scan scan(folder.path());
    REQUIRE(scan.records.ops.size() == 3);
    REQUIRE(scan.records.tensors.size() == 2);
    CHECK(scan.records.tensors[0].absent == ULPSCOPE_ABSENT_BAD);
    CHECK(texts_of(scan) == "dump.json: Torch.f.0.forward: the entry is " + word +
                                ", expected an object with inputs and outputs\n");
  }
}

TEST_CASE("scan: a key that stands there twice is kept twice") {
  const test::TempFolder folder;
  folder.write("dump.json", dump_of("\"Torch.f.0.forward\":" + kEntry + ",\"Torch.f.0.forward\":" + kEntry));
  const Scan scan(folder.path());
  REQUIRE(scan.records.ops.size() == 2);
  CHECK(scan.records.ops[1].name == "Torch.f.0.forward");
  CHECK(scan.records.ops[1].call == 1);
  REQUIRE(scan.records.diagnoses.size() == 1);
  CHECK(scan.records.diagnoses[0].text == "the key stands there again; it counts as call 1");
}

TEST_CASE("scan: faults of tensors and oddities of a file are diagnosed") {
  const test::TempFolder folder;
  folder.write(
      "dump.json",
      dump_of(
          R"("Torch.f.0.forward":{"output":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[1],"data_name":"../x.pt"},
    {"type":"torch.Tensor","dtype":"torch.float32","shape":[1],"Max":1e400,"Max":1e401,"md5":"what"}],"other":[]},"odd.key":{"output":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[1],"md5_index":4}]})"));
  const Scan scan(folder.path());
  REQUIRE(scan.records.tensors.size() == 3);
  CHECK(scan.records.tensors[0].absent == ULPSCOPE_ABSENT_BAD);
  CHECK(scan.records.tensors[0].data.kind == ULPSCOPE_DATA_NONE);
  CHECK(scan.records.tensors[2].absent == ULPSCOPE_ABSENT_NO_STATISTICS);
  const std::string texts = texts_of(scan);
  CHECK(texts ==
        "dump.json: 1 keys of no known form, the first is \"odd.key\"\n"
        "dump.json: Torch.f.0.forward: output.0: data_name \"../x.pt\": path leaves the dump\n"
        "dump.json: 1 members stand twice in their object; the last one counts\n"
        "dump.json: 2 numbers are beyond double and read as infinite\n"
        "dump.json: 1 tensors have placeholders instead of numbers (a run that crashed)\n"
        "dump.json: 1 members of entries are of no known name and not read\n"
        "dump.json: 1 checksums are of no known form and not read\n");
}

TEST_CASE("scan: broken companions cost parents and stacks only") {
  const test::TempFolder folder;
  folder.write("dump.json", dump_of("\"Torch.f.0.forward\":" + kEntry));
  folder.write("construct.json", "{\"a\": 7}");
  folder.write("stack.json", "{");
  const Scan scan(folder.path());
  CHECK(scan.records.ops.size() == 1);
  REQUIRE(scan.records.diagnoses.size() == 2);
  CHECK(scan.records.diagnoses[0].where == "construct.json");
  CHECK(scan.records.diagnoses[0].text == "byte 1: malformed member; not used");
  CHECK(scan.records.diagnoses[1].text == "byte 1: the text ends early (an unfinished run?); not used");
  folder.write("construct.json", "{\"Torch.f.0.forward\": \"gone\"}");
  folder.write("stack.json", "{}");
  const Scan lost(folder.path());
  REQUIRE(lost.records.diagnoses.size() == 1);
  CHECK(lost.records.diagnoses[0].text ==
        "1 keys have an unknown parent or enclose themselves; they have none");
}

TEST_CASE("scan: without construct.json parents are guessed, and it is said") {
  const test::TempFolder folder;
  folder.write("dump.json",
               dump_of("\"Torch.f.0.forward\":" + kEntry + ",\"Module.m.M.forward.0\":" + kEntry));
  const Scan scan(folder.path());
  REQUIRE(scan.records.ops.size() == 2);
  CHECK(scan.records.ops[0].parent == 1);
  CHECK(scan.records.log.at(0).second ==
        "dump.json: no construct.json; parents are guessed from the order of the entries");
}

TEST_CASE("scan: a tensor without elements has data, a foreign array has none") {
  const std::string root = kData + "misc_value_types_tensor_mix/single";
  const Scan scan(root);
  const auto empty = scan.records.tensors_of(scan.records.find("Module.sink.Sink.forward.16"));
  REQUIRE(empty.size() == 4);
  CHECK(empty[0].data.kind == ULPSCOPE_DATA_STREAM);
  CHECK(empty[0].data.size == 0);
  char byte = 0;
  CHECK(scan.dump->stream(empty[0].data.token)->read(&byte, 1) == 0);
  const auto arrays = scan.records.tensors_of(scan.records.find("Module.sink.Sink.forward.7"));
  REQUIRE(arrays.size() == 7);
  CHECK(scan.dump->locate(arrays[3].data.token).size ==
        0);  // an array of no elements, whose file was not written
  CHECK(arrays[4].absent == ULPSCOPE_ABSENT_NO_DATA);
  CHECK(arrays[4].dtype == DType::none);
}

TEST_CASE("scan: a missing and a damaged tensor file are errors of that tensor") {
  const Scan damaged(kData + "corrupt_pt/target");
  CHECK(std::count_if(damaged.records.tensors.begin(), damaged.records.tensors.end(),
                      [&](const TensorRecord& tensor) {
                        return !damaged.locate_error(tensor.data.token).empty();
                      }) == 1);
  const test::TempFolder folder;
  folder.write(
      "dump.json",
      dump_of(
          R"("Torch.f.0.forward":{"output":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[1],"data_name":"gone.pt"}]})",
          "tensor"));
  const Scan missing(folder.path());
  CHECK(missing.locate_error(0) == folder / "dump_tensor_data/gone.pt" + ": No such file or directory");
  CHECK_THROWS_AS(missing.dump->locate(77), Failure);
}

TEST_CASE("scan: a link out of the dump is not followed, unless asked") {
  namespace fs = std::filesystem;
  const test::TempFolder folder, outside;
  const std::string source = kData +
                             "d_matmul_noise_tensor_L1/golden/step0/rank0/dump_tensor_data/"
                             "Functional.embedding.0.forward.input.0.pt";
  fs::copy_file(source, outside / "x.pt");
  folder.write("dump_tensor_data/readme", "");
  fs::create_symlink(outside / "x.pt", folder / "dump_tensor_data/x.pt");
  folder.write(
      "dump.json",
      dump_of(
          R"("Torch.f.0.forward":{"output":[{"type":"torch.Tensor","dtype":"torch.int64","shape":[5],"data_name":"x.pt"}]})",
          "tensor"));
  CHECK(Scan(folder.path()).locate_error(0) == folder / "dump_tensor_data/x.pt" +
                                                   ": path leaves the dump through a symbolic link; "
                                                   "--source-option follow_links=true reads it");
  FrameworkOptions options;
  options.follow_links = true;
  const Scan scan(folder.path(), options);
  CHECK(scan.dump->locate(0).kind == ULPSCOPE_DATA_STREAM);
  CHECK(scan.bytes(0, folder.path()).size() == 40);
}

TEST_CASE("scan: a structure dump gives the ops of its tree") {
  const Scan scan(kData + "misc_structure_mix/single");
  CHECK(scan.records.tensors.empty());
  CHECK(scan.records.find("Module.model.LlamaModel.forward.0") < scan.records.ops.size());
  const uint32_t embedding = scan.records.find("Functional.embedding.0.forward");
  REQUIRE(embedding < scan.records.ops.size());
  CHECK(scan.records.ops[scan.records.ops[embedding].parent].type == "VocabParallelEmbedding");
}

TEST_CASE("scan: the sink's refusal and the user's wish end it") {
  test::Collector records;
  auto dump = FrameworkDump::open(records.host(), kData + "f_identical_stat_mix/golden",
                                  FrameworkFlavour::torch_api, {});
  REQUIRE(dump.ok());
  records.refuse_at = 5;
  RecordSink sink(records.sink_table());
  CHECK_THROWS_AS((*dump)->scan(sink), Failure);
  CHECK(records.ops.size() == 5);
  test::Collector cancelled;
  cancelled.cancel = true;
  auto other = FrameworkDump::open(cancelled.host(), kData + "f_identical_stat_mix/golden",
                                   FrameworkFlavour::torch_api, {});
  RecordSink other_sink(cancelled.sink_table());
  CHECK_THROWS_AS((*other)->scan(other_sink), Failure);
  CHECK(cancelled.ops.empty());
}
