#include <doctest/doctest.h>

#include <cmath>

#include "bytes.hpp"
#include "formats/acl_overflow.hpp"
#include "formats/acl_slices.hpp"
#include "formats/acl_statistics.hpp"

using namespace ulpscope;

TEST_CASE("statistics: cells are read by column name") {
  const auto read = parse_acl_statistics(
      "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan "
      "Count,Negative Inf "
      "Count,Positive Inf Count\n"
      "Input,0,64,DT_FLOAT16,NCHW,4x8,2.5,-1,0.25,32,0,0,0\n"
      "Output,1,64,DT_FLOAT,ND,-,1,1,1,1,2,0,0\n"
      "Output,2,64,DT_FLOAT,ND,2,1,-5,1,2,0,1,1\n",
      "x.csv");
  REQUIRE(read.ok());
  REQUIRE(read->rows.size() == 3);
  CHECK(read->rows[0].part == AclPart::input);
  CHECK(read->rows[0].data_type == 2);
  CHECK(read->rows[0].shape == Shape{4, 8});
  CHECK(read->rows[0].stats.max == 2.5);
  CHECK(read->rows[0].stats.mean == 0.25);
  CHECK(read->rows[0].stats.present == (ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_MEAN));
  CHECK(std::isnan(read->rows[1].stats.max));
  CHECK(read->rows[1].shape.empty());
  CHECK(std::isinf(read->rows[2].stats.max));
  CHECK(read->rows[2].stats.min == -std::numeric_limits<double>::infinity());
}

TEST_CASE("statistics: chosen ones, and rows that say nothing") {
  const auto read = parse_acl_statistics(
      "Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value,l2norm\n"
      "Output,0,8,DT_FLOAT,ND,2,2,3,5\n"
      "Output,1,8,DT_INT4,UNKNOW,2,NA,NA\n"
      "Sideways,1,8,DT_FLOAT,ND,2,2,3,5\n"
      "Output,x,8,DT_FLOAT,ND,2,2,3,5\n"
      "Output,1,8,DT_FLOAT,ND,2y3,2,3,5\n",
      "x.csv");
  REQUIRE(read.ok());
  REQUIRE(read->rows.size() == 2);
  CHECK(read->rows[0].stats.l2norm == 5);
  CHECK(read->rows[1].stats.present == 0);
  REQUIRE(read->notes.size() == 3);
  CHECK(read->notes[0] == "line 4: Input/Output is 'Sideways': left out");
  CHECK(read->notes[1] == "line 5: the index is no number: left out");
  CHECK(read->notes[2] == "line 6: Shape is '2y3', expected a form like 4x8: left out");
}

TEST_CASE("statistics: a table without the columns is refused") {
  const auto read = parse_acl_statistics("a,b\n1,2\n", "x.csv");
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message ==
        "x.csv: line 1: expected the columns Input/Output, Index, Data Type and Shape");
}

namespace {

Result<AclOverflowRecord> record(const std::string& bytes) {
  return parse_acl_overflow(std::as_bytes(std::span(bytes)));
}

std::string old_record(size_t block, uint64_t stream, uint64_t task, size_t status_at, uint64_t status) {
  std::string bytes(2048, '\0');
  bytes.replace(block + 8, 8, test::little_endian(stream, 8));
  bytes.replace(block + 16, 8, test::little_endian(task, 8));
  bytes.replace(status_at, 8, test::little_endian(status, 8));
  return bytes;
}

std::string new_record(uint32_t valid, uint32_t type, uint32_t length, size_t words, uint64_t last) {
  std::string bytes = test::little_endian(0x5a5a5a5a, 4) + test::little_endian(0, 4) +
                      test::little_endian(valid, 4) + test::little_endian(type, 4) +
                      test::little_endian(0, 4) + test::little_endian(length, 4);
  for (size_t i = 0; i < words; ++i)
    bytes += test::little_endian(i + 1 == words ? last : i == 4 || i == 5 ? 65535 : i + 10, 8);
  return bytes;
}

}  // namespace

TEST_CASE("overflow: old records name task, stream and status") {
  const auto core = record(old_record(256, 7, 12, 1040, 32));
  REQUIRE(core.ok());
  REQUIRE(core->findings.size() == 1);
  CHECK(core->findings[0].kind == "AI Core");
  CHECK(core->findings[0].stream == 7);
  CHECK(core->findings[0].task == 12);
  CHECK(core->findings[0].status == std::vector<uint64_t>{32});
  CHECK(record(old_record(0, 1, 2, 512, 3))->findings[0].kind == "DHA Atomic Add");
  CHECK(record(old_record(128, 1, 2, 768, 3))->findings[0].kind == "L2 Atomic Add");
  CHECK(record(std::string(2048, '\0'))->note == "all status words are 0");
}

TEST_CASE("overflow: new records of every accelerator") {
  const auto aic = record(new_record(1, 0, 88, 11, 5));
  REQUIRE(aic.ok());
  REQUIRE(aic->findings.size() == 1);
  CHECK(aic->findings[0].kind == "AIC");
  CHECK(aic->findings[0].stream == 11);
  CHECK(aic->findings[0].task == 12);
  CHECK(aic->findings[0].context == -1);
  CHECK(record(new_record(1, 1, 112, 14, 5))->findings[0].status.size() == 4);
  CHECK(record(new_record(1, 2, 64, 8, 5))->findings[0].kind == "AICPU");
  CHECK(record(new_record(1, 3, 80, 10, 5))->findings[0].kind == "SDMA");
  CHECK(overflow_json(aic->findings) ==
        R"({"overflow": [{"kind": "AIC", "stream": 11, "task": 12, "status": "5"}]})");
}

TEST_CASE("overflow: records that are no finding say why") {
  CHECK(record(new_record(0, 0, 88, 11, 5))->note == "the record is marked as not valid");
  CHECK(record(new_record(1, 4, 88, 11, 5))->note == "accelerator type 4 is not known");
  CHECK(record(new_record(1, 0, 90, 11, 5))->note == "90 bytes of data, which no record of its kind has");
  CHECK(record(new_record(1, 0, 88, 10, 5))->note == "its data is cut off");
  CHECK(record(new_record(1, 0, 88, 11, 0))->note == "all status words are 0");
  const auto refused = record(std::string(100, '\0'));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "an overflow record of 100 bytes, expected 2048 or one with a magic number");
}

TEST_CASE("slices: axes of outputs by counts, of inputs by bounds") {
  const auto slicing =
      parse_acl_slicing(R"({"threadMode": 1, "slice_instance_num": 2, "outputCutList": [[1, 2], [1, 1]],
    "input_tensor_slice": [[[{"lower": 0, "higher": 4}], [{"lower": 0, "higher": 2}]],
                           [[{"lower": 4, "higher": 8}], [{"lower": 0, "higher": 2}]]]})");
  REQUIRE(slicing.ok());
  CHECK(slicing->instances == 2);
  CHECK(slicing->output_axes == std::vector<int32_t>{1, -1});
  CHECK(slicing->input_axes == std::vector<int32_t>{0, -1});
  CHECK_FALSE(parse_acl_slicing("[]").ok());
  CHECK(parse_acl_slicing("{}").error().message == "no outputCutList and slice_instance_num");
}
