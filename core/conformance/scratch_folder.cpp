#include "conformance/scratch_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace ulpscope {

ScratchFolder::ScratchFolder() {
  std::error_code ignored;
  std::string pattern = (std::filesystem::temp_directory_path(ignored) / "ulpscope_check_XXXXXX").string();
  if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

void ScratchFolder::write(std::string_view name, std::string_view content) const {
  std::ofstream(*this / name, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

}  // namespace ulpscope
