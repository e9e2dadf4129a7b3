#include "formats/pt.hpp"

#include <algorithm>
#include <string>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr std::string_view kPickleName = "/data.pkl";

// Index of the last element that the view reaches, counted from the view's first storage element; nothing on
// overflow.
std::optional<uint64_t> last_element(const PickleTensor& tensor) {
  uint64_t last = static_cast<uint64_t>(tensor.first_element);
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const auto steps = static_cast<uint64_t>(tensor.shape[i]) - 1;
    uint64_t reach = 0;
    if (__builtin_mul_overflow(steps, static_cast<uint64_t>(tensor.strides[i]), &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return std::nullopt;
  }
  return last;
}

bool is_dense(const Shape& shape, const std::vector<int64_t>& strides) {
  const std::vector<int64_t> dense = dense_strides(shape);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && strides[i] != dense[i]) return false;
  return true;
}

// Elements of the storage that the tensor may use: the record, or the part of it that a legacy view names.
Result<uint64_t> usable_elements(const PickleStorage& storage, uint64_t record_elements) {
  if (!storage.view_count) return record_elements;
  const auto first = static_cast<uint64_t>(storage.view_first),
             count = static_cast<uint64_t>(*storage.view_count);
  if (first > record_elements || count > record_elements - first)
    return Error{Code::format, "view of storage elements " + std::to_string(first) + " to " +
                                   std::to_string(first + count) + ", but the storage has " +
                                   std::to_string(record_elements)};
  return count;
}

void note_wrong_count(const PickleStorage& storage, const ZipRecord& record, TensorPlace& place) {
  const uint64_t unit = storage.dtype == DType::none ? 1 : size_bytes(storage.dtype);
  uint64_t said = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(storage.count), unit, &said) || said != record.size)
    place.warnings.push_back("storage '" + printable(storage.key) + "' has " + std::to_string(record.size) +
                             " bytes, the pickle says " + std::to_string(storage.count) + " elements of " +
                             std::to_string(unit));
}

Result<bool> read_byteorder(const ZipDirectory& zip, std::string_view root,
                            std::vector<std::string>& warnings) {
  const ZipEntry* entry = zip.find(std::string(root) + "/byteorder");
  if (entry == nullptr) return false;
  constexpr uint64_t kMaxBytes = 64;
  std::vector<std::byte> scratch;
  ULPSCOPE_ASSIGN(const Bytes bytes, zip.read_record(*entry, kMaxBytes, scratch, warnings));
  const std::string_view text = as_text(bytes);
  if (text == "little") return false;
  if (text == "big") return true;
  return Error{Code::format, "record 'byteorder' says '" + printable(text) + "', expected little or big"};
}

// The entry of the pickle. TorchScript has one too, but its tensors are in code and constants.
Result<const ZipEntry*> find_pickle(const ZipDirectory& zip) {
  const ZipEntry* found = nullptr;
  for (const ZipEntry& entry : zip.entries()) {
    const size_t slash = entry.name.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view below = entry.name.substr(slash);
    if (below == "/constants.pkl" || below.starts_with("/code/"))
      return Error{Code::unsupported, "a TorchScript archive, expected a tensor saved by torch.save"};
    if (below != kPickleName) continue;
    if (found != nullptr) return Error{Code::format, "two data.pkl records, expected one"};
    found = &entry;
  }
  if (found == nullptr) return Error{Code::format, "no data.pkl record, expected the archive of a tensor"};
  return found;
}

Result<TensorPlace> read_archive(const ZipDirectory& zip) {
  ULPSCOPE_ASSIGN(const ZipEntry* const entry, find_pickle(zip));
  const std::string_view root = entry->name.substr(0, entry->name.size() - kPickleName.size());
  std::vector<std::string> warnings;
  std::vector<std::byte> scratch;
  ULPSCOPE_ASSIGN(const Bytes bytes, zip.read_record(*entry, kMaxPickleBytes, scratch, warnings));
  auto pickle = read_pickle(bytes);
  if (!pickle) return std::move(pickle).error().within("data.pkl");
  ULPSCOPE_ASSIGN(const PickleTensor* const tensor, only_tensor(*pickle));
  const PickleStorage& storage = pickle->storages[tensor->storage];
  const ZipEntry* data = zip.find(std::string(root) + "/data/" + std::string(storage.key));
  if (data == nullptr)
    return Error{Code::format,
                 "no record 'data/" + printable(storage.key) + "', which data.pkl names as its storage"};
  ULPSCOPE_ASSIGN(const bool big_endian, read_byteorder(zip, root, warnings));
  ULPSCOPE_ASSIGN(const ZipRecord record, zip.locate(*data));
  ULPSCOPE_ASSIGN(TensorPlace place, place_tensor(*tensor, storage, record, big_endian));
  place.warnings.insert(place.warnings.begin(), warnings.begin(), warnings.end());
  return place;
}

}  // namespace

Result<const PickleTensor*> only_tensor(const PickleResult& pickle) {
  if (pickle.top.kind != PickleKind::tensor)
    return Error{Code::unsupported, "the file holds " + describe(pickle.top) + ", expected one tensor"};
  return &pickle.tensors[pickle.top.index];
}

Result<TensorPlace> place_tensor(const PickleTensor& tensor, const PickleStorage& storage,
                                 const ZipRecord& record, bool big_endian) {
  TensorPlace place;
  place.dtype = tensor.dtype;
  place.shape = tensor.shape;
  place.quantizer = tensor.quantizer;
  place.npu_format = tensor.npu_format;
  const uint64_t element = size_bytes(tensor.dtype);
  const auto bytes = dense_bytes(tensor.shape, tensor.dtype);
  if (!bytes) return Error{Code::format, "a shape of more elements than any file holds"};
  note_wrong_count(storage, record, place);
  place.offset = record.offset;
  if (*bytes == 0) return place;
  ULPSCOPE_ASSIGN(const uint64_t usable, usable_elements(storage, record.size / element));
  const auto last = last_element(tensor);
  if (!last || *last >= usable)
    return Error{Code::format, "the tensor reaches past storage '" + printable(storage.key) +
                                   "', which has " + std::to_string(usable) + " elements"};
  const auto first = static_cast<uint64_t>(storage.view_first + tensor.first_element);
  const bool swapped = big_endian && element > 1;
  if (is_dense(tensor.shape, tensor.strides) && !record.deflated && !swapped) {
    place.offset += first * element;
    place.size = *bytes;
    if (*bytes == record.size) place.crc32 = record.crc32;
    return place;
  }
  place.plain = false;
  place.size = record.size;
  place.strides = tensor.strides;
  place.first_element = static_cast<int64_t>(first);
  place.big_endian = swapped;
  place.deflated = record.deflated;
  place.packed_size = record.deflated ? record.packed_size : 0;
  place.crc32 = record.crc32;
  return place;
}

Result<TensorPlace> read_pt_zip(const FileEnds& ends) {
  ZipDirectory zip(ends);
  ULPSCOPE_TRY(zip.read());
  auto place = read_archive(zip);
  if (place.ok() || place.error().message.starts_with(ends.file().path())) return place;
  return std::move(place).error().within(ends.file().path());
}

}  // namespace ulpscope
