#include "formats/acl_array.hpp"

#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "formats/acl_names.hpp"
#include "formats/acl_types.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {

GoldenShapes::GoldenShapes(std::string folder) : folder_(std::move(folder)) {
  constexpr std::string_view kExtension = ".npy";
  const Status listed = for_each_entry(folder_, [&](std::string_view file, EntryKind kind) {
    if (kind != EntryKind::file || !file.ends_with(kExtension)) return true;
    const auto name = parse_golden_name(file.substr(0, file.size() - kExtension.size()));
    if (!name) return true;
    Entry& entry = files_[std::string(name->name) + "." + std::to_string(name->output)];
    if (entry.file.empty() || entry.timestamp < name->timestamp) entry = {name->timestamp, std::string(file)};
    return true;
  });
  if (!listed.ok()) files_.clear();  // whoever compares with the folder says what is wrong with it
}

std::optional<Shape> GoldenShapes::find(std::string_view origin) const {
  const size_t colon = origin.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto entry =
      files_.find(acl_escaped(origin.substr(0, colon)) + "." + std::string(origin.substr(colon + 1)));
  if (entry == files_.end()) return std::nullopt;
  TensorRecord record;
  if (!read_acl_array(folder_, entry->second.file, record).ok()) return std::nullopt;
  return record.shape;
}

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
