// Header of an ATB .bin file: what tensor it holds and where the elements lie. Text lines up to "$End=1",
// then raw bytes; a file may hold several containers one after the other, because its writer appends. Used by
// the source mindie_atb. Reads headers, never elements.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

struct AtbContainer {
  static constexpr size_t kMaxHeaderBytes = 4096;  // up to the end of the $End line
  static constexpr size_t kMaxLineBytes = 512;

  DType dtype = DType::none;  // none: bytes without values; type_text names their type
  std::string type_text;      // "bf16"; the code or text of the header where it is none of the known ones
  int64_t format = -1;        // code of the storage format
  Shape shape;                // as the header says; every dimension >= 0
  bool is_alias = false;      // no elements here: they are those of another file
  std::string alias;          // of an alias: the name of that file
  bool has_data = false;      // false for an alias and for a file of statistics alone
  uint64_t data_offset = 0, data_size = 0;  // of the elements, within the file
  ulpscope_stats stats = {};                // of a file of statistics alone
  std::vector<std::string> warnings;        // what is odd though the tensor can be read
};

// Reads the last complete container. format, with the byte: no header, a line that cannot be, dims that do
// not give the bytes that are there; io. The answer's range lies inside the file, and is shape × dtype where
// the element size is known. Any thread.
Result<AtbContainer> read_atb_container(const File& file);

// Whether a file begins as such a container does.
bool is_atb_container(const File& file);

// Dims joined by commas as a shape. Blanks around numbers are skipped. format: not a list of at most 32 whole
// numbers from 0.
Result<Shape> parse_atb_dims(std::string_view text, char separator);

// Elements of a shape; -1 when the product overflows.
int64_t atb_element_count(const Shape& shape);

}  // namespace ulpscope
