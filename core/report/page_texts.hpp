// The texts of a page, each once: a column of the page holds their numbers. Used by the builders of page data
// (page_data.cpp, page_table.cpp). One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "report/json_text.hpp"

namespace ulpscope {

class PageTexts {
 public:
  // The place of text in the list; -1 for an empty one.
  int32_t number(std::string_view text) {
    if (text.empty()) return -1;
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<int32_t>(numbers_.size());
    numbers_.emplace(text, number);
    json_ += json_.empty() ? "" : ",";
    append_json_string(json_, text);
    return number;
  }
  // The list so far, as JSON.
  std::string json() const { return "[" + json_ + "]"; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> numbers_;
  std::string json_;
};

}  // namespace ulpscope
