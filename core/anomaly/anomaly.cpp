#include "anomaly/anomaly.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"

namespace ulpscope {
namespace {

std::string shown_id(const std::string& id, const std::string& request_id, size_t order) {
  return !id.empty() ? id : !request_id.empty() ? request_id : std::to_string(order);
}

void count_labels(AnomalyReport& report) {
  for (const InspectedOutput& output : report.outputs) {
    std::set<Symptom> labels;
    for (const SymptomHit& hit : output.findings.hits) labels.insert(hit.label);
    for (const Symptom label : labels) ++report.counts[static_cast<size_t>(label)];
  }
  for (const PromptRepeats& repeats : report.repeats)
    report.counts[static_cast<size_t>(Symptom::inconsistent)] += repeats.is_inconsistent();
}

// The prompt, else the prompt's token ids, of an output; nothing where neither is known.
std::optional<Digest> prompt_of(const OutputEntry& entry) {
  if (entry.has_prompt) return entry.prompt;
  if (entry.has_prompt_ids) return entry.prompt_ids;
  return std::nullopt;
}

// The whole prompt; where only its token ids are known, a name for it.
Result<std::string> name_of(const OutputSet& set, const OutputEntry& entry, size_t order) {
  if (!entry.has_prompt)
    return "prompt of " + shown_id(std::string(set.id(entry)), std::string(set.request_id(entry)), order);
  if (set.prompt(entry).size() <= OutputSet::kKeptPromptBytes) return std::string(set.prompt(entry));
  ULPSCOPE_ASSIGN(const ModelOutput output, set.load(entry));
  return output.prompt.value_or("");
}

Status find_repeats(const OutputSet& set, const WorkTools& tools, AnomalyReport& report) {
  std::map<Digest, std::vector<size_t>> groups;
  std::vector<Digest> order;
  for (size_t i = 0; i < set.entries().size(); ++i) {
    const auto prompt = prompt_of(set.entries()[i]);
    if (!prompt) continue;
    std::vector<size_t>& group = groups[*prompt];
    if (group.empty()) order.push_back(*prompt);
    group.push_back(i);
  }
  for (const Digest& prompt : order) {
    const std::vector<size_t>& group = groups[prompt];
    const OutputEntry& first = set.entries()[group.front()];
    PromptRepeats repeats;
    ULPSCOPE_ASSIGN(repeats.prompt, name_of(set, first, group.front()));
    std::map<Digest, size_t> distinct;
    for (const size_t i : group) {
      ++repeats.runs;
      repeats.greedy &= is_greedy(set.entries()[i]);
      distinct.emplace(set.entries()[i].content, i);
    }
    repeats.distinct = static_cast<int64_t>(distinct.size());
    std::optional<ModelOutput> golden;
    for (const auto& [content, i] : distinct) {
      if (content == first.content || tools.cancel.requested()) continue;
      if (!golden) {
        ULPSCOPE_ASSIGN(golden, set.load(first));
      }
      ULPSCOPE_ASSIGN(const ModelOutput other, set.load(set.entries()[i]));
      const TokenDiff diff = compare_outputs(*golden, other, {});
      const auto at = diff.position ? diff.position : diff.char_position;
      if (at && (!repeats.first_divergence || *at < *repeats.first_divergence)) repeats.first_divergence = at;
    }
    report.repeats.push_back(std::move(repeats));
  }
  report.has_repeats = true;
  return {};
}

// Golden's lengths by entry of the inspected set, where both count in the same unit.
Result<std::vector<std::optional<int64_t>>> golden_lengths(const OutputSet& set,
                                                           const AnomalyOptions& options,
                                                           const WorkTools& tools) {
  std::vector<std::optional<int64_t>> lengths(set.entries().size());
  if (options.golden.empty()) return lengths;
  ULPSCOPE_ASSIGN(const std::vector<OutputSet> golden, read_sides({options.golden}, options.format, tools));
  ULPSCOPE_ASSIGN(const OutputPairing pairing, pair_outputs(golden[0], set, PairBy::automatic));
  for (const OutputPair& pair : pairing.pairs) {
    const OutputEntry& entry = golden[0].entries()[pair.golden];
    if (entry.has_tokens == set.entries()[pair.problem].has_tokens) lengths[pair.problem] = entry.token_count;
  }
  return lengths;
}

Status inspect_set(const AnomalyOptions& options, const WorkTools& tools, AnomalyReport& report) {
  ULPSCOPE_ASSIGN(const std::vector<OutputSet> sets, read_sides({options.files}, options.format, tools));
  const OutputSet& set = sets[0];
  ULPSCOPE_ASSIGN(const auto lengths, golden_lengths(set, options, tools));
  report.outputs.resize(set.entries().size());
  tools.pool.parallel_for(static_cast<int64_t>(set.entries().size()), [&](int64_t k, int) {
    const auto i = static_cast<size_t>(k);
    const OutputEntry& entry = set.entries()[i];
    InspectedOutput& inspected = report.outputs[i];
    inspected.id = shown_id(std::string(set.id(entry)), std::string(set.request_id(entry)), i);
    inspected.choice = entry.choice;
    if (tools.cancel.requested()) return;
    const auto output = set.load(entry);
    if (output.ok())
      inspected.findings = inspect_output(*output, options.inspection, lengths[i]);
    else
      tools.diagnostics.add(Severity::error, output.error());
  });
  if (options.repeats) return find_repeats(set, tools, report);
  return {};
}

// Without repeats and golden each output is looked at once, as it is read.
Status inspect_once(const AnomalyOptions& options, const WorkTools& tools, AnomalyReport& report) {
  ULPSCOPE_ASSIGN(const std::vector<OutputFileHandle> files, open_output_files(options.files));
  ScanOptions scan;
  scan.format = options.format;
  return scan_outputs(files, scan, tools.diagnostics, tools.cancel,
                      [&](ModelOutput&& output, const OutputPlace&) {
                        InspectedOutput inspected;
                        inspected.id = shown_id(output.id, output.request_id, report.outputs.size());
                        inspected.choice = output.choice;
                        inspected.findings = inspect_output(output, options.inspection);
                        report.outputs.push_back(std::move(inspected));
                      });
}

}  // namespace

int64_t AnomalyReport::anomalous() const {
  return std::count_if(outputs.begin(), outputs.end(),
                       [](const InspectedOutput& output) { return output.findings.is_anomalous(); });
}

Result<AnomalyReport> find_anomalies(const AnomalyOptions& options, const WorkTools& tools) {
  AnomalyReport report;
  if (options.repeats || !options.golden.empty())
    ULPSCOPE_TRY(inspect_set(options, tools, report));
  else
    ULPSCOPE_TRY(inspect_once(options, tools, report));
  if (report.outputs.empty() && !tools.cancel.requested())
    return Error{Code::io, printable(options.files.front()) + ": no output that can be read"};
  count_labels(report);
  return report;
}

}  // namespace ulpscope
