#include "cli/compare_judge.hpp"

#include <utility>

#include "cli/policy_options.hpp"
#include "measure/measure.hpp"

namespace ulpscope {

Result<CompareJudge> CompareJudge::create(Context& context, const CompareRequest& request,
                                          const ParsedOptions& options) {
  CompareJudge judge;
  if (!request.forced_judgements.empty()) {
    ULPSCOPE_ASSIGN(Registry * registry, context.registry());
    std::vector<JudgementHandle> forced;
    for (const std::string& name : request.forced_judgements) {
      auto made = registry->create_judgement(name, "{}");
      if (!made.ok()) return std::move(made).error().within("option --judge");
      forced.push_back(std::move(made).value());
    }
    judge.forced_ = std::move(forced);
    return judge;
  }
  if (!request.has_policy) return judge;
  ULPSCOPE_ASSIGN(Policy policy, chosen_policy(context, options));
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  judge.file_ = options.text_or("policy", "");
  judge.profile_ = options.text_or("profile", "seed");
  judge.chooser_ = std::make_unique<JudgementChooser>(std::move(policy), *registry);
  return judge;
}

void CompareJudge::describe(ResultTable& table) const {
  table.policy_file = file_;
  table.policy_profile = profile_;
  if (chooser_ != nullptr) table.policy_hash = chooser_->policy().hash;
}

std::string CompareJudge::identity() const {
  return chooser_ == nullptr ? "" : "|" + chooser_->policy().hash;
}

RowGrouping* CompareJudge::start(ResultTable& table, bool has_reference) {
  if (chooser_ != nullptr)
    rows_ = std::make_unique<RowJudge>(table, *chooser_, has_reference);
  else if (forced_)
    rows_ = std::make_unique<RowJudge>(table, *std::exchange(forced_, std::nullopt), has_reference);
  return rows_.get();
}

Status CompareJudge::finish(ResultTable& table, const DumpIndex* reference, const MatchOptions& match_options,
                            const MeasureOptions& measure_options, Context& context,
                            Diagnostics& diagnostics) {
  if (rows_ == nullptr) return {};
  ULPSCOPE_ASSIGN(ThreadPool * pool, context.pool());
  if (reference == nullptr) {
    ULPSCOPE_TRY(rows_->judge(nullptr, *pool));
  } else {
    table.reference = side_info(*reference);
    ResultTable other;
    other.target = reference;
    other.golden = table.golden;
    other.judgements = {"similarity"};
    other.judgement_columns.resize(1);
    ULPSCOPE_ASSIGN(other.pairs, match(*reference, *table.golden, match_options));
    ReferenceGrouping grouping(table, other, *rows_);
    MeasureOptions options = measure_options;
    options.judge = &grouping;
    Diagnostics found;
    ULPSCOPE_TRY(measure(other, options, *pool, context.cancel(), found, nullptr, nullptr));
    for (Diagnostic& diagnostic : found.kept()) {
      diagnostic.where = "reference: " + diagnostic.where;
      diagnostics.add(std::move(diagnostic));
    }
    ULPSCOPE_TRY(rows_->judge(&other, *pool));
  }
  for (const std::string& left : rows_->left_to_similarity()) context.log().warning(left);
  if (chooser_ != nullptr)
    for (const std::string& unused : chooser_->unused()) context.log().warning(unused);
  return {};
}

}  // namespace ulpscope
