#include "execute/output_judge.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "base/text.hpp"

namespace ulpscope {
namespace {

enum class TypeClass { floating, integer, boolean, complex };

// uint8 stands for bool on some devices; the sizes of integers do not matter.
TypeClass class_of(DType t) {
  if (is_complex(t)) return TypeClass::complex;
  if (is_floating(t)) return TypeClass::floating;
  return t == DType::b8 || t == DType::u8 ? TypeClass::boolean : TypeClass::integer;
}

bool same_class(DType a, DType b) {
  const TypeClass x = class_of(a), y = class_of(b);
  const auto exact = [](TypeClass c) { return c == TypeClass::integer || c == TypeClass::boolean; };
  // A real uint8 against another integer is a matter of size.
  if (exact(x) && exact(y)) return (a == DType::b8) == (b == DType::b8) || a == DType::u8 || b == DType::u8;
  return x == y;
}

std::string type_text(DType t) { return std::string("torch.") + name(t); }

ulpscope_view view_of(const OutputTensor& tensor) {
  return {tensor.data.data(), static_cast<uint64_t>(element_count(tensor)),
          static_cast<int32_t>(tensor.dtype), 0};
}

Result<Measurement> measure(const JudgementHandle& judgement, const ulpscope_pair& pair,
                            const OutputTensor& golden, const OutputTensor& device) {
  ULPSCOPE_ASSIGN(MeasureHandle measuring, judgement.begin(pair));
  ULPSCOPE_TRY(measuring.consume(view_of(device), view_of(golden)));
  return measuring.finish();
}

// The numbers of a judgement into the cells of the table, those of which wanted says so.
template <class Wanted>
void fill_cells(const JudgementHandle& judgement, const Measurement& measured, CheckOutput& row,
                Wanted wanted) {
  const ulpscope_judgement_desc& desc = judgement.desc();
  for (uint32_t i = 0; i < desc.metric_count; ++i)
    for (size_t k = 0; k < kDetailMetrics; ++k)
      if (metric_name(static_cast<DetailMetric>(k)) == desc.metrics[i].name &&
          measured.metrics[i].available != 0 && wanted(i))
        row.cells[k] = measured.metrics[i].value;
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

// The policy's choice for the files of msprobe comes with the limits of its code.
const char* precheck_profile(const Policy& policy) {
  return policy.name.starts_with("msprobe") ? R"({"profile":"msprobe_code"})" : "{}";
}

}  // namespace

std::string shape_text(const Shape& shape) {
  if (shape.size() == 1) return fmt::format("({},)", shape[0]);
  return fmt::format("({})", fmt::join(shape, ", "));
}

CheckOutput skipped_output(std::string name, std::string message) {
  CheckOutput row;
  row.name = std::move(name);
  row.message = std::move(message);
  return row;
}

int64_t element_count(const OutputTensor& tensor) {
  return static_cast<int64_t>(tensor.data.size() / size_bytes(tensor.dtype));
}

int64_t zero_count(const OutputTensor& tensor) {
  const size_t size = size_bytes(tensor.dtype);
  const bool has_sign = is_floating(tensor.dtype);
  int64_t zeros = 0;
  for (size_t at = 0; at < tensor.data.size(); at += size) {
    bool zero = true;
    for (size_t i = 0; i < size; ++i) {
      const auto mask = has_sign && i == size - 1 ? std::byte{0x7f} : std::byte{0xff};  // -0.0 is zero too
      zero = zero && (tensor.data[at + i] & mask) == std::byte{0};
    }
    zeros += zero ? 1 : 0;
  }
  return zeros;
}

OutputJudge::OutputJudge(JudgementChooser chooser, JudgementHandle precheck, JudgementHandle binary,
                         JudgementHandle quantised, std::set<std::string, std::less<>> quantised_apis)
    : chooser_(std::move(chooser)),
      precheck_(std::move(precheck)),
      binary_(std::move(binary)),
      quantised_(std::move(quantised)),
      quantised_apis_(std::move(quantised_apis)) {}

Result<OutputJudge> OutputJudge::make(Policy policy, Registry& registry,
                                      std::set<std::string, std::less<>> quantised) {
  ULPSCOPE_ASSIGN(JudgementHandle precheck, registry.create_judgement("precheck", precheck_profile(policy)));
  ULPSCOPE_ASSIGN(JudgementHandle binary, registry.create_judgement("binary_consistency", "{}"));
  ULPSCOPE_ASSIGN(JudgementHandle off_by_one, registry.create_judgement("quantised", "{}"));
  return OutputJudge(JudgementChooser(std::move(policy), registry), std::move(precheck), std::move(binary),
                     std::move(off_by_one), std::move(quantised));
}

CheckOutput OutputJudge::judge(const JudgedApi& api, std::string name, const OutputTensor& golden,
                               const OutputTensor& device) {
  CheckOutput row;
  row.name = std::move(name);
  row.bench_dtype = type_text(golden.dtype);
  row.device_dtype = type_text(device.dtype);
  row.shape = shape_text(device.shape);
  const auto fail = [&](std::string message) {
    row.status = OutputStatus::error;
    row.message = std::move(message);
    return row;
  };
  if (golden.shape != device.shape)
    return fail("the shape is " + shape_text(device.shape) + ", the golden's " + shape_text(golden.shape));
  if (!same_class(golden.dtype, device.dtype))
    return fail("the type is " + row.device_dtype + ", the golden's " + row.bench_dtype);
  if (device.data.empty()) {
    row.message = "no elements";
    return row;
  }
  ulpscope_pair pair = {};
  pair.struct_size = sizeof pair;
  pair.dim_count = static_cast<uint32_t>(device.shape.size());
  pair.dims = device.shape.data();
  pair.op = api.op;
  pair.role = ULPSCOPE_OUTPUT;
  pair.actual_dtype = static_cast<int32_t>(device.dtype);
  pair.golden_dtype = static_cast<int32_t>(golden.dtype);
  pair.path = to_str(device.path);
  pair.count = static_cast<uint64_t>(element_count(device));
  const bool floats = class_of(device.dtype) == TypeClass::floating || is_complex(device.dtype);
  const Status done =
      floats ? judge_floats(api, pair, golden, device, row) : judge_exact(api, pair, golden, device, row);
  if (!done.ok()) {
    row.status = OutputStatus::skip;
    add_sentence(row.message, done.error().message);
  }
  return row;
}

Status OutputJudge::judge_exact(const JudgedApi& api, const ulpscope_pair& pair, const OutputTensor& golden,
                                const OutputTensor& device, CheckOutput& row) {
  const PolicySubject subject{api.api,
                              to_view(api.op->name),
                              OpKind::api,
                              Phase::forward,
                              Role::output,
                              device.dtype,
                              api.input_dtypes,
                              -1,
                              -1};
  ULPSCOPE_ASSIGN(const Choice choice, chooser_.choose(subject, pair, true));
  const bool listed =
      choice.judgement != Choice::kNone && chooser_.judgement(choice.judgement).name() == "quantised";
  const JudgementHandle& judgement =
      is_integer(device.dtype) && (listed || quantised_apis_.count(api.api) > 0) ? quantised_ : binary_;
  row.algorithm = judgement.name();
  ULPSCOPE_ASSIGN(const Measurement measured, measure(judgement, pair, golden, device));
  fill_cells(judgement, measured, row, [](uint32_t) { return true; });
  ULPSCOPE_ASSIGN(const PairVerdict verdict, judgement.judge(pair, measured.metrics, {}));
  row.status = status_of(verdict.overall);
  row.message = verdict.message;
  return {};
}

// The metrics by which precision-compare will judge the row: those of the policy's choice alone, so that the
// table says which algorithm it was. float64 and complex outputs are not judged there.
Status OutputJudge::measure_chosen(const JudgedApi& api, const ulpscope_pair& pair,
                                   const OutputTensor& golden, const OutputTensor& device, CheckOutput& row) {
  if (device.dtype == DType::f64 || is_complex(device.dtype)) return {};
  const Phase phase = api.op->phase == ULPSCOPE_BACKWARD ? Phase::backward : Phase::forward;
  const PolicySubject subject{api.api,      to_view(api.op->name), OpKind::api, phase, Role::output,
                              device.dtype, api.input_dtypes,      -1,          -1};
  ULPSCOPE_ASSIGN(const Choice choice, chooser_.choose(subject, pair, true));
  if (choice.judgement == Choice::kNone) return {};
  const JudgementHandle& judgement = chooser_.judgement(choice.judgement);
  row.algorithm = judgement.name();
  ULPSCOPE_ASSIGN(const Measurement measured, measure(judgement, pair, golden, device));
  fill_cells(judgement, measured, row, [](uint32_t) { return true; });
  return {};
}

Status OutputJudge::judge_floats(const JudgedApi& api, const ulpscope_pair& pair, const OutputTensor& golden,
                                 const OutputTensor& device, CheckOutput& row) {
  ULPSCOPE_TRY(measure_chosen(api, pair, golden, device, row));
  ULPSCOPE_ASSIGN(const Measurement measured, measure(precheck_, pair, golden, device));
  ULPSCOPE_ASSIGN(const PairVerdict verdict, precheck_.judge(pair, measured.metrics, {}));
  // Columns that the sequence of indicators did not reach stay blank; cosine and largest error come first.
  const auto decided = [&](uint32_t i) {
    return i < verdict.per_metric.size() && verdict.per_metric[i] != ULPSCOPE_SKIP;
  };
  constexpr uint32_t kCosine = 0, kMaxAbs = 1;
  const bool stopped = decided(kCosine) && verdict.per_metric[kCosine] == ULPSCOPE_FAIL;
  fill_cells(precheck_, measured, row,
             [&](uint32_t i) { return i == kCosine || (i == kMaxAbs && !stopped) || decided(i); });
  row.status = status_of(verdict.overall);
  row.message = verdict.message;
  return {};
}

}  // namespace ulpscope
