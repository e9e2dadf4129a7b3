#include "formats/zip.hpp"

#include <doctest/doctest.h>

#include "formats/zip_inflate.hpp"
#include "zip_builder.hpp"

namespace ulpscope::test {
namespace {

// "hello hello hello hello\n" as raw deflate; zlib.compressobj(9, zlib.DEFLATED, -15) of Python made it.
const std::string kPlain = "hello hello hello hello\n";
const std::string kPacked = raw("\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x27\xb9\x00");

struct Opened {
  explicit Opened(const std::string& bytes) : path(folder.write("a.zip", bytes)) {}
  TemporaryFolder folder;
  std::string path;
  Result<File> file = File::open(path);
  FileEnds ends{*file};
  ZipDirectory zip{ends};

  Status read() {
    ULPSCOPE_TRY(ends.load());
    return zip.read();
  }
  // The first record, whole.
  Result<std::string> first(uint64_t limit_bytes = 1 << 20) {
    ULPSCOPE_TRY(read());
    std::vector<std::byte> scratch;
    ULPSCOPE_ASSIGN(const Bytes bytes,
                    zip.read_record(zip.entries().front(), limit_bytes, scratch, warnings));
    return std::string(as_text(bytes));
  }
  std::vector<std::string> warnings;
};

void refused(const std::string& bytes, Code code, const std::string& message) {
  CAPTURE(message);
  Opened opened(bytes);
  const auto first = opened.first();
  REQUIRE_FALSE(first.ok());
  CHECK(first.error().code == code);
  CHECK(says(first, message));
  CHECK(says(first, opened.path));
}

const ZipPart kPart{.name = "a/x", .payload = "12345"};

ZipPart packed_part() {
  return {.name = "a/x", .payload = kPacked, .method = 8, .size = kPlain.size(), .crc32 = crc32_of(kPlain)};
}

ZipPart changed(void (*change)(ZipPart&), ZipPart part = kPart) {
  change(part);
  return part;
}

}  // namespace

TEST_CASE("zip: stored and deflated records are read") {
  Opened opened(zip_of({kPart, {.name = "a/y", .payload = ""}}));
  CHECK(opened.first().value() == "12345");
  CHECK(opened.zip.entries().size() == 2);
  CHECK(opened.zip.find("a/y") != nullptr);
  CHECK(opened.zip.find("a/z") == nullptr);
  CHECK(Opened(zip_of({packed_part()})).first().value() == kPlain);
}

TEST_CASE("zip: the payload begins after the local header's own name and extra field") {
  CHECK(Opened(zip_of({changed([](ZipPart& p) { p.local_extra = "FB??ZZZZ"; })})).first().value() == "12345");
}

TEST_CASE("zip: a comment behind the end record is allowed") {
  CHECK(Opened(zip_of({kPart}, {.comment = std::string(9000, 'c')})).first().value() == "12345");
}

TEST_CASE("zip: a file larger than its ends in memory is read") {
  Opened opened(
      zip_of({{.name = "a/x", .payload = std::string(100000, 'q')}, kPart, {.name = "b", .payload = "B"}}));
  CHECK_FALSE(opened.read().ok());  // a/x occurs twice
  Opened other(zip_of({{.name = "a/big", .payload = std::string(100000, 'q')}, kPart}));
  CHECK(other.first().value() == std::string(100000, 'q'));
}

TEST_CASE("zip: a wrong CRC-32 is a warning and a missing one is none") {
  Opened wrong(zip_of({changed([](ZipPart& p) { p.crc32 = 1; })}));
  CHECK(wrong.first().ok());
  CHECK(wrong.warnings == std::vector<std::string>{"record 'a/x' does not match its CRC-32"});
  Opened missing(zip_of({changed([](ZipPart& p) { p.crc32 = 0; })}));
  CHECK(missing.first().ok());
  CHECK(missing.warnings.empty());
}

TEST_CASE("zip: ZIP64 end records and fields apply") {
  const std::string extra = little_endian(1, 2) + little_endian(24, 2) + little_endian(5, 8) +
                            little_endian(5, 8) + little_endian(0, 8);
  ZipPart part = kPart;
  part.size = part.packed_size = part.header = 0xffffffff;
  part.extra = little_endian(0x9999, 2) + little_endian(1, 2) + "?" + extra;
  const std::string local = local_record(kPart), directory = directory_record(part, 0);
  const auto archive = [&](uint64_t count, uint64_t own_offset, uint64_t shift = 0) {
    return local + directory + end64(count, directory.size(), local.size() + shift, own_offset) +
           end_record(0xffff, 0xffffffff, 0xffffffff, {});
  };
  const uint64_t own = local.size() + directory.size();
  CHECK(Opened(archive(1, own)).first().value() == "12345");
  refused(archive(1, own + 1), Code::format, "ZIP64 end record at byte");
  refused(archive(1, 0), Code::format, "no ZIP64 end record at byte 0");
  refused(archive(9, own), Code::format, "9 entries do not fit a directory of");
  refused(archive(1, own, 1), Code::format, "does not end before the end record at byte");
  refused(local + directory + end64(1, directory.size(), local.size(), own, 1) + end_record(1, 1, 1, {}),
          Code::unsupported, "ZIP archive split over several files");
  refused(local + directory + end64(1, directory.size(), local.size(), own) +
              end_record(2, 0xffffffff, 0xffffffff, {}),
          Code::format, "the end record and the ZIP64 end record disagree");
  part.extra = little_endian(1, 2) + little_endian(8, 2) + little_endian(5, 8);
  refused(zip_of({part}), Code::format, "its ZIP64 field is too short");
}

TEST_CASE("zip: archives without a usable end are refused") {
  refused("PK\3\4", Code::format, "4 bytes are less than an end record; the file is cut off");
  refused(zip_of({kPart}).substr(0, 60), Code::format,
          "no end record; the file is cut off or still being written");
  refused(zip_of({kPart}, {.disk = 1}), Code::unsupported, "ZIP archive split over several files");
  refused(zip_of({kPart}, {.offset = 5000}), Code::format, "does not end before the end record");
  refused(zip_of({kPart}, {.count = 2}), Code::format, "2 entries do not fit a directory of");
  const std::string many(46 * 65537, 'x');
  refused("PK\3\4" + many + end64(65537, many.size(), 4, 4 + many.size()) +
              end_record(0xffff, 0xffffffff, 0xffffffff, {}),
          Code::unsupported, "65537 entries in 3014702 bytes, expected at most 65536");
}

TEST_CASE("zip: entries that contradict the file are refused") {
  refused(zip_of({kPart}, {.offset = 3}), Code::format, "no directory entry at byte 0 of the directory");
  refused(zip_of({changed([](ZipPart& p) { p.name = ""; })}), Code::format,
          "a record name of 0 bytes, expected 1 to 4096");
  refused(zip_of({changed([](ZipPart& p) { p.size = p.packed_size = 5000; })}), Code::format,
          "5000 bytes after byte 0 run past the directory at byte 38");
  refused(zip_of({changed([](ZipPart& p) { p.header = 39; })}), Code::format, "run past the directory");
  refused(zip_of({changed([](ZipPart& p) { p.size = 6; })}), Code::format,
          "stored, but 5 bytes are said to be 6");
  refused(zip_of({changed([](ZipPart& p) { p.size = 1 << 20; }, packed_part())}), Code::format,
          "11 packed bytes cannot hold 1048576");
  refused(zip_of({kPart, kPart}), Code::format, "ZIP record 'a/x': the name occurs twice");
  refused(zip_of({kPart, {.name = "a/y", .payload = "1", .header = 0}}), Code::format,
          "overlaps the record that begins at byte");
  std::string cut = zip_of({kPart});
  cut[38 + 28] = 50;  // the length of the entry's name
  refused(cut, Code::format, "the directory entry at byte 0 runs past the directory");
}

TEST_CASE("zip: records that cannot be located are refused") {
  refused(zip_of({changed([](ZipPart& p) { p.flags = 1; })}), Code::unsupported,
          "ZIP record 'a/x': encrypted");
  refused(zip_of({changed([](ZipPart& p) { p.method = 14; })}), Code::unsupported,
          "packed with method 14, expected 0 or 8");
  refused(zip_of({changed([](ZipPart& p) { p.local_signature = "PK\3\5"; })}), Code::format,
          "no local header at byte 0");
  refused(zip_of({changed([](ZipPart& p) { p.local_name = "a/y"; })}), Code::format,
          "its local header has another name or method");
  std::string file = zip_of({kPart});
  file[28] = 1;  // the local header says one byte of extra field that is not there
  refused(file, Code::format, "its bytes run into what begins at byte 38");
  Opened large(zip_of({kPart}));
  CHECK(says(large.first(4), "5 bytes, expected at most 4"));
}

TEST_CASE("zip: damaged deflate streams are refused") {
  const auto with = [](const std::string& payload, uint64_t size) {
    return zip_of({{.name = "a/x", .payload = payload, .method = 8, .size = size}});
  };
  refused(with(std::string(11, '\xff'), 24), Code::format, "not a deflate stream");
  refused(with(kPacked, 23), Code::format, "more bytes than the directory says");
  refused(with(kPacked, 25), Code::format, "fewer bytes than the directory says");
  refused(with(kPacked.substr(0, 6), 24), Code::format, "the deflate stream is cut off");
}

}  // namespace ulpscope::test
