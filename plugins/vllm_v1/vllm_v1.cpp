// Source vllm_v1: dumps of the vLLM V1 engine and of SGLang, one scheduler step a folder.
// The reading is that of core/formats/framework_dump.hpp.
#include <ulpscope/plugin.hpp>

#include "formats/framework_dump_source.hpp"

namespace {

class VllmV1 final : public ulpscope::FlavouredSource<VllmV1, ulpscope::FrameworkFlavour::vllm_v1> {
 public:
  using FlavouredSource::FlavouredSource;
  static constexpr const char* kName = "vllm_v1";
  static constexpr const char* kSummary = "dumps of the vLLM V1 engine: one scheduler step a step folder";
  static constexpr ulpscope_option_desc kOptions[] = {
      ulpscope::kStepsOption,
      ulpscope::kRanksOption,
      ulpscope::kSalvageOption,
      ulpscope::kFollowLinksOption,
      ulpscope::kStrictOption,
      ulpscope::kLayoutOption,
      {"skip_steps", "list of int", "[]", "numbers of step folders to leave out, such as warm-up"},
      {"step_offset", "int", "0", "added to the number of each step, where warm-ups differ"},
  };
};

}  // namespace

ULPSCOPE_PLUGIN("vllm_v1", "0.1.0", "ulpscope", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(VllmV1));
