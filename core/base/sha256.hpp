// SHA-256 of bytes that come in pieces. Used where two files must be known to be the same, or a file to be
// unchanged. One thread an object.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ulpscope {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::span<const std::byte> bytes);
  // 64 lower case digits. The object is used up.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Of a whole text. Any thread.
std::string sha256_hex(std::string_view text);

}  // namespace ulpscope
