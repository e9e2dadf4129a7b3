#include "config_check/shell_words.hpp"

#include <cctype>

namespace ulpscope {
namespace {

// A script that grows by its own variables ends here.
constexpr size_t kMostWordBytes = size_t{1} << 20;
constexpr size_t kMostWords = 100'000;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t name_end(std::string_view text, size_t at) {
  if (at >= text.size() || !is_name_start(text[at])) return at;
  while (at < text.size() && is_name(text[at])) ++at;
  return at;
}

std::string joined(const ShellCommand& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

class Shell {
 public:
  Shell(std::string_view script, const NamedTexts& environment,
        const std::function<void(const ShellCommand&, const ShellState&)>& take)
      : script_(script), environment_(environment), take_(take) {}

  void run() {
    while (at_ < script_.size() && words_seen_ < kMostWords) step();
    end_command();
  }

 private:
  void step() {
    const char c = script_[at_];
    if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
      ++at_;
    } else if (c == '\n' || c == ';' || c == '|' || c == '&') {
      if (c == '&' && at_ + 1 < script_.size() && script_[at_ + 1] == '>') return redirection(at_ + 1);
      end_command();
      ++at_;
    } else if (c == '#' && !in_word_) {
      while (at_ < script_.size() && script_[at_] != '\n') ++at_;
    } else if (c == '>' || c == '<') {
      redirection(at_);
    } else if ((c == '(' || c == ')') && is_array_) {
      array_bracket(c);
    } else if (c == '(' && in_word_ && word_.ends_with("=")) {
      is_array_ = true;
      array_name_ = word_.substr(0, word_.size() - 1);
      array_.clear();
      word_.clear();
      in_word_ = false;
      ++at_;
    } else if (c == '(' || c == ')' || ((c == '{' || c == '}') && !in_word_ && is_alone())) {
      end_command();  // a subshell or group
      ++at_;
    } else {
      word_part();
    }
  }

  bool is_alone() const {
    return at_ + 1 >= script_.size() || std::isspace(static_cast<unsigned char>(script_[at_ + 1])) != 0;
  }

  void array_bracket(char c) {
    end_word();
    ++at_;
    if (c != ')') return;
    is_array_ = false;
    const bool appends = array_name_.ends_with("+");
    if (appends) array_name_.pop_back();
    ShellCommand& variable = state_.variables[array_name_];
    if (!appends) variable.clear();
    variable.insert(variable.end(), array_.begin(), array_.end());
  }

  // >file, 2>&1, <<<word: the operator and its target are no words of the command. A digit before it is a
  // descriptor.
  void redirection(size_t at) {
    if (in_word_ && word_.size() == 1 && std::isdigit(static_cast<unsigned char>(word_[0])) != 0) {
      word_.clear();
      in_word_ = false;
    }
    end_word();
    at_ = at;
    while (at_ < script_.size() && (script_[at_] == '>' || script_[at_] == '<' || script_[at_] == '&')) ++at_;
    while (at_ < script_.size() && script_[at_] == ' ') ++at_;
    skip_next_word_ = true;
  }

  void word_part() {
    const char c = script_[at_];
    if (c == '\\') {
      if (at_ + 2 < script_.size() && script_[at_ + 1] == '\r' && script_[at_ + 2] == '\n') {
        at_ += 3;
      } else if (at_ + 1 < script_.size() && script_[at_ + 1] == '\n') {
        at_ += 2;
      } else {
        in_word_ = true;
        if (at_ + 1 < script_.size()) append(script_.substr(at_ + 1, 1));
        at_ += 2;
      }
    } else if (c == '\'') {
      in_word_ = true;
      const size_t end = std::min(script_.find('\'', at_ + 1), script_.size());
      append(script_.substr(at_ + 1, end - at_ - 1));
      at_ = end + 1;
    } else if (c == '"') {
      quoted();
    } else if (c == '$') {
      unquoted_variable();
    } else if (c == '`') {
      in_word_ = true;
      const size_t end = std::min(script_.find('`', at_ + 1), script_.size());
      append(script_.substr(at_, end + 1 - at_));
      at_ = end + 1;
    } else {
      in_word_ = true;
      append(script_.substr(at_, 1));
      ++at_;
    }
  }

  void quoted() {
    in_word_ = true;
    ++at_;
    while (at_ < script_.size() && script_[at_] != '"') {
      if (script_[at_] == '\\' && at_ + 1 < script_.size()) {
        constexpr std::string_view kEscaped = "\"\\$`";
        if (script_[at_ + 1] == '\n') {
          at_ += 2;
          continue;
        }
        if (kEscaped.find(script_[at_ + 1]) == std::string_view::npos) append("\\");
        append(script_.substr(at_ + 1, 1));
        at_ += 2;
      } else if (script_[at_] == '$') {
        const ShellCommand words = substituted();
        for (size_t i = 0; i < words.size(); ++i) {
          if (i > 0) {
            if (is_split_quoted_)
              end_word();
            else
              append(" ");
            in_word_ = true;
          }
          append(words[i]);
        }
      } else {
        append(script_.substr(at_, 1));
        ++at_;
      }
    }
    ++at_;
  }

  // Words of an unquoted variable are words of the command, except in an assignment.
  void unquoted_variable() {
    const ShellCommand words = substituted();
    const bool splits = assignment_of(word_).first.empty();
    bool first = true;
    for (const std::string& word : words) {
      if (!first && splits) end_word();
      if (!first && !splits) append(" ");
      first = false;
      for (const char c : word) {
        if (splits && (c == ' ' || c == '\t' || c == '\n')) {
          end_word();
        } else {
          in_word_ = true;
          append(std::string_view(&c, 1));
        }
      }
    }
  }

  // What the $… at at_ stands for; puts at_ behind it.
  ShellCommand substituted() {
    is_split_quoted_ = false;
    const size_t begin = at_++;
    if (at_ < script_.size() && script_[at_] == '{') {
      const size_t end = script_.find('}', at_);
      if (end == std::string_view::npos) return literal(begin, script_.size());
      const std::string_view inside = script_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return braced(inside, script_.substr(begin, at_ - begin));
    }
    if (at_ < script_.size() && script_[at_] == '(') {
      size_t end = at_;
      int64_t open = 0;
      do {
        open += script_[end] == '(' ? 1 : script_[end] == ')' ? -1 : 0;
        ++end;
      } while (end < script_.size() && open > 0);
      return literal(begin, end);
    }
    const size_t end = name_end(script_, at_);
    if (end == at_) return literal(begin, std::min(at_ + 1, script_.size()));
    const std::string name(script_.substr(at_, end - at_));
    at_ = end;
    return value_of(name, script_.substr(begin, end - begin));
  }

  ShellCommand literal(size_t begin, size_t end) {
    at_ = end;
    return {std::string(script_.substr(begin, end - begin))};
  }

  ShellCommand braced(std::string_view inside, std::string_view written) {
    const size_t end = name_end(inside, 0);
    const std::string name(inside.substr(0, end));
    const std::string_view rest = inside.substr(end);
    if (rest == "[@]" || rest == "[*]") {
      is_split_quoted_ = rest == "[@]";
      return value_of(name, written);
    }
    if (rest.empty()) return value_of(name, written);
    const size_t skip = rest[0] == ':' ? 1 : 0;
    if (rest.size() > skip && (rest[skip] == '-' || rest[skip] == '=')) {
      const ShellCommand value = value_of(name, "");
      if (!joined(value).empty()) return value;
      std::string_view fallback = rest.substr(skip + 1);
      if (fallback.size() >= 2 && (fallback[0] == '"' || fallback[0] == '\'') &&
          fallback.back() == fallback[0])
        fallback = fallback.substr(1, fallback.size() - 2);
      return {std::string(fallback)};
    }
    return {std::string(written)};
  }

  ShellCommand value_of(const std::string& name, std::string_view otherwise) const {
    if (const auto own = state_.variables.find(name); own != state_.variables.end()) return own->second;
    if (const auto outer = environment_.find(name); outer != environment_.end()) return {outer->second};
    return {std::string(otherwise)};
  }

  void append(std::string_view text) {
    if (word_.size() + text.size() <= kMostWordBytes) word_ += text;
  }

  void end_word() {
    if (!in_word_) return;
    in_word_ = false;
    ++words_seen_;
    if (skip_next_word_)
      skip_next_word_ = false;
    else
      (is_array_ ? array_ : words_).push_back(word_);
    word_.clear();
  }

  void end_command() {
    end_word();
    skip_next_word_ = false;
    if (is_array_) return;  // an array may go over lines
    const ShellCommand words = std::move(words_);
    words_.clear();
    if (words.empty()) return;
    const bool exports = words[0] == "export" || words[0] == "declare" || words[0] == "typeset";
    size_t assignments = exports ? 1 : 0;
    while (assignments < words.size() && (!assignment_of(words[assignments]).first.empty() || exports))
      ++assignments;
    if (assignments < words.size()) return take_(words, state_);
    for (size_t i = exports ? 1 : 0; i < words.size(); ++i) assign(words[i], exports);
  }

  void assign(const std::string& word, bool exports) {
    auto [name, value] = assignment_of(word);
    if (name.empty()) {
      const auto known = state_.variables.find(word);
      if (exports && known != state_.variables.end()) state_.exported[word] = joined(known->second);
      return;
    }
    if (name.ends_with("+")) {
      name.pop_back();
      value = joined(value_of(name, "")) + value;
    }
    if (exports || state_.exported.count(name) > 0) state_.exported[name] = value;
    state_.variables[name] = {std::move(value)};
  }

  std::string_view script_;
  const NamedTexts& environment_;
  const std::function<void(const ShellCommand&, const ShellState&)>& take_;
  ShellState state_;
  size_t at_ = 0, words_seen_ = 0;
  std::string word_, array_name_;
  ShellCommand words_, array_;
  bool in_word_ = false, is_array_ = false, skip_next_word_ = false, is_split_quoted_ = false;
};

}  // namespace

std::pair<std::string, std::string> assignment_of(std::string_view word) {
  size_t end = name_end(word, 0);
  if (end == 0) return {};
  if (end < word.size() && word[end] == '+') ++end;
  if (end >= word.size() || word[end] != '=') return {};
  return {std::string(word.substr(0, end)), std::string(word.substr(end + 1))};
}

void for_each_shell_command(std::string_view script, const NamedTexts& environment,
                            const std::function<void(const ShellCommand&, const ShellState&)>& take) {
  Shell(script, environment, take).run();
}

}  // namespace ulpscope
