// Where an executor puts its outputs: memory of the host, with every size checked before it is allocated.
#pragma once

#include <ulpscope/abi.h>
#include <ulpscope/types.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace ulpscope {

// One output of a run: row-major, dense, native byte order.
struct OutputTensor {
  std::string path;
  DType dtype = DType::none;
  Shape shape;
  std::vector<std::byte> data;
};

// Collects the outputs of one run. The sink may be used from any thread while the run lasts.
class OutputCollector {
 public:
  static constexpr uint32_t kMaxDims = 32;

  // Outputs of more than limit_bytes together are refused with ULPSCOPE_E_NO_MEMORY.
  explicit OutputCollector(uint64_t limit_bytes);
  OutputCollector(const OutputCollector&) = delete;
  OutputCollector& operator=(const OutputCollector&) = delete;

  // Valid as long as this object.
  const ulpscope_output_sink& sink() const { return sink_; }
  // The outputs in the order in which they were added; leaves none. After the run.
  std::vector<OutputTensor> take();

 private:
  static ulpscope_status add_entry(void* ctx, ulpscope_str path, int32_t dtype, const int64_t* dims,
                                   uint32_t dim_count, void** dst, ulpscope_error* err);
  void* add(ulpscope_str path, int32_t dtype, const int64_t* dims, uint32_t dim_count);

  ulpscope_output_sink sink_;
  std::mutex outputs_mutex_;  // guards left_bytes_ and outputs_
  uint64_t left_bytes_;
  std::vector<OutputTensor> outputs_;
};

}  // namespace ulpscope
