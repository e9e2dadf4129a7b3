// The graphs of the models that an ATB dump has beside its data: which named tensors each operation reads and
// writes. By these names a bad input leads to the operation that made it. Used by the source mindie_atb.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

class AtbTopology {
 public:
  // One operation. Tensor i of the dump is entry i of its list.
  struct Node {
    std::vector<std::string> inputs, outputs;
    std::vector<uint32_t> children;  // in execution order: child i has id i
    std::string type, parameters;    // "ElewiseOperation"; a JSON object, empty where there are none
  };

  // Reads every JSON file of the two folders; either may be missing. Layers that several files describe are
  // taken from the models, whose names connect layers. warn is told what cannot be read. Any thread.
  static AtbTopology read(const std::string& model_folder, const std::string& layer_folder,
                          const std::function<void(const std::string& file, const Error&)>& warn);

  bool empty() const { return layers_.empty(); }
  // The node of an operation by its ids from the layer down; null where the topology does not know it.
  const Node* find(std::span<const int64_t> ids) const;
  // The parameters of a node and, by their path below it ("0_Attention/1_LinearOperation"), of everything
  // inside it: one JSON object; empty where there are none. For operations whose inside was not dumped.
  std::string parameters_with_inside(const Node& node) const;

 private:
  friend class AtbTopologyReader;
  void append_inside(const Node& node, const std::string& path, std::string& members) const;

  std::vector<Node> nodes_;
  std::map<int64_t, uint32_t> layers_;  // by the id of the layer
};

}  // namespace ulpscope
