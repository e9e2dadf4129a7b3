// The constants of the localisation, read from priors.yaml (compiled in): how much an operation of each class
// may amplify what comes in, and where a difference stops being rounding. Every value stands there with its
// reason.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ulpscope {

struct OpClass {
  std::string name;
  std::vector<std::string> types;  // globs over the op type, lower case
  double kappa = 1;                // largest healthy growth of an input error
  // An amplification up to this, in log2, is ordinary whatever the rest of the group does; ordinary_bits
  // counts where it is larger.
  double usual_bits = 0;
  // When not 0: the output's relative error is at most e^(this * absolute input error) - 1.
  double absolute_kappa = 0;
  bool wide_sums = false;  // products of 16-bit formats are summed up in a wider one
  bool selects =
      false;  // the result holds some of the input's elements: its statistics do not follow from theirs
  // Not infinite: all types of the class are one control group, whose outliers are as far above its median,
  // in log2, whatever the scatter.
  double distant_bits = std::numeric_limits<double>::infinity();
  bool sensitive = true;  // the result depends on how it is computed (order of sums, approximations)
};

struct Priors {
  std::vector<OpClass> classes;    // the first match decides
  double other_kappa = 1;          // of an op that matches none
  double format_constant = 1;      // c in e_out <= c * (kappa * e_in + u * sqrt(K))
  double worst_constant = 1;       // the same for the worst element
  double outlier_bits = 1;         // least distance of an outlier from its group's median, in log2
  double outlier_deviations = 1;   // the same in robust standard deviations
  double ordinary_bits = 0;        // an amplification up to this, in log2, is ordinary for every type
  double own_rounding_size = 1;    // calls with clean inputs that show how far one is off by itself
  double own_rounding_factor = 1;  // and how much further than they another one may be off
  double rewired_factor = 1;       // an error above this many times those of its producers is not theirs
  double bias_constant = 1;        // |slope - 1| of an output above this many of its inputs' bias and noise
  double deterministic_share = 1;  // of ops with identical inputs that must have identical outputs
  double clean_input = 1;          // statistics: inputs closer than this many roundoffs are clean
  double external_constant = 1;    // an external input off by more than this many roundoffs is no rounding
  int group_size = 1;              // calls that make a control group of their own
  double statistics_bits = 1;      // least distance of an outlier where statistics were compared
  double statistics_factor = 1;  // an amplification above this many times those of most others is an outlier
  double roundings_of_product = 1;  // of a product of 16-bit formats, in place of sqrt(K)
  int small_group_size = 1;         // calls that make one in which only distant outliers count
  double rare_type_bits = 1;        // least distance of an outlier among all calls of its class, in log2
  double small_group_bits = 1;      // least distance of an outlier from the median of such a group, in log2

  const OpClass* class_of(std::string_view type) const;  // null: none matches
  double kappa(std::string_view type) const;
};

// The compiled-in table. Fails only when that table is broken.
Result<Priors> load_priors();
// The same from a text, with line and column in errors.
Result<Priors> parse_priors(std::string_view yaml);

}  // namespace ulpscope
