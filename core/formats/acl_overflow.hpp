// The records that an accelerator writes when a kernel overflows (files Opdebug.Node_OpDebug.*): which task
// raised which status. Used by the source of offline-model dumps, which finds the operator of the task. Pure.
//
//   old   2048 bytes: blocks of six uint64 (model, stream, task, task type, pc start, para base) at 0 DHA
//   atomic
//         add, 128 L2 atomic add, 256 AI Core; status at 512 and 768; at 1024 kernel code, block index,
//         status
//   new   uint32 magic 0x5a5a5a5a, version, valid, acc_type, reserved, data_len; data_len bytes of uint64
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/tensor_file_bytes.hpp"

namespace ulpscope {

struct AclOverflow {
  std::string kind;  // "AI Core", "L2 Atomic Add", "DHA Atomic Add", "AIC", "AIV", "AICPU", "SDMA"
  uint64_t stream = 0, task = 0;
  int64_t context = -1, thread = -1;  // -1: none
  std::vector<uint64_t> status;       // one word, or four
};

struct AclOverflowRecord {
  std::vector<AclOverflow> findings;
  std::string note;  // why there are none
};

// The largest record there is; nothing beyond these bytes is looked at.
constexpr uint64_t kAclOverflowBytes = 2048;

// format: neither an old nor a new record. Any thread.
Result<AclOverflowRecord> parse_acl_overflow(Bytes record);

// The findings as a JSON object for the attributes of an op: {"overflow": [{"kind": ..., "status": ...}]}.
std::string overflow_json(const std::vector<AclOverflow>& findings);

}  // namespace ulpscope
