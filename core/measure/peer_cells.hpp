// The texts of single cells of `--columns msprobe`: numbers, Python lists, differences of two statistics.
// Used by peer_table.cpp only. Texts are those that Python would print, so that old tables and new ones can
// be compared by diff.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "measure/peer_sums.hpp"

namespace ulpscope {

// One value of a statistics column.
struct PeerValue {
  enum class Kind : uint8_t { unmatched, none, number, integer, boolean, text };
  Kind kind = Kind::unmatched;
  double number = 0;  // of number and integer (rounded); of boolean 1 or 0
  std::string text;   // of integer (every digit) and text

  static PeerValue none() { return {Kind::none, 0, {}}; }
  static PeerValue of(double number) { return {Kind::number, number, {}}; }
  static PeerValue of_integer(std::string digits);
  static PeerValue of_boolean(bool value) { return {Kind::boolean, value ? 1.0 : 0.0, {}}; }
  static PeerValue of_text(std::string text) { return {Kind::text, 0, std::move(text)}; }
  bool is_numeric() const { return kind == Kind::number || kind == Kind::integer; }
};

// The value as its cell: NaN is "Nan", an infinity has a blank in front, nothing recorded is "None", no
// partner "N/A".
std::string value_cell(const PeerValue& value);

// The cells of difference and relative difference. Numbers are compared as numbers: 0.0 and -0.0 are equal.
std::pair<std::string, std::string> difference_cells(const PeerValue& target, const PeerValue& golden);

// The six cells of measured elements: Cosine, EucDist, MaxAbsErr, MaxRelativeErr and the two ratios.
std::vector<std::string> element_cells(const PeerSums& sums);

// repr of a Python float: "1.0", "1e-05", "inf".
std::string python_float(double value);
// repr of a Python text, in the quotes that Python would take.
std::string python_text(std::string_view text);
// repr of a list of texts.
std::string python_list(const std::vector<std::string>& texts);
// "[2, 3]".
std::string python_shape(std::span<const int64_t> shape);

// The value of a JSON text as a statistics column shows it.
PeerValue json_value(std::string_view json);
// The Python class of a JSON text, "<class 'int'>".
std::string python_class(std::string_view json, std::string_view type);
// A JSON list as Python prints it, and the number of its elements.
std::optional<std::pair<std::string, size_t>> python_json_list(std::string_view json);

}  // namespace ulpscope
