#include "config_check/collect.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/file.hpp"
#include "base/text.hpp"
#include "config_check/config_value.hpp"
#include "config_check/secrets.hpp"
#include "config_check/text_inputs.hpp"
#include "config_check/weights.hpp"
#include "report/json_text.hpp"
#include "report/output_file.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostTextBytes = uint64_t{64} << 20;
constexpr size_t kMostOutputBytes = size_t{16} << 20;

constexpr std::array<std::string_view, 10> kModelFiles = {"config.json",
                                                          "generation_config.json",
                                                          "tokenizer_config.json",
                                                          "tokenizer.json",
                                                          "special_tokens_map.json",
                                                          "added_tokens.json",
                                                          "chat_template.jinja",
                                                          "vocab.json",
                                                          "merges.txt",
                                                          "tokenizer.model"};

// What the program words[0] prints; nothing when it cannot be run or fails.
std::optional<std::string> output_of(std::vector<std::string> words) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> piece{};
  while (failed == 0) {
    const ssize_t got = ::read(ends[0], piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || text.size() >= kMostOutputBytes)
      break;  // with the pipe closed a program without end ends
    text.append(piece.data(), static_cast<size_t>(got));
  }
  ::close(ends[0]);
  int status = -1;
  while (failed == 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (failed != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return text;
}

class Collector {
 public:
  Collector(const CollectRequest& request, ThreadPool& pool, const Cancel& cancel, Diagnostics& diagnostics)
      : request_(request), pool_(pool), cancel_(cancel), diagnostics_(diagnostics) {}

  Result<std::vector<std::string>> run() {
    ULPSCOPE_TRY(make_folder());
    ULPSCOPE_TRY(write_environment());
    ULPSCOPE_TRY(write_packages());
    ULPSCOPE_TRY(write_versions());
    ULPSCOPE_TRY(copy_text(request_.launch, "launch.sh"));
    ULPSCOPE_TRY(copy_text(request_.log, "server.log"));
    if (!request_.model.empty()) ULPSCOPE_TRY(write_model());
    ULPSCOPE_TRY(write_facts());
    return std::move(written_);
  }

 private:
  Status make_folder() {
    std::error_code failed;
    fs::create_directories(request_.folder, failed);
    if (failed) return Error{Code::io, printable(request_.folder) + ": " + failed.message()};
    for (const char* name : {"bundle.json", "env.txt"})
      if (fs::exists(request_.folder + "/" + name, failed))
        return Error{Code::usage, printable(request_.folder) + ": holds a bundle, expected a fresh folder"};
    return {};
  }

  Status write(const std::string& name, const std::string& text) {
    const std::string path = request_.folder + "/" + name;
    ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
    file.write(text);
    ULPSCOPE_TRY(file.commit());
    written_.push_back(name);
    return {};
  }

  Status write_environment() {
    std::map<std::string, std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      const size_t equals = text.find('=');
      if (equals != std::string_view::npos)
        variables[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
    }
    for (const auto& [name, value] : variables)
      if (is_secret_variable(name)) secrets_.add(value);
    std::string json = "{";
    for (const auto& [name, value] : variables) {
      if (name.starts_with("BASH_FUNC_")) continue;
      environment_[name] = value;
      json += json.size() > 1 ? ",\n " : "\n ";
      append_json_string(json, name);
      json += ": ";
      append_json_string(json, is_secret_variable(name) ? hidden(value) : redacted(value));
    }
    return write("env.txt", json + "\n}\n");
  }

  std::string redacted(std::string_view text) {
    std::string out;
    for (const std::string_view line : split(text, '\n')) {
      if (!out.empty() || line.data() != text.data()) out += '\n';
      out += secrets_.hide(hide_in_line(line, secrets_));
    }
    return out;
  }

  Status write_packages() {
    if (request_.python.empty()) return {};
    const auto listed =
        output_of({request_.python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"});
    const auto frozen = output_of({request_.python, "-m", "pip", "freeze", "--disable-pip-version-check"});
    if (!listed && !frozen) {
      note(request_.python + " -m pip list", "could not be run; give --python, or write pip.txt by hand");
      return {};
    }
    packages_ = parse_packages(listed.value_or(""));
    // freeze knows from which commit an editable package is; list knows every package.
    if (frozen)
      for (const auto& [name, version] : parse_packages(*frozen))
        if (version.starts_with("git") || packages_.count(name) == 0) packages_[name] = version;
    std::string text;
    for (const auto& [name, version] : packages_) text.append(name).append("=").append(version).append("\n");
    return write("pip.txt", text);
  }

  std::string variable(std::string_view name) const {
    const auto at = environment_.find(name);
    return at == environment_.end() ? std::string() : at->second;
  }

  // Where each version file of Ascend lies on a machine that has one.
  Status write_versions() {
    const auto up = [](const std::string& path, const char* way) { return path.empty() ? path : path + way; };
    const std::pair<std::string_view, std::string> places[] = {
        {"driver", "/usr/local/Ascend/driver/version.info"},
        {"cann", up(variable("ASCEND_TOOLKIT_HOME"), "/toolkit/version.info")},
        {"cann", up(variable("ASCEND_TOOLKIT_HOME"), "/version.info")},
        {"atb", up(variable("ATB_HOME_PATH"), "/../../version.info")},
        {"mindie", up(variable("MINDIE_LLM_HOME_PATH"), "/../version.info")},
        {"atb-models", up(variable("ATB_SPEED_HOME_PATH"), "/version.info")}};
    std::string text;
    NamedTexts found;
    for (const auto& [word, path] : places) {
      std::error_code failed;
      if (path.empty() || !fs::exists(path, failed)) continue;
      auto file = File::open(path);
      const auto content =
          file.ok() ? file->read_text(kMostTextBytes) : Result<std::string>(std::move(file).error());
      if (!content.ok()) {
        diagnostics_.add(Severity::warning, content.error());
        continue;
      }
      const NamedTexts versions = parse_versions(*content);
      for (const std::string_view key : {word, std::string_view("driver"), std::string_view("cann")}) {
        const auto version = versions.find(key);
        if (version != versions.end() && found.try_emplace(std::string(word), version->second).second) break;
      }
    }
    for (const auto& [word, version] : found) text.append(word).append("=").append(version).append("\n");
    return text.empty() ? Status() : write("version.info", text);
  }

  Status copy_text(const std::string& path, const std::string& name) {
    if (path.empty()) return {};
    ULPSCOPE_ASSIGN(const File file, File::open(path));
    ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMostTextBytes));
    // Twice: a secret that a later line names may stand bare in an earlier one.
    redacted(text);
    return write(name, redacted(text));
  }

  Status write_model() {
    std::error_code failed;
    if (!fs::is_directory(request_.model, failed))
      return Error{Code::io, printable(request_.model) + ": no folder, expected that of the model"};
    fs::create_directories(request_.folder + "/model", failed);
    if (failed) return Error{Code::io, printable(request_.folder) + "/model: " + failed.message()};
    for (const std::string_view name : kModelFiles) {
      const std::string from = request_.model + "/" + std::string(name), to = "model/" + std::string(name);
      if (!fs::exists(from, failed)) continue;
      auto file = File::open(from);
      const auto text =
          file.ok() ? file->read_text(kMostTextBytes) : Result<std::string>(std::move(file).error());
      if (text.ok())
        ULPSCOPE_TRY(write(to, *text));
      else
        diagnostics_.add(Severity::warning, text.error());
    }
    if (!request_.hash_weights) return {};
    ULPSCOPE_ASSIGN(Weights weights, read_weights(request_.model));
    if (weights.tensors.empty()) return {};
    std::vector<WeightTensor*> tensors;
    for (auto& [name, tensor] : weights.tensors) tensors.push_back(&tensor);
    ULPSCOPE_TRY(hash_weights(tensors, pool_, cancel_, {}));
    return write("model/" + std::string(kWeightsFile), weights_json(weights));
  }

  Status write_facts() {
    const auto package = [&](const char* name) {
      const auto at = packages_.find(std::string_view(name));
      return at == packages_.end() ? std::string() : at->second;
    };
    const bool npu = !package("torch-npu").empty() || !variable("ASCEND_RT_VISIBLE_DEVICES").empty() ||
                     !variable("ASCEND_HOME_PATH").empty();
    std::string json = "{\"device\": \"" + std::string(npu ? "npu" : "gpu") + "\"";
    for (const auto& [member, name] : {std::pair{"vllm", "vllm"}, std::pair{"vllm_ascend", "vllm-ascend"}}) {
      if (package(name).empty()) continue;
      json += ", \"" + std::string(member) + "\": ";
      append_json_string(json, package(name));
    }
    return write("bundle.json", json + "}\n");
  }

  void note(const std::string& where, const std::string& text) {
    diagnostics_.add({Severity::warning, Code::io, where, text});
  }

  const CollectRequest& request_;
  ThreadPool& pool_;
  const Cancel& cancel_;
  Diagnostics& diagnostics_;
  SecretValues secrets_;
  NamedTexts environment_, packages_;
  std::vector<std::string> written_;
};

}  // namespace

Result<std::vector<std::string>> collect_bundle(const CollectRequest& request, ThreadPool& pool,
                                                const Cancel& cancel, Diagnostics& diagnostics) {
  return Collector(request, pool, cancel, diagnostics).run();
}

}  // namespace ulpscope
