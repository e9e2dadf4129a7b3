// .pt containers beyond the samples: archives and legacy streams spelled out record by record.
#include <doctest/doctest.h>

#include <algorithm>

#include "zip_builder.hpp"

namespace ulpscope::test {
namespace {

std::string text(const std::string& value) { return "X" + little_endian(value.size(), 4) + value; }

std::string small(uint8_t value) { return "K" + little_endian(value, 1); }

struct View {
  std::string type = "ctorch\nFloatStorage\n";
  uint8_t count = 6, offset = 0;
  std::string sizes = "K\2K\3\x86", strides = "K\3K\1\x86";
  std::string view = {};  // sixth member of the persistent id
};

std::string tensor_pickle(const View& view = {}) {
  return "\x80\2"
         "ctorch._utils\n_rebuild_tensor_v2\n((" +
         text("storage") + view.type + text("0") + text("cpu") + small(view.count) + view.view + "tQ" +
         small(view.offset) + view.sizes + view.strides + "\x89)tR.";
}

// 0 … 5 as float32.
const std::string kCounting = raw("\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40");

std::vector<ZipPart> archive(const std::string& pickle = tensor_pickle(),
                             const std::string& data = kCounting) {
  return {{.name = "any/data.pkl", .payload = pickle}, {.name = "any/data/0", .payload = data}};
}

std::string legacy(const std::string& pickle, const std::string& storages, const std::string& little = "\x88",
                   const std::string& keys = "X\1" + raw("\0\0\0") + "0") {
  return "\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\2M\xe9\3.\x80\2}(" +
         text("little_endian") + little + "u." + pickle + "\x80\2](" + keys + "e." + storages;
}

Result<Elements> elements_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.pt", bytes);
  ULPSCOPE_ASSIGN(const auto places, places_of(path));
  return read_elements(path, places.front());
}

Result<TensorPlace> place_of(const std::string& bytes) {
  const TemporaryFolder folder;
  ULPSCOPE_ASSIGN(const auto places, places_of(folder.write("a.pt", bytes)));
  return places.front();
}

void refused(const std::string& bytes, Code code, const std::string& message) {
  CAPTURE(message);
  const auto place = place_of(bytes);
  REQUIRE_FALSE(place.ok());
  CHECK(place.error().code == code);
  CHECK_MESSAGE(says(place, message), message_of(place));
  CHECK(says(place, "a.pt: "));
}

}  // namespace

TEST_CASE("pt: an archive with any root and order of records is read") {
  CHECK(elements_of(zip_of(archive()))->bytes == kCounting);
  auto parts = archive();
  std::swap(parts[0], parts[1]);
  parts.push_back({.name = "any/byteorder", .payload = "little"});
  CHECK(elements_of(zip_of(parts))->bytes == kCounting);
}

TEST_CASE("pt: archives of something else are refused") {
  refused(zip_of({{.name = "x", .payload = ""}}), Code::format,
          "no data.pkl record, expected the archive of a tensor");
  auto parts = archive();
  parts.push_back({.name = "other/data.pkl", .payload = ""});
  refused(zip_of(parts), Code::format, "two data.pkl records, expected one");
  parts = archive();
  parts.push_back({.name = "any/constants.pkl", .payload = ""});
  refused(zip_of(parts), Code::unsupported, "a TorchScript archive, expected a tensor saved by torch.save");
  parts.back().name = "any/code/__torch__.py";
  refused(zip_of(parts), Code::unsupported, "TorchScript");
  parts.back() = {.name = "any/byteorder", .payload = "middle"};
  refused(zip_of(parts), Code::format, "record 'byteorder' says 'middle', expected little or big");
  refused(zip_of(archive("garbage")), Code::unsupported, "data.pkl: byte 0: pickle opcode GET (0x67)");
}

TEST_CASE("pt: a record of 17 MiB in place of the pickle is refused before it is unpacked") {
  ZipPart bomb{.name = "any/data.pkl", .payload = std::string(20000, '\0'), .method = 8, .size = 17 << 20};
  refused(zip_of({bomb}), Code::format, "17825792 bytes, expected at most 16777216");
}

TEST_CASE("pt: a view must lie inside the record, whatever the pickle says of its storage") {
  refused(zip_of(archive(tensor_pickle({.offset = 1}))), Code::format,
          "reaches past storage '0', which has 6 elements");
  refused(zip_of(archive(tensor_pickle({.count = 200, .offset = 0}), kCounting.substr(4))), Code::format,
          "reaches past storage '0', which has 5 elements");
  const std::string huge = "\x8a\x08" + little_endian(INT64_MAX, 8);
  refused(zip_of(archive(tensor_pickle({.strides = huge + huge + "\x86"}))), Code::format,
          "reaches past storage '0'");
  refused(zip_of(archive(tensor_pickle({.sizes = huge + huge + "\x86"}))), Code::format,
          "a shape of more elements than any file holds");
  const auto longer = place_of(zip_of(archive(tensor_pickle({.count = 7}))));
  REQUIRE_MESSAGE(longer.ok(), message_of(longer));
  CHECK(longer->warnings ==
        std::vector<std::string>{"storage '0' has 24 bytes, the pickle says 7 elements of 4"});
}

TEST_CASE("pt: a part of a record states no CRC-32, the whole of it does") {
  const auto whole = place_of(zip_of(archive()));
  CHECK(whole->crc32 == crc32_of(kCounting));
  const auto part =
      place_of(zip_of(archive(tensor_pickle({.offset = 1, .sizes = "K\5\x85", .strides = "K\1\x85"}))));
  REQUIRE_MESSAGE(part.ok(), message_of(part));
  CHECK(part->plain);
  CHECK_FALSE(part->crc32.has_value());
  CHECK(part->size == 20);
}

TEST_CASE("pt: a big-endian archive is swapped and its CRC-32 is that of the stored bytes") {
  std::string big = kCounting;
  for (size_t i = 0; i < big.size(); i += 4)
    std::reverse(big.begin() + static_cast<long>(i), big.begin() + static_cast<long>(i) + 4);
  auto parts = archive(tensor_pickle(), big);
  parts.push_back({.name = "any/byteorder", .payload = "big"});
  const auto elements = elements_of(zip_of(parts));
  REQUIRE_MESSAGE(elements.ok(), message_of(elements));
  CHECK(elements->bytes == kCounting);
  CHECK_FALSE(elements->crc_mismatch);
  parts[1].crc32 = 1;
  CHECK(elements_of(zip_of(parts))->crc_mismatch);
}

TEST_CASE("pt: legacy streams, their views and their byte order") {
  const std::string count = little_endian(6, 8);
  CHECK(elements_of(legacy(tensor_pickle({.view = "N"}), count + kCounting))->bytes == kCounting);
  // the second and third element: view (key, 1, 3) of the storage, and offset 0 of the view
  const std::string view = text("7") + "K\1K\3\x87";
  const View two{.sizes = "K\2\x85", .strides = "K\1\x85", .view = view};
  CHECK(elements_of(legacy(tensor_pickle(two), count + kCounting))->bytes == kCounting.substr(4, 8));
  View four = two;
  four.sizes = "K\4\x85";
  refused(legacy(tensor_pickle(four), count + kCounting), Code::format,
          "reaches past storage '0', which has 3 elements");
  View beyond = two;
  beyond.view = text("7") + "K\5K\3\x87";
  refused(legacy(tensor_pickle(beyond), count + kCounting), Code::format,
          "view of storage elements 5 to 8, but the storage has 6");
  const std::string big = raw("\x3f\x80\0\0\x40\0\0\0");  // 1 and 2
  const View pair{.count = 2, .sizes = "K\2\x85", .strides = "K\1\x85"};
  CHECK(elements_of(legacy(tensor_pickle(pair), little_endian(2, 8) + big, "\x89"))->bytes ==
        kCounting.substr(4, 8));
  CHECK(elements_of(legacy(tensor_pickle(pair), raw("\0\0\0\0\0\0\0\2") + big, "\x89"))->bytes ==
        kCounting.substr(4, 8));
}

TEST_CASE("pt: broken legacy streams are refused") {
  const std::string good = legacy(tensor_pickle(), little_endian(6, 8) + kCounting);
  refused(good.substr(0, 15), Code::format, "protocol number from byte 15: byte 0: the pickle is cut off");
  refused(good.substr(0, good.size() - 1), Code::format, "storage '0' of 6 elements at byte");
  refused(good.substr(0, good.size() - 25), Code::format, "expected 8 bytes from byte");
  refused(good.substr(0, 18) + "\1\1" + good.substr(20), Code::unsupported,
          "legacy protocol is an integer other than 1001");
  refused(legacy(tensor_pickle(), "", "\x88", ""), Code::format,
          "storage '0' is not in the list of storage keys");
  refused(legacy(tensor_pickle(), "", "\x88", "N"), Code::format,
          "storage key None is not one that the tensor names");
  refused(legacy(tensor_pickle(), little_endian(UINT64_MAX, 8)), Code::format,
          "of 18446744073709551615 elements at byte");
  refused(good.substr(0, 15) + good.substr(15, 6) + "\x80\2N." + "\x80\2N." + "\x80\2N.", Code::format,
          "the storage keys are None, expected a list");
  refused(legacy("\x80\2N.", ""), Code::unsupported, "the file holds None, expected one tensor");
}

TEST_CASE("pt: other files under this name are refused by what they are") {
  refused(
      "\x1f\x8b"
      "more",
      Code::unsupported, "gzip, expected a .pt, .npy or .safetensors file");
  refused(std::string(257, '\0') + "ustar", Code::unsupported,
          "a .pt file of the tar era (before torch 0.1.10)");
  refused("\x80\2}.", Code::unsupported, "a pickle that is not a tensor's");
  refused("hello", Code::unsupported,
          "begins with bytes 68 65 6c 6c 6f, expected a .pt, .npy or .safetensors file");
  refused("PK", Code::format, "cut off after 2 bytes");
  CHECK(extension(TensorFileKind::pt) == ".pt");
  const TemporaryFolder folder;
  const auto kind = sniff(*File::open(folder.write("x.npy", zip_of(archive()))));
  CHECK(kind.value() == TensorFileKind::pt);  // the bytes decide, not the name
}

}  // namespace ulpscope::test
