#include "guide/engine_version.hpp"

#include <algorithm>
#include <tuple>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostNumbers = 6;

// The digits at the beginning of text, which loses them.
std::optional<int64_t> take_number(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_int(text.substr(0, end));
  if (number) text.remove_prefix(end);
  return number;
}

std::vector<int64_t> padded(const EngineVersion& version) {
  std::vector<int64_t> numbers = version.release;
  numbers.resize(kMostNumbers);
  return numbers;
}

}  // namespace

std::string EngineVersion::minor() const {
  return std::to_string(release[0]) + "." + std::to_string(release[1]);
}

std::optional<EngineVersion> parse_engine_version(std::string_view text) {
  EngineVersion version;
  version.text = printable(text);
  if (text.starts_with("v")) text.remove_prefix(1);
  for (auto number = take_number(text); number && version.release.size() < kMostNumbers;) {
    version.release.push_back(*number);
    if (text.size() < 2 || text[0] != '.' || text[1] < '0' || text[1] > '9') break;
    text.remove_prefix(1);
    number = take_number(text);
  }
  if (version.release.size() < 2) return std::nullopt;
  for (const auto& [word, stage] :
       {std::pair<std::string_view, int>{"rc", -1}, {".post", 1}, {"a", -1}, {"b", -1}})
    if (text.starts_with(word)) {
      text.remove_prefix(word.size());
      version.stage = stage;
      version.number = take_number(text).value_or(0);
      break;
    }
  version.is_development = text.starts_with(".dev");
  return version;
}

bool operator<(const EngineVersion& a, const EngineVersion& b) {
  return std::tuple(padded(a), a.stage, a.number) < std::tuple(padded(b), b.stage, b.number);
}

bool is_at_most(const EngineVersion& version, const EngineVersion& last) {
  std::vector<int64_t> numbers = version.release;
  numbers.resize(last.release.size());
  if (numbers != last.release) return numbers < last.release;
  return last.stage == 0 || !(last < version);
}

}  // namespace ulpscope
