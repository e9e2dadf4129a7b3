#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <latch>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "conformance/check.hpp"
#include "conformance/judgement_samples.hpp"
#include "conformance/quiet_watch.hpp"
#include "conformance/recorder.hpp"

namespace ulpscope {
namespace {

constexpr int kLimitSeconds = 60;
constexpr uint64_t kElements = 4096 * 3 + 1024 + 17;  // no multiple of a block or of any chunk

// Calls body(judgement, desc) for each judgement of the plugin, made with no options.
template <class F>
void for_judgements(const CheckSubject& subject, CheckFindings& report, F body) {
  const CheckHost host;
  for (const ulpscope_judgement_desc& desc : subject.tables->judgements) {
    report.set_component(desc.name);
    const auto judgement = JudgementHandle::create(desc, host.table(), "{}");
    if (!judgement.ok()) {
      report.error("cannot be made without options: " + judgement.error().message);
      continue;
    }
    body(*judgement, desc);
  }
}

bool takes(const JudgementHandle& judgement, const SamplePair& pair) {
  std::string ignored;
  const PairFacts facts(pair);
  return judgement.applies(facts.facts, ignored);
}

Result<Measurement> measure(const JudgementHandle& judgement, const SamplePair& pair, uint64_t chunk) {
  ULPSCOPE_ASSIGN(MeasureHandle whole, measure_part(judgement, pair, 0, pair.actual.count, chunk));
  return whole.finish();
}

Result<PairVerdict> judge(const JudgementHandle& judgement, const SamplePair& pair,
                          const std::vector<ulpscope_metric>& metrics) {
  const PairFacts facts(pair);
  const bool wants_reference = judgement.desc().needs_reference == 1;
  return judgement.judge(facts.facts, metrics, wants_reference ? metrics : std::vector<ulpscope_metric>{});
}

void check_edges(const CheckSubject& subject, CheckFindings& report) {
  for_judgements(subject, report, [&](const JudgementHandle& judgement, const ulpscope_judgement_desc&) {
    for (const SamplePair& pair : edge_pairs()) {
      if (!takes(judgement, pair)) continue;
      const auto measured = measure(judgement, pair, ULPSCOPE_BLOCK);
      if (!measured.ok()) {
        report.error(pair.what + ": measuring: " + measured.error().message);
        continue;
      }
      if (const auto verdict = judge(judgement, pair, measured->metrics); !verdict.ok())
        report.error(pair.what + ": judging: " + verdict.error().message);
    }
  });
}

// The types that the judgement takes, of those that the checks know.
std::vector<DType> types_of(const JudgementHandle& judgement) {
  std::vector<DType> types;
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i32})
    if (takes(judgement, noisy_pair(dtype, 4))) types.push_back(dtype);
  return types;
}

// The first metric that has other bits; empty when all are equal.
std::string other_bits(const ulpscope_judgement_desc& desc, const Measurement& a, const Measurement& b) {
  for (uint32_t i = 0; i < desc.metric_count; ++i) {
    const ulpscope_metric& x = a.metrics[i];
    const ulpscope_metric& y = b.metrics[i];
    if (x.available != y.available ||
        (x.available != 0 && std::memcmp(&x.value, &y.value, sizeof x.value) != 0))
      return fmt::format("{} is {} and {}", desc.metrics[i].name, x.value, y.value);
  }
  return {};
}

void check_chunks(const CheckSubject& subject, CheckFindings& report) {
  for_judgements(subject, report, [&](const JudgementHandle& judgement, const ulpscope_judgement_desc& desc) {
    for (const DType dtype : types_of(judgement)) {
      const SamplePair pair = noisy_pair(dtype, kElements);
      const auto whole = measure(judgement, pair, kElements);
      for (const uint64_t chunk : {uint64_t{1024}, uint64_t{4096}}) {
        const auto cut = measure(judgement, pair, chunk);
        if (!whole.ok() || !cut.ok()) {
          report.error(pair.what + ": measuring: " + (whole.ok() ? cut.error() : whole.error()).message);
          continue;
        }
        if (const std::string other = other_bits(desc, *whole, *cut); !other.empty())
          report.error(fmt::format("{}: {} in one chunk and in chunks of {}", pair.what, other, chunk));
      }
    }
  });
}

void check_threads(const CheckSubject& subject, CheckFindings& report) {
  constexpr int kThreads = 4;
  for_judgements(subject, report, [&](const JudgementHandle& judgement, const ulpscope_judgement_desc& desc) {
    for (const DType dtype : types_of(judgement)) {
      const SamplePair pair = noisy_pair(dtype, kElements);
      const auto alone = measure(judgement, pair, 4096);
      std::array<std::string, kThreads> differences;
      std::latch start(kThreads);
      {
        std::vector<std::jthread> threads;
        for (std::string& difference : differences)
          threads.emplace_back([&] {
            start.arrive_and_wait();
            const auto own = measure(judgement, pair, 4096);
            difference = !alone.ok() || !own.ok() ? "measuring fails" : other_bits(desc, *alone, *own);
          });
      }
      for (const std::string& difference : differences)
        if (!difference.empty()) {
          report.error(fmt::format("{}: {} when four threads measure at once", pair.what, difference));
          break;
        }
    }
  });
}

// Sums of many numbers may round otherwise when they are added in parts; counts and maxima may not.
bool agree_when_merged(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  constexpr double kSumTolerance = 1e-12;
  return std::fabs(a - b) <= kSumTolerance * std::max(std::fabs(a), std::fabs(b));
}

void check_merge(const CheckSubject& subject, CheckFindings& report) {
  for_judgements(subject, report, [&](const JudgementHandle& judgement, const ulpscope_judgement_desc& desc) {
    for (const DType dtype : types_of(judgement)) {
      const SamplePair pair = noisy_pair(dtype, kElements);
      const auto whole = measure(judgement, pair, 4096);
      auto first = measure_part(judgement, pair, 0, 8192, 4096);
      const auto second = measure_part(judgement, pair, 8192, kElements, 4096);
      if (!whole.ok() || !first.ok() || !second.ok()) continue;  // judgement.chunks reports it
      if (const Status merged = first->merge(*second); !merged.ok()) {
        report.error(pair.what + ": merge: " + merged.error().message);
        continue;
      }
      const auto parts = first->finish();
      if (!parts.ok()) {
        report.error(pair.what + ": finish after merge: " + parts.error().message);
        continue;
      }
      for (uint32_t i = 0; i < desc.metric_count; ++i) {
        const ulpscope_metric& x = whole->metrics[i];
        const ulpscope_metric& y = parts->metrics[i];
        if (x.available != y.available || (x.available != 0 && !agree_when_merged(x.value, y.value)))
          report.error(fmt::format("{}: {} is {} in one go and {} when two parts are merged", pair.what,
                                   desc.metrics[i].name, x.value, y.value));
      }
    }
  });
}

void check_equal(const CheckSubject& subject, CheckFindings& report) {
  for_judgements(subject, report, [&](const JudgementHandle& judgement, const ulpscope_judgement_desc&) {
    for (const DType dtype : types_of(judgement)) {
      SamplePair pair = noisy_pair(dtype, kElements);
      pair.actual = pair.golden;
      const auto measured = measure(judgement, pair, 4096);
      if (!measured.ok()) continue;  // judgement.chunks reports it
      const auto verdict = judge(judgement, pair, measured->metrics);
      if (verdict.ok() && verdict->overall != ULPSCOPE_PASS && verdict->overall != ULPSCOPE_SKIP)
        report.error(fmt::format("{}: equal sides do not pass: {}", name(dtype), verdict->message));
    }
  });
}

void check_missing(const CheckSubject& subject, CheckFindings& report) {
  for_judgements(subject, report, [&](const JudgementHandle& judgement, const ulpscope_judgement_desc& desc) {
    const SamplePair pair = noisy_pair(DType::f32, 4);
    const PairFacts facts(pair);
    const std::vector<ulpscope_metric> nothing(desc.metric_count);
    std::vector<ulpscope_metric> not_numbers(desc.metric_count);
    for (ulpscope_metric& metric : not_numbers) metric = {std::numeric_limits<double>::quiet_NaN(), 1, 0};
    for (const auto& [what, metrics] : {std::pair{"unavailable", nothing}, {"NaN", not_numbers}}) {
      for (const bool reference : {false, true}) {
        const auto verdict =
            judgement.judge(facts.facts, metrics, reference ? metrics : std::vector<ulpscope_metric>{});
        if (!verdict.ok() && verdict.error().code == Code::internal)
          report.error(fmt::format("every metric {}: {}", what, verdict.error().message));
        // A device whose number is NaN as that of its reference may be no worse than it.
        const bool as_the_reference = reference && desc.metric_count > 0 && metrics.front().available != 0;
        if (verdict.ok() && verdict->overall == ULPSCOPE_PASS && desc.metric_count > 0 && !as_the_reference)
          report.error(
              fmt::format("every metric {}, and it passes: what was not measured is never a pass", what));
      }
    }
  });
}

void check_options(const CheckSubject& subject, CheckFindings& report) {
  const CheckHost host;
  for (const ulpscope_judgement_desc& desc : subject.tables->judgements) {
    report.set_component(desc.name);
    std::vector<std::string> wrong = {R"({"there_is_no_such_option": 1})", "[1, 2]", "no json"};
    for (uint32_t i = 0; i < desc.option_count; ++i)
      wrong.push_back(fmt::format(R"({{"{}": [{{"a": 1}}]}})", desc.options[i].name));
    for (const std::string& options : wrong) {
      const auto judgement = JudgementHandle::create(desc, host.table(), options);
      if (judgement.ok())
        report.error("takes the options " + options + ", expected an error of code usage");
      else if (judgement.error().code != Code::usage)
        report.error("answers the options " + options + " with code " +
                     std::string(to_text(judgement.error().code)) + ", expected usage");
    }
  }
}

void check_twice(const CheckSubject& subject, CheckFindings& report) {
  for_judgements(subject, report, [&](const JudgementHandle& judgement, const ulpscope_judgement_desc&) {
    for (const DType dtype : types_of(judgement)) {
      const SamplePair pair = noisy_pair(dtype, kElements);
      const auto measured = measure(judgement, pair, 4096);
      if (!measured.ok()) continue;
      const auto first = judge(judgement, pair, measured->metrics),
                 second = judge(judgement, pair, measured->metrics);
      if (first.ok() != second.ok() ||
          (first.ok() && (first->overall != second->overall || first->message != second->message ||
                          first->per_metric != second->per_metric)))
        report.error(fmt::format("{}: judges the same numbers in two ways", name(dtype)));
    }
  });
}

void check_quiet(const CheckSubject& subject, CheckFindings& report) {
  for_judgements(subject, report, [&](const JudgementHandle& judgement, const ulpscope_judgement_desc&) {
    const QuietWatch watch;
    for (const DType dtype : types_of(judgement)) {
      const SamplePair pair = noisy_pair(dtype, kElements);
      if (const auto measured = measure(judgement, pair, 4096); measured.ok())
        (void)judge(judgement, pair, measured->metrics);
    }
    watch.report("while it measures and judges", report);
  });
}

}  // namespace

std::vector<Check> judgement_checks() {
  constexpr CheckKind kind = CheckKind::judgement;
  return {
      {"judgement.edges", kind, false, kLimitSeconds,
       "takes empty, NaN, infinite, zero and subnormal elements of each type", check_edges},
      {"judgement.chunks", kind, false, kLimitSeconds,
       "the same bits for chunks of 1024, 4096 and all elements", check_chunks},
      {"judgement.threads", kind, false, kLimitSeconds, "the same bits when four threads measure at once",
       check_threads},
      {"judgement.merge", kind, false, kLimitSeconds,
       "two merged parts give the numbers of the whole, sums within 1e-12", check_merge},
      {"judgement.equal", kind, false, kLimitSeconds, "equal sides pass", check_equal},
      {"judgement.missing", kind, false, kLimitSeconds, "what was not measured, or is NaN, is never a pass",
       check_missing},
      {"judgement.options", kind, false, kLimitSeconds,
       "unknown and ill-typed options are errors of code usage", check_options},
      {"judgement.twice", kind, false, kLimitSeconds, "the same numbers get the same verdict", check_twice},
      {"judgement.quiet", kind, false, kLimitSeconds, "prints nothing and changes nothing around",
       check_quiet},
  };
}

}  // namespace ulpscope
