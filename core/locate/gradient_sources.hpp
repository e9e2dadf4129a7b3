// Which backward call a recorded gradient of parameters came from. Such records have no inputs, and the call
// gives the gradient transposed, so that equal content does not show it; the number of elements and what no
// transposition changes (norm, extremes) do. Used by the localisation.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "report/result_table.hpp"

namespace ulpscope {

class GradientSources {
 public:
  // Of nothing.
  GradientSources() = default;
  // table is measured.
  explicit GradientSources(const ResultTable& table);

  // Rows of the backward outputs of the same step and rank that the two sides of a gradient's row hold; -1:
  // there is none, as for a gradient that several calls added to.
  struct Source {
    int64_t target = -1, golden = -1;
  };
  Source of(int64_t row) const;

 private:
  // Step, rank, element count, logarithm of the norm.
  using Key = std::tuple<int32_t, int32_t, int64_t, int64_t>;

  int64_t find(bool target_side, int64_t row) const;

  const ResultTable* table_ = nullptr;
  std::array<std::map<Key, std::vector<int64_t>>, 2> outputs_;  // golden, target: rows in order
};

}  // namespace ulpscope
