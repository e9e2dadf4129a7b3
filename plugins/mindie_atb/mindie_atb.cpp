// Source mindie_atb: dumps of the ATB probe, taken while MindIE serves a model, and of the older msit tool.
// The reading is that of core/formats/atb_dump.hpp.
#include <ulpscope/plugin.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/atb_dump.hpp"
#include "formats/framework_dump_source.hpp"

namespace {

using ulpscope::Failure;

class MindieAtb final : public ulpscope::Source {
 public:
  static constexpr const char* kName = "mindie_atb";
  static constexpr const char* kSummary =
      "dumps of ATB operations under MindIE (.bin tensors, statistic.csv)";
  static constexpr ulpscope_option_desc kOptions[] = {
      {"steps", "list of int", "[]", "rounds to read; empty: all"},
      {"ranks", "list of int", "[]", "devices to read; empty: all"},
      ulpscope::kLayoutOption,
  };

  static ulpscope::Probe probe(std::string_view path) {
    auto evidence = ulpscope::probe_atb(std::string(path));
    return {evidence.score, std::move(evidence.why)};
  }

  MindieAtb(ulpscope::Host host, std::string_view path, std::string_view options_json) {
    std::vector<std::string_view> names;
    for (const ulpscope_option_desc& option : kOptions) names.emplace_back(option.name);
    const auto options = ulpscope::parse_framework_options(options_json, names);
    if (!options.ok()) raise(options.error());
    auto dump = ulpscope::AtbDump::open(host, std::string(path), {options->steps, options->ranks});
    if (!dump.ok()) raise(dump.error());
    dump_ = std::move(dump).value();
  }

  void scan(ulpscope::RecordSink& sink) override { dump_->scan(sink); }

 private:
  [[noreturn]] static void raise(const ulpscope::Error& error) {
    throw Failure(static_cast<ulpscope_status>(error.code), error.message);
  }

  std::unique_ptr<ulpscope::AtbDump> dump_;
};

}  // namespace

ULPSCOPE_PLUGIN("mindie_atb", "0.1.0", "ulpscope", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(MindieAtb));
