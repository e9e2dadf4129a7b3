// The options of a judgement plugin as it reads them: a JSON object whose members are checked against the
// plugin's own list. For plugin code: mistakes are thrown as Failure (usage) and name the option and what was
// expected.
#pragma once

#include <ulpscope/types.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judgements/limits.hpp"

namespace ulpscope {

class JudgementOptions {
 public:
  // Throws Failure (usage): no JSON object, a member that listed does not name, or one that is neither a
  // number, a text nor a bool.
  JudgementOptions(std::string_view judgement, std::string_view options_json,
                   std::span<const ulpscope_option_desc> listed);

  // A finite number of at least 0; otherwise when it was not given.
  double number(const std::string& name, double otherwise) const;
  // One of the words, the first one when it was not given.
  std::string choice(const std::string& name, const std::vector<std::string>& words) const;
  bool flag(const std::string& name) const;
  LimitProfile profile() const;
  // The option "<class of the device type>_<limit>", say "float16_rtol".
  double of_type(DType device, const char* limit, double otherwise) const;
  // Least denominator of a ratio, by "<class>_ratio_floor" or the profile.
  double ratio_floor(DType device) const {
    return of_type(device, "ratio_floor", type_limits(profile(), limit_class(device)).ratio_floor);
  }
  bool has(const std::string& name) const { return numbers_.count(name) + texts_.count(name) > 0; }

 private:
  std::string judgement_;
  std::map<std::string, double> numbers_;
  std::map<std::string, std::string> texts_;  // and bools, as "true" and "false"
};

}  // namespace ulpscope
