#include "anomaly/thresholds.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/suggest.hpp"
#include "base/text.hpp"
#include "match/yaml_limits.hpp"

namespace ulpscope {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 20;

constexpr std::array<std::pair<std::string_view, double Thresholds::*>, 35> kMembers = {
    {{"garbled_replacement_count", &Thresholds::garbled_replacement_count},
     {"garbled_replacement_share", &Thresholds::garbled_replacement_share},
     {"garbled_unknown_count", &Thresholds::garbled_unknown_count},
     {"garbled_mojibake_count", &Thresholds::garbled_mojibake_count},
     {"garbled_control_count", &Thresholds::garbled_control_count},
     {"garbled_control_share", &Thresholds::garbled_control_share},
     {"whitespace_length", &Thresholds::whitespace_length},
     {"whitespace_share", &Thresholds::whitespace_share},
     {"whitespace_run", &Thresholds::whitespace_run},
     {"empty_length", &Thresholds::empty_length},
     {"tail_period", &Thresholds::tail_period},
     {"tail_repeats", &Thresholds::tail_repeats},
     {"tail_span", &Thresholds::tail_span},
     {"tail_repeats_stopped", &Thresholds::tail_repeats_stopped},
     {"tail_span_stopped", &Thresholds::tail_span_stopped},
     {"rule_span", &Thresholds::rule_span},
     {"token_period", &Thresholds::token_period},
     {"token_repeats", &Thresholds::token_repeats},
     {"token_span", &Thresholds::token_span},
     {"token_repeats_stopped", &Thresholds::token_repeats_stopped},
     {"token_span_stopped", &Thresholds::token_span_stopped},
     {"line_length", &Thresholds::line_length},
     {"line_count", &Thresholds::line_count},
     {"line_share", &Thresholds::line_share},
     {"ngram_units", &Thresholds::ngram_units},
     {"ngram_share", &Thresholds::ngram_share},
     {"mix_run", &Thresholds::mix_run},
     {"mix_letters", &Thresholds::mix_letters},
     {"switch_share", &Thresholds::switch_share},
     {"logprob_above", &Thresholds::logprob_above},
     {"confidence_window", &Thresholds::confidence_window},
     {"confidence_step", &Thresholds::confidence_step},
     {"confidence_sum", &Thresholds::confidence_sum},
     {"confidence_share", &Thresholds::confidence_share},
     {"early_stop_share", &Thresholds::early_stop_share}}};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, member] : kMembers) all.emplace_back(name);
  return all;
}

std::string place(const std::string& path, const YAML::Mark& mark) {
  return printable(path) + ":" + std::to_string(mark.line + 1);
}

Status set_member(const std::string& path, const YAML::Node& name, const YAML::Node& value,
                  Thresholds& thresholds) {
  const std::string word = name.IsScalar() ? name.Scalar() : std::string();
  const auto found = std::find_if(kMembers.begin(), kMembers.end(),
                                  [&](const auto& member) { return member.first == word; });
  if (found == kMembers.end())
    return Error{Code::usage, place(path, name.Mark()) + ": unknown threshold '" + printable(word) + "'" +
                                  suggestion(word, names())};
  const auto number = value.IsScalar() ? parse_double(value.Scalar()) : std::nullopt;
  if (!number || !std::isfinite(*number) || *number < 0)
    return Error{Code::usage, place(path, value.Mark()) + ": " + word + ": expected a number from 0 on"};
  thresholds.*found->second = *number;
  return {};
}

}  // namespace

Status read_thresholds(const std::string& path, Thresholds& thresholds) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  ULPSCOPE_ASSIGN(const std::string text, file.read_text(kMostBytes));
  ULPSCOPE_TRY(check_yaml(printable(path), text));
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsNull()) return {};
    if (!root.IsMap())
      return Error{Code::usage, printable(path) + ": expected names and numbers, one a line"};
    for (const auto& member : root) ULPSCOPE_TRY(set_member(path, member.first, member.second, thresholds));
  } catch (const YAML::Exception& problem) {
    return Error{Code::usage, place(path, problem.mark) + ": " + problem.msg};
  }
  return {};
}

}  // namespace ulpscope
