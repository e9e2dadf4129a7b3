// One round of an ATB dump as a tree of operations with their tensors: what the folders hold, and what the
// CSV table says besides. Opens no .bin file. Used by the source mindie_atb.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "formats/atb_statistics.hpp"

namespace ulpscope {

// A tensor of an operation.
struct AtbTensor {
  std::string file;           // relative to the round; empty: none there
  std::string label;          // parameter name
  bool is_link = false;       // a symbolic link
  std::string dtype, format;  // of the table's row, if has_row
  Shape shape;
  ulpscope_stats stats = {};
  bool has_row = false, names_file = false;
};

struct AtbTensorPlace {
  bool is_output = false;
  int64_t index = 0;
  auto operator<=>(const AtbTensorPlace&) const = default;
};

struct AtbOp {
  static constexpr uint32_t kNone = 0xffffffff;

  std::vector<int64_t> ids;  // from the layer down
  std::string path, type;    // "4_Prefill_layer/0_Attention", "Attention"; valid UTF-8
  uint32_t parent = kNone;
  std::vector<uint32_t> children;  // in order of ids, once the tree is sorted
  bool in_tree = false;            // has a folder
  std::string parameter_file;      // op_param.json, relative to the round; empty: none
  std::map<AtbTensorPlace, AtbTensor> tensors;
};

// Counts of what the table and the folders disagree in.
struct AtbTableNotes {
  int64_t rows = 0, repeated = 0, bad = 0, missing_files = 0, rowless_files = 0;
  std::string first_bad, first_missing;
};

// What is odd about a file or folder. is_lost: a part of the dump is not read because of it.
struct AtbOddity {
  std::string where, text;
  bool is_lost = false;
};

class AtbTree {
 public:
  // Reads the folders of root/relative. Odd names are told to oddities(). io: the folder cannot be listed.
  Status read_folders(const std::string& root, const std::string& relative);
  // Adds the rows of a table; operations and tensors that have no folder are added too.
  Status read_table(const File& file);

  // Operations and tensors of folders alone need no table: call after both. Sorts children by id.
  void finish();

  const std::vector<AtbOp>& ops() const { return ops_; }
  const std::vector<uint32_t>& layers() const { return layers_; }
  // The operation of an id text such as "4_0_0"; kNone when there is none.
  uint32_t find(std::string_view id_text) const;
  bool has_files() const { return has_files_; }
  bool has_table() const { return has_table_; }
  const AtbTableNotes& notes() const { return notes_; }
  const std::vector<AtbOddity>& oddities() const { return oddities_; }

 private:
  uint32_t add_op(uint32_t parent, int64_t id, std::string_view type);
  uint32_t find_or_add(std::string_view path);
  Status read_op(const std::string& folder, const std::string& relative, uint32_t op, int depth);
  void read_tensors(const std::string& folder, const std::string& relative, uint32_t op, bool after);
  void take_row(const AtbStatisticsRow& row);

  std::vector<AtbOp> ops_;
  std::vector<uint32_t> layers_;
  std::unordered_map<std::string, uint32_t> by_path_, by_ids_;
  bool has_files_ = false, has_table_ = false;
  AtbTableNotes notes_;
  std::vector<AtbOddity> oddities_;
};

}  // namespace ulpscope
