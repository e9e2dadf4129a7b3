// A source opened through its C table, as the host does it.
#pragma once

#include <ulpscope/plugin.hpp>

#include <string>
#include <string_view>

#include "collect.hpp"

extern "C" const ulpscope_plugin* entry_torch_api(void);
extern "C" const ulpscope_plugin* entry_vllm_v0(void);
extern "C" const ulpscope_plugin* entry_vllm_v1(void);
extern "C" const ulpscope_plugin* entry_tensor_files(void);
extern "C" const ulpscope_plugin* entry_mindie_atb(void);

namespace ulpscope::test {

inline const ulpscope_source_desc& source_of(const ulpscope_plugin* plugin) {
  return *static_cast<const ulpscope_source_desc*>(plugin->components[0].desc);
}

inline int probe(const ulpscope_plugin* plugin, std::string_view path) {
  const Collector host;
  ulpscope_probe out = {};
  ulpscope_error error = {};
  const ulpscope_status status = source_of(plugin).probe(host.host_table(), to_str(path), &out, &error);
  return status == ULPSCOPE_OK ? out.score : -1;
}

// Opens and scans; status and message tell how it went.
class Opened {
 public:
  Opened(const ulpscope_plugin* plugin, std::string_view path, std::string_view options = {})
      : desc_(source_of(plugin)) {
    ulpscope_error error = {};
    status = desc_.open(records.host_table(), to_str(path), to_str(options), &self_, &error);
    if (status == ULPSCOPE_OK) status = desc_.scan(self_, records.sink_table(), &error);
    if (status != ULPSCOPE_OK) message = error.message;
  }
  ~Opened() {
    if (self_ != nullptr) desc_.close(self_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  // Where a tensor lies; kind is ULPSCOPE_DATA_NONE and message is set when nowhere.
  ulpscope_data_ref locate(size_t tensor) {
    ulpscope_data_ref ref = {};
    ulpscope_error error = {};
    status = desc_.locate(self_, records.tensors[tensor].data.token, &ref, &error);
    message = status == ULPSCOPE_OK ? "" : error.message;
    return ref;
  }
  // All that the stream of a token gives, in pieces of 7 bytes; message is set when it fails.
  std::string stream(uint64_t token) {
    std::string data;
    void* stream = nullptr;
    ulpscope_error error = {};
    status = desc_.stream_open(self_, token, &stream, &error);
    uint64_t got = status == ULPSCOPE_OK ? 1 : 0;
    while (got > 0) {
      char piece[7];
      status = desc_.stream_read(stream, piece, sizeof(piece), &got, &error);
      if (status != ULPSCOPE_OK) break;
      data.append(piece, static_cast<size_t>(got));
    }
    if (stream != nullptr) desc_.stream_close(stream);
    message = status == ULPSCOPE_OK ? "" : error.message;
    return data;
  }

  Collector records;
  ulpscope_status status = ULPSCOPE_OK;
  std::string message;

 private:
  const ulpscope_source_desc& desc_;
  void* self_ = nullptr;
};

}  // namespace ulpscope::test
