#include "cli/options.hpp"

#include <algorithm>
#include <boost/make_shared.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>

#include "base/text.hpp"

namespace ulpscope {
namespace {

namespace po = boost::program_options;

std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

// Accepts a number of values without storing them: only the parser's list of options is used.
class AnyValue : public po::value_semantic {
 public:
  AnyValue(unsigned least, unsigned most) : least_(least), most_(most) {}
  std::string name() const override { return "arg"; }
  unsigned min_tokens() const override { return least_; }
  unsigned max_tokens() const override { return most_; }
  bool is_composing() const override { return true; }
  bool is_required() const override { return false; }
  void parse(boost::any& /*store*/, const std::vector<std::string>& /*tokens*/,
             bool /*utf8*/) const override {}
  bool apply_default(boost::any& /*store*/) const override { return false; }
  void notify(const boost::any& /*store*/) const override {}

 private:
  unsigned least_, most_;
};

constexpr unsigned kManyTokens = 32'000;

unsigned least_tokens(OptionKind kind) {
  return kind == OptionKind::flag || kind == OptionKind::optional ? 0 : 1;
}
unsigned most_tokens(OptionKind kind) {
  return kind == OptionKind::sequence ? kManyTokens : kind == OptionKind::flag ? 0 : 1;
}

po::options_description describe(const std::vector<OptionSpec>& specs) {
  po::options_description description;
  for (const OptionSpec& spec : specs) {
    std::string names = spec.name;
    for (const std::string& extra : spec.shorts) names += "," + extra;
    // A long name alone needs no comma; one letter after a comma becomes a short option, more a second long
    // one.
    description.add(boost::make_shared<po::option_description>(
        names.c_str(), new AnyValue(least_tokens(spec.kind), most_tokens(spec.kind)), ""));
  }
  return description;
}

// The word with the dashes inside its name turned into '_', when that makes it a known option.
std::string canonical(const std::vector<OptionSpec>& specs, std::string word) {
  if (find_option(specs, word) == nullptr) return word;
  const size_t start = word[1] == '-' ? 2 : 1;
  const size_t end = std::min(word.find('='), word.size());
  std::replace(word.begin() + static_cast<std::ptrdiff_t>(start),
               word.begin() + static_cast<std::ptrdiff_t>(end), '-', '_');
  return word;
}

std::vector<std::string> long_names(const std::vector<OptionSpec>& specs) {
  std::vector<std::string> names;
  for (const OptionSpec& spec : specs)
    if (!spec.hidden) names.push_back("--" + spec.name);
  return names;
}

// The first word that looks like an option and names none: Boost's own message may show a letter of it only.
Error unknown_option(const std::vector<OptionSpec>& specs, const std::vector<std::string>& words,
                     const std::string& fallback) {
  const auto unknown = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return word.size() > 1 && word.front() == '-' && find_option(specs, word) == nullptr &&
           !parse_double(word);
  });
  const std::string word = unknown == words.end() ? fallback : unknown->substr(0, unknown->find('='));
  std::string like = word;
  std::replace(like.begin(), like.end(), '-', '_');
  like.replace(0, std::min(like.find_first_not_of('_'), like.size()), "--");
  const std::string near = with_dashes(nearest(like, long_names(specs)));
  return {Code::usage,
          "unknown option " + quoted(word) + (near.empty() ? "" : " (did you mean '" + near + "'?)")};
}

Error syntax_error(const po::error_with_option_name& problem) {
  const std::string name = quoted(with_dashes(problem.get_option_name()));
  const auto* syntax = dynamic_cast<const po::invalid_syntax*>(&problem);
  if (syntax != nullptr && syntax->kind() == po::invalid_syntax::extra_parameter)
    return {Code::usage, "option " + name + " takes no value"};
  return {Code::usage, "option " + name + " needs a value"};
}

Result<std::vector<po::option>> run_parser(const std::vector<OptionSpec>& specs,
                                           const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  words.reserve(arguments.size());
  for (const std::string& word : arguments) words.push_back(canonical(specs, word));
  namespace style = po::command_line_style;
  try {
    const po::options_description description = describe(specs);
    return po::command_line_parser(words)
        .options(description)
        .style((style::unix_style & ~style::allow_guessing) | style::allow_long_disguise)
        .run()
        .options;
  } catch (const po::unknown_option& problem) {
    return unknown_option(specs, arguments, problem.get_option_name());
  } catch (const po::error_with_option_name& problem) {
    return syntax_error(problem);
  } catch (const std::exception& problem) {
    return Error{Code::usage, std::string("options: ") + problem.what()};
  }
}

}  // namespace

std::string with_dashes(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

size_t ParsedOptions::count(std::string_view name) const { return all(name).size(); }

const std::vector<std::string>& ParsedOptions::all(std::string_view name) const {
  static const std::vector<std::string> kNone;
  const auto found = values_.find(name);
  return found == values_.end() ? kNone : found->second;
}

std::optional<std::string> ParsedOptions::text(std::string_view name) const {
  const auto& values = all(name);
  if (values.empty()) return std::nullopt;
  return values.back();
}

std::string ParsedOptions::text_or(std::string_view name, std::string_view otherwise) const {
  return text(name).value_or(std::string(otherwise));
}

Result<int64_t> ParsedOptions::integer(std::string_view name, int64_t otherwise, int64_t low,
                                       int64_t high) const {
  const auto given = text(name);
  if (!given) return otherwise;
  const auto number = parse_int(*given);
  if (!number || *number < low || *number > high)
    return Error{Code::usage, "option --" + with_dashes(std::string(name)) + ": " + quoted(*given) +
                                  ", expected a number from " + std::to_string(low) + " to " +
                                  std::to_string(high)};
  return *number;
}

Result<std::string> ParsedOptions::choice(std::string_view name,
                                          const std::vector<std::string>& words) const {
  const auto given = text(name);
  if (!given) return words.front();
  if (std::find(words.begin(), words.end(), *given) != words.end()) return *given;
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return Error{Code::usage, "option --" + with_dashes(std::string(name)) + ": " + quoted(*given) +
                                ", expected one of " + list + suggestion(*given, words)};
}

Result<std::vector<int32_t>> ParsedOptions::numbers(std::string_view name) const {
  const auto given = text(name);
  if (!given) return std::vector<int32_t>();
  auto list = parse_number_list(*given);
  if (!list.ok()) return std::move(list).error().within("option --" + with_dashes(std::string(name)));
  return list;
}

Result<std::string> ParsedOptions::required(size_t index, std::string_view name) const {
  if (index >= positional_.size()) return Error{Code::usage, "argument " + std::string(name) + " is missing"};
  return positional_[index];
}

Result<ParsedOptions> parse_options(const std::vector<OptionSpec>& specs,
                                    const std::vector<std::string>& arguments, size_t max_positional) {
  ULPSCOPE_ASSIGN(const std::vector<po::option> found, run_parser(specs, arguments));
  ParsedOptions parsed;
  for (const po::option& option : found) {
    if (option.string_key.empty()) {
      parsed.positional_.insert(parsed.positional_.end(), option.value.begin(), option.value.end());
      continue;
    }
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&](const OptionSpec& each) { return each.name == option.string_key; });
    auto& values = parsed.values_[option.string_key];
    if (spec->kind == OptionKind::flag) {
      values.emplace_back();
      continue;
    }
    // Boost takes the next word whatever it is; a word that names an option was not meant as a value.
    if (!option.value.empty() && option.value.front().substr(0, 2) == "--" &&
        find_option(specs, option.value.front()) != nullptr)
      return Error{Code::usage, "option '--" + with_dashes(spec->name) + "' needs a value"};
    const bool once = spec->kind == OptionKind::value || spec->kind == OptionKind::optional;
    if (once && !values.empty())
      return Error{Code::usage, "option '--" + with_dashes(spec->name) + "' is given twice"};
    values.insert(values.end(), option.value.begin(), option.value.end());
    if (option.value.empty()) values.emplace_back();
  }
  if (parsed.positional_.size() > max_positional)
    return Error{Code::usage, "unexpected argument " + quoted(parsed.positional_[max_positional])};
  return parsed;
}

const OptionSpec* find_option(const std::vector<OptionSpec>& specs, std::string_view word) {
  if (word.size() < 2 || word.front() != '-' || word == "--") return nullptr;
  const bool is_long = word[1] == '-';
  word.remove_prefix(is_long ? 2 : 1);
  std::string name(word.substr(0, word.find('=')));
  std::replace(name.begin(), name.end(), '-', '_');
  const auto has_short = [](const OptionSpec& spec, std::string_view text) {
    return std::find(spec.shorts.begin(), spec.shorts.end(), text) != spec.shorts.end();
  };
  for (const OptionSpec& spec : specs)
    if (spec.name == name || has_short(spec, name)) return &spec;
  if (is_long) return nullptr;
  // "-j8" and "-vv": the letter of one option, with its value or with further flags behind it.
  for (const OptionSpec& spec : specs)
    if (has_short(spec, word.substr(0, 1)) &&
        (spec.kind != OptionKind::flag || word.find_first_not_of(word.front()) == std::string_view::npos))
      return &spec;
  return nullptr;
}

}  // namespace ulpscope
