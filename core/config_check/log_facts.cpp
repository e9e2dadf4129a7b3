#include "config_check/log_facts.hpp"

#include <algorithm>
#include <cctype>
#include <functional>

#include "base/file.hpp"
#include "base/text.hpp"
#include "config_check/python_print.hpp"
#include "config_check/text_inputs.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostLineBytes = size_t{16} << 20;
constexpr size_t kReadBytes = size_t{1} << 18;
constexpr size_t kMostRequests = 10'000;
constexpr size_t kMostBlockBytes = size_t{1} << 20;

// Calls take for every line without its end; a longer line is cut. Answers whether any was.
Result<bool> for_each_line(const File& file, const std::function<void(std::string_view)>& take) {
  std::string line;
  std::vector<std::byte> buffer(kReadBytes);
  bool cut = false;
  file.advise_sequential();
  for (uint64_t offset = 0; offset < file.size();) {
    ULPSCOPE_ASSIGN(const size_t got, file.read_at(offset, buffer));
    if (got == 0) break;
    offset += got;
    std::string_view rest(reinterpret_cast<const char*>(buffer.data()), got);
    for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      line += rest.substr(0, end);
      take(line);
      line.clear();
      rest.remove_prefix(end + 1);
    }
    if (line.size() + rest.size() <= kMostLineBytes)
      line += rest;
    else
      cut = true;
  }
  if (!line.empty()) take(line);
  return cut;
}

// Behind the first place where text has word; npos when it has none.
size_t behind(std::string_view text, std::string_view word, size_t from = 0) {
  const size_t at = text.find(word, from);
  return at == std::string_view::npos ? at : at + word.size();
}

std::vector<int64_t> ids_of(const ConfigValue& list) {
  std::vector<int64_t> ids;
  for (const ConfigValue& item : list.items)
    if (const auto id = parse_int(item.text)) ids.push_back(*id);
  return ids;
}

// {"temperature": [0.7]} as {"temperature": 0.7}.
ConfigValue without_batch(ConfigValue object) {
  for (auto& [name, value] : object.members)
    if (value.kind == ConfigKind::list && value.items.size() == 1) {
      ConfigValue single = std::move(value.items[0]);
      value = std::move(single);
    }
  return object;
}

class LogReader {
 public:
  void take(std::string_view line) {
    if (in_block_) return take_block(line);
    if (is_mindie_head(line)) {
      in_block_ = true;
      block_.clear();
      open_ = 0;
      const size_t brace = line.find('{');
      if (brace != std::string_view::npos) take_block(line.substr(brace));
      return;
    }
    if (line.find("SamplingParams(") != std::string_view::npos) take_request(line);
    take_engine(line);
    take_arguments(line);
    if (facts.model_config.is_null() && line.find("with config: ") == std::string_view::npos)
      facts.model_config = parse_model_config_print(line);
  }

  LogFacts facts;
  bool dropped_requests = false;

 private:
  static bool is_mindie_head(std::string_view line) {
    const size_t at = behind(line, "Sampling parameters for ");
    if (at == std::string_view::npos) return false;
    return line.substr(at).starts_with("request id") || line.substr(at).starts_with("trace ids");
  }

  void take_block(std::string_view line) {
    if (block_.empty() && !trimmed(line).starts_with("{")) {
      in_block_ = trimmed(line).empty();  // anything else: no block follows
      return;
    }
    block_ += line;
    block_ += '\n';
    open_ += std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}');
    if (open_ > 0 && block_.size() < kMostBlockBytes) return;
    in_block_ = false;
    add(SamplingRequest{without_batch(parse_python_value(block_)), {}, false});
  }

  void add(SamplingRequest request) {
    if (facts.requests.size() >= kMostRequests)
      dropped_requests = true;
    else
      facts.requests.push_back(std::move(request));
  }

  // "Received request ID: prompt: '…', params: SamplingParams(…), prompt_token_ids: […]", whose prompt may
  // hold any of these words, or "ID:SamplingParams(…)".
  void take_request(std::string_view line) {
    size_t at = 0;
    if (const size_t prompt = behind(line, "prompt: ", line.find("Received request "));
        line.find("Received request ") != std::string_view::npos && prompt != std::string_view::npos) {
      size_t end = 0;
      parse_python_value(line.substr(prompt), &end);
      at = prompt + end;
    }
    const size_t params = behind(line, "SamplingParams(", at);
    if (params == std::string_view::npos) return;
    size_t end = 0;
    SamplingRequest request;
    request.parameters = parse_python_fields(line.substr(params), &end);
    const size_t ids = behind(line, "prompt_token_ids: [", params + end);
    if (ids != std::string_view::npos) {
      request.prompt_ids = ids_of(parse_python_value(line.substr(ids - 1)));
      request.has_ids = true;
    }
    add(std::move(request));
  }

  void take_engine(std::string_view line) {
    if (!facts.engine.is_null()) return;
    size_t at = behind(line, "Initializing a");
    if (at == std::string_view::npos) return;
    const size_t version = behind(line, "LLM engine (v", at);
    if (version == std::string_view::npos) return;
    facts.version = std::string(line.substr(version, line.substr(version).find(')')));
    at = behind(line, "with config: ", version);
    if (at != std::string_view::npos) facts.engine = parse_python_fields(line.substr(at));
  }

  void take_arguments(std::string_view line) {
    if (!facts.arguments.is_null()) return;
    if (const size_t at = behind(line, "non-default args: {"); at != std::string_view::npos)
      facts.arguments = parse_python_value(line.substr(at - 1));
    else if (const size_t space = behind(line, "args: Namespace("); space != std::string_view::npos)
      facts.arguments = parse_python_fields(line.substr(space));
  }

  bool in_block_ = false;
  std::string block_;
  int64_t open_ = 0;
};

}  // namespace

Result<LogFacts> read_log(const std::string& path, Diagnostics& diagnostics) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  LogReader reader;
  ULPSCOPE_ASSIGN(const bool cut, for_each_line(file, [&](std::string_view line) { reader.take(line); }));
  if (cut) diagnostics.add({Severity::notice, Code::format, path, "a line of more than 16 MiB was cut"});
  if (reader.dropped_requests)
    diagnostics.add({Severity::notice, Code::format, path, "only the first 10 000 requests were read"});
  return std::move(reader.facts);
}

ConfigValue parse_model_config_print(std::string_view text) {
  constexpr std::string_view kName = "ModelConfig(";
  for (size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
    // Not the end of a longer name.
    const bool is_part = at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;
    if (!is_part) return parse_python_fields(text.substr(at + kName.size()));
  }
  return {};
}

}  // namespace ulpscope
