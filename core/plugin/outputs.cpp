#include "plugin/outputs.hpp"

#include <ulpscope/detail/guard.hpp>

#include <utility>

namespace ulpscope {

OutputCollector::OutputCollector(uint64_t limit_bytes) : sink_{}, left_bytes_(limit_bytes) {
  sink_.struct_size = static_cast<uint32_t>(sizeof(sink_));
  sink_.ctx = this;
  sink_.add_output = &OutputCollector::add_entry;
}

std::vector<OutputTensor> OutputCollector::take() {
  const std::lock_guard lock(outputs_mutex_);
  return std::exchange(outputs_, {});
}

ulpscope_status OutputCollector::add_entry(void* ctx, ulpscope_str path, int32_t dtype, const int64_t* dims,
                                           uint32_t dim_count, void** dst, ulpscope_error* err) {
  return detail::guard(err,
                       [&] { *dst = static_cast<OutputCollector*>(ctx)->add(path, dtype, dims, dim_count); });
}

void* OutputCollector::add(ulpscope_str path, int32_t dtype, const int64_t* dims, uint32_t dim_count) {
  OutputTensor output;
  output.path = to_view(path);
  output.dtype = static_cast<DType>(dtype);
  const std::string place = "output '" + output.path + "': ";
  uint64_t size = size_bytes(output.dtype);
  if (size == 0) throw Failure(ULPSCOPE_E_USAGE, place + "dtype " + std::to_string(dtype) + " is unknown");
  if (dim_count > kMaxDims || (dim_count > 0 && dims == nullptr))
    throw Failure(ULPSCOPE_E_USAGE, place + std::to_string(dim_count) + " dimensions, expected at most 32");
  for (uint32_t i = 0; i < dim_count; ++i) {
    if (dims[i] < 0)
      throw Failure(ULPSCOPE_E_USAGE,
                    place + "dimension " + std::to_string(dims[i]) + ", expected 0 or more");
    if (__builtin_mul_overflow(size, static_cast<uint64_t>(dims[i]), &size))
      throw Failure(ULPSCOPE_E_USAGE, place + "its size does not fit 64 bits");
    output.shape.push_back(dims[i]);
  }
  const std::lock_guard lock(outputs_mutex_);
  if (size > left_bytes_)
    throw Failure(ULPSCOPE_E_NO_MEMORY, place + std::to_string(size) + " bytes, expected at most " +
                                            std::to_string(left_bytes_) + " more");
  output.data.resize(static_cast<size_t>(size));
  left_bytes_ -= size;
  outputs_.push_back(std::move(output));
  return outputs_.back().data.data();
}

}  // namespace ulpscope
