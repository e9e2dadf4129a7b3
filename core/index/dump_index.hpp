// What a dump holds, as immutable tables in execution order: ops, their tensors, and their items. An item is
// what compare makes a row of: a tensor, or an argument that is not one. Built by scanning a source; opens no
// tensor data.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "index/interner.hpp"
#include "plugin/handles.hpp"

namespace ulpscope {

using OpId = uint32_t;      // row of DumpIndex::ops(); kNoIndex: none
using TensorId = uint32_t;  // row of DumpIndex::tensors(); kNoIndex: none
using ItemId = uint32_t;    // row of DumpIndex::items(); kNoIndex: none

struct OpRow {
  OpKind kind = OpKind::api;
  Phase phase = Phase::none;
  int32_t step = -1, rank = -1, token = -1;
  uint32_t call = 0;
  OpId parent = kNoIndex;
  TextId name = 0, type = 0, stack = 0, attributes = 0, originals = 0;
  ItemId first_item = 0;
  uint32_t item_count = 0;
};

struct TensorRow {
  OpId op = kNoIndex;
  Role role = Role::input;
  DType dtype = DType::none;
  int32_t absent = 0;  // 0 or ULPSCOPE_ABSENT_*
  uint32_t flags = 0;  // ULPSCOPE_GRAD_*
  TextId path = 0, digest = 0, link = 0, origin = 0, storage = 0;
  ShapeId shape = 0;
  int32_t data_kind = ULPSCOPE_DATA_NONE;
  TextId data_file = 0;
  uint64_t data_offset = 0, data_size = 0, data_token = 0;
  ulpscope_stats stats = {};
};

// One row of a comparison: a tensor (tensor != kNoIndex) or a value (type and value as the dump spells them).
struct ItemRow {
  OpId op = kNoIndex;
  TensorId tensor = kNoIndex;
  Role role = Role::input;
  TextId path = 0;
  TextId type = 0;   // values: "int", "str", "slice", "None", …
  TextId value = 0;  // values: JSON text, addresses (0x…) blanked
};

// The ops of one step on one rank, in execution order.
struct StepRank {
  int32_t step = -1, rank = -1;
  std::vector<OpId> ops;
};

// Which part of a dump to index; empty lists mean all. name_glob is matched against the op's full name.
struct ScanFilter {
  std::vector<int32_t> steps, ranks;
  std::string name_glob;
};

class DumpIndex {
 public:
  // Scans the source to its end. Records that the filter leaves out are not kept; a parent left out becomes
  // the nearest kept ancestor. Errors are those of the scan; what the source diagnoses goes to diagnostics.
  static Result<DumpIndex> build(SourceHandle source, const ScanFilter& filter, Diagnostics& diagnostics,
                                 const Cancel& cancel);

  std::span<const OpRow> ops() const { return ops_; }
  std::span<const TensorRow> tensors() const { return tensors_; }
  std::span<const ItemRow> items() const { return items_; }
  std::span<const ItemRow> items(OpId op) const {
    return std::span(items_).subspan(ops_[op].first_item, ops_[op].item_count);
  }
  // Sorted by step, then rank.
  std::span<const StepRank> groups() const { return groups_; }

  std::string_view text(TextId id) const { return texts_.text(id); }
  std::span<const int64_t> shape(ShapeId id) const { return shapes_.shape(id); }
  std::span<const int64_t> shape_of(TensorId tensor) const { return shapes_.shape(tensors_[tensor].shape); }
  // Product of the dimensions; -1 when it does not fit.
  int64_t element_count(TensorId tensor) const;
  // "input.0", "input.mask", "output.0.logits", "parameter.weight", "gradient.bias"; the role alone for an
  // empty path.
  std::string item_name(ItemId item) const;

  const SourceHandle& source() const { return source_; }
  std::string_view source_name() const { return source_.source_name(); }
  const std::string& path() const { return source_.path(); }
  // The folder that data file names are relative to.
  const std::string& root() const { return root_; }
  // "tensor", "statistics", "digest" or "structure": the best that any tensor offers.
  std::string_view task() const { return task_; }
  // "L0" modules only, "L1" APIs only, "mix" both, "layer", "kernel" or "" when there are no ops.
  std::string_view level() const { return level_; }

 private:
  friend class IndexBuilder;
  explicit DumpIndex(SourceHandle source);

  SourceHandle source_;
  std::string root_;
  std::string_view task_ = "structure", level_;
  TextPool texts_;
  ShapePool shapes_;
  std::vector<OpRow> ops_;
  std::vector<TensorRow> tensors_;
  std::vector<ItemRow> items_;
  std::vector<StepRank> groups_;
};

// "input", "output", …: the word that names start with; kwargs are inputs.
std::string_view role_word(Role role);

}  // namespace ulpscope
