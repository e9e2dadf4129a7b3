#include "policy/import.hpp"

#include <fmt/format.h>

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"

namespace ulpscope {
namespace {

constexpr size_t kMostNames = 100'000;
constexpr size_t kLineLength = 100;

// A standard by a part of its key in the lists, in lower case.
struct Standard {
  std::string_view part, judgement;
};
constexpr std::array<Standard, 6> kStandards = {{{"absolute", "absolute_threshold"},
                                                 {"binary", "binary_consistency"},
                                                 {"ulp", "ulp"},
                                                 {"thousandth", "double_thousandth"},
                                                 {"accumulative", "accumulative_error"},
                                                 {"benchmark", "benchmark"}}};
constexpr std::array<std::string_view, 3> kLimits = {"rtol", "small_value", "small_value_atol"};

Error wrong(const std::string& path, const YAML::Mark& mark, const std::string& text) {
  return {Code::usage, printable(path) + ":" + std::to_string(mark.line + 1) + ":" +
                           std::to_string(mark.column + 1) + ": " + text};
}

// An API name as YAML takes it without surprises.
std::string quoted(const std::string& name) {
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
  if (plain && (name[0] < '0' || name[0] > '9')) return name;
  std::string out = "'";
  for (const char c : printable(name)) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string list_text(const std::vector<std::string>& names) {
  std::string out, line;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string piece = quoted(names[i]) + (i + 1 < names.size() ? "," : "");
    if (!line.empty() && line.size() + piece.size() > kLineLength) {
      out += "      " + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + piece;
  }
  return out + "      " + line + "\n";
}

std::string_view judgement_of(const std::string& key) {
  const std::string lower = to_lower(key);
  for (const Standard& standard : kStandards)
    if (lower.find(standard.part) != std::string::npos) return standard.judgement;
  return {};
}

class Importer {
 public:
  explicit Importer(std::string path) : path_(std::move(path)) {}

  Result<ImportedPolicy> run(const YAML::Node& root) {
    if (!root.IsMap()) return wrong(path_, root.Mark(), "expected lists of API names by standard");
    out_.text = "# Imported from the standard lists of msprobe.\nversion: 1\nextends: seed\nrules:\n";
    for (const auto& member : root) {
      if (!member.first.IsScalar()) return wrong(path_, member.first.Mark(), "expected a name");
      const std::string key = member.first.Scalar();
      if (member.second.IsSequence())
        ULPSCOPE_TRY(add_list(key, member.first, member.second));
      else if (member.second.IsMap())
        ULPSCOPE_TRY(add_limits(key, member.second));
      else if (!member.second.IsNull())
        return wrong(path_, member.second.Mark(), "expected a list of API names or limits by type");
    }
    if (out_.rules == 0) return wrong(path_, root.Mark(), "no standard and no limits were found");
    return std::move(out_);
  }

 private:
  Status add_list(const std::string& key, const YAML::Node& at, const YAML::Node& list) {
    const std::string_view judgement = judgement_of(key);
    if (judgement.empty()) {
      out_.notes.push_back(
          wrong(path_, at.Mark(), "'" + printable(key) + "' is no standard known here, left out").message);
      return {};
    }
    std::vector<std::string> names;
    for (const YAML::Node& item : list) {
      if (!item.IsScalar() || item.Scalar().empty())
        return wrong(path_, item.Mark(), "expected the name of an API");
      names.push_back(item.Scalar());
      if (names.size() > kMostNames) return wrong(path_, item.Mark(), "too many names");
    }
    if (names.empty()) return {};
    out_.text += "  - api: [\n" + list_text(names) + "    ]\n    use: " + std::string(judgement) + "\n";
    ++out_.rules;
    out_.names += static_cast<int>(names.size());
    return {};
  }

  // {torch.float32: {rtol: …, small_value: …, small_value_atol: …}} of one API.
  Status add_limits(const std::string& api, const YAML::Node& types) {
    std::string options;
    for (const auto& type : types) {
      const std::string name = type.first.IsScalar() ? type.first.Scalar() : "";
      const std::string dtype = name.rfind("torch.", 0) == 0 ? name.substr(6) : name;
      if (dtype != "float32" && dtype != "float16" && dtype != "bfloat16")
        return wrong(path_, type.first.Mark(), "expected float32, float16 or bfloat16");
      if (!type.second.IsMap()) return wrong(path_, type.second.Mark(), "expected limits by name");
      for (const auto& limit : type.second) {
        const std::string word = limit.first.IsScalar() ? limit.first.Scalar() : "";
        if (std::find(kLimits.begin(), kLimits.end(), word) == kLimits.end())
          return wrong(path_, limit.first.Mark(), "expected rtol, small_value or small_value_atol");
        double value = 0;
        if (!limit.second.IsScalar() || !YAML::convert<double>::decode(limit.second, value) ||
            !std::isfinite(value) || value < 0)
          return wrong(path_, limit.second.Mark(), "expected a number of at least 0");
        options += fmt::format("{}{}_{}: {}", options.empty() ? "" : ", ", dtype, word, number_text(value));
      }
    }
    if (options.empty()) return {};
    out_.text += "  - {api: [" + quoted(api) + "], use: absolute_threshold, with: {" + options + "}}\n";
    ++out_.rules;
    ++out_.names;
    return {};
  }

  std::string path_;
  ImportedPolicy out_;
};

}  // namespace

Result<ImportedPolicy> import_policy(const std::string& path, std::string_view text) {
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsDefined() || root.IsNull())
      return Error{Code::usage, printable(path) + ":1:1: the file is empty, expected standard lists"};
    return Importer(path).run(root);
  } catch (const YAML::Exception& problem) {
    return wrong(path, problem.mark, "not YAML: " + problem.msg);
  }
}

}  // namespace ulpscope
