// The names inside an ATB dump: folders of operations, files of tensors, ids, and what an alias points at.
// Pure text; used by the readers of the tree, the CSV table and the topology.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ulpscope {

// "4_Prefill_layer": the number in front of the first '_', and the rest. Nothing for a name without them.
struct AtbOpName {
  int64_t id = 0;
  std::string_view type;
};
std::optional<AtbOpName> parse_atb_op_name(std::string_view name);

// "intensor0_x.bin": which tensor of its operation, and the parameter name that some versions add.
struct AtbTensorName {
  bool is_output = false;
  int64_t index = 0;
  std::string_view label;
};
std::optional<AtbTensorName> parse_atb_tensor_name(std::string_view file_name);
// The same for the index text alone: "0", "0_x".
std::optional<AtbTensorName> parse_atb_index(std::string_view text);

// The tensor that an alias means: "4_0_0_outtensor0.bin" is output 0 of operation 4/0/0 of the same round.
// ids is empty where the text is a plain file name: then nothing was stored under it.
struct AtbAlias {
  std::vector<int64_t> ids;
  bool is_output = false;
  int64_t index = 0;
};
std::optional<AtbAlias> parse_atb_alias(std::string_view text);

// "4_1_0" for {4, 1, 0}.
std::string atb_id_text(const std::vector<int64_t>& ids);
// "4_0_0_outtensor0": how aliases name a tensor.
std::string atb_tensor_key(std::string_view id_text, bool is_output, int64_t index);

// "0_39943": device 0, process 39943. A text without '_' is a process on device 0.
struct AtbProcess {
  int32_t device = 0;
  std::string pid;
};
std::optional<AtbProcess> parse_atb_process(std::string_view name);

// A whole number from 0 without sign; nothing for any other text.
std::optional<int64_t> parse_atb_number(std::string_view text);

}  // namespace ulpscope
