// Sees what a plugin does to its surroundings: prints, starts threads, changes the locale, the folder or the
// rounding. Used by checks around the calls that they make; turns the standard streams aside for its life.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/check.hpp"

namespace ulpscope {

class QuietWatch {
 public:
  // To be made after the threads that the check itself needs.
  QuietWatch();
  ~QuietWatch();
  QuietWatch(const QuietWatch&) = delete;
  QuietWatch& operator=(const QuietWatch&) = delete;

  // Reports what was done since then as errors; when: "while it is loaded".
  void report(const std::string& when, CheckFindings& report) const;

 private:
  struct Surroundings {
    Surroundings();
    std::string locale, folder;
    int rounding = 0;
    size_t threads = 0;
  };

  int file_ = -1, output_ = -1, errors_ = -1;  // what is printed; the streams as they were
  Surroundings before_;
};

}  // namespace ulpscope
