#include "kernels/kernel_isa.hpp"

#include <atomic>
#include <cstdlib>
#include <string>

#include "kernels/block_kernels.hpp"

namespace ulpscope {
namespace {

constexpr const char* kVariable = "ULPSCOPE_KERNELS";

const BlockKernels* find(std::string_view isa) {
  for (const BlockKernels* kernels : available_block_kernels())
    if (isa == kernels->name) return kernels;
  return nullptr;
}

std::string_view from_environment() {
  const char* text = std::getenv(kVariable);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

const BlockKernels* best() { return available_block_kernels().back(); }

// The choice of the process. An atomic pointer to constant tables, because a process has one machine under
// it.
std::atomic<const BlockKernels*>& choice() {
  static std::atomic<const BlockKernels*> current{[] {
    const BlockKernels* wanted = find(from_environment());
    return wanted != nullptr ? wanted : best();
  }()};
  return current;
}

}  // namespace

const BlockKernels& active_block_kernels() { return *choice().load(); }

std::string_view kernel_isa() { return active_block_kernels().name; }

std::vector<std::string_view> kernel_isas() {
  std::vector<std::string_view> names;
  for (const BlockKernels* kernels : available_block_kernels()) names.emplace_back(kernels->name);
  return names;
}

Status set_kernel_isa(std::string_view name) {
  const BlockKernels* wanted = name.empty() ? best() : find(name);
  choice().store(wanted != nullptr ? wanted : best());
  if (wanted != nullptr) return {};
  std::string message = "kernels '" + std::string(name) + "' are not available here; expected one of";
  for (const std::string_view available : kernel_isas()) message += " " + std::string(available);
  return Error{Code::usage, message + "; using " + best()->name};
}

Status set_kernel_isa_from_environment() {
  Status status = set_kernel_isa(from_environment());
  if (status.ok()) return status;
  return std::move(status).error().within(kVariable);
}

}  // namespace ulpscope
