#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "formats/framework_dump_entry.hpp"

using namespace ulpscope;

namespace {

struct Entry {
  explicit Entry(const std::string& json, std::string_view key = "Torch.f.0.forward") {
    JsonLexer lexer(json);
    REQUIRE(tape.read(lexer) == JsonRead::ok);
    reader.read(tape, parse_dump_key(key));
  }
  JsonTape tape;
  EntryReader reader;
};

const std::string kTensor =
    R"({"type":"torch.Tensor","dtype":"torch.float32","shape":[2,3],"Max":1.5,"Min":-1,"Mean":null,"Norm":2,"requires_grad":false})";

// An entry with one tensor that has these members beside its type.
Entry one(const std::string& members) {
  return Entry(R"({"output":[{"type":"torch.Tensor",)" + members + "}]}");
}

}  // namespace

TEST_CASE("entry: a tensor's numbers, and no tree where tensors tell all") {
  const Entry entry("{\"input_args\":[" + kTensor + "],\"input_kwargs\":{\"mask\":" + kTensor +
                    "},\"output\":[" + kTensor + "]}");
  REQUIRE(entry.reader.tensor_count() == 3);
  CHECK(entry.reader.attributes().empty());
  CHECK(entry.reader.tree() ==
        R"({"input":[{"tensor":0}],"kwarg":{"mask":{"tensor":1}},"output":[{"tensor":2}]})");
  const EntryTensor& mask = entry.reader.tensor(1);
  CHECK(mask.role == Role::kwarg);
  CHECK(mask.path == "mask");
  CHECK(mask.dtype == DType::f32);
  CHECK(mask.shape == Shape{2, 3});
  CHECK(mask.stats.present == (ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_L2));
  CHECK(mask.stats.max == 1.5);
  CHECK(mask.stats.min == -1);
  CHECK(mask.stats.l2norm == 2);
  CHECK(mask.flags == ULPSCOPE_GRAD_NO);
  CHECK(mask.fault.empty());
}

TEST_CASE("entry: arguments that are no tensors stand in the tree as in the dump") {
  const Entry entry(
      R"({"input_args":[null,{},[{"type":"int","value":1099511627776}],{"type":"float","value":NaN},
    {"type":"slice","value":[1,null,-2]},{"type":"str","value":"a\"\u0001"},{"type":"float","value":1e400}],"output":[]})");
  CHECK(
      entry.reader.attributes() ==
      R"({"input":[null,{},[{"type":"int","value":1099511627776}],{"type":"float","value":"NaN"},{"type":"slice","value":[1,null,-2]},{"type":"str","value":"a\"\u0001"},{"type":"float","value":"Infinity"}],"output":[]})");
  CHECK(entry.reader.tensor_count() == 0);
  CHECK(entry.reader.oddities().out_of_range == 1);
}

TEST_CASE("entry: nesting gives paths of parts") {
  const Entry entry("{\"input_args\":[[" + kTensor + "," + kTensor + "]],\"output\":[{\"aux\":[" + kTensor +
                    ",[" + kTensor + "]]}]}");
  REQUIRE(entry.reader.tensor_count() == 4);
  CHECK(entry.reader.tensor(1).path == "0.1");
  CHECK(entry.reader.tensor(3).path == "0.aux.1.0");
  CHECK(entry.reader.attributes() ==
        R"({"input":[[{"tensor":0},{"tensor":1}]],"output":[{"aux":[{"tensor":2},[{"tensor":3}]]}]})");
}

TEST_CASE("entry: a member name with a dot keeps the tree") {
  const Entry entry("{\"input_kwargs\":{\"a.b\":" + kTensor + "}}");
  CHECK(entry.reader.tensor(0).path == "a.b");
  CHECK(entry.reader.attributes() == R"({"kwarg":{"a.b":{"tensor":0}}})");
}

TEST_CASE("entry: the tensor of a P2P descriptor sits one level down") {
  const Entry entry("{\"input_args\":[[{\"class_type\":\"torch.distributed.P2POp\",\"tensor\":" + kTensor +
                    ",\"op\":\"isend\",\"peer\":1}]]}");
  CHECK(entry.reader.tensor(0).path == "0.0.tensor");
  CHECK(
      entry.reader.attributes() ==
      R"({"input":[[{"class_type":"torch.distributed.P2POp","tensor":{"tensor":0},"op":"isend","peer":1}]]})");
}

TEST_CASE("entry: the type may come last") {
  const Entry entry(R"({"output":[{"dtype":"torch.int64","shape":[],"type":"torch.Tensor"}]})");
  REQUIRE(entry.reader.tensor_count() == 1);
  CHECK(entry.reader.tensor(0).dtype == DType::i64);
}

TEST_CASE("entry: a type that is no text makes a container") {
  const Entry entry(R"({"output":[{"type":7}]})");
  CHECK(entry.reader.tensor_count() == 0);
  CHECK(entry.reader.attributes() == R"({"output":[{"type":7}]})");
}

TEST_CASE("entry: backward sections of the first writers") {
  const Entry entry("{\"grad_input\":[" + kTensor + "],\"grad_output\":[" + kTensor + "]}",
                    "Torch.f.0.backward");
  REQUIRE(entry.reader.tensor_count() == 2);
  CHECK(entry.reader.tensor(0).role == Role::output);
  CHECK(entry.reader.tensor(1).role == Role::input);
}

TEST_CASE("entry: gradients are named by their parameter") {
  const Entry entry(
      "{\"bias\":[" + kTensor + "],\"weight\":[" + kTensor + "," + kTensor + "],\"none\":[null]}",
      "Module.fc1.Linear.parameters_grad.0");
  REQUIRE(entry.reader.tensor_count() == 3);
  CHECK(entry.reader.tensor(0).role == Role::gradient);
  CHECK(entry.reader.tensor(0).path == "bias");
  CHECK(entry.reader.tensor(1).path == "weight.0");
  CHECK(entry.reader.tensor(2).path == "weight.1");
  CHECK(entry.reader.attributes() ==
        R"({"gradient":{"bias":{"tensor":0},"weight":[{"tensor":1},{"tensor":2}],"none":null}})");
}

TEST_CASE("entry: a saved variable is a value without sections") {
  const Entry bare(kTensor, "y.0.debug");
  REQUIRE(bare.reader.tensor_count() == 1);
  CHECK(bare.reader.tensor(0).role == Role::output);
  CHECK(bare.reader.tensor(0).path.empty());
  const Entry nested("{\"k\":[" + kTensor + ",{\"type\":\"int\",\"value\":3}]}", "y.0.debug");
  CHECK(nested.reader.tensor(0).path == "k.0");
  CHECK(nested.reader.attributes() == R"({"output":{"k":[{"tensor":0},{"type":"int","value":3}]}})");
}

TEST_CASE("entry: names of element types") {
  CHECK(framework_dtype("torch.bfloat16") == DType::bf16);
  CHECK(framework_dtype("BFloat16") == DType::bf16);
  CHECK(framework_dtype("Float8_e4m3fn") == DType::f8_e4m3fn);
  CHECK(framework_dtype("mindspore.Int64") == DType::i64);
  CHECK(framework_dtype("torch_npu.HiFloat8Tensor") == DType::hif8);
  CHECK(framework_dtype("torch.quint8") == DType::u8);
  CHECK(framework_dtype("bool_") == DType::b8);
  CHECK(framework_dtype("<U2") == DType::none);
  CHECK(framework_dtype("") == DType::none);
}

TEST_CASE("entry: checksums by their form") {
  CHECK(one(R"("dtype":"x","shape":[],"md5":"1B2c3d4e")").reader.tensor(0).digest == "crc32:1b2c3d4e");
  CHECK(one(R"("dtype":"x","shape":[],"md5":"0x00000000000000AB")").reader.tensor(0).digest ==
        "xor64:00000000000000ab");
  CHECK(one(R"("dtype":"x","shape":[],"md5":1.5)").reader.tensor(0).digest == "xor64:1.5");
  CHECK(one(R"("dtype":"x","shape":[],"md5":"0123456789abcdef0123456789ABCDEF")").reader.tensor(0).digest ==
        "md5:0123456789abcdef0123456789abcdef");
  CHECK(one(R"("dtype":"x","shape":[],"md5":null)").reader.tensor(0).digest.empty());
  const Entry odd = one(R"("dtype":"x","shape":[],"md5":"not hex")");
  CHECK(odd.reader.tensor(0).digest.empty());
  CHECK(odd.reader.oddities().unknown_digests == 1);
}

TEST_CASE("entry: numbers as booleans and as texts") {
  const Entry entry =
      one(R"("dtype":"torch.bool","shape":[2],"Max":true,"Min":false,"Mean":"nan","Norm":"-inf")");
  const ulpscope_stats& stats = entry.reader.tensor(0).stats;
  CHECK(stats.present == 15);
  CHECK(stats.max == 1);
  CHECK(stats.min == 0);
  CHECK(std::isnan(stats.mean));
  CHECK(stats.l2norm == -INFINITY);
  CHECK(one(R"("dtype":"x","shape":[],"Max":"high")").reader.tensor(0).stats.present == 0);
}

TEST_CASE("entry: a leaf with placeholders has no numbers") {
  const Entry entry = one(R"("dtype":"torch.float32","shape":[2],"Max":1,"tensor_stat_index":4)");
  CHECK(entry.reader.tensor(0).stats.present == 0);
  CHECK(entry.reader.oddities().placeholders == 1);
}

TEST_CASE("entry: faults of a tensor") {
  CHECK(one(R"("dtype":"torch.float32")").reader.tensor(0).fault == "no shape");
  CHECK(one(R"("dtype":"torch.float32","shape":[-1])").reader.tensor(0).fault ==
        "shape is not a list of numbers from 0");
  CHECK(one(R"("dtype":"torch.float32","shape":[1.5])").reader.tensor(0).fault ==
        "shape is not a list of numbers from 0");
  CHECK(one(R"("dtype":"torch.float32","shape":7)").reader.tensor(0).fault ==
        "shape is not a list of numbers from 0");
  CHECK(one(R"("dtype":"torch.float32","shape":[99999999999999999999])").reader.tensor(0).fault ==
        "shape is not a list of numbers from 0");
  CHECK(one(R"("dtype":"torch.float32","shape":[4611686018427387904,4])").reader.tensor(0).fault ==
        "the shape is too large");
  std::string dims = "1";
  for (int i = 0; i < 32; ++i) dims += ",1";
  CHECK(one("\"dtype\":\"torch.float32\",\"shape\":[" + dims + "]").reader.tensor(0).fault ==
        "shape has 33 dimensions, expected at most 32");
  CHECK(one(R"("dtype":"torch.float12","shape":[1])").reader.tensor(0).fault ==
        "dtype \"torch.float12\": expected an element type, such as torch.float32");
  CHECK(one(R"("dtype":null,"shape":[1])").reader.tensor(0).fault == "no dtype");
}

TEST_CASE("entry: a file name that leaves the dump is a fault, one below its folder is not") {
  const auto fault = [](const std::string& name) {
    return one("\"dtype\":\"torch.float32\",\"shape\":[1],\"data_name\":\"" + name + "\"")
        .reader.tensor(0)
        .fault;
  };
  CHECK(fault("../x.pt") == "data_name \"../x.pt\": path leaves the dump");
  CHECK(fault("/etc/x.pt") == "data_name \"/etc/x.pt\": path leaves the dump");
  CHECK(fault("a/../../x.pt") == "data_name \"a/../../x.pt\": path leaves the dump");
  CHECK_FALSE(fault("a\\\\x.pt").empty());
  CHECK_FALSE(fault("C:x.pt").empty());
  CHECK_FALSE(fault("a\\u0000b.pt").empty());
  CHECK(fault("sub/x.pt").empty());
}

TEST_CASE("entry: of equal members the last counts, and it is said") {
  const Entry leaf = one(R"("dtype":"torch.float32","shape":[1],"Max":1,"Max":2)");
  CHECK(leaf.reader.tensor(0).stats.max == 2);
  CHECK(leaf.reader.oddities().repeated_members == 1);
  const Entry section("{\"output\":[" + kTensor + "," + kTensor + "],\"output\":[" + kTensor + "]}");
  CHECK(section.reader.tensor_count() == 1);
  CHECK(section.reader.oddities().repeated_members == 1);
  const Entry value(R"({"output":[{"type":"int","value":1,"value":2}]})");
  CHECK(value.reader.attributes() == R"({"output":[{"type":"int","value":2}]})");
}

TEST_CASE("entry: unknown sections are counted, known extras are not") {
  CHECK(Entry(R"({"output":[],"is_recompute":false,"is_nan":null})").reader.oddities().unknown_sections == 0);
  CHECK(Entry(R"({"output":[],"surprise":[1]})").reader.oddities().unknown_sections == 1);
  CHECK(Entry("[1]").reader.oddities().unknown_sections == 1);
}

TEST_CASE("entry: an array of texts is foreign") {
  const Entry entry(
      R"({"output":[{"type":"numpy.ndarray","dtype":"<U2","shape":[2],"Max":null,"data_name":"x.npy"}]})");
  CHECK(entry.reader.tensor(0).foreign);
  CHECK(entry.reader.tensor(0).fault.empty());
}
