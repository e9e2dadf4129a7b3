// In which precision a call is run: the element types of its tensors before the run, and what the rules of
// the offline pre-check do to the inputs of single APIs. Used by the executor.
#pragma once

#include <optional>
#include <string>

#include "values.hpp"

namespace ulpscope::torch_executor {

enum class Precision {
  native,   // as recorded
  raised,   // float16 and bfloat16 in float32, float32 in float64: the golden of the pre-check
  float64,  // everything in float64
};

// The low type of a call that mixes element types, under which a device runs with autocast; nothing when it
// does not mix them.
std::optional<at::ScalarType> mixed_low_type(Call& call);

// Changes the element types of the call's tensors. The rule for raised: of the types float16, bfloat16 and
// float32 among its tensors one alone is raised (float16 and bfloat16 to float32, float32 to float64),
// several together become float32. type_as is left alone, and so are float32 convolutions that hf32 rounds.
void raise(Call& call, Precision precision, bool hf32);
// The same for a tensor that stands alone.
at::Tensor raised(const at::Tensor& tensor, Precision precision);

// Inputs that single APIs get changed: histc takes no integers, cross_entropy no int32, conv1d and conv2d
// round float32 to the precision of an NPU when hf32 is set.
void adapt_inputs(Call& call, bool hf32);

// Each value rounded to hf32, as float32: ((bits >> 11) + 1 >> 1) << 12 on the bits.
at::Tensor round_to_hf32(const at::Tensor& tensor);

}  // namespace ulpscope::torch_executor
