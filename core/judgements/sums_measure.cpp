#include "judgements/sums_measure.hpp"

#include <ulpscope/elementwise.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.hpp"

namespace ulpscope {

VerdictBuilder::VerdictBuilder(ulpscope_verdict& out) : out_(out) {
  out_.overall = ULPSCOPE_SKIP;
  out_.message[0] = '\0';
}

void VerdictBuilder::decide(uint32_t metric, int32_t verdict) {
  set(metric, verdict);
  decide(verdict);
}

void VerdictBuilder::decide(int32_t verdict) { out_.overall = std::max(out_.overall, verdict); }

void VerdictBuilder::say(std::string_view text) {
  const std::string piece = (used_ == 0 ? "" : "; ") + std::string(text);
  if (used_ + piece.size() >= sizeof out_.message) return;
  std::memcpy(out_.message + used_, piece.data(), piece.size());
  used_ += piece.size();
  out_.message[used_] = '\0';
}

MetricRatio metric_ratio(double device, double reference, double floor) {
  if (device == 0 && std::isfinite(reference)) return {RatioKind::finite, 0};
  if (std::isfinite(device) && std::isfinite(reference))
    return {RatioKind::finite, std::fabs(device) / std::max(std::fabs(reference), floor)};
  const bool same = std::isnan(device) ? std::isnan(reference) : device == reference;
  return {same ? RatioKind::consistent : RatioKind::inconsistent, std::numeric_limits<double>::quiet_NaN()};
}

bool are_floating(const ulpscope_pair& pair, std::string& why_not) {
  for (const int32_t t : {pair.actual_dtype, pair.golden_dtype}) {
    const auto dtype = static_cast<DType>(t);
    if ((is_floating(dtype) || is_complex(dtype)) && is_widenable(dtype)) continue;
    why_not = std::string("elements of type ") + name(dtype) + " have no rounding error";
    return false;
  }
  return true;
}

bool are_numbers(const ulpscope_pair& pair, std::string& why_not) {
  for (const int32_t t : {pair.actual_dtype, pair.golden_dtype}) {
    if (is_widenable(static_cast<DType>(t))) continue;
    why_not = std::string("elements of type ") + name(static_cast<DType>(t)) + " are no numbers";
    return false;
  }
  return true;
}

void decide_rate(VerdictBuilder& verdict, const ulpscope_metric* metrics, uint32_t metric, const char* name,
                 double limit) {
  if (metrics[metric].available == 0) {
    verdict.decide(metric, ULPSCOPE_FAIL);
    verdict.say(std::string(name) + " is missing");
    return;
  }
  const double value = metrics[metric].value;
  const bool good = value <= limit;
  verdict.decide(metric, good ? ULPSCOPE_PASS : ULPSCOPE_FAIL);
  if (!good) verdict.say(std::string(name) + " " + number_text(value) + " > " + number_text(limit));
}

}  // namespace ulpscope
