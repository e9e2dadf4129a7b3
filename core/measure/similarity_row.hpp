// The part of the similarity rules that looks at one row alone: classes, exact types, dtype, shape,
// requires_grad, single elements, checksums, values. Also gathers what the rules over an entry need. Used by
// similarity.cpp only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure/pair_reader.hpp"
#include "measure/similarity.hpp"
#include "measure/statistics.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// The reasons of a row and the worst verdict among them.
class Reasons {
 public:
  void add(Verdict verdict, std::string_view reason);
  // A reason that changes no verdict.
  void note(std::string_view reason) { add(Verdict::pass, reason); }
  void add_grad(std::string_view reason);

  Verdict verdict() const { return verdict_; }
  // Failed for requires_grad and for nothing else.
  bool grad_only() const { return grad_failed_ && !other_failed_; }
  const std::string& text() const { return text_; }

 private:
  Verdict verdict_ = Verdict::pass;
  bool grad_failed_ = false, other_failed_ = false;
  std::string text_;
};

// One side of a row. Views stay valid as long as the facts and the index.
struct FactSide {
  DType dtype = DType::none;
  std::span<const int64_t> shape;
  int64_t count = 0;  // elements; -1 when they do not fit
};

// One row with everything that its rules look at. norm: relative difference of the l2norms, infinite where it
// has no bound.
struct RowFacts {
  ResultRow* row = nullptr;
  Role role = Role::input;
  bool is_judged = false;  // both sides are there and were compared
  const TensorRow *tensor_target = nullptr, *tensor_golden = nullptr;
  FactSide target, golden;
  Shape joined;  // the shape of the side that is a merge
  const PairSums* sums = nullptr;
  StatisticsComparison statistics;
  std::optional<double> ratio, cosine, norm;
  Reasons reasons;

  bool is_output() const { return role == Role::output || role == Role::gradient; }
  int64_t count() const { return target.count; }
  bool has_one_shape() const { return std::ranges::equal(target.shape, golden.shape); }
};

// How the rows of one comparison are looked at.
struct RowContext {
  const ResultTable& table;
  const SimilarityOptions& options;
  bool one_family = true;  // both dumps come from one family of sources
  bool merged = false;     // training against inference: size-1 dimensions and requires_grad do not count
};

// Fills everything but reasons.
RowFacts gather_facts(ResultRow& row, const RowContext& context);

// Runs the rules of the row alone.
void apply_row_rules(RowFacts& facts, const RowContext& context);

// Elements of such types are equal or not; there is no nearly.
bool is_exact(DType dtype);

// The floor under which an absolute or relative difference is noise: the unit roundoff of the coarser dtype,
// at least options.floor_absolute.
double noise_floor(const RowFacts& facts, const SimilarityOptions& options);

}  // namespace ulpscope
