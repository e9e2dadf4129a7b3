#include "formats/acl_dump.hpp"

#include <doctest/doctest.h>

#include "bytes.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;
using namespace ulpscope::test;

namespace {

Result<AclDump> read(const std::string& bytes) {
  const TempFolder folder;
  const auto file = File::open(folder.write("Op.x.1.2.3", bytes));
  if (!file.ok()) return file.error();
  return read_acl_dump(*file);
}

bool refuses(const std::string& bytes, std::string_view part) {
  const auto dump = read(bytes);
  if (dump.ok()) return false;
  CAPTURE(dump.error().message);
  CHECK(dump.error().message.find(part) != std::string::npos);
  return dump.error().message.find(part) != std::string::npos;
}

const std::string kData16(16, 'd');

}  // namespace

TEST_CASE("dump: inputs come first in the data although outputs come first in the message") {
  const auto dump = read(
      dump_file(field(1, "2.0") + output({4}, 16) + input({2}, 8) + field(6, "a/b c"), std::string(24, 'x')));
  REQUIRE(dump.ok());
  CHECK(dump->op_name == "a/b c");
  REQUIRE(dump->tensors.size() == 2);
  CHECK(dump->tensors[0].name() == "input 0");
  CHECK(dump->tensors[0].state == AclState::good);
  CHECK(dump->tensors[0].size_bytes == 8);
  CHECK(dump->tensors[1].offset == dump->tensors[0].offset + 8);
  CHECK(dump->tensors[1].shape == Shape{4});
}

TEST_CASE("dump: files that are none are refused with what was expected") {
  CHECK(refuses("", "too short: 0 bytes"));
  CHECK(refuses(std::string(8, '\0'), "too short: 8 bytes"));
  CHECK(refuses(little_endian(uint64_t{1} << 63, 8) + "xx", "header length 9223372036854775808"));
  CHECK(refuses(little_endian(~uint64_t{0}, 8) + "xx", "header length 18446744073709551615"));
  CHECK(refuses(dump_file(field(6, "name").substr(0, 4), ""), "past the end of its message"));
  CHECK(refuses(dump_file(std::string("\x08") + std::string(11, '\x80'), ""), "more than 10 bytes"));
  CHECK(refuses(dump_file(std::string("\x02\x00", 2), ""), "field number"));
  CHECK(refuses(dump_file(std::string("\x0e\x00", 2), ""), "wire type 6"));
  CHECK(refuses(dump_file("\x0c", ""), "group that did not begin"));
  CHECK(refuses(dump_file("\x0b", ""), "does not end"));
}

TEST_CASE("dump: an empty header is an empty operator") {
  const auto dump = read(dump_file("", "x"));
  REQUIRE(dump.ok());
  CHECK(dump->tensors.empty());
  REQUIRE(dump->warnings.size() == 1);
  CHECK(dump->warnings[0] == "1 bytes at the end, from byte 8 on, belong to no tensor");
}

TEST_CASE("dump: unknown fields of every wire type are skipped, dims may be unpacked") {
  const std::string unknown = field(99, 7) + varint((98 << 3) | 1) + std::string(8, 'z') + field(97, "abc") +
                              varint((96 << 3) | 5) + std::string(4, 'z') + varint((95 << 3) | 3) +
                              field(1, 1) + varint((95 << 3) | 4);
  const std::string unpacked =
      field(3, field(1, 1) + field(2, 2) + field(3, field(1, 2) + field(1, 2)) + field(6, 16));
  const auto dump = read(dump_file(unknown + unpacked, kData16));
  REQUIRE(dump.ok());
  REQUIRE(dump->tensors.size() == 1);
  CHECK(dump->tensors[0].shape == Shape{2, 2});
  CHECK(dump->tensors[0].state == AclState::good);
}

TEST_CASE("dump: data cut in the middle of a tensor spoils that one and those behind it") {
  const auto dump = read(dump_file(input({2}, 8) + input({2}, 8) + input({1}, 4), std::string(12, 'x')));
  REQUIRE(dump.ok());
  CHECK(dump->tensors[0].state == AclState::good);
  CHECK(dump->tensors[1].state == AclState::bad);
  CHECK(dump->tensors[1].problem == "size: 8 bytes recorded, 4 are left in the file at byte 70");
  CHECK(dump->tensors[2].problem == "the bytes of an earlier tensor are cut off at byte 70");
}

TEST_CASE("dump: sizes that wrap to the right sum are not believed") {
  const auto dump = read(dump_file(input({2}, ~uint64_t{0} - 7) + input({6}, 24), kData16));
  REQUIRE(dump.ok());
  CHECK(dump->tensors[0].state == AclState::bad);
  CHECK(dump->tensors[1].state == AclState::bad);
}

TEST_CASE("dump: shapes that no tensor has") {
  const auto state = [](const std::string& message, const std::string& data) {
    const auto dump = read(dump_file(message, data));
    REQUIRE(dump.ok());
    return dump->tensors[0].state;
  };
  CHECK(state(output({uint64_t{1} << 40, uint64_t{1} << 40}, 16), kData16) == AclState::bad);
  CHECK(state(output({~uint64_t{0}}, 16), kData16) == AclState::bad);
  CHECK(state(output({5}, 16), kData16) == AclState::bad);
  CHECK(state(output({3}, 15), std::string(15, 'x')) == AclState::bad);
  CHECK(state(output({3}, 16), kData16) == AclState::good);
  CHECK(state(output({4}, 16, 99), kData16) == AclState::unsupported);
  CHECK(state(output({4}, 16, 13), kData16) == AclState::unsupported);
  CHECK(state(output({}, 0), "") == AclState::no_data);
  CHECK(state(output({}, 4), "abcd") == AclState::good);
}

TEST_CASE("dump: more bytes than the shape needs are cut with a warning") {
  const auto dump = read(dump_file(output({3}, 16), kData16));
  REQUIRE(dump.ok());
  CHECK(dump->tensors[0].size_bytes == 12);
  CHECK(dump->tensors[0].warning ==
        "FLOAT [3] needs 12 of its 16 bytes: the first ones are read (recorded at byte 10)");
}

TEST_CASE("dump: tensors of null address are not in the file when only so the sizes fit") {
  const std::string here = field(4, field(1, 1) + field(3, shape({2})) + field(5, 8) + field(8, 4096));
  const auto dump = read(dump_file(input({4}, 16) + here, std::string(8, 'x')));
  REQUIRE(dump.ok());
  CHECK(dump->tensors[0].state == AclState::not_dumped);
  CHECK(dump->tensors[1].state == AclState::good);
  CHECK(dump->warnings.empty());
}

TEST_CASE("dump: the old form has the bytes in the message") {
  const std::string tensor =
      field(1, 1) + field(2, 2) + field(3, shape({4})) + field(5, kData16) + field(6, 16);
  const auto dump = read(field(6, "old") + field(3, tensor));
  REQUIRE(dump.ok());
  CHECK(dump->inlined);
  CHECK(dump->op_name == "old");
  CHECK(dump->tensors[0].state == AclState::good);
  CHECK(dump->tensors[0].size_bytes == 16);
}

TEST_CASE("dump: the form of small devices") {
  const std::string list = little_endian(0, 4) + little_endian(8, 4) + little_endian(4, 8);
  const std::string record = little_endian(0, 4) + little_endian(2, 4) + little_endian(0, 4) +
                             little_endian(0, 8) + little_endian(0, 8) + little_endian(16, 8) +
                             little_endian(list.size(), 4) + list;
  const std::string block = little_endian(1, 4) + record;
  const std::string header = little_endian(0x5a5a5a5a, 4) + little_endian(1, 4) + little_endian(4, 4) +
                             little_endian(block.size(), 4) + block;
  const auto dump = read(little_endian(header.size(), 8) + header + kData16);
  REQUIRE(dump.ok());
  CHECK(dump->nano);
  REQUIRE(dump->tensors.size() == 1);
  CHECK(dump->tensors[0].data_type == 1);
  CHECK(dump->tensors[0].shape == Shape{4});
  CHECK(dump->tensors[0].state == AclState::good);
  CHECK(
      refuses(little_endian(12, 8) + little_endian(0x5a5a5a5a, 4) + little_endian(1, 4) + little_endian(4, 4),
              "cut off"));
}

TEST_CASE("dump: many empty outputs are read, more than the stated limit are refused") {
  std::string message;
  for (int i = 0; i < 20000; ++i) message += field(3, "");
  const auto dump = read(dump_file(message, ""));
  REQUIRE(dump.ok());
  CHECK(dump->tensors.size() == 20000);
  std::string too_many;
  for (size_t i = 0; i <= kMaxAclTensors; ++i) too_many += std::string("\x1a\x00", 2);
  CHECK(refuses(dump_file(too_many, ""), "more than 262144 tensors"));
}

TEST_CASE("dump: a name that is no UTF-8 is kept in a form that is") {
  const auto dump = read(dump_file(field(6,
                                         "a\xff"
                                         "b"),
                                   ""));
  REQUIRE(dump.ok());
  CHECK(dump->op_name ==
        "a\xEF\xBF\xBD"
        "b");
}
