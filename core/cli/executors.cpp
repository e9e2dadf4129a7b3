#include "cli/executors.hpp"

#include <fmt/format.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr const char* kTorchFile = "torch_executor.plugin.so";

std::string torch_options(const ExecutorWish& wish, const std::string& device, const std::string& precision,
                          bool recorded) {
  nlohmann::json options = {{"device", device}, {"precision", precision}, {"threads", wish.threads}};
  if (!wish.library.empty()) options["library"] = wish.library;
  // What a recorded device did with the inputs of a convolution it did by itself; and its gradients may be
  // those of the last node.
  if (recorded) options["hf32"] = false;
  if (recorded) options["node_gradients"] = true;
  return options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The devices that a wish may mean, in order of preference.
std::vector<std::string> candidates(const std::string& wish) {
  if (wish == "auto") return {"npu:0", "cuda:0"};
  const auto number = parse_int(wish);
  if (!number) return {wish};
  std::vector<std::string> out = {"npu:" + wish, "cuda:" + wish};
  if (*number == 0) out.emplace_back("cpu");
  return out;
}

}  // namespace

bool load_torch(Context& context, std::string& why_not) {
  const auto registry = context.registry();
  if (!registry.ok()) {
    why_not = registry.error().message;
    return false;
  }
  why_not =
      "this installation has no executor on LibTorch (torch_executor.plugin.so): build it where LibTorch is "
      "installed, see docs/check.md";
  for (const PluginFolder& folder : (*registry)->search().folders) {
    const std::filesystem::path path(folder.path);
    for (const std::filesystem::path& file :
         {path / kTorchFile, path.parent_path() / "executors" / kTorchFile}) {
      std::error_code failed;
      if (!std::filesystem::exists(file, failed)) continue;
      const Status loaded = (*registry)->load(file.string());
      if (loaded.ok()) return true;
      why_not = file.string() + ": " + loaded.error().message;
    }
  }
  return false;
}

Result<ExecutorSet> make_executors(Context& context, const ExecutorWish& wish) {
  ULPSCOPE_ASSIGN(Registry * registry, context.registry());
  ExecutorSet set;
  std::string why_not;
  const bool torch = load_torch(context, why_not);
  if (!torch) set.notices.push_back(why_not);
  bool recorded = wish.device == "recorded";
  if (recorded && !wish.has_recorded)
    return Error{Code::usage, "device recorded: the dump holds no outputs, expected one of task tensor"};
  if (!recorded) {
    Error last{Code::unsupported, why_not};
    for (const std::string& device : torch ? candidates(wish.device) : std::vector<std::string>()) {
      auto made = registry->create_executor("torch", torch_options(wish, device, "native", false));
      if (made.ok()) {
        set.executors.device = std::move(made).value();
        set.device = device;
        break;
      }
      last = made.error();
    }
    if (!set.executors.device && wish.device == "auto") {
      recorded = wish.has_recorded;
      if (!recorded && torch) {
        set.device = "cpu";
        ULPSCOPE_ASSIGN(set.executors.device,
                        registry->create_executor("torch", torch_options(wish, "cpu", "native", false)));
      }
    }
    if (!set.executors.device && !recorded) return last;
  }
  if (recorded) set.device = "recorded";
  if (!wish.first.empty()) {
    auto first = registry->create_executor(wish.first, "{}");
    if (!first.ok()) return std::move(first).error().within("option --executor");
    set.executors.golden.push_back(std::move(first).value());
  }
  auto fused = registry->create_executor("npu_reference", "{}");
  if (fused.ok()) {
    set.executors.golden.push_back(std::move(fused).value());
  } else {
    set.notices.push_back(fused.error().message);
  }
  if (torch) {
    ULPSCOPE_ASSIGN(
        ExecutorHandle golden,
        registry->create_executor("torch", torch_options(wish, "cpu", wish.golden_precision, recorded)));
    set.executors.golden.push_back(std::move(golden));
  }
  return set;
}

}  // namespace ulpscope
