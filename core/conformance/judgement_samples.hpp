// Tensor pairs that a judgement must be able to take: every kind of number, few and many elements, equal and
// different sides. Values are fixed, so that a finding can be repeated.
#pragma once

#include <ulpscope/abi.h>
#include <ulpscope/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "plugin/handles.hpp"

namespace ulpscope {

// Dense elements of one type.
struct SampleTensor {
  DType dtype = DType::f32;
  std::vector<std::byte> bytes;
  uint64_t count = 0;
  ulpscope_view view(uint64_t begin, uint64_t end) const;
};

struct SamplePair {
  std::string what;  // "float16, all NaN"
  SampleTensor actual, golden;
};

// Elements of dtype from numbers, each rounded to it. dtype: bool, an integer, or a real floating format.
SampleTensor sample_tensor(DType dtype, const std::vector<double>& values);

// Empty, one element, NaN, infinities, zeros, subnormals, of each type; and sides of two types.
std::vector<SamplePair> edge_pairs();
// count elements with small errors, from a fixed sequence.
SamplePair noisy_pair(DType dtype, uint64_t count);

// The description of a pair that a judgement gets. op and dims must outlive it.
struct PairFacts {
  explicit PairFacts(const SamplePair& pair);
  PairFacts(const PairFacts&) = delete;
  PairFacts& operator=(const PairFacts&) = delete;
  int64_t dim = 0;
  ulpscope_op_record op = {};
  ulpscope_pair facts = {};
};

// Measures elements [begin, end) of pair in chunks of chunk elements.
Result<MeasureHandle> measure_part(const JudgementHandle& judgement, const SamplePair& pair, uint64_t begin,
                                   uint64_t end, uint64_t chunk);

}  // namespace ulpscope
