// Reads dumps of the framework family: step and rank folders with dump.json, construct.json, stack.json and
// tensor files, or with debug.json, or with tensor files alone, as written for PyTorch, vLLM and SGLang by
// msprobe. The sources torch_api, vllm_v0 and vllm_v1 are thin faces of this class. Records are emitted in
// the order of the file, which is the order of execution; a module stands where it returned, so that the
// parent of a record may come after it: parents are counted as the host counts ops, from 0 in order of
// arrival. Tensor files are opened only when their elements are asked for.
#pragma once

#include <ulpscope/plugin.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "formats/framework_dump_data.hpp"
#include "formats/framework_dump_layout.hpp"

namespace ulpscope {

// What a step folder means.
enum class FrameworkFlavour {
  torch_api,  // one step
  vllm_v0,    // one generate call: its forward passes become tokens
  vllm_v1,    // one scheduler step, prefill or decode
};

class FrameworkDump {
 public:
  // Finds the folders to read; opens no file but a single one that was named. io: nothing there; format:
  // nothing of a dump.
  static Result<std::unique_ptr<FrameworkDump>> open(Host host, const std::string& path,
                                                     FrameworkFlavour flavour,
                                                     const FrameworkOptions& options);

  // Emits every record once. A folder or file that cannot be read is diagnosed and left out, an unusable
  // tensor is diagnosed and recorded as absent. Throws Failure when the sink refuses a record or the user
  // cancels. One thread.
  void scan(RecordSink& sink);
  // As those of LateTensors. Any thread, after the scan.
  DataRef locate(uint64_t token) { return tensors_.locate(token); }
  std::unique_ptr<ByteStream> stream(uint64_t token) { return tensors_.stream(token); }

 private:
  FrameworkDump(Host host, DumpLayout layout, FrameworkFlavour flavour, const FrameworkOptions& options);

  Host host_;
  DumpLayout layout_;
  FrameworkFlavour flavour_;
  FrameworkOptions options_;
  LateTensors tensors_;
};

// How a source of the family judges a path: by the first bytes of its dump.json and stack.json. Any thread;
// never fails.
Probe probe_framework(std::string_view path, FrameworkFlavour flavour);

}  // namespace ulpscope
