// Visits the elements of two views side by side, widened to double, in the fixed order that makes every sum
// the same whatever the chunk size, thread count or machine: blocks of 1024 numbers, 16 lanes, number i of a
// block in lane i mod 16, lanes folded 16→8→4→2→1, blocks in order. For authors of judgements; a sum is two
// lines:
//
//   void consume(const ulpscope_view& actual, const ulpscope_view& golden) override {
//     ulpscope::visit_blocks(actual, golden, [this](const ulpscope::PairBlock& block) {
//       sum_ += ulpscope::lane_sum(block, [](double a, double g) { return std::fabs(a - g); });
//     });
//   }
//
// A complex element is two numbers, real and imaginary part; beside a real view the imaginary parts are 0.
// Every type widens exactly but 64-bit integers beyond 2^53, which visit_integers gives without loss. NaN and
// infinity are passed on as they are. Errors are thrown as Failure: views of unequal length, packed or opaque
// types. Nothing here has state: any thread.
#pragma once

#include <ulpscope/half.hpp>
#include <ulpscope/types.hpp>

#include <cstdint>
#include <cstring>
#include <string>

namespace ulpscope {

constexpr uint32_t kLanes = 16;

// Whether elements of the type can be widened to double: all but none and the packed pairs.
constexpr bool is_widenable(DType t) {
  return size_bytes(t) != 0 && t != DType::i4x2 && t != DType::f4_e2m1x2;
}
// Whether visit_integers takes the type: bool and the integers, not the packed ones.
constexpr bool is_exact_integer(DType t) { return t == DType::b8 || (is_integer(t) && t != DType::i4x2); }

// Up to 1024 pairs of numbers. first: the place of actual[0] in the chunk, in numbers.
struct PairBlock {
  const double* actual = nullptr;
  const double* golden = nullptr;
  uint64_t first = 0;
  uint32_t count = 0;
};

// An integer of any 64-bit type, signed or not.
struct ExactInteger {
  uint64_t magnitude = 0;
  bool negative = false;  // never with magnitude 0
};
constexpr bool operator==(ExactInteger a, ExactInteger b) {
  return a.magnitude == b.magnitude && a.negative == b.negative;
}
constexpr bool operator!=(ExactInteger a, ExactInteger b) { return !(a == b); }

// The double nearest to |a - b|.
inline double distance(ExactInteger a, ExactInteger b) {
  if (a.negative == b.negative)
    return static_cast<double>(a.magnitude > b.magnitude ? a.magnitude - b.magnitude
                                                         : b.magnitude - a.magnitude);
  const uint64_t sum = a.magnitude + b.magnitude;
  if (sum >= a.magnitude) return static_cast<double>(sum);
  // 65 bits: halve, keeping the lost bit as a sticky one, so that rounding still sees it.
  return 2 * static_cast<double>((sum >> 1) | (uint64_t{1} << 63) | (sum & 1));
}

namespace detail {

template <class T>
T read_as(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void widen_numbers(const unsigned char* from, uint64_t count, double* to) {
  for (uint64_t i = 0; i < count; ++i) to[i] = static_cast<double>(read_as<T>(from + i * sizeof(T)));
}

inline void widen_codes(DType t, const unsigned char* from, uint64_t count, double* to) {
  double table[256];
  const bool use_table = bits(t) == 8 && count >= 256;
  if (use_table)
    for (uint64_t code = 0; code < 256; ++code) table[code] = float_to_double(t, code);
  for (uint64_t i = 0; i < count; ++i) {
    if (bits(t) == 8)
      to[i] = use_table ? table[from[i]] : float_to_double(t, from[i]);
    else
      to[i] = float_to_double(t, read_as<uint16_t>(from + 2 * i));
  }
}

inline void require_pair(const ulpscope_view& actual, const ulpscope_view& golden) {
  if (actual.count != golden.count)
    throw Failure(ULPSCOPE_E_USAGE, "views of unequal length: " + std::to_string(actual.count) + " and " +
                                        std::to_string(golden.count) + " elements");
}

}  // namespace detail

// Numbers that an element is made of: 2 for complex types, else 1.
constexpr uint32_t parts(DType t) { return is_complex(t) ? 2 : 1; }

// Widens count elements to double: count * parts(t) values. The bytes need no alignment. False, and nothing
// written, when the type is not widenable.
inline bool widen(DType t, const void* elements, uint64_t count, double* to) {
  const auto* from = static_cast<const unsigned char*>(elements);
  switch (t) {
    case DType::b8:
      for (uint64_t i = 0; i < count; ++i) to[i] = from[i] != 0 ? 1 : 0;
      return true;
    case DType::u8:
      return detail::widen_numbers<uint8_t>(from, count, to), true;
    case DType::i8:
      return detail::widen_numbers<int8_t>(from, count, to), true;
    case DType::u16:
      return detail::widen_numbers<uint16_t>(from, count, to), true;
    case DType::i16:
      return detail::widen_numbers<int16_t>(from, count, to), true;
    case DType::u32:
      return detail::widen_numbers<uint32_t>(from, count, to), true;
    case DType::i32:
      return detail::widen_numbers<int32_t>(from, count, to), true;
    case DType::u64:
      return detail::widen_numbers<uint64_t>(from, count, to), true;
    case DType::i64:
      return detail::widen_numbers<int64_t>(from, count, to), true;
    case DType::f32:
      return detail::widen_numbers<float>(from, count, to), true;
    case DType::f64:
      return detail::widen_numbers<double>(from, count, to), true;
    case DType::c32:
      return detail::widen_codes(DType::f16, from, 2 * count, to), true;
    case DType::c64:
      return detail::widen_numbers<float>(from, 2 * count, to), true;
    case DType::c128:
      return detail::widen_numbers<double>(from, 2 * count, to), true;
    default:
      if (!is_widenable(t)) return false;
      return detail::widen_codes(t, from, count, to), true;
  }
}

// Calls visit(const PairBlock&) for each block of the two views, in order. The block's memory is valid during
// the call. Throws Failure (usage) when the lengths differ, (unsupported) for a type that is not widenable.
template <class F>
void visit_blocks(const ulpscope_view& actual, const ulpscope_view& golden, F&& visit) {
  detail::require_pair(actual, golden);
  const auto actual_type = static_cast<DType>(actual.dtype), golden_type = static_cast<DType>(golden.dtype);
  for (const DType t : {actual_type, golden_type})
    if (!is_widenable(t))
      throw Failure(ULPSCOPE_E_UNSUPPORTED, std::string("cannot widen elements of type ") + name(t));
  const uint32_t wide = std::max(parts(actual_type), parts(golden_type));
  const uint64_t step = ULPSCOPE_BLOCK / wide;  // elements
  double a[ULPSCOPE_BLOCK], g[ULPSCOPE_BLOCK];
  const auto load = [wide](DType t, const ulpscope_view& view, uint64_t first, uint64_t count, double* to) {
    widen(t, static_cast<const unsigned char*>(view.data) + first * size_bytes(t), count, to);
    if (parts(t) == wide) return;
    for (uint64_t i = count; i-- > 0;) {  // a real view beside a complex one
      to[2 * i] = to[i];
      to[2 * i + 1] = 0;
    }
  };
  for (uint64_t first = 0; first < actual.count; first += step) {
    const uint64_t count = std::min(step, actual.count - first);
    load(actual_type, actual, first, count, a);
    load(golden_type, golden, first, count, g);
    visit(PairBlock{a, g, first * wide, static_cast<uint32_t>(count * wide)});
  }
}

// The sum of term(actual, golden) over the block in the fixed order. Add the results of the blocks in order.
template <class F>
double lane_sum(const PairBlock& block, F&& term) {
  double lanes[kLanes] = {};
  for (uint32_t i = 0; i < block.count; ++i) lanes[i % kLanes] += term(block.actual[i], block.golden[i]);
  for (uint32_t half = kLanes / 2; half > 0; half /= 2)
    for (uint32_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

// The integer at elements[index]; a bool byte other than 0 is 1. Needs is_exact_integer(t).
inline ExactInteger integer_at(DType t, const void* elements, uint64_t index) {
  const auto* at = static_cast<const unsigned char*>(elements) + index * size_bytes(t);
  const auto of_signed = [](int64_t v) {
    return ExactInteger{v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v), v < 0};
  };
  switch (t) {
    case DType::b8:
      return {*at != 0 ? uint64_t{1} : uint64_t{0}, false};
    case DType::u8:
      return {*at, false};
    case DType::i8:
      return of_signed(detail::read_as<int8_t>(at));
    case DType::u16:
      return {detail::read_as<uint16_t>(at), false};
    case DType::i16:
      return of_signed(detail::read_as<int16_t>(at));
    case DType::u32:
      return {detail::read_as<uint32_t>(at), false};
    case DType::i32:
      return of_signed(detail::read_as<int32_t>(at));
    case DType::u64:
      return {detail::read_as<uint64_t>(at), false};
    default:
      return of_signed(detail::read_as<int64_t>(at));
  }
}

// Calls visit(uint64_t index, ExactInteger actual, ExactInteger golden) for each element, in order and
// without any rounding. Throws Failure (usage) when the lengths differ, (unsupported) unless both types are
// bool or integer.
template <class F>
void visit_integers(const ulpscope_view& actual, const ulpscope_view& golden, F&& visit) {
  detail::require_pair(actual, golden);
  const auto actual_type = static_cast<DType>(actual.dtype), golden_type = static_cast<DType>(golden.dtype);
  for (const DType t : {actual_type, golden_type})
    if (!is_exact_integer(t))
      throw Failure(ULPSCOPE_E_UNSUPPORTED, std::string("not a bool or integer type: ") + name(t));
  for (uint64_t i = 0; i < actual.count; ++i)
    visit(i, integer_at(actual_type, actual.data, i), integer_at(golden_type, golden.data, i));
}

}  // namespace ulpscope
