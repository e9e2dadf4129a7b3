// Which of the known formats a file of outputs has, found out from its content. Used by the readers of
// outputs. Reads no output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/result.hpp"
#include "outputs/record_reader.hpp"

namespace ulpscope {

enum class OutputFormat {
  json,            // objects: completions, chats, batch lines, token lines
  stream,          // "data: {…}" lines
  request_output,  // RequestOutput(…) prints
  print,           // token_ids: […] prints
  csv,
  text,  // the file is one output
};

struct FileFormat {
  OutputFormat format = OutputFormat::json;
  Framing framing = Framing::lines;
};

// The words of --input-format, "auto" first.
const std::vector<std::string>& output_format_words();
// The format that a word names; nothing for "auto" and words that are none.
std::optional<OutputFormat> output_format_of(std::string_view word);

// The format of a file. forced: it has this one, only the framing is looked for. format: none is recognised.
// io: reading failed.
Result<FileFormat> find_output_format(const File& file, std::optional<OutputFormat> forced);

}  // namespace ulpscope
