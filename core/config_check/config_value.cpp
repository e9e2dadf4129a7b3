#include "config_check/config_value.hpp"

#include <algorithm>
#include <cmath>

#include "base/file.hpp"
#include "base/text.hpp"
#include "report/json_text.hpp"

namespace ulpscope {
namespace {

ConfigValue from_tape(const JsonTape& tape, uint32_t node) {
  const JsonNode& at = tape.at(node);
  ConfigValue value;
  switch (at.kind) {
    case JsonKind::null:
      break;
    case JsonKind::boolean:
      return ConfigValue::of_bool(at.truth);
    case JsonKind::number:
      return ConfigValue::of_number(std::string(tape.text(node)));
    case JsonKind::text:
      return ConfigValue::of_text(std::string(tape.text(node)));
    case JsonKind::array:
      value.kind = ConfigKind::list;
      for (uint32_t i = node + 1; i != at.next; i = tape.at(i).next)
        value.items.push_back(from_tape(tape, i));
      break;
    case JsonKind::object:
      value.kind = ConfigKind::object;
      for (uint32_t i = node + 1; i != at.next; i = tape.at(i).next)
        value.members.emplace_back(std::string(tape.key(i)), from_tape(tape, i));
      break;
  }
  return value;
}

Result<ConfigValue> read_all(JsonLexer& lexer, const std::string& where) {
  JsonTape tape;
  switch (tape.read(lexer)) {
    case JsonRead::ok:
      break;
    case JsonRead::too_deep:
      return Error{Code::format, where + ": nested deeper than 64 levels, expected a configuration"};
    case JsonRead::too_large:
      return Error{Code::format,
                   where + ": larger than any configuration (4 million values, 64 MiB of text)"};
    case JsonRead::broken:
      return Error{lexer.error().code, where + ": not JSON: " + lexer.error().message};
  }
  if (lexer.next() != JsonToken::end)
    return Error{Code::format, where + ": byte " + std::to_string(lexer.offset()) +
                                   ": text after the JSON value, expected the end"};
  return from_tape(tape, 0);
}

// What a number or a text that is one stands for; a boolean is no number.
std::optional<double> numeric(const ConfigValue& value) {
  if (value.kind != ConfigKind::number && value.kind != ConfigKind::text) return std::nullopt;
  return parse_double(value.text);
}

template <class Same>
bool equal_by(const ConfigValue& a, const ConfigValue& b, Same same_number) {
  if (a.kind == ConfigKind::list && b.kind == ConfigKind::list) {
    return std::equal(
        a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
        [&](const ConfigValue& x, const ConfigValue& y) { return equal_by(x, y, same_number); });
  }
  if (a.kind == ConfigKind::object && b.kind == ConfigKind::object) {
    if (a.members.size() != b.members.size()) return false;
    const auto sorted = [](const ConfigValue& value) {
      std::vector<const ConfigMember*> members;
      for (const auto& member : value.members) members.push_back(&member);
      std::sort(members.begin(), members.end(), [](auto* x, auto* y) { return x->first < y->first; });
      return members;
    };
    const auto left = sorted(a), right = sorted(b);
    for (size_t i = 0; i < left.size(); ++i)
      if (left[i]->first != right[i]->first || !equal_by(left[i]->second, right[i]->second, same_number))
        return false;
    return true;
  }
  if (a.kind == ConfigKind::number || b.kind == ConfigKind::number) {
    const auto x = numeric(a), y = numeric(b);
    return x && y && same_number(*x, *y, a, b);
  }
  if (a.kind != b.kind) return false;
  return a.kind == ConfigKind::boolean ? a.truth == b.truth : a.text == b.text;
}

// Integers beyond 2^53 by their digits, everything else as doubles.
bool same_double(double x, double y, const ConfigValue& a, const ConfigValue& b) {
  const auto exact_x = parse_int(a.text), exact_y = parse_int(b.text);
  if (exact_x && exact_y) return *exact_x == *exact_y;
  return (std::isnan(x) && std::isnan(y)) || (x <= y && x >= y);
}

void add_leaves(const ConfigValue& value, const std::string& path, ConfigLeaves& leaves) {
  if (value.kind == ConfigKind::object) {
    for (const auto& [name, member] : value.members)
      add_leaves(member, path.empty() ? name : path + "." + name, leaves);
    return;
  }
  const bool holds_objects = value.kind == ConfigKind::list && !value.items.empty() &&
                             std::all_of(value.items.begin(), value.items.end(), [](const ConfigValue& item) {
                               return item.kind == ConfigKind::object;
                             });
  if (holds_objects) {
    for (size_t i = 0; i < value.items.size(); ++i)
      add_leaves(value.items[i], path + "[" + std::to_string(i) + "]", leaves);
  } else if (!value.is_null()) {
    leaves.emplace_back(path, value);
  }
}

void append_json(std::string& out, const ConfigValue& value, bool canonical) {
  switch (value.kind) {
    case ConfigKind::null:
      out += "null";
      return;
    case ConfigKind::boolean:
      out += value.truth ? "true" : "false";
      return;
    case ConfigKind::number:
      if (canonical && !parse_int(value.text))
        append_json_number(out, parse_double(value.text).value_or(0));
      else
        append_json_number_or_string(out, value.text);
      return;
    case ConfigKind::text:
      append_json_string(out, value.text);
      return;
    case ConfigKind::list:
      out += "[";
      for (size_t i = 0; i < value.items.size(); ++i) {
        if (i > 0) out += ", ";
        append_json(out, value.items[i], canonical);
      }
      out += "]";
      return;
    case ConfigKind::object:
      break;
  }
  std::vector<const ConfigMember*> members;
  for (const auto& member : value.members) members.push_back(&member);
  if (canonical)
    std::stable_sort(members.begin(), members.end(), [](auto* a, auto* b) { return a->first < b->first; });
  out += "{";
  for (size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, members[i]->first);
    out += ": ";
    append_json(out, members[i]->second, canonical);
  }
  out += "}";
}

}  // namespace

ConfigValue::ConfigValue() = default;
ConfigValue::~ConfigValue() = default;
ConfigValue::ConfigValue(const ConfigValue&) = default;
ConfigValue::ConfigValue(ConfigValue&&) noexcept = default;
ConfigValue& ConfigValue::operator=(const ConfigValue&) = default;
ConfigValue& ConfigValue::operator=(ConfigValue&&) noexcept = default;

std::optional<double> ConfigValue::number() const { return numeric(*this); }

const ConfigValue* ConfigValue::find(std::string_view name) const {
  for (const auto& member : members)
    if (member.first == name) return &member.second;
  return nullptr;
}

ConfigValue ConfigValue::of_text(std::string text) {
  ConfigValue value;
  value.kind = ConfigKind::text;
  value.text = std::move(text);
  return value;
}

ConfigValue ConfigValue::of_number(std::string text) {
  ConfigValue value = of_text(std::move(text));
  value.kind = ConfigKind::number;
  return value;
}

ConfigValue ConfigValue::of_bool(bool truth) {
  ConfigValue value;
  value.kind = ConfigKind::boolean;
  value.truth = truth;
  return value;
}

Result<ConfigValue> read_config_json(const std::string& path, uint64_t limit_bytes) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  if (file.size() > limit_bytes)
    return Error{Code::format, path + ": " + size_text(file.size()) +
                                   ", expected a configuration of at most " + size_text(limit_bytes)};
  JsonLexer lexer(file);
  return read_all(lexer, path);
}

Result<ConfigValue> parse_config_json(std::string_view text, const std::string& where) {
  JsonLexer lexer(text);
  return read_all(lexer, where);
}

ConfigValue value_of_word(const std::string& word) {
  if (word == "true" || word == "True") return ConfigValue::of_bool(true);
  if (word == "false" || word == "False") return ConfigValue::of_bool(false);
  if (word == "null" || word == "None") return {};
  if (is_json_number(word)) return ConfigValue::of_number(word);
  if (!word.empty() && (word[0] == '{' || word[0] == '[')) {
    auto parsed = parse_config_json(word, "");
    if (parsed.ok()) return std::move(parsed).value();
  }
  return ConfigValue::of_text(word);
}

bool equal_values(const ConfigValue& a, const ConfigValue& b) { return equal_by(a, b, same_double); }

bool equal_as_float32(const ConfigValue& a, const ConfigValue& b) {
  return equal_by(a, b, [](double x, double y, const ConfigValue& left, const ConfigValue& right) {
    if (same_double(x, y, left, right)) return true;
    if (parse_int(left.text) && parse_int(right.text)) return false;
    const auto narrow = [](double v) { return static_cast<double>(static_cast<float>(v)); };
    return std::fabs(x) < 3e38 && std::fabs(y) < 3e38 && same_double(narrow(x), narrow(y), {}, {});
  });
}

ConfigLeaves leaves_of(const ConfigValue& value, const std::string& prefix) {
  ConfigLeaves leaves;
  add_leaves(value, prefix, leaves);
  return leaves;
}

std::string config_json(const ConfigValue& value, bool canonical) {
  std::string out;
  append_json(out, value, canonical);
  return out;
}

}  // namespace ulpscope
