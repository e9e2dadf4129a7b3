// What the tests of the byte formats share: the folder of test data, small files made on the spot, elements
// read whole.
#pragma once

#include <libdeflate.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "formats/element_stream.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope::test {

inline std::string data_path(const std::string& relative) {
  return std::string(ULPSCOPE_TEST_DATA) + "/" + relative;
}

// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ulpscope-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  // Writes a file and answers with its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file(name);
  }

 private:
  std::string path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Text in which every byte stands for itself, NUL included.
template <size_t N>
std::string raw(const char (&literal)[N]) {
  return std::string(literal, N - 1);
}

inline uint32_t crc32_of(std::string_view bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

struct Elements {
  std::string bytes;
  bool crc_mismatch = false;
};

// The whole of a place, read in pieces of piece_bytes.
inline Result<Elements> read_elements(const std::string& path, const TensorPlace& place,
                                      size_t piece_bytes = 1 << 16,
                                      uint64_t limit_bytes = kDefaultLimitBytes) {
  ULPSCOPE_ASSIGN(File file, File::open(path));
  ULPSCOPE_ASSIGN(const auto stream, open_elements(std::move(file), place, limit_bytes));
  Elements elements;
  std::string piece(piece_bytes, '\0');
  for (;;) {
    ULPSCOPE_ASSIGN(const size_t got, stream->read(std::as_writable_bytes(std::span(piece))));
    if (got == 0) break;
    elements.bytes.append(piece, 0, got);
  }
  elements.crc_mismatch = stream->crc_mismatch();
  return elements;
}

inline Result<std::vector<TensorPlace>> places_of(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  return read_places(file);
}

// The message of a failure, or "ok".
template <class T>
std::string message_of(const Result<T>& result) {
  return result.ok() ? "ok" : result.error().message;
}
// Whether the message says this; the rest of it names the file.
template <class T>
bool says(const Result<T>& result, std::string_view part) {
  return message_of(result).find(part) != std::string::npos;
}

inline std::string little_endian(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

}  // namespace ulpscope::test
