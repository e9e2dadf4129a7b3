#include "kernels/axis_pass.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/block_loader.hpp"

namespace ulpscope {
namespace {

bool is_mismatch(double target, double golden) {
  if (std::isfinite(target) && std::isfinite(golden)) return false;
  return std::isnan(target) ? !std::isnan(golden) : target != golden;
}

}  // namespace

Result<AxisPass> AxisPass::choose(DType target, DType golden, std::span<const int64_t> shape) {
  ULPSCOPE_ASSIGN(const PairPlan plan, make_pair_plan(target, golden, 0));
  return AxisPass(plan, shape);
}

AxisPass::AxisPass(const PairPlan& plan, std::span<const int64_t> shape)
    : plan_(plan), shape_(shape.begin(), shape.end()), place_(shape.size(), 0), axes_(shape.size()) {
  for (size_t axis = 0; axis < shape_.size(); ++axis) {
    if (shape_[axis] > AxisErrors::kMaxExtent) continue;
    axes_[axis].squared_error.resize(static_cast<size_t>(shape_[axis]));
    axes_[axis].mismatches.resize(static_cast<size_t>(shape_[axis]));
  }
}

void AxisPass::run(const std::byte* target, const std::byte* golden, int64_t count) {
  BlockBuffers buffers;
  const int64_t elements_in_block = kBlockNumbers / plan_.parts;
  const unsigned target_size = size_bytes(plan_.target), golden_size = size_bytes(plan_.golden);
  for (int64_t done = 0; done < count; done += elements_in_block) {
    const int64_t elements = std::min(elements_in_block, count - done);
    const BlockArrays block = load_block(plan_, target + done * target_size, golden + done * golden_size,
                                         elements * plan_.parts, buffers);
    for (int64_t element = 0; element < elements; ++element) {
      double squared = 0;
      int64_t mismatches = 0;
      for (int64_t i = element * plan_.parts; i < (element + 1) * plan_.parts; ++i) {
        if (is_mismatch(block.target[i], block.golden[i])) {
          ++mismatches;
        } else if (const double error = block.error(i); std::isfinite(error)) {
          squared += error * error;
        }
      }
      add(squared, mismatches);
    }
  }
}

// The last dimension is told of every element, the others once a row.
void AxisPass::add(double squared_error, int64_t mismatches) {
  if (place_.empty()) return;
  AxisErrors& last = axes_.back();
  const auto index = static_cast<size_t>(place_.back());
  if (!last.squared_error.empty()) {
    last.squared_error[index] += squared_error;
    last.mismatches[index] += mismatches;
  }
  row_error_ += squared_error;
  row_mismatches_ += mismatches;
  if (++place_.back() == shape_.back()) next_row();
}

void AxisPass::next_row() {
  for (size_t axis = 0; axis + 1 < shape_.size(); ++axis) {
    if (axes_[axis].squared_error.empty()) continue;
    const auto index = static_cast<size_t>(place_[axis]);
    axes_[axis].squared_error[index] += row_error_;
    axes_[axis].mismatches[index] += row_mismatches_;
  }
  row_error_ = 0;
  row_mismatches_ = 0;
  for (size_t axis = place_.size(); axis-- > 0;) {
    if (axis + 1 < place_.size()) ++place_[axis];
    if (place_[axis] < shape_[axis]) return;
    place_[axis] = 0;
  }
}

}  // namespace ulpscope
