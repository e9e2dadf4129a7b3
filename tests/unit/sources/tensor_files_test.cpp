#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "opened.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;
using test::Opened;
using test::probe;

namespace {

// An npy file of version 1.0.
std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string text = std::string("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 255);
  text += static_cast<char>(header.size() >> 8);
  return text + header + data;
}

std::string safetensors(const std::string& header, const std::string& data) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>((header.size() >> (8 * i)) & 255);
  return text + header + data;
}

}  // namespace

TEST_CASE("tensor_files: a single file is one op with one output") {
  const test::TempFolder folder;
  const std::string path = folder.write("a.npy", npy("<f4", "(2,)", std::string(8, '\x01')));
  CHECK(probe(entry_tensor_files(), path) == 100);
  Opened opened(entry_tensor_files(), path);
  REQUIRE(opened.status == ULPSCOPE_OK);
  REQUIRE(opened.records.ops.size() == 1);
  CHECK(opened.records.ops[0].name == "a");
  CHECK(opened.records.ops[0].type == "tensor");
  CHECK(opened.records.ops[0].step == -1);
  REQUIRE(opened.records.tensors.size() == 1);
  CHECK(opened.records.tensors[0].role == Role::output);
  CHECK(opened.records.tensors[0].path == "0");
  CHECK(opened.records.tensors[0].shape == Shape{2});
  const DataRef& data = opened.records.tensors[0].data;
  CHECK(data.kind == ULPSCOPE_DATA_FILE);
  CHECK(data.file == "a.npy");
  CHECK(data.size == 8);
}

TEST_CASE("tensor_files: a folder tree by name, safetensors by member, a foreign byte order as a stream") {
  const test::TempFolder folder;
  folder.write("b/x.npy", npy(">i2", "(2,)", std::string("\x01\x02\x03\x04", 4)));
  folder.write(
      "a.safetensors",
      safetensors(
          R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"v":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
          "abc"));
  folder.write("README.md", "text");
  folder.write(".cache/foreign", "text");
  CHECK(probe(entry_tensor_files(), folder.path()) == 50);
  Opened opened(entry_tensor_files(), folder.path());
  REQUIRE(opened.status == ULPSCOPE_OK);
  REQUIRE(opened.records.ops.size() == 3);
  CHECK(opened.records.ops[0].name == "a/w");
  CHECK(opened.records.ops[1].name == "a/v");
  CHECK(opened.records.ops[2].name == "b/x");
  CHECK(opened.records.tensors[0].data.kind == ULPSCOPE_DATA_FILE);
  CHECK(opened.records.tensors[1].data.size == 1);
  const ulpscope_data_ref ref = opened.locate(2);
  REQUIRE(ref.kind == ULPSCOPE_DATA_STREAM);
  CHECK(ref.size == 4);
  CHECK(opened.stream(ref.token) == std::string("\x02\x01\x04\x03", 4));
}

TEST_CASE("tensor_files: equal names count as calls") {
  const test::TempFolder folder;
  const std::string content = npy("|u1", "(1,)", "x");
  folder.write("a.npy", content);
  folder.write("a.pt", "broken");
  const Opened opened(entry_tensor_files(), folder.path());
  REQUIRE(opened.records.ops.size() == 2);
  CHECK(opened.records.ops[1].name == "a");
  CHECK(opened.records.ops[1].call == 1);
}

TEST_CASE("tensor_files: a bad file is diagnosed and keeps its row") {
  const test::TempFolder folder;
  folder.write("bad.npy", "garbage");
  const Opened opened(entry_tensor_files(), folder.path());
  REQUIRE(opened.records.ops.size() == 1);
  REQUIRE(opened.records.tensors.size() == 1);
  CHECK(opened.records.tensors[0].absent == ULPSCOPE_ABSENT_BAD);
  REQUIRE(opened.records.diagnoses.size() == 1);
  CHECK(opened.records.diagnoses[0].where == "bad.npy");
}

TEST_CASE("tensor_files: other things are no tensors") {
  const test::TempFolder folder;
  CHECK(probe(entry_tensor_files(), folder.path()) == 0);
  CHECK(probe(entry_tensor_files(), folder / "none") == 0);
  folder.write("x.npy", npy("|u1", "(1,)", "x"));
  folder.write("y.txt", "text");
  CHECK(probe(entry_tensor_files(), folder.path()) == 0);
  CHECK(probe(entry_tensor_files(), folder / "y.txt") == 0);
  CHECK(Opened(entry_tensor_files(), folder / "none").message ==
        folder / "none" + ": no such file or folder");
  CHECK(Opened(entry_tensor_files(), folder / "y.txt").message ==
        folder / "y.txt" + ": expected a .npy, .pt or .safetensors file");
  const test::TempFolder empty;
  CHECK(Opened(entry_tensor_files(), empty.path()).message ==
        empty.path() + ": no .npy, .pt or .safetensors file in it");
}

TEST_CASE("tensor_files: one .bin file of an ATB dump is a tensor, an alias says whose elements it means") {
  const test::TempFolder folder;
  const std::string head = "$Version=1.0\nformat=2\ndtype=4\ndims=3\n";
  const std::string path = folder.write("intensor0.bin", head + "$Object.data=0,3\n$End=1\nabc");
  CHECK(probe(entry_tensor_files(), path) == 100);
  Opened opened(entry_tensor_files(), path);
  REQUIRE(opened.records.tensors.size() == 1);
  CHECK(opened.records.ops[0].name == "intensor0");
  CHECK(opened.records.tensors[0].dtype == DType::u8);
  CHECK(opened.records.tensors[0].shape == Shape{3});
  CHECK(opened.records.tensors[0].data.size == 3);
  CHECK(opened.records.tensors[0].data.offset == head.size() + 24);
  const std::string alias = folder.write("a.bin", head + "data=4_intensor0.bin\n$End=1\n");
  const Opened empty(entry_tensor_files(), alias);
  REQUIRE(empty.records.diagnoses.size() == 1);
  CHECK(empty.records.diagnoses[0].text ==
        "holds no elements, they are those of 4_intensor0.bin: name the folder of the dump");
  CHECK(empty.records.tensors[0].absent == ULPSCOPE_ABSENT_BAD);
  const Opened cut(entry_tensor_files(), folder.write("b.bin", head + "$Object.data=0,3\n$End=1\nab"));
  REQUIRE(cut.records.diagnoses.size() == 1);
  CHECK(cut.records.diagnoses[0].text == "byte 61: truncated: 2 of 3 bytes");
  const Opened blocked(entry_tensor_files(),
                       folder.write("c.bin", "$Version=1.0\nformat=29\ndtype=4\ndims=1\n$End=1\na"));
  REQUIRE(blocked.records.diagnoses.size() == 1);
  CHECK(blocked.records.diagnoses[0].text ==
        "storage format fractal_nz, expected one in the order of the dims");
}

TEST_CASE("tensor_files: a link out of the folder is not followed") {
  const test::TempFolder folder, outside;
  const std::string target = outside.write("x.npy", npy("|u1", "(1,)", "x"));
  std::filesystem::create_symlink(target, folder / "x.npy");
  const Opened opened(entry_tensor_files(), folder.path());
  REQUIRE(opened.records.tensors.size() == 1);
  CHECK(opened.records.tensors[0].absent == ULPSCOPE_ABSENT_BAD);
}

// The file says what it holds; dump.json said it first. Which of both the user sees, and how.
TEST_CASE("late tensors: a file that disagrees with dump.json") {
  const test::TempFolder folder;
  const auto dump = [&](const std::string& dtype, const std::string& shape) {
    folder.write(
        "dump.json",
        R"({"task":"tensor","level":"L1","data":{"Torch.f.0.forward":{"output":[{"type":"torch.Tensor","dtype":")" +
            dtype + R"(","shape":)" + shape + R"(,"data_name":"x.npy"}]}}})");
  };
  const std::string name = "dump_tensor_data/x.npy";
  // 1.0 and -0.5 as float32.
  folder.write(name, npy("<f4", "(2,)", std::string("\x00\x00\x80\x3f\x00\x00\x00\xbf", 8)));

  SUBCASE("another shape of as many elements is read, with a warning, once") {
    dump("torch.float32", "[1,2]");
    Opened opened(entry_torch_api(), folder.path());
    CHECK(opened.locate(0).size == 8);
    CHECK(opened.locate(0).size == 8);
    const auto warnings = opened.records.warnings();
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0] == name + ": holds float32 [2] and dump.json says float32 [1,2]");
  }
  SUBCASE("another number of elements is an error") {
    dump("torch.float32", "[3]");
    Opened opened(entry_torch_api(), folder.path());
    opened.locate(0);
    CHECK(opened.status == ULPSCOPE_E_FORMAT);
    CHECK(opened.message == name + ": holds float32 [2] and dump.json says float32 [3]");
  }
  SUBCASE("an integer instead of a float is an error") {
    dump("torch.int32", "[2]");
    Opened opened(entry_torch_api(), folder.path());
    opened.locate(0);
    CHECK(opened.status == ULPSCOPE_E_FORMAT);
  }
  SUBCASE("float8 stored as float32 is read as float8, with a notice") {
    dump("torch.float8_e4m3fn", "[2]");
    Opened opened(entry_torch_api(), folder.path());
    const ulpscope_data_ref ref = opened.locate(0);
    REQUIRE(ref.kind == ULPSCOPE_DATA_STREAM);
    CHECK(ref.size == 2);
    // 1.0 is 0.0111.000, -0.5 is 1.0110.000.
    CHECK(opened.stream(ref.token) == std::string("\x38\xb0", 2));
    CHECK(opened.records.warnings().empty());
    CHECK(opened.records.log.back().second ==
          name + ": holds float32 [2] and dump.json says float8_e4m3fn [2]; read as float8_e4m3fn");
  }
  SUBCASE("an element that the record's type cannot hold ends the stream") {
    folder.write(name,
                 npy("<f4", "(2,)", std::string("\x00\x00\x80\x3f\xcd\xcc\xcc\x3d", 8)));  // 1.0 and 0.1
    dump("torch.bfloat16", "[2]");
    Opened opened(entry_torch_api(), folder.path());
    const ulpscope_data_ref ref = opened.locate(0);
    REQUIRE(ref.kind == ULPSCOPE_DATA_STREAM);
    opened.stream(ref.token);
    CHECK(opened.status == ULPSCOPE_E_FORMAT);
    CHECK(opened.message == name + ": holds float32 and dump.json says bfloat16; element 1 does not fit it");
    CHECK(opened.records.warnings().size() == 1);
  }
}

TEST_CASE(
    "tensor_files: a checksum that the file states goes with its data, and is checked by the source when "
    "strict") {
  const test::TempFolder folder;
  std::filesystem::copy_file(ULPSCOPE_TEST_DATA "/pt_bad/crc_mismatch.pt", folder / "x.pt");
  const Opened opened(entry_tensor_files(), folder / "x.pt");
  REQUIRE(opened.records.tensors.size() == 1);
  CHECK(opened.records.tensors[0].data.kind == ULPSCOPE_DATA_FILE);
  CHECK(opened.records.tensors[0].data.token == 0x1b7c23887);  // as unzip -v lists it, and that there is one
  Opened strict(entry_tensor_files(), folder / "x.pt", R"({"strict": true})");
  const ulpscope_data_ref ref = strict.locate(0);
  REQUIRE(ref.kind == ULPSCOPE_DATA_STREAM);
  strict.stream(ref.token);
  CHECK(strict.status == ULPSCOPE_E_FORMAT);
  CHECK(strict.message == "x.pt: the checksum does not match the data");
}

TEST_CASE("late tensors: a wrong checksum is a warning of a stream") {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder / "dump_tensor_data");
  std::filesystem::copy_file(ULPSCOPE_TEST_DATA "/pt_bad/crc_mismatch.pt", folder / "dump_tensor_data/x.pt");
  folder.write(
      "dump.json",
      R"({"task":"tensor","level":"L1","data":{"Torch.f.0.forward":{"output":[{"type":"torch.Tensor","dtype":"torch.float32","shape":[2,3],"data_name":"x.pt"}]}}})");
  Opened opened(entry_torch_api(), folder.path());
  CHECK(opened.locate(0).kind == ULPSCOPE_DATA_FILE);
  opened.stream(opened.records.tensors[0].data.token);
  REQUIRE(opened.records.warnings().size() == 1);
  CHECK(opened.records.warnings()[0] == "dump_tensor_data/x.pt: the checksum does not match the data");
}
