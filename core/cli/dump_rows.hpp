// The rows of list: one an operation or one a tensor, as cells of text. The same cells go to the table, to
// CSV and to JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "index/dump_index.hpp"

namespace ulpscope {

// A column: its heading for people, its name for programs, and what its cells are.
struct RowColumn {
  std::string heading, name;
  bool number = false;   // aligned to the right; in JSON a number, null when empty
  bool in_table = true;  // otherwise in CSV and JSON only
};

// Where the bytes of a tensor lie: "step0/rank0/x.pt +704 200 B", the reason when there are none. Asks the
// source where it has to be asked, which may open the head of a file.
std::string place_text(const DumpIndex& index, TensorId tensor);

class OpRows {
 public:
  explicit OpRows(const DumpIndex& index) : index_(index) {}
  std::vector<RowColumn> columns() const;
  size_t size() const { return index_.ops().size(); }
  void cells(size_t row, std::vector<std::string>& out) const;

 private:
  const DumpIndex& index_;
};

class TensorRows {
 public:
  explicit TensorRows(const DumpIndex& index);
  std::vector<RowColumn> columns() const;
  size_t size() const { return items_.size(); }
  void cells(size_t row, std::vector<std::string>& out) const;

 private:
  const DumpIndex& index_;
  std::vector<ItemId> items_;  // those that are tensors, in order
};

}  // namespace ulpscope
