#include "formats/acl_array.hpp"

#include <utility>
#include <vector>

#include "base/file.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {

Result<AclStretch> read_acl_array(const std::string& root, const std::string& file, TensorRecord& record) {
  ULPSCOPE_ASSIGN(const File opened, File::open_under(root, file));
  ULPSCOPE_ASSIGN(const TensorFileKind kind, sniff(opened));
  if (kind != TensorFileKind::npy) return Error{Code::format, file + ": expected an npy file"};
  ULPSCOPE_ASSIGN(const std::vector<TensorPlace> places, read_places(opened));
  if (places.empty()) return Error{Code::format, file + ": no tensor, expected one"};
  const TensorPlace& place = places[0];
  if (!place.refusal.empty()) return Error{Code::unsupported, file + ": " + place.refusal};
  record.dtype = place.dtype;
  record.shape = place.shape;
  AclStretch stretch{file, place.offset, place.size, {}, size_bytes(place.dtype), 0};
  stretch.plan.shape = place.shape;
  stretch.plan.identity = place.plain;
  if (place.plain) return stretch;
  if (place.big_endian)
    return Error{Code::unsupported,
                 file + ": the bytes of its elements are in the other order, expected little-endian"};
  // Not plain and not turned: the first dimension is the one whose neighbours lie together.
  for (size_t d = place.shape.size(); d-- > 0;)
    stretch.plan.stored.push_back({place.shape[d], static_cast<int32_t>(d), 1, 0});
  return stretch;
}

}  // namespace ulpscope
