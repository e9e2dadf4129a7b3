#include "measure/peer_cells.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr double kPowerOf12 = 1e12, kPowerOf6 = 1e6;

// 10^exponent rounded once, for exponents up to 308.
double power_of_ten(int64_t exponent) { return parse_double("1e" + std::to_string(exponent)).value_or(0); }

double rounded(double value, double power) {
  const double scaled = value * power;
  return std::isfinite(scaled) ? std::nearbyint(scaled) / power : value;
}

// A decimal text as the older tool reads it back before it subtracts: at most 17 digits, leading zeros among
// them, gathered in a double, then one multiplication or division by a power of ten. The last digits of its
// differences come from this.
double reread(std::string_view text) {
  constexpr int kDigits = 17;
  const bool negative = !text.empty() && text.front() == '-';
  size_t at = negative ? 1 : 0;
  double number = 0;
  int digits = 0;
  int64_t exponent = 0;
  bool in_fraction = false;
  for (; at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) != 0 || text[at] == '.');
       ++at) {
    if (text[at] == '.') {
      in_fraction = true;
    } else if (digits < kDigits) {
      number = number * 10 + (text[at] - '0');
      ++digits;
      exponent -= in_fraction ? 1 : 0;
    } else {
      exponent += in_fraction ? 0 : 1;
    }
  }
  if (at < text.size() && text[at] == 'e') {
    const size_t sign = at + 1 < text.size() && text[at + 1] == '+' ? 1 : 0;
    exponent += parse_int(text.substr(at + 1 + sign)).value_or(0);
  }
  // Exponents of doubles, and of 17 digits of them, stay within 400.
  for (; exponent < -308; exponent += 308) number /= 1e308;
  number = exponent < 0 ? number / power_of_ten(-exponent) : number * power_of_ten(exponent);
  return negative ? -number : number;
}

// How the older table sorts the two values of a statistic.
enum class CellClass : uint8_t {
  number,
  nan,
  positive_infinity,
  negative_infinity,
  device,
  unmatched,
  other
};

CellClass class_of(const PeerValue& value) {
  if (value.kind == PeerValue::Kind::unmatched) return CellClass::unmatched;
  if (value.is_numeric()) {
    if (std::isnan(value.number)) return CellClass::nan;
    if (std::isinf(value.number))
      return value.number > 0 ? CellClass::positive_infinity : CellClass::negative_infinity;
    return CellClass::number;
  }
  if (value.kind != PeerValue::Kind::text) return CellClass::other;
  const std::string lower = to_lower(value.text);
  for (const char* device : {"npu", "cpu", "cuda"})
    if (lower.find(device) != std::string::npos) return CellClass::device;
  return CellClass::other;
}

// Rows: target; columns: golden; both in the order of CellClass. Empty: two numbers, or equal.
constexpr std::array<std::array<std::string_view, 7>, 7> kDifferences = {{
    {"", "Nan", "-inf", "inf", "Diff", "N/A", "Diff"},
    {"Nan", "", "Nan", "Nan", "Diff", "N/A", "Diff"},
    {"inf", "Nan", "", "inf", "Diff", "N/A", "Diff"},
    {"-inf", "Nan", "-inf", "", "Diff", "N/A", "Diff"},
    {"Diff", "Diff", "Diff", "Diff", "N/A", "N/A", "Diff"},
    {"N/A", "N/A", "N/A", "N/A", "N/A", "N/A", "N/A"},
    {"Diff", "Diff", "Diff", "Diff", "Diff", "N/A", "Diff"},
}};

std::string cosine_cell(const PeerSums& sums) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const double target = std::sqrt(sums.squares_target), golden = std::sqrt(sums.squares_golden);
  if (target <= kEpsilon && golden <= kEpsilon) return "1.0";
  if (target <= kEpsilon || golden <= kEpsilon) return "Nan";
  double cosine = rounded(sums.dot / (target * golden), kPowerOf12);
  if (std::isnan(cosine)) return "Nan";
  if (cosine > 0.9999) cosine = rounded(cosine, kPowerOf6);
  return python_float(cosine);
}

// A single element counts as a scalar: numpy then takes float32 wherever the values fit.
std::vector<std::string> single_cells(const PeerSums& sums) {
  const double target = sums.first_target, golden = sums.first_golden;
  std::vector<std::string> cells(6, "unsupported");
  if (sums.nonfinite > 0) {
    cells[2] = cells[3] = "Nan";
    return cells;
  }
  constexpr double kLargest = std::numeric_limits<float>::max();
  const bool single = std::fabs(target) <= kLargest && std::fabs(golden) <= kLargest;
  cells[2] = python_float(rounded(std::fabs(target - golden), kPowerOf12));
  cells[3] = python_float(rounded(peer_relative_error(target, golden, single), kPowerOf12));
  return cells;
}

bool parse(rapidjson::Document& document, std::string_view json) {
  document.Parse<rapidjson::kParseFullPrecisionFlag | rapidjson::kParseIterativeFlag>(json.data(),
                                                                                      json.size());
  return !document.HasParseError();
}

std::string python_scalar(const rapidjson::Value& value) {
  if (value.IsString()) return python_text({value.GetString(), value.GetStringLength()});
  if (value.IsInt64()) return std::to_string(value.GetInt64());
  if (value.IsUint64()) return std::to_string(value.GetUint64());
  if (value.IsNumber()) return python_float(value.GetDouble());
  if (value.IsBool()) return value.GetBool() ? "True" : "False";
  return "None";
}

}  // namespace

PeerValue PeerValue::of_integer(std::string digits) {
  const double number = parse_double(digits).value_or(0);
  return {Kind::integer, number, std::move(digits)};
}

std::string value_cell(const PeerValue& value) {
  switch (value.kind) {
    case PeerValue::Kind::unmatched:
      return "N/A";
    case PeerValue::Kind::none:
      return "None";
    case PeerValue::Kind::boolean:
      return value.number != 0 ? "True" : "False";
    case PeerValue::Kind::integer:
    case PeerValue::Kind::text:
      return value.text;
    case PeerValue::Kind::number:
      break;
  }
  if (std::isnan(value.number)) return "Nan";
  return (std::isinf(value.number) ? " " : "") + python_float(value.number);
}

// difference = t - g; relative = |t / g| in percent of the difference, that is |(t - g) / g * 100|; golden 0:
// inf.
std::pair<std::string, std::string> difference_cells(const PeerValue& target, const PeerValue& golden) {
  if (target.kind != PeerValue::Kind::unmatched && value_cell(target) == value_cell(golden))
    return {"0", "0"};
  const CellClass t = class_of(target), g = class_of(golden);
  if (t == CellClass::number && g == CellClass::number) {
    if (golden.number == 0 && target.number == 0) return {"0", "0"};
    const double divisor = reread(value_cell(golden)), difference = reread(value_cell(target)) - divisor;
    if (divisor == 0) return {python_float(difference), "inf"};
    return {python_float(difference), python_float(std::fabs(difference / divisor * 100)) + "%"};
  }
  const std::string text(kDifferences[static_cast<size_t>(t)][static_cast<size_t>(g)]);
  return {text, text};
}

std::vector<std::string> element_cells(const PeerSums& sums) {
  if (sums.elements == 1) return single_cells(sums);
  if (sums.nan_moved > 0 || sums.infinity_moved > 0) return std::vector<std::string>(6, "N/A");
  const auto count = static_cast<double>(sums.elements);
  return {cosine_cell(sums),
          python_float(std::sqrt(sums.squared_error)),
          python_float(rounded(sums.max_absolute, kPowerOf12)),
          python_float(rounded(sums.max_relative, kPowerOf12)),
          python_float(rounded(static_cast<double>(sums.within_1e3) / count, kPowerOf12)),
          python_float(rounded(static_cast<double>(sums.within_5e3) / count, kPowerOf12))};
}

std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string python_text(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = single ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\')
      out.append(1, '\\').append(1, c);
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + quote;
}

std::string python_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (size_t i = 0; i < texts.size(); ++i) out.append(i == 0 ? "" : ", ").append(python_text(texts[i]));
  return out + "]";
}

std::string python_shape(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

PeerValue json_value(std::string_view json) {
  rapidjson::Document document;
  if (!parse(document, json)) return PeerValue::of_text(std::string(json));
  if (document.IsBool()) return PeerValue::of_boolean(document.GetBool());
  if (document.IsInt64() || document.IsUint64()) return PeerValue::of_integer(std::string(json));
  if (document.IsNumber()) return PeerValue::of(document.GetDouble());
  if (document.IsNull()) return PeerValue::none();
  if (document.IsString()) return PeerValue::of_text({document.GetString(), document.GetStringLength()});
  if (const auto list = python_json_list(json)) return PeerValue::of_text(list->first);
  return PeerValue::of_text(std::string(json));
}

std::string python_class(std::string_view json, std::string_view type) {
  const PeerValue value = json_value(json);
  if (json.substr(0, 1) == "[") return "<class 'list'>";
  switch (value.kind) {
    case PeerValue::Kind::boolean:
      return "<class 'bool'>";
    case PeerValue::Kind::integer:
      return "<class 'int'>";
    case PeerValue::Kind::number:
      return "<class 'float'>";
    case PeerValue::Kind::text:
      return type == "float" ? "<class 'float'>" : "<class 'str'>";
    default:
      return "<class 'NoneType'>";
  }
}

std::optional<std::pair<std::string, size_t>> python_json_list(std::string_view json) {
  rapidjson::Document document;
  if (!parse(document, json) || !document.IsArray()) return std::nullopt;
  std::string out = "[";
  for (rapidjson::SizeType i = 0; i < document.Size(); ++i)
    out.append(i == 0 ? "" : ", ").append(python_scalar(document[i]));
  return std::pair(out + "]", static_cast<size_t>(document.Size()));
}

}  // namespace ulpscope
