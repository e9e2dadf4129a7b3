#include <string>
#include <vector>

#include "conformance/check.hpp"
#include "conformance/recorder.hpp"
#include "conformance/source_sample.hpp"

namespace ulpscope {
namespace {

constexpr int kLimitSeconds = 30;

// Reports the mistakes of one kind that the records of the sample have.
void report_mistakes(const CheckSubject& subject, CheckFindings& report, MistakeKind kind,
                     FindingLevel level) {
  const CheckHost host;
  for_sources_of_sample(subject, report, host, [&](const ulpscope_source_desc& desc) {
    // Of a scan that ends with an error the records before it count all the same.
    Recorder recorder;
    (void)scan_once(desc, host.table(), subject.sample, recorder);
    for (const RecordedMistake& each : recorder.mistakes()) {
      if (each.kind != kind) continue;
      level == FindingLevel::error ? report.error(each.text) : report.note(each.text);
    }
  });
}

template <MistakeKind kKind, FindingLevel kLevel = FindingLevel::error>
void check_mistakes(const CheckSubject& subject, CheckFindings& report) {
  report_mistakes(subject, report, kKind, kLevel);
}

void check_diagnoses(const CheckSubject& subject, CheckFindings& report) {
  const CheckHost host;
  for_scanned_samples(subject, report, host, [&](const SourceHandle&, const Recorder& recorder) {
    for (const std::string& text : recorder.diagnoses())
      report.note("says of the sample: " + text + "; is the sample sound?");
  });
}

}  // namespace

std::vector<Check> source_record_checks() {
  constexpr CheckKind kind = CheckKind::source;
  return {
      {"source.records", kind, true, kLimitSeconds,
       "each op has a name and comes before its tensors, parents exist", check_mistakes<MistakeKind::order>},
      {"source.numbers", kind, true, kLimitSeconds, "kinds, phases, roles and types are some that there are",
       check_mistakes<MistakeKind::numbers>},
      {"source.shapes", kind, true, kLimitSeconds,
       "dimensions are not negative, 32 at most, and their product can be counted",
       check_mistakes<MistakeKind::shape>},
      {"source.texts", kind, true, kLimitSeconds, "names and other texts are UTF-8",
       check_mistakes<MistakeKind::texts>},
      {"source.attributes", kind, true, kLimitSeconds, "attributes are JSON or empty",
       check_mistakes<MistakeKind::attributes>},
      {"source.given_twice", kind, true, kLimitSeconds, "no two tensors of an op have the same role and path",
       check_mistakes<MistakeKind::twice>},
      {"source.calls", kind, true, kLimitSeconds, "name and call tell the ops of a step and rank apart",
       check_mistakes<MistakeKind::same_call, FindingLevel::note>},
      {"source.diagnoses", kind, true, kLimitSeconds, "finds nothing wrong with the sample", check_diagnoses},
  };
}

}  // namespace ulpscope
