// One entry of a dump.json as records: its tensors in the order of the dump and its argument tree. Used by
// the scan of framework dumps only; opens no file and emits nothing.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/framework_dump_key.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {

// A tensor leaf. data_name is the file as the dump names it; empty: no file.
struct EntryTensor {
  Role role = Role::input;
  std::string path, data_name, digest;
  std::string dtype_text;  // as the dump names it
  DType dtype = DType::none;
  Shape shape;
  ulpscope_stats stats = {};
  uint32_t flags = 0;
  std::string fault;               // why the record is unusable; empty: it is not
  bool has_bad_data_name = false;  // a data_name that is no text, or empty
  bool foreign = false;            // of an element type that no comparison knows (a numpy array of texts)
};

// Oddities that are reported once a file, with their number.
struct EntryOddities {
  int64_t repeated_members = 0;  // the last one counts
  int64_t out_of_range = 0;      // numbers that became infinite
  int64_t placeholders = 0;      // leaves whose numbers a crashed writer left unfilled
  int64_t unknown_sections = 0;  // members of an entry that are no section
  int64_t unknown_digests = 0;   // "md5" members of no known form
  int64_t bad_statistics = 0;    // Max, Min, Mean or Norm that are no numbers
};

// Reads entries one after the other into memory that is reused. One thread at a time.
class EntryReader {
 public:
  // Reads the entry on the tape, which must not be empty, under the rules of the key's form. Never fails:
  // what is unusable stands in the fault of a tensor, or is counted in oddities.
  void read(const JsonTape& tape, const DumpKey& key);

  // Of the last entry; in the order of the dump.
  size_t tensor_count() const { return tensor_count_; }
  const EntryTensor& tensor(size_t index) const { return tensors_[index]; }
  // The argument tree: {"input": […], "kwarg": {…}, "output": […], "parameter": {…}, "gradient": {…}} with
  // those sections that the entry has, shaped as in the dump. A tensor is {"tensor": n}, n counting from 0 in
  // the order above; everything else is as in the dump, except that NaN, Infinity and numbers beyond double
  // are the texts "NaN", "Infinity" and
  // "-Infinity". Empty when the sections hold tensors only, none nested: then the tensors tell the same.
  const std::string& attributes() const { return attributes_; }
  // The same tree, also when attributes() leaves it out.
  const std::string& tree() const { return tree_; }

  // For entries that were kept: what it then answers for. add_tensor gives one with the texts, shape and
  // numbers of an earlier entry in it.
  void clear();
  EntryTensor& add_tensor();
  void set_attributes(std::string_view attributes) { attributes_ = attributes; }

  // Of all entries read since they were cleared.
  const EntryOddities& oddities() const { return oddities_; }
  void clear_oddities() { oddities_ = {}; }

 private:
  void section(std::string_view word, Role role, uint32_t node);
  void gradients(uint32_t node);
  void value(uint32_t node, size_t depth);
  void members(uint32_t node, size_t depth);
  void elements(uint32_t node, size_t depth);
  void descend(std::string_view part, uint32_t node, size_t depth);
  void verbatim(uint32_t node);
  bool is_repeated(uint32_t object, uint32_t member) const;
  bool is_tensor(uint32_t node, std::string_view type) const;
  void tensor_leaf(uint32_t node);
  unsigned leaf_member(EntryTensor& tensor, std::string_view name, uint32_t node);
  // Each reads one member of a tensor and answers its bit.
  unsigned shape(EntryTensor& tensor, uint32_t node);
  unsigned dtype(EntryTensor& tensor, uint32_t node);
  unsigned requires_grad(EntryTensor& tensor, uint32_t node);
  unsigned data_name(EntryTensor& tensor, uint32_t node);
  unsigned statistic(EntryTensor& tensor, uint32_t bit, double& value, uint32_t node);
  unsigned digest(EntryTensor& tensor, uint32_t node);
  double number(uint32_t node);

  const JsonTape* tape_ = nullptr;
  Role role_ = Role::input;
  std::string path_, tree_, attributes_;
  bool needs_tree_ = false;
  std::vector<EntryTensor>
      tensors_;  // only the first tensor_count_ are of this entry; the rest keeps its memory
  size_t tensor_count_ = 0;
  EntryOddities oddities_;
};

// The element type of a dump's name for it: "torch.float16", "Float16", "float32", "bool_",
// "torch_npu.HiFloat8Tensor", "torch.quint8" (its integers); none for any other.
DType framework_dtype(std::string_view name);

}  // namespace ulpscope
