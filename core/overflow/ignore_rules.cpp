#include "overflow/ignore_rules.hpp"

#include <algorithm>
#include <array>

namespace ulpscope {
namespace {

constexpr std::string_view kUninitialised = "memory that was never written";
constexpr std::string_view kReceive = "a receive buffer, overwritten by the call";
constexpr std::string_view kFilled = "the places that are not finite may be those that the call overwrites";

enum class Side { input, output };

// position: the first part of the path, by number where it was given by place and by name where by keyword.
struct IgnoreRule {
  std::string_view type;
  Side side;
  std::string_view position;  // empty: every one
  std::string_view reason;
};

// The collectives are those of torch.distributed whose named argument is written by the call; the others of
// the list are the calls of torch that return memory as it is.
constexpr std::array<IgnoreRule, 41> kRules = {{
    {"empty", Side::output, "", kUninitialised},
    {"empty_like", Side::output, "", kUninitialised},
    {"empty_strided", Side::output, "", kUninitialised},
    {"empty_permuted", Side::output, "", kUninitialised},
    {"empty_quantized", Side::output, "", kUninitialised},
    {"new_empty", Side::output, "", kUninitialised},
    {"new_empty_strided", Side::output, "", kUninitialised},
    {"empty_with_format", Side::output, "", kUninitialised},
    {"empty_with_swapped_memory", Side::output, "", kUninitialised},
    {"resize_", Side::output, "", kUninitialised},
    {"resize_as_", Side::output, "", kUninitialised},
    {"fill_", Side::input, "0", kFilled},
    {"zero_", Side::input, "0", kFilled},
    {"copy_", Side::input, "0", kFilled},
    {"normal_", Side::input, "0", kFilled},
    {"uniform_", Side::input, "0", kFilled},
    {"masked_fill_", Side::input, "0", kFilled},
    {"__setitem__", Side::input, "0", kFilled},
    {"recv", Side::input, "0", kReceive},
    {"recv", Side::input, "tensor", kReceive},
    {"irecv", Side::input, "0", kReceive},
    {"irecv", Side::input, "tensor", kReceive},
    {"all_gather", Side::input, "0", kReceive},
    {"all_gather", Side::input, "tensor_list", kReceive},
    {"all_gather_into_tensor", Side::input, "0", kReceive},
    {"all_gather_into_tensor", Side::input, "output_tensor", kReceive},
    {"_all_gather_base", Side::input, "0", kReceive},
    {"_all_gather_base", Side::input, "output_tensor", kReceive},
    {"gather", Side::input, "gather_list", kReceive},
    {"scatter", Side::input, "tensor", kReceive},
    {"reduce_scatter", Side::input, "0", kReceive},
    {"reduce_scatter", Side::input, "output", kReceive},
    {"_reduce_scatter_base", Side::input, "0", kReceive},
    {"_reduce_scatter_base", Side::input, "output", kReceive},
    {"reduce_scatter_tensor", Side::input, "0", kReceive},
    {"reduce_scatter_tensor", Side::input, "output", kReceive},
    {"all_to_all", Side::input, "0", kReceive},
    {"all_to_all", Side::input, "output_tensor_list", kReceive},
    {"all_to_all_single", Side::input, "0", kReceive},
    {"all_to_all_single", Side::input, "output", kReceive},
    {"scatter_object_list", Side::input, "0", kReceive},
}};

}  // namespace

std::string_view ignore_reason(std::string_view type, Role role, std::string_view path) {
  const bool is_input = role == Role::input || role == Role::kwarg;
  if (!is_input && role != Role::output) return {};
  const std::string_view position = path.substr(0, path.find('.'));
  const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const IgnoreRule& each) {
    return each.type == type && (each.side == Side::input) == is_input &&
           (each.position.empty() || each.position == position);
  });
  return rule == kRules.end() ? std::string_view() : rule->reason;
}

}  // namespace ulpscope
