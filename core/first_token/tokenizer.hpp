// Token numbers as text, by the vocabulary of a Hugging Face tokenizer.json. Used to show tokens; encodes
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/result.hpp"

namespace ulpscope {

class Tokenizer {
 public:
  static constexpr size_t kMostTokens = 4'000'000;

  // Reads model.vocab (an object, or the list of pairs of a unigram model) and added_tokens. io: unreadable.
  // format: no JSON, or no vocabulary; with the byte.
  static Result<Tokenizer> read(const std::string& path);

  // The text of a token: byte-level and sentencepiece spellings undone, bytes that are not whole UTF-8 as
  // U+FFFD; empty where the number is not in the vocabulary.
  std::string text(int64_t id) const;

 private:
  std::unordered_map<int64_t, std::string> spellings_;
  std::unordered_map<int64_t, std::string> added_;
  bool byte_level_ = false;
};

}  // namespace ulpscope
