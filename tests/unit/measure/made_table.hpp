// Comparisons made by hand for the tests of the judgement: two dumps given as lists of items, paired in
// order. No file, no matcher, no measuring: a test states what was measured.
#pragma once

#include <ulpscope/plugin.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "index/dump_index.hpp"
#include "measure/similarity.hpp"
#include "plugin/host_services.hpp"
#include "report/result_table.hpp"

namespace ulpscope::test {

// One item of an op: a tensor, or (type not empty) an argument.
struct MadeItem {
  Role role = Role::input;
  std::string path = "0";
  DType dtype = DType::f32;
  Shape shape = {2, 3};
  ulpscope_stats stats = {};
  std::string digest;
  uint32_t flags = ULPSCOPE_GRAD_NO;
  bool has_data = false;
  int32_t absent = 0;
  std::string type, value;
};

struct MadeOp {
  std::string name = "Torch.add.0.forward", type = "add";
  OpKind kind = OpKind::api;
  std::vector<MadeItem> items;
  int32_t step = 0, rank = 0;
  std::string stack;
};

inline ulpscope_stats stats(double max, double min, double mean, double l2norm) {
  return {ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN | ULPSCOPE_STAT_MEAN | ULPSCOPE_STAT_L2,
          0,
          max,
          min,
          mean,
          l2norm};
}
// Of tensors whose mean and norm the dump does not record.
inline ulpscope_stats extremes(double max, double min) {
  return {ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN, 0, max, min, 0, 0};
}

inline MadeItem tensor(Role role, std::string path, ulpscope_stats recorded) {
  MadeItem item;
  item.role = role;
  item.path = std::move(path);
  item.stats = recorded;
  return item;
}
inline MadeItem data_tensor(Role role, std::string path) {
  MadeItem item = tensor(role, std::move(path), {});
  item.has_data = true;
  return item;
}
inline MadeItem argument(std::string path, std::string type, std::string value, Role role = Role::input) {
  MadeItem item;
  item.role = role;
  item.path = std::move(path);
  item.type = std::move(type);
  item.value = std::move(value);
  return item;
}

// Emits the ops that next_ops points to when it is opened.
class MadeSource final : public Source {
 public:
  static constexpr const char* kName = "torch_api";
  static constexpr const char* kSummary = "records that a test made";
  static inline const std::vector<MadeOp>* next_ops = nullptr;

  static Probe probe(std::string_view) { return {}; }
  MadeSource(Host, std::string_view, std::string_view) : ops_(*next_ops) {}

  void scan(RecordSink& sink) override {
    for (const MadeOp& op : ops_) {
      OpRecord record;
      record.name = op.name;
      record.type = op.type;
      record.kind = op.kind;
      record.step = op.step;
      record.rank = op.rank;
      record.stack = op.stack;
      record.attributes_json = attributes(op);
      const uint32_t number = sink.add(record);
      for (const MadeItem& item : op.items)
        if (item.type.empty()) sink.add(tensor_record(item, number));
    }
  }

 private:
  static TensorRecord tensor_record(const MadeItem& item, uint32_t op) {
    TensorRecord record;
    record.op = op;
    record.role = item.role;
    record.path = item.path;
    record.dtype = item.dtype;
    record.shape = item.shape;
    record.stats = item.stats;
    record.digest = item.digest;
    record.flags = item.flags;
    record.absent = item.absent;
    if (item.has_data) record.data = DataRef::later(0);
    return record;
  }

  // Arguments as members named by their path; tensors are added by the index itself.
  static std::string attributes(const MadeOp& op) {
    std::string sections;
    const std::pair<Role, const char*> kSections[] = {{Role::input, "input"}, {Role::output, "output"}};
    for (const auto& [role, word] : kSections) {
      std::string members;
      for (const MadeItem& item : op.items) {
        if (item.type.empty() || item.role != role) continue;
        const std::string leaf =
            item.type == "None" ? "null" : R"({"type": ")" + item.type + R"(", "value": )" + item.value + "}";
        members += (members.empty() ? "" : ", ") + ('"' + item.path + "\": " + leaf);
      }
      if (!members.empty())
        sections += (sections.empty() ? "\"" : ", \"") + std::string(word) + "\": {" + members + "}";
    }
    return sections.empty() ? "" : "{" + sections + "}";
  }

  std::vector<MadeOp> ops_;
};

// A dump of the ops, as if source_name had read it.
inline DumpIndex make_index(const std::vector<MadeOp>& ops, const char* source_name = "torch_api") {
  static ThreadPool pool(1);
  static Cancel cancel;
  static HostServices host(pool, cancel, {}, "test");
  static Diagnostics diagnostics;
  ulpscope_source_desc desc = *source<MadeSource>();
  desc.name = source_name;
  MadeSource::next_ops = &ops;
  auto handle = SourceHandle::open(desc, host.table(), "made", "{}");
  REQUIRE(handle.ok());
  auto index = DumpIndex::build(std::move(handle).value(), {}, diagnostics, cancel);
  REQUIRE(index.ok());
  return std::move(index).value();
}

// Two dumps and the table of their items, paired by place. Rows are judged op pair by op pair.
class MadeTable {
 public:
  MadeTable(const std::vector<MadeOp>& target, const std::vector<MadeOp>& golden,
            const char* golden_source = "torch_api")
      : target_(make_index(target)), golden_(make_index(golden, golden_source)) {
    table_.target = &target_;
    table_.golden = &golden_;
    table_.judgements = {"similarity"};
    const size_t count = std::max(target_.ops().size(), golden_.ops().size());
    for (size_t i = 0; i < count; ++i) add_op(i);
  }
  // One op each.
  MadeTable(std::vector<MadeItem> target, std::vector<MadeItem> golden,
            std::string name = "Torch.add.0.forward", std::string type = "add")
      : MadeTable({MadeOp{name, type, OpKind::api, std::move(target), 0, 0, ""}},
                  {MadeOp{name, type, OpKind::api, std::move(golden), 0, 0, ""}}) {}
  MadeTable(const MadeTable&) = delete;
  MadeTable& operator=(const MadeTable&) = delete;

  ResultTable& table() { return table_; }
  const DumpIndex& target() const { return target_; }
  ResultRow& row(size_t place) { return table_.rows[place]; }
  // The sums of a row, which becomes a row of measured elements.
  PairSums& sums(size_t place) {
    ResultRow& row = table_.rows[place];
    row.mode = Mode::data;
    if (row.metrics < 0) {
      row.metrics = static_cast<int64_t>(table_.data_metrics.size());
      table_.data_metrics.emplace_back();
    }
    return table_.data_metrics[static_cast<size_t>(row.metrics)].sums;
  }

  MadeTable& judge(const SimilarityOptions& options = {}) {
    for (size_t first = 0; first < table_.rows.size();) {
      size_t end = first;
      while (end < table_.rows.size() && table_.rows[end].pair.op_pair == table_.rows[first].pair.op_pair)
        ++end;
      judge_similarity(table_, static_cast<int64_t>(first), static_cast<int64_t>(end - first), options);
      first = end;
    }
    return *this;
  }
  Verdict judged(size_t place) const { return table_.rows[place].judged; }
  const std::string& message(size_t place) const { return table_.rows[place].message; }

 private:
  void add_op(size_t number) {
    const bool in_target = number < target_.ops().size(), in_golden = number < golden_.ops().size();
    const auto op = static_cast<OpId>(number);
    table_.pairs.ops.push_back({in_target ? op : kNoIndex, in_golden ? op : kNoIndex, MatchKind::exact});
    const size_t targets = in_target ? target_.items(op).size() : 0,
                 goldens = in_golden ? golden_.items(op).size() : 0;
    for (size_t i = 0; i < std::max(targets, goldens); ++i) {
      ItemPair pair;
      pair.op_pair = static_cast<uint32_t>(number);
      if (i < targets) pair.target = target_.ops()[op].first_item + static_cast<ItemId>(i);
      if (i < goldens) pair.golden = golden_.ops()[op].first_item + static_cast<ItemId>(i);
      table_.pairs.items.push_back(pair);
      ResultRow row;
      row.pair = pair;
      if (pair.target != kNoIndex && pair.golden != kNoIndex) row.mode = mode_of(pair);
      table_.rows.push_back(std::move(row));
    }
  }

  Mode mode_of(const ItemPair& pair) const {
    const TensorId target = target_.items()[pair.target].tensor, golden = golden_.items()[pair.golden].tensor;
    if (target == kNoIndex || golden == kNoIndex) return Mode::value;
    return target_.tensors()[target].digest != 0 && golden_.tensors()[golden].digest != 0 ? Mode::digest
                                                                                          : Mode::statistics;
  }

  DumpIndex target_, golden_;
  ResultTable table_;
};

// Sums of a float32 pair of count elements that are equal but for what a test changes.
inline PairSums equal_sums(int64_t count) {
  PairSums sums;
  sums.elements = sums.finite_pairs = count;
  for (int64_t& within : sums.within) within = count;
  sums.dot = sums.squares_target = sums.squares_golden = 4;
  sums.target.finite = sums.golden.finite = count;
  sums.target.max = sums.golden.max = 1;
  sums.target.min = sums.golden.min = -1;
  return sums;
}

}  // namespace ulpscope::test
