// Bytes of dump files for tests: messages of the wire format, and little-endian numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ulpscope::test {

inline std::string little_endian(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

inline std::string field(uint32_t number, uint64_t value) { return varint(number << 3) + varint(value); }
inline std::string field(uint32_t number, std::string_view bytes) {
  return varint((number << 3) | 2) + varint(bytes.size()) + std::string(bytes);
}

inline std::string shape(std::initializer_list<uint64_t> dims) {
  std::string packed;
  for (const uint64_t dim : dims) packed += varint(dim);
  return field(1, packed);
}

// An OpOutput of float32 (1) in ND (2).
inline std::string output(std::initializer_list<uint64_t> dims, uint64_t size, uint64_t type = 1) {
  return field(3,
               field(1, type) + field(2, 2) + field(3, shape(dims)) + field(6, size) + field(7, shape(dims)));
}
inline std::string input(std::initializer_list<uint64_t> dims, uint64_t size, uint64_t type = 1) {
  return field(4,
               field(1, type) + field(2, 2) + field(3, shape(dims)) + field(5, size) + field(6, shape(dims)));
}

// A whole file of the current form.
inline std::string dump_file(const std::string& message, const std::string& data) {
  return little_endian(message.size(), 8) + message + data;
}

}  // namespace ulpscope::test
