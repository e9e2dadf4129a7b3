// What a mistyped word was most likely meant to be, for messages. Pure: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ulpscope {

// The candidate that word was most likely meant to be; empty when none is near. Any thread.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
// " (did you mean 'list'?)", or nothing when no candidate is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ulpscope
