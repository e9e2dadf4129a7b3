#include <filesystem>
#include <optional>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "config_check/config_check.hpp"
#include "config_check/weights.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostTemplateBytes = uint64_t{16} << 20;

std::string without_space(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') out += c;
  return out;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trimmed_end(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The first path at which two parsed files differ, for the reader.
std::string first_difference(const ConfigValue& golden, const ConfigValue& problem) {
  const ConfigLeaves left = leaves_of(golden), right = leaves_of(problem);
  std::map<std::string_view, const ConfigValue*> by_path;
  for (const auto& [path, value] : right) by_path[path] = &value;
  int64_t differing = 0;
  std::string first;
  const auto found = [&](const std::string& path) {
    if (differing++ == 0) first = path;
  };
  for (const auto& [path, value] : left) {
    const auto at = by_path.find(path);
    if (at == by_path.end() || !equal_values(value, *at->second)) found(path);
    if (at != by_path.end()) by_path.erase(at);
  }
  for (const auto& [path, value] : by_path) found(std::string(path));
  if (differing == 0) return "the same members in another order of lists";
  return std::to_string(differing) + (differing == 1 ? " value differs: " : " values differ, first ") +
         printable(first);
}

class ModelFiles {
 public:
  ModelFiles(ConfigCheckRun& run, const std::string& golden, const std::string& problem)
      : run_(run), golden_(golden), problem_(problem) {}

  void check() {
    for (const char* name : {"config", "generation_config"}) {
      const std::string file = std::string(name) + ".json";
      const std::string section = std::string(name) == "config" ? "model_config" : "generation_config";
      if (const auto pair = json_pair(section, file))
        run_.compare_leaves(section, section, pair->first, pair->second, true);
    }
    check_tokenizer_config();
    for (const char* file : {"special_tokens_map.json", "added_tokens.json"}) check_leaves(file);
    for (const char* file : {"tokenizer.json", "vocab.json"}) check_parsed(file);
    for (const char* file : {"tokenizer.model", "merges.txt"}) check_bytes(file);
  }

 private:
  using JsonPair = std::pair<ConfigValue, ConfigValue>;

  bool both_have(const std::string& section, const std::string& file) {
    return run_.both_have(section, "model/" + file, exists(golden_, file), exists(problem_, file));
  }
  static bool exists(const std::string& folder, const std::string& file) {
    std::error_code failed;
    return std::filesystem::exists(folder + "/" + file, failed);
  }
  std::optional<ConfigValue> json(const Bundle& side, const std::string& path) {
    auto value = read_config_json(path);
    if (value.ok()) return std::move(value).value();
    run_.diagnostics.add(Severity::error, value.error(), side.name);
    return std::nullopt;
  }
  std::optional<JsonPair> json_pair(const std::string& section, const std::string& file) {
    if (!both_have(section, file)) return std::nullopt;
    auto golden = json(run_.golden, golden_ + "/" + file),
         problem = json(run_.problem, problem_ + "/" + file);
    if (!golden || !problem) return std::nullopt;
    return JsonPair{std::move(*golden), std::move(*problem)};
  }

  // A template in a file of its own wins over one in tokenizer_config.json.
  std::optional<std::string> chat_template(const Bundle& side, const std::string& folder,
                                           ConfigValue& config) {
    std::optional<std::string> text;
    for (auto member = config.members.begin(); member != config.members.end(); ++member)
      if (member->first == "chat_template") {
        if (!member->second.is_null())
          text = member->second.is_text() ? member->second.text : config_json(member->second, true);
        config.members.erase(member);
        break;
      }
    if (!exists(folder, "chat_template.jinja")) return text;
    auto file = File::open(folder + "/chat_template.jinja");
    auto content =
        file.ok() ? file->read_text(kMostTemplateBytes) : Result<std::string>(std::move(file).error());
    if (content.ok()) return std::move(content).value();
    run_.diagnostics.add(Severity::error, content.error(), side.name);
    return text;
  }

  void check_tokenizer_config() {
    const std::string file = "tokenizer_config.json";
    JsonPair pair;
    if (auto read = json_pair("tokenizer", file)) pair = std::move(*read);
    const auto golden = chat_template(run_.golden, golden_, pair.first);
    const auto problem = chat_template(run_.problem, problem_, pair.second);
    run_.compare_leaves("tokenizer", "tokenizer", pair.first, pair.second, true);
    // A template beside a missing or unreadable tokenizer_config.json has no counterpart to be held against.
    if (exists(golden_, file) != exists(problem_, file) && golden.has_value() != problem.has_value()) return;
    if (golden == problem) return;
    ConfigRow row{"tokenizer", "chat_template", {}, {}, run_.catalogue.severity("tokenizer", "chat_template"),
                  ""};
    if (golden) row.golden = ConfigValue::of_text(sha256_hex(*golden));
    if (problem) row.problem = ConfigValue::of_text(sha256_hex(*problem));
    if (golden && problem && trimmed_end(*golden) == trimmed_end(*problem))
      row.why = "differs only in trailing white space";
    else if (golden && problem && without_space(*golden) == without_space(*problem))
      row.why = "differs only in white space";
    run_.add(std::move(row));
  }

  void check_leaves(const std::string& file) {
    const auto pair = json_pair("tokenizer", file);
    if (!pair) return;
    const size_t before = run_.rows.size();
    run_.compare_leaves("tokenizer", "tokenizer", pair->first, pair->second, true);
    for (size_t i = before; i < run_.rows.size(); ++i) run_.rows[i].why = "in " + file;
  }

  void check_parsed(const std::string& file) {
    const auto pair = json_pair("tokenizer", file);
    if (!pair) return;
    const std::string golden = config_json(pair->first, true), problem = config_json(pair->second, true);
    if (golden == problem) return;
    run_.add({"tokenizer", file, ConfigValue::of_text(sha256_hex(golden)),
              ConfigValue::of_text(sha256_hex(problem)), run_.catalogue.severity("tokenizer", file),
              first_difference(pair->first, pair->second)});
  }

  void check_bytes(const std::string& file) {
    if (!both_have("tokenizer", file)) return;
    const auto golden = file_sha256(golden_ + "/" + file, run_.cancel);
    const auto problem = file_sha256(problem_ + "/" + file, run_.cancel);
    if (!golden.ok()) run_.diagnostics.add(Severity::error, golden.error(), run_.golden.name);
    if (!problem.ok()) run_.diagnostics.add(Severity::error, problem.error(), run_.problem.name);
    if (!golden.ok() || !problem.ok() || *golden == *problem) return;
    run_.add({"tokenizer", file, ConfigValue::of_text(*golden), ConfigValue::of_text(*problem),
              run_.catalogue.severity("tokenizer", file), "the bytes differ"});
  }

  ConfigCheckRun& run_;
  const std::string golden_, problem_;
};

}  // namespace

void check_model_files(ConfigCheckRun& run) {
  const auto golden = run.golden.files.find("model"), problem = run.problem.files.find("model");
  const bool in_golden = golden != run.golden.files.end(), in_problem = problem != run.problem.files.end();
  if (in_golden && in_problem)
    ModelFiles(run, golden->second, problem->second).check();
  else
    run.both_have("model_config", "model/", in_golden, in_problem);
}

}  // namespace ulpscope
