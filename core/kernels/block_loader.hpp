// Loads one block of a pair into doubles, and the exact differences where doubles would lose digits. Internal
// to core/kernels; shared by the fused pass and the detail pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/block_kernels.hpp"
#include "kernels/pair_plan.hpp"

namespace ulpscope {

struct BlockBuffers {
  alignas(64) double target[kBlockNumbers];
  alignas(64) double golden[kBlockNumbers];
  alignas(64) double difference[kBlockNumbers];  // |target - golden|; only if the plan is exact
};

// Rows that numbers fill, the last one perhaps in part.
constexpr int64_t rows_of(int64_t numbers) { return (numbers + kRowNumbers - 1) / kRowNumbers; }

// The same block as arrays of doubles. difference is null unless the plan is exact.
struct BlockArrays {
  const double* target = nullptr;
  const double* golden = nullptr;
  const double* difference = nullptr;

  double error(int64_t i) const;
};

// Widens numbers of both sides into buffers and fills the last row up with NaN on both sides. numbers is at
// most kBlockNumbers and a multiple of plan.parts.
BlockArrays load_block(const PairPlan& plan, const std::byte* target, const std::byte* golden,
                       int64_t numbers, BlockBuffers& buffers);

}  // namespace ulpscope
