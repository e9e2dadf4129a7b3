#include "execute/replay.hpp"

#include <ulpscope/half.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.hpp"
#include "execute/gradient_pairs.hpp"
#include "execute/output_judge.hpp"
#include "execute/recorded_outputs.hpp"

namespace ulpscope {
namespace {

// A side is off when its error is more than this many times that of a run in the same precision, or, without
// one, than the rounding of the type: sums in another order differ by a few times, faults by orders.
constexpr double kOffFactor = 16;
constexpr uint64_t kLimitBytes = uint64_t{16} << 30;

double element(const OutputTensor& tensor, size_t i) {
  const size_t size = size_bytes(tensor.dtype);
  uint64_t code = 0;
  std::memcpy(&code, tensor.data.data() + i * size, size);
  switch (tensor.dtype) {
    case DType::b8:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
      return static_cast<double>(code);
    case DType::i8:
      return static_cast<double>(static_cast<int8_t>(code));
    case DType::i16:
      return static_cast<double>(static_cast<int16_t>(code));
    case DType::i32:
      return static_cast<double>(static_cast<int32_t>(code));
    case DType::i64:
      return static_cast<double>(static_cast<int64_t>(code));
    default:
      return float_to_double(tensor.dtype, code);
  }
}

// A complex tensor as twice as many numbers.
OutputTensor as_real(const OutputTensor& tensor) {
  OutputTensor out = tensor;
  if (!is_complex(tensor.dtype)) return out;
  out.dtype = tensor.dtype == DType::c128 ? DType::f64 : tensor.dtype == DType::c64 ? DType::f32 : DType::f16;
  return out;
}

bool same_nonfinite(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

std::vector<OutputTensor> run(const std::vector<ExecutorHandle*>& executors, const ulpscope_op_record& op,
                              const CallInputs& inputs, Status& status) {
  const auto views = inputs.views();
  status = Error{Code::unsupported, "there is no executor that could run it"};
  for (ExecutorHandle* executor : executors) {
    if (executor != executors.back() && !executor->supports(op)) continue;
    OutputCollector collector(kLimitBytes);
    status = executor->run(op, views, collector.sink());
    return collector.take();
  }
  return {};
}

void judge(ReplayOutput& output) {
  const ReplayError& error = output.recorded;
  if (error.nonfinite > 0) {
    output.verdict = ReplayVerdict::off;
    output.message = count_text(error.nonfinite) + " NaN or infinities that are not the same";
    return;
  }
  if (!error.rel_l2) {
    output.verdict = ReplayVerdict::fine;
    return;
  }
  double expected = unit_roundoff(output.dtype);
  if (output.has_rounding && output.rounding.rel_l2) expected = std::max(expected, *output.rounding.rel_l2);
  output.verdict = *error.rel_l2 <= kOffFactor * expected ? ReplayVerdict::fine : ReplayVerdict::off;
}

// The exact gradients in the order of the recorded ones, under the assignment that fits them best.
std::vector<OutputTensor> arranged(const DumpIndex& index, const CheckItem& item,
                                   const std::vector<OutputTensor>& exact,
                                   const std::vector<std::optional<RecordedOutput>>& recorded) {
  std::vector<OutputTensor> best;
  double least = 0;
  for (const auto& pairs : pair_recorded_gradients(index, item, exact, recorded)) {
    std::vector<OutputTensor> tried;
    double error = 0;
    for (const GradientPair& pair : pairs) {
      tried.push_back(*pair.golden);
      error += replay_error(*pair.recorded, *pair.golden).rel_l2.value_or(0);
    }
    if (!best.empty() && !(error < least)) continue;
    least = error;
    best = std::move(tried);
  }
  return best;
}

}  // namespace

std::string_view to_text(ReplayVerdict verdict) {
  constexpr std::string_view kWords[] = {"fine", "off", "unknown"};
  return kWords[static_cast<size_t>(verdict)];
}

ReplayVerdict ReplaySide::verdict() const {
  ReplayVerdict all = outputs.empty() ? ReplayVerdict::unknown : ReplayVerdict::fine;
  for (const ReplayOutput& output : outputs) {
    if (output.verdict == ReplayVerdict::off) return ReplayVerdict::off;
    if (output.verdict == ReplayVerdict::unknown) all = ReplayVerdict::unknown;
  }
  return all;
}

ReplayError replay_error(const OutputTensor& actual, const OutputTensor& exact) {
  const OutputTensor a = as_real(actual), g = as_real(exact);
  const size_t count = a.data.size() / size_bytes(a.dtype);
  ReplayError out;
  double errors = 0, squares = 0;
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    const double x = element(a, i), y = element(g, i);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      out.nonfinite += same_nonfinite(x, y) ? 0 : 1;
      continue;
    }
    const double e = std::fabs(x - y);
    errors += e * e;
    squares += y * y;
    if (!any || e > *out.max_abs) {
      out.max_abs = e;
      out.worst = static_cast<int64_t>(i);
      out.worst_value = x;
      out.worst_exact = y;
    }
    any = true;
  }
  if (any) out.rel_l2 = errors == 0 ? 0 : squares == 0 ? HUGE_VAL : std::sqrt(errors / squares);
  return out;
}

std::vector<std::string> differing_inputs(const CallInputs& a, const CallInputs& b) {
  std::vector<std::string> out;
  const size_t count = std::max(a.tensors().size(), b.tensors().size());
  for (size_t i = 0; i < count; ++i) {
    const HeldTensor* x = i < a.tensors().size() ? &a.tensors()[i] : nullptr;
    const HeldTensor* y = i < b.tensors().size() ? &b.tensors()[i] : nullptr;
    const bool same = x != nullptr && y != nullptr && x->role == y->role && x->path == y->path &&
                      x->dtype == y->dtype && x->shape == y->shape && x->data == y->data;
    if (same) continue;
    const HeldTensor& named = x == nullptr ? *y : *x;
    out.push_back(std::string(role_word(named.role)) + "." + named.path);
  }
  return out;
}

Result<ReplaySide> replay(const DumpIndex& index, const CheckItem& item, Phase phase,
                          const std::vector<ExecutorHandle*>& exact, ExecutorHandle* rounding,
                          const InputRules& rules) {
  ULPSCOPE_ASSIGN(CallInputs inputs, CallInputs::load(index, item, rules));
  if (phase == Phase::backward) ULPSCOPE_TRY(inputs.add_gradient(index, item, rules, "0"));
  ReplaySide side{index.path(), std::move(inputs), {}, {}, {}, {}};
  const ulpscope_op_record op = op_record(index, item.forward, phase);
  Status ran;
  side.exact = run(exact, op, side.inputs, ran);
  ULPSCOPE_TRY(ran);
  const OpId source = phase == Phase::backward ? item.backward : item.forward;
  auto recorded = recorded_outputs(index, source, rules.limit_bytes);
  std::vector<OutputTensor> rounded;
  if (rounding != nullptr && rounding->supports(op)) {
    rounded = run({rounding}, op, side.inputs, ran);
    if (!ran.ok()) side.notes.push_back("no run in the recorded precision: " + ran.error().message);
  }
  if (phase == Phase::backward && recorded.ok()) {
    if (!rounded.empty()) rounded = arranged(index, item, rounded, *recorded);
    side.exact = arranged(index, item, side.exact, *recorded);
    if (side.exact.empty())
      return Error{Code::unsupported, "the gradients of the dump cannot be assigned to the arguments"};
  }
  if (recorded.ok()) {
    for (auto& each : *recorded)
      if (each) side.recorded.push_back(std::move(each->tensor));
  } else {
    side.notes.push_back(recorded.error().message);
  }
  for (size_t i = 0; i < side.exact.size(); ++i) {
    ReplayOutput output;
    output.name = "output." + std::to_string(i);
    output.dtype = i < side.recorded.size() ? side.recorded[i].dtype : side.exact[i].dtype;
    output.shape = side.exact[i].shape;
    if (i >= side.recorded.size()) {
      output.message = "the dump records no data of it";
    } else if (side.recorded[i].shape != side.exact[i].shape) {
      output.verdict = ReplayVerdict::off;
      output.message = "the recorded shape is " + shape_text(side.recorded[i].shape) +
                       ", that of the replay " + shape_text(side.exact[i].shape);
    } else {
      output.recorded = replay_error(side.recorded[i], side.exact[i]);
      output.has_rounding = i < rounded.size() && rounded[i].shape == side.exact[i].shape;
      if (output.has_rounding) output.rounding = replay_error(rounded[i], side.exact[i]);
      judge(output);
    }
    side.outputs.push_back(std::move(output));
  }
  return side;
}

}  // namespace ulpscope
