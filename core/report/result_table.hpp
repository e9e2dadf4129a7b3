// What a comparison found: one row a pair, in report order, with everything that the reports, the journal and
// the localisation need. Filled by the measuring, raised by the localisation, read by the writers. Plain
// data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "index/dump_index.hpp"
#include "kernels/detail_pass.hpp"
#include "kernels/pair_kernels.hpp"
#include "match/matcher.hpp"
#include "measure/peer_sums.hpp"

namespace ulpscope {

enum class Verdict : int32_t {
  skip = ULPSCOPE_SKIP,
  pass = ULPSCOPE_PASS,
  warning = ULPSCOPE_WARNING,
  fail = ULPSCOPE_FAIL,
};
std::string_view to_text(Verdict verdict);

// What the row's numbers come from: elements, recorded statistics, checksums, or the values of an argument.
enum class Mode : uint8_t { none, data, statistics, digest, value };
std::string_view to_text(Mode mode);

enum class Cause : uint8_t { none, culprit, rounding, inherited };
std::string_view to_text(Cause cause);

// Why a row could not be judged (cli.md 4); none for rows that were.
enum class Absent : uint8_t { none, filtered, not_dumped, no_data, no_statistics, inner, no_reference, bad };
std::string_view to_text(Absent absent);

// The elements of a pair as two distributions; with offline-model and ATB sources, or on request.
struct DistributionMetrics {
  double kl_divergence = 0, target_std = 0, golden_std = 0;
};

// The elements of one pair, measured.
struct DataMetrics {
  PairSums sums;
  std::optional<DetailSums> detail;  // second pass: for pairs that do not pass, or all with --metrics all
  std::optional<PeerSums> peer;      // only where the columns of --columns msprobe are asked for
  std::optional<DistributionMetrics> distribution;
  std::vector<ulpscope_metric> judgement;  // of the chosen judgements, one after the other; else empty
  std::vector<ulpscope_element> worst;     // that those judgements name themselves, at most four each
  bool crc_mismatch_target = false, crc_mismatch_golden = false;
  uint64_t hash_target[2] = {}, hash_golden[2] = {};  // 128-bit content hash of each side
};

// A judgement's own metrics ("ulp.max_ulp_err"), for rows that a plugin judged.
struct JudgementMetrics {
  std::vector<ulpscope_metric> values;  // in the order of its descriptor
};

struct ResultRow {
  ItemPair pair;
  Mode mode = Mode::none;
  Absent absent = Absent::none;
  Verdict judged = Verdict::skip, verdict = Verdict::skip;
  Cause cause = Cause::none;
  bool unreadable = false;         // data that should have been there is missing or damaged: exit code 3
  bool grad_only = false;          // judged fail for requires_grad alone
  bool squeezed = false;           // measured after size-1 dimensions were removed
  int32_t judgement = 0;           // row of ResultTable::judgements
  int64_t metrics = -1;            // row of ResultTable::data_metrics; -1: none
  int64_t judgement_metrics = -1;  // row of ResultTable::judgement_metrics; -1: none
  int64_t producer = -1;           // inputs: the row of the output that the value came from; -1: not known
  std::string message;             // reasons, joined by "; "
};

struct Summary {
  int64_t pairs = 0, pass = 0, warning = 0, fail = 0, skip = 0;
  int64_t only_target = 0, only_golden = 0, unreadable = 0, diagnostics = 0;
};

// An element of a tensor by its place.
struct PlacedElement {
  std::vector<int64_t> index;
  double target = 0, golden = 0;
};

struct Culprit {
  OpId op = kNoIndex;  // of the target; kNoIndex: of the golden side only
  std::string op_name, tensor, kind, confidence, module;
  int32_t step = -1, rank = -1, token = -1;
  std::vector<std::string> stack, next;
  std::vector<std::pair<std::string, std::string>> evidence;  // name and number or text, in order of weight
  std::vector<PlacedElement> worst;
  int64_t row = -1;  // row of the table that decided
};

struct Localisation {
  std::string verdict = "inconclusive";
  std::vector<Culprit> culprits, suspects;
  int64_t propagated = 0;
  std::vector<std::string> notes;
  // Rows of indexes that differ, taken for ties without a look at the values. Claimed: the inputs are equal,
  // so that each is one only where the values say so.
  std::vector<int64_t> assumed_ties, claimed_ties;
  std::vector<std::string> explanations;  // for --explain, one paragraph an op
};

// A side of the run as the reports name it.
struct SideInfo {
  std::string path, source, task, level;
  int64_t ops = 0, tensors = 0;
};

struct ResultTable {
  const DumpIndex* target = nullptr;  // both outlive the table
  const DumpIndex* golden = nullptr;
  std::optional<SideInfo> reference;  // of a three-way judgement
  PairList pairs;
  std::vector<ResultRow> rows;  // one for each of pairs.items, same order
  std::vector<DataMetrics> data_metrics;
  std::vector<std::string> judgements;                      // names; row 0 is "similarity"
  std::vector<std::vector<std::string>> judgement_columns;  // for each judgement its metric names
  std::vector<JudgementMetrics> judgement_metrics;
  Localisation localisation;
  std::vector<Diagnostic> diagnostics;
  int64_t diagnostic_count = 0;
  int64_t measured_again = 0;  // rows that a resumed run had measured, of files that may have changed since
  std::vector<std::string> command;
  std::string policy_file, policy_profile = "seed", policy_hash;
};

SideInfo side_info(const DumpIndex& index);
Summary summarise(const ResultTable& table);

}  // namespace ulpscope
