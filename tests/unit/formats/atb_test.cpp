#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/atb_container.hpp"
#include "formats/atb_names.hpp"
#include "formats/atb_statistics.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

// A container as the probe writes it; text may be any header lines.
std::string container(const std::string& dtype, const std::string& dims, const std::string& payload) {
  const std::string size = std::to_string(payload.size());
  return "$Version=1.0\n$Object.Count=1\n$Object.Length=" + size + "\nformat=2\ndtype=" + dtype +
         "\ndims=" + dims + "\n$Object.data=0," + size + "\n$End=1\n" + payload;
}

Result<AtbContainer> read(const std::string& bytes) {
  const test::TempFolder folder;
  const auto file = File::open(folder.write("x.bin", bytes));
  return read_atb_container(*file);
}

std::string error_of(const std::string& bytes) {
  const auto read_file = read(bytes);
  return read_file.ok() ? "no error" : read_file.error().message;
}

std::vector<std::string> warnings_of(const std::string& bytes) {
  const auto read_file = read(bytes);
  return read_file.ok() ? read_file->warnings
                        : std::vector<std::string>{"error: " + read_file.error().message};
}

struct Table {
  std::vector<AtbStatisticsRow> rows;
  std::vector<std::string> bad;
  std::string error;
};

Table read_table(const std::string& text) {
  const test::TempFolder folder;
  const auto file = File::open(folder.write("statistic.csv", text));
  Table table;
  AtbStatisticsSink sink;
  sink.on_row = [&](const AtbStatisticsRow& row) { table.rows.push_back(row); };
  sink.on_bad_row = [&](int64_t line, std::string_view what) {
    table.bad.push_back(std::to_string(line) + ": " + std::string(what));
  };
  const Status status = read_atb_statistics(*file, sink);
  if (!status.ok()) table.error = status.error().message;
  return table;
}

constexpr const char* kColumns =
    "Device and PID,Execution Count,Op Name,Op Type,Op "
    "Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,Mean,Norm,"
    "Tensor Path\n";

}  // namespace

TEST_CASE("atb container: type, shape and place of the elements") {
  const auto found = read(container("27", "2,3", std::string(12, 'x')));
  REQUIRE(found.ok());
  CHECK(found->dtype == DType::bf16);
  CHECK(found->shape == Shape{2, 3});
  CHECK(found->format == 2);
  CHECK(found->data_offset == 99);
  CHECK(found->data_size == 12);
  CHECK(found->warnings.empty());
}

TEST_CASE("atb container: carriage returns, blanks in dims and unknown lines are read") {
  const auto found =
      read("$Version=1.0\r\n$Other=1\r\ncolour=blue\r\ndtype=3\r\ndims= 1, 2\r\n$End=1\r\n12345678");
  REQUIRE(found.ok());
  CHECK(found->shape == Shape{1, 2});
  CHECK(found->dtype == DType::i32);
  CHECK(found->warnings == std::vector<std::string>{"dims hold blanks"});
}

TEST_CASE("atb container: a scalar has no dims, an empty tensor a 0") {
  CHECK(read(container("0", "", "1234"))->shape.empty());
  CHECK(read(container("0", "4,0", ""))->data_size == 0);
  CHECK(error_of(container("0", "", "12345678")) == "byte 93: dims give 4 bytes, the payload has 8");
}

TEST_CASE("atb container: what the dims do not give is refused with its byte") {
  CHECK(error_of(container("0", "2,3", "1234")) == "byte 96: truncated: 4 of 24 bytes");
  CHECK(error_of(container("0", "1", "12345678")) == "byte 94: dims give 4 bytes, the payload has 8");
  CHECK(error_of(container("0", "1", "1234") + "xyz") ==
        "byte 98: 3 trailing bytes behind the 4 that dims give");
  CHECK(error_of(container("0", "-1", "")) == "byte 95: dims: \"-1\", expected whole numbers from 0");
  CHECK(error_of(container("0", "4a", "")) == "byte 95: dims: \"4a\", expected whole numbers from 0");
  CHECK(error_of(container("0", "9223372036854775807,2", "")) ==
        "byte 114: dims 9223372036854775807,2: more elements than can be counted");
  CHECK(error_of(container("0", "9223372036854775807", "1")) ==
        "byte 112: dims 9223372036854775807: more bytes than a file can hold");
  std::string many = "1";
  for (int i = 0; i < 32; ++i) many += ",1";
  CHECK(error_of(container("0", many, "1234")) == "byte 158: dims: more than 32 dimensions");
}

TEST_CASE("atb container: headers that are none") {
  CHECK(error_of("") == "byte 0: the file ends, expected \"$Version=\"");
  CHECK(error_of("\x93NUMPY=\n") == "byte 0: the header is not UTF-8");
  CHECK(error_of("hello=1\n") == "byte 0: expected \"$Version=\", found \"hello=1\"");
  CHECK(error_of("$Version=1.0\ndtype=0\ndims=1\n") == "byte 28: the header has no line \"$End\"");
  CHECK(error_of("$Version=1.0\nnonsense\n$End=1\n") ==
        "byte 13: expected a line name=value, found \"nonsense\"");
  CHECK(error_of("$Version=1.0\nx=\xff\xfe\n$End=1\n") == "byte 13: the header is not UTF-8");
  CHECK(error_of("$Version=1.0\nx=" + std::string(600, 'a')) ==
        "byte 13: a header line is longer than 512 bytes");
  CHECK(error_of("$Version=1.0\ndims=1\n$End=1\n") == "byte 27: the header has no line \"dtype\"");
  CHECK(error_of("$Version=1.0\ndtype=\ndims=1\n$End=1\n") ==
        "byte 34: the line \"dtype\" is empty, expected a number");
  CHECK(error_of("$Version=1.0\ndtype=0\n$End=1\n1234") == "byte 28: the header has no line \"dims\"");
  CHECK(error_of("$Version=1.0\ndtype=0\ndims=1\n$Object.data=x\n$End=1\n1234") ==
        "byte 50: $Object.data: \"x\", expected offset,length");
}

TEST_CASE("atb container: a header that lies of lengths is told, the dims count") {
  CHECK(warnings_of("$Version=2.0\n$Object.Count=0\n$Object.Length=9\ndtype=4\ndims=3\n$Object.data=0,7\n$"
                    "End=1\nabc") ==
        std::vector<std::string>{"$Object.data says 7 bytes, expected 3", "version 2.0, known is 1.0",
                                 "$Object.Count says 0, expected 1", "$Object.Length says 9, expected 3"});
}

TEST_CASE("atb container: an offset is honoured where the elements fit behind it") {
  const std::string head = "$Version=1.0\n$Object.Count=1\n$Object.Length=5\ndtype=4\ndims=3\n$Object.data=";
  CHECK(read(head + "2,3\n$End=1\nXXabc")->data_offset == head.size() + 13);
  CHECK(error_of(head + "3,3\n$End=1\nXXabc") ==
        "byte 85: $Object.data begins at 3 and needs 3 bytes, the payload has 5");
}

TEST_CASE("atb container: of several objects the one named data counts") {
  const auto found = read(
      "$Version=1.0\n$Object.Count=2\n$Object.Length=5\ndtype=4\ndims=3\n$Object.data=0,3\n$Object.more=3,2\n"
      "$End=1\nabcXX");
  REQUIRE(found.ok());
  CHECK(found->data_size == 3);
  CHECK(found->warnings == std::vector<std::string>{"$Object.Count says 2, expected 1"});
}

TEST_CASE("atb container: of appended containers the last complete one counts") {
  const std::string first = container("4", "3", "abc"), second = container("4", "2", "de");
  const auto found = read(first + second);
  REQUIRE(found.ok());
  CHECK(found->shape == Shape{2});
  CHECK(found->data_offset == first.size() + second.size() - 2);
  CHECK(found->warnings == std::vector<std::string>{"several containers in one file, the last one is read"});
  const auto cut = read(first + second.substr(0, second.size() - 1));
  REQUIRE(cut.ok());
  CHECK(cut->shape == Shape{3});
  CHECK(cut->warnings[0].starts_with("the container behind this one is damaged: byte "));
  std::string many;
  for (int i = 0; i < 1001; ++i) many += container("4", "0", "");
  CHECK(error_of(many).ends_with("more than 1000 containers in one file"));
}

TEST_CASE("atb container: an alias has a name and no elements") {
  const std::string alias =
      "$Version=1.0\n$Object.Count=0\n$Object.Length=0\nformat=2\ndtype=0\ndims=2\n"
      "data=4_0_0_outtensor0.bin\n$End=1\n";
  const auto found = read(alias);
  REQUIRE(found.ok());
  CHECK(found->is_alias);
  CHECK_FALSE(found->has_data);
  CHECK(found->alias == "4_0_0_outtensor0.bin");
  CHECK(error_of(alias + "x") == "byte 103: bytes behind the header of an alias, expected none");
}

TEST_CASE("atb container: types without known values are bytes") {
  CHECK(read(container("29", "3", "ab"))->dtype == DType::none);  // int4: 12 bits
  CHECK(read(container("29", "3", "ab"))->type_text == "int4");
  CHECK(read(container("5", "3", "abcd"))->data_size == 4);
  CHECK(read(container("bf16", "3", "abcd"))->type_text == "bf16");
}

TEST_CASE("atb container: a file of statistics alone") {
  const auto found =
      read("$Version=1.0\nformat=2\ndtype=0\ndims=2\nmax=3.5\nmin=-1\nmean=nan\nl2norm=4\n$End=1\n");
  REQUIRE(found.ok());
  CHECK_FALSE(found->has_data);
  CHECK(found->stats.present == 15);
  CHECK(found->stats.max == 3.5);
  CHECK(found->stats.min == -1);
  CHECK(found->stats.mean != found->stats.mean);
}

TEST_CASE("atb names: operations, tensors, aliases, processes") {
  CHECK(parse_atb_op_name("10_Decoder_layer")->id == 10);
  CHECK(parse_atb_op_name("10_Decoder_layer")->type == "Decoder_layer");
  CHECK_FALSE(parse_atb_op_name("before"));
  CHECK_FALSE(parse_atb_op_name("x_1"));
  CHECK_FALSE(parse_atb_op_name("1_"));
  CHECK(parse_atb_tensor_name("outtensor12_a.b.bin")->index == 12);
  CHECK(parse_atb_tensor_name("outtensor12_a.b.bin")->label == "a.b");
  CHECK_FALSE(parse_atb_tensor_name("inTensor0.bin"));
  CHECK_FALSE(parse_atb_tensor_name("intensor0.npy"));
  CHECK(parse_atb_alias("4_0_10_outtensor0.bin")->ids == std::vector<int64_t>{4, 0, 10});
  CHECK(parse_atb_alias("intensor0.bin")->ids.empty());
  CHECK(parse_atb_alias("intensor0_x.bin")->ids.empty());
  CHECK_FALSE(parse_atb_alias("../../4_intensor0.bin"));
  CHECK_FALSE(parse_atb_alias("99999999999999999999_intensor0.bin"));
  CHECK(parse_atb_process("3_77")->device == 3);
  CHECK(parse_atb_process("77")->device == 0);
  CHECK_FALSE(parse_atb_process("a_77"));
}

TEST_CASE("atb statistics: a row of the table") {
  const Table table =
      read_table(std::string("\xEF\xBB\xBF") + kColumns +
                 "0_7,0,Prefill_layer/Attention,Attention,2_0,output,0_out,bf16,nd,6x32,3.5,-1.25,"
                 "nan,12.000000,/a/b.bin\r\n" +
                 kColumns + "\n");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.bad.empty());
  const AtbStatisticsRow& row = table.rows[0];
  CHECK(row.op_path == "2_Prefill_layer/0_Attention");
  CHECK(row.is_output);
  CHECK(row.label == "out");
  CHECK(row.shape == Shape{6, 32});
  CHECK(row.stats.present == 15);
  CHECK(row.stats.min == -1.25);
  CHECK(row.names_file);
}

TEST_CASE("atb statistics: extremes of a tensor without a number are no values") {
  const Table table =
      read_table(std::string(kColumns) +
                 "0_7,0,A,A,0,input,0,float,nd,2,-340282346638528859811704183484516925440.000000,"
                 "340282346638528859811704183484516925440.000000,nan,nan,N/A\n");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].stats.present == (ULPSCOPE_STAT_MEAN | ULPSCOPE_STAT_L2));
  CHECK_FALSE(table.rows[0].names_file);
}

TEST_CASE("atb statistics: commas in names and complex cells push columns to the right") {
  const Table table =
      read_table(std::string(kColumns) +
                 "0_7,0,A,A,0,input,0_x,y,float,nd,2,1.0,0.5,0.75,2.0,/a/intensor0_x,y.bin\n"
                 "0_7,0,A,A,0,output,0,complex64,nd,1,(1.0,2.0),(1.0,2.0),(1.0,2.0),2.236068,/a/b.bin\n");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].label == "x,y");
  CHECK(table.rows[0].stats.l2norm == 2);
  CHECK(table.rows[1].dtype == "complex64");
  CHECK(table.rows[1].stats.present == 0);
  CHECK(table.bad == std::vector<std::string>{"3: no statistics can be read from it"});
}

TEST_CASE("atb statistics: rows that cannot be used are told with their line") {
  const Table table = read_table(std::string(kColumns) +
                                 "too,few\n"
                                 "0_7,0,A/B,B,0,input,0,float,nd,2,1,1,1,1,N/A\n"
                                 "0_7,0,A,A,0,inout,0,float,nd,2,1,1,1,1,N/A\n"
                                 "0_7,0,A,A,0,input,x,float,nd,2,1,1,1,1,N/A\n"
                                 "0_7,0,A,A,0,input,1,float,nd,2,1,1,1,N/A\n" +
                                 std::string(70000, 'a') + "\n");
  CHECK(table.bad ==
        std::vector<std::string>{"2: 2 cells, expected 15",
                                 "3: Op Name and Op Id do not fit together, expected as many names as ids",
                                 "4: Input/Output is \"inout\", expected input or output",
                                 "5: Index is \"x\", expected a number first",
                                 "6: no statistics can be read from it", "7: longer than 64 KiB"});
  CHECK(table.rows.size() == 1);
  CHECK(read_table("a,b\n").error ==
        "line 1: expected the columns \"Device and PID,Execution Count,Op Name,…\"");
}
