// What a check says of one API: a row for each of its outputs and a status for its forward and its backward.
// Made where the API runs, sent as one line of JSON from a worker to the host, written to the tables there.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "precision_compare/details_table.hpp"
#include "precision_compare/precision_compare.hpp"

namespace ulpscope {

// One output of one direction, compared.
struct CheckOutput {
  std::string name;                       // "Torch.matmul.0.forward.output.0"
  std::string bench_dtype, device_dtype;  // "torch.float32", or the class of a value that is no tensor
  std::string shape;                      // "(3, 4)"
  std::array<std::optional<double>, kDetailMetrics> cells;
  std::string algorithm;  // the judgement by which its metrics were measured
  OutputStatus status = OutputStatus::skip;
  std::string message;
};

struct CheckReport {
  std::string api;  // id: "Torch.matmul.0"
  OutputStatus forward = OutputStatus::none, backward = OutputStatus::none;
  std::string message;
  bool bad_data = false;  // data that the dump should hold is missing or unreadable: exit code 3
  std::vector<CheckOutput> outputs;
};

// All SKIP: SKIP; any error: error; any warning: warning; no output: none; else pass.
OutputStatus roll_up(const std::vector<CheckOutput>& outputs);
// The word of the files back as a status; none for any other text.
OutputStatus output_status(std::string_view word);
// Adds text to a message, behind "; " where there is one already.
void add_sentence(std::string& message, std::string_view text);

// As one line without its end, numbers exactly.
std::string to_line(const CheckReport& report);
// format: not such a line.
Result<CheckReport> report_from_line(std::string_view line);

}  // namespace ulpscope
