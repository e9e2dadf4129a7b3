// .safetensors files: two of tests/data were written by a reference implementation; the broken ones are
// spelled out here.
#include <doctest/doctest.h>

#include "support.hpp"

namespace ulpscope::test {
namespace {

std::string safetensors(const std::string& header, const std::string& data = "") {
  return little_endian(header.size(), 8) + header + data;
}

std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"x":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

void refused(const std::string& header, const std::string& message, const std::string& data = "12345678") {
  CAPTURE(message);
  const TemporaryFolder folder;
  const auto places = places_of(folder.write("a.safetensors", safetensors(header, data)));
  REQUIRE_FALSE(places.ok());
  CHECK(places.error().code == Code::format);
  CHECK_MESSAGE(says(places, "a.safetensors: safetensors header: " + message), message_of(places));
}

}  // namespace

TEST_CASE("safetensors: all tensors are found in the order of the header") {
  const std::string path = data_path("safetensors/model.safetensors");
  const auto places = places_of(path);
  REQUIRE_MESSAGE(places.ok(), message_of(places));
  REQUIRE(places->size() == 6);
  const TensorPlace& weight = (*places)[2];
  // As the header says: BF16 [4, 8] at 48 … 112 of the data.
  CHECK(weight.member == "model.layers.0.self_attn.q_proj.weight");
  CHECK(weight.dtype == DType::bf16);
  CHECK(weight.shape == Shape{4, 8});
  CHECK(weight.size == 64);
  CHECK(weight.plain);
  CHECK(weight.offset == (*places)[0].offset + 48);
  const std::string file = read_bytes(path);
  CHECK((*places)[5].offset + (*places)[5].size == file.size());
  CHECK(read_elements(path, weight)->bytes == file.substr(weight.offset, 64));
}

TEST_CASE("safetensors: an unknown dtype refuses its tensor, not the file") {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "a.safetensors",
      safetensors(R"({"x":{"dtype":"F4","shape":[4],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],)"
                  R"("data_offsets":[2,4]}})",
                  "1234"));
  const auto places = places_of(path);
  REQUIRE_MESSAGE(places.ok(), message_of(places));
  CHECK((*places)[0].refusal == "dtype F4 is not supported");
  const auto refusal = read_elements(path, (*places)[0]);
  REQUIRE_FALSE(refusal.ok());
  CHECK(refusal.error().code == Code::unsupported);
  CHECK(says(refusal, "tensor 'x': dtype F4 is not supported"));
  CHECK(read_elements(path, (*places)[1])->bytes == "34");
}

TEST_CASE("safetensors: headers that are not as described are refused") {
  refused(R"({"x")", "not JSON at byte ");
  refused(R"({"x":[]})", "tensor 'x': unexpected array");
  refused(R"({"x":1})", "tensor 'x': unexpected number");
  refused(R"({"x":null})", "tensor 'x': unexpected null");
  refused(R"({"x":true})", "tensor 'x': unexpected a boolean");
  refused(R"({"x":1.5})", "tensor 'x': unexpected a fraction");
  refused(R"({"x":-1})", "tensor 'x': unexpected a negative number");
  refused(R"({"x":"text"})", "tensor 'x': unexpected text");
  refused(R"({"x":{"dtype":{}}})", "tensor 'x': unexpected object");
  refused(R"({"":{}})", "a tensor without a name");
  refused(R"({"x":{}})", "tensor 'x': expected dtype, shape and data_offsets");
  refused(R"({"x":{"color":1}})", "tensor 'x': unknown member 'color'");
  refused(R"({"x":{"dtype":"U8","dtype":"U8"}})", "tensor 'x': 'dtype' occurs twice");
  refused(R"({"__metadata__":{"a":"b","a":"c"}})", "tensor '__metadata__': 'a' occurs twice");
  refused(R"({"__metadata__":{"a":{}}})", "tensor '__metadata__': unexpected object");
  refused(R"({"x":{"shape":[[1]]}})", "tensor 'x': unexpected array");
  refused(R"({"x":{"shape":[18446744073709551615]}})", "tensor 'x': dimension 18446744073709551615");
  refused(R"({"x":{"data_offsets":[1]}})", "tensor 'x': data_offsets, expected two numbers");
  refused(R"({"x":{"data_offsets":[1,2,3]}})", "tensor 'x': unexpected number");
  std::string ones = "[1";
  for (int i = 0; i < 32; ++i) ones += ",1";
  refused(one("U8", ones + "]", "[0,1]"), "tensor 'x': more than 32 dimensions");
}

TEST_CASE("safetensors: ranges must fit the file, the shape and each other") {
  refused(one("U8", "[9]", "[0,9]"), "tensor 'x': data_offsets 0 to 9, but the file has 8 bytes of elements");
  refused(one("U8", "[0]", "[4,2]"), "tensor 'x': data_offsets 4 to 2, but the file has 8 bytes of elements");
  refused(one("F32", "[1]", "[0,8]"), "tensor 'x': data_offsets hold 8 bytes, expected 4");
  refused(one("F32", "[4611686018427387904,4]", "[0,8]"),
          "tensor 'x': data_offsets hold 8 bytes, expected more than any");
  refused(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
          R"("y":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
          "tensor 'y': overlaps another tensor");
  refused(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
          R"("x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
          "tensor 'x': the name occurs twice");
  const TemporaryFolder folder;
  const auto cut = places_of(folder.write("a.safetensors", little_endian(500, 8) + "{}"));
  CHECK(says(cut, "safetensors header: 500 bytes, but the file has 10 and the format allows 100000000"));
}

TEST_CASE("safetensors: nesting does not reach the parser's stack") {
  refused(R"({"x":)" + std::string(100000, '['), "tensor 'x': unexpected array");
}

}  // namespace ulpscope::test
