// Makes the bundle of this machine: environment, installed packages, version files of Ascend, the launch
// script, the log and the small files of the model, without secrets and without the weights, of which only
// hashes are kept. Used by `config-check collect`.
#pragma once

#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/result.hpp"
#include "base/thread_pool.hpp"

namespace ulpscope {

struct CollectRequest {
  std::string folder;              // made where it is not there; refused when it holds a bundle
  std::string model, launch, log;  // empty: left out
  std::string python = "python3";  // asked for its packages; empty: not asked
  bool hash_weights = true;
};

// Names of the files that were written. io: the folder cannot be made or written. usage: it holds a bundle.
// What cannot be had (no pip, no model file) is a diagnostic.
Result<std::vector<std::string>> collect_bundle(const CollectRequest& request, ThreadPool& pool,
                                                const Cancel& cancel, Diagnostics& diagnostics);

}  // namespace ulpscope
