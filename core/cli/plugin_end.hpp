// What the user reads when a plugin ends the process: which one it was, in which function, and how. Set up by
// main around the one command that runs. A crash inside a plugin ends with exit code 4; one of the program
// itself, and one in a process that another one watches, ends by its signal as it would without this.
#pragma once

namespace ulpscope {

// From now on a crash and an early end of this process are told. Called once, by the main thread.
void watch_for_plugin_ends();
// The command came to its end: exit() is no longer a surprise.
void stop_watching();
// Crashes of this process end it by their signal, for the process that waits for it; which call it was goes
// to the descriptor as one line of JSON, {"ended_in": "executor 'x' (file) in run"}.
void report_crashes_to(int descriptor);

}  // namespace ulpscope
