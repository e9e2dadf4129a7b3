// The tensor files of a framework dump, opened when somebody asks for their elements. Keeps the name, dtype
// and shape that dump.json states for each tensor; finds the elements, and settles a disagreement between the
// file and dump.json. Used by the sources of the family.
#pragma once

#include <ulpscope/plugin.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {

// As File::open_under. A file that only a link out of the dump keeps from being opened is refused with the
// option that opens it, where the source has that option.
Result<File> open_in_dump(const std::string& root, std::string_view name, bool follow_links,
                          bool has_link_option = true);

// Add while scanning, in one thread; locate and stream afterwards, from any thread.
class LateTensors {
 public:
  struct Options {
    bool follow_links = false;
    bool strict = false;
    bool has_link_option = true;  // of the source
  };

  LateTensors(Host host, std::string root, Options options)
      : host_(host), root_(std::move(root)), options_(options) {}

  // The token of a tensor that lies in folder/dump_tensor_data/data_name.
  uint64_t add(std::string_view folder, std::string_view data_name, DType dtype, const Shape& shape);
  // The token of the one tensor in root/file. An empty name stands for a tensor without elements that has no
  // file.
  uint64_t add_file(std::string_view file, DType dtype, const Shape& shape);

  // A byte range where the file holds the elements as they are, else a stream. Warns once about what is odd
  // with the file: its dtype or shape differs from the record's though the elements fit. Throws Failure: io,
  // the file cannot be read; format, it is damaged, lies outside the dump, or holds another number of
  // elements; unsupported.
  DataRef locate(uint64_t token);
  // The elements in the record's dtype. Throws as locate; reading throws format when an element does not fit
  // the record's dtype, and, with the option strict, when the file's checksum disagrees.
  std::unique_ptr<ByteStream> stream(uint64_t token);

 private:
  struct Slot {
    uint64_t name_begin = 0, dims_begin = 0;
    uint32_t name_size = 0, folder = 0;
    uint8_t dim_count = 0;
    DType dtype = DType::none;
  };
  struct Opened;

  bool is_empty(uint64_t token) const;
  Opened open(uint64_t token);
  void settle(const Opened& opened, uint64_t token);
  std::string file_name(const Slot& slot) const;
  void warn_once(uint64_t token, const std::string& text);

  Host host_;
  std::string root_;
  Options options_;
  std::vector<Slot> slots_;
  std::vector<std::string> folders_;
  std::string names_;
  std::vector<int64_t> dims_;
  std::mutex warned_mutex_;
  std::unordered_set<uint64_t> warned_;  // tokens whose oddities were told
};

// Whether elements of one type can be given as the other, element by element, where the values allow it: both
// are real floating types.
bool is_convertible(DType from, DType to);

}  // namespace ulpscope
