// A file of outputs cut into records: lines, JSON objects, printed RequestOutputs, rows of a table. Used by
// the readers of outputs, twice: once over the whole file, and once more for the records that are looked at
// closely. Knows how records begin and end, not what is in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/diagnostics.hpp"
#include "base/file.hpp"
#include "base/result.hpp"
#include "outputs/text_window.hpp"

namespace ulpscope {

enum class Framing {
  lines,    // one a line; empty lines are passed over
  objects,  // JSON objects one after the other or in one list, over any lines
  prints,   // RequestOutput(…) anywhere in a text
  rows,     // rows of a CSV file; a quoted cell may hold line feeds
  whole,    // the file
};

struct Record {
  uint64_t offset = 0;    // in the file
  std::string_view text;  // followed by kPaddingBytes of readable memory; valid until the next record
};

// One pass over a file, which must outlive it. A record that is too large, or never ends, is passed over and
// becomes a diagnostic of severity error. One thread.
class RecordReader {
 public:
  RecordReader(const File& file, Framing framing, Diagnostics& diagnostics)
      : window_(file), framing_(framing), diagnostics_(diagnostics), path_(file.path()) {}

  // Gives the next record; false at the end. io: reading failed.
  Result<bool> next(Record& record);

 private:
  Result<bool> next_line(Record& record);
  Result<bool> next_object(Record& record);
  Result<bool> next_print(Record& record);
  Result<bool> next_row(Record& record);
  Result<bool> next_whole(Record& record);
  bool reach(size_t position);
  bool find_print();
  Result<bool> ended();
  void give(Record& record, size_t size, size_t used);
  void report(std::string_view what);
  void skip_line();

  TextWindow window_;
  Framing framing_;
  Diagnostics& diagnostics_;
  std::string path_;
};

// Whether text is one JSON object with nothing but white space around it, as far as its quotes and brackets
// say.
bool is_balanced_object(std::string_view text);

}  // namespace ulpscope
