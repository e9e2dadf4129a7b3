// The weights of a model folder: its tensors by name, wherever they lie, and their hashes. Reads safetensors
// files, and the list of hashes that collect writes in place of the weights. Used by config-check and
// collect.
#pragma once

#include <ulpscope/types.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "base/result.hpp"
#include "base/thread_pool.hpp"
#include "formats/tensor_file.hpp"

namespace ulpscope {

struct WeightTensor {
  std::string file;                    // name in the folder, for messages
  std::shared_ptr<const File> source;  // shared by the tensors of one file; null when only the hash is known
  uint64_t offset = 0, size = 0;
  std::string dtype;  // the word of the file: "BF16"
  DType type = DType::none;
  Shape shape;
  std::string sha256;  // of the bytes; empty until hashed
};

struct Weights {
  std::map<std::string, WeightTensor> tensors;
  std::map<std::string, std::string> other_files;  // .bin and .pt by name: their paths
  bool empty() const { return tensors.empty() && other_files.empty(); }
};

// The name of the file that collect writes beside config.json.
inline constexpr std::string_view kWeightsFile = "weights.json";

// Opens every *.safetensors of a folder, or weights.json where there is none. format, io: a broken header, an
// offset outside the file, an overlap, or a tensor that two files hold, with file and tensor.
Result<Weights> read_weights(const std::string& folder);

// Hashes the tensors that have no hash yet, the largest first. on_bytes is called from any thread.
Status hash_weights(std::vector<WeightTensor*> tensors, ThreadPool& pool, const Cancel& cancel,
                    const std::function<void(uint64_t)>& on_bytes);

// {"schema": "ulpscope.weights/1", "tensors": {name: {"dtype", "shape", "sha256"}}}
std::string weights_json(const Weights& weights);

// Of a whole file of any size. io, cancelled.
Result<std::string> file_sha256(const std::string& path, const Cancel& cancel);

// How two tensors of equal dtype and size differ.
struct WeightDifference {
  bool same_bytes = false;
  int64_t elements = 0, differing = 0, first = -1;  // 0 elements: the dtype is not known here
  double largest = 0;                               // absolute difference of a number; NaN and infinity aside
  bool same_statistics = false;                     // max, min, mean and norm
  bool has_numbers = false;                         // whether the dtype can be read as numbers
};

// Whether the bytes of both are there, and as many, of one dtype.
bool can_compare_bytes(const WeightTensor& golden, const WeightTensor& problem);

// Of two tensors that can_compare_bytes; the hashes are filled in where they differ. on_bytes is called with
// what was read of both. io, cancelled. Any thread.
Result<WeightDifference> compare_weights(WeightTensor& golden, WeightTensor& problem, const Cancel& cancel,
                                         const std::function<void(uint64_t)>& on_bytes);

}  // namespace ulpscope
