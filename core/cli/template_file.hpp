// A file of a plugin template, compiled into the program by the build (cmake/EmbedFolder.cmake).
#pragma once

#include <string_view>

namespace ulpscope {

struct TemplateFile {
  std::string_view path, text;  // relative to the folder of the plugin
};

}  // namespace ulpscope
