// Source torch_api: dumps of PyTorch scripts, one step a folder.
// The reading is that of core/formats/framework_dump.hpp.
#include <ulpscope/plugin.hpp>

#include "formats/framework_dump_source.hpp"

namespace {

class TorchApi final : public ulpscope::FlavouredSource<TorchApi, ulpscope::FrameworkFlavour::torch_api> {
 public:
  using FlavouredSource::FlavouredSource;
  static constexpr const char* kName = "torch_api";
  static constexpr const char* kSummary =
      "dumps of PyTorch APIs and modules (dump.json, debug.json, tensor files)";
  static constexpr ulpscope_option_desc kOptions[] = {
      ulpscope::kStepsOption,       ulpscope::kRanksOption,  ulpscope::kSalvageOption,
      ulpscope::kFollowLinksOption, ulpscope::kStrictOption, ulpscope::kLayoutOption,
  };
};

}  // namespace

ULPSCOPE_PLUGIN("torch_api", "0.1.0", "ulpscope", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(TorchApi));
