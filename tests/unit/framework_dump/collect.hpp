// A host and a record sink that keep everything, for tests of sources.
#pragma once

#include <ulpscope/plugin.hpp>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace ulpscope::test {

struct Diagnosis {
  ulpscope_status code = 0;
  std::string where, text;
};

// Copies of all that a source says. The tables point into the object, which therefore stays where it is.
class Collector {
 public:
  Collector() {
    host_ = {};
    host_.struct_size = sizeof(host_);
    host_.version = "test";
    host_.ctx = this;
    host_.log = [](void* ctx, int32_t level, ulpscope_str text) {
      auto* self = static_cast<Collector*>(ctx);
      const std::lock_guard<std::mutex> lock(self->mutex_);
      self->log.emplace_back(level, std::string(to_view(text)));
    };
    host_.cancelled = [](void* ctx) -> int32_t { return static_cast<Collector*>(ctx)->cancel ? 1 : 0; };
    host_.parallel_for = [](void*, uint64_t n, void (*body)(void*, uint64_t), void* arg) -> ulpscope_status {
      for (uint64_t i = 0; i < n; ++i) body(arg, i);
      return ULPSCOPE_OK;
    };
    sink_ = {};
    sink_.struct_size = sizeof(sink_);
    sink_.ctx = this;
    sink_.add_op = [](void* ctx, const ulpscope_op_record* op, uint32_t* index, ulpscope_error*) {
      return static_cast<Collector*>(ctx)->add(*op, *index);
    };
    sink_.add_tensor = [](void* ctx, const ulpscope_tensor_record* tensor, uint32_t* index, ulpscope_error*) {
      return static_cast<Collector*>(ctx)->add(*tensor, *index);
    };
    sink_.diagnose = [](void* ctx, ulpscope_status code, ulpscope_str where, ulpscope_str text) {
      static_cast<Collector*>(ctx)->diagnoses.push_back(
          {code, std::string(to_view(where)), std::string(to_view(text))});
    };
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  Host host() const { return Host(&host_); }
  const ulpscope_host* host_table() const { return &host_; }
  const ulpscope_record_sink* sink_table() const { return &sink_; }

  std::vector<TensorRecord> tensors_of(uint32_t op) const {
    std::vector<TensorRecord> found;
    for (const TensorRecord& tensor : tensors)
      if (tensor.op == op) found.push_back(tensor);
    return found;
  }
  // The first op of that name; ops.size() when there is none.
  uint32_t find(std::string_view name) const {
    for (uint32_t i = 0; i < ops.size(); ++i)
      if (ops[i].name == name) return i;
    return static_cast<uint32_t>(ops.size());
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> found;
    for (const auto& [level, text] : log)
      if (level == 2) found.push_back(text);
    return found;
  }

  std::vector<OpRecord> ops;
  std::vector<TensorRecord> tensors;
  std::vector<Diagnosis> diagnoses;
  std::vector<std::pair<int32_t, std::string>> log;
  uint32_t refuse_at = 0xffffffff;  // the op at which add_op fails
  bool cancel = false;

 private:
  ulpscope_status add(const ulpscope_op_record& c, uint32_t& index) {
    if (ops.size() == refuse_at) return ULPSCOPE_E_NO_MEMORY;
    OpRecord op;
    op.kind = static_cast<OpKind>(c.kind);
    op.phase = static_cast<Phase>(c.phase);
    op.step = c.step;
    op.rank = c.rank;
    op.call = c.call;
    op.parent = c.parent;
    op.token = c.token;
    op.name = to_view(c.name);
    op.type = to_view(c.type);
    op.stack = to_view(c.stack);
    op.attributes_json = to_view(c.attributes_json);
    index = static_cast<uint32_t>(ops.size());
    ops.push_back(std::move(op));
    return ULPSCOPE_OK;
  }

  ulpscope_status add(const ulpscope_tensor_record& c, uint32_t& index) {
    TensorRecord tensor;
    tensor.op = c.op;
    tensor.role = static_cast<Role>(c.role);
    tensor.path = to_view(c.path);
    tensor.dtype = static_cast<DType>(c.dtype);
    tensor.shape.assign(c.dims, c.dims + c.dim_count);
    tensor.data = {c.data.kind, std::string(to_view(c.data.file)), c.data.offset, c.data.size, c.data.token};
    tensor.stats = c.stats;
    tensor.digest = to_view(c.digest);
    tensor.link = to_view(c.link);
    tensor.storage = to_view(c.storage);
    tensor.absent = c.absent;
    tensor.flags = c.flags;
    index = static_cast<uint32_t>(tensors.size());
    tensors.push_back(std::move(tensor));
    return ULPSCOPE_OK;
  }

  ulpscope_host host_;
  ulpscope_record_sink sink_;
  std::mutex mutex_;  // guards log
};

}  // namespace ulpscope::test
