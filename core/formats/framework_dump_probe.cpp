#include <algorithm>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "formats/framework_dump.hpp"
#include "formats/framework_dump_emit.hpp"
#include "formats/framework_dump_key.hpp"
#include "formats/json_lexer.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kHeadBytes = 4 << 20;
// Enough for the members before data: whether a file is a dump at all is mostly told by these alone.
constexpr uint64_t kStartBytes = 64 << 10;
constexpr size_t kMaxFolders = 2;  // looked into; the first steps tell

// The first bytes of a file; empty when it cannot be read. A link out of the dump is followed to tell what it
// is; whether it is read is for the options of the scan.
std::string head_of(const std::string& root, const std::string& relative, uint64_t limit_bytes = kHeadBytes,
                    bool follow_links = true) {
  const auto file = File::open_under(root, relative, follow_links);
  if (!file.ok()) return {};
  std::string text(static_cast<size_t>(std::min(file->size(), limit_bytes)), '\0');
  const auto got = file->read_at(0, std::as_writable_bytes(std::span(text)));
  text.resize(got.ok() ? *got : 0);
  return text;
}

// What a text named as a dump.json is. damaged: no whole object, or one that lacks a part of a dump and holds
// nothing of anything else.
enum class Kind { dump, damaged, other };

// A dump begins as an object whose first members are task and level and which has data.
Kind kind_of(std::string_view text) {
  JsonLexer lexer(text);
  if (lexer.next() != JsonToken::begin_object) return Kind::damaged;
  bool task = false, level = false;
  JsonToken token = lexer.next();
  for (; token == JsonToken::key; token = lexer.next()) {
    const std::string name(lexer.text());
    const JsonToken first = lexer.next();
    task |= name == "task" && first == JsonToken::text;
    level |= name == "level" && first == JsonToken::text;
    if (name == "data" && task && level && first == JsonToken::begin_object) return Kind::dump;
    if (first == JsonToken::broken) return Kind::damaged;
    if (!task) return Kind::other;
    if (name == "data" || !skip_json_value(lexer, first)) return Kind::damaged;
  }
  return Kind::damaged;
}

bool is_dump(std::string_view text) { return kind_of(text) == Kind::dump; }

// As text.find, which looks for the first byte alone: in a dump a '.' stands every few bytes.
size_t find(std::string_view text, std::string_view word, size_t from = 0) {
  if (from >= text.size()) return std::string_view::npos;
  const void* found = ::memmem(text.data() + from, text.size() - from, word.data(), word.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

constexpr std::string_view kForward = ".forward.";

// Calls body(at) for each place where kForward stands, until it answers true; whether it did.
template <class F>
bool any_forward(std::string_view dump, F body) {
  for (size_t at = find(dump, kForward); at != std::string_view::npos; at = find(dump, kForward, at + 1))
    if (body(at)) return true;
  return false;
}

bool shows_vllm(std::string_view dump, std::string_view stack) {
  const auto is_of_vllm = [&](size_t at) {
    const std::string_view before = dump.substr(0, at);
    return before.ends_with(".VocabParallelEmbedding") || before.ends_with(".LogitsProcessor") ||
           before.ends_with("ParallelLinear");
  };
  return any_forward(dump, is_of_vllm) || find(stack, "/vllm/") != std::string_view::npos;
}

// A second call of an outermost or an embedding module.
bool shows_second_forward(std::string_view dump) {
  return any_forward(dump, [&](size_t at) {
    if (!dump.substr(at + kForward.size()).starts_with("1\"")) return false;
    const size_t quote = dump.rfind('"', at);
    if (quote == std::string_view::npos) return false;
    const DumpKey key = parse_dump_key(dump.substr(quote + 1, at + kForward.size() - quote));
    if (key.form != KeyForm::module) return false;
    return key.type.ends_with("Embedding") || std::count(key.path.begin(), key.path.end(), '.') == 1;
  });
}

// Why a dump.json that is there cannot be read; empty where it can, or is not there.
std::string trouble_with(const std::string& root, const std::string& relative) {
  std::error_code ignored;
  const std::string path = root + "/" + relative;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return {};
  const auto file = File::open_under(root, relative, true);
  return file.ok() ? std::string() : file.error().message;
}

// Whether what is written beside a dump.json alone is in the folder, whose path ends with a slash.
bool has_companions(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder + "construct.json", ignored) ||
         std::filesystem::exists(folder + "stack.json", ignored);
}

struct Evidence {
  std::string unreadable;  // the first dump.json that is there and cannot be opened, with the reason
  std::string damaged;     // the first one that is missing, or is no dump and nothing else either
  bool dump = false, files_only = false, vllm = false, second_forward = false;
};

// wants_vllm: whether the members about vLLM are asked for, which takes more reading.
Evidence look(std::string_view path, bool wants_vllm) {
  Evidence evidence;
  const auto layout = find_dump_folders(std::string(path), {});
  if (!layout.ok()) {
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
    if (layout.error().code == Code::io && is_there) evidence.unreadable = layout.error().message;
    return evidence;
  }
  size_t looked_into = 0;
  for (const DumpFolder& folder : layout->folders) {
    if (looked_into == kMaxFolders) break;
    const std::string prefix = folder.relative.empty() ? "" : folder.relative + "/";
    std::vector<std::string> names = {"dump.json", "debug.json"};
    if (!layout->file.empty()) names = {layout->file};
    bool any = false;
    for (const std::string& name : names) {
      const bool is_sure = !wants_vllm && is_dump(head_of(layout->root, prefix + name, kStartBytes));
      const std::string text = is_sure ? std::string() : head_of(layout->root, prefix + name);
      if (!is_sure && text.empty() && evidence.unreadable.empty())
        evidence.unreadable = trouble_with(layout->root, prefix + name);
      const Kind kind = is_sure ? Kind::dump : kind_of(text);
      if (kind == Kind::damaged && evidence.damaged.empty() && name.ends_with(".json") &&
          File::open_under(layout->root, prefix + name, true).ok())
        evidence.damaged = prefix + name + ": damaged, expected a dump.json with task, level and data";
      if (kind != Kind::dump) continue;
      any = evidence.dump = true;
      if (!wants_vllm) continue;
      evidence.vllm |= shows_vllm(text, head_of(layout->root, prefix + "stack.json", kHeadBytes, false));
      if (evidence.vllm) evidence.second_forward |= shows_second_forward(text);
    }
    if (any) ++looked_into;
    if (!any && evidence.damaged.empty() && layout->file.empty() &&
        has_companions(layout->root + "/" + prefix))
      evidence.damaged = prefix + "dump.json: missing beside construct.json or stack.json";
  }
  if (evidence.dump || !layout->file.empty() || layout->folders.empty()) return evidence;
  const auto names = files_in(layout->root + "/" + layout->folders.front().relative + "/dump_tensor_data");
  // The names are all that such a folder has. Of other names, and what convert wrote, it is none.
  std::error_code ignored;
  const bool converted = std::filesystem::exists(layout->root + "/convert.json", ignored);
  evidence.files_only = names.ok() && !converted && std::any_of(names->begin(), names->end(), names_a_call);
  return evidence;
}

}  // namespace

Probe probe_framework(std::string_view path, FrameworkFlavour flavour) {
  const bool is_torch = flavour == FrameworkFlavour::torch_api;
  const Evidence evidence = look(path, !is_torch);
  if (evidence.files_only)
    return is_torch ? Probe{55, "dump_tensor_data without dump.json, its files named for calls"}
                    : Probe{0, "no dump.json to tell vLLM by"};
  if (!evidence.dump && !evidence.unreadable.empty()) return {is_torch ? 55 : 0, evidence.unreadable};
  if (!evidence.dump && !evidence.damaged.empty()) return {is_torch ? 55 : 0, evidence.damaged};
  if (!evidence.dump) return {0, "no dump.json or debug.json with task, level and data"};
  if (is_torch) return {60, "a dump.json with task, level and data"};
  if (!evidence.vllm) return {0, "a framework dump, but nothing of vLLM in it"};
  const std::string passes =
      evidence.second_forward ? "several forward passes in a step" : "one forward pass a step";
  if (flavour == FrameworkFlavour::vllm_v1)
    return {evidence.second_forward ? 70 : 80, "modules or stacks of vLLM, " + passes};
  return {evidence.second_forward ? 80 : 0, "modules or stacks of vLLM, " + passes};
}

}  // namespace ulpscope
