#include "locate/control_groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ulpscope {
namespace {

// Turns a median absolute deviation into a standard deviation for normal data.
constexpr double kMadToDeviation = 1.4826;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

bool measurable(const OpError& op) {
  return op.differing_outputs > 0 && std::isfinite(op.out) && std::isfinite(op.in) && op.out > 0 &&
         op.roundoff > 0;
}

}  // namespace

double amplification_bits(const OpError& op) {
  return std::log2(op.out / (op.in + op.roundoff * std::sqrt(op.reduction)));
}

std::vector<GroupStanding> control_groups(const ResultTable& table, const std::vector<OpError>& ops,
                                          const Priors& priors) {
  using Key = std::pair<TextId, double>;  // op type, and its coarsest roundoff
  std::map<Key, std::vector<size_t>> groups;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!measurable(ops[i])) continue;
    const OpId op = table.pairs.ops[ops[i].op_pair].target;
    groups[{table.target->ops()[op].type, ops[i].roundoff}].push_back(i);
  }
  std::vector<GroupStanding> standings(ops.size());
  for (const auto& [key, members] : groups) {
    std::vector<double> bits;
    for (const size_t i : members) bits.push_back(amplification_bits(ops[i]));
    const double median = median_of(bits);
    std::vector<double> distances;
    for (const double b : bits) distances.push_back(std::fabs(b - median));
    const double deviation = kMadToDeviation * median_of(distances);
    const double limit = median + std::max(priors.outlier_bits, priors.outlier_deviations * deviation);
    for (size_t m = 0; m < members.size(); ++m)
      standings[members[m]] = {static_cast<int>(members.size()) >= priors.group_size,
                               bits[m],
                               median,
                               deviation,
                               static_cast<int64_t>(members.size()),
                               bits[m] - limit};
  }
  return standings;
}

}  // namespace ulpscope
