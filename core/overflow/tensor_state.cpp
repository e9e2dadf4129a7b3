#include "overflow/tensor_state.hpp"

#include <atomic>
#include <cmath>
#include <ulpscope/elementwise.hpp>

#include "base/text.hpp"
#include "index/tensor_data.hpp"
#include "tensors/statistics.hpp"

namespace ulpscope {
namespace {

// From here on a number rounds to infinity in float16.
constexpr double kFloat16Overflow = 65520;

void note_extreme(TensorState& state, DType dtype, double value) {
  state.nan |= std::isnan(value);
  state.positive_inf |= std::isinf(value) && value > 0;
  state.negative_inf |= std::isinf(value) && value < 0;
  state.limit |=
      dtype == DType::f16 && std::fabs(value) >= kFloat16Limit && std::fabs(value) < kFloat16Overflow;
}

Result<TensorState> state_of_data(const DumpIndex& index, TensorId tensor, const Cancel& cancel,
                                  Diagnostics& diagnostics) {
  const DType dtype = index.tensors()[tensor].dtype;
  ULPSCOPE_ASSIGN(TensorData data, TensorData::open(index, tensor));
  ULPSCOPE_ASSIGN(const TensorStatistics found, read_statistics(data, dtype, cancel));
  if (found.crc_right == false)
    diagnostics.add({Severity::warning, Code::format,
                     std::string(index.text(index.ops()[index.tensors()[tensor].op].name)),
                     std::string(kWrongCrc32)});
  TensorState state;
  state.known = true;
  if (found.finite > 0) {
    note_extreme(state, dtype, found.max);
    note_extreme(state, dtype, found.min);
  }
  state.nan = found.nan_count > 0;
  state.positive_inf = found.positive_inf > 0;
  state.negative_inf = found.negative_inf > 0;
  return state;
}

}  // namespace

bool may_overflow(DType dtype) { return dtype == DType::none || is_floating(dtype) || is_complex(dtype); }

TensorState state_of_statistics(DType dtype, const ulpscope_stats& stats) {
  TensorState state;
  if (!may_overflow(dtype)) {
    state.known = true;
    return state;
  }
  const bool has_max = (stats.present & ULPSCOPE_STAT_MAX) != 0,
             has_min = (stats.present & ULPSCOPE_STAT_MIN) != 0;
  if (has_max) note_extreme(state, dtype, stats.max);
  if (has_min) note_extreme(state, dtype, stats.min);
  state.known = has_max && has_min;
  if (state.bad()) {
    state.known = true;
    return state;
  }
  // A mean or norm that is not finite beside finite extremes is an overflow of the statistic, not of the
  // data.
  const bool mean = (stats.present & ULPSCOPE_STAT_MEAN) != 0 && !std::isfinite(stats.mean);
  const bool norm = (stats.present & ULPSCOPE_STAT_L2) != 0 && !std::isfinite(stats.l2norm);
  state.only_mean_or_norm = mean || norm;
  return state;
}

TensorState state_of_value(std::string_view text) {
  TensorState state;
  state.known = true;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  const auto value = parse_double(text);
  if (value) note_extreme(state, DType::f16, *value);
  return state;
}

std::vector<TensorState> tensor_states(const DumpIndex& index, ThreadPool& pool, const Cancel& cancel,
                                       Diagnostics& diagnostics, StateCounts& counts) {
  std::vector<TensorState> states(index.tensors().size());
  std::vector<TensorId> to_read;
  for (size_t i = 0; i < states.size(); ++i) {
    const TensorRow& tensor = index.tensors()[i];
    states[i] = state_of_statistics(tensor.dtype, tensor.stats);
    if (states[i].known) {
      ++(may_overflow(tensor.dtype) ? counts.from_statistics : counts.exact);
      // Statistics beside data that is lost are an answer, and not all that the dump should hold.
      if (tensor.absent == ULPSCOPE_ABSENT_BAD) ++counts.unreadable;
    } else if (tensor.data_kind != ULPSCOPE_DATA_NONE && is_widenable(tensor.dtype)) {
      to_read.push_back(static_cast<TensorId>(i));
    } else {
      ++(tensor.absent == ULPSCOPE_ABSENT_BAD ? counts.unreadable : counts.unknown);
    }
  }
  std::atomic<int64_t> unreadable{0};
  pool.parallel_for(static_cast<int64_t>(to_read.size()), [&](int64_t i, int /*worker*/) {
    if (cancel.requested()) return;
    const TensorId tensor = to_read[static_cast<size_t>(i)];
    auto state = state_of_data(index, tensor, cancel, diagnostics);
    if (state.ok()) {
      states[tensor] = *state;
      return;
    }
    if (state.error().code == Code::cancelled) return;
    ++unreadable;
    diagnostics.add(Severity::error, state.error(), index.text(index.ops()[index.tensors()[tensor].op].name));
  });
  counts.unreadable += unreadable;
  counts.from_data = static_cast<int64_t>(to_read.size()) - unreadable;
  return states;
}

}  // namespace ulpscope
