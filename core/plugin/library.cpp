#include "plugin/library.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/dll/library_info.hpp>
#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>

#include "base/file.hpp"

namespace ulpscope {
namespace {

constexpr const char* kMarkerSection = "ulpscope_plugin";

Error not_loadable() { return {Code::format, "not a loadable library"}; }

// Boost's ELF reader believes every offset of the header and expects the table of section names to be there
// and to end with NUL. This looks at what it will follow. A file cut short lacks its section headers, which
// linkers put at the end, so it ends here as well.
template <class Header, class Section>
Status check_section_names(const File& file) {
  Header header;
  if (!file.read_exact(0, std::as_writable_bytes(std::span(&header, 1))).ok()) return not_loadable();
  if (header.e_shoff == 0 || header.e_shstrndx >= header.e_shnum) return not_loadable();
  const uint64_t at = uint64_t{header.e_shoff} + uint64_t{header.e_shstrndx} * sizeof(Section);
  Section names;
  if (at < header.e_shoff || !file.read_exact(at, std::as_writable_bytes(std::span(&names, 1))).ok())
    return not_loadable();
  const uint64_t offset = names.sh_offset, size = names.sh_size;
  if (size == 0 || offset > file.size() || size > file.size() - offset) return not_loadable();
  char last = 1;
  if (!file.read_exact(offset + size - 1, std::as_writable_bytes(std::span(&last, 1))).ok() || last != '\0')
    return not_loadable();
  return {};
}

Status check_elf(const File& file) {
  unsigned char ident[EI_NIDENT] = {};
  if (!file.read_exact(0, std::as_writable_bytes(std::span(ident))).ok() ||
      std::memcmp(ident, ELFMAG, SELFMAG) != 0)
    return not_loadable();
  return ident[EI_CLASS] == ELFCLASS32 ? check_section_names<Elf32_Ehdr, Elf32_Shdr>(file)
                                       : check_section_names<Elf64_Ehdr, Elf64_Shdr>(file);
}

// The loader's own words out of Boost's, without the path (the caller names the file) and without the errno
// text that Boost appends: "boost::dll::… failed (dlerror system message: PATH: undefined symbol: x): Bad
// file descriptor".
std::string loader_text(std::string text, const std::string& path) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  if (const size_t at = text.find(kBefore); at != std::string::npos) {
    text.erase(0, at + kBefore.size());
    if (const size_t end = text.rfind("): "); end != std::string::npos) text.erase(end);
  }
  if (text.compare(0, path.size() + 2, path + ": ") == 0) text.erase(0, path.size() + 2);
  return text;
}

// Holds the library for the rest of the process. Never destroyed, on purpose: see the header.
void keep(boost::dll::shared_library library) {
  static auto* const kept_mutex = new std::mutex;
  static auto* const kept = new std::vector<boost::dll::shared_library>;
  const std::lock_guard lock(*kept_mutex);
  kept->push_back(std::move(library));
}

}  // namespace

Status check_marker(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  ULPSCOPE_TRY(check_elf(file));
  try {
    boost::dll::library_info info(path);
    const std::vector<std::string> sections = info.sections();
    if (std::find(sections.begin(), sections.end(), kMarkerSection) == sections.end())
      return Error{Code::format, "not a plugin: no ulpscope_plugin section"};
    return {};
  } catch (const std::exception&) {
    return not_loadable();
  }
}

Result<ulpscope_plugin_entry_fn> load_library(const std::string& path) {
  ULPSCOPE_TRY(check_marker(path));
  try {
    using boost::dll::load_mode::type;
    boost::dll::shared_library library(
        path, static_cast<type>(boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local));
    // Kept before anything of it is called: its constructors have run already.
    keep(library);
    return &library.get<const ulpscope_plugin*(void)>(kPluginEntry);
  } catch (const std::exception& e) {
    return Error{Code::format, loader_text(e.what(), path)};
  }
}

Result<std::string> program_folder() {
  try {
    return boost::dll::program_location().parent_path().string();
  } catch (const std::exception& e) {
    return Error{Code::io, std::string("the program's own place: ") + e.what()};
  }
}

}  // namespace ulpscope
