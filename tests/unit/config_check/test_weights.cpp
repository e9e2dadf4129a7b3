// Weights of two models, byte by byte and as numbers.
#include <doctest/doctest.h>

#include <cstring>

#include "config_check/weights.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

namespace {

// A safetensors file with one tensor w.
std::string safetensors_of(const std::string& dtype, size_t elements, const std::string& data) {
  std::string header = R"({"w": {"dtype": ")" + dtype + R"(", "shape": [)" + std::to_string(elements) +
                       R"(], "data_offsets": [0, )" + std::to_string(data.size()) + "]}}";
  while (header.size() % 8 != 0) header += ' ';
  const uint64_t size = header.size();
  std::string file(sizeof size, '\0');
  std::memcpy(file.data(), &size, sizeof size);
  return file + header + data;
}

struct Compared {
  WeightDifference difference;
  std::string golden_hash, problem_hash;
  uint64_t told_bytes = 0;
};

Compared compare(const test::TempFolder& folder, const std::string& dtype, size_t elements,
                 const std::string& golden, const std::string& problem) {
  folder.write("g/a.safetensors", safetensors_of(dtype, elements, golden));
  folder.write("p/b.safetensors", safetensors_of(dtype, elements, problem));
  auto left = read_weights(folder / "g"), right = read_weights(folder / "p");
  REQUIRE(left.ok());
  REQUIRE(right.ok());
  WeightTensor &a = left->tensors.at("w"), &b = right->tensors.at("w");
  REQUIRE(can_compare_bytes(a, b));
  Compared found;
  const auto difference = compare_weights(a, b, Cancel(), [&](uint64_t bytes) { found.told_bytes += bytes; });
  REQUIRE(difference.ok());
  found.difference = *difference;
  found.golden_hash = a.sha256;
  found.problem_hash = b.sha256;
  return found;
}

}  // namespace

TEST_CASE("weights: equal bytes are told once and not hashed") {
  const test::TempFolder folder;
  const std::string data((size_t{2} << 20) + 6, 'x');  // two pieces and a rest
  const Compared found = compare(folder, "BF16", data.size() / 2, data, data);
  CHECK(found.difference.same_bytes);
  CHECK(found.golden_hash.empty());
  CHECK(found.told_bytes == 2 * data.size());
  CHECK(compare(folder, "F32", 0, "", "").difference.same_bytes);
}

TEST_CASE("weights: a difference in the last element of several pieces") {
  const test::TempFolder folder;
  const std::string golden((size_t{2} << 20) + 6, 'x');
  std::string problem = golden;
  problem.back() = 'y';
  const Compared found = compare(folder, "BF16", golden.size() / 2, golden, problem);
  CHECK_FALSE(found.difference.same_bytes);
  CHECK(found.difference.elements == 1'048'579);
  CHECK(found.difference.differing == 1);
  CHECK(found.difference.first == 1'048'578);
  CHECK(found.difference.has_numbers);
  CHECK(found.difference.largest > 0);
  CHECK_FALSE(found.difference.same_statistics);
  CHECK(found.golden_hash.size() == 64);
  CHECK(found.golden_hash != found.problem_hash);
  CHECK(found.told_bytes == 2 * golden.size());
}

TEST_CASE("weights: values in another order have the same statistics") {
  const test::TempFolder folder;
  std::string golden, problem;
  for (int i = 0; i < 10'000; ++i) {
    const float x = 1.0f / static_cast<float>(i + 3) - 0.01f,
                y = 1.0f / static_cast<float>(10'002 - i) - 0.01f;
    golden.append(reinterpret_cast<const char*>(&x), sizeof x);
    problem.append(reinterpret_cast<const char*>(&y), sizeof y);
  }
  const Compared found = compare(folder, "F32", 10'000, golden, problem);
  CHECK(found.difference.differing == 10'000);
  CHECK(found.difference.first == 0);
  CHECK(found.difference.same_statistics);
}

TEST_CASE("weights: a file that shrinks while it is read is an error") {
  const test::TempFolder folder;
  const std::string data(size_t{3} << 20, 'x');
  folder.write("g/a.safetensors", safetensors_of("U8", data.size(), data));
  folder.write("p/a.safetensors", safetensors_of("U8", data.size(), data));
  auto left = read_weights(folder / "g"), right = read_weights(folder / "p");
  REQUIRE(left.ok());
  REQUIRE(right.ok());
  std::filesystem::resize_file(folder / "p/a.safetensors", 1 << 20);
  const auto difference =
      compare_weights(left->tensors.at("w"), right->tensors.at("w"), Cancel(), [](uint64_t) {});
  REQUIRE_FALSE(difference.ok());
  CHECK(difference.error().message.find("p/a.safetensors") != std::string::npos);
}
