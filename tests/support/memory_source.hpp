// A dump that a test writes down: records in memory, given to an index through the same handles as those of a
// plugin. For unit tests only.
//
//   MemoryDump dump;
//   dump.op("Torch.matmul.0.forward").input("0", {2, 3}).output("0", {2, 3});
//   const DumpIndex index = dump.index();
#pragma once

#include <ulpscope/plugin.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/diagnostics.hpp"
#include "base/thread_pool.hpp"
#include "index/dump_index.hpp"
#include "plugin/handles.hpp"
#include "plugin/host_services.hpp"

namespace ulpscope::test {

using Record = std::pair<OpRecord, std::vector<TensorRecord>>;
using Records = std::vector<Record>;

// Emits the records that stand under its path in a table which lives as long as the opening of a dump.
class MemorySource : public Source {
 public:
  static constexpr const char* kName = "memory";
  static constexpr const char* kSummary = "records of a test";
  static Probe probe(std::string_view) { return {0, "only for tests"}; }
  static const Records*& next() {
    thread_local const Records* records = nullptr;
    return records;
  }

  MemorySource(Host, std::string_view, std::string_view) : records_(*next()) {}
  void scan(RecordSink& sink) override {
    for (const auto& [op, tensors] : records_) {
      const uint32_t number = sink.add(op);
      for (TensorRecord tensor : tensors) {
        tensor.op = number;
        sink.add(tensor);
      }
    }
  }

 private:
  Records records_;
};

// Adds to the op that was begun last.
class MemoryDump {
 public:
  // source: the name that the index will show ("torch_api"); it must be a literal. path: need not exist.
  explicit MemoryDump(const char* source = "torch_api", std::string path = "/nowhere/dump")
      : source_(source), path_(std::move(path)) {}

  // Kind, phase and call number follow from the name, as the framework sources have them.
  MemoryDump& op(const std::string& name) {
    OpRecord record;
    record.name = name;
    record.step = step_;
    record.rank = rank_;
    record.token = token_;
    describe(name, record);
    records_.emplace_back(std::move(record), std::vector<TensorRecord>());
    return *this;
  }
  // The step, rank and token of the ops that follow.
  MemoryDump& at(int32_t step, int32_t rank, int32_t token = -1) {
    step_ = step;
    rank_ = rank;
    token_ = token;
    return *this;
  }
  MemoryDump& input(const std::string& path, Shape shape, DType dtype = DType::f32) {
    return tensor(Role::input, path, std::move(shape), dtype);
  }
  MemoryDump& output(const std::string& path, Shape shape, DType dtype = DType::f32) {
    return tensor(Role::output, path, std::move(shape), dtype);
  }
  MemoryDump& tensor(Role role, const std::string& path, Shape shape, DType dtype = DType::f32) {
    TensorRecord record;
    record.role = role;
    record.path = path;
    record.shape = std::move(shape);
    record.dtype = dtype;
    record.stats.present = 1;
    return tensor(std::move(record));
  }
  MemoryDump& tensor(TensorRecord record) {
    records_.back().second.push_back(std::move(record));
    return *this;
  }
  // The argument tree of the op, as torch-like sources give it.
  MemoryDump& attributes(const std::string& json) {
    records_.back().first.attributes_json = json;
    return *this;
  }
  // The op record itself, for what has no method here.
  OpRecord& record() { return records_.back().first; }
  // Row of the op that was begun last, to be the parent of others.
  uint32_t last() const { return static_cast<uint32_t>(records_.size() - 1); }
  MemoryDump& parent(uint32_t op) {
    records_.back().first.parent = op;
    return *this;
  }
  size_t size() const { return records_.size(); }
  Records& records() { return records_; }

  // The index of the records; ends the test when it cannot be made.
  DumpIndex index() const {
    static ThreadPool pool(1);
    static const Cancel never;
    static const HostServices host(pool, never, {}, "test");
    ulpscope_source_desc desc = *ulpscope::source<MemorySource>();
    desc.name = source_;
    MemorySource::next() = &records_;
    auto handle = SourceHandle::open(desc, host.table(), path_, "{}");
    if (!handle.ok()) std::abort();
    Diagnostics diagnostics;
    auto index = DumpIndex::build(std::move(handle).value(), {}, diagnostics, never);
    if (!index.ok()) std::abort();
    return std::move(index).value();
  }

 private:
  static bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  }

  static void describe(const std::string& name, OpRecord& record) {
    std::vector<std::string> parts(1);
    for (const char c : name) {
      if (c == '.')
        parts.emplace_back();
      else
        parts.back() += c;
    }
    const size_t n = parts.size();
    const auto direction = [](const std::string& word) {
      return word == "forward" ? Phase::forward : word == "backward" ? Phase::backward : Phase::none;
    };
    if (n >= 3 && is_number(parts[n - 2]) && direction(parts[n - 1]) != Phase::none) {
      record.kind = parts[0] == "Distributed" ? OpKind::communication : OpKind::api;
      record.phase = direction(parts[n - 1]);
      record.call = static_cast<uint32_t>(std::stoul(parts[n - 2]));
      record.type = parts[n - 3];
    } else if (n >= 3 && is_number(parts[n - 1])) {
      record.kind = OpKind::module;
      record.phase = parts[n - 2] == "parameters_grad" ? Phase::backward : direction(parts[n - 2]);
      record.call = static_cast<uint32_t>(std::stoul(parts[n - 1]));
      record.type = parts[n - 3];
    } else {
      record.type = parts.back();
    }
  }

  const char* source_;
  std::string path_;
  Records records_;
  int32_t step_ = 0, rank_ = 0, token_ = -1;
};

}  // namespace ulpscope::test
