// Large blocks of memory in huge pages. The index of a dump of many thousand calls is a few vectors of tens
// of megabytes: in small pages each of them costs a fault for every 4 KiB, a twentieth of a comparison by
// statistics. Part of the program alone: replaces operator new, whose blocks come from malloc as ever.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kLargeBytes = std::size_t{2} << 20;  // a huge page; smaller blocks have none

// Advice only: where the system has no huge pages, the block stays as it is.
void use_huge_pages(void* block, std::size_t size_bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t before = (page - reinterpret_cast<std::uintptr_t>(block) % page) % page;
  const std::uintptr_t whole_pages = (size_bytes - before) / page * page;
  static_cast<void>(::madvise(static_cast<char*>(block) + before, whole_pages, MADV_HUGEPAGE));
}

}  // namespace

void* operator new(std::size_t size_bytes) {
  void* block = nullptr;
  while ((block = std::malloc(size_bytes == 0 ? 1 : size_bytes)) == nullptr) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
  if (size_bytes >= kLargeBytes) use_huge_pages(block, size_bytes);
  return block;
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
