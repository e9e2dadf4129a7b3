// One leaf folder of an offline-model dump: its files by kind, read and put in the order of execution. Used
// by the source of offline-model dumps; emits nothing.
#pragma once

#include <ulpscope/plugin.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "formats/acl_dump.hpp"
#include "formats/acl_names.hpp"
#include "formats/acl_overflow.hpp"
#include "formats/acl_statistics.hpp"
#include "formats/acl_tree.hpp"
#include "formats/fusion_graph.hpp"

namespace ulpscope {

// One dump file.
struct AclFile {
  AclFileName name;
  std::string file;      // relative to the root of the tree
  std::string identity;  // of the operator: the name in its header, else that of the file
  AclDump dump;
  std::optional<Error> error;  // the file cannot be read as a dump
};

// An array beside the dumps: one output of an operator.
struct AclArray {
  uint32_t output = 0;
  uint64_t timestamp = 0;
  std::string file;  // relative to the root of the tree
};

// One call of an operator: a file, the slices of one, rows of statistics, or arrays.
struct AclCall {
  std::string name, type;
  uint32_t call = 0;  // among the calls of this name
  uint32_t fusion_op = kNoIndex;
  uint64_t task = 0, timestamp = 0;
  int64_t stream = -1;
  std::vector<size_t> files;             // of AclLeafContents::files; several: slices by thread
  std::vector<AclStatistic> statistics;  // when there is no tensor file
  std::vector<AclArray> arrays;          // the last one of each output
  std::vector<AclOverflow> overflows;    // records that name this call
};

struct AclLeafContents {
  std::vector<AclFile> files;
  std::vector<AclCall> calls;  // in order of execution
};

// Told of what is unusable: code as for RecordSink::diagnose, file, text.
using AclDiagnose =
    std::function<void(ulpscope_status code, const std::string& where, const std::string& text)>;

// Reads every file of a leaf, or the single file that the tree is about. graph: may be null. Files that
// cannot be read are diagnosed and left out. io: the folder cannot be listed.
Result<AclLeafContents> read_acl_leaf(const Host& host, const AclTree& tree, const AclLeaf& leaf,
                                      const FusionGraph* graph, const AclDiagnose& diagnose);

}  // namespace ulpscope
