// Which judgements of plugins measure a row beside the general metrics, as the measuring asks for it. Made by
// row_judge.hpp; consumed by measure() and its passes.
#pragma once

#include <ulpscope/abi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "index/dump_index.hpp"
#include "plugin/handles.hpp"

namespace ulpscope {

// Judgements that measure one pair together: one, unless several are forced.
struct JudgementGroup {
  std::vector<const JudgementHandle*> members;
  size_t metric_count() const;
};

// The records of a pair as a judgement sees them. They point into the index and the shape, which must outlive
// the object.
struct PairRecord {
  ulpscope_op_record op = {};
  ulpscope_pair pair = {};

  // The pair that item of index and shape belong to; dtypes of both sides.
  PairRecord(const DumpIndex& index, ItemId item, DType actual, DType golden, std::span<const int64_t> shape,
             int64_t count);
  PairRecord(const PairRecord&) = delete;
  PairRecord& operator=(const PairRecord&) = delete;
};

class RowGrouping {
 public:
  static constexpr int32_t kNone = -1;     // similarity alone
  static constexpr int32_t kIgnored = -2;  // the row is not measured at all

  virtual ~RowGrouping() = default;
  // The group of a row of the table that is being measured. usage: a judgement refuses its options. One
  // thread.
  virtual Result<int32_t> group_of(int64_t row, const PairRecord& record) = 0;
  // Stays as it is while nothing is asked.
  virtual const std::vector<JudgementGroup>& groups() const = 0;
};

}  // namespace ulpscope
