// Fuzzes the reading of a compiled model as json: every key of every operator can be asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/fusion_graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ulpscope;
  JsonLexer lexer(std::string_view(reinterpret_cast<const char*>(data), size));
  const auto graph = FusionGraph::read(lexer, "x.json");
  if (!graph.ok()) {
    if (graph.error().message.empty()) std::abort();
    return 0;
  }
  for (uint32_t op = 0; op < graph->ops().size(); ++op) {
    for (uint32_t i = 0; i < 4; ++i) {
      if (graph->output_key(op, i).text.empty() !=
          (graph->output_key(op, i).kind != FusionKey::Kind::original))
        std::abort();
      (void)graph->input_key(op, i);
      (void)graph->is_constant(op, i);
    }
  }
  return 0;
}
