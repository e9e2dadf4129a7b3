#include <doctest/doctest.h>

#include <cstring>

#include "tensors/convert.hpp"
#include "tensors/element_text.hpp"
#include "tensors/safe_path.hpp"
#include "tensors/slice.hpp"

namespace ulpscope {
namespace {

template <class T>
std::string text_of(DType dtype, T value) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  return element_text(dtype, bytes);
}

}  // namespace

TEST_CASE("element text: the fewest digits that read back as the same element") {
  CHECK(text_of<float>(DType::f32, 0.1F) == "0.1");
  CHECK(text_of<double>(DType::f64, 0.1) == "0.1");
  CHECK(text_of<uint16_t>(DType::f16, 0x2E66) == "0.1");
  CHECK(text_of<uint16_t>(DType::bf16, 0x3DCD) == "0.1");
  CHECK(text_of<uint16_t>(DType::f16, 0x7BFF) == "65504");
  CHECK(text_of<uint8_t>(DType::f8_e4m3fn, 0x7E) == "448");
  CHECK(text_of<uint16_t>(DType::f16, 0xFC00) == "-inf");
  CHECK(text_of<uint16_t>(DType::f16, 0x7E00) == "nan");
}

TEST_CASE("element text: integers, bools, packed pairs") {
  CHECK(text_of<int64_t>(DType::i64, INT64_MIN) == "-9223372036854775808");
  CHECK(text_of<uint64_t>(DType::u64, UINT64_MAX) == "18446744073709551615");
  CHECK(text_of<uint8_t>(DType::b8, 7) == "True");
  CHECK(text_of<uint8_t>(DType::i4x2, 0x1F) == "0x1f");
}

TEST_CASE("safe component: never empty, hidden, an option, or a path") {
  CHECK(safe_component("Torch.relu.0") == "Torch.relu.0");
  CHECK(safe_component("") == "_");
  CHECK(safe_component("..") == "__");
  CHECK(safe_component("-rf") == "_rf");
  CHECK(safe_component("a/b\\c:d\n") == "a_b_c_d_");
  CHECK(safe_component("\xff") == "\xEF\xBF\xBD");
  CHECK(safe_component("ünï") == "ünï");
}

TEST_CASE("safe component: long names stay different when they are cut") {
  const std::string a = safe_component(std::string(300, 'a') + "1"),
                    b = safe_component(std::string(300, 'a') + "2");
  CHECK(a.size() <= 200);
  CHECK(a != b);
}

TEST_CASE("safe relative path: stays below its folder") {
  CHECK(safe_relative_path("step0/rank0/x") == "step0/rank0/x");
  CHECK(safe_relative_path("../../etc/passwd") == "__/__/etc/passwd");
  CHECK(safe_relative_path("/abs//./x") == "abs/x");
  CHECK(safe_relative_path("") == "_");
}

TEST_CASE("unique paths: a number that is a name of its own is not handed out twice") {
  UniquePaths paths;
  CHECK(paths.take("a") == "a");
  CHECK(paths.take("a-2") == "a-2");
  CHECK(paths.take("a") == "a-3");
  CHECK(paths.take("a") == "a-4");
}

TEST_CASE("stored dtype: itself, or the wider one that holds every value") {
  CHECK(stored_dtype(TensorFileKind::npy, DType::f16).value() == DType::f16);
  CHECK(stored_dtype(TensorFileKind::npy, DType::bf16).value() == DType::f32);
  CHECK(stored_dtype(TensorFileKind::npy, DType::c32).value() == DType::c64);
  CHECK(stored_dtype(TensorFileKind::pt, DType::bf16).value() == DType::bf16);
  CHECK(stored_dtype(TensorFileKind::pt, DType::hif8).value() == DType::f32);
  CHECK(stored_dtype(TensorFileKind::safetensors, DType::f8_e5m2).value() == DType::f8_e5m2);
  CHECK(stored_dtype(TensorFileKind::npy, DType::i4x2).error().message ==
        ".npy files have no type for int4x2 elements, and no wider type holds them");
}

TEST_CASE("slice: bounds are taken as numpy takes them") {
  const int64_t shape[] = {10};
  const auto dim = [&](const char* text) { return parse_slice(text, shape)->dims[0]; };
  CHECK(dim("").count == 10);
  CHECK(dim("-3:").first == 7);
  CHECK(dim("-3:").count == 3);
  CHECK(dim("2:100").count == 8);
  CHECK(dim("8:2").count == 0);
  CHECK(dim("1:10:4").count == 3);
  CHECK(dim("::9223372036854775807").count == 1);
  CHECK(dim("-1").first == 9);
  CHECK(parse_slice("10", shape).error().code == Code::usage);
}

}  // namespace ulpscope
