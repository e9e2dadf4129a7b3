// The fused pass against plain scalar code, bit for bit, for every pair of types, instruction set and
// chunking.
#include "kernels/pair_kernels.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/kernel_isa.hpp"
#include "reference.hpp"

namespace ulpscope::test {
namespace {

// Leaves the choice of instruction set as it was found.
class KeepIsa {
 public:
  KeepIsa() : name_(kernel_isa()) {}
  KeepIsa(const KeepIsa&) = delete;
  KeepIsa& operator=(const KeepIsa&) = delete;
  ~KeepIsa() { (void)set_kernel_isa(name_).ok(); }

 private:
  std::string name_;
};

bool is_64_bit_integer(DType t) { return t == DType::i64 || t == DType::u64; }

std::string pair_name(DType target, DType golden) {
  return std::string(name(target)) + " against " + name(golden);
}

// Runs in chunks of so many elements.
PairSums measure_in_chunks(DType t, const Bytes& target, const Bytes& golden, int64_t chunk) {
  PairSums sums;
  const PairKernel kernel = PairKernel::choose(t, t, kAllGroups).value();
  const auto size = static_cast<int64_t>(size_bytes(t));
  const int64_t count = static_cast<int64_t>(target.size()) / size;
  for (int64_t first = 0; first < count; first += chunk)
    kernel.run(target.data() + first * size, golden.data() + first * size, std::min(chunk, count - first),
               first, sums);
  return sums;
}

}  // namespace

TEST_CASE("kernels: the instruction set that ULPSCOPE_KERNELS forces is the one in use") {
  const char* forced = std::getenv("ULPSCOPE_KERNELS");
  if (forced == nullptr) return;
  const std::vector<std::string_view> available = kernel_isas();
  if (std::find(available.begin(), available.end(), forced) == available.end()) {
    MESSAGE("skipped: kernels not available here: ", std::string(forced));
    return;
  }
  CHECK(kernel_isa() == forced);
}

TEST_CASE("kernels: every set that the machine has can be chosen, the last being the default") {
  const KeepIsa keep;
  REQUIRE(!kernel_isas().empty());
  for (const std::string_view isa : kernel_isas()) {
    REQUIRE(set_kernel_isa(isa).ok());
    CHECK(kernel_isa() == isa);
  }
  REQUIRE(set_kernel_isa("").ok());
  CHECK(kernel_isa() == kernel_isas().back());
}

TEST_CASE("kernels: an unknown set is refused by name and the best one is used") {
  const KeepIsa keep;
  const Status status = set_kernel_isa("sse9");
  REQUIRE(!status.ok());
  CHECK(status.error().code == Code::usage);
  CHECK(status.error().message.find("kernels 'sse9' are not available here; expected one of ") == 0);
  CHECK(status.error().message.find("; using " + std::string(kernel_isas().back())) != std::string::npos);
  CHECK(kernel_isa() == kernel_isas().back());
}

TEST_CASE("kernels: a packed or opaque type is unsupported") {
  for (const DType t : {DType::none, DType::i4x2, DType::f4_e2m1x2}) {
    CAPTURE(std::string(name(t)));
    const Result<PairKernel> kernel = PairKernel::choose(DType::f32, t, kAllGroups);
    REQUIRE(!kernel.ok());
    CHECK(kernel.error().code == Code::unsupported);
    CHECK(kernel.error().message ==
          std::string("cannot compare elements of type ") + name(t) +
              ", expected a bool, integer, floating or complex type of whole bytes");
    CHECK(!PairKernel::choose(t, DType::f32, kAllGroups).ok());
  }
}

TEST_CASE("kernels: every pair of types gives the scalar code's bits, in every instruction set") {
  const KeepIsa keep;
  for (const std::string_view isa : kernel_isas()) {
    REQUIRE(set_kernel_isa(isa).ok());
    REQUIRE(kernel_isa() == isa);
    for (const bool special : {false, true}) {
      for (const DType target_type : kWidenable) {
        for (const DType golden_type : kWidenable) {
          // A 64-bit integer beside a float has no exact reference of its own; see the cases for it below.
          if (is_64_bit_integer(target_type) != is_64_bit_integer(golden_type) &&
              !(is_exact_integer(target_type) && is_exact_integer(golden_type)))
            continue;
          Bytes target, golden;
          make_sides(target_type, golden_type, 1500, special, 11, target, golden);
          const PairSums expected = reference(target_type, target, golden_type, golden);
          const PairSums got = measure(target_type, target, golden_type, golden);
          INFO(std::string(isa), ": ", pair_name(target_type, golden_type), special ? ", special" : "");
          CHECK(difference(got, expected) == "");
        }
      }
    }
  }
}

TEST_CASE("kernels: random codes of the narrow types give the scalar code's bits") {
  for (const DType t :
       {DType::f16, DType::bf16, DType::f8_e4m3fn, DType::f8_e5m2, DType::hif8, DType::f8_e8m0,
        DType::f8_e4m3fnuz, DType::f8_e5m2fnuz, DType::b8, DType::c32, DType::f32}) {
    Random random(5);
    Bytes target(4096 * size_bytes(t)), golden(target.size());
    for (size_t i = 0; i < target.size(); ++i) {
      golden[i] = static_cast<std::byte>(random.next());
      target[i] = random.next() % 4 == 0 ? static_cast<std::byte>(random.next()) : golden[i];
    }
    CAPTURE(std::string(name(t)));
    CHECK(difference(measure(t, target, t, golden), reference(t, target, t, golden)) == "");
  }
}

TEST_CASE("kernels: the bits do not depend on where chunks end") {
  for (const DType t : {DType::f32, DType::bf16, DType::f64, DType::i64, DType::c64, DType::f8_e5m2}) {
    Bytes target, golden;
    make_sides(t, t, 5000, true, 3, target, golden);
    const PairSums whole = measure(t, target, t, golden);
    for (const int64_t chunk : {1024, 2048, 3072, 4096}) {
      INFO(std::string(name(t)), " in chunks of ", chunk);
      CHECK(difference(measure_in_chunks(t, target, golden, chunk), whole) == "");
    }
  }
}

TEST_CASE("kernels: bytes at any address give the same bits") {
  Bytes target, golden;
  make_sides(DType::f32, DType::f32, 3000, true, 4, target, golden);
  const PairSums aligned = measure(DType::f32, target, DType::f32, golden);
  for (size_t shift = 1; shift < 8; ++shift) {
    Bytes moved_target(target.size() + shift), moved_golden(golden.size() + shift);
    std::memcpy(moved_target.data() + shift, target.data(), target.size());
    std::memcpy(moved_golden.data() + shift, golden.data(), golden.size());
    PairSums sums;
    PairKernel::choose(DType::f32, DType::f32, kAllGroups)
        .value()
        .run(moved_target.data() + shift, moved_golden.data() + shift, 3000, 0, sums);
    CAPTURE(shift);
    CHECK(difference(sums, aligned) == "");
  }
}

TEST_CASE("kernels: every count up to three rows gives the scalar code's bits") {
  for (int64_t count = 1; count <= 48; ++count) {
    Bytes target, golden;
    make_sides(DType::f16, DType::f32, count, true, static_cast<uint64_t>(count), target, golden);
    CAPTURE(count);
    CHECK(difference(measure(DType::f16, target, DType::f32, golden),
                     reference(DType::f16, target, DType::f32, golden)) == "");
  }
}

TEST_CASE(
    "kernels: tiles merged in order have the counts, maxima and places of one pass, and its sums to 1e-12") {
  Bytes target, golden;
  make_sides(DType::f32, DType::f32, 10000, true, 8, target, golden);
  const PairSums whole = measure(DType::f32, target, DType::f32, golden);
  const PairKernel kernel = PairKernel::choose(DType::f32, DType::f32, kAllGroups).value();
  PairSums merged;
  for (int64_t first = 0; first < 10000; first += 2048) {
    PairSums tile;
    kernel.run(target.data() + 4 * first, golden.data() + 4 * first, std::min<int64_t>(2048, 10000 - first),
               first, tile);
    merged.merge(tile);
  }
  CHECK(merged.sum_abs_err == doctest::Approx(whole.sum_abs_err).epsilon(1e-12));
  CHECK(merged.sum_squared_err == doctest::Approx(whole.sum_squared_err).epsilon(1e-12));
  CHECK(merged.sum_rel_err == doctest::Approx(whole.sum_rel_err).epsilon(1e-12));
  CHECK(merged.sum_ulp == doctest::Approx(whole.sum_ulp).epsilon(1e-12));
  CHECK(merged.dot == doctest::Approx(whole.dot).epsilon(1e-12));
  // The rest has to be equal: give the merged state the sums of the other before comparing.
  merged.sum_abs_err = whole.sum_abs_err;
  merged.sum_squared_err = whole.sum_squared_err;
  merged.sum_rel_err = whole.sum_rel_err;
  merged.sum_ulp = whole.sum_ulp;
  merged.dot = whole.dot;
  merged.squares_target = whole.squares_target;
  merged.squares_golden = whole.squares_golden;
  merged.target.sum = whole.target.sum;
  merged.target.sum_squares = whole.target.sum_squares;
  merged.golden.sum = whole.golden.sum;
  merged.golden.sum_squares = whole.golden.sum_squares;
  CHECK(difference(merged, whole) == "");
}

TEST_CASE("kernels: merging an empty state changes nothing, from either side") {
  Bytes target, golden;
  make_sides(DType::f32, DType::f32, 100, true, 8, target, golden);
  const PairSums whole = measure(DType::f32, target, DType::f32, golden);
  PairSums left, right = whole;
  left.merge(whole);
  right.merge(PairSums());
  CHECK(difference(left, whole) == "");
  CHECK(difference(right, whole) == "");
}

TEST_CASE("kernels: bit-identical sides have no error and both sides' statistics") {
  for (const DType t : kWidenable) {
    Bytes target, golden;
    make_sides(t, t, 3000, false, 21, target, golden);
    const PairSums sums = measure(t, golden, t, golden);
    CAPTURE(std::string(name(t)));
    CHECK(difference(sums, reference(t, golden, t, golden)) == "");
    CHECK(sums.unequal == 0);
    CHECK(sums.max_abs_err == 0);
    CHECK(sums.max_abs_index == -1);
    CHECK(sums.within[3] == sums.elements);
    CHECK(sums.dot == sums.squares_golden);
  }
}

TEST_CASE("kernels: only the groups asked for are measured and the others keep their bits") {
  Bytes target, golden;
  make_sides(DType::bf16, DType::bf16, 3000, true, 2, target, golden);
  const PairSums all = measure(DType::bf16, target, DType::bf16, golden);
  const PairSums basic = measure(DType::bf16, target, DType::bf16, golden, kGroupDefault);
  const PairSums relative = measure(DType::bf16, target, DType::bf16, golden, kGroupRelative);
  const PairSums ulp = measure(DType::bf16, target, DType::bf16, golden, kGroupUlp);
  CHECK(basic.groups == kGroupDefault);
  CHECK(basic.sum_abs_err == all.sum_abs_err);
  CHECK(basic.within[1] == all.within[1]);
  CHECK(basic.within[2] == all.within[2]);
  CHECK(basic.within[0] == 0);
  CHECK(basic.max_rel_err == 0);
  CHECK(basic.max_ulp == 0);
  CHECK(relative.max_rel_err == all.max_rel_err);
  CHECK(relative.within[3] == all.within[3]);
  CHECK(relative.sum_ulp == 0);
  CHECK(ulp.max_ulp == all.max_ulp);
  CHECK(ulp.sum_rel_err == 0);
}

}  // namespace ulpscope::test
