// Reads statistic.csv of an ATB dump: one row a tensor, with its statistics. The table has no quoting, may
// lack rows, repeat them or hold rows of other lengths; each row is judged alone. Used by the source
// mindie_atb.
#pragma once

#include <ulpscope/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "base/result.hpp"

namespace ulpscope {

// One row. Texts are those of the file.
struct AtbStatisticsRow {
  std::string op_path;  // "4_Prefill_layer/1_ElewiseOperation": ids and names put together
  bool is_output = false;
  int64_t index = 0;
  std::string label;   // parameter name, where the index carries one
  std::string dtype;   // "bf16"
  std::string format;  // "nd"
  Shape shape;         // empty where the cell cannot be read
  ulpscope_stats stats = {};
  bool names_file = false;  // the row says where the elements are
};

struct AtbStatisticsSink {
  std::function<void(const AtbStatisticsRow&)> on_row;
  // A row that cannot be used, or only without its statistics (on_row follows then).
  std::function<void(int64_t line, std::string_view what)> on_bad_row;
};

// Gives every row to the sink, in the order of the file, in constant memory. io: reading failed; format: the
// first line is not the header of such a table. Any thread.
Status read_atb_statistics(const File& file, const AtbStatisticsSink& sink);

// Whether the file begins with the header of such a table.
bool is_atb_statistics(const File& file);

}  // namespace ulpscope
