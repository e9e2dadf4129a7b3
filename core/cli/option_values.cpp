#include "cli/option_values.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "policy/loader.hpp"

namespace ulpscope {
namespace {

// One line a set: the commands that have it (all where empty), the option, the words with blanks between.
struct FixedValues {
  std::string_view commands, option, words;
  bool is_list = false;
};

constexpr FixedValues kFixed[] = {
    {"", "log_format", "text json"},
    {"", "lang", "en zh"},
    {"compare report", "format", "json csv xlsx html md sqlite junit", true},
    {"check multi_acc_check precision-compare", "format", "json csv html", true},
    {"locate", "format", "json html", true},
    {"merge", "format", "json csv xlsx", true},
    {"list", "format", "table csv json"},
    {"config-check", "format", "text json csv md"},
    {"guide", "format", "text json sh"},
    {"first-token-diff anomaly badcase instrument flow", "format", "text json"},
    {"compare", "metrics",
     "all max_rel_err mean_rel_err within_1e-2 within_1e-4 max_ulp mean_ulp ulp_over_threshold_rate "
     "kl_divergence acc_rel_err target_std golden_std abs_err_p50 abs_err_p90 abs_err_p99 abs_err_p999",
     true},
    {"compare", "data", "auto data statistics digest"},
    {"check multi_acc_check", "data", "recorded random"},
    {"compare", "columns", "full msprobe"},
    {"compare", "fail_on", "fail warning never"},
    {"compare", "backend", "fsdp megatron"},
    {"convert", "to", "npy pt safetensors"},
    {"overflow", "kinds", "nan inf limit record", true},
    {"first-token-diff", "pair", "auto id prompt order"},
    {"policy", "role", "output input kwarg parameter gradient"},
    {"policy", "phase", "forward backward"},
    {"guide", "framework", "vllm mindie"},
    {"guide", "mode", "offline online"},
    {"guide", "device", "gpu npu"},
    {"guide instrument", "engine", "auto v0 v1"},
    {"guide instrument", "model_runner", "auto v1 v2"},
    {"guide instrument", "level", "mix L0 L1"},
    {"guide", "task", "statistics tensor"},
    {"guide", "phase", "layer op"},
    {"instrument", "device", "auto gpu npu"},
    {"instrument", "strategy", "worker guide"},
    {"instrument", "style", "inline wrap"},
    {"instrument", "window", "forward forward+sample"},
    {"instrument", "emit", "hook direct"},
};

constexpr std::pair<std::string_view, std::string_view> kSecond[] = {
    {"plugins", "list show path check new"},
    {"policy", "show check explain import"},
    {"guide", "symptoms checklist determinism collect flow"},
    {"mapping", "suggest"},
    {"completion", "bash zsh fish"},
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) words.emplace_back(word);
  return words;
}

bool names(std::string_view list, std::string_view word) {
  const auto all = split(list, ' ');
  return list.empty() || std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

OptionValues option_values(std::string_view command, std::string_view option) {
  for (const FixedValues& fixed : kFixed)
    if (fixed.option == option && names(fixed.commands, command))
      return {words_of(fixed.words), {}, fixed.is_list};
  if (option == "profile") return {preset_names(), {}, false};
  if (option == "judge") return {{"similarity"}, "judgement", true};
  if (option == "executor") return {{}, "executor", false};
  if (option == "mode" || option == "target_source" || option == "golden_source")
    return {{"auto"}, "source", false};
  return {};
}

std::vector<std::string> second_words(std::string_view command) {
  for (const auto& [name, words] : kSecond)
    if (name == command) return words_of(words);
  return {};
}

}  // namespace ulpscope
