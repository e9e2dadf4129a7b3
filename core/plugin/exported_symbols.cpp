// The dynamic symbol table of a library. Boost's reader knows the table that strip removes, not this one.
#include <elf.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/file.hpp"
#include "plugin/library.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostTableBytes = uint64_t{64} << 20;

Error not_loadable() { return {Code::format, "not a loadable library"}; }

template <class T>
Result<std::vector<T>> read_table(const File& file, uint64_t offset, uint64_t size_bytes) {
  if (offset > file.size() || size_bytes > file.size() - offset || size_bytes > kMostTableBytes)
    return not_loadable();
  std::vector<T> table(size_bytes / sizeof(T));
  ULPSCOPE_TRY(file.read_exact(offset, std::as_writable_bytes(std::span(table))));
  return table;
}

bool is_exported(const Elf64_Sym& symbol) {
  const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
  return binding != STB_LOCAL && symbol.st_shndx != SHN_UNDEF &&
         ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT;
}

}  // namespace

Result<std::vector<std::string>> exported_symbols(const std::string& path) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  Elf64_Ehdr header = {};
  ULPSCOPE_TRY(file.read_exact(0, std::as_writable_bytes(std::span(&header, 1))));
  const std::string_view magic(reinterpret_cast<const char*>(header.e_ident), SELFMAG);
  if (magic != ELFMAG || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return not_loadable();
  ULPSCOPE_ASSIGN(const auto sections, read_table<Elf64_Shdr>(file, header.e_shoff,
                                                              uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)));
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& text_section = sections[section.sh_link];
    ULPSCOPE_ASSIGN(const auto symbols, read_table<Elf64_Sym>(file, section.sh_offset, section.sh_size));
    ULPSCOPE_ASSIGN(const auto text, read_table<char>(file, text_section.sh_offset, text_section.sh_size));
    for (const Elf64_Sym& symbol : symbols) {
      if (!is_exported(symbol) || symbol.st_name >= text.size()) continue;
      const auto begin = text.begin() + symbol.st_name;
      names.emplace_back(begin, std::find(begin, text.end(), '\0'));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ulpscope
