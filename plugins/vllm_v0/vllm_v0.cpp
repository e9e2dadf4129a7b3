// Source vllm_v0: dumps of the vLLM V0 engine, one generate call a folder, its forward passes as tokens.
// The reading is that of core/formats/framework_dump.hpp.
#include <ulpscope/plugin.hpp>

#include "formats/framework_dump_source.hpp"

namespace {

class VllmV0 final : public ulpscope::FlavouredSource<VllmV0, ulpscope::FrameworkFlavour::vllm_v0> {
 public:
  using FlavouredSource::FlavouredSource;
  static constexpr const char* kName = "vllm_v0";
  static constexpr const char* kSummary = "dumps of the vLLM V0 engine: one generate call a step folder";
  static constexpr ulpscope_option_desc kOptions[] = {
      ulpscope::kStepsOption,
      ulpscope::kRanksOption,
      ulpscope::kSalvageOption,
      ulpscope::kFollowLinksOption,
      ulpscope::kStrictOption,
      ulpscope::kLayoutOption,
      {"first_token", "int", "0", "number of the first dumped forward pass (the a of token_range=[a, b])"},
  };
};

}  // namespace

ULPSCOPE_PLUGIN("vllm_v0", "0.1.0", "ulpscope", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(VllmV0));
