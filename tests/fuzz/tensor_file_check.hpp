// What must hold of every tensor file, whatever its bytes: shared by the targets of the tensor formats. A
// broken promise ends the program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "formats/element_stream.hpp"
#include "formats/tensor_file.hpp"
#include "memory_file.hpp"

namespace ulpscope::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline void check_stream(File file, const TensorPlace& place) {
  constexpr uint64_t kLimitBytes = 1 << 20;
  auto stream = open_elements(std::move(file), place, kLimitBytes);
  if (!stream.ok()) return require(!stream.error().message.empty());
  require((*stream)->size() == dense_bytes(place.shape, place.dtype));
  std::array<std::byte, 1021> piece;  // a prime, so that pieces end inside elements
  uint64_t total = 0;
  for (;;) {
    const auto got = (*stream)->read(piece);
    if (!got.ok()) return require(got.error().code != Code::internal);
    if (*got == 0) break;
    total += *got;
  }
  require(total == (*stream)->size());
}

// Reads places and elements of data as a file; answers nothing, because only promises are checked.
inline void check_tensor_file(const uint8_t* data, size_t size) {
  const File file = memory_file(data, size);
  const auto places = read_places(file);
  if (!places.ok()) {
    require(!places.error().message.empty() && places.error().code != Code::internal);
    return;
  }
  size_t budget = 32;  // streams an input, so that a header of many tensors stays fast
  for (const TensorPlace& place : *places) {
    const uint64_t in_file = place.deflated ? place.packed_size : place.size;
    require(place.offset <= size && in_file <= size - place.offset);
    require(!place.plain || place.size == dense_bytes(place.shape, place.dtype));
    require(place.plain || !place.refusal.empty() || place.strides.size() == place.shape.size());
    if (budget-- == 0) break;
    check_stream(memory_file(data, size), place);
  }
}

}  // namespace ulpscope::fuzz
