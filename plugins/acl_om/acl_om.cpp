// Source acl_om: dumps of offline models (OM) that ran under ACL.
// The reading is that of core/formats/acl_source.hpp.
#include <ulpscope/plugin.hpp>

#include "formats/acl_source.hpp"

namespace {

class AclOm final : public ulpscope::Source {
 public:
  static constexpr const char* kName = "acl_om";
  static constexpr const char* kSummary =
      "dumps of offline models under ACL (binary, statistics, overflow records)";
  static constexpr ulpscope_option_desc kOptions[] = {
      {"steps", "list of int", "[]", "steps (data_index folders) to read; empty: all"},
      {"ranks", "list of int", "[]", "devices to read; empty: all"},
      {"fusion", "string", "", "the compiled model as json; empty: looked for beside the dump"},
      {"golden", "string", "", "a folder of arrays that tells original shapes which nothing else does"},
      {"raw", "bool", "false", "tensors as they are stored, not in their original layout"},
  };

  static ulpscope::Probe probe(std::string_view path) { return ulpscope::probe_acl(path); }

  AclOm(ulpscope::Host host, std::string_view path, std::string_view options_json) {
    const auto options = ulpscope::parse_acl_options(options_json);
    if (!options.ok()) raise(options.error());
    auto opened = ulpscope::AclSource::open(host, std::string(path), *options);
    if (!opened.ok()) raise(opened.error());
    dump_ = std::move(opened).value();
  }

  void scan(ulpscope::RecordSink& sink) override { dump_->scan(sink); }
  std::unique_ptr<ulpscope::ByteStream> stream(uint64_t token) override { return dump_->stream(token); }

 private:
  [[noreturn]] static void raise(const ulpscope::Error& error) {
    throw ulpscope::Failure(static_cast<ulpscope_status>(error.code), error.message);
  }

  std::unique_ptr<ulpscope::AclSource> dump_;
};

}  // namespace

ULPSCOPE_PLUGIN("acl_om", "0.1.0", "ulpscope", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(AclOm));
