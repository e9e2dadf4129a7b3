// Operators that ran in slices: what an operator's attribute says of the cuts, and the joining of the slices'
// elements. Used by the source of offline-model dumps.
#pragma once

#include <ulpscope/plugin.hpp>
#include <ulpscope/types.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

// Where each tensor of an operator was cut; -1: not cut.
struct AclSlicing {
  int64_t instances = 0;  // slices that there should be; 0: not said
  std::vector<int32_t> input_axes, output_axes;
};

// From the text of the operator's first attribute. format: no JSON object with the members of a slicing.
Result<AclSlicing> parse_acl_slicing(std::string_view json);

// The elements of several streams, joined: run_bytes[i] of stream i after those of the streams before it,
// over and over until all are at their end.
std::unique_ptr<ByteStream> join_streams(std::vector<std::unique_ptr<ByteStream>> streams,
                                         std::vector<uint64_t> run_bytes);

}  // namespace ulpscope
