#include "index/content_key.hpp"

#include <xxhash.h>

#include <array>
#include <string_view>

namespace ulpscope {
namespace {

ContentKey to_key(XXH128_hash_t hash) { return {hash.low64, hash.high64 | 1}; }

}  // namespace

ContentKey recorded_key(const DumpIndex& index, TensorId id) {
  const TensorRow& tensor = index.tensors()[id];
  constexpr uint32_t kAll = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_MEAN | ULPSCOPE_STAT_L2;
  const int64_t count = index.element_count(id);
  if (tensor.digest != 0) {
    const std::string_view digest = index.text(tensor.digest);
    return to_key(XXH3_128bits_withSeed(digest.data(), digest.size(), static_cast<uint64_t>(count)));
  }
  if ((tensor.stats.present & kAll) != kAll) return {};
  const std::array<double, 4> values = {tensor.stats.max, tensor.stats.min, tensor.stats.mean,
                                        tensor.stats.l2norm};
  const auto seed = static_cast<uint64_t>(count) * 64 + static_cast<uint64_t>(tensor.dtype);
  return to_key(XXH3_128bits_withSeed(values.data(), sizeof(values), seed));
}

}  // namespace ulpscope
