#include "conformance/judgement_samples.hpp"

#include <ulpscope/half.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ulpscope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void append_number(std::vector<std::byte>& bytes, DType dtype, double value) {
  switch (dtype) {
    case DType::f64:
      return append(bytes, value);
    case DType::f32:
      return append(bytes, static_cast<float>(value));
    case DType::f16:
      return append(bytes, f16_from_double(value));
    case DType::bf16:
      return append(bytes, bf16_from_double(value));
    case DType::i64:
      return append(bytes, static_cast<int64_t>(std::isfinite(value) ? value : 0));
    case DType::i32:
      return append(bytes, static_cast<int32_t>(std::isfinite(value) ? value : 0));
    default:
      return append(bytes, static_cast<uint8_t>(value != 0));  // bool
  }
}

double smallest(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return std::numeric_limits<double>::denorm_min();
    case DType::f32:
    case DType::bf16:
      return static_cast<double>(std::numeric_limits<float>::denorm_min()) *
             (dtype == DType::bf16 ? 65536 : 1);
    case DType::f16:
      return std::ldexp(1.0, -24);
    default:
      return 1;
  }
}

SamplePair pair_of(DType actual, DType golden, const std::string& what, const std::vector<double>& a,
                   const std::vector<double>& g) {
  return {std::string(name(actual)) + (actual == golden ? "" : " against " + std::string(name(golden))) +
              ", " + what,
          sample_tensor(actual, a), sample_tensor(golden, g)};
}

}  // namespace

ulpscope_view SampleTensor::view(uint64_t begin, uint64_t end) const {
  return {bytes.data() + begin * size_bytes(dtype), end - begin, static_cast<int32_t>(dtype), 0};
}

SampleTensor sample_tensor(DType dtype, const std::vector<double>& values) {
  SampleTensor tensor{dtype, {}, values.size()};
  for (const double value : values) append_number(tensor.bytes, dtype, value);
  return tensor;
}

std::vector<SamplePair> edge_pairs() {
  std::vector<SamplePair> pairs;
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32, DType::b8}) {
    const double tiny = smallest(dtype);
    pairs.push_back(pair_of(dtype, dtype, "no element", {}, {}));
    pairs.push_back(pair_of(dtype, dtype, "one element", {1}, {2}));
    pairs.push_back(pair_of(dtype, dtype, "zeros against numbers", {0, 0, 0}, {1, -1, 2}));
    pairs.push_back(pair_of(dtype, dtype, "numbers against zeros", {1, -1, 2}, {0, 0, 0}));
    if (!is_floating(dtype)) continue;
    pairs.push_back(pair_of(dtype, dtype, "all NaN", {kNaN, kNaN}, {kNaN, kNaN}));
    pairs.push_back(pair_of(dtype, dtype, "NaN against numbers", {kNaN, 1}, {1, kNaN}));
    pairs.push_back(
        pair_of(dtype, dtype, "infinities", {kInfinity, -kInfinity, 1}, {kInfinity, kInfinity, kInfinity}));
    pairs.push_back(pair_of(dtype, dtype, "zeros of both signs", {0.0, -0.0}, {-0.0, 0.0}));
    pairs.push_back(pair_of(dtype, dtype, "subnormal numbers", {tiny, -tiny, 0}, {0, tiny, tiny}));
  }
  for (const auto& [actual, golden] : {std::pair{DType::f16, DType::f32},
                                       {DType::bf16, DType::f64},
                                       {DType::f32, DType::i64},
                                       {DType::b8, DType::f32}})
    pairs.push_back(pair_of(actual, golden, "two types", {1, 0, 1}, {1, 1, 0}));
  return pairs;
}

SamplePair noisy_pair(DType dtype, uint64_t count) {
  std::vector<double> actual, golden;
  uint32_t state = 12345;
  const auto next = [&state] {
    state = state * 1664525u + 1013904223u;
    return static_cast<double>(state >> 8) / (1 << 24) - 0.5;
  };
  for (uint64_t i = 0; i < count; ++i) {
    const double value = next() * std::ldexp(1.0, static_cast<int>(i % 9) - 4);
    golden.push_back(value);
    actual.push_back(value * (1 + 1e-3 * next()));
  }
  return pair_of(dtype, dtype, "noise", actual, golden);
}

PairFacts::PairFacts(const SamplePair& pair) : dim(static_cast<int64_t>(pair.actual.count)) {
  op.struct_size = sizeof op;
  op.kind = ULPSCOPE_OP_API;
  op.phase = ULPSCOPE_FORWARD;
  op.step = op.rank = op.token = -1;
  op.parent = ULPSCOPE_NO_INDEX;
  op.name = to_str("Torch.mul.0.forward");
  op.type = to_str("mul");
  facts.struct_size = sizeof facts;
  facts.dim_count = 1;
  facts.dims = &dim;
  facts.op = &op;
  facts.role = ULPSCOPE_OUTPUT;
  facts.actual_dtype = static_cast<int32_t>(pair.actual.dtype);
  facts.golden_dtype = static_cast<int32_t>(pair.golden.dtype);
  facts.path = to_str("0");
  facts.count = pair.actual.count;
}

Result<MeasureHandle> measure_part(const JudgementHandle& judgement, const SamplePair& pair, uint64_t begin,
                                   uint64_t end, uint64_t chunk) {
  const PairFacts facts(pair);
  ULPSCOPE_ASSIGN(MeasureHandle measure, judgement.begin(facts.facts));
  for (uint64_t at = begin; at < end; at += chunk) {
    const uint64_t stop = std::min(end, at + chunk);
    ULPSCOPE_TRY(measure.consume(pair.actual.view(at, stop), pair.golden.view(at, stop)));
  }
  return measure;
}

}  // namespace ulpscope
