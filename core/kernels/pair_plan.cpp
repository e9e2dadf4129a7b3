#include "kernels/pair_plan.hpp"

#include <ulpscope/elementwise.hpp>

#include <algorithm>
#include <optional>
#include <string>

#include "kernels/block_kernels.hpp"
#include "kernels/pair_kernels.hpp"

namespace ulpscope {
namespace {

std::optional<BlockFormat> format_of(DType t) {
  switch (t) {
    case DType::f64:
    case DType::c128:
      return BlockFormat::f64;
    case DType::f32:
    case DType::c64:
      return BlockFormat::f32;
    case DType::bf16:
      return BlockFormat::bf16;
    case DType::f16:
    case DType::c32:
      return BlockFormat::f16;
    default:
      return std::nullopt;
  }
}

bool is_64_bit_float(DType t) { return t == DType::f64 || t == DType::c128; }
bool is_64_bit_integer(DType t) { return t == DType::i64 || t == DType::u64; }

// More than 32 units count as over in the wide formats, more than 1 in the narrow ones (policy of the ulp
// judgement; float64 as float32).
UlpRule ulp_rule(DType target) {
  const bool wide = target == DType::f32 || target == DType::c64 || is_64_bit_float(target);
  const int mantissa = mantissa_bits(target);
  return {detail::power_of_two(least_exponent(target)), mantissa, detail::power_of_two(mantissa - 1),
          wide ? 32.0 : 1.0};
}

ErrorKind error_kind(DType target, DType golden) {
  if (is_64_bit_float(target) || is_64_bit_float(golden)) return ErrorKind::wide;
  if (target != golden) return ErrorKind::all;
  if (target == DType::f16 || target == DType::c32) return ErrorKind::down_to_3;
  if (target == DType::bf16) return ErrorKind::down_to_2;
  return is_floating(target) && bits(target) == 8 ? ErrorKind::none : ErrorKind::all;
}

}  // namespace

Result<PairPlan> make_pair_plan(DType target, DType golden, uint32_t groups) {
  for (const DType t : {target, golden})
    if (!is_widenable(t))
      return Error{Code::unsupported,
                   std::string("cannot compare elements of type ") + name(t) +
                       ", expected a bool, integer, floating or complex type of whole bytes"};
  PairPlan plan;
  plan.kernels = &active_block_kernels();
  plan.target = target;
  plan.golden = golden;
  plan.groups = kGroupDefault | (groups & (kGroupRelative | kGroupUlp));
  if (!is_floating(target) && !is_complex(target)) plan.groups &= ~static_cast<uint32_t>(kGroupUlp);
  plan.parts = std::max(parts(target), parts(golden));
  plan.buffered = target != golden || !format_of(target).has_value();
  plan.format = plan.buffered ? BlockFormat::f64 : *format_of(target);
  plan.exact = is_64_bit_integer(target) || is_64_bit_integer(golden);
  plan.scaled = is_64_bit_float(target) || is_64_bit_float(golden);
  plan.errors = error_kind(target, golden);
  plan.ulp = ulp_rule(target);
  return plan;
}

}  // namespace ulpscope
