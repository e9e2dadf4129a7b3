#include <cmath>

#include "base/text.hpp"
#include "first_token/report.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostNameBytes = 60;

std::string shortened(std::string_view text) {
  if (text.size() <= kMostNameBytes) return printable(text);
  size_t size = kMostNameBytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return printable(text.substr(0, size)) + "…";
}

// As it is read aloud: an id, else the prompt, else the order.
std::string name_of(const std::string& id, const std::string& prompt, int64_t order, int64_t choice) {
  std::string name = !id.empty()       ? shortened(id)
                     : !prompt.empty() ? "\"" + shortened(prompt) + "\""
                                       : "output " + std::to_string(order);
  if (choice > 0) name += " choice " + std::to_string(choice);
  return name;
}

std::string token_text(const ShownToken& token, const FirstTokenReport& report) {
  if (!token.known) return "the end";
  if (!token.id) return token.text.starts_with("bytes:") ? token.text : "'" + printable(token.text) + "'";
  std::string text = std::to_string(*token.id);
  std::string decoded = token.decoded;
  if (decoded.empty() && report.tokenizer) decoded = report.tokenizer->text(*token.id);
  if (!decoded.empty()) text += " '" + printable(decoded) + "'";
  return text;
}

std::string context_line(const TokenList& tokens, int64_t begin, int64_t position) {
  std::string line = begin > 0 ? "… " : "";
  for (size_t i = 0; i < tokens.size(); ++i) {
    const ShownToken token = shown_token(tokens, i);
    const std::string text = token.id ? std::to_string(*token.id) : printable(token.text);
    const bool is_here = begin + static_cast<int64_t>(i) == position;
    line += (i > 0 ? " " : "") + (is_here ? "[" + text + "]" : text);
  }
  return line;
}

std::string headline(const TokenDiff& diff) {
  if (diff.status == DiffStatus::length) return diff.truncated_by_max_tokens ? "CUT OFF" : "SHORTER";
  if (diff.status == DiffStatus::input_mismatch) return "INPUT MISMATCH";
  if (diff.status == DiffStatus::empty) return "EMPTY";
  if (diff.status == DiffStatus::not_comparable) return "NOT COMPARABLE";
  switch (diff.kind) {
    case DiffKind::hard:
      return "HARD";
    case DiffKind::soft:
      return "SOFT";
    case DiffKind::near_tie:
      return "NEAR TIE";
    case DiffKind::unknown:
      break;
  }
  return "DIVERGED";
}

std::string step_line(const RequestDiff& request) {
  const auto side = [](const char* name, const std::optional<LedgerAnswer>& answer) {
    std::string text = std::string(name) + " ";
    if (!answer || !answer->found) return text + "not in the ledger";
    text += answer->step ? "step " + std::to_string(*answer->step) : "no step makes this token";
    if (answer->prefill_steps.empty()) return text;
    text += " (prefill " + std::to_string(answer->prefill_steps.front());
    if (answer->prefill_steps.size() > 1) text += "-" + std::to_string(answer->prefill_steps.back());
    return text + ")";
  };
  return side("golden", request.golden_ledger) + ", " + side("problem", request.problem_ledger);
}

void append_request(std::string& out, const RequestDiff& request, const FirstTokenReport& report) {
  const TokenDiff& diff = request.diff;
  out += headline(diff) + "  " +
         name_of(request.id.empty() && request.prompt.empty() ? request.golden_id : request.id,
                 request.prompt, request.order, request.choice);
  if (diff.position)
    out += "   token " + std::to_string(*diff.position) + ": golden " +
           token_text(diff.golden_token, report) + ", problem " + token_text(diff.problem_token, report);
  if (diff.char_position) out += "   character " + std::to_string(*diff.char_position);
  if (diff.input_position) out += "   prompt token " + std::to_string(*diff.input_position);
  out += "\n";
  if (diff.golden_gap)
    out += "    golden's token is " + number_text(std::round(*diff.golden_gap * 1e4) / 1e4) +
           " above its best other one\n";
  if (diff.first_logprob_drift)
    out += "    log-probabilities drift from token " + std::to_string(*diff.first_logprob_drift) + " on\n";
  if (diff.position) {
    out += "    golden   " + context_line(diff.golden_context, diff.context_begin, *diff.position) + "\n";
    out += "    problem  " + context_line(diff.problem_context, diff.context_begin, *diff.position) + "\n";
  } else if (diff.char_position) {
    out += "    golden   " + printable(diff.golden_around) + "\n    problem  " +
           printable(diff.problem_around) + "\n";
  }
  if (diff.position && !diff.truncated_by_max_tokens) {
    const std::string k = std::to_string(*diff.position);
    out += "    dump with token_range [" + k + "," + k + "], or ";
    out += report.has_ledger ? step_line(request)
                             : "step o + c - 1 + " + k + " (c prefill chunks, o steps before)";
    out += "\n";
  }
  for (const std::string& advice : advice_of(diff)) out += "    " + advice + "\n";
}

std::string counted(int64_t count, const char* one, const char* many) {
  return count_text(count) + " " + (count == 1 ? one : many);
}

std::string summary_line(const FirstTokenSummary& summary) {
  const auto kind = [&](DiffKind k) { return count_text(summary.by_kind[static_cast<size_t>(k)]); };
  std::string line = "same " + count_text(summary.same) + "   diverged " + count_text(summary.diverged);
  if (summary.diverged > 0)
    line += " (hard " + kind(DiffKind::hard) + ", soft " + kind(DiffKind::soft) + ", unknown " +
            kind(DiffKind::unknown) + ", near tie " + kind(DiffKind::near_tie) + ")";
  const auto add = [&](const char* name, int64_t count) {
    if (count > 0) line += std::string("   ") + name + " " + count_text(count);
  };
  add("shorter", summary.length - summary.truncated);
  add("cut off", summary.truncated);
  add("input mismatch", summary.input_mismatch);
  add("empty", summary.empty);
  add("not comparable", summary.not_comparable);
  line += "\n";
  if (summary.minimum_position)
    line += "first differing token: earliest " + count_text(*summary.minimum_position) + ", median " +
            number_text(*summary.median_position) + "\n";
  return line;
}

}  // namespace

std::string text_of(const FirstTokenReport& report, size_t most_requests) {
  std::string out = counted(static_cast<int64_t>(report.requests.size()), "pair", "pairs") + " by " +
                    std::string(to_text(report.pairing)) + " · " + count_text(report.only_golden) +
                    " only in golden · " + count_text(report.only_problem) + " only in problem\n\n";
  size_t shown = 0, left = 0;
  int64_t drifting = 0;
  for (const RequestDiff& request : report.requests) {
    drifting += request.diff.status == DiffStatus::same && request.diff.first_logprob_drift.has_value();
    if (request.diff.status == DiffStatus::same) continue;
    if (shown < most_requests) {
      append_request(out, request, report);
      out += "\n";
      ++shown;
    } else {
      ++left;
    }
  }
  if (left > 0) out += "and " + counted(static_cast<int64_t>(left), "more request", "more requests") + "\n\n";
  if (drifting > 0)
    out += counted(drifting, "output is", "outputs are") + " the same with log-probabilities that drift\n";
  return out + summary_line(summary_of(report));
}

std::string text_of(const RunsReport& report, size_t most_requests) {
  std::string out = count_text(report.runs) + " runs of " +
                    counted(static_cast<int64_t>(report.requests.size()), "output", "outputs") + " by " +
                    std::string(to_text(report.pairing)) + "\n\n";
  int64_t same = 0, inconsistent = 0, sampled = 0;
  size_t shown = 0;
  for (const RepeatedRequest& request : report.requests) {
    if (request.distinct <= 1) {
      ++same;
      continue;
    }
    ++(request.greedy ? inconsistent : sampled);
    if (shown++ >= most_requests) continue;
    out += (request.greedy ? "INCONSISTENT  " : "sampled  ") +
           name_of(request.id, request.prompt, request.order, request.choice) + "   " +
           count_text(request.distinct) + " outputs in " + count_text(request.runs) + " runs";
    if (request.first_divergence) out += ", from token " + count_text(*request.first_divergence) + " on";
    out += "\n";
  }
  if (shown > most_requests)
    out +=
        "and " + counted(static_cast<int64_t>(shown - most_requests), "more request", "more requests") + "\n";
  if (shown > 0) out += "\n";
  out += "same " + count_text(same) + "   inconsistent " + count_text(inconsistent) + "   sampled " +
         count_text(sampled) + "\n";
  if (inconsistent > 0)
    out +=
        "a run does not equal itself: fix randomness (ulpscope guide determinism), then try launch blocking; "
        "a fault that goes with it points at memory that is overwritten\n";
  return out;
}

}  // namespace ulpscope
