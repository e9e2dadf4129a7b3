// Every way in which a dump file can be malformed, with what is said of it: a file is refused with the byte
// that is wrong, a tensor is bad with the byte of its record or of its missing data, the others stay good. A
// file begins with 8 bytes of length; output({4}, 16) and input({4}, 16) take 18 bytes of the message behind
// them.
#include <doctest/doctest.h>

#include <vector>

#include "bytes.hpp"
#include "formats/acl_dump.hpp"
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

const std::string kData16(16, 'd'), kData32(32, 'd');
constexpr uint64_t kMost = ~uint64_t{0};

struct RefusedFile {
  const char* name;
  std::string bytes;
  const char* problem;  // behind the path of the file
};

std::string zeros(size_t count) { return std::string(count, '\0'); }
std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// The form of small devices: a header of these bytes, then data.
std::string nano(const std::string& header, const std::string& data) {
  const std::string all = little_endian(0x5a5a5a5a, 4) + little_endian(1, 4) + header;
  return little_endian(all.size(), 8) + all + data;
}
// A block of one input whose list of shapes has these bytes and says to have list_bytes.
std::string nano_input(const std::string& list, uint64_t list_bytes, uint64_t size) {
  const std::string record = little_endian(0, 4) + little_endian(2, 4) + little_endian(0, 4) +
                             little_endian(0, 8) + little_endian(0, 8) + little_endian(size, 8) +
                             little_endian(list_bytes, 4) + list;
  return little_endian(4, 4) + little_endian(record.size() + 4, 4) + little_endian(1, 4) + record;
}

std::vector<RefusedFile> refused_files() {
  const std::string good = dump_file(output({4}, 16) + field(6, "op"), kData16);
  return {
      {"no bytes", "", "too short: 0 bytes, expected a length of 8 bytes and a header"},
      {"one byte", "x", "too short: 1 bytes, expected a length of 8 bytes and a header"},
      {"a length alone", zeros(8), "too short: 8 bytes, expected a length of 8 bytes and a header"},
      {"a length above the file", little_endian(3, 8) + "xx",
       "header length 3 at byte 0, the file has 2 bytes behind it"},
      {"a length of 2^63", little_endian(uint64_t{1} << 63, 8) + "xx",
       "header length 9223372036854775808 at byte 0, the file has 2 bytes behind it"},
      {"a length of 2^64 - 1", little_endian(kMost, 8) + "xx",
       "header length 18446744073709551615 at byte 0, the file has 2 bytes behind it"},
      {"a header cut off", good.substr(0, 20), "header length 22 at byte 0, the file has 12 bytes behind it"},
      {"text in place of a header", dump_file("no dump at all", ""),
       "header: byte 9: wire type 6 does not exist"},
      {"a field past the header", dump_file("\x1a\xff\xff\x03", ""),
       "header: byte 12: a field reaches past the end of its message"},
      {"a name past the header", dump_file(field(6, "name").substr(0, 4), ""),
       "header: byte 10: a field reaches past the end of its message"},
      {"a field past its tensor", dump_file(field(3, "\x1a\x05"), ""),
       "header: byte 12: a field reaches past the end of its message"},
      {"a number past its shape", dump_file(field(3, field(3, field(1, "\x80"))), ""),
       "header: byte 15: a number is cut off"},
      {"a number of eleven bytes", dump_file("\x08" + repeated("\x80", 11), ""),
       "header: byte 19: a number of more than 10 bytes"},
      {"field number 0", dump_file(std::string("\x02\0", 2), ""),
       "header: byte 9: field number outside 1 to 536870911"},
      {"wire type 6", dump_file(std::string("\x0e\0", 2), ""), "header: byte 9: wire type 6 does not exist"},
      {"wire type 7", dump_file(std::string("\x0f\0", 2), ""), "header: byte 9: wire type 7 does not exist"},
      {"64 bits cut off",
       dump_file("\x09"
                 "1234",
                 ""),
       "header: byte 9: a number is cut off"},
      {"32 bits cut off",
       dump_file("\x0d"
                 "12",
                 ""),
       "header: byte 9: a number is cut off"},
      {"a group that does not end", dump_file("\x0b", ""), "header: byte 9: a group does not end"},
      {"a group that did not begin", dump_file("\x0c", ""),
       "header: byte 9: the end of a group that did not begin"},
      {"the end of another group", dump_file("\x0b\x14", ""), "header: byte 10: the end of another group"},
      {"groups without end", dump_file(repeated("\x0b", 1000), ""),
       "header: byte 73: groups nested deeper than 64"},
      {"more tensors than the limit", dump_file(repeated(std::string("\x1a\0", 2), 262145), ""),
       "header: more than 262144 tensors in one file"},
      {"a small device's header past the file", little_endian(100, 8) + little_endian(0x5a5a5a5a, 4),
       "header length 100 at byte 0, the file has 4 bytes behind it"},
      {"a small device's block past the header", nano(little_endian(4, 4) + little_endian(999, 4), ""),
       "header: byte 24: a block of tensors is cut off"},
      {"a small device's block too short for its records",
       nano(little_endian(4, 4) + little_endian(4, 4) + little_endian(2, 4), ""),
       "header: byte 28: a block of tensors is cut off"},
      {"an old form whose sizes lie", field(6, "old") + field(3, field(5, kData16) + field(6, 17)),
       "header length 3032077467745452850 at byte 0, the file has 19 bytes behind it"},
  };
}

struct OddTensor {
  const char* name;
  std::string bytes;
  size_t tensor;
  AclState state;
  const char* said;  // problem or warning
};

std::vector<OddTensor> odd_tensors() {
  constexpr uint64_t kHalf = uint64_t{1} << 40;
  std::string deep;
  for (int i = 0; i < 33; ++i) deep += varint(1);
  return {
      {"data cut inside", dump_file(input({4}, 16) + output({4}, 16), std::string(20, 'x')), 1, AclState::bad,
       "size: 16 bytes recorded, 4 are left in the file at byte 60"},
      {"data cut before", dump_file(input({4}, 16) + output({4}, 16), std::string(12, 'x')), 1, AclState::bad,
       "the bytes of an earlier tensor are cut off at byte 44"},
      {"no data at all, the address null", dump_file(output({4}, 16), ""), 0, AclState::not_dumped, ""},
      {"a size of 2^64 - 1", dump_file(output({4}, kMost), kData16), 0, AclState::bad,
       "size: 18446744073709551615 bytes recorded, 16 are left in the file at byte 35"},
      {"sizes whose sum wraps", dump_file(output({4}, kMost - 7) + output({6}, 24), kData16), 1,
       AclState::bad, "the bytes of an earlier tensor are cut off at byte 53"},
      {"dims whose product wraps", dump_file(output({kHalf, kHalf}, 16), kData16), 0, AclState::bad,
       "FLOAT [1099511627776,1099511627776]: a shape that no tensor has (recorded at byte 10)"},
      {"dims whose bits wrap", dump_file(output({uint64_t{1} << 60}, 16), kData16), 0, AclState::bad,
       "FLOAT [1152921504606846976]: a shape that no tensor has (recorded at byte 10)"},
      {"a dynamic dim", dump_file(output({kMost}, 16), kData16), 0, AclState::bad,
       "FLOAT [-1]: a shape that no tensor has (recorded at byte 10)"},
      {"a product above the size", dump_file(output({5}, 16), kData16), 0, AclState::bad,
       "FLOAT [5] needs 20 bytes, recorded are 16 (recorded at byte 10)"},
      {"a size that is no multiple", dump_file(output({3}, 15), std::string(15, 'x')), 0, AclState::bad,
       "15 bytes are no multiple of 4, the size of a FLOAT (recorded at byte 10)"},
      {"33 dims", dump_file(field(3, field(1, 1) + field(3, field(1, deep)) + field(6, 4)), "abcd"), 0,
       AclState::bad, "more than 32 dimensions (byte 14 of the header)"},
      {"a product below the size", dump_file(output({3}, 16), kData16), 0, AclState::good,
       "FLOAT [3] needs 12 of its 16 bytes: the first ones are read (recorded at byte 10)"},
      {"type 99", dump_file(output({4}, 16, 99), kData16), 0, AclState::unsupported, ""},
      {"a type of text", dump_file(output({4}, 16, 13), kData16), 0, AclState::unsupported, ""},
      {"a type of one bit", dump_file(output({128}, 16, 29), kData16), 0, AclState::unsupported, ""},
      {"a type of two bits", dump_file(output({64}, 16, 30), kData16), 0, AclState::unsupported, ""},
      {"a type of six bits", dump_file(output({16}, 12, 37), kData16.substr(4)), 0, AclState::unsupported,
       ""},
      {"an old form without its bytes", field(6, "old") + field(3, field(3, shape({4})) + field(6, 16)), 0,
       AclState::bad, "its bytes are not in the file (recorded at byte 7)"},
      {"a small device's shape of 9 bytes",
       nano(nano_input(little_endian(0, 4) + little_endian(9, 4) + std::string(9, '\1'), 17, 16), kData16), 0,
       AclState::bad, "header: byte 76: a shape of 9 bytes, expected 8 for each of at most 32"},
      {"a small device's list past its record",
       nano(nano_input(little_endian(0, 4) + little_endian(99, 4), 8, 16), kData16), 0, AclState::bad,
       "header: byte 76: its record is cut off"},
  };
}

}  // namespace

TEST_CASE("malformed: a file that is none is refused with its byte") {
  for (const RefusedFile& each : refused_files()) {
    SUBCASE(each.name) {
      const auto dump = read(each.bytes);
      REQUIRE_FALSE(dump.ok());
      const std::string& message = dump.error().message;
      CAPTURE(message);
      CHECK(message.substr(message.find("Op.x.1.2.3: ") + 12) == each.problem);
    }
  }
}

TEST_CASE("malformed: a tensor that cannot be read says why and where") {
  for (const OddTensor& each : odd_tensors()) {
    SUBCASE(each.name) {
      const auto dump = read(each.bytes);
      REQUIRE_MESSAGE(dump.ok(), (dump.ok() ? "" : dump.error().message));
      REQUIRE(dump->tensors.size() > each.tensor);
      const AclTensor& tensor = dump->tensors[each.tensor];
      CHECK(tensor.state == each.state);
      CHECK(tensor.problem + tensor.warning == each.said);
    }
  }
}

TEST_CASE("malformed: tensors before and beside a bad one stay good") {
  SUBCASE("before data that is cut") {
    const auto dump = read(dump_file(input({4}, 16) + output({4}, 16), std::string(20, 'x')));
    REQUIRE(dump.ok());
    CHECK(dump->tensors[0].state == AclState::good);
  }
  SUBCASE("beside a shape that no tensor has") {
    const auto dump = read(dump_file(output({kMost}, 16) + output({4}, 16), kData32));
    REQUIRE(dump.ok());
    CHECK(dump->tensors[0].state == AclState::bad);
    CHECK(dump->tensors[1].state == AclState::good);
    CHECK(dump->tensors[1].offset == 8 + 36 + 18 + 16);
  }
  SUBCASE("beside a type that is not read") {
    const auto dump = read(dump_file(output({4}, 16, 99) + output({4}, 16), kData32));
    REQUIRE(dump.ok());
    CHECK(dump->tensors[1].state == AclState::good);
  }
}

TEST_CASE("malformed: bytes that belong to no tensor are told with their place") {
  const auto dump = read(dump_file(output({4}, 16), kData16 + "abc"));
  REQUIRE(dump.ok());
  CHECK(dump->tensors[0].state == AclState::good);
  REQUIRE(dump->warnings.size() == 1);
  CHECK(dump->warnings[0] == "3 bytes at the end, from byte 42 on, belong to no tensor");
}
