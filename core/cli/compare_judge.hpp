// The judgements of a run of compare: those that --policy, --profile, --judge or -rp ask for, and the
// measuring of the reference dump. Without any of these it does nothing and costs nothing. Used by the
// compare command.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "cli/compare_request.hpp"
#include "cli/context.hpp"
#include "match/matcher.hpp"
#include "measure/row_judge.hpp"
#include "policy/chooser.hpp"

namespace ulpscope {

class CompareJudge {
 public:
  // options: those of the run, which may come from the journal that it goes on with. usage: a mistake in the
  // policy, or a judgement that does not exist.
  static Result<CompareJudge> create(Context& context, const CompareRequest& request,
                                     const ParsedOptions& options);

  // What the reports say of the policy.
  void describe(ResultTable& table) const;
  // For the identity of a journal.
  std::string identity() const;
  // What measure() asks; null without chosen judgements. table outlives the object.
  RowGrouping* start(ResultTable& table, bool has_reference);
  // Measures the reference, if there is one, and judges. cancelled, or what a plugin answers.
  Status finish(ResultTable& table, const DumpIndex* reference, const MatchOptions& match_options,
                const MeasureOptions& measure_options, Context& context, Diagnostics& diagnostics);

 private:
  std::unique_ptr<JudgementChooser> chooser_;
  std::optional<std::vector<JudgementHandle>> forced_;
  std::string file_, profile_ = "seed";
  std::unique_ptr<RowJudge> rows_;
};

}  // namespace ulpscope
