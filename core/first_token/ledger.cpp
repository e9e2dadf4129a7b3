#include "first_token/ledger.hpp"

#include <array>
#include <unordered_map>

#include "base/file.hpp"
#include "base/text.hpp"
#include "formats/json_tape.hpp"
#include "outputs/record_parser.hpp"
#include "outputs/record_reader.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostPrefillSteps = 10'000;  // of one request that are listed

std::optional<int64_t> integer(const JsonTape& tape, uint32_t object, std::string_view name) {
  const uint32_t node = tape.find(object, name);
  return tape.is(node, JsonKind::number) ? json_int(tape.text(node)) : std::nullopt;
}

class LedgerReader {
 public:
  LedgerReader(const std::vector<LedgerQuestion>& questions, std::vector<LedgerAnswer>& answers)
      : questions_(questions), answers_(answers), states_(questions.size()) {
    for (size_t i = 0; i < questions.size(); ++i) {
      const LedgerQuestion& asked = questions[i];
      if (asked.request_id.empty()) continue;
      const std::string choice = std::to_string(asked.choice);
      const std::array<std::string, 5> names = {asked.request_id, choice + "_" + asked.request_id,
                                                asked.request_id + "-" + choice, asked.request_id + "-0",
                                                choice + "_" + asked.request_id + "-0"};
      for (size_t rank = 0; rank < names.size(); ++rank) by_name_[names[rank]].push_back({i, rank});
    }
  }

  // Whether a later run wrote behind an earlier one.
  bool begins_again() const { return begins_again_; }

  bool take(const JsonTape& tape) {
    const auto step = integer(tape, 0, "step");
    const uint32_t requests = tape.find(0, "reqs");
    if (!step || !tape.is(requests, JsonKind::object)) return false;
    const int64_t rank = integer(tape, 0, "rank").value_or(0);
    const uint32_t drafts = tape.find(0, "spec");
    for (uint32_t i = requests + 1; i != tape.at(requests).next; i = tape.at(i).next) {
      const auto known = by_name_.find(std::string(tape.key(i)));
      if (known == by_name_.end()) continue;
      const bool has_drafts = tape.find(drafts, tape.key(i)) != JsonTape::kNone;
      for (const Name& name : known->second) take_request(tape, i, *step, rank, has_drafts, name);
    }
    return true;
  }

 private:
  struct Name {
    size_t question;
    size_t preference;  // less is nearer to the name asked for
  };
  struct State {
    size_t preference = SIZE_MAX;
    int64_t rank = 0;
    bool has_drafts = false;
    int64_t computed = -1, step = -1;  // where it began: the least that was computed, and that step
  };

  void take_request(const JsonTape& tape, uint32_t node, int64_t step, int64_t rank, bool has_drafts,
                    const Name& name) {
    const auto prompt = integer(tape, node, "prompt"), computed = integer(tape, node, "computed"),
               scheduled = integer(tape, node, "scheduled");
    if (!prompt || !computed || !scheduled) return;
    State& state = states_[name.question];
    LedgerAnswer& answer = answers_[name.question];
    if (name.preference > state.preference) return;
    if (name.preference < state.preference) {
      state = {};
      state.preference = name.preference;
      state.rank = rank;
      answer = {};
      answer.found = true;
    }
    if (rank != state.rank) return;
    if (*computed == state.computed && step <= state.step) {
      // It begins a second time, not later than before: this is another run, which wrote behind the first.
      begins_again_ = true;
      state.has_drafts = false;
      answer = {};
      answer.found = true;
    }
    if (state.step < 0 || *computed <= state.computed) {
      state.computed = *computed;
      state.step = step;
    }
    state.has_drafts |= has_drafts;
    if (*computed < *prompt && answer.prefill_steps.size() < kMostPrefillSteps)
      answer.prefill_steps.push_back(step);
    // The numbers are the file's: compared without sums that could overflow.
    constexpr int64_t kMost = int64_t{1} << 60;
    if (*prompt < 0 || *prompt > kMost || *computed < 0 || *computed > kMost || *scheduled < 0 ||
        *scheduled > kMost)
      return;
    const int64_t reached = *computed + *scheduled, wanted = *prompt + questions_[name.question].token;
    const bool makes = state.has_drafts ? reached >= wanted : reached == wanted;
    if (makes && !answer.step) answer.step = step;
  }

  const std::vector<LedgerQuestion>& questions_;
  std::vector<LedgerAnswer>& answers_;
  std::vector<State> states_;
  bool begins_again_ = false;
  std::unordered_map<std::string, std::vector<Name>> by_name_;
};

}  // namespace

Result<std::vector<LedgerAnswer>> ask_ledger(const std::string& path,
                                             const std::vector<LedgerQuestion>& questions,
                                             Diagnostics& diagnostics) {
  std::vector<LedgerAnswer> answers(questions.size());
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  LedgerReader ledger(questions, answers);
  RecordReader reader(file, Framing::lines, diagnostics);
  Record record;
  JsonTape tape;
  while (true) {
    ULPSCOPE_ASSIGN(const bool found, reader.next(record));
    if (!found) break;
    const std::string where = printable(path) + ": byte " + std::to_string(record.offset);
    if (const Status read = read_json_record(record.text, tape); !read.ok())
      diagnostics.add(Severity::error, read.error(), where);
    else if (!ledger.take(tape))
      diagnostics.add({Severity::error, Code::format, where, "no line of a ledger, expected step and reqs"});
  }
  if (ledger.begins_again())
    diagnostics.add({Severity::warning, Code::format, printable(path),
                     "holds requests of the same name from several runs: the last one counts; remove the "
                     "file before a run"});
  return answers;
}

}  // namespace ulpscope
