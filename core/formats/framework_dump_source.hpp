// The source of a framework dump as a plugin offers it: torch_api, vllm_v0 and vllm_v1 differ in their
// flavour and options only and derive from this. Lives inside a plugin, where errors are thrown.
#pragma once

#include <ulpscope/plugin.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/framework_dump.hpp"

namespace ulpscope {

// Options that every source of the family has, for the kOptions of a plugin.
inline constexpr ulpscope_option_desc kStepsOption = {"steps", "list of int", "[]",
                                                      "steps to read; empty: all"};
inline constexpr ulpscope_option_desc kRanksOption = {"ranks", "list of int", "[]",
                                                      "ranks to read; empty: all"};
inline constexpr ulpscope_option_desc kSalvageOption = {
    "salvage", "bool", "false", "keep the entries before the break of a cut-off file"};
inline constexpr ulpscope_option_desc kFollowLinksOption = {"follow_links", "bool", "false",
                                                            "follow symbolic links out of the dump"};
inline constexpr ulpscope_option_desc kStrictOption = {"strict", "bool", "false",
                                                       "a wrong checksum of a tensor file is an error"};
inline constexpr ulpscope_option_desc kLayoutOption = {
    "layout", "original|raw", "original",
    "storage layout; these files hold rows only, so both read the same"};

class FrameworkSource : public Source {
 public:
  // Throws Failure: usage, an option is not one of known or has another type; io or format as
  // FrameworkDump::open.
  FrameworkSource(Host host, std::string_view path, std::string_view options_json, FrameworkFlavour flavour,
                  std::span<const ulpscope_option_desc> known) {
    std::vector<std::string_view> names;
    for (const ulpscope_option_desc& option : known) names.emplace_back(option.name);
    const auto options = parse_framework_options(options_json, names);
    if (!options.ok()) raise(options.error());
    auto dump = FrameworkDump::open(host, std::string(path), flavour, *options);
    if (!dump.ok()) raise(dump.error());
    dump_ = std::move(dump).value();
  }

  void scan(RecordSink& sink) override { dump_->scan(sink); }
  DataRef locate(uint64_t token) override { return dump_->locate(token); }
  std::unique_ptr<ByteStream> stream(uint64_t token) override { return dump_->stream(token); }

 private:
  [[noreturn]] static void raise(const Error& error) {
    throw Failure(static_cast<ulpscope_status>(error.code), error.message);
  }

  std::unique_ptr<FrameworkDump> dump_;
};

// What the plugins of the family derive from: Self brings kName, kSummary and kOptions.
template <class Self, FrameworkFlavour flavour>
class FlavouredSource : public FrameworkSource {
 public:
  static Probe probe(std::string_view path) { return probe_framework(path, flavour); }
  FlavouredSource(Host host, std::string_view path, std::string_view options_json)
      : FrameworkSource(host, path, options_json, flavour, Self::kOptions) {}
};

}  // namespace ulpscope
