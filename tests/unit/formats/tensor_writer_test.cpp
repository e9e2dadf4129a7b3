// The writers: golden byte facts of each format, and our own readers for the rest. What torch and numpy make
// of the files is tests/unit/formats/writer_oracle.py.
#include "formats/tensor_writer.hpp"

#include <doctest/doctest.h>

#include "formats/tensor_file_bytes.hpp"
#include "formats/zip.hpp"
#include "support.hpp"

namespace ulpscope::test {
namespace {

// 0 … 5 as float32.
const std::string kCounting = raw("\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40");

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Status write(TensorFileKind kind, const std::string& path, DType dtype, const Shape& shape,
             const std::string& data) {
  ULPSCOPE_ASSIGN(TensorWriter writer, TensorWriter::begin(kind, path, dtype, shape));
  // in two pieces that do not end at an element
  const size_t cut = data.size() / 3;
  ULPSCOPE_TRY(writer.append(bytes_of(data).first(cut)));
  ULPSCOPE_TRY(writer.append(bytes_of(data).subspan(cut)));
  return writer.finish();
}

int files_in(const std::string& folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<int>(std::distance(begin(files), end(files)));
}

void check_round_trip(TensorFileKind kind, DType dtype) {
  const TemporaryFolder folder;
  const std::string path = folder.file("t");
  const std::string data =
      std::string(
          "the quick brown fox jumps over the lazy dog, then rests in the shade of an oak tree, "
          "content.............")
          .substr(0, 6 * size_bytes(dtype));
  REQUIRE(data.size() == 6 * size_bytes(dtype));
  const auto written = write(kind, path, dtype, {2, 3}, data);
  REQUIRE_MESSAGE(written.ok(), message_of(written));
  const auto places = places_of(path);
  REQUIRE_MESSAGE(places.ok(), message_of(places));
  const TensorPlace& place = places->front();
  CHECK(place.dtype == dtype);
  CHECK(place.shape == Shape{2, 3});
  CHECK(place.plain);
  CHECK(place.warnings.empty());
  const auto elements = read_elements(path, place);
  CHECK(elements->bytes == data);
  CHECK_FALSE(elements->crc_mismatch);
  if (kind != TensorFileKind::safetensors) CHECK(place.offset % 64 == 0);
  CHECK(files_in(folder.path()) == 1);
}

}  // namespace

TEST_CASE("writer: every dtype of each format comes back") {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    CAPTURE(name(dtype));
    for (const TensorFileKind kind : {TensorFileKind::pt, TensorFileKind::npy, TensorFileKind::safetensors}) {
      CAPTURE(extension(kind));
      const TemporaryFolder folder;
      auto writer = TensorWriter::begin(kind, folder.file("t"), dtype, {2, 3});
      if (writer.ok()) {
        check_round_trip(kind, dtype);
      } else {
        CHECK(writer.error().code == Code::unsupported);
        CHECK(files_in(folder.path()) == 0);
      }
    }
  }
}

TEST_CASE("writer: dtypes that a format lacks are refused") {
  const TemporaryFolder folder;
  const auto begin = [&](TensorFileKind kind, DType dtype) {
    return TensorWriter::begin(kind, folder.file("t"), dtype, {1});
  };
  CHECK(says(begin(TensorFileKind::npy, DType::bf16),
             "npy has no dtype for bfloat16, expected pt or safetensors"));
  CHECK(says(begin(TensorFileKind::npy, DType::f8_e4m3fn), "npy has no dtype for float8_e4m3fn"));
  CHECK(says(begin(TensorFileKind::pt, DType::hif8), "torch has no dtype for hifloat8"));
  CHECK(says(begin(TensorFileKind::safetensors, DType::c128), "safetensors has no dtype for complex128"));
  CHECK(begin(TensorFileKind::pt, DType::bf16).ok());
}

TEST_CASE("writer: the bytes of a .npy file") {
  const TemporaryFolder folder;
  REQUIRE(write(TensorFileKind::npy, folder.file("t.npy"), DType::f32, {2, 3}, kCounting).ok());
  // numpy.save(numpy.arange(6, dtype='f4').reshape(2, 3)) gives these bytes
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  CHECK(read_bytes(folder.file("t.npy")) ==
        "\x93NUMPY" + raw("\1\0\x76\0") + header + std::string(117 - header.size(), ' ') + "\n" + kCounting);
  REQUIRE(write(TensorFileKind::npy, folder.file("one.npy"), DType::u8, {2}, "ab").ok());
  CHECK(read_bytes(folder.file("one.npy")).find("'shape': (2,), }") != std::string::npos);
  REQUIRE(write(TensorFileKind::npy, folder.file("none.npy"), DType::u8, {}, "a").ok());
  CHECK(read_bytes(folder.file("none.npy")).find("'shape': (), }") != std::string::npos);
}

TEST_CASE("writer: the bytes of a .safetensors file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.safetensors");
  auto writer = TensorWriter::begin_safetensors(path, {{"a\"b", DType::u8, {2}}, {"ü", DType::f32, {}}});
  REQUIRE_MESSAGE(writer.ok(), message_of(writer));
  CHECK(writer->append(bytes_of("xy1234")).ok());
  CHECK(writer->finish().ok());
  const std::string header =
      "{\"a\\\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
      "\"ü\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[2,6]}}";
  const size_t padded = (header.size() + 7) / 8 * 8;
  CHECK(read_bytes(path) ==
        little_endian(padded, 8) + header + std::string(padded - header.size(), ' ') + "xy1234");
}

TEST_CASE("writer: the records of a .pt file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.pt");
  REQUIRE(write(TensorFileKind::pt, path, DType::f32, {2, 3}, kCounting).ok());
  const auto file = File::open(path);
  FileEnds ends(*file);
  REQUIRE(ends.load().ok());
  ZipDirectory zip(ends);
  REQUIRE(zip.read().ok());
  std::vector<std::string> names;
  for (const ZipEntry& entry : zip.entries()) {
    names.emplace_back(entry.name);
    const auto record = zip.locate(entry);
    REQUIRE(record.ok());
    CHECK(record->offset % 64 == 0);
    CHECK(record->crc32 == crc32_of(read_bytes(path).substr(record->offset, record->size)));
  }
  CHECK(names == std::vector<std::string>{"archive/data.pkl", "archive/byteorder", "archive/data/0",
                                          "archive/version"});
  const std::string bytes = read_bytes(path);
  // The pickle, as pickletools shows what torch writes, without memo.
  const std::string pickle =
      raw("\x80\2"
          "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\n"
          "X\1\0\0\0"
          "0X\3\0\0\0cpuK\6tQK\0(K\2K\3t(K\3K\1t\x89"
          "ccollections\nOrderedDict\n)RtR.");
  CHECK(bytes.substr(64, pickle.size()) == pickle);
  // The local header of the elements carries their CRC-32 too.
  const ZipEntry* data = zip.find("archive/data/0");
  REQUIRE(data != nullptr);
  CHECK(bytes.substr(data->header + 14, 4) == little_endian(crc32_of(kCounting), 4));
}

TEST_CASE("writer: a dtype without a storage class of its own is written over an untyped storage") {
  const TemporaryFolder folder;
  REQUIRE(write(TensorFileKind::pt, folder.file("t.pt"), DType::u16, {3}, "abcdef").ok());
  // The opcodes of t2_uint16.pt, without memo and with MARK tuples: count in bytes, dtype as seventh
  // argument.
  const std::string pickle =
      raw("\x80\2"
          "ctorch._utils\n_rebuild_tensor_v3\n((X\7\0\0\0storagectorch.storage\nUntypedStorage\n"
          "X\1\0\0\0"
          "0X\3\0\0\0cpuK\6tQK\0(K\3t(K\1t\x89"
          "ccollections\nOrderedDict\n)Rctorch\nuint16\ntR.");
  CHECK(read_bytes(folder.file("t.pt")).substr(64, pickle.size()) == pickle);
}

TEST_CASE("writer: scalars and empty tensors") {
  for (const TensorFileKind kind : {TensorFileKind::pt, TensorFileKind::npy, TensorFileKind::safetensors}) {
    CAPTURE(extension(kind));
    const TemporaryFolder folder;
    REQUIRE(write(kind, folder.file("scalar"), DType::f32, {}, "abcd").ok());
    CHECK(places_of(folder.file("scalar"))->front().shape.empty());
    REQUIRE(write(kind, folder.file("empty"), DType::f32, {2, 0, 3}, "").ok());
    CHECK(places_of(folder.file("empty"))->front().shape == Shape{2, 0, 3});
    CHECK(read_elements(folder.file("empty"), places_of(folder.file("empty"))->front())->bytes.empty());
  }
}

TEST_CASE("writer: nothing is overwritten and nothing is left behind") {
  const TemporaryFolder folder;
  const std::string path = folder.write("t.npy", "mine");
  const auto taken = TensorWriter::begin(TensorFileKind::npy, path, DType::u8, {1});
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().code == Code::io);
  CHECK(says(taken, "t.npy: exists already and is not overwritten"));
  const std::string late = folder.file("late.pt");
  auto writer = TensorWriter::begin(TensorFileKind::pt, late, DType::u8, {1});
  REQUIRE(writer.ok());
  CHECK(writer->append(bytes_of("x")).ok());
  folder.write("late.pt", "theirs");
  CHECK(says(writer->finish(), "late.pt: exists already and is not overwritten"));
  CHECK(read_bytes(late) == "theirs");
  { const auto dropped = TensorWriter::begin(TensorFileKind::pt, folder.file("dropped.pt"), DType::u8, {1}); }
  CHECK(files_in(folder.path()) == 2);
  CHECK(says(TensorWriter::begin(TensorFileKind::pt, folder.file("no/such/t.pt"), DType::u8, {1}),
             "No such file"));
}

TEST_CASE("writer: the number of bytes must be that of the shape") {
  const TemporaryFolder folder;
  auto writer = TensorWriter::begin(TensorFileKind::npy, folder.file("t"), DType::u16, {2});
  REQUIRE(writer.ok());
  CHECK(says(writer->append(bytes_of("12345")), "more bytes than the shape holds, expected 4"));
  CHECK(writer->append(bytes_of("123")).ok());
  CHECK(says(writer->finish(), "3 bytes of elements, expected 4"));
  CHECK(says(writer->finish(), "a tensor file was finished twice"));
  CHECK(says(writer->append(bytes_of("1")), "a finished tensor file was appended to"));
  CHECK(files_in(folder.path()) == 0);
  CHECK(says(TensorWriter::begin(TensorFileKind::pt, folder.file("t"), DType::u8, {-1}),
             "a shape that no tensor has"));
}

TEST_CASE("writer: names that safetensors does not allow are refused") {
  const TemporaryFolder folder;
  const auto begin = [&](const std::string& a, const std::string& b) {
    return TensorWriter::begin_safetensors(folder.file("t"), {{a, DType::u8, {1}}, {b, DType::u8, {1}}});
  };
  CHECK(says(begin("a", ""), "tensor '': a name that safetensors does not allow, expected UTF-8 text"));
  CHECK(says(begin("a", "__metadata__"), "a name that safetensors does not allow"));
  CHECK(says(begin("a", "\xff"), "tensor '\\xff': a name that safetensors does not allow"));
  CHECK(says(begin("a", "a"), "tensor 'a': the name occurs twice"));
}

}  // namespace ulpscope::test
