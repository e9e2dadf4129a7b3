#include "formats/atb_config.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "formats/atb_names.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

constexpr std::array<std::string_view, 8> kKeys = {"task",    "dump_enable", "exec_range", "ids",
                                                   "op_name", "save_child",  "device",     "filter_level"};

bool is_id(std::string_view text) {
  const auto parts = split(text, '_');
  return std::all_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return parse_atb_number(part).has_value(); });
}

class Checker {
 public:
  explicit Checker(const JsonTape& tape) : tape_(tape) {}

  std::vector<std::string> run() {
    for (uint32_t i = 1; i != tape_.at(0).next; i = tape_.at(i).next)
      if (std::find(kKeys.begin(), kKeys.end(), tape_.key(i)) == kKeys.end())
        say(printable(tape_.key(i)) + ": not a key of the probe, it is ignored");
    check_enable();
    check_task();
    check_range();
    check_choice();
    check_level();
    return std::move(findings_);
  }

 private:
  void say(std::string text) { findings_.push_back(std::move(text)); }

  // The text of a key; empty where it is missing. A value of another type counts as missing.
  std::string_view text_of(std::string_view key) {
    const uint32_t node = tape_.find(0, key);
    if (node == JsonTape::kNone) return {};
    if (tape_.is(node, JsonKind::text)) return tape_.text(node);
    say(std::string(key) + ": expected a text, any other value counts as missing");
    return {};
  }

  void check_enable() {
    const uint32_t node = tape_.find(0, "dump_enable");
    if (!tape_.is(node, JsonKind::boolean))
      say("dump_enable: expected true without quotes, anything else counts as false and nothing is dumped");
    else if (!tape_.at(node).truth)
      say("dump_enable: false, nothing is dumped");
    const uint32_t child = tape_.find(0, "save_child");
    if (child != JsonTape::kNone && !tape_.is(child, JsonKind::boolean))
      say("save_child: expected true or false without quotes, anything else counts as false");
  }

  void check_task() {
    const std::string_view task = text_of("task");
    if (!task.empty() && task != "tensor" && task != "statistics" && task != "all")
      say("task: \"" + printable(task) +
          "\" is none of tensor, statistics and all, the probe writes no data for it");
  }

  void check_range() {
    const uint32_t node = tape_.find(0, "exec_range");
    if (node == JsonTape::kNone) say("exec_range: missing, only round 0 is dumped");
    const std::string_view range = text_of("exec_range");
    if (range == "all" || range.empty()) return;
    if (range == "none") return say("exec_range: none, nothing is dumped");
    const auto numbers = split(range, ',');
    for (size_t i = 0; i < numbers.size(); i += 2) {
      const auto first = parse_atb_number(numbers[i]);
      const auto last = i + 1 < numbers.size() ? parse_atb_number(numbers[i + 1]) : std::nullopt;
      if (first && last && *first <= *last) continue;
      return say("exec_range: \"" + printable(range) +
                 "\", expected all or pairs \"first,last\" of whole numbers, other rounds are never dumped");
    }
  }

  void check_choice() {
    const std::string_view ids = text_of("ids"), device = text_of("device");
    for (const std::string_view id : split(ids, ','))
      if (!ids.empty() && !is_id(id))
        say("ids: \"" + printable(id) +
            "\" finds nothing, expected numbers joined by _ without blanks, as 4_1");
    for (const std::string_view number : split(device, ','))
      if (!device.empty() && !parse_atb_number(number))
        say("device: \"" + printable(number) + "\" finds nothing, expected numbers without blanks");
    text_of("op_name");
  }

  void check_level() {
    const uint32_t node = tape_.find(0, "filter_level");
    if (node == JsonTape::kNone) return;
    const auto level = tape_.is(node, JsonKind::number) ? json_int(tape_.text(node)) : std::nullopt;
    if (!level || *level < 0 || *level > 2)
      say("filter_level: expected 0, 1 or 2, anything else counts as 1");
    if (level == 2)
      say("filter_level: 2 ends the serving process at the first tensor whose file carries a parameter name; "
          "use 1");
  }

  const JsonTape& tape_;
  std::vector<std::string> findings_;
};

void append_member(std::string& out, std::string_view key, std::string_view value, bool is_text) {
  if (out.size() > 1) out += ", ";
  append_json_text(out, key);
  out += ": ";
  if (is_text)
    append_json_text(out, value);
  else
    out += value;
}

}  // namespace

std::string atb_config_text(const AtbConfig& config) {
  std::string out = "{";
  append_member(out, "task", config.task, true);
  append_member(out, "dump_enable", "true", false);
  append_member(out, "exec_range", config.exec_range, true);
  append_member(out, "ids", config.ids, true);
  append_member(out, "op_name", config.op_name, true);
  append_member(out, "save_child", config.save_child ? "true" : "false", false);
  append_member(out, "device", config.device, true);
  append_member(out, "filter_level", std::to_string(config.filter_level), false);
  return out + "}";
}

std::string atb_load_line(std::string_view config_path, std::string_view output_path) {
  return "source load_atb_probe.sh --output=" + std::string(output_path) +
         " --config=" + std::string(config_path);
}

Result<std::vector<std::string>> check_atb_config(std::string_view text) {
  JsonLexer lexer(text);
  JsonTape tape;
  const JsonRead read = tape.read(lexer);
  if (read == JsonRead::broken) return lexer.error();
  if (read != JsonRead::ok || !tape.is(0, JsonKind::object))
    return Error{Code::format, "expected an object of settings"};
  if (lexer.next() == JsonToken::broken) return lexer.error();
  return Checker(tape).run();
}

}  // namespace ulpscope
