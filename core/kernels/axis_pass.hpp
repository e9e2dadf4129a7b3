// Where in a tensor its errors are: the squared error and the nonfinite mismatches at each index of each
// dimension. Run over single pairs that somebody asks about, because it costs more than the fused pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "kernels/pair_plan.hpp"

namespace ulpscope {

// One dimension. Both have an entry for each index; they are empty where the extent is above kMaxExtent.
struct AxisErrors {
  static constexpr int64_t kMaxExtent = 1 << 16;

  std::vector<double> squared_error;  // of the finite pairs
  std::vector<int64_t> mismatches;    // NaN or infinity on one side only, or unequal ones
};

class AxisPass {
 public:
  // unsupported: a packed or opaque type, as for PairKernel. shape: of both sides, in elements.
  static Result<AxisPass> choose(DType target, DType golden, std::span<const int64_t> shape);
  // Adds count elements; calls go through the tensor in order.
  void run(const std::byte* target, const std::byte* golden, int64_t count);
  // One for each dimension of the shape.
  const std::vector<AxisErrors>& axes() const { return axes_; }

 private:
  AxisPass(const PairPlan& plan, std::span<const int64_t> shape);
  void add(double squared_error, int64_t mismatches);
  void next_row();

  PairPlan plan_;
  std::vector<int64_t> shape_, place_;  // place_: of the next element
  std::vector<AxisErrors> axes_;
  double row_error_ = 0;        // along the last dimension, not yet given to the others
  int64_t row_mismatches_ = 0;  // likewise
};

}  // namespace ulpscope
