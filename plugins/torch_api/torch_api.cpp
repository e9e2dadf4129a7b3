// Source torch_api: dumps of PyTorch scripts, one step a folder.
// The reading is that of core/formats/framework_dump.hpp.
#include <ulpscope/plugin.hpp>

#include "formats/framework_dump_source.hpp"

namespace {

class TorchApi final : public ulpscope::FrameworkSource {
 public:
  static constexpr const char* kName = "torch_api";
  static constexpr const char* kSummary =
      "dumps of PyTorch APIs and modules (dump.json, debug.json, tensor files)";
  static constexpr ulpscope_option_desc kOptions[] = {
      ulpscope::kStepsOption,       ulpscope::kRanksOption,  ulpscope::kSalvageOption,
      ulpscope::kFollowLinksOption, ulpscope::kStrictOption, ulpscope::kLayoutOption,
  };

  static ulpscope::Probe probe(std::string_view path) {
    return ulpscope::probe_framework(path, ulpscope::FrameworkFlavour::torch_api);
  }

  TorchApi(ulpscope::Host host, std::string_view path, std::string_view options_json)
      : FrameworkSource(host, path, options_json, ulpscope::FrameworkFlavour::torch_api, kOptions) {}
};

}  // namespace

ULPSCOPE_PLUGIN("torch_api", "0.1.0", "ulpscope", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(TorchApi));
