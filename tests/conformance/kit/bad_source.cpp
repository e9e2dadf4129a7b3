// A source that breaks one rule of the contract, named by the variable
// ULPSCOPE_TEST_FAULT, and keeps all others. Its dump is a folder with a file
// "bad_source" and a file "data" of 64 bytes.
#include <ulpscope/plugin.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

namespace {

namespace fs = std::filesystem;

const std::string_view kFault = [] {
  const char* fault = std::getenv("ULPSCOPE_TEST_FAULT");
  return std::string_view(fault == nullptr ? "none" : fault);
}();
constexpr uint64_t kBytes = 64;

// What a library must not do while it is loaded.
const bool kLoaded = [] {
  if (kFault == "loud") std::puts("hello from a plugin");
  if (kFault == "thread") std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
  return true;
}();

class Stream final : public ulpscope::ByteStream {
 public:
  size_t read(void* dst, size_t size) override {
    const size_t got = size < left_ ? size : left_;
    // Sound: every byte is 7. Broken: the value depends on how much is asked for.
    std::memset(dst, kFault == "stream" ? static_cast<int>(size % 251) : 7, got);
    left_ -= got;
    return got;
  }

 private:
  size_t left_ = kBytes;
};

int scans = 0;

class BadSource final : public ulpscope::Source {
 public:
  static constexpr const char* kName = "bad_source";
  static constexpr const char* kSummary = "breaks one rule";

  static ulpscope::Probe probe(std::string_view path) {
    std::error_code error;
    const bool is_own = fs::is_regular_file(fs::path(path) / "bad_source", error);
    if (kFault == "exit" && !is_own) std::_Exit(3);
    if (kFault == "greedy") return {50, "takes anything"};
    if (kFault == "slow" && !is_own) std::this_thread::sleep_for(std::chrono::milliseconds(80));
    return {is_own ? 80 : 0, "looked for a file bad_source"};
  }

  BadSource(ulpscope::Host host, std::string_view path, std::string_view) : host_(host) {
    std::error_code error;
    if (!fs::is_regular_file(fs::path(path) / "bad_source", error)) {
      if (kFault == "crash") std::abort();
      if (kFault != "silent") throw ulpscope::Failure(ULPSCOPE_E_IO, "no file bad_source");
      empty_ = true;
    }
    if (kFault == "damage" && fs::file_size(fs::path(path) / "data", error) != kBytes) std::abort();
  }

  void scan(ulpscope::RecordSink& sink) override {
    if (empty_) return;
    if (kFault == "cancel")
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    else
      host_.check_cancelled();
    ulpscope::OpRecord op;
    op.name = kFault == "unstable" ? "call " + std::to_string(scans++) : "call";
    op.type = "call";
    if (kFault == "parent") op.parent = 9;
    const uint32_t index = sink.add(op);
    for (const char* place : {"0", "1"}) {
      try {
        add_tensor(sink, index, place);
      } catch (const ulpscope::Failure&) {
        if (kFault != "deaf") throw;
      }
    }
  }

  std::unique_ptr<ulpscope::ByteStream> stream(uint64_t) override { return std::make_unique<Stream>(); }

 private:
  static void add_tensor(ulpscope::RecordSink& sink, uint32_t op, const char* place) {
    ulpscope::TensorRecord tensor;
    tensor.op = kFault == "order" ? op + 1 : op;
    tensor.role = ulpscope::Role::output;
    tensor.path = place;
    tensor.dtype = ulpscope::DType::f32;
    tensor.shape = {kFault == "size" ? 5 : 4, 4};
    if (kFault == "stream" || kFault == "none")
      tensor.data = ulpscope::DataRef::stream(1, kBytes);
    else if (kFault == "escape")
      tensor.data = ulpscope::DataRef::at("../data", 0, kBytes);
    else
      tensor.data = ulpscope::DataRef::at("data", kFault == "range" ? 32 : 0, kBytes);
    sink.add(tensor);
  }

  ulpscope::Host host_;
  bool empty_ = false;
};

}  // namespace

ULPSCOPE_PLUGIN("bad_source", "0.1.0", "test", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(BadSource));
