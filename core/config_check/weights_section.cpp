#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "config_check/config_check.hpp"
#include "config_check/weights.hpp"

namespace ulpscope {
namespace {

ConfigValue text(std::string value) { return ConfigValue::of_text(std::move(value)); }

ConfigValue shape_value(const Shape& shape) {
  ConfigValue value;
  value.kind = ConfigKind::list;
  for (const int64_t size : shape) value.items.push_back(ConfigValue::of_number(std::to_string(size)));
  return value;
}

std::string content_text(const WeightDifference& difference) {
  if (difference.elements == 0) return "content";
  std::string why = "content: " + std::to_string(difference.differing) + " of " +
                    std::to_string(difference.elements) + " elements differ, first at " +
                    std::to_string(difference.first);
  if (!difference.has_numbers) return why;
  why += ", by at most " + number_text(difference.largest);
  if (difference.same_statistics) why += "; max, min, mean and norm are equal";
  return why;
}

class WeightsSection {
 public:
  explicit WeightsSection(ConfigCheckRun& run) : run_(run) {}

  void check(const std::string& golden_folder, const std::string& problem_folder) {
    auto golden = read_weights(golden_folder), problem = read_weights(problem_folder);
    for (const auto& [side, name] :
         {std::pair{&golden, &run_.golden.name}, std::pair{&problem, &run_.problem.name}})
      if (!side->ok()) run_.diagnostics.add(Severity::error, side->error(), *name);
    if (!golden.ok() || !problem.ok()) return;
    const bool in_golden = !golden->empty(), in_problem = !problem->empty();
    if (!in_golden && !in_problem) return;
    if (!run_.both_have("weights", "model/*.safetensors", in_golden, in_problem)) return;
    check_tensors(*golden, *problem);
    check_files(*golden, *problem);
  }

 private:
  void row(const std::string& key, ConfigValue golden, ConfigValue problem, std::string why) {
    run_.add({"weights", key, std::move(golden), std::move(problem), ConfigSeverity::error, std::move(why)});
  }

  void check_tensors(Weights& golden, Weights& problem) {
    struct Pair {
      const std::string* name;
      WeightTensor *golden, *problem;
    };
    std::vector<Pair> pairs;
    for (auto& [name, tensor] : golden.tensors) {
      const auto other = problem.tensors.find(name);
      if (other == problem.tensors.end())
        row(name, text("present"), text("missing"), "the problem side has no such tensor");
      else
        pairs.push_back({&name, &tensor, &other->second});
    }
    for (const auto& [name, tensor] : problem.tensors)
      if (golden.tensors.count(name) == 0)
        row(name, text("missing"), text("present"), "the golden side has no such tensor");
    if (run_.options.weights == WeightsMode::full) {
      std::vector<WeightTensor*> wanted;
      for (const Pair& pair : pairs) {
        if (pair.golden->dtype != pair.problem->dtype) continue;
        wanted.push_back(pair.golden);
        wanted.push_back(pair.problem);
      }
      if (!hash(wanted)) return;
    }
    for (const Pair& pair : pairs) compare(*pair.name, *pair.golden, *pair.problem);
  }

  bool hash(const std::vector<WeightTensor*>& tensors) {
    uint64_t bytes = 0;
    for (const WeightTensor* tensor : tensors) bytes += tensor->source ? tensor->size : 0;
    if (run_.expect_bytes) run_.expect_bytes(bytes);
    const Status hashed = hash_weights(tensors, run_.pool, run_.cancel, run_.read_bytes);
    if (!hashed.ok()) run_.diagnostics.add(Severity::error, hashed.error());
    return hashed.ok();
  }

  void compare(const std::string& name, const WeightTensor& golden, const WeightTensor& problem) {
    if (golden.dtype != problem.dtype) return row(name, text(golden.dtype), text(problem.dtype), "dtype");
    const bool hashed = run_.options.weights == WeightsMode::full;
    const bool same_bytes = hashed && golden.sha256 == problem.sha256;
    if (golden.shape != problem.shape)
      return row(name, shape_value(golden.shape), shape_value(problem.shape),
                 !hashed      ? "shape"
                 : same_bytes ? "shape; bytes equal"
                              : "shape; bytes differ");
    if (!hashed || same_bytes) return;
    const auto difference = compare_weight_bytes(golden, problem, run_.cancel);
    if (!difference.ok()) run_.diagnostics.add(Severity::error, difference.error());
    row(name, text(golden.sha256), text(problem.sha256),
        difference.ok() ? content_text(*difference) : "content");
  }

  void check_files(const Weights& golden, const Weights& problem) {
    std::set<std::string> names;
    for (const Weights* side : {&golden, &problem})
      for (const auto& [name, path] : side->other_files) names.insert(name);
    for (const std::string& name : names) {
      const auto left = golden.other_files.find(name), right = problem.other_files.find(name);
      const bool in_golden = left != golden.other_files.end(),
                 in_problem = right != problem.other_files.end();
      if (!in_golden || !in_problem) {
        row(name, text(in_golden ? "present" : "missing"), text(in_problem ? "present" : "missing"), "file");
        continue;
      }
      if (run_.options.weights != WeightsMode::full) continue;
      const auto a = file_sha256(left->second, run_.cancel), b = file_sha256(right->second, run_.cancel);
      for (const auto* sum : {&a, &b})
        if (!sum->ok()) run_.diagnostics.add(Severity::error, sum->error());
      if (a.ok() && b.ok() && *a != *b) row(name, text(*a), text(*b), "the bytes of the file differ");
    }
  }

  ConfigCheckRun& run_;
};

}  // namespace

void check_weights(ConfigCheckRun& run) {
  const auto golden = run.golden.files.find("model"), problem = run.problem.files.find("model");
  if (golden == run.golden.files.end() || problem == run.problem.files.end()) return;
  WeightsSection(run).check(golden->second, problem->second);
}

}  // namespace ulpscope
