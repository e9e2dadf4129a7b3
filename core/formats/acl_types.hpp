// The numbers that offline-model dumps use for element types and storage formats, with their names. Used by
// the readers of such dumps, of their statistics and of the compiled model's json. Constant tables, no I/O.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ulpscope {

// One element type of the dump format.
struct AclType {
  std::string_view name;      // "FLOAT16"; empty: no such number
  unsigned bits = 0;          // of one element; 0: no fixed size
  DType dtype = DType::none;  // what its elements are read as; none: not supported
};

// The type of a number; a name "UNKNOWN" without bits for any other number.
AclType acl_type(int32_t number);
// The number of a name, with or without "DT_": "DT_FLOAT16", "BF16".
std::optional<int32_t> acl_type_number(std::string_view name);
// The number of the same type in the compiler's counting, which the small devices write; 0 when it has none.
int32_t acl_type_of_compiler(int32_t compiler_number);

// Storage formats by their numbers.
namespace acl_format {
constexpr int32_t kNchw = 0, kNhwc = 1, kNd = 2, kNc1hwc0 = 3, kFractalZ = 4, kNc1hwc0C04 = 12, kChwn = 14,
                  kHwcn = 16, kC1hwncoc0 = 25, kNdhwc = 27, kFractalNz = 29, kNcdhw = 30, kDhwcn = 31,
                  kNdc1hwc0 = 32, kFractalZ3d = 33, kNc = 35, kDhwnc = 36, kNcl = 47;
}  // namespace acl_format

// "NC1HWC0"; "format 77" for a number without a name.
std::string acl_format_name(int32_t number);
std::optional<int32_t> acl_format_number(std::string_view name);

// The writer's own escaping of names: '.', '/', '\' and blank become '_'.
std::string acl_escaped(std::string_view name);

}  // namespace ulpscope
