// ZIP archives for tests, built field by field after the format's own description, so that each field can
// lie.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support.hpp"

namespace ulpscope::test {

struct ZipPart {
  std::string name = {}, payload = {};
  uint16_t method = 0, flags = 0;
  std::optional<uint64_t> size = {};         // said; else the payload's
  std::optional<uint64_t> packed_size = {};  // said; else the payload's
  std::optional<uint32_t> crc32 = {};        // said; else the payload's (of stored records)
  std::optional<uint64_t> header = {};       // said offset of the local header
  std::optional<std::string> local_name = {}, local_extra = {};
  std::string extra = {}, comment = {};  // of the directory entry
  std::string local_signature = "PK\3\4";
};

struct ZipEnd {
  std::optional<uint64_t> count = {}, offset = {}, size = {};
  std::string comment = {};
  uint16_t disk = 0;
  std::string before_directory = {}, before_end = {};  // foreign bytes
};

inline std::string local_record(const ZipPart& part) {
  const std::string name = part.local_name.value_or(part.name), extra = part.local_extra.value_or("");
  return part.local_signature + little_endian(20, 2) + little_endian(part.flags, 2) +
         little_endian(part.method, 2) + std::string(4, '\0') + std::string(12, '\0') +
         little_endian(name.size(), 2) + little_endian(extra.size(), 2) + name + extra + part.payload;
}

inline std::string directory_record(const ZipPart& part, uint64_t header) {
  return "PK\1\2" + little_endian(20, 2) + little_endian(20, 2) + little_endian(part.flags, 2) +
         little_endian(part.method, 2) + std::string(4, '\0') +
         little_endian(part.crc32.value_or(crc32_of(part.payload)), 4) +
         little_endian(part.packed_size.value_or(part.payload.size()), 4) +
         little_endian(part.size.value_or(part.payload.size()), 4) + little_endian(part.name.size(), 2) +
         little_endian(part.extra.size(), 2) + little_endian(part.comment.size(), 2) + std::string(8, '\0') +
         little_endian(part.header.value_or(header), 4) + part.name + part.extra + part.comment;
}

inline std::string end_record(uint64_t count, uint64_t size, uint64_t offset, const ZipEnd& end) {
  return "PK\5\6" + little_endian(end.disk, 2) + little_endian(end.disk, 2) + little_endian(count, 2) +
         little_endian(count, 2) + little_endian(size, 4) + little_endian(offset, 4) +
         little_endian(end.comment.size(), 2) + end.comment;
}

inline std::string zip_of(const std::vector<ZipPart>& parts, const ZipEnd& end = {}) {
  std::string file, directory;
  for (const ZipPart& part : parts) {
    directory += directory_record(part, file.size());
    file += local_record(part);
  }
  file += end.before_directory;
  const uint64_t offset = file.size();
  return file + directory + end.before_end +
         end_record(end.count.value_or(parts.size()), end.size.value_or(directory.size()),
                    end.offset.value_or(offset), end);
}

// A ZIP64 end record and its locator.
inline std::string end64(uint64_t count, uint64_t size, uint64_t offset, uint64_t own_offset,
                         uint32_t disk = 0) {
  return "PK\6\6" + little_endian(44, 8) + little_endian(45, 2) + little_endian(45, 2) +
         little_endian(disk, 4) + little_endian(disk, 4) + little_endian(count, 8) + little_endian(count, 8) +
         little_endian(size, 8) + little_endian(offset, 8) + "PK\6\7" + little_endian(0, 4) +
         little_endian(own_offset, 8) + little_endian(1, 4);
}

}  // namespace ulpscope::test
