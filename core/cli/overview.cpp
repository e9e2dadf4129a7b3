#include "cli/overview.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "cli/table.hpp"
#include "index/dump_level.hpp"
#include "tensors/element_text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostEngineLines = 20;

// How the sources of vLLM write the phase of a forward pass into the attributes of one of its operations.
std::string_view phase_of(std::string_view attributes) {
  if (attributes == R"({"phase":"prefill"})") return "prefill";
  if (attributes == R"({"phase":"decode"})") return "decode";
  return {};
}

struct StepFacts {
  int32_t last_token = -1;
  std::string phases;  // in order of appearance: "prefill, decode"
};

// Facts of the first rank of each step: the others run the same passes.
std::vector<std::string> engine_facts(const DumpIndex& index) {
  std::map<int32_t, StepFacts> steps;
  std::set<int32_t> seen;
  for (const StepRank& group : index.groups()) {
    if (!seen.insert(group.step).second) continue;
    StepFacts& facts = steps[group.step];
    for (const OpId id : group.ops) {
      const OpRow& op = index.ops()[id];
      facts.last_token = std::max(facts.last_token, op.token);
      const std::string_view phase = phase_of(index.text(op.attributes));
      if (!phase.empty() && facts.phases.find(phase) == std::string::npos)
        facts.phases.append(facts.phases.empty() ? "" : ", ").append(phase);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [step, facts] : steps) {
    if (facts.last_token < 0 && facts.phases.empty()) continue;
    std::string line = "step " + std::to_string(step) + ": ";
    if (facts.last_token >= 0)
      line += std::to_string(facts.last_token + 1) + (facts.last_token == 0 ? " token" : " tokens");
    if (!facts.phases.empty()) line += (facts.last_token >= 0 ? ", " : "") + facts.phases;
    lines.push_back(std::move(line));
  }
  return lines;
}

void row(std::string& out, std::string_view heading, std::string_view text) {
  std::string line(heading);
  line.resize(std::max<size_t>(10, line.size() + 2), ' ');
  out += line + printable(text) + "\n";
}

}  // namespace

Overview overview(const DumpIndex& index) {
  Overview facts;
  facts.path = index.path();
  facts.source = index.source_name();
  facts.task = index.task();
  facts.level = dump_level(index);
  std::set<int32_t> steps, ranks;
  for (const StepRank& group : index.groups()) {
    if (group.step >= 0) steps.insert(group.step);
    if (group.rank >= 0) ranks.insert(group.rank);
  }
  facts.steps.assign(steps.begin(), steps.end());
  facts.ranks.assign(ranks.begin(), ranks.end());
  facts.ops = static_cast<int64_t>(index.ops().size());
  facts.tensors = static_cast<int64_t>(index.tensors().size());
  facts.values = static_cast<int64_t>(index.items().size()) - facts.tensors;
  for (size_t i = 0; i < index.tensors().size(); ++i) {
    const TensorRow& tensor = index.tensors()[i];
    ++facts.dtypes[name(tensor.dtype)];
    facts.tensors_with_digest += index.text(tensor.digest).empty() ? 0 : 1;
    if (tensor.data_kind == ULPSCOPE_DATA_NONE) continue;
    ++facts.tensors_with_data;
    facts.recorded_bytes +=
        static_cast<uint64_t>(std::max<int64_t>(0, byte_count(index, static_cast<TensorId>(i))));
  }
  facts.engine = engine_facts(index);
  return facts;
}

std::string number_list_text(const std::vector<int32_t>& numbers) {
  if (numbers.empty()) return "-";
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i) text += (last == i + 1 ? "," : "-") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string overview_text(const Overview& facts) {
  std::string out;
  row(out, "dump", facts.path);
  row(out, "source", facts.source + (facts.why.empty() ? "" : "  (" + facts.why + ")"));
  const bool also_checksums = facts.tensors_with_digest > 0 && facts.task != "digest";
  row(out, "holds",
      facts.task + (also_checksums ? " and checksums" : "") +
          (facts.level.empty() ? "" : ", level " + facts.level));
  row(out, "steps", number_list_text(facts.steps));
  row(out, "ranks", number_list_text(facts.ranks));
  row(out, "ops", count_text(facts.ops));
  row(out, "tensors", count_text(facts.tensors) + " and " + count_text(facts.values) + " other arguments");
  row(out, "data",
      facts.tensors_with_data == 0
          ? "none recorded"
          : size_text(facts.recorded_bytes) + " of " + count_text(facts.tensors_with_data) + " tensors");
  std::string dtypes;
  for (const auto& [dtype, count] : facts.dtypes)
    dtypes += (dtypes.empty() ? "" : ", ") + dtype + " " + count_text(count);
  row(out, "dtypes", dtypes.empty() ? "-" : dtypes);
  for (size_t i = 0; i < facts.engine.size() && i < kMostEngineLines; ++i)
    row(out, i == 0 ? "engine" : "", facts.engine[i]);
  if (facts.engine.size() > kMostEngineLines)
    row(out, "",
        "and " + count_text(static_cast<int64_t>(facts.engine.size() - kMostEngineLines)) + " more steps");
  return out;
}

}  // namespace ulpscope
