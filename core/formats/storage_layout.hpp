// From the storage format of an accelerator to the original layout of a tensor: which stored element each
// logical element is. A plan is made from shapes alone; the elements are moved by storage_stream.hpp. Used by
// the sources of accelerator dumps. Pure.
//
// Every format here stores the logical dimensions as they are or cut into blocks, so a stored axis is
//   index = (logical index / divisor) % modulus        (modulus 0: no wrap)
// of one logical dimension. C0, N0, R0 are the last stored axes; what is stored beyond the original is
// padding.
//
//   NC1HWC0      N C/C0 H W C%C0                 NDC1HWC0     N D C/C0 H W C%C0
//   FRACTAL_NZ   B.. C/C0 R/R0 R%R0 C%C0         FRACTAL_Z    C/C0 H W N/N0 N%N0 C%C0, first three as one
//   C1HWNCoC0    C/C0 H W N C%C0 C%C0            FRACTAL_Z_3D D C/C0 H W N/N0 N%N0 C%C0, first four as one
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct StoredAxis {
  int64_t size = 1;
  int32_t dimension = 0;  // of StoragePlan::logical; -1: always index 0
  int64_t divisor = 1, modulus = 0;
};

// A grouped FRACTAL_Z: axes G1, C1, H, W, O, C0, of which O and the channels depend on the group.
//   i = (g % block) * channels + c, o = (g % block) * filters + k; G1 = g / block, C1 = i / C0, O = o
struct StorageGroups {
  int64_t groups = 1, block = 1;      // block: groups that share a stored block
  int64_t channels = 1, filters = 1;  // of one group
  int64_t c0 = 1;
};

struct StoragePlan {
  Shape shape;                     // of the result, in the order of the original layout
  bool identity = false;           // the first bytes of the stored array are the result
  std::vector<StoredAxis> stored;  // axes of the stored array, outermost first
  bool grouped = false;
  StorageGroups groups;
  int32_t n_dimension = 0, c_dimension = 0;  // of a grouped plan, in shape
  std::string note;                          // what was guessed; empty: nothing
};

struct StorageQuery {
  int32_t format = 2, sub_format = 0;  // numbers of acl_types.hpp; of sub_format the groups of FRACTAL_Z
  Shape stored, original;              // original: empty or with a negative dimension: not known
  bool original_known = false;
  std::vector<int32_t> layouts;  // of the original, as far as something says them, most trusted first
};

// The dimensions of a plain layout, one letter each: "NCHW"; empty for any other format.
std::string_view layout_letters(int32_t format);

// unsupported: the format, or stored and original shapes, cannot be brought together; the message says why
// and the stored array stays readable as it is. Any thread.
Result<StoragePlan> plan_storage(const StorageQuery& query);

}  // namespace ulpscope
