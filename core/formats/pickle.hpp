// Reads the pickle of a tensor as torch writes it: a stack machine of a short list of opcodes and globals
// that builds plain records. Used by the .pt reader. Nothing is imported, called or executed; whatever is not
// on the list ends the reading with its name.
#pragma once

#include <ulpscope/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/tensor_file_bytes.hpp"

namespace ulpscope {

enum class PickleKind : uint8_t {
  absent,  // a memo slot that was never written
  none,
  boolean,
  integer,
  magic,  // the number that begins a legacy .pt stream; the only integer beyond 64 bits that is accepted
  real,
  text,
  global,
  tuple,
  list,
  dict,
  storage,
  tensor,
};

// One value. Which members count depends on the kind. The views point into the pickled bytes.
struct PickleValue {
  PickleKind kind = PickleKind::none;
  uint32_t index = 0;   // tuple: first of its items; list, dict, storage, tensor: position in its table
  int64_t integer = 0;  // integer, boolean; tuple: number of items
  double real = 0;      // real
  std::string_view text = {};    // text; global: its name
  std::string_view module = {};  // global

  bool is_global(std::string_view in_module, std::string_view name) const {
    return kind == PickleKind::global && module == in_module && text == name;
  }
};

// A storage that the pickle names. Its bytes are elsewhere.
struct PickleStorage {
  std::string_view key;
  DType dtype = DType::none;          // none: untyped, count is in bytes
  int64_t count = 0;                  // elements, as the pickle says; not to be trusted
  int64_t view_first = 0;             // legacy view: its first element
  std::optional<int64_t> view_count;  // legacy view: its elements; absent: the whole storage
};

// A tensor over a storage. Nothing about its numbers was checked against the storage yet.
struct PickleTensor {
  uint32_t storage = 0;  // position in the table of storages
  DType dtype = DType::none;
  int64_t first_element = 0;
  Shape shape;
  std::vector<int64_t> strides;
  std::string quantizer;
  std::optional<int64_t> npu_format;
};

// All that one pickle built.
struct PickleResult {
  PickleValue top;
  size_t consumed = 0;                          // bytes up to and including STOP
  std::vector<PickleValue> items;               // of all tuples, back to back
  std::vector<std::vector<PickleValue>> lists;  // appended to in place, so that a memo sees the same list
  std::vector<std::vector<PickleValue>> dicts;  // keys and values in turn
  std::vector<PickleStorage> storages;
  std::vector<PickleTensor> tensors;

  std::span<const PickleValue> tuple(const PickleValue& value) const {
    return std::span(items).subspan(value.index, static_cast<size_t>(value.integer));
  }
};

constexpr uint64_t kMaxPickleBytes = 16 << 20;

// Reads the pickle at the beginning of bytes; what follows its STOP is left alone. format: cut off, or the
// stack does not fit the opcodes; unsupported: an opcode or global outside the list, or a limit (100 000
// opcodes, 10 000 values on the stack and in the memo, 1 MiB of text). Messages begin with "byte N: " of the
// pickle. The result refers to bytes. Any thread.
Result<PickleResult> read_pickle(Bytes bytes);

// What a value is, for messages: "a dict", "global os getcwd".
std::string describe(const PickleValue& value);

// The two actions that give torch's records a meaning; for the machine only. Failures as above, without the
// place.
Result<PickleValue> resolve_storage(PickleResult& result, const PickleValue& id);
Result<PickleValue> apply_global(PickleResult& result, PickleValue function, PickleValue arguments);

}  // namespace ulpscope
