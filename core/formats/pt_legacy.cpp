// The stream that torch wrote before 1.6: five pickles (magic number, protocol number, facts about the
// writer, the tensor, the list of storage keys), then for each key an i64 count of elements and the elements.
#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "formats/pt.hpp"

namespace ulpscope {
namespace {

constexpr int64_t kProtocolNumber = 1001;

struct Stream {
  PickleResult tensor, keys;
  bool big_endian = false;
  uint64_t consumed = 0;
};

// Whether the writer's facts say {"little_endian": False}.
bool is_big_endian(const PickleResult& facts) {
  if (facts.top.kind != PickleKind::dict) return false;
  const auto& entries = facts.dicts[facts.top.index];
  for (size_t i = 0; i + 1 < entries.size(); i += 2)
    if (entries[i].kind == PickleKind::text && entries[i].text == "little_endian")
      return entries[i + 1].kind == PickleKind::boolean && entries[i + 1].integer == 0;
  return false;
}

Result<Stream> read_pickles(Bytes bytes) {
  Stream stream;
  const auto next = [&](std::string_view what) -> Result<PickleResult> {
    auto pickle = read_pickle(bytes.subspan(static_cast<size_t>(stream.consumed)));
    if (!pickle)
      return std::move(pickle).error().within(std::string(what) + " from byte " +
                                              std::to_string(stream.consumed));
    stream.consumed += pickle->consumed;
    return pickle;
  };
  ULPSCOPE_ASSIGN(const PickleResult magic, next("magic number"));
  if (magic.top.kind != PickleKind::magic)
    return Error{Code::format, "no magic number, expected a legacy .pt stream"};
  ULPSCOPE_ASSIGN(const PickleResult protocol, next("protocol number"));
  if (protocol.top.kind != PickleKind::integer || protocol.top.integer != kProtocolNumber)
    return Error{Code::unsupported, "legacy protocol is " + describe(protocol.top) + " other than 1001"};
  ULPSCOPE_ASSIGN(const PickleResult facts, next("facts about the writer"));
  stream.big_endian = is_big_endian(facts);
  ULPSCOPE_ASSIGN(stream.tensor, next("tensor"));
  ULPSCOPE_ASSIGN(stream.keys, next("storage keys"));
  if (stream.keys.top.kind != PickleKind::list)
    return Error{Code::format, "the storage keys are " + describe(stream.keys.top) + ", expected a list"};
  return stream;
}

const PickleStorage* find_storage(const PickleResult& pickle, std::string_view key) {
  for (const PickleStorage& storage : pickle.storages)
    if (storage.key == key) return &storage;
  return nullptr;
}

// A count whose byte order no field tells for certain: little-endian in what torch writes. The pickle's own
// count decides when exactly one reading agrees with it.
uint64_t count_of(Bytes raw, const PickleStorage& storage, bool big_endian) {
  const auto little = load_le<uint64_t>(raw, 0);
  const uint64_t big = __builtin_bswap64(little);
  const auto said = static_cast<uint64_t>(storage.count);
  if (big == said && big_endian) return big;
  return little;
}

// Walks the storages in the order of the keys until that of the tensor.
Result<ZipRecord> find_record(const FileEnds& ends, const Stream& stream, std::string_view wanted) {
  uint64_t offset = stream.consumed;
  std::vector<std::byte> scratch;
  for (const PickleValue& key : stream.keys.lists[stream.keys.top.index]) {
    const PickleStorage* storage =
        key.kind == PickleKind::text ? find_storage(stream.tensor, key.text) : nullptr;
    if (storage == nullptr)
      return Error{Code::format, "storage key " +
                                     (key.kind == PickleKind::text ? printable(key.text) : describe(key)) +
                                     " is not one that the tensor names"};
    ULPSCOPE_ASSIGN(const Bytes raw, ends.view(offset, 8, scratch));
    offset += 8;
    const uint64_t count = count_of(raw, *storage, stream.big_endian);
    const uint64_t element = storage->dtype == DType::none ? 1 : size_bytes(storage->dtype);
    const uint64_t left = ends.file().size() - offset;
    if (count > left / element)
      return Error{Code::format, "storage '" + printable(key.text) + "' of " + std::to_string(count) +
                                     " elements at byte " + std::to_string(offset) +
                                     " runs past the end of the file"};
    if (key.text == wanted) return ZipRecord{offset, count * element, count * element, false, std::nullopt};
    offset += count * element;
  }
  return Error{Code::format, "storage '" + printable(wanted) + "' is not in the list of storage keys"};
}

Result<TensorPlace> read_stream(const FileEnds& ends, Bytes bytes) {
  ULPSCOPE_ASSIGN(const Stream stream, read_pickles(bytes));
  ULPSCOPE_ASSIGN(const PickleTensor* const tensor, only_tensor(stream.tensor));
  const PickleStorage& storage = stream.tensor.storages[tensor->storage];
  ULPSCOPE_ASSIGN(const ZipRecord record, find_record(ends, stream, storage.key));
  return place_tensor(*tensor, storage, record, stream.big_endian);
}

}  // namespace

Result<TensorPlace> read_pt_legacy(const FileEnds& ends) {
  // The pickles of one tensor fit the head of the file; only when they do not, the most that they may take is
  // read.
  auto place = read_stream(ends, ends.head());
  if (!place && ends.head().size() < ends.file().size()) {
    std::vector<std::byte> more;
    ULPSCOPE_ASSIGN(const Bytes bytes, ends.view(0, std::min(ends.file().size(), kMaxPickleBytes), more));
    place = read_stream(ends, bytes);
  }
  if (place.ok() || place.error().message.starts_with(ends.file().path())) return place;
  return std::move(place).error().within(ends.file().path());
}

}  // namespace ulpscope
