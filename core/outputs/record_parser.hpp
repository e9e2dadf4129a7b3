// The outputs in one record of a file, by the file's format. Used by the scan of outputs and when one is read
// again. Reads no file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "formats/json_tape.hpp"
#include "outputs/csv_outputs.hpp"
#include "outputs/json_outputs.hpp"
#include "outputs/model_output.hpp"
#include "outputs/output_format.hpp"

namespace ulpscope {

// Reads one JSON object onto the tape. text is followed by TextWindow::kPaddingBytes of readable memory.
// format: it is no single JSON object, or too deep or large for the tape; with the byte.
Status read_json_record(std::string_view text, JsonTape& tape);

// text with readable padding behind it, for read_json_record; the text is the first size bytes.
std::string padded(std::string_view text);

// Keeps its memory from record to record. One thread.
class RecordParser {
 public:
  RecordParser(OutputFormat format, OutputDetail detail) : format_(format), detail_(detail) {}

  // The first row of a table.
  void set_header(const std::vector<std::string>& cells) { columns_ = CsvColumns(cells); }
  // Appends the outputs of a record, which has padding behind it. format: it cannot be read.
  Status append(std::string_view text, std::vector<ModelOutput>& outputs);

 private:
  Status append_stream(std::string_view line, std::vector<ModelOutput>& outputs);
  Status append_print(std::string_view repr, std::vector<ModelOutput>& outputs);

  OutputFormat format_;
  OutputDetail detail_;
  JsonTape tape_;
  CsvColumns columns_;
};

// What follows "data:" in a line of a stream; empty for any other line.
std::string_view stream_data(std::string_view line);

}  // namespace ulpscope
