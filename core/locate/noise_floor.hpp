// How far two runs of the golden side are apart, row by row: what the target may differ by without being at
// fault. From a second golden run that was measured against the first one.
#pragma once

#include <vector>

#include "base/thread_pool.hpp"
#include "locate/op_error.hpp"

namespace ulpscope {

// The errors of the second golden run by item of the first one (RowError::comparable false: unknown).
using NoiseFloor = std::vector<RowError>;

// twins: target is the second golden run, golden the first; measured.
NoiseFloor noise_floor(const ResultTable& twins, ThreadPool& pool);

// Sets RowError::over_noise of every row of table whose golden item has a noise.
void apply_noise(const ResultTable& table, const NoiseFloor& noise, std::vector<RowError>& rows);

}  // namespace ulpscope
