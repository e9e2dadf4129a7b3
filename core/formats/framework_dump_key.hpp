// The keys of a framework dump: what "Functional.linear.3.forward" says about a call, and a table that keeps
// each key once. Used by the readers of dump.json, construct.json and stack.json only.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace ulpscope {

enum class KeyForm : uint8_t {
  api,       // prefix.name.N.forward, prefix.name.N.backward
  module,    // Module[.index].path.Class.forward.N, …backward.N
  gradient,  // Module.path.Class.parameters_grad[.N]
  debug,     // name.N.debug
  unknown,
};

// A key taken apart from its right end, because a module path may hold any word. All views point into the
// key.
struct DumpKey {
  KeyForm form = KeyForm::unknown;
  OpKind kind = OpKind::api;
  Phase phase = Phase::none;
  std::string_view counted;  // what the number counts: "Functional.linear", "Module.model.norm.RMSNorm"
  std::string_view path;     // of a module, without its class: "Module.model.norm"
  std::string_view type;     // "linear", "RMSNorm"
  uint32_t call = 0;         // N; 0 where the key has none
};

// Never fails: a key of another form is unknown, its type the last part that is no number. Any thread.
DumpKey parse_dump_key(std::string_view key);

// Distinct texts with ids in order of arrival, in blocks that never move. One thread while adding.
class TextTable {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  TextTable();
  uint32_t add(std::string_view text);
  // The id of a text that was added; kNone otherwise.
  uint32_t find(std::string_view text) const;
  std::string_view text(uint32_t id) const { return texts_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(texts_.size()); }

 private:
  size_t slot_of(std::string_view text, uint64_t hash) const;
  std::string_view store(std::string_view text);
  void grow();

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* block_at_ = nullptr;
  size_t block_left_ = 0;
  std::vector<std::string_view> texts_;
  std::vector<uint64_t> hashes_;  // by id
  std::vector<uint32_t> slots_;   // id + 1, 0 when free; a power of two of them
};

}  // namespace ulpscope
