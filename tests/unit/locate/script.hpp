// Small runs written op by op, for the tests of the localisation.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "locate/dataflow.hpp"
#include "locate/localise.hpp"
#include "measure/measure.hpp"
#include "memory_source.hpp"

namespace ulpscope::test {

// A tensor of 16 float32 elements known by its content alone.
inline TensorRecord known(Role role, const std::string& path, const std::string& content) {
  TensorRecord record;
  record.role = role;
  record.path = path;
  record.dtype = DType::f32;
  record.shape = {4, 4};
  record.digest = "crc32:" + content;
  return record;
}

// Statistics of a tensor of 4096 float32 elements: extremes of +-3 rms.
inline TensorRecord measured(Role role, const std::string& path, double rms, double mean = 0.01) {
  TensorRecord record;
  record.role = role;
  record.path = path;
  record.dtype = DType::f32;
  record.shape = {64, 64};
  record.stats = {ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_MEAN | ULPSCOPE_STAT_L2,
                  0,
                  3 * rms,
                  -3 * rms,
                  mean,
                  64 * rms};
  return record;
}

// Writes ops of the form: inputs and outputs by content, or by statistics.
struct Script {
  MemoryDump dump{"torch_api"};
  Script& call(const std::string& name, const std::vector<std::string>& inputs, const std::string& output) {
    dump.op(name);
    for (size_t i = 0; i < inputs.size(); ++i) dump.tensor(known(Role::input, std::to_string(i), inputs[i]));
    dump.tensor(known(Role::output, "0", output));
    return *this;
  }
  Script& op(const std::string& name, const std::vector<TensorRecord>& tensors) {
    dump.op(name);
    for (const TensorRecord& tensor : tensors) dump.tensor(tensor);
    return *this;
  }
  Script& at(int32_t step, int32_t rank) {
    dump.at(step, rank);
    return *this;
  }
};

// Three healthy calls of rounding-sensitive operations, so that the runs show themselves as deterministic.
inline void add_witnesses(Script& script) {
  script.call("Torch.softmax.0.forward", {"a0"}, "a1");
  script.call("Torch.mean.0.forward", {"a1"}, "a2");
  script.call("Torch.rsqrt.0.forward", {"a2"}, "a3");
  script.call("Torch.matmul.0.forward", {"a3", "w0"}, "a4");
}

struct Outcome {
  DumpIndex target, golden;
  ResultTable table;
};

// Pairs, measures and judges, without localising.
inline void measure_pair(ResultTable& table, const DumpIndex& target, const DumpIndex& golden) {
  table.target = &target;
  table.golden = &golden;
  table.judgements = {"similarity"};
  table.judgement_columns.resize(1);
  auto pairs = match(target, golden, {});
  REQUIRE(pairs.ok());
  table.pairs = std::move(pairs).value();
  ThreadPool pool(1);
  const Cancel never;
  Diagnostics diagnostics;
  REQUIRE(measure(table, {}, pool, never, diagnostics, nullptr, nullptr).ok());
}

constexpr double kOneElement = 1e-8;

// Turns digests into data with an error of sizes["operation tensor"], relative to golden's norm, where they
// differ.
inline void give_sizes(ResultTable& table, const std::map<std::string, double>& sizes) {
  const auto content = [](const DumpIndex& index, ItemId item) {
    return std::hash<std::string_view>()(index.text(index.tensors()[index.items()[item].tensor].digest)) | 1;
  };
  for (ResultRow& row : table.rows) {
    if (row.mode != Mode::digest) continue;
    const OpId op = table.target->items()[row.pair.target].op;
    const auto size = sizes.find(std::string(table.target->text(table.target->ops()[op].name)) + " " +
                                 std::string(table.target->item_name(row.pair.target)));
    DataMetrics metrics;
    metrics.hash_target[0] = content(*table.target, row.pair.target);
    metrics.hash_golden[0] = content(*table.golden, row.pair.golden);
    const bool differs = metrics.hash_target[0] != metrics.hash_golden[0];
    const double error = !differs ? 0 : size == sizes.end() ? 1e-7 : size->second;
    metrics.sums.elements = metrics.sums.finite_pairs = 16;
    // So small an error stands for one element of 16.
    metrics.sums.unequal = !differs ? 0 : error < kOneElement ? 1 : 16;
    metrics.sums.dot = metrics.sums.squares_golden = 16;
    metrics.sums.squares_target = 16 * (1 + error * error);
    metrics.sums.sum_squared_err = 16 * error * error;
    metrics.sums.max_abs_err = 2 * error;
    row.mode = Mode::data;
    row.metrics = static_cast<int64_t>(table.data_metrics.size());
    table.data_metrics.push_back(metrics);
  }
}

inline Outcome run(const Script& target, const Script& golden, const NoiseFloor* noise = nullptr,
                   const std::map<std::string, double>* sizes = nullptr) {
  Outcome outcome{target.dump.index(), golden.dump.index(), {}};
  ResultTable& table = outcome.table;
  measure_pair(table, outcome.target, outcome.golden);
  if (sizes != nullptr) give_sizes(table, *sizes);
  ThreadPool pool(1);
  auto priors = load_priors();
  REQUIRE(priors.ok());
  localise(table, {std::move(priors).value(), true, noise, {}, false, ""}, pool);
  return outcome;
}

inline std::string first(const Localisation& found) {
  if (found.culprits.empty()) return "none";
  const Culprit& culprit = found.culprits.front();
  return culprit.kind + " " + culprit.op_name + " " + culprit.tensor + " step " +
         std::to_string(culprit.step) + " rank " + std::to_string(culprit.rank);
}

}  // namespace ulpscope::test
