// What the pairing knows of an op besides its records: its name taken apart, and the keys by which calls of
// two dumps are recognised as the same. Built once for each side; keys of both sides are comparable. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/dump_index.hpp"

namespace ulpscope {

// The forms of names, decided from the right end of a name (a module path may hold any word).
enum class NameForm : uint8_t {
  api,       // prefix.name.N.forward
  module,    // Module.path.Class.forward.N
  gradient,  // Module.path.Class.parameters_grad[.N]
  saved,     // name.N.debug
  path,      // 4_Prefill_layer/1_ElewiseOperation: each part may start with an id
  whole,     // anything else
};

// A name without its call number. stem is a part of the text it was parsed from.
struct ParsedName {
  NameForm form = NameForm::whole;
  Phase phase = Phase::none;
  std::string_view stem;  // "Torch.matmul", "Module.path.Class"; for path and whole the whole name
  int64_t call = -1;      // -1: the name has none
};
ParsedName parse_name(std::string_view name);

// "Module.path.Class" as ("path", "Class"), without "Module." and the number of a model in a list.
struct ModuleName {
  std::string_view path, type;
};
ModuleName split_module(std::string_view stem);

// Hashes; equal means the same. 0: unknown.
struct OpKey {
  uint64_t name = 0;      // the whole name, after renaming
  uint64_t stem = 0;      // name without call number, phase
  uint64_t context = 0;   // stem of the smallest module around it that both dumps have; 0: none
  uint64_t call = 0;      // stem without phase, and call number: ties a backward entry to its forward call
  uint64_t shapes = 0;    // shapes and dtype classes of its tensors, parameters aside
  bool gradient = false;  // its number may count over steps
  bool renamed = false;   // a mapping gave it another name
};

struct KeyOptions {
  bool whole_names = false;     // names are names: nothing is parsed (two folders of tensor files)
  bool ignore_classes = false;  // the class of a module does not count (layer mapping)
  // The name to be looked for instead of an op's own; empty: as it is.
  std::function<std::string(std::string_view)> rename;
};

// The keys of every op, by OpId, contexts aside.
std::vector<OpKey> make_keys(const DumpIndex& index, const KeyOptions& options);
// Sets the contexts of both sides; leaves them 0 when a side has no module or parent at all.
void set_contexts(const DumpIndex& target, std::span<OpKey> target_keys, const DumpIndex& golden,
                  std::span<OpKey> golden_keys);

// Of the tensors of an op, parameters aside: OpKey::shapes.
uint64_t shapes_hash(const DumpIndex& index, OpId op);

// A good 64-bit mix of a running hash and a value, and the hash of a text. Equal on every platform.
uint64_t mix(uint64_t hash, uint64_t value);
uint64_t text_hash(std::string_view text);

}  // namespace ulpscope
