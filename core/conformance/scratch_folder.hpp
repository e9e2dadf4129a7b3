// A folder for the files of one check, that goes away with it. The process of a check ends without
// destructors when the plugin crashes it; what is left then lies in the system's folder for temporary files.
#pragma once

#include <string>
#include <string_view>

namespace ulpscope {

class ScratchFolder {
 public:
  // Ends up with an empty path when there is no room; what is written then is lost.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  void write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
};

}  // namespace ulpscope
