#include "execute/gradient_pairs.hpp"

namespace ulpscope {
namespace {

const OutputTensor* find(const std::vector<OutputTensor>& golden, const std::string& path) {
  for (const OutputTensor& output : golden)
    if (output.path == path) return &output;
  return nullptr;
}

// The pairs of one assignment, where paths[i] is the golden path of recorded gradient i; nothing when a
// recorded gradient has no golden one of its shape.
std::vector<GradientPair> assigned(const std::vector<std::string>& paths,
                                   const std::vector<OutputTensor>& golden,
                                   const std::vector<std::optional<RecordedOutput>>& recorded) {
  std::vector<GradientPair> pairs;
  for (size_t i = 0; i < recorded.size(); ++i) {
    if (!recorded[i]) continue;
    const OutputTensor* high = i < paths.size() ? find(golden, paths[i]) : nullptr;
    if (high == nullptr || high->shape != recorded[i]->tensor.shape) return {};
    pairs.push_back({i, high, &recorded[i]->tensor});
  }
  return pairs;
}

}  // namespace

std::string gradient_path(Role role, std::string_view path) {
  return std::string(role == Role::kwarg ? "kwarg." : "input.") + std::string(path);
}

std::vector<std::vector<GradientPair>> pair_recorded_gradients(
    const DumpIndex& index, const CheckItem& item, const std::vector<OutputTensor>& golden,
    const std::vector<std::optional<RecordedOutput>>& recorded) {
  std::vector<std::string> positions, tensors, node;
  for (const TensorId id : tensors_of(index, item.forward)) {
    const TensorRow& row = index.tensors()[id];
    if (row.role == Role::input || row.role == Role::kwarg)
      tensors.push_back(gradient_path(row.role, index.text(row.path)));
  }
  for (size_t i = 0; i < recorded.size(); ++i) {
    positions.push_back("input." + std::to_string(i));
    node.push_back("node." + std::to_string(i));
  }
  std::vector<std::vector<GradientPair>> out;
  for (const auto* paths : {&positions, &tensors, &node})
    if (auto pairs = assigned(*paths, golden, recorded); !pairs.empty()) out.push_back(std::move(pairs));
  return out;
}

}  // namespace ulpscope
