// The elements of a tensor place as dense row-major little-endian bytes, in order. Undoes views, Fortran
// order, byte order and deflate in bounded memory. Used by sources whose tensors are not plain byte ranges
// and by convert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {

// What a view with strides of 0 may grow to: the largest file that the dump writers produce themselves.
constexpr uint64_t kDefaultLimitBytes = uint64_t{10} << 30;

// One pass over the elements. One thread at a time.
class ElementStream {
 public:
  virtual ~ElementStream() = default;
  // Fills dst from the next bytes; less than dst.size() only before the end, 0 at the end. io: reading failed
  // or the file became shorter; format: packed bytes are damaged. After an error the stream stays unusable.
  virtual Result<size_t> read(std::span<std::byte> dst) = 0;
  // All bytes that read gives in total.
  virtual uint64_t size() const = 0;
  // Whether the record's CRC-32 disagreed. Known once read has returned 0; false where the container states
  // none or the tensor does not need the whole record.
  virtual bool crc_mismatch() const = 0;
};

// Opens the elements of a place that read_places gave for this file. unsupported: the place carries a
// refusal, has no element type, or has more than limit_bytes although the file is smaller (a view that
// repeats its elements, packed data); format: the place reaches outside the file. Keeps at most 64 MiB in
// memory. Any thread.
Result<std::unique_ptr<ElementStream>> open_elements(File file, const TensorPlace& place,
                                                     uint64_t limit_bytes = kDefaultLimitBytes);

}  // namespace ulpscope
