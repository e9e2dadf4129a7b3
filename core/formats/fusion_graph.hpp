// The compiled model of an accelerator as json: which operator came from which operators of the original
// model, and who feeds whom. Read as a stream, one operator at a time; keeps names, edges and layouts, no
// weights. Used by the source of offline-model dumps and by the staged localisation.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"
#include "formats/json_lexer.hpp"

namespace ulpscope {

// An edge "producer:output"; producer is a row of FusionGraph::ops, or kNoIndex when the model has no such
// operator.
struct FusionEdge {
  uint32_t producer = kNoIndex;
  std::string name;
  uint32_t output = 0;
};

struct FusionTensor {
  int32_t format = -1, origin_format = -1;  // numbers of acl_types.hpp; -1: not said
  Shape origin_shape;
  bool has_origin_shape = false;
  std::optional<std::string> origin_name;  // of outputs: empty is another thing than absent
  uint32_t origin_output = 0;
  bool has_origin_output = false;
};

struct FusionOp {
  std::string name, type;
  int64_t id = 0;
  std::vector<FusionEdge> inputs;  // data edges only, in the order of the dump's inputs
  std::vector<FusionTensor> input_tensors, output_tensors;
  bool names_originals = false;  // the attribute is there; with an empty list the compiler made the operator
  std::vector<std::string> originals;
  bool is_multi_op = false;

  // Made by the compiler (Cast, TransData, ...): stands for no operator of the original model.
  bool is_inserted() const { return names_originals && originals.empty(); }
};

// What a tensor of the compiled model is in the original one.
struct FusionKey {
  enum class Kind : uint8_t {
    original,  // text is "name:output"
    inner,     // inside a fused operator: the original model has it, the compiled one does not match it
    none,      // of an operator that the compiler made
  } kind = Kind::none;
  std::string text;
};

class FusionGraph {
 public:
  // format: not json, or no list "graph" at its top; the message has the byte.
  static Result<FusionGraph> read(const File& file);
  static Result<FusionGraph> read(JsonLexer& lexer, std::string_view where);

  const std::vector<FusionOp>& ops() const { return ops_; }
  // What was left out of the file, for the user.
  const std::vector<std::string>& notes() const { return notes_; }
  // The operator of that name; kNoIndex.
  uint32_t find(std::string_view name) const;

  FusionKey output_key(uint32_t op, uint32_t output) const;
  // The key of the tensor that an input reads: of its producer, passing operators that the compiler inserted
  // by their first input. none: nothing is known.
  FusionKey input_key(uint32_t op, uint32_t input) const;
  // The operator whose output that is; kNoIndex.
  uint32_t producer(uint32_t op, uint32_t input) const { return walk(op, input).producer; }
  // Whether an input is a weight: it leads to a Const, Constant or Variable.
  bool is_constant(uint32_t op, uint32_t input) const;

 private:
  friend class FusionReader;
  FusionEdge walk(uint32_t op, uint32_t input) const;

  std::vector<FusionOp> ops_;
  std::unordered_map<std::string, uint32_t> by_name_;
  std::vector<std::string> notes_;
};

}  // namespace ulpscope
