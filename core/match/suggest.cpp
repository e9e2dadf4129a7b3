#include "match/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kSampledMembers = 8;  // of a family, whose values are looked at
constexpr size_t kMaxFamilies = 3000;  // a side; more are no layers but single calls
constexpr size_t kMaxDigits = 9;
constexpr size_t kFewMembers = 4;
// Single operations pair only where they stand at about the same place of the run.
constexpr double kFarApart = 0.4;
// Statistics of two runs in different formats agree within this share of their size.
constexpr double kAlike = 0.05;
constexpr size_t kNoPosition = SIZE_MAX;

// A name cut into texts and the numbers between them: one more text than numbers.
struct CutName {
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

CutName cut(std::string_view name) {
  CutName out;
  std::string text;
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    const bool whole = end > i && end - i <= kMaxDigits && (name[i] != '0' || end == i + 1);
    const bool in_word = i > 0 && std::isalpha(static_cast<unsigned char>(name[i - 1])) != 0;
    if (whole && !in_word) {
      out.texts.push_back(std::move(text));
      text.clear();
      out.numbers.push_back(*parse_int(name.substr(i, end - i)));
      i = end;
      continue;
    }
    text += name.substr(i, std::max<size_t>(end - i, 1));
    i = std::max(end, i + 1);
  }
  out.texts.push_back(std::move(text));
  return out;
}

// Operations whose names differ in one number alone, in execution order.
struct Family {
  CutName name;                   // of the first
  size_t position = kNoPosition;  // of the number that counts; none for a single operation
  std::vector<OpId> ops;
  std::vector<int64_t> counts;
  double place = 0;  // of the first in the run, 0 to 1
  std::vector<std::string> words;

  std::string pattern(int64_t shift) const {
    std::string text;
    for (size_t i = 0; i < name.texts.size(); ++i) {
      text += name.texts[i];
      if (i == name.numbers.size()) break;
      if (i != position)
        text += std::to_string(name.numbers[i]);
      else
        text += shift == 0  ? "{n}"
                : shift > 0 ? fmt::format("{{n+{}}}", shift)
                            : fmt::format("{{n-{}}}", -shift);
    }
    return text;
  }
};

// Lower-case words of a name behind its counting number: "LlamaDecoderLayer" is llama, decoder, layer.
std::vector<std::string> words_of(const Family& family) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (word == "attn") word = "attention";
    if (word == "embed" || word == "embeddings") word = "embedding";
    if (word.size() > 1) words.push_back(word);
    word.clear();
  };
  const size_t first = family.position == kNoPosition ? 0 : family.position + 1;
  for (size_t i = first; i < family.name.texts.size(); ++i) {
    for (const char c : family.name.texts[i]) {
      const auto letter = static_cast<unsigned char>(c);
      const bool begins = std::isupper(letter) != 0 && !word.empty() &&
                          std::islower(static_cast<unsigned char>(word.back())) != 0;
      if (std::isalpha(letter) == 0 || begins) end_word();
      // Kept in its case until the word ends, to see where the next one begins.
      if (std::isalpha(letter) != 0)
        word += begins || word.empty() ? static_cast<char>(std::tolower(letter)) : c;
    }
    end_word();
  }
  for (std::string& each : words)
    std::transform(each.begin(), each.end(), each.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return words;
}

std::vector<int64_t> plain_shape(const DumpIndex& index, TensorId tensor) {
  std::vector<int64_t> dims;
  for (const int64_t dim : index.shape_of(tensor))
    if (dim != 1) dims.push_back(dim);
  return dims;
}

bool is_output(const ItemRow& item) { return item.role == Role::output; }

// The first output tensor of an op.
ItemId first_output(const DumpIndex& index, OpId op) {
  const OpRow& row = index.ops()[op];
  for (ItemId item = row.first_item; item < row.first_item + row.item_count; ++item)
    if (index.items()[item].tensor != kNoIndex && is_output(index.items()[item])) return item;
  return kNoIndex;
}

// Each member of a small family as one of its own.
void add_members(const Family& family, const std::map<OpId, double>& place, std::vector<Family>& out) {
  for (size_t i = 0; i < family.ops.size(); ++i) {
    Family single{family.name, kNoPosition, {family.ops[i]}, {0}, place.at(family.ops[i]), {}};
    single.name.numbers[family.position] = family.counts[i];
    single.words = words_of(single);
    out.push_back(std::move(single));
  }
}

// The families of the first step and rank, without operations whose names the other side knows too.
std::vector<Family> families_of(const DumpIndex& index, const std::set<std::string_view>& known) {
  std::vector<Family> families;
  if (index.groups().empty()) return families;
  const std::vector<OpId>& ops = index.groups()[0].ops;
  std::map<std::vector<std::string>, std::vector<std::pair<OpId, CutName>>> by_text;
  for (const OpId op : ops) {
    const std::string_view name = index.text(index.ops()[op].name);
    if (known.contains(name) || name.find_first_of("{}*?") != std::string_view::npos) continue;
    CutName parts = cut(name);
    by_text[parts.texts].emplace_back(op, std::move(parts));
  }
  std::map<OpId, double> place;
  for (size_t i = 0; i < ops.size(); ++i)
    place[ops[i]] = static_cast<double>(i) / static_cast<double>(ops.size());
  for (const auto& [texts, members] : by_text) {
    size_t position = kNoPosition;
    for (size_t i = 0; i < members[0].second.numbers.size() && position == kNoPosition; ++i)
      for (const auto& [op, name] : members)
        if (name.numbers[i] != members[0].second.numbers[i]) position = i;
    std::map<std::vector<int64_t>, Family> by_rest;
    for (const auto& [op, name] : members) {
      std::vector<int64_t> rest = name.numbers;
      if (position != kNoPosition) rest[position] = 0;
      Family& family = by_rest[rest];
      if (family.ops.empty()) family = {name, position, {}, {}, place[op], {}};
      family.ops.push_back(op);
      family.counts.push_back(position == kNoPosition ? 0 : name.numbers[position]);
    }
    for (auto& [rest, family] : by_rest) {
      if (family.ops.size() == 1) family.position = kNoPosition;
      family.words = words_of(family);
      // The two embeddings of prefill and decode count alike, and only one of them may be in golden.
      if (family.ops.size() > 1 && family.ops.size() <= kFewMembers) add_members(family, place, families);
      families.push_back(std::move(family));
    }
  }
  std::sort(families.begin(), families.end(), [](const Family& a, const Family& b) {
    return std::pair(a.ops[0], b.ops.size()) < std::pair(b.ops[0], a.ops.size());
  });
  if (families.size() > kMaxFamilies) families.resize(kMaxFamilies);
  return families;
}

bool near(double a, double b) {
  return std::fabs(a - b) <= kAlike * std::max(std::fabs(a), std::fabs(b)) + 1e-6;
}

class Suggester {
 public:
  Suggester(const DumpIndex& target, const DumpIndex& golden, const StatisticsReader& statistics)
      : target_(target), golden_(golden), statistics_(statistics) {}

  std::vector<SuggestedRule> run() {
    const std::vector<Family> targets = families_of(target_, names_of(golden_));
    const std::vector<Family> goldens = families_of(golden_, names_of(target_));
    struct Candidate {
      double score;
      size_t target, golden;
    };
    std::vector<Candidate> candidates;
    for (size_t t = 0; t < targets.size(); ++t)
      for (size_t g = 0; g < goldens.size(); ++g)
        if (const auto points = score(targets[t], goldens[g])) candidates.push_back({*points, t, g});
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    std::set<OpId> target_taken, golden_taken;
    const auto is_free = [](const std::set<OpId>& taken, const Family& family) {
      return std::none_of(family.ops.begin(), family.ops.end(), [&](OpId op) { return taken.contains(op); });
    };
    std::map<size_t, SuggestedRule> rules;
    for (const Candidate& c : candidates) {
      const Family &t = targets[c.target], &g = goldens[c.golden];
      if (!is_free(target_taken, t) || !is_free(golden_taken, g)) continue;
      target_taken.insert(t.ops.begin(), t.ops.end());
      golden_taken.insert(g.ops.begin(), g.ops.end());
      rules.emplace(c.target, rule(targets[c.target], goldens[c.golden]));
    }
    std::vector<SuggestedRule> out;
    for (auto& [family, found] : rules) out.push_back(std::move(found));
    return out;
  }

 private:
  static std::set<std::string_view> names_of(const DumpIndex& index) {
    std::set<std::string_view> names;
    for (const OpRow& op : index.ops()) names.insert(index.text(op.name));
    return names;
  }

  // Whether two tensors have like statistics; nothing where one side has none.
  std::optional<bool> alike(TensorId target, TensorId golden) {
    const auto t = facts(true, target), g = facts(false, golden);
    const uint32_t both = t && g ? t->present & g->present : 0;
    if ((both & (ULPSCOPE_STAT_L2 | ULPSCOPE_STAT_MAX)) == 0) return std::nullopt;
    return ((both & ULPSCOPE_STAT_L2) == 0 || near(t->l2norm, g->l2norm)) &&
           ((both & ULPSCOPE_STAT_MAX) == 0 || near(t->max, g->max)) &&
           ((both & ULPSCOPE_STAT_MIN) == 0 || near(t->min, g->min));
  }

  const std::optional<ulpscope_stats>& facts(bool of_target, TensorId tensor) {
    const auto [entry, fresh] = known_.try_emplace({of_target, tensor});
    if (fresh) entry->second = statistics_(of_target, tensor);
    return entry->second;
  }

  // How well two families fit; nothing: they do not belong together.
  std::optional<double> score(const Family& t, const Family& g) {
    if (t.ops.size() != g.ops.size() || (t.position == kNoPosition) != (g.position == kNoPosition))
      return std::nullopt;
    if (t.ops.size() == 1 && std::fabs(t.place - g.place) > kFarApart) return std::nullopt;
    for (size_t i = 1; i < t.ops.size(); ++i)
      if (t.counts[i] - g.counts[i] != t.counts[0] - g.counts[0]) return std::nullopt;
    for (const size_t i : {size_t{0}, t.ops.size() - 1}) {
      const ItemId a = first_output(target_, t.ops[i]), b = first_output(golden_, g.ops[i]);
      if (a == kNoIndex || b == kNoIndex) return std::nullopt;
      const std::vector<int64_t> shape = plain_shape(target_, target_.items()[a].tensor);
      if (shape != plain_shape(golden_, golden_.items()[b].tensor)) return std::nullopt;
    }
    // A fault makes everything behind it unlike: what stands before it must agree.
    const auto [compared, equal] = compare_values(t, g);
    if (compared > 0 && equal * 3 < compared) return std::nullopt;
    double points = compared > 0 ? 4.0 * static_cast<double>(equal) / static_cast<double>(compared) : 0;
    int64_t common = 0;
    for (const std::string& word : t.words)
      common += std::find(g.words.begin(), g.words.end(), word) != g.words.end() ? 1 : 0;
    // Without values a shape alone proves nothing.
    if (compared == 0 && common == 0) return std::nullopt;
    if (t.ops.size() > 1) points += 6;  // a rule for many says more than the likeness of one
    points += static_cast<double>(common) - 0.1 * static_cast<double>(t.words.size() + g.words.size());
    return points + 1 - std::fabs(t.place - g.place);
  }

  std::pair<int64_t, int64_t> compare_values(const Family& t, const Family& g) {
    std::pair<int64_t, int64_t> counts{0, 0};
    const size_t step = std::max<size_t>(1, t.ops.size() / kSampledMembers);
    for (size_t i = 0; i < t.ops.size(); i += step) {
      const ItemId a = first_output(target_, t.ops[i]), b = first_output(golden_, g.ops[i]);
      if (a == kNoIndex || b == kNoIndex) continue;
      const auto same = alike(target_.items()[a].tensor, golden_.items()[b].tensor);
      counts.first += same ? 1 : 0;
      counts.second += same.value_or(false) ? 1 : 0;
    }
    return counts;
  }

  SuggestedRule rule(const Family& t, const Family& g) {
    SuggestedRule out{
        t.pattern(0), g.pattern(g.counts[0] - t.counts[0]), {}, static_cast<int64_t>(t.ops.size()), 0, 0};
    std::tie(out.compared, out.alike) = compare_values(t, g);
    out.items = items(t.ops[0], g.ops[0]);
    return out;
  }

  // Which tensors of two operations hold the same; only those that are called otherwise.
  std::vector<std::pair<std::string, std::string>> items(OpId t, OpId g) {
    std::vector<std::pair<std::string, std::string>> out;
    const OpRow &here = target_.ops()[t], &there = golden_.ops()[g];
    std::set<ItemId> taken;
    for (ItemId a = here.first_item; a < here.first_item + here.item_count; ++a) {
      const ItemRow& item = target_.items()[a];
      if (item.tensor == kNoIndex) continue;
      ItemId best = kNoIndex;
      int points = 0;
      for (ItemId b = there.first_item; b < there.first_item + there.item_count; ++b) {
        const ItemRow& other = golden_.items()[b];
        if (other.tensor == kNoIndex || taken.contains(b) || is_output(item) != is_output(other)) continue;
        if (plain_shape(target_, item.tensor) != plain_shape(golden_, other.tensor)) continue;
        const auto same = alike(item.tensor, other.tensor);
        if (same && !*same) continue;
        const int found = (same ? 4 : 1) + (target_.item_name(a) == golden_.item_name(b) ? 1 : 0);
        if (found > points) {
          best = b;
          points = found;
        }
      }
      if (best == kNoIndex) continue;
      taken.insert(best);
      if (target_.item_name(a) != golden_.item_name(best))
        out.emplace_back(target_.item_name(a), golden_.item_name(best));
    }
    return out;
  }

  const DumpIndex &target_, &golden_;
  const StatisticsReader& statistics_;
  std::map<std::pair<bool, TensorId>, std::optional<ulpscope_stats>> known_;
};

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::vector<SuggestedRule> suggest_mapping(const DumpIndex& target, const DumpIndex& golden,
                                           const StatisticsReader& statistics) {
  return Suggester(target, golden, statistics).run();
}

std::string mapping_text(const std::vector<SuggestedRule>& rules) {
  std::string ops, items;
  for (const SuggestedRule& rule : rules) {
    ops +=
        fmt::format("  {}: {}  # {} {}, {}\n", quoted(rule.target), quoted(rule.golden), rule.pairs,
                    rule.pairs == 1 ? "pair" : "pairs",
                    rule.compared == 0 ? std::string("by shapes and names alone: check it")
                                       : fmt::format("values of {} of {} alike", rule.alike, rule.compared));
    if (rule.items.empty()) continue;
    items += "  " + quoted(rule.target) + ":\n";
    for (const auto& [target, golden] : rule.items)
      items += "    " + quoted(target) + ": " + quoted(golden) + "\n";
  }
  return (ops.empty() ? "ops: {}\n" : "ops:\n" + ops) + (items.empty() ? "" : "items:\n" + items);
}

}  // namespace ulpscope
