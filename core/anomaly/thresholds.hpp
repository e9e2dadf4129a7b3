// The numbers that the rules of anomaly go by. Defaults were adjusted on documentation and code, not on
// outputs of models, so every one of them is a setting. Pure values.
#pragma once

#include <string>

#include "base/result.hpp"

namespace ulpscope {

// "stopped": for an output that ended by itself; texts are counted in code points.
struct Thresholds {
  double garbled_replacement_count = 3, garbled_replacement_share = 0.01;
  double garbled_unknown_count = 2, garbled_mojibake_count = 3;
  double garbled_control_count = 3, garbled_control_share = 0.02;
  double whitespace_length = 40, whitespace_share = 0.6, whitespace_run = 64, empty_length = 32;
  double tail_period = 2000, tail_repeats = 4, tail_span = 60;
  double tail_repeats_stopped = 8, tail_span_stopped = 120, rule_span = 200;
  double token_period = 4096, token_repeats = 4, token_span = 24;
  double token_repeats_stopped = 8, token_span_stopped = 48;
  double line_length = 8, line_count = 5, line_share = 0.4;
  double ngram_units = 120, ngram_share = 0.6;
  double mix_run = 2, mix_letters = 3, switch_share = 0.5;
  double logprob_above = 1e-6;
  double confidence_window = 128, confidence_step = 64, confidence_sum = 0.4, confidence_share = 0.2;
  double early_stop_share = 0.3;
};

// Sets what a YAML file of names and numbers names; the others stay. usage: an unknown name, no number, or a
// number below 0; with the file and line. io: the file cannot be read.
Status read_thresholds(const std::string& path, Thresholds& thresholds);

}  // namespace ulpscope
