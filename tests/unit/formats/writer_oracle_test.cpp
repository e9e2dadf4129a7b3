// What torch and numpy make of the written files. Where neither is installed the test says so and checks
// nothing; the golden bytes of tensor_writer_test.cpp hold everywhere.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "formats/tensor_writer.hpp"
#include "support.hpp"

namespace ulpscope::test {
namespace {

std::string hex_of(const std::string& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const int64_t n : shape) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text.empty() ? "-" : text;
}

// Writes one file and answers with its line of expected.txt; nothing when the format lacks the dtype.
std::string write(const TemporaryFolder& folder, TensorFileKind kind, DType dtype, const Shape& shape) {
  const std::string file =
      std::string(name(dtype)) + "_" + std::to_string(shape.size()) + std::string(extension(kind));
  auto writer = TensorWriter::begin(kind, folder.file(file), dtype, shape);
  if (!writer.ok()) {
    REQUIRE(writer.error().code == Code::unsupported);
    return {};
  }
  // 0 and 1 are valid bytes of every dtype, bool included.
  std::string data(*dense_bytes(shape, dtype), '\0');
  for (size_t i = 0; i < data.size(); i += 3) data[i] = 1;
  REQUIRE(writer->append(std::as_bytes(std::span(data))).ok());
  REQUIRE(writer->finish().ok());
  return file + " " + name(dtype) + " " + shape_text(shape) + " " + hex_of(data) + "\n";
}

int oracle(const std::string& python, const std::string& folder) {
  const std::string script = std::filesystem::path(__FILE__).parent_path().string() + "/writer_oracle.py";
  const int status = std::system((python + " '" + script + "' '" + folder + "' 2>/dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("writer: torch and numpy load every file with the same dtype, shape and bytes") {
  const TemporaryFolder folder;
  std::string expected;
  for (const TensorFileKind kind : {TensorFileKind::pt, TensorFileKind::npy})
    for (const Shape& shape : {Shape{}, Shape{0, 5}, Shape{2, 3, 300}})
      for (int i = 1; i < kDTypeCount; ++i) expected += write(folder, kind, static_cast<DType>(i), shape);
  folder.write("expected.txt", expected);
  constexpr int kNoTorch = 3;
  int code = kNoTorch;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    code = oracle(python, folder.path());
    if (code == 0 || code == 1) break;
  }
  if (code != 0 && code != 1) {
    MESSAGE("skipped: no python3 with torch and numpy");
    return;
  }
  CHECK(code == 0);
}

}  // namespace ulpscope::test
