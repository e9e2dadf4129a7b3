// Keeps the standard output for the answer of the program: what plugins and libraries print there by mistake
// is put aside, to be named and shown on the standard error. The program does this once, before it begins;
// without it everything here does nothing.
#pragma once

#include <cstdint>
#include <string>

namespace ulpscope {

// From now on the answer goes to answer_descriptor(), and what is written to the standard output is put
// aside. Called by one thread, before there are others. Nothing changes where the system refuses.
void divert_stray_output() noexcept;

// Where the answer goes: the standard output as it was when the program began.
int answer_descriptor() noexcept;

// What was printed since the last call. Any thread.
struct StrayOutput {
  uint64_t size_bytes = 0;
  std::string beginning;  // its first bytes, 200 at most; a stranger's text
};
StrayOutput take_stray_output();

// Everything that was printed and not taken, to the standard error. For the end of the process and safe in a
// signal handler; what the C library holds back in its buffers is not seen.
void spill_stray_output() noexcept;

}  // namespace ulpscope
