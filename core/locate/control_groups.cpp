#include "locate/control_groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace ulpscope {
namespace {

// Turns a median absolute deviation into a standard deviation for normal data.
constexpr double kMadToDeviation = 1.4826;
constexpr double kSumRoundoff = 0x1p-24;
// Members that an op is held against at most: those next to it.
constexpr size_t kMaxMembers = 32;

// Sorts values in part.
double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// The value that a tenth of the others exceed. Sorts values in part.
double upper_tenth_of(std::vector<double>& values) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 9 / 10);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// log2(1 + amplification) of factor times the amplification that bits stand for, and of factor / 4 at least.
double beyond(double bits, double factor) {
  constexpr double kLeastAmplification = 0.25;
  return std::log2(1 + factor * std::max(std::exp2(bits) - 1, kLeastAmplification));
}

bool measurable(const OpError& op) {
  return op.differing_outputs > 0 && std::isfinite(op.out) && std::isfinite(op.in) && op.out > 0 &&
         op.roundoff > 0 && !op.gradients;
}

const OpRow& op_of(const ResultTable& table, const OpError& op) {
  return table.target->ops()[table.pairs.ops[op.op_pair].target];
}

// How far, in log2, the amplification of n elements lies off by chance: the norms of the error and of the
// result each scatter by 1 / sqrt(2 n). Statistics have wider limits already.
double chance_bits(const ResultTable& table, const OpError& op) {
  constexpr double kDeviations = 3;
  constexpr double kBitsOfE = 1.4427;  // log2(e)
  if (op.statistics || op.worst_output_row < 0) return 0;
  const ItemId item = table.rows[static_cast<size_t>(op.worst_output_row)].pair.target;
  const TensorId tensor = table.target->items()[item].tensor;
  const auto count = static_cast<double>(std::max<int64_t>(table.target->element_count(tensor), 1));
  return kDeviations * kBitsOfE / std::sqrt(count);
}

// What the class of a group says of amplifications, in log2: ordinary up to the first; where the second is
// finite an outlier is what is so far above the median.
struct Bounds {
  double usual_bits = 0, distant_bits = std::numeric_limits<double>::infinity();
  bool mixed = false;  // of several types: they may scatter by nature
};

// An op against the others of its group, without those behind it in its own step and rank: were it at fault,
// they would carry its error. (A group with a limit of its own has few members, and needs those too.) group:
// the amplifications of its members. chance: what few elements scatter. bits: room that is used again.
GroupStanding stand(const std::vector<double>& group, size_t self, size_t block_end, bool statistics,
                    double chance, const Bounds& bounds, const Priors& priors, std::vector<double>& bits) {
  bits.clear();
  for (size_t m = self > kMaxMembers ? self - kMaxMembers : 0; m < self; ++m) bits.push_back(group[m]);
  const size_t next = std::isfinite(bounds.distant_bits) ? self + 1 : block_end;
  for (size_t m = next; m < group.size() && m < next + kMaxMembers; ++m) bits.push_back(group[m]);
  GroupStanding standing;
  standing.bits = group[self];
  standing.members = static_cast<int64_t>(bits.size());
  if (bits.empty()) return standing;
  standing.median = median_of(bits);
  const double large = std::max(upper_tenth_of(bits), 0.0);
  for (double& b : bits) b = std::fabs(b - standing.median);
  standing.deviation = kMadToDeviation * median_of(bits);
  const auto size = static_cast<int>(bits.size());
  standing.known = size >= priors.small_group_size;
  const double usual_least = statistics ? priors.statistics_bits : priors.outlier_bits;
  const double least = size >= priors.group_size ? usual_least : priors.small_group_bits;
  double scatter = priors.outlier_deviations * standing.deviation;
  // The deviation of small amplifications says little of large ones where bits count from 1.
  if (statistics && size >= priors.group_size)
    scatter = std::min(scatter, beyond(large, priors.statistics_factor) - standing.median);
  double distance = std::max(least, scatter) + chance;
  // What a class allows was seen of calls of every size: chance is part of it.
  if (standing.known && std::isfinite(bounds.distant_bits))
    distance = bounds.mixed ? std::max({bounds.distant_bits, usual_least, scatter}) + chance
                            : std::max(bounds.distant_bits, usual_least + chance);
  const double limit = standing.median + distance;
  standing.excess = standing.bits - std::max(limit, bounds.usual_bits);
  standing.suspicious = standing.known && standing.bits - standing.median > (limit - standing.median) / 2;
  return standing;
}

// Types with too few calls for a group (the last product of a model) are held against all calls of their
// class, and only distant outliers count. Not by statistics, which scatter more.
void judge_rare_types(const ResultTable& table, const std::vector<OpError>& ops,
                      const std::map<TextId, const OpClass*>& classes, const Priors& priors,
                      std::vector<GroupStanding>& standings) {
  const auto class_of = [&](size_t op) { return classes.at(op_of(table, ops[op]).type); };
  const auto in_group = [&](size_t op) {
    return measurable(ops[op]) && !ops[op].statistics && class_of(op) != nullptr;
  };
  std::map<std::pair<const OpClass*, double>, std::vector<size_t>> rare;
  for (size_t i = 0; i < ops.size(); ++i)
    if (in_group(i) && !standings[i].known) rare[{class_of(i), ops[i].roundoff}].push_back(i);
  for (const auto& [key, few] : rare) {
    std::vector<size_t> members;
    std::vector<double> amplifications, room;
    std::map<TextId, int> of_type;
    for (size_t i = 0; i < ops.size(); ++i) {
      if (!in_group(i) || class_of(i) != key.first || ops[i].roundoff != key.second) continue;
      members.push_back(i);
      ++of_type[op_of(table, ops[i]).type];
      amplifications.push_back(amplification_bits(ops[i]));
    }
    if (static_cast<int>(members.size()) <= priors.small_group_size) continue;
    for (const size_t op : few) {
      // The calls of its own type may all stand behind it: then they are a small group like any other.
      const int alike = of_type[op_of(table, ops[op]).type];
      const Bounds bounds = {std::max(key.first->usual_bits, priors.ordinary_bits),
                             alike > priors.group_size ? priors.small_group_bits : priors.rare_type_bits,
                             true};
      const auto self = std::lower_bound(members.begin(), members.end(), op) - members.begin();
      standings[op] = stand(amplifications, static_cast<size_t>(self), 0, false, chance_bits(table, ops[op]),
                            bounds, priors, room);
    }
  }
}

}  // namespace

double amplification_bits(const OpError& op) {
  const double amplification =
      op.out / (std::max(op.in, op.saved) + op.roundoff + kSumRoundoff * std::sqrt(op.reduction));
  return std::log2(op.statistics ? 1 + amplification : amplification);
}

double amplification_of(double bits, const OpError& op) { return std::exp2(bits) - (op.statistics ? 1 : 0); }

std::vector<GroupStanding> control_groups(const ResultTable& table, const std::vector<OpError>& ops,
                                          const Priors& priors, ThreadPool& pool) {
  // Op type, or class where that is one group; and the coarsest roundoff.
  using Key = std::tuple<TextId, const OpClass*, double>;
  std::map<Key, std::vector<size_t>> by_key;
  std::map<TextId, const OpClass*> classes;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!measurable(ops[i])) continue;
    const TextId type = op_of(table, ops[i]).type;
    const auto [found, fresh] = classes.try_emplace(type, nullptr);
    if (fresh) found->second = priors.class_of(table.target->text(type));
    const bool pooled = found->second != nullptr && std::isfinite(found->second->distant_bits);
    by_key[{pooled ? 0 : type, pooled ? found->second : nullptr, ops[i].roundoff}].push_back(i);
  }
  std::vector<const std::vector<size_t>*> groups;
  groups.reserve(by_key.size());
  for (const auto& [key, members] : by_key) groups.push_back(&members);
  std::vector<GroupStanding> standings(ops.size());
  const auto same_block = [&](size_t a, size_t b) {
    const OpRow &x = op_of(table, ops[a]), &y = op_of(table, ops[b]);
    return x.step == y.step && x.rank == y.rank;
  };
  pool.parallel_for(static_cast<int64_t>(groups.size()), [&](int64_t group, int) {
    const std::vector<size_t>& members = *groups[static_cast<size_t>(group)];
    const OpClass* known = classes.at(op_of(table, ops[members.front()]).type);
    Bounds bounds;
    bounds.usual_bits = priors.ordinary_bits;
    if (known != nullptr)
      bounds = {std::max(known->usual_bits, priors.ordinary_bits), known->distant_bits, false};
    std::vector<double> amplifications, room;
    amplifications.reserve(members.size());
    for (const size_t member : members) amplifications.push_back(amplification_bits(ops[member]));
    size_t block_end = 0;
    for (size_t m = 0; m < members.size(); ++m) {
      while (block_end < members.size() && (block_end <= m || same_block(members[m], members[block_end])))
        ++block_end;
      standings[members[m]] = stand(amplifications, m, block_end, ops[members[m]].statistics,
                                    chance_bits(table, ops[members[m]]), bounds, priors, room);
    }
  });
  judge_rare_types(table, ops, classes, priors, standings);
  return standings;
}

}  // namespace ulpscope
