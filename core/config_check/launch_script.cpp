#include "config_check/launch_script.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "config_check/shell_words.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

// Which of several commands of a script is the one that matters: an engine before a launcher before a script.
enum class Rank : uint8_t { none, script, launcher, engine };

struct Place {
  Rank rank = Rank::none;
  size_t begin = 0, arguments = 0;  // indexes of words
  bool has_model = false;           // the first word that is no option is the model
};

std::string_view base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_python(std::string_view word) {
  std::string_view name = base_name(word);
  if (!name.starts_with("python")) return false;
  name.remove_prefix(6);
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

Place python_place(const ShellCommand& words, size_t i) {
  size_t at = i + 1;
  while (at < words.size() && words[at].starts_with("-") && words[at] != "-m") ++at;
  if (at >= words.size()) return {};
  if (words[at] != "-m") return {words[at].ends_with(".py") ? Rank::script : Rank::none, i, at + 1};
  if (at + 1 >= words.size()) return {};
  const std::string& module = words[at + 1];
  if (module.starts_with("vllm.entrypoints") || module.starts_with("vllm.benchmarks"))
    return {Rank::engine, i, at + 2};
  if (module.starts_with("torch.distributed")) return {Rank::launcher, i, at + 2};
  return {Rank::script, i, at + 2};
}

// The command may stand behind nohup, numactl, env, exec and the like, so every word is looked at.
Place find_place(const ShellCommand& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view name = base_name(words[i]);
    if (name == "vllm" && i + 1 < words.size() && !words[i + 1].starts_with("-")) {
      const std::string& verb = words[i + 1];
      if (verb == "serve") return {Rank::engine, i, i + 2, true};
      if (verb == "bench" && i + 2 < words.size()) return {Rank::engine, i, i + 3};
      if (verb == "chat" || verb == "complete" || verb == "run-batch" || verb == "bench" ||
          verb == "run_batch")
        return {Rank::engine, i, i + 2};
    }
    if (name == "mindieservice_daemon") return {Rank::engine, i, i + 1};
    if (name == "torchrun" || name == "msrun") return {Rank::launcher, i, i + 1};
    if (is_python(words[i])) return python_place(words, i);
  }
  return {};
}

struct ShortName {
  std::string_view shorts, name;
};
constexpr std::array<ShortName, 9> kShorts = {{{"tp", "tensor_parallel_size"},
                                               {"pp", "pipeline_parallel_size"},
                                               {"dp", "data_parallel_size"},
                                               {"q", "quantization"},
                                               {"O", "compilation_config"},
                                               {"dpn", "data_parallel_rank"},
                                               {"dpl", "data_parallel_size_local"},
                                               {"dpa", "data_parallel_address"},
                                               {"dpr", "data_parallel_start_rank"}}};

bool is_number_word(std::string_view word) { return parse_double(word).has_value(); }

bool is_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word != "--" && !is_number_word(word) &&
         word.find(' ') == std::string_view::npos;
}

// Options of which it is known that they take no value but a truth: the next word is the model, or stray.
bool takes_truth(std::string_view name) {
  for (const std::string_view begin : {"enable_", "disable_", "no_", "use_", "return_", "skip_"})
    if (name.starts_with(begin)) return true;
  return name == "trust_remote_code" || name == "enforce_eager" || name == "async_scheduling" ||
         name == "headless";
}

bool is_truth(std::string_view word) {
  const std::string lower = to_lower(word);
  return lower == "true" || lower == "false" || lower == "0" || lower == "1" || lower == "yes" ||
         lower == "no";
}

constexpr int kMostParts = 32;

// Puts value under a dotted name, into the object that stands there already. Beyond 32 parts the rest of the
// name is one part.
void put(ConfigValue& object, std::string_view name, ConfigValue value, int depth = 0) {
  object.kind = ConfigKind::object;
  const size_t dot = depth < kMostParts ? name.find('.') : std::string_view::npos;
  const std::string_view head = name.substr(0, dot);
  auto at = std::find_if(object.members.begin(), object.members.end(),
                         [&](const auto& member) { return member.first == head; });
  if (at == object.members.end()) at = object.members.insert(at, {std::string(head), {}});
  if (dot == std::string_view::npos)
    at->second = std::move(value);
  else
    put(at->second, name.substr(dot + 1), std::move(value), depth + 1);
}

class Arguments {
 public:
  Arguments(const ShellCommand& words, const Place& place) : words_(words), place_(place) {}

  ConfigValue options() {
    options_.kind = ConfigKind::object;
    bool wants_model = place_.has_model;
    for (at_ = place_.arguments; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      if (is_option(word)) {
        take_option(word);
      } else if (wants_model) {
        put(options_, "model", ConfigValue::of_text(word));
        wants_model = false;
      } else if (!last_.empty()) {
        append_value(word);
      }
    }
    return std::move(options_);
  }

 private:
  // Name with '_' and no dashes; a known short name in full. "-O3" carries its value: out is that value.
  static std::string name_of(std::string_view word, std::string& value) {
    if (word.starts_with("--")) {
      std::string name(word.substr(2));
      const size_t end = std::min(name.find('.'), name.size());
      std::replace(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(end), '-', '_');
      return name;
    }
    const std::string_view shorts = word.substr(1);
    for (const ShortName& known : kShorts)
      if (shorts == known.shorts) return std::string(known.name);
    if (shorts[0] == 'O') {
      value = std::string(shorts.substr(1));
      if (value.starts_with(".")) return "compilation_config" + std::exchange(value, "");
      return "compilation_config";
    }
    return std::string(shorts);
  }

  void take_option(const std::string& word) {
    std::string value;
    const size_t equals = word.find('=');
    std::string name = name_of(std::string_view(word).substr(0, equals), value);
    bool has_value = !value.empty();
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
      has_value = true;
    }
    last_.clear();
    if (name.starts_with("no_") && !has_value)
      return put(options_, name.substr(3), ConfigValue::of_bool(false));
    const bool has_next = at_ + 1 < words_.size() && !is_option(words_[at_ + 1]);
    if (!has_value && has_next && (!takes_truth(name) || is_truth(words_[at_ + 1]))) {
      value = words_[++at_];
      has_value = true;
    }
    if (!has_value) return put(options_, name, ConfigValue::of_bool(true));
    ConfigValue parsed = value_of_word(value);
    if (takes_truth(name) && is_truth(value) && parsed.kind != ConfigKind::boolean)
      parsed = ConfigValue::of_bool(value == "1" || to_lower(value) == "yes" || to_lower(value) == "true");
    // -O3 and a plain number are the level of the compilation.
    if (name == "compilation_config" && parsed.kind == ConfigKind::number) name += ".level";
    put(options_, name, std::move(parsed));
    last_ = name;
  }

  // A further value of the option before: it takes a list.
  void append_value(const std::string& word) {
    for (auto& [name, value] : options_.members) {
      if (name != last_) continue;
      if (value.kind != ConfigKind::list) {
        ConfigValue list;
        list.kind = ConfigKind::list;
        list.items.push_back(std::move(value));
        value = std::move(list);
      }
      value.items.push_back(value_of_word(word));
    }
  }

  const ShellCommand& words_;
  const Place& place_;
  size_t at_ = 0;
  ConfigValue options_;
  std::string last_;
};

}  // namespace

LaunchCommand parse_launch(std::string_view script, const NamedTexts& environment) {
  LaunchCommand launch;
  Rank best = Rank::none;
  for_each_shell_command(script, environment, [&](const ShellCommand& words, const ShellState& state) {
    const Place place = find_place(words);
    if (place.rank <= best) return;
    best = place.rank;
    launch.found = true;
    launch.inline_environment.clear();
    for (size_t i = 0; i < place.begin; ++i) {
      const auto [name, value] = assignment_of(words[i]);
      if (!name.empty()) launch.inline_environment[name] = value;
    }
    launch.exported = state.exported;
    launch.words.assign(words.begin() + static_cast<std::ptrdiff_t>(place.begin), words.end());
    launch.options = Arguments(words, place).options();
  });
  return launch;
}

}  // namespace ulpscope
