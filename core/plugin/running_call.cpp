#include "plugin/running_call.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace ulpscope {
namespace {

// Of trivial types, so that a signal handler and the end of the process can read it.
constinit thread_local RunningCall current;

// A list that only grows, read without a lock.
struct KnownFile {
  const char* name;
  std::string file;
  const KnownFile* next;
};
constinit std::atomic<const KnownFile*> known_files{nullptr};

const char* file_of(const char* name) noexcept {
  for (const KnownFile* each = known_files.load(); each != nullptr; each = each->next)
    if (each->name == name) return each->file.c_str();
  return nullptr;
}

// Text in memory of the caller.
struct Writer {
  char* at;
  char* end;
  void put(std::string_view text) noexcept {
    const size_t n = std::min(text.size(), static_cast<size_t>(end - at));
    at = std::copy_n(text.data(), n, at);
  }
};

// Puts "source 'raw_dir' (/plugins/raw_dir.plugin.so)" piece by piece.
template <class Put>
void describe(const ComponentName& component, const Put& put) {
  for (const std::string_view part : {std::string_view(component.kind), std::string_view(" '"),
                                      std::string_view(component.name), std::string_view("'")})
    put(part);
  const char* file = file_of(component.name);
  if (file == nullptr) return;
  for (const std::string_view part : {std::string_view(" ("), std::string_view(file), std::string_view(")")})
    put(part);
}

}  // namespace

std::string ComponentName::text() const {
  std::string all;
  describe(*this, [&](std::string_view part) { all += part; });
  return all;
}

CallMark::CallMark(const RunningCall& call) noexcept : before_(current) { current = call; }
CallMark::~CallMark() { current = before_; }

RunningCall running_call() noexcept { return current; }

size_t running_call_text(char* buffer, size_t size) noexcept {
  const RunningCall call = current;
  if (call.function == nullptr || size == 0) return 0;
  Writer out{buffer, buffer + size - 1};
  describe(call.component, [&](std::string_view part) noexcept { out.put(part); });
  out.put(" in ");
  out.put(call.function);
  *out.at = '\0';
  return static_cast<size_t>(out.at - buffer);
}

void remember_file(const char* name, const std::string& file) {
  // Never freed: a signal handler may be reading it.
  auto* added = new KnownFile{name, file, known_files.load()};
  while (!known_files.compare_exchange_weak(added->next, added)) {
  }
}

}  // namespace ulpscope
