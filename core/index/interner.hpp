// Stores each distinct text and each distinct shape of a dump once and hands out small ids. Used while an
// index is built; read-only afterwards. One thread while adding; any thread while reading.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace ulpscope {

using TextId = uint32_t;   // 0 is the empty text
using ShapeId = uint32_t;  // 0 is the shape of a scalar: no dimensions

// Distinct byte strings in blocks that never move, found through an open-addressing table of ids.
class TextPool {
 public:
  TextPool();
  TextId add(std::string_view text);
  std::string_view text(TextId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  std::string_view store(std::string_view text);
  void grow();

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_left_ = 0;
  char* block_at_ = nullptr;
  std::vector<std::string_view> texts_;
  std::vector<uint32_t> slots_;   // id + 1, 0: free; size is a power of two
  std::vector<uint64_t> hashes_;  // by id
};

// Distinct shapes, kept as the bytes of their dimensions.
class ShapePool {
 public:
  ShapeId add(std::span<const int64_t> dims);
  std::span<const int64_t> shape(ShapeId id) const;

 private:
  TextPool pool_;
};

}  // namespace ulpscope
