#include "anomaly/scripts.hpp"

#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "outputs/code_points.hpp"

namespace ulpscope {

const Script kLatin = USCRIPT_LATIN;
const Script kHan = USCRIPT_HAN;
const Script kKana = USCRIPT_KATAKANA;

namespace {

struct Range {
  char32_t first, last;
  Script script;
};

constexpr std::array<Range, 26> kRanges = {{
    {0x41, 0x5a, USCRIPT_LATIN},        {0x61, 0x7a, USCRIPT_LATIN},
    {0xc0, 0x24f, USCRIPT_LATIN},       {0x1e00, 0x1eff, USCRIPT_LATIN},
    {0xff21, 0xff3a, USCRIPT_LATIN},    {0xff41, 0xff5a, USCRIPT_LATIN},
    {0x370, 0x3ff, USCRIPT_GREEK},      {0x1f00, 0x1fff, USCRIPT_GREEK},
    {0x400, 0x52f, USCRIPT_CYRILLIC},   {0x531, 0x58a, USCRIPT_ARMENIAN},
    {0x590, 0x5ff, USCRIPT_HEBREW},     {0x600, 0x6ff, USCRIPT_ARABIC},
    {0x750, 0x77f, USCRIPT_ARABIC},     {0x900, 0x97f, USCRIPT_DEVANAGARI},
    {0x980, 0x9ff, USCRIPT_BENGALI},    {0xb80, 0xbff, USCRIPT_TAMIL},
    {0xe00, 0xe7f, USCRIPT_THAI},       {0x1100, 0x11ff, USCRIPT_HANGUL},
    {0x3130, 0x318f, USCRIPT_HANGUL},   {0xac00, 0xd7af, USCRIPT_HANGUL},
    {0x3040, 0x30ff, USCRIPT_KATAKANA}, {0xff66, 0xff9d, USCRIPT_KATAKANA},
    {0x3400, 0x4dbf, USCRIPT_HAN},      {0x4e00, 0x9fff, USCRIPT_HAN},
    {0xf900, 0xfaff, USCRIPT_HAN},      {0x20000, 0x2ffff, USCRIPT_HAN},
}};

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Words of a lower-case text, ASCII letters only.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    if (!is_ascii_letter(text[at])) {
      ++at;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && is_ascii_letter(text[at])) ++at;
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

constexpr std::array<std::string_view, 44> kLanguages = {
    "english",  "chinese",    "mandarin",   "cantonese", "japanese",   "korean",    "russian", "ukrainian",
    "french",   "german",     "spanish",    "italian",   "portuguese", "arabic",    "persian", "farsi",
    "urdu",     "hebrew",     "greek",      "thai",      "hindi",      "bengali",   "tamil",   "telugu",
    "turkish",  "vietnamese", "indonesian", "malay",     "polish",     "czech",     "dutch",   "swedish",
    "danish",   "norwegian",  "finnish",    "hungarian", "romanian",   "bulgarian", "serbian", "georgian",
    "armenian", "latin",      "sanskrit",   "mongolian"};
constexpr std::array<std::string_view, 9> kBefore = {"in",    "into",  "to",   "using", "use",
                                                     "speak", "write", "from", "with"};
constexpr std::array<std::string_view, 17> kWordsOfTranslation = {"translat",
                                                                  "traduc",
                                                                  "tradui",
                                                                  "\xc3\xbc"
                                                                  "bersetz",
                                                                  "vertaal",
                                                                  "翻译",
                                                                  "翻譯",
                                                                  "译成",
                                                                  "译为",
                                                                  "譯成",
                                                                  "譯為",
                                                                  "翻訳",
                                                                  "번역",
                                                                  "перевед",
                                                                  "перевод",
                                                                  "ترجم",
                                                                  "dịch"};
// In front of 语, 語 or 文.
constexpr std::array<std::string_view, 24> kHanLanguages = {
    "英",   "俄",   "日",   "韩",     "韓",     "法",     "德",     "泰",
    "中",   "汉",   "漢",   "外",     "西班牙", "阿拉伯", "葡萄牙", "意大利",
    "越南", "印地", "希腊", "希伯来", "拉丁",   "波斯",   "蒙古",   "土耳其"};

// What stands in front of the name of a language that is asked for; a name of one character may else be a
// part of other words.
constexpr std::array<std::string_view, 16> kHanBefore = {"用", "成", "为", "為", "以", "说", "說", "写",
                                                         "寫", "讲", "講", "译", "譯", "換", "换", "到"};
constexpr size_t kHanBytes = 3;

bool is_one_of(std::string_view word, const auto& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// A language named in Chinese: 用俄语, 阿拉伯语.
bool names_han_language(std::string_view text) {
  for (const std::string_view language : kHanLanguages)
    for (const std::string_view end : {"语", "語", "文"}) {
      const std::string name = std::string(language) + std::string(end);
      for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        if (language.size() > kHanBytes || at == 0) return true;
        if (at >= kHanBytes && is_one_of(text.substr(at - kHanBytes, kHanBytes), kHanBefore)) return true;
      }
    }
  return false;
}

}  // namespace

Script script_of(char32_t c) {
  if (!is_letter_or_mark(c)) return kNoScript;
  for (const Range& range : kRanges)
    if (c >= range.first && c <= range.last) return range.script;
  UErrorCode failed = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(static_cast<UChar32>(c), &failed);
  if (U_FAILURE(failed) || script == USCRIPT_COMMON || script == USCRIPT_INHERITED ||
      script == USCRIPT_UNKNOWN)
    return kNoScript;
  return script == USCRIPT_HIRAGANA ? USCRIPT_KATAKANA : script;
}

std::string_view script_name(Script script) {
  if (script == kKana) return "Kana";
  const char* const name = uscript_getName(static_cast<UScriptCode>(script));
  return name == nullptr ? std::string_view("unknown") : std::string_view(name);
}

std::set<Script> scripts_of(std::u32string_view text) {
  std::set<Script> scripts;
  for (const char32_t c : text)
    if (const Script script = script_of(c); script != kNoScript) scripts.insert(script);
  if (scripts.count(kKana) > 0) scripts.insert(kHan);
  return scripts;
}

bool asks_for_language(std::string_view prompt) {
  const std::string small = to_lower(prompt);
  for (const std::string_view word : kWordsOfTranslation)
    if (small.find(word) != std::string::npos) return true;
  if (names_han_language(small)) return true;
  const std::vector<std::string_view> words = words_of(small);
  for (size_t i = 0; i < words.size(); ++i) {
    if (!is_one_of(words[i], kLanguages)) continue;
    if (i + 1 < words.size() && words[i + 1] == "language") return true;
    const size_t back = i > 1 && words[i - 1] == "the" ? 2 : 1;
    if (i >= back && is_one_of(words[i - back], kBefore)) return true;
  }
  return false;
}

}  // namespace ulpscope
