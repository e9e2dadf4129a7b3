// The entries of one dump.json, read and not yet emitted: a file that breaks in its middle leaves no half of
// a dump behind, and parents and call numbers are known only when all keys are. Packed to about half of what
// an index takes for them. Used by the scan of framework dumps only.
#pragma once

#include <ulpscope/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/framework_dump_entry.hpp"
#include "formats/framework_dump_key.hpp"

namespace ulpscope {

// One thread at a time.
class KeptEntries {
 public:
  KeptEntries();
  // Keeps what the reader has just read.
  void add(const EntryReader& entry);
  // Keeps an entry that has no record, with the reason.
  void add_fault(std::string_view fault);

  size_t size() const { return entries_.size(); }
  // Why an entry has no record; empty where it has one.
  std::string_view fault(size_t index) const { return texts_.text(entries_[index].fault); }
  // Makes the reader answer as after reading the entry, but for tree(). index: of an entry with a record.
  void recall(size_t index, EntryReader& entry) const;

 private:
  using TextId = uint32_t;  // of texts_; 0 is the empty text
  struct Entry {
    uint32_t first_tensor = 0, tensor_count = 0;
    TextId attributes = 0, fault = 0;
  };
  struct Tensor {
    ulpscope_stats stats = {};
    TextId path = 0, data_name = 0, digest = 0, fault = 0;
    uint32_t flags = 0, first_dim = 0;
    uint8_t rank = 0;
    Role role = Role::input;
    DType dtype = DType::none;
    bool is_foreign = false;
  };

  TextId keep(std::string_view text) { return text.empty() ? 0 : texts_.add(text); }

  std::vector<Entry> entries_;
  std::vector<Tensor> tensors_;
  std::vector<int64_t> dims_;
  TextTable texts_;
};

}  // namespace ulpscope
