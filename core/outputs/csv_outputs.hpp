// Outputs in a CSV table with columns such as key, queries, input_token_ids, output_token_ids. Used by the
// readers of outputs and of evaluation results.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "outputs/model_output.hpp"

namespace ulpscope {

// Which cell of a row holds which column, by the names in the first row.
class CsvColumns {
 public:
  CsvColumns() = default;
  explicit CsvColumns(const std::vector<std::string>& header);

  bool has(std::string_view name) const { return places_.find(name) != places_.end(); }
  // Whether a column names outputs or verdicts.
  bool is_known() const;
  // The cell of that column; nothing where there is none, or it is empty.
  std::string_view cell(const std::vector<std::string>& row, std::string_view name) const;

 private:
  std::map<std::string, size_t, std::less<>> places_;
};

// The output in a row; has_tokens only where the column holds a list. Any thread.
ModelOutput csv_output(const CsvColumns& columns, const std::vector<std::string>& row);

}  // namespace ulpscope
