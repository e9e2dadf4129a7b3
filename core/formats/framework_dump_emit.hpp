// A dump.json as records: its entries are read and kept, and emitted when the file is known to be whole. And
// the records of folders that hold tensor files only. Used by FrameworkDump.
#pragma once

#include <ulpscope/plugin.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "formats/framework_dump.hpp"
#include "formats/framework_dump_kept.hpp"
#include "formats/framework_dump_outline.hpp"
#include "formats/framework_dump_tree.hpp"

namespace ulpscope {

// Whether the name of a tensor file says which tensor of which call it holds:
// "Aten.add.Tensor.10.input.0.pt".
bool names_a_call(const std::string& file);

// Emits the records of one folder after the other and counts them. One thread.
class FolderEmitter {
 public:
  FolderEmitter(Host host, RecordSink& sink, const DumpLayout& layout, FrameworkFlavour flavour,
                const FrameworkOptions& options, LateTensors& tensors)
      : host_(host), sink_(sink), layout_(layout), flavour_(flavour), options_(options), tensors_(tensors) {}

  // Emits a folder's records; diagnoses what cannot be read. Throws Failure as FrameworkDump::scan.
  void emit(const DumpFolder& folder);

 private:
  // All that is known of a dump.json before its entries are emitted.
  struct Plan {
    std::string where;  // the file, relative to the dump root
    TextTable keys;
    DumpOutline outline;
    KeptEntries kept;  // what the entries came to
    AnchorFinder anchors;
    std::vector<DumpKey> entry_keys;  // by entry
    ConstructTree construct;
    StackTable stacks;
    bool structure = false;  // the entries are those of construct.json
  };

  void emit_json(const std::string& name);
  bool plan_outline(Plan& plan, const File& file);
  bool read_entry(Plan& plan, JsonLexer& lexer, std::string_view name, OutlineEntry& entry);
  void plan_companions(Plan& plan);
  void plan_parents(Plan& plan);
  void plan_structure(Plan& plan);
  void warn_about(const Plan& plan);
  void warn_of_task(const Plan& plan);
  void emit_entries(const Plan& plan);
  void emit_entry(const Plan& plan, size_t index);
  void emit_tensors(const Plan& plan, uint32_t op);
  void emit_bad_tensor(uint32_t op);
  void emit_oddities(const Plan& plan);
  void hint_phase(const Plan& plan, size_t index);
  void emit_files();
  uint32_t add_op();
  std::string place(std::string_view name) const;
  std::string without_path(const std::string& message, const std::string& where) const;
  void warn(ulpscope_status code, std::string_view where, std::string_view text) {
    sink_.diagnose(code, where, text);
  }

  Host host_;
  RecordSink& sink_;
  const DumpLayout& layout_;
  FrameworkFlavour flavour_;
  const FrameworkOptions& options_;
  LateTensors& tensors_;
  DumpFolder folder_;
  uint32_t next_op_ = 0;   // the number that the host gives the next op
  uint32_t first_op_ = 0;  // the number of the current file's first entry
  JsonTape tape_;
  EntryReader reader_;
  OpRecord op_;                           // reused
  TensorRecord tensor_;                   // reused
  std::string hint_;                      // "prefill" or "decode", waiting for an op that can carry it
  int32_t hinted_token_ = -2;             // the last token whose phase is known
  std::string first_task_, first_place_;  // of the first dump.json
};

}  // namespace ulpscope
