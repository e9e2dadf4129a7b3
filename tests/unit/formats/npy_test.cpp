// .npy files: those of tests/data/npy were written by numpy 1.24 (write_array); the broken ones are spelled
// out here.
#include <doctest/doctest.h>

#include "support.hpp"

namespace ulpscope::test {
namespace {

TensorPlace place_of(const std::string& file) {
  const auto places = places_of(data_path("npy/" + file));
  REQUIRE_MESSAGE(places.ok(), message_of(places));
  REQUIRE(places->size() == 1);
  return places->front();
}

std::string elements_of(const std::string& file) {
  const auto elements = read_elements(data_path("npy/" + file), place_of(file));
  REQUIRE_MESSAGE(elements.ok(), message_of(elements));
  return elements->bytes;
}

// 0, -1.5, 2.25, 3.5, NaN, infinity as float32.
const std::string kFloats = raw("\0\0\0\0\0\0\xc0\xbf\0\0\x10\x40\0\0\x60\x40\0\0\xc0\x7f\0\0\x80\x7f");

std::string npy(const std::string& header, const std::string& data = "",
                const std::string& version = raw("\1\0")) {
  return "\x93NUMPY" + version + little_endian(header.size(), 2) + header + data;
}

void refused(const std::string& bytes, Code code, const std::string& message) {
  CAPTURE(message);
  const TemporaryFolder folder;
  const auto places = places_of(folder.write("a.npy", bytes));
  REQUIRE_FALSE(places.ok());
  CHECK(places.error().code == code);
  CHECK_MESSAGE(says(places, message), message_of(places));
  CHECK(says(places, "a.npy: "));
}

}  // namespace

TEST_CASE("npy: the three versions give the same elements") {
  for (const std::string file : {"float32.npy", "float32_v2.npy", "float32_v3.npy"}) {
    CAPTURE(file);
    const TensorPlace place = place_of(file);
    CHECK(place.dtype == DType::f32);
    CHECK(place.shape == Shape{2, 3});
    CHECK(place.plain);
    CHECK(place.offset == 128);  // numpy pads the header to 64 bytes
    CHECK(elements_of(file) == kFloats);
  }
}

TEST_CASE("npy: Fortran order and big-endian elements are converted") {
  CHECK_FALSE(place_of("float32_fortran.npy").plain);
  CHECK(elements_of("float32_fortran.npy") == kFloats);
  CHECK_FALSE(place_of("float32_big.npy").plain);
  CHECK(elements_of("float32_big.npy") == kFloats);
  std::string counting;  // 0 … 23 as float32
  for (int i = 0; i < 24; ++i) {
    const auto value = static_cast<float>(i);
    counting.append(reinterpret_cast<const char*>(&value), 4);
  }
  CHECK(elements_of("float32_fortran_big_3d.npy") == counting);
  // 0 + 0i, 1 + 2i, … : each half is swapped on its own
  CHECK(elements_of("complex64_big.npy").substr(0, 16) == raw("\0\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\x40"));
}

TEST_CASE("npy: every plain dtype is known") {
  const std::pair<const char*, DType> kAll[] = {
      {"bool", DType::b8},        {"int8", DType::i8},     {"uint8", DType::u8},    {"int16", DType::i16},
      {"uint16", DType::u16},     {"int32", DType::i32},   {"uint32", DType::u32},  {"int64", DType::i64},
      {"uint64", DType::u64},     {"float16", DType::f16}, {"float64", DType::f64}, {"complex64", DType::c64},
      {"complex128", DType::c128}};
  for (const auto& entry : kAll) {
    const std::string word = entry.first;
    const DType dtype = entry.second;
    CAPTURE(word);
    const TensorPlace place = place_of("dtype_" + word + ".npy");
    CHECK(place.dtype == dtype);
    CHECK(place.shape == Shape{2, 3});
    CHECK(place.size == 6 * size_bytes(dtype));
  }
  // 0 … 5 as int16
  CHECK(elements_of("dtype_int16.npy") == raw("\0\0\1\0\2\0\3\0\4\0\5\0"));
}

TEST_CASE("npy: scalars and empty arrays") {
  CHECK(place_of("scalar.npy").shape.empty());
  CHECK(elements_of("scalar.npy") == raw("\0\0\0\0\0\0\xec\xbf"));  // -0.875
  CHECK(place_of("empty.npy").shape == Shape{2, 0, 3});
  CHECK(elements_of("empty.npy").empty());
}

TEST_CASE("npy: Python 2 headers and foreign padding are read") {
  const TemporaryFolder folder;
  const std::string header = "{u'shape': (2L,), 'fortran_order': True, \"descr\": b'|u1'}";
  const std::string path = folder.write("a.npy", npy(header, "abc"));
  const auto places = places_of(path);
  REQUIRE_MESSAGE(places.ok(), message_of(places));
  CHECK(places->front().plain);  // one axis: column order is row order
  CHECK(read_elements(path, places->front())->bytes == "ab");
  CHECK(places->front().warnings == std::vector<std::string>{"1 bytes after the last element"});
}

TEST_CASE("npy: arrays without plain numbers are refused by name") {
  const auto refusal = [](const std::string& file, const std::string& message) {
    const auto places = places_of(data_path("npy/" + file));
    REQUIRE_FALSE(places.ok());
    CHECK(places.error().code == Code::unsupported);
    CHECK_MESSAGE(says(places, message), message_of(places));
  };
  refusal("object.npy", "an object array (|O), which would need code to read");
  refusal("text.npy", "a string array (<U2), which has no numbers");
  refusal("bytes.npy", "a string array (|S1), which has no numbers");
  refusal("record.npy", "an array of records, expected plain elements");
  refusal("dates.npy", "an array of dates (<M8[D]), expected plain elements");
  refusal("void2.npy", "npy dtype '|V2'");
  refusal("longdouble.npy", "npy dtype '<f16'");
}

TEST_CASE("npy: broken headers are refused with the byte") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  refused("\x93NUM", Code::format, "cut off after 4 bytes");
  refused("\x93NUMPY", Code::format, "npy: ends at byte 6, expected a header");
  refused("\x93NUMPY" + raw("\2\0") + "ab", Code::format, "npy: ends at byte 10, expected a header");
  refused(npy(good, "", raw("\4\0")), Code::unsupported, "npy version 4.0, expected 1.0, 2.0 or 3.0");
  refused("\x93NUMPY" + raw("\2\0") + little_endian(1 << 21, 4), Code::unsupported,
          "npy header of 2097152 bytes, expected at most 1048576");
  refused("\x93NUMPY" + raw("\1\0") + little_endian(200, 2) + good, Code::format,
          "expected 200 bytes from byte 10");
  refused(npy("[]"), Code::format, "npy header: byte 0: expected '{'");
  refused(npy("{1: 2}"), Code::format, "npy header: byte 1: expected a quoted text");
  refused(npy("{'a"), Code::format, "expected a quoted text that ends");
  refused(npy("{'a\\x41': 1}"), Code::format, "expected a text without escapes");
  refused(npy("{'descr' '<f4'}"), Code::format, "npy header: byte 9: expected ':'");
  refused(npy("{'descr': '<f4' 'shape': ()}"), Code::format, "npy header: byte 16: expected ',' or '}'");
  refused(npy("{'fortran_order': 1}"), Code::format, "expected True or False");
  refused(npy("{'shape': [2]}"), Code::format, "npy header: byte 10: expected '('");
  refused(npy("{'shape': (-2,)}"), Code::format, "expected a dimension from 0 to 2^63 - 1");
  refused(npy("{'shape': (2 3)}"), Code::format, "expected ',' or ')'");
  refused(npy("{'colour': 1}"), Code::format, "npy header: unknown member 'colour'");
  refused(npy("{'shape': (), 'shape': ()}"), Code::format, "npy header: 'shape' occurs twice");
  refused(npy("{'descr': '<f4'}"), Code::format, "npy header: expected descr, fortran_order and shape");
  refused(npy(good + "x"), Code::format, "expected the end of the header");
}

TEST_CASE("npy: shapes that the file cannot hold are refused before anything is allocated") {
  const auto with_shape = [](const std::string& shape) {
    return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", "1234567");
  };
  refused(with_shape("(2,)"), Code::format, "npy: 7 bytes of elements, expected 8");
  refused(with_shape("(1000000000000,)"), Code::format, "npy: 7 bytes of elements, expected 4000000000000");
  refused(with_shape("(4611686018427387904, 4)"), Code::format,
          "npy: a shape of more elements than any file holds");
  std::string ones = "(";
  for (int i = 0; i < 33; ++i) ones += "1,";
  refused(with_shape(ones + ")"), Code::unsupported, "more than 32 dimensions");
}

}  // namespace ulpscope::test
