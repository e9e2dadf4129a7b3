#include "locate/op_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "formats/json_tape.hpp"

namespace ulpscope {
namespace {

// The source whose records carry an operation's parameters as their attributes.
constexpr std::string_view kSource = "mindie_atb";
constexpr size_t kMaxDifferences = 64, kMaxTold = 4, kMaxValueText = 60;
// Numbers are printed by each side in its own way; six digits are what the shortest of them keeps.
constexpr double kPrintedDigits = 5e-6;

bool read_object(std::string_view text, JsonTape& tape) {
  JsonLexer lexer(text);
  return tape.read(lexer) == JsonRead::ok && tape.is(0, JsonKind::object);
}

std::string value_of(const JsonTape& tape, uint32_t node) {
  if (node == JsonTape::kNone) return "none";
  std::string text = json_text_of(tape, node);
  if (text.size() > kMaxValueText) text = valid_utf8(text.substr(0, kMaxValueText)) + "…";
  return text;
}

class Differences {
 public:
  Differences(const JsonTape& target, const JsonTape& golden) : target_(target), golden_(golden) {}

  std::vector<ParameterDifference> run() {
    compare(0, 0);
    return std::move(found_);
  }

 private:
  // Depth is limited by that of a tape.
  void compare(uint32_t t, uint32_t g) {
    const bool both = t != JsonTape::kNone && g != JsonTape::kNone;
    if (both && target_.is(t, JsonKind::object) && golden_.is(g, JsonKind::object)) return members(t, g);
    if (both && target_.is(t, JsonKind::array) && golden_.is(g, JsonKind::array) &&
        target_.at(t).count == golden_.at(g).count)
      return elements(t, g);
    if (found_.size() == kMaxDifferences) return;
    const bool numbers = both && target_.is(t, JsonKind::number) && golden_.is(g, JsonKind::number);
    if (numbers ? same_number(t, g) : value_of(target_, t) == value_of(golden_, g)) return;
    const auto has_fraction = [](std::string_view number) {
      return number.find_first_of(".eE") != std::string_view::npos;
    };
    found_.push_back({path_, value_of(target_, t), value_of(golden_, g),
                      numbers && (has_fraction(target_.text(t)) || has_fraction(golden_.text(g)))});
  }

  bool same_number(uint32_t t, uint32_t g) const {
    if (target_.text(t) == golden_.text(g)) return true;
    const double a = json_double(target_.text(t)), b = json_double(golden_.text(g));
    if (json_int(target_.text(t)) && json_int(golden_.text(g))) return a == b;
    return std::fabs(a - b) <= kPrintedDigits * std::max(std::fabs(a), std::fabs(b));
  }

  void members(uint32_t t, uint32_t g) {
    std::map<std::string_view, uint32_t> of_golden;
    for (uint32_t i = g + 1; i != golden_.at(g).next; i = golden_.at(i).next) of_golden[golden_.key(i)] = i;
    for (uint32_t i = t + 1; i != target_.at(t).next; i = target_.at(i).next) {
      const auto partner = of_golden.find(target_.key(i));
      descend(target_.key(i), i, partner == of_golden.end() ? JsonTape::kNone : partner->second);
      if (partner != of_golden.end()) of_golden.erase(partner);
    }
    for (const auto& [name, node] : of_golden) descend(name, JsonTape::kNone, node);
  }

  void elements(uint32_t t, uint32_t g) {
    size_t number = 0;
    for (uint32_t i = t + 1, k = g + 1; i != target_.at(t).next;
         i = target_.at(i).next, k = golden_.at(k).next)
      descend(std::to_string(number++), i, k);
  }

  void descend(std::string_view part, uint32_t t, uint32_t g) {
    const size_t length = path_.size();
    path_.append(length == 0 ? "" : ".").append(part);
    compare(t, g);
    path_.resize(length);
  }

  const JsonTape &target_, &golden_;
  std::vector<ParameterDifference> found_;
  std::string path_;
};

}  // namespace

std::vector<ParameterDifference> parameter_differences(std::string_view target, std::string_view golden) {
  JsonTape t, g;
  if (target == golden || !read_object(target, t) || !read_object(golden, g)) return {};
  return Differences(t, g).run();
}

std::string parameter_text(const std::vector<ParameterDifference>& differences) {
  std::string text;
  for (size_t i = 0; i < std::min(differences.size(), kMaxTold); ++i)
    text += fmt::format("{}{}: target {}, golden {}", i == 0 ? "" : "; ", differences[i].name,
                        differences[i].target, differences[i].golden);
  if (differences.size() > kMaxTold) text += fmt::format("; and {} more", differences.size() - kMaxTold);
  return text;
}

OpParameters::OpParameters(const ResultTable& table, const std::vector<OpError>& ops) {
  if (table.target->source_name() != kSource || table.golden->source_name() != kSource) return;
  std::map<std::pair<TextId, TextId>, std::vector<ParameterDifference>> known;
  const auto of_pair = [&](OpId target, OpId golden) -> const std::vector<ParameterDifference>& {
    const TextId t = table.target->ops()[target].attributes, g = table.golden->ops()[golden].attributes;
    const auto [entry, fresh] = known.try_emplace({t, g});
    if (fresh) entry->second = parameter_differences(table.target->text(t), table.golden->text(g));
    return entry->second;
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    OpId target = table.pairs.ops[ops[i].op_pair].target, golden = table.pairs.ops[ops[i].op_pair].golden;
    if (table.target->ops()[target].kind == OpKind::kernel) {
      target = table.target->ops()[target].parent;
      golden = table.golden->ops()[golden].parent;
    }
    if (target == kNoIndex || golden == kNoIndex) continue;
    if (const auto& found = of_pair(target, golden); !found.empty()) differences_.emplace(i, found);
  }
}

const std::vector<ParameterDifference>* OpParameters::of(size_t op) const {
  const auto found = differences_.find(op);
  return found == differences_.end() ? nullptr : &found->second;
}

bool OpParameters::real_differs(size_t op) const {
  const auto* differences = of(op);
  return differences != nullptr && std::any_of(differences->begin(), differences->end(),
                                               [](const ParameterDifference& d) { return d.real; });
}

}  // namespace ulpscope
