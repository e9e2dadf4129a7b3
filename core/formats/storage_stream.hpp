// The elements of a stored tensor in the order of its original layout, read in order and in bounded memory:
// boxes of the stored array are loaded one after the other and their elements moved to where they belong.
// Used by the sources of accelerator dumps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/storage_copy.hpp"
#include "formats/storage_layout.hpp"

namespace ulpscope {

// One pass over the elements. One thread at a time.
class StorageStream {
 public:
  // The stored array lies at offset of the file and has size_bytes; elements have element_bytes (1, 2, 4, 8
  // or 16). format: the array does not fit the plan; unsupported: a single block is larger than 512 MiB.
  static Result<std::unique_ptr<StorageStream>> open(File file, uint64_t offset, uint64_t size_bytes,
                                                     StoragePlan plan, unsigned element_bytes);
  ~StorageStream();

  // Fills dst from the next bytes; less than dst.size() only before the end, 0 at the end. io, format: the
  // file became shorter.
  Result<size_t> read(std::span<std::byte> dst);

 private:
  class Mover;
  explicit StorageStream(std::unique_ptr<Mover> mover);

  std::unique_ptr<Mover> mover_;
  RawBuffer slab_;
  std::span<const std::byte> ready_;  // of the slab, to be given out
};

}  // namespace ulpscope
