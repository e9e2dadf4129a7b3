// Every sample .pt file against its manifest, which other programs made: torch 1.13, libtorch 1.13, and a
// reference reader for the files built by hand after newer writers.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "support.hpp"

namespace ulpscope::test {
namespace {

nlohmann::json manifest_of(const std::string& folder) {
  return nlohmann::json::parse(read_bytes(data_path(folder + "/manifest.json")));
}

template <class T>
double load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<double>(value);
}

// IEEE half by its definition, so that no code under test decodes it.
double half(const char* at) {
  uint16_t code;
  std::memcpy(&code, at, 2);
  const int exponent = code >> 10 & 31, fraction = code & 1023;
  const double sign = code >> 15 ? -1 : 1;
  if (exponent == 31) return fraction ? NAN : sign * INFINITY;
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

double bfloat(const char* at) {
  uint16_t code;
  std::memcpy(&code, at, 2);
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(code) << 16));
}

// Half number index of an element list; complex numbers count twice. Nothing for formats whose decoding is
// not tested here (8-bit floats: their bytes are compared by CRC-32).
std::optional<double> number(DType dtype, const std::string& bytes, size_t index) {
  const size_t width = size_bytes(dtype) / (is_complex(dtype) ? 2 : 1);
  const char* at = bytes.data() + index * width;
  switch (dtype) {
    case DType::f64:
    case DType::c128:
      return load<double>(at);
    case DType::f32:
    case DType::c64:
      return load<float>(at);
    case DType::f16:
      return half(at);
    case DType::bf16:
      return bfloat(at);
    case DType::i64:
      return load<int64_t>(at);
    case DType::i32:
      return load<int32_t>(at);
    case DType::i16:
      return load<int16_t>(at);
    case DType::u16:
      return load<uint16_t>(at);
    case DType::i8:
      return load<int8_t>(at);
    case DType::b8:
    case DType::u8:
      return load<uint8_t>(at);
    default:
      return std::nullopt;
  }
}

std::vector<double> numbers_of(const nlohmann::json& values) {
  std::vector<double> numbers;
  for (const auto& value : values) {
    if (value.is_array()) {
      for (const auto& half_value : value) numbers.push_back(std::stod(half_value.get<std::string>()));
    } else {
      numbers.push_back(std::stod(value.get<std::string>()));
    }
  }
  return numbers;
}

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

void check_values(const nlohmann::json& sample, const TensorPlace& place, const std::string& bytes) {
  const std::vector<double> expected = numbers_of(sample["first_values"]);
  for (size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    if (const auto got = number(place.dtype, bytes, i)) CHECK(same(*got, expected[i]));
  }
}

std::string hex8(uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof(text), "%08x", value);
  return text;
}

// A quantised dtype holds its integers.
std::string dtype_name(const std::string& in_manifest) {
  if (in_manifest == "quint8") return "uint8";
  return in_manifest;
}

void check_sample(const nlohmann::json& sample) {
  const std::string path = data_path("pt_samples/" + sample["file"].get<std::string>());
  const auto places = places_of(path);
  REQUIRE_MESSAGE(places.ok(), message_of(places));
  REQUIRE(places->size() == 1);
  const TensorPlace& place = places->front();
  CHECK(std::string(name(place.dtype)) == dtype_name(sample["dtype"]));
  CHECK(place.shape == sample["shape"].get<Shape>());
  CHECK(place.warnings.empty());
  for (const size_t piece : {size_t{1} << 16, size_t{1}, size_t{3}}) {
    CAPTURE(piece);
    const auto elements = read_elements(path, place, piece);
    REQUIRE_MESSAGE(elements.ok(), message_of(elements));
    CHECK(elements->bytes.size() == sample["nbytes"].get<size_t>());
    CHECK(hex8(crc32_of(elements->bytes)) == sample["crc32"].get<std::string>());
    CHECK_FALSE(elements->crc_mismatch);
    check_values(sample, place, elements->bytes);
  }
  if (!place.plain) return;
  // A plain place promises that its range of the file is the elements.
  const std::string file = read_bytes(path);
  REQUIRE(place.offset + place.size <= file.size());
  CHECK(hex8(crc32_of(std::string_view(file).substr(place.offset, place.size))) ==
        sample["crc32"].get<std::string>());
}

}  // namespace

TEST_CASE("every sample .pt file gives dtype, shape, bytes, CRC-32 and values of the manifest") {
  const auto manifest = manifest_of("pt_samples");
  REQUIRE(manifest.size() == 44);  // as its README says
  for (const auto& sample : manifest) {
    CAPTURE(sample["file"].get<std::string>());
    check_sample(sample);
  }
}

TEST_CASE("only files whose elements lie differently are not plain") {
  std::vector<std::string> odd;
  for (const auto& sample : manifest_of("pt_samples")) {
    const std::string file = sample["file"];
    const auto places = places_of(data_path("pt_samples/" + file));
    REQUIRE(places.ok());
    if (!places->front().plain) odd.push_back(file);
  }
  // From the notes of the manifest: strides, deflate, big-endian. view_offset has strides (6, 1) over three
  // columns.
  const std::vector<std::string> expected = {"view_transposed.pt",   "view_offset.pt",   "view_step2.pt",
                                             "view_expand.pt",       "channels_last.pt", "legacy_view.pt",
                                             "cxx_int64_strided.pt", "deflated.pt",      "t2_big_endian.pt"};
  CHECK(odd == expected);
}

TEST_CASE("a quantised tensor keeps its scheme and an NPU tensor its storage format") {
  const auto quantised = places_of(data_path("pt_samples/quint8.pt"));
  REQUIRE(quantised.ok());
  CHECK(quantised->front().quantizer ==
        "per_tensor_affine scale 0.1 zero_point 10");  // pickletools shows 0.1 and 10
  const auto npu = places_of(data_path("pt_samples/npu_format_enum.pt"));
  REQUIRE(npu.ok());
  CHECK(npu->front().npu_format == 2);  // Format(2), as pickletools shows
}

TEST_CASE("bad .pt files are refused with a reason, in little memory") {
  rusage before = {};
  ::getrusage(RUSAGE_SELF, &before);
  SUBCASE("empty") {
    const auto places = places_of(data_path("pt_bad/empty_file.pt"));
    CHECK(says(places, "empty file, expected a .pt, .npy or .safetensors file"));
    CHECK(places.error().code == Code::format);
  }
  SUBCASE("cut off") {
    const auto places = places_of(data_path("pt_bad/truncated_half.pt"));
    CHECK(says(places, "no end record; the file is cut off or still being written"));
    CHECK(places.error().code == Code::format);
  }
  SUBCASE("storage missing") {
    const auto places = places_of(data_path("pt_bad/missing_storage.pt"));
    CHECK(says(places, "no record 'data/7', which data.pkl names as its storage"));
    CHECK(places.error().code == Code::format);
  }
  SUBCASE("asks to call a function") {
    const auto places = places_of(data_path("pt_bad/code_call.pt"));
    CHECK(says(places, "data.pkl: byte 16: global os getcwd is not part of a tensor"));
    CHECK(places.error().code == Code::unsupported);
  }
  SUBCASE("a dict") {
    const auto places = places_of(data_path("pt_bad/not_a_tensor.pt"));
    CHECK(says(places, "the file holds a dict, expected one tensor"));
    CHECK(places.error().code == Code::unsupported);
  }
  SUBCASE("one data bit flipped") {
    const std::string path = data_path("pt_bad/crc_mismatch.pt");
    const auto places = places_of(path);
    REQUIRE_MESSAGE(places.ok(), message_of(places));
    const auto elements = read_elements(path, places->front());
    REQUIRE(elements.ok());
    CHECK(elements->crc_mismatch);
    CHECK(elements->bytes.size() == 24);
  }
  rusage after = {};
  ::getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 64 * 1024);  // KiB
}

}  // namespace ulpscope::test
