// Who a plugin function belongs to and which one a thread is in, so that an error, a crash or a call of
// exit() names the component, its file and the function. The handles mark each call; nothing here calls a
// plugin.
#pragma once

#include <cstddef>
#include <string>

namespace ulpscope {

// A component as its table names it. Texts live as long as the process; becomes text only when something is
// wrong, so that a good call costs nothing.
struct ComponentName {
  const char* kind;  // "source"
  const char* name;
  // "source 'raw_dir' (/plugins/raw_dir.plugin.so)"; without the file where it is compiled in.
  std::string text() const;
};

// A function of a component that runs: "scan" of source 'raw_dir'. function is null: none runs.
struct RunningCall {
  ComponentName component = {"", ""};
  const char* function = nullptr;
};

// Marks this thread as being inside of a call, for the life of the object.
class CallMark {
 public:
  explicit CallMark(const RunningCall& call) noexcept;
  ~CallMark();
  CallMark(const CallMark&) = delete;
  CallMark& operator=(const CallMark&) = delete;

 private:
  RunningCall before_;
};

// What this thread runs. Safe in a signal handler.
RunningCall running_call() noexcept;
// "source 'raw_dir' (/plugins/raw_dir.plugin.so) in scan", cut to fit and terminated; its length, 0 when no
// call runs. Safe in a signal handler.
size_t running_call_text(char* buffer, size_t size) noexcept;

// Says which file the component with this name came from. name is the pointer of its table, by which it is
// found again: two plugins may have components of one name. Any thread; kept for the life of the process, as
// libraries are.
void remember_file(const char* name, const std::string& file);

}  // namespace ulpscope
