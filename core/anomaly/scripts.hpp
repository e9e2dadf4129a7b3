// The scripts that a text is written in. Used by the language rules of anomaly.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

namespace ulpscope {

// A script as a number of ICU's; kNoScript for what belongs to none or to all.
using Script = int32_t;
inline constexpr Script kNoScript = -1;
extern const Script kLatin, kHan, kKana;

// The script of a letter or mark: by the ranges below, else by the character database; kNoScript for
// everything else. Hiragana and katakana are one. Any thread.
Script script_of(char32_t c);
// "Cyrillic"; Kana for hiragana and katakana.
std::string_view script_name(Script script);

// Every script of a text; Kana brings Han.
std::set<Script> scripts_of(std::u32string_view text);

// Whether a prompt asks for a language: "translate", "in Russian", 翻译, 用俄语 and their kin.
bool asks_for_language(std::string_view prompt);

}  // namespace ulpscope
