// Reads dumps of offline models (OM under ACL): turns the leaves of a dump tree into records, with the keys
// of the original model where the compiled model's json is known, and gives tensors in their original layout.
// The source acl_om is a thin face of this class.
#pragma once

#include <ulpscope/plugin.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/acl_array.hpp"
#include "formats/acl_leaf.hpp"
#include "formats/acl_slices.hpp"
#include "formats/storage_stream.hpp"

namespace ulpscope {

struct AclOptions {
  std::vector<int32_t> steps, ranks;  // sorted; empty: all
  std::string fusion;                 // the compiled model's json; empty: looked for beside the dump
  bool raw = false;                   // tensors as they are stored
  std::string golden;                 // a folder of arrays whose shapes are a last resort; empty: none
};

// usage: not an object, or not an option of this source.
Result<AclOptions> parse_acl_options(std::string_view json);

class AclSource {
 public:
  // io, format: no dump there; usage: several runs or models below the path, with a list of them.
  static Result<std::unique_ptr<AclSource>> open(Host host, const std::string& path,
                                                 const AclOptions& options);

  // Emits every record once. Throws Failure when the sink refuses a record, the user cancels, or the
  // compiled model's json cannot be read. One thread.
  void scan(RecordSink& sink);
  // The elements of a tensor recorded as a stream. Throws Failure. Any thread, after the scan.
  std::unique_ptr<ByteStream> stream(uint64_t token) const;

 private:
  using Part = AclStretch;
  struct Placed {
    TensorRecord record;
    Part part;
    bool usable = false;
  };

  AclSource(Host host, AclTree tree, AclOptions options)
      : host_(host),
        tree_(std::move(tree)),
        options_(std::move(options)),
        golden_(options_.golden.empty() ? GoldenShapes() : GoldenShapes(options_.golden)) {}
  void scan_leaf(RecordSink& sink, const AclLeaf& leaf);
  void emit(RecordSink& sink, const AclLeaf& leaf, const AclLeafContents& contents, const AclCall& call);
  void emit_tensors(RecordSink& sink, const AclLeafContents& contents, const AclCall& call, uint32_t op);
  Placed place(RecordSink& sink, const AclFile& file, const AclTensor& tensor, const AclCall& call) const;
  void name_tensor(TensorRecord& record, AclPart part, uint32_t index, const AclCall& call,
                   const AclTensor* tensor) const;
  void put_layout(const AclTensor& tensor, const AclCall& call, Placed& placed, std::string& note) const;
  void join_slices(RecordSink& sink, const AclLeafContents& contents, const AclCall& call, uint32_t op);
  bool join_one(const AclSlicing& slicing, const std::vector<Placed>& slices, const AclTensor& tensor,
                TensorRecord& record);
  std::string originals_of(const AclCall& call) const;
  std::string attributes_of(const AclCall& call) const;
  void emit_array(RecordSink& sink, const AclArray& array, const AclCall& call, uint32_t op);

  Host host_;
  AclTree tree_;
  AclOptions options_;
  GoldenShapes golden_;
  std::unique_ptr<FusionGraph> graph_;      // of the leaf that is being read
  std::vector<std::vector<Part>> streams_;  // by token
};

// How the source judges a path: by the names of its files. Any thread; never fails.
Probe probe_acl(std::string_view path);

}  // namespace ulpscope
