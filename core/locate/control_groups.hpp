// Amplification of errors, op by op, against the calls of the same kind in the same run: a fault stands out
// of its own control group where no global limit could see it. Robust statistics (median and median absolute
// deviation).
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "locate/op_error.hpp"
#include "locate/priors.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// One op pair against its group. Amplification is e_out / (e_in + u + 2^-24 sqrt(K)), in log2: results are
// rounded once, and sums are kept in float32 or better. Differences of statistics may vanish by chance: there
// it is log2(1 + amplification).
struct GroupStanding {
  bool known = false;                // the group has enough members
  double bits = 0;                   // of this op
  double median = 0, deviation = 0;  // of its group; deviation: 1.4826 * median absolute deviation
  int64_t members = 0;
  // How far above the limit that median and deviation set, in bits; at most 0 for an ordinary member.
  double excess = 0;
  // Whether it stands out half as far as an outlier does: enough where something else is known against it.
  bool suspicious = false;
};

double amplification_bits(const OpError& op);
// The amplification that bits of such an op stand for.
double amplification_of(double bits, const OpError& op);

// One entry for each of ops, in order. Ops whose outputs are identical, unbounded or absent belong to no
// group.
std::vector<GroupStanding> control_groups(const ResultTable& table, const std::vector<OpError>& ops,
                                          const Priors& priors, ThreadPool& pool);

}  // namespace ulpscope
