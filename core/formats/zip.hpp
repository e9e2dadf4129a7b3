// The central directory of a ZIP archive and the places of its records. Used by the .pt reader. Reads methods
// 0 (stored) and 8 (deflate) with ZIP64; refuses archives that are encrypted, split, contradict themselves or
// repeat a name. Does not extract to disk and never uses a record's name as a path.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/tensor_file_bytes.hpp"

namespace ulpscope {

// One entry of the central directory. name lives as long as the directory.
struct ZipEntry {
  std::string_view name;
  uint64_t header = 0;                 // offset of the local header
  uint64_t packed_size = 0, size = 0;  // bytes in the file, and unpacked
  uint32_t crc32 = 0;                  // of the unpacked bytes
  uint16_t method = 0, flags = 0;
};

// Where a record's bytes are in the file.
struct ZipRecord {
  uint64_t offset = 0, packed_size = 0, size = 0;
  bool deflated = false;
  std::optional<uint32_t> crc32;  // absent when the writer left it out (0 over a record that is not empty)
};

// The directory of one archive. Any thread once read. Refers to ends, which must outlive it.
class ZipDirectory {
 public:
  static constexpr uint64_t kMaxEntries = 65536;
  static constexpr uint64_t kMaxDirectoryBytes = 16 << 20;
  static constexpr size_t kMaxNameBytes = 4096;

  explicit ZipDirectory(const FileEnds& ends) : ends_(ends) {}
  ZipDirectory(const ZipDirectory&) = delete;
  ZipDirectory& operator=(const ZipDirectory&) = delete;

  // Reads and checks the directory. format: no end record (a file cut off or still being written), or sizes,
  // offsets or names that contradict each other or the file; unsupported: split archives and what passes the
  // limits; io.
  Status read();
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // The entry of that exact name, or null.
  const ZipEntry* find(std::string_view name) const;
  // The bytes of an entry, from its local header. format: the local header is missing, disagrees, or the
  // bytes run into the next record; unsupported: encrypted, or another method.
  Result<ZipRecord> locate(const ZipEntry& entry) const;
  // A whole small record, unpacked; limit_bytes guards the allocation. Appends a warning when its CRC-32 is
  // wrong. The answer is in scratch or in the ends of the file. format, unsupported, io as above.
  Result<Bytes> read_record(const ZipEntry& entry, uint64_t limit_bytes, std::vector<std::byte>& scratch,
                            std::vector<std::string>& warnings) const;

 private:
  struct End {  // what the end records say
    uint64_t count = 0, offset = 0, size = 0;
    uint64_t limit = 0;  // where the directory must end at the latest
  };
  Result<End> find_end(std::vector<std::byte>& scratch) const;
  Result<End> read_end64(End end, uint64_t end_offset) const;
  Result<ZipEntry> parse_entry(Bytes directory, size_t& position) const;
  Status parse_extra64(ZipEntry& entry, Bytes extra, bool size64, bool packed64, bool header64) const;
  Status check_entry(const ZipEntry& entry, uint64_t directory_offset) const;
  Status check_names_and_overlaps(uint64_t directory_offset);
  Error broken(std::string_view what) const;
  Error broken(const ZipEntry& entry, std::string_view what) const;

  const FileEnds& ends_;
  std::vector<std::byte> bytes_;  // the directory, unless it lies in the ends; the names point into either
  std::vector<ZipEntry> entries_;
  std::vector<uint64_t> starts_;  // sorted offsets of all local headers and, last, of the directory
};

}  // namespace ulpscope
