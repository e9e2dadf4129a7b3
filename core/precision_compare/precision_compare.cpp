#include "precision_compare/precision_compare.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/text.hpp"
#include "judgements/options.hpp"
#include "judgements/sums_measure.hpp"
#include "precision_compare/output_name.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kUnsupported = "This data type does not support benchmark compare.";

void add(std::string& message, std::string_view text) {
  if (text.empty()) return;
  if (!message.empty()) message += "; ";
  message += text;
}

OutputStatus status_of(int32_t verdict) {
  switch (verdict) {
    case ULPSCOPE_PASS:
      return OutputStatus::pass;
    case ULPSCOPE_WARNING:
      return OutputStatus::warning;
    case ULPSCOPE_FAIL:
      return OutputStatus::error;
    default:
      return OutputStatus::skip;
  }
}

// "(2, 0, 3)": a dimension of zero.
bool has_no_elements(std::string_view shape) {
  while (!shape.empty() && (shape.front() == '(' || shape.front() == '[')) shape.remove_prefix(1);
  while (!shape.empty() && (shape.back() == ')' || shape.back() == ']')) shape.remove_suffix(1);
  for (std::string_view dim : split(shape, ',')) {
    while (!dim.empty() && dim.front() == ' ') dim.remove_prefix(1);
    while (!dim.empty() && dim.back() == ' ') dim.remove_suffix(1);
    if (dim == "0") return true;
  }
  return false;
}

bool is_unsupported(DType dtype) {
  return dtype == DType::f64 || dtype == DType::c64 || dtype == DType::c128;
}

// Why a row is passed over, or nothing. Its numbers are not looked at.
std::string reason_to_skip(const DetailRow& row, bool& unsupported) {
  const auto with = [&](std::string text) {
    add(text, row.message);
    return text;
  };
  if (to_lower(row.status) == "skip" || row.device_dtype.empty())
    return row.message.empty() ? "skipped by the pre-check" : row.message;
  const DType dtype = dtype_from_name(row.device_dtype);
  unsupported = is_unsupported(dtype);
  if (unsupported) return with(std::string(kUnsupported) + " (" + printable(row.device_dtype) + ")");
  if (has_no_elements(row.shape)) return with("no elements");
  return {};
}

// The indexes of a judgement's metrics in a row of the table.
std::vector<std::optional<DetailMetric>> columns_of(const ulpscope_judgement_desc& desc) {
  std::vector<std::optional<DetailMetric>> columns(desc.metric_count);
  for (uint32_t i = 0; i < desc.metric_count; ++i)
    for (size_t k = 0; k < kDetailMetrics; ++k)
      if (metric_name(static_cast<DetailMetric>(k)) == desc.metrics[i].name)
        columns[i] = static_cast<DetailMetric>(k);
  return columns;
}

std::vector<ulpscope_metric> metrics_of(const DetailRow& row,
                                        const std::vector<std::optional<DetailMetric>>& columns) {
  std::vector<ulpscope_metric> metrics(columns.size(), ulpscope_metric{0, 0, 0});
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i]) continue;
    const DetailCell& cell = row.cell(*columns[i]);
    if (cell.kind == DetailCell::Kind::number) metrics[i] = {cell.value, 1, 0};
  }
  return metrics;
}

// Least denominator of the ratios of a judgement that compares two devices; nothing for the others.
std::optional<double> ratio_floor(const JudgementHandle& judgement, const std::string& options_json,
                                  DType device) {
  if (judgement.name() != "benchmark" && judgement.name() != "ulp") return std::nullopt;
  const ulpscope_judgement_desc& desc = judgement.desc();
  try {
    return JudgementOptions(desc.name, options_json, {desc.options, desc.option_count}).ratio_floor(device);
  } catch (const Failure&) {
    return std::nullopt;  // the judgement itself took the options: it is not one of ours
  }
}

// Texts of a row's message: each metric by the name of its column, so that it is found in the table.
std::string describe(const OutputResult& result, bool is_ratio) {
  std::string text;
  for (const OutputResult::Number& number : result.numbers) {
    const std::string column(column_name(number.metric));
    const bool finite = (!number.device || std::isfinite(*number.device)) &&
                        (!number.reference || std::isfinite(*number.reference));
    if (is_ratio && !finite)
      add(text, column + (number.status == OutputStatus::error ? "inf或nan不一致" : "同为同号inf或nan"));
    if (number.status == OutputStatus::error && number.metric != DetailMetric::error_balance)
      add(text, "ERROR: " + column + (number.device ? "超过阈值" : "为空"));
  }
  return text;
}

class Comparison {
 public:
  Comparison(const DetailsTable& device, const DetailsTable& reference, JudgementChooser& chooser)
      : device_(device), reference_(reference), chooser_(chooser) {}

  Result<PrecisionResult> run() {
    result_.notices = device_.notices;
    result_.notices.insert(result_.notices.end(), reference_.notices.begin(), reference_.notices.end());
    index_reference();
    std::unordered_map<std::string, int64_t> seen;  // name and first line
    for (const DetailRow& row : device_.rows) {
      const auto [first, is_new] = seen.try_emplace(row.name, row.line);
      if (!is_new)
        note(device_, row, "stands in line " + std::to_string(first->second) + " already; both are judged");
      ULPSCOPE_TRY(add_row(row));
    }
    for (const DetailRow& row : reference_.rows)
      if (seen.count(row.name) == 0) note(reference_, row, "has no row in " + printable(device_.path));
    for (ApiResult& api : result_.apis) finish(api);
    return std::move(result_);
  }

 private:
  void note(const DetailsTable& table, const DetailRow& row, const std::string& text) {
    result_.notices.push_back(printable(table.path) + ":" + std::to_string(row.line) + ": " +
                              printable(row.name) + " " + text);
  }

  void index_reference() {
    for (const DetailRow& row : reference_.rows) {
      auto& rows = by_name_[row.name];
      rows.push_back(&row);
      if (rows.size() > 1)
        note(reference_, row,
             "stands in line " + std::to_string(rows[0]->line) + " already; the worse verdict counts");
    }
  }

  ApiResult& api_of(const std::string& id) {
    const auto [found, is_new] = api_index_.try_emplace(id, result_.apis.size());
    if (is_new) {
      result_.apis.emplace_back();
      result_.apis.back().api = id;
    }
    return result_.apis[found->second];
  }

  Status add_row(const DetailRow& row) {
    OutputResult output;
    output.name = row.name;
    const auto name = parse_output_name(row.name);
    bool unsupported = false;
    if (!name) {
      output.message = "The API name " + printable(row.name) + " is invalid.";
    } else if (std::string why = reason_to_skip(row, unsupported); !why.empty()) {
      output.message = std::move(why);
    } else {
      ULPSCOPE_TRY(judge(row, *name, output));
    }
    ApiResult& api = api_of(name ? name->id : row.name);
    api.outputs.push_back(static_cast<int64_t>(result_.outputs.size()));
    facts_.push_back({name ? name->phase : Phase::none, unsupported, name ? name->api : std::string()});
    result_.bad_data += output.bad_data ? 1 : 0;
    result_.outputs.push_back(std::move(output));
    return {};
  }

  Status judge(const DetailRow& row, const OutputName& name, OutputResult& output) {
    if (!row.unreadable.empty()) {
      output.message = "ERROR: Input data cannot be converted to float: " + row.unreadable;
      output.bad_data = true;
      return {};
    }
    const auto found = by_name_.find(row.name);
    const DetailRow* missing[] = {nullptr};
    const std::span<const DetailRow* const> references =
        found == by_name_.end() ? std::span<const DetailRow* const>(missing)
                                : std::span<const DetailRow* const>(found->second);
    bool first = true;
    for (const DetailRow* reference : references) {
      OutputResult one;
      ULPSCOPE_TRY(judge_against(row, reference, name, one));
      if (!first && one.status <= output.status) continue;
      one.name = output.name;
      output = std::move(one);
      first = false;
    }
    if (references.size() > 1)
      add(output.message, std::to_string(references.size()) + " rows of the reference have this name");
    return {};
  }

  // What the table does not say: an input of an 8-bit type is known by the columns that were filled for it.
  static std::vector<DType> guess_inputs(const DetailRow& row) {
    const bool narrow = row.cell(DetailMetric::relative_error_rate).kind == DetailCell::Kind::number;
    return {narrow ? DType::f8_e4m3fn : DType::f32};
  }

  Status judge_against(const DetailRow& row, const DetailRow* reference, const OutputName& name,
                       OutputResult& output) {
    const DType dtype = dtype_from_name(row.device_dtype);
    const DType bench = dtype_from_name(row.bench_dtype);
    ulpscope_op_record op = {};
    op.struct_size = sizeof op;
    op.kind = ULPSCOPE_OP_API;
    op.phase = name.phase == Phase::forward ? ULPSCOPE_FORWARD : ULPSCOPE_BACKWARD;
    op.step = op.rank = op.token = -1;
    op.parent = ULPSCOPE_NO_INDEX;
    op.name = to_str(row.name);
    op.type = to_str(name.api);
    ulpscope_pair pair = {};
    pair.struct_size = sizeof pair;
    pair.op = &op;
    pair.role = ULPSCOPE_OUTPUT;
    // A value that is no tensor (its type is the text of a Python class) is equal or not.
    pair.actual_dtype = static_cast<int32_t>(dtype == DType::none ? DType::b8 : dtype);
    pair.golden_dtype = static_cast<int32_t>(golden_type(static_cast<DType>(pair.actual_dtype), bench));
    const std::vector<DType> inputs = guess_inputs(row);
    const PolicySubject subject{name.api,   row.name,     OpKind::api,
                                name.phase, Role::output, static_cast<DType>(pair.actual_dtype),
                                inputs,     -1,           -1};
    // The judgement is that of the row whatever the other file holds.
    ULPSCOPE_ASSIGN(const Choice choice, chooser_.choose(subject, pair, true));
    if (choice.ignored_by != Choice::kNone) {
      output.message = "ignored: " + chooser_.policy().ignore[static_cast<size_t>(choice.ignored_by)].why;
      return {};
    }
    if (choice.judgement == Choice::kNone) {
      output.message = "no rule of the policy judges it";
      add(output.message, choice.note);
      return {};
    }
    return apply(row, reference, pair, choice, output);
  }

  // A golden type that the table does not name, or names as something that cannot belong to the device's.
  static DType golden_type(DType device, DType bench) {
    const auto is_number = [](DType t) { return is_floating(t) || is_complex(t); };
    return bench == DType::none || is_number(bench) != is_number(device) ? device : bench;
  }

  Status apply(const DetailRow& row, const DetailRow* reference, const ulpscope_pair& pair,
               const Choice& choice, OutputResult& output) {
    const JudgementHandle& judgement = chooser_.judgement(choice.judgement);
    output.algorithm = judgement.name();
    const auto columns = columns_of(judgement.desc());
    const std::vector<ulpscope_metric> metrics = metrics_of(row, columns);
    bool ignored = false;
    std::string reference_trouble = reference == nullptr
                                        ? "no row of this name in " + printable(reference_.path)
                                        : reason_to_skip(*reference, ignored);
    if (reference != nullptr && reference_trouble.empty() && !reference->unreadable.empty())
      reference_trouble = "the reference cannot be read: " + reference->unreadable;
    const bool compared = reference != nullptr && reference_trouble.empty();
    const std::vector<ulpscope_metric> others =
        compared ? metrics_of(*reference, columns) : std::vector<ulpscope_metric>();
    ULPSCOPE_ASSIGN(const PairVerdict verdict, judgement.judge(pair, metrics, others));
    output.status = status_of(verdict.overall);
    const auto floor = ratio_floor(judgement, chooser_.options_json(choice.judgement),
                                   static_cast<DType>(pair.actual_dtype));
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i]) output.numbers.push_back(number(*columns[i], i, metrics, others, verdict, floor));
    add(output.message, describe(output, floor.has_value()));
    for (std::string* text : {&output.message, &output.reason}) {
      add(*text, verdict.message);
      add(*text, choice.note);
    }
    const bool blank = std::any_of(metrics.begin(), metrics.end(),
                                   [](const ulpscope_metric& metric) { return metric.available == 0; });
    if (blank && output.status == OutputStatus::error)
      for (std::string* text : {&output.message, &output.reason}) add(*text, row.message);
    if (!compared) {
      // What fails by itself fails; the rest was not compared.
      if (output.status != OutputStatus::error) output.status = OutputStatus::skip;
      for (std::string* text : {&output.message, &output.reason}) add(*text, reference_trouble);
      output.bad_data = reference != nullptr && !reference->unreadable.empty();
    }
    return {};
  }

  static OutputResult::Number number(DetailMetric metric, size_t i,
                                     const std::vector<ulpscope_metric>& metrics,
                                     const std::vector<ulpscope_metric>& others, const PairVerdict& verdict,
                                     std::optional<double> floor) {
    OutputResult::Number out;
    out.metric = metric;
    if (metrics[i].available != 0) out.device = metrics[i].value;
    if (!others.empty() && others[i].available != 0) out.reference = others[i].value;
    if (out.device && out.reference && floor)
      out.ratio = metric_ratio(*out.device, *out.reference, *floor).value;
    if (i < verdict.per_metric.size() && verdict.per_metric[i] != ULPSCOPE_SKIP)
      out.status = status_of(verdict.per_metric[i]);
    return out;
  }

  // All SKIP: SKIP; any error: error; any warning: warning; no row: none; else pass.
  OutputStatus roll_up(const ApiResult& api, Phase phase) const {
    OutputStatus worst = OutputStatus::none;
    for (const int64_t i : api.outputs)
      if (facts_[static_cast<size_t>(i)].phase == phase)
        worst = std::max(worst, result_.outputs[static_cast<size_t>(i)].status);
    return worst;
  }

  void finish(ApiResult& api) {
    api.forward = roll_up(api, Phase::forward);
    api.backward = roll_up(api, Phase::backward);
    bool unjudgeable = true;  // no output could be judged, for what it is
    for (const int64_t i : api.outputs) {
      const OutputResult& output = result_.outputs[static_cast<size_t>(i)];
      const Facts& facts = facts_[static_cast<size_t>(i)];
      if (output.status == OutputStatus::skip) add(api.message, output.message);
      unjudgeable = unjudgeable && output.status == OutputStatus::skip &&
                    (facts.unsupported || facts.phase == Phase::none || output.bad_data);
      if (facts.api == "topk" && facts.phase == Phase::forward && output.status == OutputStatus::error &&
          api.message.empty())
        api.message =
            "on an NPU topk returns sorted values even with sorted=False; check whether that is the reason";
    }
    if (unjudgeable) api.forward = api.backward = OutputStatus::skip;
    count(std::max(api.forward, api.backward));
  }

  void count(OutputStatus status) {
    int64_t& counter = status == OutputStatus::error     ? result_.failed
                       : status == OutputStatus::warning ? result_.warned
                       : status == OutputStatus::pass    ? result_.passed
                                                         : result_.skipped;
    ++counter;
  }

  struct Facts {
    Phase phase;  // none: the name is none of an output
    bool unsupported;
    std::string api;
  };

  const DetailsTable &device_, &reference_;
  JudgementChooser& chooser_;
  PrecisionResult result_;
  std::vector<Facts> facts_;  // one for each of result_.outputs
  std::unordered_map<std::string, std::vector<const DetailRow*>> by_name_;
  std::unordered_map<std::string, size_t> api_index_;
};

}  // namespace

std::string_view to_text(OutputStatus status) {
  constexpr std::string_view kWords[] = {" ", "SKIP", "pass", "warning", "error"};
  return kWords[static_cast<size_t>(status)];
}

const OutputResult::Number* OutputResult::number(DetailMetric metric) const {
  for (const Number& each : numbers)
    if (each.metric == metric) return &each;
  return nullptr;
}

Result<PrecisionResult> precision_compare(const DetailsTable& device, const DetailsTable& reference,
                                          JudgementChooser& chooser) {
  return Comparison(device, reference, chooser).run();
}

}  // namespace ulpscope
