// Arrays of a framework (.npy) that lie beside the files of an offline-model dump, and the stretch of a file
// that any tensor of such a dump is read from. For the source of offline-model dumps only.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "formats/storage_layout.hpp"

namespace ulpscope {

// One stretch of stored bytes and how it becomes elements.
struct AclStretch {
  std::string file;  // relative to the root of the tree
  uint64_t offset = 0, size_bytes = 0;
  StoragePlan plan;
  unsigned element_bytes = 1;
  uint64_t run_bytes = 0;  // that this slice gives at a time
};

// Where the elements of root/file lie; sets dtype and shape of the record. Arrays in the order of Fortran get
// a plan that turns them round. format, io; unsupported: a type without counterpart, or bytes of the other
// order. Any thread.
Result<AclStretch> read_acl_array(const std::string& root, const std::string& file, TensorRecord& record);

// The shapes of a folder of golden arrays, for tensors whose original shape no dump and no compiled model
// tells.
class GoldenShapes {
 public:
  GoldenShapes() = default;
  // Lists the arrays of a folder; one that cannot be listed has none.
  explicit GoldenShapes(std::string folder);
  // The shape of the array of an original tensor, "name:output"; of several the one written last. Nothing
  // where there is none, or where it cannot be read. Any thread.
  std::optional<Shape> find(std::string_view origin) const;

 private:
  struct Entry {
    uint64_t timestamp = 0;
    std::string file;
  };
  std::string folder_;
  std::map<std::string, Entry, std::less<>> files_;  // by "{escaped name}.{output}"
};

}  // namespace ulpscope
