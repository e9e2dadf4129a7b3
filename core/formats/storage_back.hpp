// From the original layout of a tensor to a storage format of an accelerator, the way back of
// storage_layout.hpp: which stored array an original shape becomes, and its elements in order, with zeros
// where the format pads. Used by convert. Reads the original elements from a file, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/storage_layout.hpp"

namespace ulpscope {

// What the elements shall be stored as. Numbers of acl_types.hpp.
struct StorageTarget {
  int32_t format = 2;
  int32_t layout = -1;  // of the original; -1: NCHW, or NCDHW for five dimensions
  int64_t c0 = 0;       // channels of a block; 0: 32 for elements of one byte, 4 for the C04 format, else 16
  int64_t n0 = 16;      // filters or rows of a block
};

struct StoredForm {
  Shape shape;       // of the stored array
  StoragePlan plan;  // from it back to the original
};

// unsupported: a format that is not written here, or that has no place for such a shape; the message says
// what was expected. usage: a block of 0 or more than 2^20. Any thread.
Result<StoredForm> stored_form(const StorageTarget& target, const Shape& original, unsigned element_bytes);

// One pass over the elements of a stored array. One thread at a time.
class StorageBackStream {
 public:
  // original: the dense elements in the order of form.plan.shape, from offset 0; of 1, 2, 4, 8 or 16 bytes.
  // format: the file does not hold them all; unsupported: a block of more than 512 MiB.
  static Result<std::unique_ptr<StorageBackStream>> open(File original, StoredForm form,
                                                         unsigned element_bytes);

  // Fills dst from the next bytes; less than dst.size() only before the end, 0 at the end. io, format.
  Result<size_t> read(std::span<std::byte> dst);

 private:
  StorageBackStream(File original, StoredForm form, unsigned element_bytes);
  int64_t axis_size(size_t axis) const { return form_.plan.stored[axis].size; }
  void choose_cut();
  Status next();
  void advance();

  File original_;
  StoredForm form_;
  unsigned element_bytes_;
  size_t cut_ = 0;              // of the stored axes; those before it are taken one index at a time
  int64_t chunk_ = 1;           // indexes of that axis at a time
  std::vector<int64_t> place_;  // first index of the next slab
  std::vector<std::byte> box_, slab_;
  size_t given_ = 0;
  bool done_ = false;
};

}  // namespace ulpscope
