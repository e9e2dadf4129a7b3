#include "plugin/host_services.hpp"

#include <ulpscope/types.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "plugin/running_call.hpp"

namespace ulpscope {

HostServices::HostServices(ThreadPool& pool, const Cancel& cancel, LogFunction log, std::string version)
    : pool_(pool), cancel_(cancel), log_(std::move(log)), version_(std::move(version)), table_{} {
  table_.struct_size = static_cast<uint32_t>(sizeof(ulpscope_host));
  table_.abi_minor = ULPSCOPE_ABI_MINOR;
  table_.version = version_.c_str();
  table_.ctx = this;
  table_.log = &HostServices::log_entry;
  table_.cancelled = &HostServices::cancelled_entry;
  table_.parallel_for = &HostServices::parallel_for_entry;
}

void HostServices::log(LogLevel level, std::string_view text) const {
  if (log_) log_(level, text.substr(0, kMaxLogTextBytes));
}

void HostServices::log_entry(void* ctx, int32_t level, ulpscope_str text) {
  // Nothing thrown may enter the plugin; a message that cannot be logged is lost.
  try {
    static_cast<const HostServices*>(ctx)->log(static_cast<LogLevel>(std::clamp(level, 0, 3)), to_view(text));
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

int32_t HostServices::cancelled_entry(void* ctx) {
  return static_cast<const HostServices*>(ctx)->cancel_.requested() ? 1 : 0;
}

ulpscope_status HostServices::parallel_for_entry(void* ctx, uint64_t n, void (*body)(void*, uint64_t),
                                                 void* arg) {
  if (body == nullptr || n > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return ULPSCOPE_E_USAGE;
  // A body is plugin code and must not throw; if it does, the plugin gets an error for it.
  std::atomic<bool> threw{false};
  const RunningCall caller = running_call();
  static_cast<HostServices*>(ctx)->pool_.parallel_for(static_cast<int64_t>(n), [&](int64_t i, int) {
    try {
      const CallMark mark(caller);
      body(arg, static_cast<uint64_t>(i));
    } catch (...) {
      threw.store(true, std::memory_order_relaxed);
    }
  });
  return threw.load() ? ULPSCOPE_E_INTERNAL : ULPSCOPE_OK;
}

}  // namespace ulpscope
