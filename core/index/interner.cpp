#include "index/interner.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstddef>

namespace ulpscope {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr size_t kFirstSlots = 1024;
// Texts start at multiples of this, so that the bytes of a shape can be read as int64_t in place.
constexpr size_t kAlignment = alignof(int64_t);

}  // namespace

TextPool::TextPool() : slots_(kFirstSlots, 0) {
  texts_.emplace_back();
  hashes_.push_back(0);
}

TextId TextPool::add(std::string_view text) {
  if (text.empty()) return 0;
  const uint64_t hash = XXH3_64bits(text.data(), text.size());
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const TextId id = slots_[at] - 1;
    if (hashes_[id] == hash && texts_[id] == text) return id;
  }
  const auto id = static_cast<TextId>(texts_.size());
  texts_.push_back(store(text));
  hashes_.push_back(hash);
  slots_[at] = id + 1;
  if (texts_.size() * 2 > slots_.size()) grow();
  return id;
}

std::string_view TextPool::store(std::string_view text) {
  const size_t needed = (text.size() + kAlignment - 1) / kAlignment * kAlignment;
  if (needed > block_left_) {
    const size_t size = std::max(needed, kBlockBytes);
    blocks_.push_back(std::make_unique<char[]>(size));
    block_at_ = blocks_.back().get();
    block_left_ = size;
  }
  char* at = block_at_;
  std::copy(text.begin(), text.end(), at);
  block_at_ += needed;
  block_left_ -= needed;
  return {at, text.size()};
}

void TextPool::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (size_t id = 1; id < texts_.size(); ++id) {
    size_t at = hashes_[id] & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<uint32_t>(id) + 1;
  }
}

ShapeId ShapePool::add(std::span<const int64_t> dims) {
  const auto bytes = std::as_bytes(dims);
  return pool_.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::span<const int64_t> ShapePool::shape(ShapeId id) const {
  const std::string_view bytes = pool_.text(id);
  return {reinterpret_cast<const int64_t*>(bytes.data()), bytes.size() / sizeof(int64_t)};
}

}  // namespace ulpscope
