// The whole of a file as bytes.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace ulpscope::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace ulpscope::test
