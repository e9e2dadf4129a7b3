// The inputs of one recorded call as an executor takes them: read from the dump where it holds them, made up
// from its statistics where it does not. Owns their memory. Used by check and replay.
#pragma once

#include <ulpscope/abi.h>

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "execute/check_plan.hpp"
#include "index/dump_index.hpp"

namespace ulpscope {

struct InputRules {
  bool random = false;  // make the numbers up although the dump holds some
  uint64_t seed = 1234;
  uint64_t limit_bytes = uint64_t{16} << 30;  // of all inputs of a call together
};

// A tensor in memory: dense, row-major.
struct HeldTensor {
  Role role = Role::input;
  std::string path;
  DType dtype = DType::none;
  Shape shape;
  uint32_t flags = 0;
  std::vector<std::byte> data;
};

class CallInputs {
 public:
  // The positional and keyword tensors of the item's forward. io and format: data of the dump cannot be read
  // (the message names the argument); unsupported and no_memory: numbers that cannot be made up.
  static Result<CallInputs> load(const DumpIndex& index, const CheckItem& item, const InputRules& rules);

  CallInputs(CallInputs&&) = default;
  CallInputs& operator=(CallInputs&&) = default;

  // Adds the gradient of an output, with the path of that output: the first input of the item's backward.
  // Errors as load; format also when the dump records none.
  Status add_gradient(const DumpIndex& index, const CheckItem& item, const InputRules& rules,
                      const std::string& output_path);

  // Views of the tensors; valid until a tensor is added.
  std::vector<ulpscope_tensor> views() const;
  const std::deque<HeldTensor>& tensors() const { return tensors_; }

 private:
  CallInputs() = default;
  Status add(const DumpIndex& index, const CheckItem& item, TensorId id, Role role, std::string path,
             const InputRules& rules);

  std::deque<HeldTensor> tensors_;
  uint64_t bytes_ = 0;
};

// All elements of a recorded tensor. Errors as TensorData; no_memory: more than limit_bytes.
Result<HeldTensor> read_tensor(const DumpIndex& index, TensorId id, uint64_t limit_bytes);

// The record of an op as plugins see it. Its texts are those of the index.
ulpscope_op_record op_record(const DumpIndex& index, OpId op, Phase phase);

}  // namespace ulpscope
