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
  return {detail::power_of_two(least_exponent(target)), detail::power_of_two(mantissa_bits(target) - 1),
          wide ? 32.0 : 1.0};
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
  plan.ulp = ulp_rule(target);
  return plan;
}

}  // namespace ulpscope
