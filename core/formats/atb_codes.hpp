// The numbers and names by which ATB dumps call element types and storage formats (ACL numbering). Used by
// the readers of their .bin files and CSV tables, and by the table of the older tool; says nothing of bytes
// beyond the size of one element.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace ulpscope {

struct AtbDType {
  int32_t code = -1;
  std::string_view name;         // as in the CSV: "bf16", "int64"
  DType dtype = DType::none;     // none: the elements have no value that is known here, only bytes
  uint32_t bits_of_element = 0;  // 0: not known
};

// The type of a code or of a CSV name; null for others. Any thread.
const AtbDType* atb_dtype(int64_t code);
const AtbDType* atb_dtype(std::string_view name);
// The CSV name of an element type; "undefined" when ATB has none.
std::string_view atb_dtype_name(DType dtype);

// "nd", "fractal_nz", …; "undefined(<code>)" for others.
std::string atb_format_name(int64_t code);
// Whether elements stand in the order of the dims. Blocked formats pad and reorder them.
bool is_dense_atb_format(int64_t code);

}  // namespace ulpscope
