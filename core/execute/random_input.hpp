// Tensors made up from what a dump without data says of them: shape, element type, largest and least value.
// The numbers depend on the seed, the API and the place of the argument alone, so that every machine, order
// and number of workers makes the same ones. Pure.
#pragma once

#include <ulpscope/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct RandomTensor {
  DType dtype = DType::none;
  Shape shape;
  double low = 0, high = 0;  // least and largest value as recorded; may be NaN or infinite
  bool has_range = false;    // the dump says both
};

// A generator whose stream is that of (seed, api, argument).
class RandomStream {
 public:
  RandomStream(uint64_t seed, std::string_view api, std::string_view argument);
  uint64_t next();
  // In [0, 1), a multiple of 2^-bits.
  double unit(int bits);

 private:
  uint64_t state_;
};

// The elements, dense and row-major. Floating types: uniform between low and high in the precision of the
// type, the first element low, the last one high; a NaN or an infinite extreme stands once among finite
// numbers. Integers: uniform, both ends included; bool: as the integers 0 and 1. unsupported: complex and
// packed types, or no range; no_memory: more than limit_bytes.
Result<std::vector<std::byte>> random_elements(const RandomTensor& tensor, RandomStream& stream,
                                               uint64_t limit_bytes);

}  // namespace ulpscope
