#include "report/api_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ulpscope {
namespace {

size_t place(Verdict verdict) { return static_cast<size_t>(verdict) & 3; }

// How far a number is from what a right output has; of a comparison the ratio counts, where it has one.
double distance(const ApiMetric& metric) {
  const std::optional<double> value = metric.ratio ? metric.ratio : metric.value;
  if (!value || std::isnan(*value)) return std::numeric_limits<double>::infinity();
  const bool one_is_right = metric.name == "cosine" || metric.name.starts_with("ratio_within");
  return one_is_right ? 1 - *value : std::fabs(*value);
}

// Numbers that say most of an output, where a file does not say which of them failed.
int weight(std::string_view name) {
  constexpr std::string_view kOrder[] = {"max_abs_error", "max_relative_error", "cosine"};
  int found = 0;
  for (int i = 0; i < 3; ++i)
    if (kOrder[i] == name) found = i + 1;
  return found;
}

// message: of the output; a number that it names is the one that decided.
bool says_more(const ApiMetric& a, const ApiMetric& b, std::string_view message) {
  const auto is_named = [&](const ApiMetric& m) { return message.find(m.name) != std::string_view::npos; };
  if (!a.verdict && is_named(a) != is_named(b)) return is_named(a);
  const auto verdict = [](const ApiMetric& m) { return m.verdict.value_or(Verdict::skip); };
  if (verdict(a) != verdict(b)) return verdict(a) > verdict(b);
  if (a.verdict) return distance(a) > distance(b);
  return weight(a.name) > weight(b.name);
}

ApiSample sample_of(const ApiCall& call, const ApiOutput& output) {
  ApiSample sample;
  const OutputNameParts at = output_place(call.api, output.name);
  sample.api = call.api;
  sample.direction = at.direction;
  sample.output = at.output;
  sample.algorithm = output.algorithm;
  sample.dtype = output.device_dtype;
  sample.shape = output.shape;
  sample.message = output.message.empty() ? call.message : output.message;
  const ApiMetric* chosen = nullptr;
  for (const ApiMetric& metric : output.metrics)
    if (chosen == nullptr || says_more(metric, *chosen, output.message)) chosen = &metric;
  // An output without numbers has another shape or type, which nothing is worse than.
  sample.badness = std::numeric_limits<double>::infinity();
  if (chosen != nullptr) {
    sample.metric = chosen->name;
    sample.value = chosen->value;
    sample.reference = chosen->reference;
    sample.ratio = chosen->ratio;
    sample.badness = distance(*chosen);
  }
  return sample;
}

}  // namespace

std::string_view api_kind(std::string_view api) {
  const size_t dot = api.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == api.size()) return api;
  const std::string_view last = api.substr(dot + 1);
  const bool is_number = std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? api.substr(0, dot) : api;
}

OutputNameParts output_place(std::string_view api, std::string_view name) {
  if (!name.starts_with(api) || name.size() <= api.size() || name[api.size()] != '.') return {{}, name};
  const std::string_view rest = name.substr(api.size() + 1);
  for (const std::string_view direction : {"forward", "backward"})
    if (rest.starts_with(direction) && rest.size() > direction.size() && rest[direction.size()] == '.')
      return {direction, rest.substr(direction.size() + 1)};
  return {{}, name};
}

void ApiStatistics::add(const ApiCall& call) {
  const Verdict verdict = call.verdict();
  verdicts_.push_back(verdict);
  rows_.push_back(static_cast<uint32_t>(std::max<size_t>(1, call.outputs.size())));
  const std::string_view kind = api_kind(call.api);
  auto found = groups_.find(kind);
  if (found == groups_.end()) {
    const std::string name(groups_.size() < kMostGroups ? kind : std::string_view("…"));
    found = groups_.try_emplace(name).first;
    found->second.name = name;
  }
  ApiGroup& group = found->second;
  ++group.calls;
  group.error += verdict == Verdict::fail ? 1 : 0;
  group.warning += verdict == Verdict::warning ? 1 : 0;
  add_outputs(call, group);
  if (verdict != Verdict::skip) return;
  std::string reason(call.message);
  if (reason.empty() && !call.outputs.empty()) reason = call.outputs.front().message;
  if (reasons_.size() >= kMostReasons && reasons_.count(reason) == 0) reason.clear();
  ++reasons_[reason];
}

void ApiStatistics::add_outputs(const ApiCall& call, ApiGroup& group) {
  const Verdict worst = group.error > 0 ? Verdict::fail : Verdict::warning;
  // The first error makes every sample that only had a warning void.
  if (group.error == 1 && call.verdict() == Verdict::fail) group.sample = {};
  for (const ApiOutput& output : call.outputs) {
    if (judgements_.size() < kMostJudgements || judgements_.count(output.algorithm) > 0)
      ++judgements_[std::string(output.algorithm)][place(output.verdict)];
    if (output.verdict != worst) continue;
    ApiSample sample = sample_of(call, output);
    if (sample.badness > group.sample.badness) group.sample = std::move(sample);
  }
  // A status without an output of it: the call alone says why.
  if (group.sample.badness < 0 && call.verdict() == worst) {
    group.sample.api = call.api;
    group.sample.message = call.message;
  }
}

std::vector<const ApiGroup*> ApiStatistics::bad_groups() const {
  std::vector<const ApiGroup*> found;
  for (const auto& [name, group] : groups_)
    if (group.error + group.warning > 0) found.push_back(&group);
  std::stable_sort(found.begin(), found.end(), [](const ApiGroup* a, const ApiGroup* b) {
    return a->error != b->error ? a->error > b->error : a->warning > b->warning;
  });
  return found;
}

}  // namespace ulpscope
