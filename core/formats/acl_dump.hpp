// One file of an offline-model dump: which tensors it records and where their bytes lie in it. Reads all
// three forms (length word and message; message alone, with the bytes inside; tag-length-value of small
// devices). Reads headers only, allocates in proportion to them, and says of each tensor whether it is
// usable. Used by the source of offline-model dumps; converts nothing.
//
//   current   uint64 H | H bytes of message DumpData | inputs | outputs | buffers | spaces
//   old       message DumpData, tensor bytes in its data fields
//   nano      uint64 L | 0x5a5a5a5a, version, block of inputs, block of outputs (L bytes) | inputs | outputs
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

// Stated limits: of tensors in one file, and of any text in its header.
constexpr size_t kMaxAclTensors = 1 << 18;
constexpr uint64_t kMaxAclTextBytes = uint64_t{16} << 20;

enum class AclPart : uint8_t { input, output, buffer, space };
// "input", "output", "buffer", "space".
std::string_view to_text(AclPart part);

enum class AclState : uint8_t {
  good,         // [offset, offset + size_bytes) are the elements
  not_dumped,   // its address was null: the bytes were not written
  no_data,      // recorded without bytes
  unsupported,  // an element type that is not read here; the bytes are located
  bad,          // problem says why
};

struct AclTensor {
  AclPart part = AclPart::input;
  uint32_t index = 0;     // among those of its part
  int32_t data_type = 0;  // number of the dump format (acl_types.hpp)
  int32_t format = 0, sub_format = 0;
  Shape shape, original_shape;     // stored and original
  uint64_t size = 0, address = 0;  // as recorded
  std::string original_name;       // of outputs, where the writer knew it
  uint32_t original_index = 0;
  int32_t original_format = -1;  // -1: not recorded
  AclState state = AclState::good;
  std::string problem;                  // of a bad tensor
  std::string warning;                  // of a usable one
  uint64_t offset = 0, size_bytes = 0;  // of the elements in the file
  uint64_t record_at = 0;               // byte of its record in the file

  // "output 2"
  std::string name() const;
};

struct AclDump {
  std::string version, op_name;  // op_name is empty in the nano form
  uint64_t dump_time_us = 0;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<AclTensor> tensors;  // inputs, outputs, buffers, spaces; each by index
  std::vector<std::string> warnings;
  bool nano = false, inlined = false;  // which form, current when neither
};

// format: too short, a header that is not one, a length that lies; the message names the file and the place.
// Damage of single tensors is no error: their state says it. io. Any thread.
Result<AclDump> read_acl_dump(const File& file);

}  // namespace ulpscope
