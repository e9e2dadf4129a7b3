// How the block loops read numbers of each format as doubles. Included by block_kernels.cpp alone, once for
// each instruction set, which is why its guard turns over instead of staying.
#if defined(ULPSCOPE_BLOCK_LOADS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ULPSCOPE_BLOCK_LOADS_INL_HPP
#undef ULPSCOPE_BLOCK_LOADS_INL_HPP
#else
#define ULPSCOPE_BLOCK_LOADS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/block_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace ulpscope {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Words = hn::RebindToSigned<Doubles>;
using Floats = hn::Rebind<float, Doubles>;
using Vector = hn::Vec<Doubles>;
using Counts = hn::Vec<Words>;
inline constexpr int64_t kStrip = static_cast<int64_t>(hn::MaxLanes(Doubles()));
static_assert(kRowNumbers % kStrip == 0);

template <class T>
const T* at(const std::byte* bytes, int64_t index) {
  return reinterpret_cast<const T*>(bytes + index * static_cast<int64_t>(sizeof(T)));
}

// ---- loading numbers [index, index + kStrip) of a side as doubles

// A loader of a narrow format also finds the extremes, in lanes of its own width: they do not depend on
// order.

struct LoadF64 {
  static constexpr size_t kNumberBytes = sizeof(double);
  static constexpr bool kFindsExtremes = false;
  static void extremes(const std::byte*, int64_t, SideBlock&) {}
  static Vector load(const std::byte* side, int64_t index) {
    return hn::LoadU(Doubles(), at<double>(side, index));
  }
};

struct LoadF32 {
  static constexpr size_t kNumberBytes = sizeof(float);
  static constexpr bool kFindsExtremes = true;
  // Adding +0 makes a zero +0.
  static void extremes(const std::byte* side, int64_t rows, SideBlock& out) {
    const hn::ScalableTag<float> floats;
    const auto lanes = static_cast<int64_t>(hn::Lanes(floats));
    auto max = hn::LoadU(floats, at<float>(side, 0)), min = max;
    for (int64_t i = lanes; i < rows * kRowNumbers; i += lanes) {
      const auto v = hn::LoadU(floats, at<float>(side, i));
      max = hn::Max(max, v);
      min = hn::Min(min, v);
    }
    HWY_ALIGN float ends[2][hn::MaxLanes(floats)];
    hn::Store(max, floats, ends[0]);
    hn::Store(min, floats, ends[1]);
    out.max = static_cast<double>(*std::max_element(ends[0], ends[0] + lanes)) + 0.0;
    out.min = static_cast<double>(*std::min_element(ends[1], ends[1] + lanes)) + 0.0;
  }
  static Vector load(const std::byte* side, int64_t index) {
    return hn::PromoteTo(Doubles(), hn::LoadU(Floats(), at<float>(side, index)));
  }
};

// The extremes of numbers with a sign and a magnitude in 16 bits, by their codes: the bits of negative ones
// turned over they are in the order of integers.
template <class Load>
void extremes_of_codes(const std::byte* side, int64_t rows, SideBlock& out) {
  const hn::ScalableTag<int16_t> codes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(codes));
  const auto magnitude = hn::Set(codes, int16_t{0x7FFF});
  const auto in_order = [&](int64_t i) HWY_ATTR {
    const auto code = hn::LoadU(codes, at<int16_t>(side, i));
    return hn::Xor(code, hn::And(hn::ShiftRight<15>(code), magnitude));
  };
  auto max = in_order(0), min = max;
  for (int64_t i = lanes; i < rows * kRowNumbers; i += lanes) {
    const auto v = in_order(i);
    max = hn::Max(max, v);
    min = hn::Min(min, v);
  }
  HWY_ALIGN int16_t ends[2][hn::MaxLanes(codes)];
  hn::Store(max, codes, ends[0]);
  hn::Store(min, codes, ends[1]);
  const auto value_of = [](int16_t v) HWY_ATTR {
    HWY_ALIGN int16_t code[kStrip] = {static_cast<int16_t>(v < 0 ? v ^ 0x7FFF : v)};
    return hn::GetLane(Load::load(reinterpret_cast<const std::byte*>(code), 0)) + 0.0;
  };
  out.max = value_of(*std::max_element(ends[0], ends[0] + lanes));
  out.min = value_of(*std::min_element(ends[1], ends[1] + lanes));
}

// A bf16 is the upper half of a float.
struct LoadBf16 {
  static constexpr size_t kNumberBytes = sizeof(uint16_t);
  static constexpr bool kFindsExtremes = true;
  static void extremes(const std::byte* side, int64_t rows, SideBlock& out) {
    extremes_of_codes<LoadBf16>(side, rows, out);
  }
  static Vector load(const std::byte* side, int64_t index) {
#if HWY_TARGET == HWY_AVX2
    // Four codes, each put above two bytes of zero: one shuffle in place of a widening and a shift.
    const hn::Full128<uint16_t> eight;
    uint64_t four = 0;
    std::memcpy(&four, at<uint16_t>(side, index), sizeof(four));
    const auto codes = hn::BitCast(eight, hn::Set(hn::Full128<uint64_t>(), four));
    return hn::PromoteTo(Doubles(),
                         hn::BitCast(Floats(), hn::InterleaveLower(eight, hn::Zero(eight), codes)));
#else
    const hn::Rebind<uint16_t, Doubles> halves;
    const hn::Rebind<uint32_t, Doubles> words;
    const auto code = hn::PromoteTo(words, hn::LoadU(halves, at<uint16_t>(side, index)));
    return hn::PromoteTo(Doubles(), hn::BitCast(Floats(), hn::ShiftLeft<16>(code)));
#endif
  }
};

// Exponent and mantissa moved to their places in a float give the value times 2^-112, subnormals included;
// what comes out at 2^16 or more was infinity or NaN and gets the float's exponent for them.
struct LoadF16 {
  static constexpr size_t kNumberBytes = sizeof(uint16_t);
  static constexpr bool kFindsExtremes = true;
  static void extremes(const std::byte* side, int64_t rows, SideBlock& out) {
    extremes_of_codes<LoadF16>(side, rows, out);
  }
  static Vector load(const std::byte* side, int64_t index) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
    const hn::Rebind<uint16_t, Doubles> halves;
    const hn::Rebind<uint32_t, Doubles> words;
    const Floats floats;
    const auto code = hn::PromoteTo(words, hn::LoadU(halves, at<uint16_t>(side, index)));
    const auto sign = hn::ShiftLeft<16>(hn::And(code, hn::Set(words, 0x8000U)));
    const auto moved = hn::ShiftLeft<13>(hn::And(code, hn::Set(words, 0x7FFFU)));
    const auto value = hn::Mul(hn::BitCast(floats, moved), hn::Set(floats, 0x1p112F));
    const auto special = hn::VecFromMask(floats, hn::Ge(value, hn::Set(floats, 65536.0F)));
    const auto all_ones = hn::And(hn::BitCast(words, special), hn::Set(words, 0x7F800000U));
    const auto bits = hn::Or(hn::Or(hn::BitCast(words, value), all_ones), sign);
    return hn::PromoteTo(Doubles(), hn::BitCast(floats, bits));
#else
    const hn::Rebind<hwy::float16_t, Doubles> halves;
    return hn::PromoteTo(Doubles(),
                         hn::PromoteTo(Floats(), hn::LoadU(halves, at<hwy::float16_t>(side, index))));
#endif
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace ulpscope
HWY_AFTER_NAMESPACE();

#endif
