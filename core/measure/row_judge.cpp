#include "measure/row_judge.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <mutex>
#include <optional>

#include "base/text.hpp"
#include "measure/pair_reader.hpp"

namespace ulpscope {
namespace {

constexpr int64_t kBatch = 256;

void add_message(std::string& message, std::string_view text) {
  if (text.empty()) return;
  if (!message.empty()) message += "; ";
  message += text;
}

// The role that a policy names.
PolicySubject subject_of(const DumpIndex& index, ItemId item, DType dtype, std::span<const DType> inputs) {
  const ItemRow& row = index.items()[item];
  const OpRow& op = index.ops()[row.op];
  return {
      index.text(op.type), index.text(op.name), op.kind, op.phase, row.role, dtype, inputs, op.rank, op.step};
}

std::vector<DType> input_dtypes(const DumpIndex& index, OpId op) {
  std::vector<DType> out;
  for (const ItemRow& item : index.items(op))
    if (item.tensor != kNoIndex && (item.role == Role::input || item.role == Role::kwarg))
      out.push_back(index.tensors()[item.tensor].dtype);
  return out;
}

DType dtype_of(const DumpIndex& index, ItemId item) {
  const TensorId tensor = index.items()[item].tensor;
  return tensor == kNoIndex ? DType::none : index.tensors()[tensor].dtype;
}

// "worst: [0,2] 3 against 2.5", of the elements that the judgements named. internal: one is not in the
// tensor.
Result<std::string> worst_text(const DataMetrics& data, std::span<const int64_t> shape) {
  std::string text;
  for (const ulpscope_element& element : data.worst) {
    if (element.index >= static_cast<uint64_t>(data.sums.elements))
      return Error{Code::internal,
                   fmt::format("a judgement names element {} as the worst of {}, expected one of the tensor",
                               element.index, data.sums.elements)};
    std::vector<int64_t> place(shape.size());
    auto left = static_cast<int64_t>(element.index);
    for (size_t d = shape.size(); d-- > 0; left /= shape[d]) place[d] = left % shape[d];
    text += fmt::format("{}[{}] {} against {}", text.empty() ? "worst: " : ", ", fmt::join(place, ","),
                        number_text(element.actual), number_text(element.golden));
  }
  return text;
}

}  // namespace

const JudgementHandle& RowJudge::handle(int32_t index) const {
  return chooser_ != nullptr ? chooser_->judgement(index) : forced_[static_cast<size_t>(index)];
}

int32_t RowJudge::chosen(int64_t row) const {
  const auto found = chosen_.find(row);
  return found == chosen_.end() ? kNone : found->second.group;
}

// Handles of a chooser move when it makes more of them: groups are filled in by judge() and groups() only
// after the last question, so they hold indexes until then.
int32_t RowJudge::group_with(const std::vector<int32_t>& members) {
  const auto [found, is_new] = group_index_.try_emplace(members, static_cast<int32_t>(groups_.size()));
  if (!is_new) return found->second;
  groups_.emplace_back();
  std::string name;
  for (const int32_t member : members) name += (name.empty() ? "" : ",") + std::string(handle(member).name());
  // Groups of one name share their columns: they differ in options alone.
  const auto same = std::find(table_.judgements.begin(), table_.judgements.end(), name);
  group_columns_.push_back(static_cast<int32_t>(same - table_.judgements.begin()));
  if (same == table_.judgements.end()) {
    std::vector<std::string> columns;
    for (const int32_t member : members)
      for (uint32_t i = 0; i < handle(member).desc().metric_count; ++i)
        columns.push_back((members.size() > 1 ? std::string(handle(member).name()) + "." : "") +
                          handle(member).desc().metrics[i].name);
    table_.judgements.push_back(name);
    table_.judgement_columns.push_back(std::move(columns));
  }
  return found->second;
}

Result<int32_t> RowJudge::by_policy(int64_t row, const PairRecord& record, Chosen& chosen) {
  const ItemPair& pair = table_.rows[static_cast<size_t>(row)].pair;
  const std::vector<DType> inputs = input_dtypes(*table_.target, table_.target->items()[pair.target].op);
  const PolicySubject subject =
      subject_of(*table_.target, pair.target, static_cast<DType>(record.pair.actual_dtype), inputs);
  ULPSCOPE_ASSIGN(const Choice choice, chooser_->choose(subject, record.pair, has_reference_));
  if (choice.ignored_by != Choice::kNone) return kIgnored;
  chosen.note = choice.note;
  if (choice.judgement == Choice::kNone) return kNone;
  return group_with({choice.judgement});
}

Result<int32_t> RowJudge::by_force(const PairRecord& record, Chosen& chosen) {
  std::vector<int32_t> members;
  for (size_t i = 0; i < forced_.size(); ++i) {
    std::string why_not;
    if (forced_[i].applies(record.pair, why_not))
      members.push_back(static_cast<int32_t>(i));
    else
      add_message(chosen.note, std::string(forced_[i].name()) + " does not apply: " + why_not);
  }
  return members.empty() ? int32_t{kNone} : group_with(members);
}

Result<int32_t> RowJudge::group_of(int64_t row, const PairRecord& record) {
  Chosen chosen;
  chosen.before = table_.rows[static_cast<size_t>(row)].message;
  ULPSCOPE_ASSIGN(chosen.group,
                  chooser_ != nullptr ? by_policy(row, record, chosen) : by_force(record, chosen));
  const int32_t group = chosen.group;
  chosen_.insert_or_assign(row, std::move(chosen));
  // The handles may have moved.
  for (const auto& [members, index] : group_index_) {
    std::vector<const JudgementHandle*>& handles = groups_[static_cast<size_t>(index)].members;
    handles.clear();
    for (const int32_t member : members) handles.push_back(&handle(member));
  }
  return group;
}

// What the policy ignores is not judged, whatever kind of row it is, and tells the localisation nothing.
void RowJudge::ignore_rows() {
  if (chooser_ == nullptr || chooser_->policy().ignore.empty()) return;
  const DumpIndex& target = *table_.target;
  for (ResultRow& row : table_.rows) {
    if (row.pair.target == kNoIndex) continue;
    const std::vector<DType> inputs = input_dtypes(target, target.items()[row.pair.target].op);
    const PolicySubject subject =
        subject_of(target, row.pair.target, dtype_of(target, row.pair.target), inputs);
    const int32_t by = chooser_->ignored_by(subject);
    if (by == Choice::kNone) continue;
    row.mode = Mode::none;
    row.metrics = -1;
    row.judged = Verdict::skip;
    row.unreadable = false;
    row.message = "ignored: " + chooser_->policy().ignore[static_cast<size_t>(by)].why;
  }
}

Status RowJudge::judge(const ResultTable* reference, ThreadPool& pool) {
  std::map<ItemId, const DataMetrics*> by_golden;
  if (reference != nullptr)
    for (const ResultRow& row : reference->rows)
      if (row.metrics >= 0 && row.pair.golden != kNoIndex)
        by_golden.emplace(row.pair.golden, &reference->data_metrics[static_cast<size_t>(row.metrics)]);
  ignore_rows();
  std::vector<std::pair<int64_t, const Chosen*>> rows;
  for (const auto& [number, chosen] : chosen_) {
    ResultRow& row = table_.rows[static_cast<size_t>(number)];
    if (row.mode != Mode::data || row.metrics < 0) continue;
    if (chosen.group < 0) {
      add_message(row.message, chosen.note);
      continue;
    }
    row.judgement_metrics = static_cast<int64_t>(table_.judgement_metrics.size());
    table_.judgement_metrics.emplace_back();
    rows.emplace_back(number, &chosen);
  }
  std::mutex first_mutex;  // guards first
  std::optional<Error> first;
  const int64_t batches = (static_cast<int64_t>(rows.size()) + kBatch - 1) / kBatch;
  pool.parallel_for(batches, [&](int64_t batch, int) {
    const size_t end = std::min(rows.size(), static_cast<size_t>((batch + 1) * kBatch));
    for (auto i = static_cast<size_t>(batch * kBatch); i < end; ++i) {
      const auto found = by_golden.find(table_.rows[static_cast<size_t>(rows[i].first)].pair.golden);
      const Status judged =
          judge_row(rows[i].first, *rows[i].second, found == by_golden.end() ? nullptr : found->second);
      const std::lock_guard lock(first_mutex);
      if (!judged.ok() && !first) first = judged.error();
    }
  });
  if (first) return *first;
  return {};
}

std::vector<std::string> RowJudge::left_to_similarity() const {
  std::map<std::string, int64_t> reasons;
  for (size_t i = 0; i < table_.rows.size(); ++i) {
    const Mode mode = table_.rows[i].mode;
    if (mode == Mode::statistics || mode == Mode::digest) {
      ++reasons[fmt::format("only their {} recorded, and judgements need data",
                            mode == Mode::statistics ? "statistics are" : "checksums are")];
      continue;
    }
    const auto found = chosen_.find(static_cast<int64_t>(i));
    if (mode != Mode::data || found == chosen_.end() || found->second.group != kNone) continue;
    ++reasons[found->second.note.empty() ? "no rule that applies to them names another judgement"
                                         : found->second.note];
  }
  std::vector<std::string> out;
  for (const auto& [reason, count] : reasons)
    out.push_back(fmt::format("{} {} judged by similarity: {}", count_text(count),
                              count == 1 ? "tensor is" : "tensors are", reason));
  return out;
}

Status RowJudge::judge_row(int64_t number, const Chosen& chosen, const DataMetrics* reference) {
  ResultRow& row = table_.rows[static_cast<size_t>(number)];
  const DataMetrics& data = table_.data_metrics[static_cast<size_t>(row.metrics)];
  const JudgementGroup& group = groups_[static_cast<size_t>(chosen.group)];
  const std::span<const ulpscope_metric> metrics = data.judgement;
  if (metrics.size() != group.metric_count())
    return Error{Code::internal, "the numbers of a judgement are not those that were asked for"};
  const DType actual = dtype_of(*table_.target, row.pair.target),
              golden = dtype_of(*table_.golden, row.pair.golden);
  const auto shape = table_.target->shape_of(table_.target->items()[row.pair.target].tensor);
  const PairRecord record(*table_.target, row.pair.target, actual, golden, shape, data.sums.elements);
  row.message = chosen.before;
  row.grad_only = false;
  row.judgement = group_columns_[static_cast<size_t>(chosen.group)];
  Verdict worst = Verdict::skip;
  size_t at = 0;
  for (const JudgementHandle* member : group.members) {
    const size_t count = member->desc().metric_count;
    std::span<const ulpscope_metric> other;
    if (reference != nullptr && reference->judgement.size() == metrics.size())
      other = std::span(reference->judgement).subspan(at, count);
    ULPSCOPE_ASSIGN(const PairVerdict verdict, member->judge(record.pair, metrics.subspan(at, count), other));
    worst = std::max(worst, static_cast<Verdict>(verdict.overall));
    add_message(
        row.message,
        (group.members.size() > 1 && !verdict.message.empty() ? std::string(member->name()) + ": " : "") +
            verdict.message);
    at += count;
  }
  // A NaN or an infinity on one side alone fails whatever the judgement looks at.
  if (data.sums.nonfinite_mismatch > 0) {
    worst = Verdict::fail;
    add_message(row.message, count_text(data.sums.nonfinite_mismatch) + " NaN or infinite on one side alone");
  }
  row.judged = worst;
  if (worst > Verdict::pass) {
    ULPSCOPE_ASSIGN(const std::string elements, worst_text(data, shape));
    add_message(row.message, elements);
  }
  add_message(row.message, chosen.note);
  if (has_reference_ && reference == nullptr) add_message(row.message, "the reference has no such tensor");
  if (reference != nullptr)
    if (const auto noise = compare_noise(data, *reference))
      add_message(row.message,
                  fmt::format("errors against the reference: sigma x{:.3g}, largest x{:.3g}, "
                              "length x{:.3g}, histograms overlap {:.0f} %: {}",
                              noise->sigma_ratio, noise->linf_ratio, noise->l2_ratio, 100 * noise->overlap,
                              noise->is_like_noise ? "as noise of the reference"
                                                   : "more than noise of the reference"));
  table_.judgement_metrics[static_cast<size_t>(row.judgement_metrics)].values.assign(metrics.begin(),
                                                                                     metrics.end());
  return {};
}

ReferenceGrouping::ReferenceGrouping(const ResultTable& table, const ResultTable& reference,
                                     const RowJudge& judge)
    : reference_(reference), judge_(judge) {
  for (size_t i = 0; i < table.rows.size(); ++i)
    if (table.rows[i].pair.golden != kNoIndex && table.rows[i].metrics >= 0)
      by_golden_.emplace(table.rows[i].pair.golden, judge.chosen(static_cast<int64_t>(i)));
}

Result<int32_t> ReferenceGrouping::group_of(int64_t row, const PairRecord& record) {
  const auto found = by_golden_.find(reference_.rows[static_cast<size_t>(row)].pair.golden);
  if (found == by_golden_.end() || found->second < 0) return int32_t{kIgnored};
  std::string why_not;
  for (const JudgementHandle* member : groups()[static_cast<size_t>(found->second)].members)
    if (!member->applies(record.pair, why_not)) return int32_t{kIgnored};
  return found->second;
}

}  // namespace ulpscope
