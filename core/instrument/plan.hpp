// What instrument would do to a tree: which blocks go where, or why it refuses. Reads the tree, writes
// nothing. Used by the command and by what applies the plan.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "guide/anchors.hpp"
#include "guide/engine_tree.hpp"
#include "instrument/blocks.hpp"
#include "instrument/options.hpp"

namespace ulpscope {

// code: E_VERSION, E_NOFILE, …: the words of the table in docs/instrument.md.
struct Refusal {
  std::string code, message;
};

struct PlannedFile {
  std::string path;  // in the tree
  std::string original, changed;
  std::vector<Insertion> insertions;
  bool is_new = false;
};

// A return whose expression runs model code by itself, which a block before it cannot enclose.
struct OutsideReturn {
  std::string path, text;
  size_t line = 0;  // from 1
};

struct InstrumentPlan {
  std::vector<PlannedFile> files;
  std::vector<OutsideReturn> outside;
  std::vector<std::string> notes;
  std::optional<Refusal> refusal;  // then files is empty
};

// Gives the text of a file as it is without our blocks; nothing: as it lies in the tree.
using BaseText = std::function<std::optional<std::string>(const std::string& path)>;

InstrumentPlan make_plan(const EngineTree& tree, const AnchorTable& table, const InstrumentOptions& options,
                         const BaseText& base);

// Where the generated module goes: "vllm/ulpscope_hook.py".
std::string hook_path(const EngineTree& tree);

// Whether text calls a collector that is not ours.
bool has_foreign_collector(std::string_view text);

// What to put into the user's script where rank 0 of an offline V0 engine is.
std::string script_lines(const InstrumentOptions& options, const std::string& model_expression);

}  // namespace ulpscope
