// A host for tests of the plugin folder: services that record the log, diagnostics, and tables of components
// to break.
#pragma once

#include <ulpscope/plugin.hpp>

#include <mutex>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "plugin/host_services.hpp"
#include "plugin/registry.hpp"

namespace ulpscope::test {

struct HostFixture {
  ThreadPool pool{3};
  Cancel cancel;
  Diagnostics diagnostics;
  std::mutex lines_mutex;          // guards lines
  std::vector<std::string> lines;  // "level text"
  HostServices host{pool, cancel,
                    [this](LogLevel level, std::string_view text) {
                      const std::lock_guard lock(lines_mutex);
                      lines.push_back(std::to_string(static_cast<int>(level)) + " " + std::string(text));
                    },
                    "9.9"};

  Registry registry(std::vector<BuiltinPlugin> builtin) {
    return Registry({{}, std::move(builtin), false}, host, diagnostics);
  }
};

// A source that scores by the end of the path, "….demo": 90, "….both": 70, and emits one op with one late
// tensor.
class DemoSource : public Source {
 public:
  static constexpr const char* kName = "demo";
  static constexpr const char* kSummary = "made for tests";
  static constexpr ulpscope_option_desc kOptions[] = {{"steps", "list of int", "[]", "steps to read"},
                                                      {"fail", "bool", "false", "refuse to open"}};

  DemoSource(Host host, std::string_view path, std::string_view options)
      : host_(host), path_(path), options_(options) {
    if (options.find("\"fail\":true") != options.npos)
      throw Failure(ULPSCOPE_E_FORMAT, "it was asked to fail");
  }
  static Probe probe(std::string_view path) {
    if (path.size() > 5 && path.substr(path.size() - 5) == ".demo") return {90, "ends in .demo"};
    if (path.size() > 5 && path.substr(path.size() - 5) == ".both") return {70, "ends in .both"};
    return {30, "a file"};
  }
  void scan(RecordSink& sink) override {
    OpRecord op;
    op.name = options_;
    TensorRecord tensor;
    tensor.op = sink.add(op);
    tensor.data = DataRef::later(7);
    sink.add(tensor);
    host_.info("scanned");
  }
  DataRef locate(uint64_t token) override {
    if (token == 8) return DataRef::stream(8, 5);
    return DataRef::at("file" + std::to_string(token), 1, 2, 0xABCDU);
  }
  std::unique_ptr<ByteStream> stream(uint64_t) override {
    struct Hello final : ByteStream {
      uint64_t read(void* dst, uint64_t size) override {
        constexpr std::string_view kText = "hello";
        const size_t n = std::min<size_t>(static_cast<size_t>(size), kText.size() - at);
        std::copy_n(kText.data() + at, n, static_cast<char*>(dst));
        at += n;
        return n;
      }
      size_t at = 0;
    };
    return std::make_unique<Hello>();
  }

 private:
  Host host_;
  std::string path_, options_;
};

// As sure of "….both" as DemoSource is.
class RivalSource final : public DemoSource {
 public:
  static constexpr const char* kName = "rival";
  using DemoSource::DemoSource;
  static Probe probe(std::string_view path) {
    return {DemoSource::probe(path).score == 70 ? 70 : 0, "rival's reason"};
  }
};

}  // namespace ulpscope::test
