// The chosen judgements of a comparison: finds for each row the plugin that measures it, by a policy or by
// force, and sets its verdict once everything is measured, a reference included. Used by compare between
// measure() and localise().
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "measure/row_grouping.hpp"
#include "policy/chooser.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

class RowJudge final : public RowGrouping {
 public:
  // By a policy. table, chooser and registry outlive the object.
  RowJudge(ResultTable& table, JudgementChooser& chooser, bool has_reference)
      : table_(table), chooser_(&chooser), has_reference_(has_reference) {}
  // By force: each row gets all of these that apply to it.
  RowJudge(ResultTable& table, std::vector<JudgementHandle> forced, bool has_reference)
      : table_(table), forced_(std::move(forced)), has_reference_(has_reference) {}

  Result<int32_t> group_of(int64_t row, const PairRecord& record) override;
  const std::vector<JudgementGroup>& groups() const override { return groups_; }
  // Of a row that was asked for.
  int32_t chosen(int64_t row) const;

  // Sets judged, judgement and message of the rows that have a group, and passes over what the policy
  // ignores. reference: the table of reference against the same golden, measured with ReferenceGrouping, or
  // null. internal or usage: what a plugin answers.
  Status judge(const ResultTable* reference, ThreadPool& pool);

  // After judge(): the tensors that similarity judged in place of what was chosen, counted by reason.
  std::vector<std::string> left_to_similarity() const;

 private:
  struct Chosen {
    int32_t group = kNone;
    std::string before;  // the row's message before similarity spoke
    std::string note;    // what the policy passed over
  };
  Result<int32_t> by_policy(int64_t row, const PairRecord& record, Chosen& chosen);
  Result<int32_t> by_force(const PairRecord& record, Chosen& chosen);
  int32_t group_with(const std::vector<int32_t>& members);
  const JudgementHandle& handle(int32_t index) const;
  Status judge_row(int64_t number, const Chosen& chosen, const DataMetrics* reference);
  void ignore_rows();

  ResultTable& table_;
  JudgementChooser* chooser_ = nullptr;
  std::vector<JudgementHandle> forced_;
  bool has_reference_ = false;
  std::vector<JudgementGroup> groups_;
  std::vector<int32_t> group_columns_;                   // row of ResultTable::judgements of each group
  std::map<std::vector<int32_t>, int32_t> group_index_;  // by members
  std::map<int64_t, Chosen> chosen_;                     // by row
};

// The groups of a table of reference against golden: each row has that of the target's row with the same
// golden tensor.
class ReferenceGrouping final : public RowGrouping {
 public:
  ReferenceGrouping(const ResultTable& table, const ResultTable& reference, const RowJudge& judge);
  Result<int32_t> group_of(int64_t row, const PairRecord& record) override;
  const std::vector<JudgementGroup>& groups() const override { return judge_.groups(); }

 private:
  const ResultTable& reference_;
  const RowJudge& judge_;
  std::map<ItemId, int32_t> by_golden_;
};

// How the errors of a target compare with those of a reference, both against one golden.
struct NoiseComparison {
  double sigma_ratio = 0;  // standard deviations of the errors
  double linf_ratio = 0;   // largest absolute errors
  double l2_ratio = 0;     // euclidean lengths of the errors
  double overlap = 0;      // share that the histograms of |error| have in common, 0 … 1
  bool is_like_noise = false;
};
// Nothing where one of them has no finite pair or the reference has no error.
std::optional<NoiseComparison> compare_noise(const DataMetrics& target, const DataMetrics& reference);

}  // namespace ulpscope
