#include "incident/incident_steps.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/json_tape.hpp"
#include "outputs/record_parser.hpp"
#include "outputs/record_reader.hpp"

namespace ulpscope {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostHeadBytes = uint64_t{4} << 20;
constexpr size_t kMostSteps = 4096, kMostShapes = 512, kMostEntries = 200'000;
constexpr int64_t kMostShift = 64;               // of steps, between a dump and its ledger
constexpr int64_t kMostStep = int64_t{1} << 60;  // no run comes so far: what is beyond is passed over

// The number behind a word: "step14"; nothing: another name.
std::optional<int64_t> number_behind(const std::string& name, std::string_view word) {
  if (!name.starts_with(word) || name.size() == word.size()) return std::nullopt;
  const std::string digits = name.substr(word.size());
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const auto number = parse_int(digits);
  return number && *number <= kMostStep ? number : std::nullopt;
}

// Folders "<word>N" of a folder by their numbers.
std::map<int64_t, std::string> numbered_folders(const std::string& folder, std::string_view word) {
  std::map<int64_t, std::string> found;
  std::error_code failed;
  size_t seen = 0;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end && ++seen < kMostEntries;
       at.increment(failed)) {
    std::error_code ignored;
    const auto number = number_behind(at->path().filename().string(), word);
    if (number && found.size() < kMostSteps && at->is_directory(ignored))
      found.emplace(*number, at->path().string());
  }
  return found;
}

// Steps of one rank of a ledger and the tokens that each computed.
struct LedgerSteps {
  std::map<int64_t, int64_t> tokens;
  bool begins_again = false;  // more than one run wrote it; the steps are those of the last
};

LedgerSteps read_ledger_steps(const std::string& path) {
  LedgerSteps steps;
  const auto file = File::open(path);
  if (!file.ok()) return steps;
  Diagnostics told_by_first_token_diff;
  RecordReader reader(*file, Framing::lines, told_by_first_token_diff);
  Record record;
  JsonTape tape;
  std::optional<int64_t> rank;
  const auto number = [&](uint32_t object, std::string_view name) {
    const uint32_t node = tape.find(object, name);
    return tape.is(node, JsonKind::number) ? json_int(tape.text(node)) : std::nullopt;
  };
  while (true) {
    const auto found = reader.next(record);
    if (!found.ok() || !*found) return steps;
    if (!read_json_record(record.text, tape).ok()) continue;
    const auto step = number(0, "step");
    const uint32_t requests = tape.find(0, "reqs");
    if (!step || *step < 0 || *step > kMostStep || !tape.is(requests, JsonKind::object)) continue;
    const int64_t of_rank = number(0, "rank").value_or(0);
    if (!rank) rank = of_rank;
    if (of_rank != *rank) continue;
    int64_t tokens = 0;
    for (uint32_t i = requests + 1; i != tape.at(requests).next; i = tape.at(i).next) {
      const int64_t scheduled = number(i, "scheduled").value_or(0);
      constexpr int64_t kMost = int64_t{1} << 31;
      if (scheduled > 0 && scheduled < kMost && tokens < kMost) tokens += scheduled;
    }
    if (!steps.tokens.empty() && *step <= steps.tokens.rbegin()->first) {
      steps.begins_again = true;
      steps.tokens.clear();
    }
    steps.tokens[*step] = tokens;
  }
}

// How many rows the first tensors of a dump.json have: a tensor of the step's tokens is among them. A batch
// of one is looked through.
std::set<int64_t> rows_of(const std::string& path) {
  std::set<int64_t> rows;
  const auto file = File::open(path);
  if (!file.ok()) return rows;
  std::string text(std::min(kMostHeadBytes, file->size()), '\0');
  if (!file->read_exact(0, std::as_writable_bytes(std::span(text))).ok()) return rows;
  constexpr std::string_view kShape = "\"shape\"";
  size_t shapes = 0;
  for (size_t at = text.find(kShape); at != std::string::npos && ++shapes <= kMostShapes;
       at = text.find(kShape, at)) {
    at = text.find_first_not_of(" \r\n\t:", at + kShape.size());
    if (at == std::string::npos || text[at] != '[') continue;
    const size_t end = text.find(']', at);
    if (end == std::string::npos) break;
    std::string_view list = std::string_view(text).substr(at + 1, end - at - 1);
    at = end;
    for (int dimension = 0; dimension < 2; ++dimension) {
      const auto size = parse_int(trimmed(list.substr(0, list.find(','))));
      if (!size) break;
      rows.insert(*size);
      if (*size != 1 || list.find(',') == std::string_view::npos) break;
      list.remove_prefix(list.find(',') + 1);
    }
  }
  return rows;
}

// By step; without the steps of which nothing is known.
std::map<int64_t, std::set<int64_t>> rows_by_step(const std::map<int64_t, std::string>& folders) {
  std::map<int64_t, std::set<int64_t>> rows;
  for (const auto& [step, folder] : folders) {
    std::vector<std::string> ranks = {folder + "/rank"};
    for (const auto& [rank, path] : numbered_folders(folder, "rank")) ranks.push_back(path);
    for (const std::string& rank : ranks) {
      std::set<int64_t> found = rows_of(rank + "/dump.json");
      if (found.empty()) continue;
      rows.emplace(step, std::move(found));
      break;
    }
  }
  return rows;
}

class Check {
 public:
  Check(std::string name, const LedgerSteps& ledger, const std::map<int64_t, std::string>& folders)
      : name_(std::move(name)), ledger_(ledger), folders_(folders), rows_(rows_by_step(folders)) {}

  DumpSteps run(std::optional<int64_t> wanted) {
    if (ledger_.begins_again)
      warn("the ledger of " + name_ + " holds more than one run, the last counts: remove it before a run",
           name_ + " 的账本含多次运行，以最后一次为准：每次运行前请先删除");
    if (wanted && folders_.count(*wanted) == 0) {
      const std::string number = std::to_string(*wanted);
      warn(name_ + " has " + list("step ", "") + ", not step " + number + " that makes the token",
           name_ + " 有" + list("第 ", " 步") + "，没有产生该 token 的第 " + number + " 步");
    }
    check_numbers();
    check_tokens();
    if (found_.disagrees) say_shift(wanted);
    if (!found_.disagrees && wanted) {
      const std::string number = std::to_string(*wanted), tokens = std::to_string(ledger_.tokens.at(*wanted));
      add(name_ + ": step " + number + " is that of the ledger, tokens: " + tokens,
          name_ + "：第 " + number + " 步与账本一致，token 数 " + tokens);
    }
    return found_;
  }

 private:
  void add(const std::string& en, const std::string& zh) {
    found_.text.en += (found_.text.en.empty() ? "" : "; ") + en;
    found_.text.zh += (found_.text.zh.empty() ? "" : "；") + zh;
  }
  void warn(const std::string& en, const std::string& zh) {
    add(found_.disagrees ? en : "warning: " + en, found_.disagrees ? zh : "警告：" + zh);
    found_.disagrees = true;
  }

  // The steps of the dump: "step 3" or "steps 0 to 7 (8 of them)".
  std::string list(const std::string& before, const std::string& after) const {
    const std::string first = std::to_string(folders_.begin()->first);
    if (folders_.size() == 1) return before + first + after;
    return before + first + "–" + std::to_string(folders_.rbegin()->first) + after + " (" +
           std::to_string(folders_.size()) + ")";
  }

  void check_numbers() {
    int64_t beyond = 0;
    for (const auto& [step, folder] : folders_) beyond += ledger_.tokens.count(step) == 0 ? 1 : 0;
    if (beyond == 0) return;
    const std::string last = std::to_string(ledger_.tokens.rbegin()->first);
    warn(std::to_string(beyond) + " steps of " + name_ + " are not in the ledger, whose last is step " + last,
         name_ + " 有 " + std::to_string(beyond) + " 步不在账本中，账本最后一步为第 " + last + " 步");
  }

  // One step says it.
  void check_tokens() {
    const auto wrong = std::find_if(rows_.begin(), rows_.end(), [&](const auto& each) {
      const auto at = ledger_.tokens.find(each.first);
      return at != ledger_.tokens.end() && each.second.count(at->second) == 0;
    });
    if (wrong == rows_.end()) return;
    const std::string number = std::to_string(wrong->first),
                      tokens = std::to_string(ledger_.tokens.at(wrong->first));
    warn("step " + number + " of " + name_ + " has no tensor with the " + tokens +
             " rows that the ledger's step " + number + " computed",
         name_ + " 第 " + number + " 步没有行数为 " + tokens + "（账本第 " + number +
             " 步的 token 数）的张量");
  }

  bool fits(int64_t shift) const {
    bool is_telling = false;  // steps of one token fit everywhere
    for (const auto& [step, rows] : rows_) {
      const auto at = ledger_.tokens.find(step - shift);
      if (at == ledger_.tokens.end() || rows.count(at->second) == 0) return false;
      is_telling = is_telling || at->second > 1;
    }
    return is_telling;
  }

  // Where the collector counted other calls before: the same steps under other numbers.
  void say_shift(std::optional<int64_t> wanted) {
    std::vector<int64_t> shifts;
    for (int64_t shift = -kMostShift; shift <= kMostShift; ++shift)
      if (shift != 0 && fits(shift)) shifts.push_back(shift);
    if (shifts.size() != 1 || !wanted) return;
    const std::string from = std::to_string(*wanted), to = std::to_string(*wanted + shifts[0]);
    found_.folder = "step" + to;
    add("by its tokens step " + from + " of the ledger is step " + to + " of " + name_,
        "按 token 数，账本第 " + from + " 步是 " + name_ + " 的第 " + to + " 步");
  }

  const std::string name_;
  const LedgerSteps& ledger_;
  const std::map<int64_t, std::string>& folders_;
  const std::map<int64_t, std::set<int64_t>> rows_;
  DumpSteps found_;
};

}  // namespace

DumpSteps check_dump_steps(const std::string& side, const std::string& dump, const std::string& ledger,
                           std::optional<int64_t> wanted) {
  const std::map<int64_t, std::string> folders = numbered_folders(dump, "step");
  DumpSteps found;
  if (!folders.empty() && !ledger.empty()) {
    const LedgerSteps steps = read_ledger_steps(ledger);
    const bool is_in_ledger = wanted && steps.tokens.count(*wanted) > 0;
    if (!steps.tokens.empty())
      found = Check(side + "_dump", steps, folders).run(is_in_ledger ? wanted : std::optional<int64_t>());
  }
  found.count = static_cast<int64_t>(folders.size());
  if (wanted && found.folder.empty() && folders.count(*wanted) > 0)
    found.folder = "step" + std::to_string(*wanted);
  return found;
}

}  // namespace ulpscope
