// A value of a configuration, whatever it was written in: JSON, a Python print, a word of a shell command.
// Numbers keep their text, so that a report shows what the file says; they compare by value. Used by
// config-check only; knows no file and no key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {

enum class ConfigKind : uint8_t { null, boolean, number, text, list, object };

struct ConfigMember;

struct ConfigValue {
  // Outside, where a member is a whole type.
  ConfigValue();
  ~ConfigValue();
  ConfigValue(const ConfigValue&);
  ConfigValue(ConfigValue&&) noexcept;
  ConfigValue& operator=(const ConfigValue&);
  ConfigValue& operator=(ConfigValue&&) noexcept;

  ConfigKind kind = ConfigKind::null;
  bool truth = false;                 // of a boolean
  std::string text;                   // of a text, or a number as it is written
  std::vector<ConfigValue> items;     // of a list
  std::vector<ConfigMember> members;  // of an object

  bool is_null() const { return kind == ConfigKind::null; }
  bool is_text() const { return kind == ConfigKind::text; }
  std::optional<double> number() const;
  // The member of that name; null when there is none.
  const ConfigValue* find(std::string_view name) const;

  static ConfigValue of_text(std::string text);
  static ConfigValue of_number(std::string text);
  static ConfigValue of_bool(bool truth);
};

// One member of an object: name and value.
struct ConfigMember {
  std::string first;
  ConfigValue second;
  ConfigMember(std::string name, ConfigValue value) : first(std::move(name)), second(std::move(value)) {}
};

// Leaves by path: "rope_scaling.factor", "ModelConfig[0].worldSize" for lists of objects; any other list is
// one leaf. Empty objects and null give none.
using ConfigLeaves = std::vector<std::pair<std::string, ConfigValue>>;

// The JSON value of a file. io; format: not JSON, or deeper or larger than any configuration (64 levels, 4
// million values, 64 MiB of text). limit_bytes is for the file.
Result<ConfigValue> read_config_json(const std::string& path, uint64_t limit_bytes = uint64_t{256} << 20);
// The same of a text; where is what an error calls it.
Result<ConfigValue> parse_config_json(std::string_view text, const std::string& where);

// A word of a command line or a Python print as the value it stands for: true, 2, 1e-3, {"a": 1}, else a
// text.
ConfigValue value_of_word(const std::string& word);

// By value: 1 and 1.0 are equal, lists by element, objects by member. A number equals a text that is it.
bool equal_values(const ConfigValue& a, const ConfigValue& b);

// Numbers rounded to float32 first: 0.69999998 and 0.7 are equal.
bool equal_as_float32(const ConfigValue& a, const ConfigValue& b);

ConfigLeaves leaves_of(const ConfigValue& value, const std::string& prefix = "");

// JSON on one line; members sorted when canonical, numbers then in their shortest form.
std::string config_json(const ConfigValue& value, bool canonical = false);

}  // namespace ulpscope
