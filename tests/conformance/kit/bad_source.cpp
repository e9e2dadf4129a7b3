// A source that breaks one rule of the contract, named by the variable
// ULPSCOPE_TEST_FAULT, and keeps all others. Its dump is a folder with a file
// "bad_source" and a file "data" of 64 bytes.
#include <ulpscope/plugin.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
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
    if (kFault == "readloud" && got > 0) std::puts("hello from a stream");
    return kFault == "greedystream" ? size + 100 : got;
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
    if (kFault.substr(0, 5) == "calls") return scan_calls(sink);
    ulpscope::OpRecord op;
    op.name = kFault == "unstable" ? "call " + std::to_string(scans++) : "call";
    op.type = "call";
    break_op(op);
    const uint32_t index = sink.add(op);
    if (kFault == "samecall") sink.add(op);
    for (const char* place : {"0", kFault == "twice" ? "0" : "1"}) {
      try {
        add_tensor(sink, index, place);
      } catch (const ulpscope::Failure&) {
        if (kFault != "deaf") throw;
      }
    }
  }

  ulpscope::DataRef locate(uint64_t token) override {
    if (kFault == "locate") throw std::runtime_error("nothing is where it was");
    if (kFault == "race") {
      wanted_ = token;
      for (int i = 0; i < 200; ++i) (void)host_.cancelled();
      token = wanted_;
    }
    return ulpscope::DataRef::at("data", token, kBytes / 2);
  }
  std::unique_ptr<ulpscope::ByteStream> stream(uint64_t) override { return std::make_unique<Stream>(); }

 private:
  // Sound: three calls of abs, of inputs that are not negative.
  static void scan_calls(ulpscope::RecordSink& sink) {
    for (uint32_t call = 0; call < 3; ++call) {
      ulpscope::OpRecord op;
      op.name = op.type = "abs";
      op.call = call;
      ulpscope::TensorRecord tensor;
      tensor.op = sink.add(op);
      tensor.path = "0";
      tensor.dtype = ulpscope::DType::f32;
      tensor.shape = {4, 4};
      tensor.data = ulpscope::DataRef::at("data", 0, kBytes);
      for (const auto role : {ulpscope::Role::input, ulpscope::Role::output}) {
        tensor.role = role;
        sink.add(tensor);
      }
    }
  }
  static void break_op(ulpscope::OpRecord& op) {
    if (kFault == "parent") op.parent = 9;
    if (kFault == "kind") op.kind = static_cast<ulpscope::OpKind>(99);
    if (kFault == "phase") op.phase = static_cast<ulpscope::Phase>(77);
    if (kFault == "utf8") op.name = "call\xff";
    if (kFault == "json") op.attributes_json = "{not json";
    if (kFault == "scanloud") std::puts("hello from a scan");
    if (kFault == "exitscan") std::exit(0);
    if (kFault == "crashscan") std::abort();
    if (kFault == "throwscan") throw std::runtime_error("what it threw");
  }
  static void add_tensor(ulpscope::RecordSink& sink, uint32_t op, const char* place) {
    ulpscope::TensorRecord tensor;
    tensor.op = kFault == "order" ? op + 1 : op;
    tensor.role = ulpscope::Role::output;
    tensor.path = place;
    tensor.dtype = ulpscope::DType::f32;
    tensor.shape = {kFault == "size" ? 5 : 4, 4};
    if (kFault == "overflow") tensor.shape = {int64_t{1} << 62, 4};
    if (kFault == "role") tensor.role = static_cast<ulpscope::Role>(9);
    if (kFault == "dtype") tensor.dtype = static_cast<ulpscope::DType>(99);
    if (kFault == "locate" || kFault == "race") {
      tensor.shape = {8};
      tensor.data = ulpscope::DataRef::later(*place == '0' ? 0 : kBytes / 2);
    } else if (kFault == "empty") {
      tensor.shape = {0, 4};
      tensor.data = ulpscope::DataRef::stream(1, 0);
    } else if (kFault == "stream" || kFault == "none" || kFault == "greedystream" || kFault == "readloud")
      tensor.data = ulpscope::DataRef::stream(1, kBytes);
    else if (kFault == "escape")
      tensor.data = ulpscope::DataRef::at("../data", 0, kBytes);
    else
      tensor.data = ulpscope::DataRef::at("data", kFault == "range" ? 32 : 0, kBytes);
    sink.add(tensor);
  }

  ulpscope::Host host_;
  bool empty_ = false;
  std::atomic<uint64_t> wanted_{0};  // Broken: one place for every thread
};

}  // namespace

ULPSCOPE_PLUGIN("bad_source", "0.1.0", "test", "Apache-2.0", ULPSCOPE_COMPONENT_SOURCE(BadSource));
