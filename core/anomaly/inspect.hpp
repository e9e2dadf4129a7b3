// All rules of anomaly applied to one output. Used by anomaly and badcase. Reads no file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "anomaly/finding.hpp"
#include "anomaly/thresholds.hpp"
#include "base/result.hpp"
#include "outputs/model_output.hpp"

namespace ulpscope {

// The category of each token of a vocabulary, such as "Latin" or "Han".
class TokenCategories {
 public:
  // Adds what a JSON object says: token number to category, or category to a list of token numbers. io:
  // unreadable; format: anything else; with the byte.
  Status read(const std::string& path);
  // 0 for a token that is not listed, and for white space and punctuation.
  int32_t category(int64_t token) const;

 private:
  std::unordered_map<int64_t, int32_t> categories_;
};

struct InspectionOptions {
  Thresholds thresholds;
  std::optional<TokenCategories> categories;
};

// golden_length: of golden's output, in tokens where both have them, else code points; for early_stop.
OutputFindings inspect_output(const ModelOutput& output, const InspectionOptions& options,
                              std::optional<int64_t> golden_length = std::nullopt);

// The length that inspect_output compares with golden's.
int64_t length_of(const ModelOutput& output, bool in_tokens);

}  // namespace ulpscope
