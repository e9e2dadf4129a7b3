#include "formats/zip.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "formats/zip_inflate.hpp"

// Layout (all integers little-endian); only what is read here:
//
//   local header     0 "PK\3\4"  6 flags  8 method  26 name length  28 extra length  30 name, extra, bytes
//   central entry    0 "PK\1\2"  8 flags  10 method  16 crc  20 packed  24 size  28 name length  30 extra
//   length
//                    32 comment length  34 disk  42 header offset  46 name, extra, comment
//   ZIP64 end        0 "PK\6\6"  16 disk  20 directory disk  24 and 32 entries  40 directory size  48
//   directory offset ZIP64 locator    0 "PK\6\7"  4 disk  8 offset of the ZIP64 end end              0
//   "PK\5\6"  4 disk  6 directory disk  8 and 10 entries  12 directory size  16 offset  20 comment
namespace ulpscope {
namespace {

constexpr uint32_t kLocalSignature = 0x04034b50, kEntrySignature = 0x02014b50, kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr uint32_t kFull32 = 0xffffffff;
constexpr uint16_t kFull16 = 0xffff;
constexpr uint16_t kFlagEncrypted = 1, kStored = 0, kDeflated = 8;
constexpr uint16_t kExtraZip64 = 1;
// deflate cannot pack better than 258 bytes in 2 bits; a stream has at least two bytes.
constexpr uint64_t kMaxDeflateRatio = 1032;

uint64_t saturating_add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

}  // namespace

Error ZipDirectory::broken(std::string_view what) const {
  return {Code::format, ends_.file().path() + ": ZIP archive: " + std::string(what)};
}

Error ZipDirectory::broken(const ZipEntry& entry, std::string_view what) const {
  return {Code::format,
          ends_.file().path() + ": ZIP record '" + printable(entry.name) + "': " + std::string(what)};
}

Result<ZipDirectory::End> ZipDirectory::find_end(std::vector<std::byte>& scratch) const {
  const uint64_t file_size = ends_.file().size();
  if (file_size < kEndBytes)
    return broken(std::to_string(file_size) + " bytes are less than an end record; the file is cut off");
  // First where it is when there is no comment, then wherever a comment of at most 64 KiB allows.
  const uint64_t reach = std::min<uint64_t>(file_size, kEndBytes + kFull16);
  for (const uint64_t span_bytes : {uint64_t{kEndBytes}, reach}) {
    ULPSCOPE_ASSIGN(const Bytes tail, ends_.view(file_size - span_bytes, span_bytes, scratch));
    for (size_t at = tail.size() - kEndBytes + 1; at-- > 0;) {
      if (load_le<uint32_t>(tail, at) != kEndSignature) continue;
      if (load_le<uint16_t>(tail, at + 20) != tail.size() - at - kEndBytes) continue;
      const uint64_t end_offset = file_size - span_bytes + at;
      const auto disk = load_le<uint16_t>(tail, at + 4), first_disk = load_le<uint16_t>(tail, at + 6);
      if ((disk != 0 && disk != kFull16) || (first_disk != 0 && first_disk != kFull16))
        return Error{Code::unsupported, ends_.file().path() + ": ZIP archive split over several files"};
      End end{load_le<uint16_t>(tail, at + 10), load_le<uint32_t>(tail, at + 16),
              load_le<uint32_t>(tail, at + 12), end_offset};
      return read_end64(end, end_offset);
    }
  }
  return broken("no end record; the file is cut off or still being written");
}

// The values of the ZIP64 end record where there is one. The 32-bit values must be the same or at their
// maximum, so that no two readers see different archives.
Result<ZipDirectory::End> ZipDirectory::read_end64(End end, uint64_t end_offset) const {
  if (end_offset < kLocator64Bytes) return end;
  std::vector<std::byte> scratch;
  const uint64_t locator_offset = end_offset - kLocator64Bytes;
  ULPSCOPE_ASSIGN(const Bytes locator, ends_.view(locator_offset, kLocator64Bytes, scratch));
  if (load_le<uint32_t>(locator, 0) != kLocator64Signature) return end;
  const auto record_offset = load_le<uint64_t>(locator, 8);
  if (record_offset > locator_offset || locator_offset - record_offset < kEnd64Bytes)
    return broken("ZIP64 end record at byte " + std::to_string(record_offset) +
                  " does not end before its locator");
  ULPSCOPE_ASSIGN(const Bytes record, ends_.view(record_offset, kEnd64Bytes, scratch));
  if (load_le<uint32_t>(record, 0) != kEnd64Signature)
    return broken("no ZIP64 end record at byte " + std::to_string(record_offset));
  if (load_le<uint32_t>(record, 16) != 0 || load_le<uint32_t>(record, 20) != 0)
    return Error{Code::unsupported, ends_.file().path() + ": ZIP archive split over several files"};
  const End wide{load_le<uint64_t>(record, 32), load_le<uint64_t>(record, 48), load_le<uint64_t>(record, 40),
                 record_offset};
  const bool same = (end.count == kFull16 || end.count == wide.count) &&
                    (end.size == kFull32 || end.size == wide.size) &&
                    (end.offset == kFull32 || end.offset == wide.offset);
  if (!same) return broken("the end record and the ZIP64 end record disagree");
  return wide;
}

Status ZipDirectory::read() {
  End end;
  {
    std::vector<std::byte> scratch;
    ULPSCOPE_ASSIGN(end, find_end(scratch));
  }
  if (end.offset > end.limit || end.size > end.limit - end.offset)
    return broken("directory of " + std::to_string(end.size) + " bytes at byte " +
                  std::to_string(end.offset) + " does not end before the end record at byte " +
                  std::to_string(end.limit));
  if (end.count > end.size / kEntryBytes)
    return broken(std::to_string(end.count) + " entries do not fit a directory of " +
                  std::to_string(end.size) + " bytes");
  if (end.count > kMaxEntries || end.size > kMaxDirectoryBytes)
    return Error{Code::unsupported, ends_.file().path() + ": ZIP archive: " + std::to_string(end.count) +
                                        " entries in " + std::to_string(end.size) +
                                        " bytes, expected at most " + std::to_string(kMaxEntries) + " in " +
                                        std::to_string(kMaxDirectoryBytes)};
  ULPSCOPE_ASSIGN(const Bytes directory, ends_.view(end.offset, end.size, bytes_));
  entries_.reserve(static_cast<size_t>(end.count));
  size_t position = 0;
  for (uint64_t i = 0; i < end.count; ++i) {
    ULPSCOPE_ASSIGN(const ZipEntry entry, parse_entry(directory, position));
    ULPSCOPE_TRY(check_entry(entry, end.offset));
    entries_.push_back(entry);
  }
  return check_names_and_overlaps(end.offset);
}

Result<ZipEntry> ZipDirectory::parse_entry(Bytes directory, size_t& position) const {
  const size_t left = directory.size() - position;
  if (left < kEntryBytes || load_le<uint32_t>(directory, position) != kEntrySignature)
    return broken("no directory entry at byte " + std::to_string(position) + " of the directory");
  const Bytes raw = directory.subspan(position);
  const size_t name_size = load_le<uint16_t>(raw, 28), extra_size = load_le<uint16_t>(raw, 30);
  const size_t total = kEntryBytes + name_size + extra_size + load_le<uint16_t>(raw, 32);
  if (total > left)
    return broken("the directory entry at byte " + std::to_string(position) + " runs past the directory");
  if (name_size == 0 || name_size > kMaxNameBytes)
    return broken("a record name of " + std::to_string(name_size) + " bytes, expected 1 to " +
                  std::to_string(kMaxNameBytes));
  position += total;
  ZipEntry entry;
  entry.name = as_text(raw.subspan(kEntryBytes, name_size));
  entry.flags = load_le<uint16_t>(raw, 8);
  entry.method = load_le<uint16_t>(raw, 10);
  entry.crc32 = load_le<uint32_t>(raw, 16);
  entry.packed_size = load_le<uint32_t>(raw, 20);
  entry.size = load_le<uint32_t>(raw, 24);
  entry.header = load_le<uint32_t>(raw, 42);
  ULPSCOPE_TRY(parse_extra64(entry, raw.subspan(kEntryBytes + name_size, extra_size), entry.size == kFull32,
                             entry.packed_size == kFull32, entry.header == kFull32));
  return entry;
}

// The 64-bit values stand in the ZIP64 extra in this order, each only if its 32-bit field is at the maximum.
// Without such an extra the maximum is the value itself.
Status ZipDirectory::parse_extra64(ZipEntry& entry, Bytes extra, bool size64, bool packed64,
                                   bool header64) const {
  if (!size64 && !packed64 && !header64) return {};
  size_t at = 0;
  while (extra.size() - at >= 4) {
    const auto id = load_le<uint16_t>(extra, at), n = load_le<uint16_t>(extra, at + 2);
    at += 4;
    if (n > extra.size() - at) break;
    if (id == kExtraZip64) {
      const Bytes field = extra.subspan(at, n);
      size_t used = 0;
      for (const auto& [wanted, value] :
           {std::pair(size64, &entry.size), std::pair(packed64, &entry.packed_size),
            std::pair(header64, &entry.header)}) {
        if (!wanted) continue;
        if (field.size() - used < 8) return broken(entry, "its ZIP64 field is too short");
        *value = load_le<uint64_t>(field, used);
        used += 8;
      }
      return {};
    }
    at += n;
  }
  return {};
}

Status ZipDirectory::check_entry(const ZipEntry& entry, uint64_t directory_offset) const {
  const uint64_t fixed = kLocalBytes + entry.name.size();
  if (entry.header > directory_offset || directory_offset - entry.header < fixed ||
      entry.packed_size > directory_offset - entry.header - fixed)
    return broken(entry, std::to_string(entry.packed_size) + " bytes after byte " +
                             std::to_string(entry.header) + " run past the directory at byte " +
                             std::to_string(directory_offset));
  if (entry.method == kStored && entry.packed_size != entry.size)
    return broken(entry, "stored, but " + std::to_string(entry.packed_size) + " bytes are said to be " +
                             std::to_string(entry.size));
  if (entry.method == kDeflated && entry.size / kMaxDeflateRatio > entry.packed_size)
    return broken(
        entry, std::to_string(entry.packed_size) + " packed bytes cannot hold " + std::to_string(entry.size));
  return {};
}

Status ZipDirectory::check_names_and_overlaps(uint64_t directory_offset) {
  std::vector<const ZipEntry*> order(entries_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = &entries_[i];
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->name < b->name; });
  const auto twin =
      std::adjacent_find(order.begin(), order.end(), [](auto* a, auto* b) { return a->name == b->name; });
  if (twin != order.end()) return broken(**twin, "the name occurs twice");
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->header < b->header; });
  starts_.reserve(order.size() + 1);
  for (const ZipEntry* entry : order) starts_.push_back(entry->header);
  starts_.push_back(directory_offset);
  for (size_t i = 0; i < order.size(); ++i) {
    const ZipEntry& entry = *order[i];
    if (starts_[i + 1] - entry.header < kLocalBytes + entry.name.size() + entry.packed_size)
      return broken(entry, "overlaps the record that begins at byte " + std::to_string(starts_[i + 1]));
  }
  return {};
}

const ZipEntry* ZipDirectory::find(std::string_view name) const {
  for (const ZipEntry& entry : entries_)
    if (entry.name == name) return &entry;
  return nullptr;
}

Result<ZipRecord> ZipDirectory::locate(const ZipEntry& entry) const {
  const auto refuse = [&](const std::string& what) {
    return Error{Code::unsupported,
                 ends_.file().path() + ": ZIP record '" + printable(entry.name) + "': " + what};
  };
  if ((entry.flags & kFlagEncrypted) != 0) return refuse("encrypted");
  if (entry.method != kStored && entry.method != kDeflated)
    return refuse("packed with method " + std::to_string(entry.method) + ", expected 0 or 8");
  std::vector<std::byte> scratch;
  ULPSCOPE_ASSIGN(const Bytes local, ends_.view(entry.header, kLocalBytes + entry.name.size(), scratch));
  if (load_le<uint32_t>(local, 0) != kLocalSignature)
    return broken(entry, "no local header at byte " + std::to_string(entry.header));
  if (load_le<uint16_t>(local, 26) != entry.name.size() ||
      as_text(local.subspan(kLocalBytes)) != entry.name || load_le<uint16_t>(local, 8) != entry.method)
    return broken(entry, "its local header has another name or method");
  const uint64_t offset = entry.header + kLocalBytes + entry.name.size() + load_le<uint16_t>(local, 28);
  const uint64_t next = *std::upper_bound(starts_.begin(), starts_.end(), entry.header);
  if (saturating_add(offset, entry.packed_size) > next)
    return broken(entry, "its bytes run into what begins at byte " + std::to_string(next));
  ZipRecord record{offset, entry.packed_size, entry.size, entry.method == kDeflated, entry.crc32};
  if (entry.crc32 == 0 && entry.size > 0) record.crc32.reset();
  return record;
}

Result<Bytes> ZipDirectory::read_record(const ZipEntry& entry, uint64_t limit_bytes,
                                        std::vector<std::byte>& scratch,
                                        std::vector<std::string>& warnings) const {
  ULPSCOPE_ASSIGN(const ZipRecord record, locate(entry));
  if (record.size > limit_bytes)
    return broken(entry,
                  std::to_string(record.size) + " bytes, expected at most " + std::to_string(limit_bytes));
  Bytes bytes;
  if (record.deflated) {
    ULPSCOPE_ASSIGN(InflateStream stream,
                    InflateStream::open(ends_.file(), record.offset, record.packed_size, record.size));
    scratch.resize(static_cast<size_t>(record.size));
    ULPSCOPE_TRY(stream.read(scratch));
    bytes = scratch;
  } else {
    ULPSCOPE_ASSIGN(bytes, ends_.view(record.offset, record.size, scratch));
  }
  if (record.crc32 && *record.crc32 != libdeflate_crc32(0, bytes.data(), bytes.size()))
    warnings.push_back("record '" + printable(entry.name) + "' does not match its CRC-32");
  return bytes;
}

}  // namespace ulpscope
