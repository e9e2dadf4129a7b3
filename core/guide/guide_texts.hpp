// What guide says that depends on nothing: symptoms, causes, the checklist, the ten steps; in English and
// Chinese. JSON has the English words in both languages. Used by the command and by flow.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ulpscope {

enum class GuideLanguage : uint8_t { english, chinese };

struct BothLanguages {
  std::string en, zh;
  const std::string& in(GuideLanguage language) const { return language == GuideLanguage::english ? en : zh; }
};

struct GuideSymptom {
  std::string_view label;
  BothLanguages seen, decided_by;
};
struct GuideCause {
  BothLanguages group, cause, looks, check;
};
struct GuideStep {
  int number = 0;
  BothLanguages what;
  std::string_view command;
};

std::span<const GuideSymptom> symptoms();
std::span<const GuideCause> causes();
std::span<const BothLanguages> checklist();
// The procedure for one reproducible case.
std::span<const GuideStep> procedure();

}  // namespace ulpscope
