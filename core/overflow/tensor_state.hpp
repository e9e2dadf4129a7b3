// What is known of one tensor with regard to NaN and infinity: from recorded statistics where they say
// enough, from the data otherwise. Used by the search for the first overflow.
#pragma once

#include <ulpscope/types.hpp>

#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/thread_pool.hpp"
#include "index/dump_index.hpp"

namespace ulpscope {

// Largest finite float16: accelerators that saturate write it in place of infinity.
constexpr double kFloat16Limit = 65504;

struct TensorState {
  bool known = false;  // statistics or data were there, or the dtype has no such values
  bool nan = false;
  bool positive_inf = false, negative_inf = false;
  bool only_mean_or_norm = false;  // NaN or infinity in the recorded mean or norm only: the data is finite
  bool limit = false;              // float16 at ±65504

  bool inf() const { return positive_inf || negative_inf; }
  bool bad() const { return nan || inf(); }
  // Only minus infinity: what masks are made of.
  bool like_mask() const { return negative_inf && !positive_inf && !nan; }
};

// Whether elements of this type can be NaN or infinite; where the dump names no type they may be.
bool may_overflow(DType dtype);

// The state that recorded statistics prove; known is false where they do not say. Pure.
TensorState state_of_statistics(DType dtype, const ulpscope_stats& stats);

// What an argument that is not a tensor holds: NaN, an infinity, the float16 limit. text is its JSON. Pure.
TensorState state_of_value(std::string_view text);

// What was read, for the summary.
struct StateCounts {
  int64_t from_statistics = 0, from_data = 0, unknown = 0, unreadable = 0;
  int64_t exact = 0;  // of integer and bool types, which cannot hold NaN or infinity: nothing was looked at
};

// The states of all tensors of the dump, by TensorId. Data is read, by the workers, only where the statistics
// do not say. Unreadable data is diagnosed and counted.
std::vector<TensorState> tensor_states(const DumpIndex& index, ThreadPool& pool, const Cancel& cancel,
                                       Diagnostics& diagnostics, StateCounts& counts);

}  // namespace ulpscope
