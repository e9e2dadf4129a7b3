#include "formats/element_stream.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstring>

#include "formats/element_stream_gather.hpp"
#include "support.hpp"

namespace ulpscope::test {
namespace {

// 32-bit numbers first, first + 1, … .
std::string counting(uint32_t count, uint32_t first = 0) {
  std::string bytes(size_t{count} * 4, '\0');
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t value = first + i;
    std::memcpy(bytes.data() + size_t{i} * 4, &value, 4);
  }
  return bytes;
}

TensorPlace strided(Shape shape, std::vector<int64_t> strides, uint64_t size, int64_t first = 0) {
  TensorPlace place;
  place.dtype = DType::u32;
  place.shape = std::move(shape);
  place.strides = std::move(strides);
  place.first_element = first;
  place.size = size;
  place.plain = false;
  return place;
}

// The elements one by one, by the definition of a stride.
std::string expected_of(const std::string& storage, const TensorPlace& place) {
  std::string out;
  std::vector<int64_t> index(place.shape.size(), 0);
  for (;;) {
    int64_t at = place.first_element;
    for (size_t i = 0; i < index.size(); ++i) at += index[i] * place.strides[i];
    out += storage.substr(static_cast<size_t>(at) * 4, 4);
    size_t i = index.size();
    while (i > 0 && ++index[i - 1] == place.shape[i - 1]) index[--i] = 0;
    if (i == 0) return out;
  }
}

void check_view(const std::string& storage, const TensorPlace& place, size_t piece) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.bin", storage);
  const auto elements = read_elements(path, place, piece);
  REQUIRE_MESSAGE(elements.ok(), message_of(elements));
  CHECK((elements->bytes == expected_of(storage, place)));
}

}  // namespace

TEST_CASE("elements: views in memory follow their strides") {
  const std::string storage = counting(1000);
  SUBCASE("transposed") { check_view(storage, strided({10, 20}, {1, 10}, 4000), 7); }
  SUBCASE("every other column") { check_view(storage, strided({4, 5}, {20, 2}, 4000, 3), 4096); }
  SUBCASE("repeated") { check_view(storage, strided({3, 5, 2}, {0, 1, 0}, 4000, 9), 5); }
  SUBCASE("overlapping rows") { check_view(storage, strided({6, 4}, {1, 2}, 4000), 64); }
  SUBCASE("channels last") { check_view(storage, strided({2, 3, 4, 5}, {60, 1, 15, 3}, 4000), 100); }
  SUBCASE("rows with a gap") { check_view(storage, strided({5, 2, 3}, {12, 3, 1}, 4000), 4096); }
  SUBCASE("one element") { check_view(storage, strided({1, 1}, {77, 5}, 4000, 999), 4); }
}

TEST_CASE("elements: storages larger than memory allows are gathered from the file") {
  // 36 MB of storage, above the 32 MiB that are loaded whole; output above the block of 8 MiB.
  const std::string storage = counting(9'000'000);
  SUBCASE("transposed matrix") {
    check_view(storage, strided({3000, 3000}, {1, 3000}, storage.size()), 1 << 16);
  }
  SUBCASE("narrow columns") { check_view(storage, strided({3, 3'000'000}, {1, 3}, storage.size()), 1 << 16); }
  SUBCASE("far columns") { check_view(storage, strided({20, 4000}, {5, 2000}, storage.size(), 11), 1 << 16); }
  SUBCASE("repeated rows") {
    check_view(storage, strided({2, 3, 1'000'000}, {0, 3'000'000, 2}, storage.size()), 1 << 16);
  }
}

TEST_CASE("elements: dimensions merge where the storage is contiguous") {
  const Gather gather = make_gather(strided({2, 3, 1, 4}, {24, 8, 99, 2}, 4000));
  CHECK(gather.sizes == std::vector<uint64_t>{24});
  CHECK(gather.strides == std::vector<uint64_t>{2});
  const Gather cut = make_gather(strided({2, 3}, {6, 1}, 4000));
  CHECK(cut.sizes == std::vector<uint64_t>{2, 3});
}

TEST_CASE("elements: packed storages are unpacked, strided or not, and checked") {
  const std::string storage = counting(50000);
  std::string packed(compressBound(static_cast<uLong>(storage.size())), '\0');
  auto packed_size = static_cast<uLongf>(packed.size());
  REQUIRE(compress(reinterpret_cast<Bytef*>(packed.data()), &packed_size,
                   reinterpret_cast<const Bytef*>(storage.data()),
                   static_cast<uLong>(storage.size())) == Z_OK);
  const TemporaryFolder folder;
  const std::string path = folder.write("a.bin", packed);
  // A zlib stream is two bytes of header, raw deflate, four bytes of checksum.
  TensorPlace place = strided({50000}, {1}, storage.size());
  place.deflated = true;
  place.offset = 2;
  place.packed_size = packed_size - 6;
  place.crc32 = crc32_of(storage);
  SUBCASE("in order") {
    const auto elements = read_elements(path, place, 1000);
    REQUIRE_MESSAGE(elements.ok(), message_of(elements));
    CHECK((elements->bytes == storage));
    CHECK_FALSE(elements->crc_mismatch);
  }
  SUBCASE("the middle, with the CRC-32 of the whole") {
    place.shape = {100};
    place.first_element = 7000;
    CHECK((read_elements(path, place)->bytes == storage.substr(28000, 400)));
    CHECK_FALSE(read_elements(path, place)->crc_mismatch);
    *place.crc32 ^= 1;
    CHECK(read_elements(path, place)->crc_mismatch);
  }
  SUBCASE("strided") {
    place.shape = {200, 250};
    place.strides = {1, 200};
    CHECK((read_elements(path, place)->bytes == expected_of(storage, place)));
    CHECK_FALSE(read_elements(path, place)->crc_mismatch);
  }
  SUBCASE("a packed storage that says to be too large for strides") {
    place.shape = {2, 2};
    place.strides = {1, 2};
    place.size = 49 << 20;
    const auto elements = read_elements(path, place);
    REQUIRE_FALSE(elements.ok());
    CHECK(elements.error().code == Code::unsupported);
    CHECK(says(elements, "a packed storage of 51380224 bytes whose elements are not in row order"));
  }
  SUBCASE("packed bytes that stop early") {
    place.packed_size = 100;
    CHECK(says(read_elements(path, place), "the deflate stream is cut off"));
  }
}

TEST_CASE("elements: a view that blows up its storage is capped") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.bin", counting(4));
  const TensorPlace place = strided({1'000'000, 4}, {0, 1}, 16);
  CHECK(read_elements(path, place, 1 << 16, 16'000'000)->bytes.size() == 16'000'000);
  const auto refused = read_elements(path, place, 1 << 16, 15'999'999);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::unsupported);
  CHECK(says(refused, "16000000 bytes of elements out of a file of 16, expected at most 15999999"));
}

TEST_CASE("elements: places outside the file or without a type are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.bin", counting(4));
  const auto refused = [&](const TensorPlace& place, Code code, const std::string& message) {
    const auto elements = read_elements(path, place);
    REQUIRE_FALSE(elements.ok());
    CHECK(elements.error().code == code);
    CHECK_MESSAGE(says(elements, message), message_of(elements));
  };
  refused(strided({2, 2}, {1, 3}, 16, 1), Code::format, "expected inside the file of 16 bytes");
  refused(strided({2, 2}, {1}, 16), Code::format, "expected inside the file of 16 bytes");
  refused(strided({2, 2}, {-1, 1}, 16, 3), Code::format, "expected inside the file of 16 bytes");
  refused(strided({2, 2}, {2, 1}, 17), Code::format, "expected inside the file of 16 bytes");
  refused(strided({-1}, {1}, 16), Code::format, "a shape of more elements than any file holds");
  TensorPlace opaque = strided({2, 2}, {2, 1}, 16);
  opaque.dtype = DType::none;
  refused(opaque, Code::unsupported, "no element type");
}

TEST_CASE("elements: a file that became shorter is an error, not a short answer") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.bin", counting(4));
  auto file = File::open(path);
  REQUIRE(file.ok());
  std::filesystem::resize_file(path, 8);
  TensorPlace place = strided({4}, {1}, 16);
  auto stream = open_elements(std::move(file).value(), place);
  REQUIRE(stream.ok());
  std::byte bytes[16];
  const auto got = (*stream)->read(bytes);
  REQUIRE_FALSE(got.ok());
  CHECK(got.error().code == Code::io);
  CHECK(says(got, "became shorter while it was read"));
}

}  // namespace ulpscope::test
