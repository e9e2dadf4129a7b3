#include <algorithm>
#include <optional>
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

  struct Pair {
    const std::string* name;
    WeightTensor *golden, *problem;
    // Where both sides have bytes that can be compared.
    std::optional<Result<WeightDifference>> difference = std::nullopt;
  };

  // The largest first, so that no thread is left alone with one at the end.
  void compare_bytes(std::vector<Pair>& pairs) {
    std::vector<Pair*> wanted;
    uint64_t bytes = 0;
    for (Pair& pair : pairs) {
      if (!can_compare_bytes(*pair.golden, *pair.problem)) continue;
      wanted.push_back(&pair);
      bytes += 2 * pair.golden->size;
    }
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Pair* a, const Pair* b) { return a->golden->size > b->golden->size; });
    if (run_.expect_bytes) run_.expect_bytes("comparing", bytes);
    run_.pool.parallel_for(static_cast<int64_t>(wanted.size()), [&](int64_t i, int) {
      Pair& pair = *wanted[static_cast<size_t>(i)];
      pair.difference = compare_weights(*pair.golden, *pair.problem, run_.cancel, run_.read_bytes);
    });
  }

  // What stands against a hash of the other side.
  bool hash_others(const std::vector<Pair>& pairs) {
    std::vector<WeightTensor*> wanted;
    for (const Pair& pair : pairs) {
      if (pair.golden->dtype != pair.problem->dtype || (pair.golden->source && pair.problem->source))
        continue;
      wanted.push_back(pair.golden);
      wanted.push_back(pair.problem);
    }
    return hash(wanted);
  }

  void check_tensors(Weights& golden, Weights& problem) {
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
      compare_bytes(pairs);
      if (!hash_others(pairs)) return;
    }
    for (const Pair& pair : pairs) compare(pair);
  }

  bool hash(const std::vector<WeightTensor*>& tensors) {
    uint64_t bytes = 0;
    for (const WeightTensor* tensor : tensors) bytes += tensor->source ? tensor->size : 0;
    if (run_.expect_bytes) run_.expect_bytes("hashing", bytes);
    const Status hashed = hash_weights(tensors, run_.pool, run_.cancel, run_.read_bytes);
    if (!hashed.ok()) run_.diagnostics.add(Severity::error, hashed.error());
    return hashed.ok();
  }

  void compare(const Pair& pair) {
    const std::string& name = *pair.name;
    const WeightTensor &golden = *pair.golden, &problem = *pair.problem;
    if (golden.dtype != problem.dtype) return row(name, text(golden.dtype), text(problem.dtype), "dtype");
    const bool is_full = run_.options.weights == WeightsMode::full;
    if (pair.difference && !pair.difference->ok())
      return run_.diagnostics.add(Severity::error, pair.difference->error(), name);
    const WeightDifference difference = pair.difference ? **pair.difference : WeightDifference{};
    // Bytes of unequal number are not compared; a hash of one side goes with that of the other.
    const bool same_bytes =
        pair.difference ? difference.same_bytes : !golden.sha256.empty() && golden.sha256 == problem.sha256;
    if (golden.shape != problem.shape)
      return row(name, shape_value(golden.shape), shape_value(problem.shape),
                 !is_full     ? "shape"
                 : same_bytes ? "shape; bytes equal"
                              : "shape; bytes differ");
    if (!is_full || same_bytes) return;
    row(name, text(golden.sha256), text(problem.sha256), content_text(difference));
  }

  void check_files(const Weights& golden, const Weights& problem) {
    std::set<std::string> names;
    for (const Weights* side : {&golden, &problem})
      for (const auto& [name, path] : side->other_files) names.insert(name);
    std::vector<std::string> both;
    for (const std::string& name : names) {
      const bool in_golden = golden.other_files.count(name) > 0,
                 in_problem = problem.other_files.count(name) > 0;
      if (in_golden && in_problem)
        both.push_back(name);
      else
        row(name, text(in_golden ? "present" : "missing"), text(in_problem ? "present" : "missing"), "file");
    }
    if (run_.options.weights == WeightsMode::full) hash_files(golden, problem, both);
  }

  void hash_files(const Weights& golden, const Weights& problem, const std::vector<std::string>& names) {
    std::vector<Result<std::string>> sums(2 * names.size(), std::string());
    run_.pool.parallel_for(static_cast<int64_t>(sums.size()), [&](int64_t i, int) {
      const auto at = static_cast<size_t>(i);
      const Weights& side = at % 2 == 0 ? golden : problem;
      sums[at] = file_sha256(side.other_files.find(names[at / 2])->second, run_.cancel);
    });
    for (size_t i = 0; i < names.size(); ++i) {
      const Result<std::string>&a = sums[2 * i], &b = sums[2 * i + 1];
      for (const auto* sum : {&a, &b})
        if (!sum->ok()) run_.diagnostics.add(Severity::error, sum->error());
      if (a.ok() && b.ok() && *a != *b) row(names[i], text(*a), text(*b), "the bytes of the file differ");
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
