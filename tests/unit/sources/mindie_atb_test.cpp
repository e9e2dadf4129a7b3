#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "opened.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;
using test::Opened;
using test::probe;

namespace {

constexpr const char* kColumns =
    "Device and PID,Execution Count,Op Name,Op Type,Op "
    "Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,"
    "Tensor Path\n";

std::string bin(const std::string& payload, const std::string& dims) {
  const std::string size = std::to_string(payload.size());
  return "$Version=1.0\n$Object.Count=1\n$Object.Length=" + size + "\nformat=2\ndtype=4\ndims=" + dims +
         "\n$Object.data=0," + size + "\n$End=1\n" + payload;
}

std::string alias(const std::string& name, const std::string& dims = "3") {
  return "$Version=1.0\n$Object.Count=0\n$Object.Length=0\nformat=2\ndtype=4\ndims=" + dims +
         "\ndata=" + name + "\n$End=1\n";
}

std::string names_of(const Opened& opened) {
  std::string names;
  for (const OpRecord& op : opened.records.ops)
    names += std::to_string(op.step) + "/" + std::to_string(op.rank) + " " + op.name + "\n";
  return names;
}

const TensorRecord& tensor(const Opened& opened, const char* op, Role role, const char* path) {
  static const TensorRecord kNone;
  for (const TensorRecord& found : opened.records.tensors)
    if (opened.records.ops[found.op].name == op && found.role == role && found.path == path) return found;
  return kNone;
}

std::vector<std::string> texts_of(const Opened& opened) {
  std::vector<std::string> texts;
  for (const auto& diagnosis : opened.records.diagnoses)
    texts.push_back(diagnosis.where + ": " + diagnosis.text);
  return texts;
}

// One layer with an operation and its kernel; the operation's parameters have names.
void write_round(const test::TempFolder& folder, const std::string& round) {
  folder.write(round + "4_Layer/before/intensor0.bin", bin("abc", "3"));
  folder.write(round + "4_Layer/after/outtensor0.bin", alias("4_10_outtensor0.bin"));
  folder.write(round + "4_Layer/10_AddOperation/op_param.json", "{\"elewiseType\":8}\n");
  folder.write(round + "4_Layer/10_AddOperation/before/intensor0.bin", alias("4_intensor0.bin", "1,3"));
  folder.write(round + "4_Layer/10_AddOperation/after/outtensor0_z.bin", bin("def", "3"));
  folder.write(round + "4_Layer/10_AddOperation/0_AddKernel/before/intensor0.bin", alias("intensor0.bin"));
  folder.write(round + "4_Layer/2_Norm/before/intensor0.bin", bin("abc", "3"));
}

}  // namespace

TEST_CASE("mindie_atb: operations stand behind their children, in order of their numbers") {
  const test::TempFolder folder;
  write_round(folder, "atb_dump_data/data/1_77/0/");
  write_round(folder, "atb_dump_data/data/1_77/10/");
  write_round(folder, "atb_dump_data/data/0_76/2/");
  const Opened opened(entry_mindie_atb(), folder.path());
  REQUIRE(opened.status == ULPSCOPE_OK);
  CHECK(
      names_of(opened).starts_with("2/0 4_Layer/2_Norm\n2/0 4_Layer/10_AddOperation/0_AddKernel\n"
                                   "2/0 4_Layer/10_AddOperation\n2/0 4_Layer\n0/1 4_Layer/2_Norm\n"));
  REQUIRE(opened.records.ops.size() == 12);
  CHECK(opened.records.ops[1].kind == OpKind::kernel);
  CHECK(opened.records.ops[1].parent == 2);
  CHECK(opened.records.ops[2].kind == OpKind::api);
  CHECK(opened.records.ops[2].attributes_json == "{\"elewiseType\":8}");
  CHECK(opened.records.ops[3].kind == OpKind::layer);
  CHECK(opened.records.ops[3].type == "Layer");
  CHECK(opened.records.ops[3].parent == kNoIndex);
  CHECK(opened.records.ops[4].parent == 7);
}

TEST_CASE("mindie_atb: an alias is read where its elements are") {
  const test::TempFolder folder;
  write_round(folder, "data/0_5/0/");
  const Opened opened(entry_mindie_atb(), folder.path());
  const TensorRecord& out = tensor(opened, "4_Layer", Role::output, "0");
  CHECK(out.data.file == "data/0_5/0/4_Layer/10_AddOperation/after/outtensor0_z.bin");
  CHECK(out.data.size == 3);
  CHECK(out.link == "4_10_outtensor0");
  CHECK(tensor(opened, "4_Layer/10_AddOperation", Role::output, "0").link == "4_10_outtensor0");
  CHECK(tensor(opened, "4_Layer/10_AddOperation", Role::input, "0").shape == Shape{1, 3});
  const TensorRecord& filtered = tensor(opened, "4_Layer/10_AddOperation/0_AddKernel", Role::input, "0");
  CHECK(filtered.absent == ULPSCOPE_ABSENT_FILTERED);
  CHECK(filtered.data.kind == ULPSCOPE_DATA_NONE);
  CHECK(tensor(opened, "4_Layer/2_Norm", Role::input, "0").link.empty());
}

TEST_CASE("mindie_atb: aliases that lead nowhere are bad tensors with a reason") {
  const test::TempFolder folder;
  folder.write("0/4_Layer/before/intensor0.bin", alias("4_1_outtensor0.bin"));
  folder.write("0/4_Layer/before/intensor1.bin", alias("4_intensor2.bin"));
  folder.write("0/4_Layer/before/intensor2.bin", alias("4_intensor1.bin"));
  folder.write("0/4_Layer/before/intensor3.bin", alias("../../secret"));
  folder.write("0/4_Layer/before/intensor4.bin", bin("abc", "3"));
  folder.write("0/4_Layer/before/intensor5.bin", alias("4_intensor4.bin", "4"));
  const Opened opened(entry_mindie_atb(), folder / "0");
  REQUIRE(opened.records.tensors.size() == 6);
  for (const size_t i : {0, 1, 2, 3, 5}) CHECK(opened.records.tensors[i].absent == ULPSCOPE_ABSENT_BAD);
  const std::vector<std::string> texts = texts_of(opened);
  const std::string in = "4_Layer/before/intensor";
  CHECK(std::find(texts.begin(), texts.end(),
                  in + "0.bin: alias of 4_1_outtensor0.bin, which is not there") != texts.end());
  CHECK(
      std::find(texts.begin(), texts.end(),
                in + "1.bin: alias of 4_intensor2.bin, which leads to itself or through more than 8 files") !=
      texts.end());
  CHECK(std::find(texts.begin(), texts.end(),
                  in + "3.bin: alias of \"../../secret\", expected <ids>_intensor<n>.bin or outtensor") !=
        texts.end());
  CHECK(std::find(texts.begin(), texts.end(),
                  in + "5.bin: alias of 4_intensor4.bin says uint8 [4], that file holds uint8 [3]") !=
        texts.end());
}

TEST_CASE("mindie_atb: any level may be named, and tells step and rank") {
  const test::TempFolder folder;
  write_round(folder, "out/atb_dump_data/data/1_77/3/");
  for (const char* level : {"", "/atb_dump_data", "/atb_dump_data/data", "/atb_dump_data/data/1_77",
                            "/atb_dump_data/data/1_77/3"}) {
    CAPTURE(level);
    const std::string path = folder / "out" + level;
    CHECK(probe(entry_mindie_atb(), path) == 90);
    const Opened opened(entry_mindie_atb(), path);
    REQUIRE(opened.records.ops.size() == 4);
    CHECK(opened.records.ops[0].step == 3);
    CHECK(opened.records.ops[0].rank == 1);
  }
  CHECK(probe(entry_mindie_atb(), folder / "none") == 0);
  CHECK(probe(entry_torch_api(), folder.path()) == 0);
  CHECK(probe(entry_tensor_files(), folder.path()) == 0);
}

TEST_CASE("mindie_atb: steps and ranks choose rounds and devices") {
  const test::TempFolder folder;
  write_round(folder, "data/1_77/0/");
  write_round(folder, "data/1_77/1/");
  write_round(folder, "data/0_76/0/");
  CHECK(Opened(entry_mindie_atb(), folder.path(), R"({"steps": [0]})").records.ops.size() == 8);
  CHECK(Opened(entry_mindie_atb(), folder.path(), R"({"ranks": [1]})").records.ops.size() == 8);
  CHECK(Opened(entry_mindie_atb(), folder.path(), R"({"salvage": true})").message ==
        "option salvage: not an option of this source");
}

TEST_CASE("mindie_atb: two processes of a device are an error, unless one is named") {
  const test::TempFolder folder;
  write_round(folder, "data/1_77/0/");
  write_round(folder, "data/1_78/0/");
  const Opened both(entry_mindie_atb(), folder.path());
  CHECK(both.status == ULPSCOPE_E_USAGE);
  CHECK(both.message ==
        folder / "data" + ": several processes of device 1 (1_77, 1_78), name one by its path");
  CHECK(Opened(entry_mindie_atb(), folder / "data/1_78").records.ops.size() == 4);
  CHECK(Opened(entry_mindie_atb(), folder / "none").message == folder / "none" + ": no such folder");
  std::filesystem::create_directory(folder / "empty");
  CHECK(Opened(entry_mindie_atb(), folder / "empty").message ==
        folder / "empty" +
            ": no round of an ATB dump in it, expected folders such as "
            "atb_dump_data/data/<device>_<pid>/<round>");
}

TEST_CASE("mindie_atb: the older layout has no table, and copies of the other kind stand in") {
  const test::TempFolder folder;
  const std::string round = "msit_dump_20250101_010101/tensors/0_9/2/";
  folder.write(round + "0_A/before/outtensor0.bin", bin("old", "3"));
  folder.write(round + "0_A/after/outtensor0.bin", bin("new", "3"));
  folder.write(round + "0_A/after/intensor0.bin", bin("abc", "3"));
  folder.write("msit_dump_20250101_010101/layer/9/A_0.json",
               R"({"opName":"A_0","inTensors":["A_0_input_0","A_0_input_1"],"outTensors":["A_0_output_0"]})");
  const Opened opened(entry_mindie_atb(), folder.path());
  REQUIRE(opened.records.tensors.size() == 3);
  CHECK(opened.records.ops[0].step == 2);
  CHECK(tensor(opened, "0_A", Role::output, "0").data.file == round + "0_A/after/outtensor0.bin");
  CHECK(tensor(opened, "0_A", Role::output, "0").link == "A_0_output_0");
  CHECK(tensor(opened, "0_A", Role::input, "0").data.file == round + "0_A/after/intensor0.bin");
  CHECK(tensor(opened, "0_A", Role::input, "1").absent == ULPSCOPE_ABSENT_NOT_DUMPED);
  folder.write("msit_dump_20250202_010101/tensors/0_9/2/0_A/after/outtensor0.bin", bin("new", "3"));
  CHECK(Opened(entry_mindie_atb(), folder.path()).status == ULPSCOPE_E_USAGE);
}

TEST_CASE("mindie_atb: statistics alone, with a gap that is told") {
  const test::TempFolder folder;
  folder.write("data/0_5/0/statistic.csv",
               std::string(kColumns) +
                   "0_5,0,Layer,Layer,4,output,0,bf16,nd,6x32,4.5,-1.0,0.5,9.0,N/A\n"
                   "0_5,0,Layer,Layer,4,input,1,bf16,nd,6x32,1.0,-1.0,0.0,3.0,N/A\n"
                   "0_5,0,Layer/Mlp,Mlp,4_2,output,0,int64,nd,1,7,7,7.0,7.0,N/A\n");
  CHECK(probe(entry_mindie_atb(), folder.path()) == 95);
  const Opened opened(entry_mindie_atb(), folder.path());
  CHECK(names_of(opened) == "0/0 4_Layer/2_Mlp\n0/0 4_Layer\n");
  CHECK(tensor(opened, "4_Layer", Role::input, "0").absent == ULPSCOPE_ABSENT_NO_STATISTICS);
  const TensorRecord& out = tensor(opened, "4_Layer", Role::output, "0");
  CHECK(out.stats.max == 4.5);
  CHECK(out.shape == Shape{6, 32});
  CHECK(out.dtype == DType::bf16);
  CHECK(out.absent == 0);
}

TEST_CASE("mindie_atb: folders and table complete each other, and what they disagree in is told") {
  const test::TempFolder folder;
  const std::string round = "data/0_5/0/";
  folder.write(round + "4_Layer/before/intensor0.bin", bin("abc", "3"));
  folder.write(round + "4_Layer/before/intensor1.bin", bin("abc", "3"));
  const std::string row = "0_5,0,Layer,Layer,4,input,0,uint8,nd,3,99,97,98.0,169.7,/home/x/intensor0.bin\n";
  folder.write(
      round + "statistic.csv",
      kColumns + row + row + "0_5,0,Layer,Layer,4,output,0,uint8,nd,3,9,7,8.0,6.7,/../../etc/passwd\nbad\n");
  const Opened opened(entry_mindie_atb(), folder.path());
  REQUIRE(opened.records.tensors.size() == 3);
  CHECK(tensor(opened, "4_Layer", Role::input, "0").stats.max == 99);
  CHECK(tensor(opened, "4_Layer", Role::input, "0").data.size == 3);
  const TensorRecord& missing = tensor(opened, "4_Layer", Role::output, "0");
  CHECK(missing.absent == ULPSCOPE_ABSENT_NO_DATA);
  CHECK(missing.data.file == round + "4_Layer/after/outtensor0.bin");
  const std::string where = round + "statistic.csv: ";
  CHECK(texts_of(opened) ==
        std::vector<std::string>{
            where + "1 rows cannot be used as they are, first line 5: 1 cells, expected 15",
            where + "1 rows stand there again, the last one of each counts",
            where + "1 files that the table names are not there, first 4_Layer/after/outtensor0.bin",
            where + "1 files have no row in the table (rows with -inf are never written)"});
}

TEST_CASE("mindie_atb: a damaged file is one bad tensor, and nothing outside the dump is read") {
  const test::TempFolder folder;
  folder.write("secret/intensor0.bin", bin("abc", "3"));
  folder.write("dump/0/4_Layer/before/intensor0.bin", bin("ab", "3"));
  folder.write("dump/0/4_Layer/after/outtensor0.bin", bin("abc", "3"));
  std::filesystem::create_symlink(folder / "secret/intensor0.bin",
                                  folder / "dump/0/4_Layer/before/intensor1.bin");
  std::filesystem::create_directory_symlink(folder / "secret", folder / "dump/0/4_Layer/1_Mlp");
  folder.write("dump/0/notes/x", "");
  folder.write("dump/0/4_Layer/op_param.json", "{broken");
  const Opened opened(entry_mindie_atb(), folder / "dump/0");
  CHECK(tensor(opened, "4_Layer", Role::input, "0").absent == ULPSCOPE_ABSENT_BAD);
  CHECK(tensor(opened, "4_Layer", Role::input, "1").absent == ULPSCOPE_ABSENT_BAD);
  CHECK(tensor(opened, "4_Layer", Role::output, "0").data.size == 3);
  const std::string root = folder / "dump/0";
  CHECK(texts_of(opened) ==
        std::vector<std::string>{
            root + "/4_Layer/1_Mlp: a symbolic link in place of a folder is not followed",
            root + "/notes: not a folder of an operation, expected <number>_<name>; it is not read",
            "4_Layer/op_param.json: not JSON, the parameters are not known",
            "4_Layer/before/intensor0.bin: byte 94: truncated: 2 of 3 bytes",
            "4_Layer/before/intensor1.bin: " + root +
                "/4_Layer/before/intensor1.bin: path leaves the dump through a symbolic link"});
}

TEST_CASE("mindie_atb: names of the models connect layers") {
  const test::TempFolder folder;
  const std::string base = "atb_dump_data/";
  folder.write(base + "data/0_5/0/0_Embed/after/outtensor0.bin", bin("abc", "3"));
  folder.write(base + "data/0_5/0/1_Layer/before/intensor0.bin", bin("abc", "3"));
  folder.write(base + "data/0_5/0/1_Layer/0_Norm/before/intensor0.bin", bin("abc", "3"));
  folder.write(base + "info/model/0_6/M.json",
               R"({"modelName":"M","nodes":[{"opName":"Embed_0","inTensors":[],"outTensors":["M_internal_0"]},
                  {"opName":"Layer_1","inTensors":["M_internal_0"],"outTensors":[]}]})");
  folder.write(base + "info/layer/0_6/Layer_1.json",
               R"({"opName":"Layer_1","inTensors":["Layer_1_input_0"],"outTensors":[],"nodes":[
                  {"opName":"Norm_1_0","inTensors":["Layer_1_input_0"],"outTensors":[]}]})");
  folder.write(base + "info/layer/0_6/broken.json", "[");
  const Opened opened(entry_mindie_atb(), folder.path());
  CHECK(tensor(opened, "0_Embed", Role::output, "0").link == "M_internal_0");
  CHECK(tensor(opened, "1_Layer", Role::input, "0").link == "M_internal_0");
  CHECK(tensor(opened, "1_Layer/0_Norm", Role::input, "0").link == "M_internal_0");
  REQUIRE(texts_of(opened).size() == 1);
  CHECK(texts_of(opened)[0].ends_with(
      "broken.json: byte 1: the text ends early (an unfinished run?); it is not used"));
}

TEST_CASE("mindie_atb: beside a round, a folder with an empty table is a round whose table is lost") {
  const test::TempFolder folder;
  folder.write("data/0_5/0/statistic.csv",
               std::string(kColumns) + "0_5,0,Layer,Layer,4,input,0,float,nd,2,1.0,0.0,0.5,1.0,N/A\n");
  folder.write("data/0_5/1/statistic.csv", "");
  const Opened opened(entry_mindie_atb(), folder.path());
  REQUIRE(opened.status == ULPSCOPE_OK);
  REQUIRE(opened.records.diagnoses.size() == 1);
  CHECK(opened.records.diagnoses[0].code == ULPSCOPE_E_IO);
  CHECK(
      texts_of(opened)[0] ==
      "data/0_5/1/statistic.csv: the file is empty, expected the columns \"Device and PID,Execution Count,Op "
      "Name,…\"; the folders alone are read");
}

TEST_CASE("mindie_atb: parameters come from the file, else from the graph, a layer alone has those inside") {
  const test::TempFolder folder;
  const std::string base = "atb_dump_data/", round = base + "data/0_5/0/";
  folder.write(round + "0_Layer/before/intensor0.bin", bin("abc", "3"));
  folder.write(round + "1_Layer/before/intensor0.bin", bin("abc", "3"));
  folder.write(round + "1_Layer/0_Norm/before/intensor0.bin", bin("abc", "3"));
  folder.write(round + "1_Layer/1_Add/before/intensor0.bin", bin("abc", "3"));
  folder.write(round + "1_Layer/1_Add/op_param.json", "{\"elewiseType\":9}\n");
  const std::string nodes = R"("nodes":[{"opName":"a","opType":"Norm","param":{"epsilon":1e-06}},)"
                            R"({"opName":"b","opType":"Add","param":{"elewiseType":8}}]})";
  folder.write(base + "info/model/0_5/M.json", R"({"nodes":[{"opName":"Layer_0","param":{"a":1},)" + nodes +
                                                   R"(,{"opName":"Layer_1",)" + nodes + "]}");
  const Opened opened(entry_mindie_atb(), folder.path());
  REQUIRE(opened.records.ops.size() == 4);
  CHECK(opened.records.ops[0].attributes_json ==
        R"({"a":1,"0_Norm":{"epsilon":1e-06},"1_Add":{"elewiseType":8}})");
  CHECK(opened.records.ops[1].attributes_json == R"({"epsilon":1e-06})");
  CHECK(opened.records.ops[2].attributes_json == R"({"elewiseType":9})");
  CHECK(opened.records.ops[3].attributes_json.empty());
}

TEST_CASE("mindie_atb: bytes without known values and blocked formats are marked") {
  const test::TempFolder folder;
  folder.write("0/4_Layer/before/intensor0.bin",
               "$Version=1.0\nformat=2\ndtype=29\ndims=2,2\n$Object.data=0,2\n$End=1\nab");
  folder.write("0/4_Layer/before/intensor1.bin",
               "$Version=1.0\nformat=29\ndtype=4\ndims=2\n$Object.data=0,2\n$End=1\nab");
  const Opened opened(entry_mindie_atb(), folder / "0");
  const TensorRecord& packed = tensor(opened, "4_Layer", Role::input, "0");
  CHECK(packed.dtype == DType::none);
  CHECK(packed.shape == Shape{2});
  CHECK(packed.storage == "as stored: dtype int4 [2,2] nd");
  CHECK(tensor(opened, "4_Layer", Role::input, "1").storage == "as stored: fractal_nz");
}
