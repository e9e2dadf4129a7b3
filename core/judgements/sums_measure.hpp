// What the judgement plugins of this tree share: a Measure made of mergeable sums, the verdict of a row of
// metrics put together metric by metric, and the ratio between two devices. For plugin code.
#pragma once

#include <ulpscope/plugin.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ulpscope {

// Sums has consume(actual, golden) and merge(next); write puts its numbers into a measurement.
template <class Sums>
class SumsMeasure final : public Measure {
 public:
  using Write = void (*)(const Sums&, ulpscope_measurement&);
  SumsMeasure(Sums sums, Write write) : sums_(std::move(sums)), write_(write) {}

  void consume(const ulpscope_view& actual, const ulpscope_view& golden) override {
    sums_.consume(actual, golden);
  }
  void merge(const Measure& next_part) override {
    sums_.merge(static_cast<const SumsMeasure&>(next_part).sums_);
  }
  void finish(ulpscope_measurement& out) const override { write_(sums_, out); }

 private:
  Sums sums_;
  Write write_;
};

// Puts a verdict together: the overall one is the worst of what was said, a pass only if something was.
class VerdictBuilder {
 public:
  explicit VerdictBuilder(ulpscope_verdict& out);

  void set(uint32_t metric, int32_t verdict) { out_.per_metric[metric] = verdict; }
  // The metric decides: its verdict counts for the whole.
  void decide(uint32_t metric, int32_t verdict);
  // Only the whole.
  void decide(int32_t verdict);
  // Adds to the message; sentences are joined by "; " and cut where there is no more room.
  void say(std::string_view text);

 private:
  ulpscope_verdict& out_;
  size_t used_ = 0;
};

// One metric of two devices against each other.
enum class RatioKind : uint8_t {
  finite,        // value holds the ratio
  consistent,    // both NaN, or both the same infinity: as good as the other one
  inconsistent,  // one of them is not finite
};
struct MetricRatio {
  RatioKind kind = RatioKind::finite;
  double value = 0;  // |device| / max(|reference|, floor); NaN unless finite
};
MetricRatio metric_ratio(double device, double reference, double floor);

// Whether both types are real or complex floating types.
bool are_floating(const ulpscope_pair& pair, std::string& why_not);
// Whether elements of both types are numbers.
bool are_numbers(const ulpscope_pair& pair, std::string& why_not);

// Decides a rate: pass if it is at most limit (so that NaN fails). A missing one fails and says so.
void decide_rate(VerdictBuilder& verdict, const ulpscope_metric* metrics, uint32_t metric, const char* name,
                 double limit);

}  // namespace ulpscope
