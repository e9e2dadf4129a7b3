#include "formats/acl_slices.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMaxTensors = 4096;

template <class F>
void for_children(const JsonTape& tape, uint32_t node, F visit) {
  if (!tape.is(node, JsonKind::array)) return;
  for (uint32_t child = node + 1; child != tape.at(node).next; child = tape.at(child).next) visit(child);
}

// Of each tensor the counts of cuts by dimension: the axis is the first with more than one.
std::vector<int32_t> axes_of_counts(const JsonTape& tape, uint32_t list) {
  std::vector<int32_t> axes;
  for_children(tape, list, [&](uint32_t tensor) {
    int32_t axis = -1, dimension = 0;
    for_children(tape, tensor, [&](uint32_t count) {
      if (axis < 0 && json_int(tape.text(count)).value_or(1) > 1) axis = dimension;
      ++dimension;
    });
    if (axes.size() < kMaxTensors) axes.push_back(axis);
  });
  return axes;
}

// Of each thread and tensor the bounds by dimension: the axis is the first whose lower bound differs from
// that of the first thread.
std::vector<int32_t> axes_of_bounds(const JsonTape& tape, uint32_t threads) {
  std::vector<int32_t> axes;
  std::vector<std::vector<int64_t>> first;
  bool is_first = true;
  for_children(tape, threads, [&](uint32_t thread) {
    size_t number = 0;
    for_children(tape, thread, [&](uint32_t tensor) {
      std::vector<int64_t> lowers;
      for_children(tape, tensor, [&](uint32_t bounds) {
        const uint32_t lower = tape.find(bounds, "lower");
        lowers.push_back(lower == JsonTape::kNone ? 0 : json_int(tape.text(lower)).value_or(0));
      });
      if (is_first && first.size() < kMaxTensors) {
        first.push_back(lowers);
        axes.push_back(-1);
      } else if (number < first.size() && axes[number] < 0) {
        for (size_t i = 0; i < std::min(lowers.size(), first[number].size()); ++i)
          if (axes[number] < 0 && lowers[i] != first[number][i]) axes[number] = static_cast<int32_t>(i);
      }
      ++number;
    });
    is_first = false;
  });
  return axes;
}

class JoinedStream final : public ByteStream {
 public:
  JoinedStream(std::vector<std::unique_ptr<ByteStream>> streams, std::vector<uint64_t> run_bytes)
      : streams_(std::move(streams)),
        run_bytes_(std::move(run_bytes)),
        left_(run_bytes_.empty() ? 0 : run_bytes_[0]) {}

  uint64_t read(void* dst, uint64_t size) override {
    size_t empty = 0;
    while (size > 0 && empty < streams_.size()) {
      if (left_ == 0) {
        at_ = (at_ + 1) % streams_.size();
        left_ = run_bytes_[at_];
        empty += left_ == 0 ? 1 : 0;
        continue;
      }
      const uint64_t got = streams_[at_]->read(dst, std::min(size, left_));
      left_ -= got;
      return got;
    }
    return 0;
  }

 private:
  std::vector<std::unique_ptr<ByteStream>> streams_;
  std::vector<uint64_t> run_bytes_;
  size_t at_ = 0;
  uint64_t left_;  // of the run that is being read
};

}  // namespace

Result<AclSlicing> parse_acl_slicing(std::string_view json) {
  JsonLexer lexer(json);
  JsonTape tape;
  if (tape.read(lexer) != JsonRead::ok || !tape.is(0, JsonKind::object))
    return Error{Code::format, "not a JSON object"};
  const uint32_t outputs = tape.find(0, "outputCutList"), instances = tape.find(0, "slice_instance_num");
  if (!tape.is(outputs, JsonKind::array) || instances == JsonTape::kNone)
    return Error{Code::format, "no outputCutList and slice_instance_num"};
  AclSlicing slicing;
  slicing.instances = json_int(tape.text(instances)).value_or(0);
  slicing.output_axes = axes_of_counts(tape, outputs);
  slicing.input_axes = axes_of_bounds(tape, tape.find(0, "input_tensor_slice"));
  return slicing;
}

std::unique_ptr<ByteStream> join_streams(std::vector<std::unique_ptr<ByteStream>> streams,
                                         std::vector<uint64_t> run_bytes) {
  return std::make_unique<JoinedStream>(std::move(streams), std::move(run_bytes));
}

}  // namespace ulpscope
