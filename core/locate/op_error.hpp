// How far apart the two sides of each row and of each op pair are, in the scale-free terms that the
// localisation reasons in (localisation: rel_l2, worst; statistics: scale-aware differences). Pure functions
// of a measured ResultTable.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "report/result_table.hpp"

namespace ulpscope {

// A mean direction of errors shows only over many elements, and only when it is larger than what single
// roundings do.
constexpr double kLeastForBias = 64;
constexpr double kBiasRoundoffs = 4;
// Of the coarsest formats of 16 bits and fewer: float16's.
constexpr double kCoarseRoundoff = 0x1p-11;
// A difference of up to this many times that of two golden runs is noise; one of more than kBeyondNoise is
// not.
constexpr double kWithinNoise = 4, kBeyondNoise = 16;

// The difference of one row.
struct RowError {
  bool comparable = false;      // both sides hold something of the same kind
  bool identical = false;       // bit-identical (data, digest), equal (statistics, values)
  bool magnitude = false;       // rel_l2 and worst are known; digests only know identical or not
  bool exact_type = false;      // integers, bool, values: any difference counts
  bool class_mismatch = false;  // NaN or infinity on one side only
  bool shape_mismatch = false;
  bool value = false;       // an argument that is not a tensor
  bool statistics = false;  // only statistics were compared
  bool truth = false;       // of truth values
  bool blind = false;       // statistics that would not show most differences: equal ones prove nothing
  double rel_l2 = 0;        // |t - g|2 / |g|2; absolute where the golden norm is 0
  double worst = 0;         // max |t - g| / rms(g); absolute where that is 0
  double bias = 0;      // |slope - 1| of target over golden: a wrong constant factor; 0 where not measured.
                        // Statistics: what all of them are off by in one direction
  double residual = 0;  // what remains of rel_l2 when that factor is taken out
  double crest = 0;     // largest |g| over its root mean square; 0 where not measured
  double absolute = 0;  // max |t - g|; 0 where only statistics are known
  double over_noise = -1;    // the difference over that of two golden runs; -1: not known
  double count = 1;          // elements behind the numbers
  bool golden_zero = false;  // golden is 0 everywhere: rel_l2 and worst are absolute, of no known scale
  double roundoff = 0;       // of the coarser dtype of the two sides; 0 for exact types
};

// Whether a call writes its result to the item: what lies there before says nothing.
bool is_destination(const DumpIndex& index, ItemId item);

RowError row_error(const ResultTable& table, int64_t row);
// That of every row.
std::vector<RowError> row_errors(const ResultTable& table, ThreadPool& pool);

// The constant factor that target comes nearest to golden with, and what remains then, relative to golden's
// norm. Golden must not be all zero.
struct Factor {
  double slope = 1, residual = 0;
};
Factor factor_of(const PairSums& sums);

// Unit roundoff of a floating or complex dtype; 0 for exact types.
double roundoff_of(DType dtype);

// All rows of one op pair together.
struct OpError {
  int64_t first_row = 0, row_count = 0;
  uint32_t op_pair = 0;
  int64_t inputs = 0, outputs = 0;  // comparable rows of each kind
  int64_t differing_inputs = 0, differing_outputs = 0;
  double in = 0, in_worst = 0;    // the largest over the inputs; infinite for a class or shape mismatch
  double out = 0, out_worst = 0;  // the same over the outputs
  double saved = 0;    // the largest of what a backward call's forward call had and gave; 0 for all others
  double in_bias = 0;  // largest bias of an input
  double in_absolute = 0, out_absolute = 0;      // max |t - g|; 0 in statistics mode
  bool noise_known = true;                       // over_noise is, for every row
  double in_over_noise = 0, out_over_noise = 0;  // the largest of each kind
  bool statistics = false;                       // some output was compared by statistics alone
  bool blind_input = false;  // some input has statistics that would not show most differences
  bool exact_input = false;  // some input of integers was compared by statistics, which hide their order
  bool blind_mask = false;   // some input is of truth values, whose statistics show next to nothing
  double bias_excess =
      0;  // largest bias of an output over what inputs and noise explain (above 1: not rounding)
  int64_t worst_output_row = -1;  // the first row of the largest output error
  bool out_class_mismatch = false, out_exact_mismatch = false, out_shape_mismatch = false;
  bool in_exact_mismatch = false, value_mismatch = false;
  int64_t value_row = -1;      // the first argument that differs
  double roundoff = 0;         // of the coarsest floating dtype among the rows
  bool dtypes_differ = false;  // of some floating row between the sides
  bool gradients = false;      // it holds gradients of parameters and nothing else: a record without inputs
  // Every floating input of the side is finer than its coarsest output.
  bool target_narrows = false, golden_narrows = false;
  double reduction = 1;  // K: how many products or terms one output element sums up
};

// One entry for each op pair that has rows on both sides, in the order of the table.
std::vector<OpError> op_errors(const ResultTable& table, const std::vector<RowError>& rows,
                               double bias_constant, ThreadPool& pool);

}  // namespace ulpscope
