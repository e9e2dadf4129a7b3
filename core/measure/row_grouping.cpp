#include "measure/row_grouping.hpp"

namespace ulpscope {

size_t JudgementGroup::metric_count() const {
  size_t count = 0;
  for (const JudgementHandle* member : members) count += member->desc().metric_count;
  return count;
}

PairRecord::PairRecord(const DumpIndex& index, ItemId item, DType actual, DType golden,
                       std::span<const int64_t> shape, int64_t count) {
  const ItemRow& row = index.items()[item];
  const OpRow& record = index.ops()[row.op];
  op.struct_size = sizeof op;
  op.kind = static_cast<int32_t>(record.kind);
  op.phase = static_cast<int32_t>(record.phase);
  op.step = record.step;
  op.rank = record.rank;
  op.call = record.call;
  op.parent = record.parent;
  op.token = record.token;
  op.name = to_str(index.text(record.name));
  op.type = to_str(index.text(record.type));
  op.stack = to_str(index.text(record.stack));
  op.attributes_json = to_str(index.text(record.attributes));
  op.originals = to_str(index.text(record.originals));
  pair.struct_size = sizeof pair;
  pair.dim_count = static_cast<uint32_t>(shape.size());
  pair.dims = shape.data();
  pair.op = &op;
  pair.role = static_cast<int32_t>(row.role);
  pair.actual_dtype = static_cast<int32_t>(actual);
  pair.golden_dtype = static_cast<int32_t>(golden);
  pair.path = to_str(index.text(row.path));
  pair.count = static_cast<uint64_t>(count);
}

}  // namespace ulpscope
