// The general metrics of a pair, made of its sums. Each is absent when it does not exist for the pair or was
// not measured: no number stands for "none". Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/pair_kernels.hpp"

namespace ulpscope {

using Metric = std::optional<double>;

// Over the numbers finite on both sides; absent when there is none.
Metric max_abs_err(const PairSums& sums);
Metric mean_abs_err(const PairSums& sums);
Metric rmse(const PairSums& sums);
Metric euclidean(const PairSums& sums);  // |t - g|2
// |t - g|2 / |g|2; |t - g|2 where golden is all zero.
Metric rel_l2(const PairSums& sums);
// t·g / (|t|2 |g|2), between -1 and 1. Two zero tensors: 1. One of them zero: absent.
Metric cosine(const PairSums& sums);
// 10 log10(|g|2² / |t - g|2²); infinite where nothing differs, absent where golden is all zero.
Metric snr_db(const PairSums& sums);

// Over the finite pairs with golden not 0; absent when there is none, or without kGroupRelative.
Metric max_rel_err(const PairSums& sums);
Metric mean_rel_err(const PairSums& sums);
// Share of all numbers with a relative error below kWithinLimits[limit]; absent when no pair is finite. 0 and
// 3 are absent without kGroupRelative.
Metric within(const PairSums& sums, int limit);

// Absent without kGroupUlp, where the target is no floating type, and when no pair is finite.
Metric max_ulp(const PairSums& sums);
Metric mean_ulp(const PairSums& sums);
Metric ulp_over_threshold_rate(const PairSums& sums);

// Statistics of a side over its finite numbers; absent when there is none.
Metric max(const SideSums& side);
Metric min(const SideSums& side);
Metric mean(const SideSums& side);
Metric l2norm(const SideSums& side);
int64_t inf_count(const SideSums& side);

// max |t - g| divided by the root mean square of golden; max |t - g| where golden is all zero. Sees one wrong
// element in a million. Absent when no pair is finite.
Metric worst(const PairSums& sums);

}  // namespace ulpscope
