// Turns one round of an ATB dump into records: operations with their tensors in execution order, where the
// elements lie (aliases followed), what is missing and why. Used by the source mindie_atb; lives inside a
// plugin, where the host's workers are at hand.
#pragma once

#include <ulpscope/plugin.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.hpp"
#include "formats/atb_container.hpp"
#include "formats/atb_layout.hpp"
#include "formats/atb_topology.hpp"
#include "formats/atb_tree.hpp"

namespace ulpscope {

class AtbRoundReader {
 public:
  // All arguments outlive the object.
  AtbRoundReader(const Host& host, const std::string& root, const AtbRound& round,
                 const AtbTopology& topology);

  // Reads the folders, the table and the headers of all files, on the host's workers. io: the folder of the
  // round cannot be listed. What is wrong with single files is told while emitting.
  Status read();
  // Emits every operation behind its children, and the diagnostics of the round. first_op: how many
  // operations the sink has got so far; the answer is how many this round adds. Throws what the sink throws.
  uint32_t emit(RecordSink& sink, uint32_t first_op);

 private:
  // A tensor with the header of its file.
  struct Stored {
    uint32_t op = 0;
    AtbTensorPlace place;
    const AtbTensor* tensor = nullptr;
    std::optional<Result<AtbContainer>> header;  // none: there is no file
    const AtbContainer* container() const { return header && header->ok() ? &header->value() : nullptr; }
  };

  void read_table();
  void collect();
  void read_headers();
  void find_aliased();
  std::string path_of(const std::string& file) const;  // relative to the root
  Result<AtbContainer> read_header(const AtbTensor& tensor) const;
  const Stored* find(uint32_t op, const AtbTensorPlace& place) const;
  Result<const Stored*> resolve(const Stored& alias) const;
  std::vector<uint32_t> in_order() const;
  OpKind kind_of(const AtbOp& op) const;
  std::string parameters_of(RecordSink& sink, const AtbOp& op) const;
  std::string link_of(const Stored& stored, const Stored* data) const;
  void emit_op(RecordSink& sink, uint32_t op, uint32_t parent);
  void emit_tensor(RecordSink& sink, const Stored& stored, uint32_t number);
  void emit_gaps(RecordSink& sink, const AtbOp& op, bool is_output, int64_t first, int64_t end,
                 uint32_t number);
  void fill_from_file(RecordSink& sink, const Stored& stored, TensorRecord& out);
  void fill_from_alias(RecordSink& sink, const Stored& stored, TensorRecord& out);
  void place_elements(const AtbContainer& container, const std::string& file, TensorRecord& out) const;
  void tell_of_table(RecordSink& sink) const;
  void tell_of_aliases(RecordSink& sink) const;

  const Host& host_;
  const std::string& root_;
  const AtbRound& round_;
  const AtbTopology& topology_;
  AtbTree tree_;
  std::optional<Error> table_error_;
  std::vector<Stored> stored_;               // by operation, then place
  std::vector<size_t> first_of_op_;          // one more than there are operations
  std::unordered_set<std::string> aliased_;  // keys of tensors that an alias means
  int64_t alias_count_ = 0, filtered_count_ = 0;
};

}  // namespace ulpscope
