#include "outputs/output_scan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "outputs/record_parser.hpp"
#include "outputs/stream_join.hpp"
#include "outputs/text_window.hpp"
#include "precision_compare/csv_rows.hpp"

namespace ulpscope {
namespace {

// Records without an output before a file that has given none counts as one of something else.
constexpr int64_t kMostBare = 100'000;
constexpr int64_t kMostTold = 20;  // of them, one by one

// One pass over one file.
class FileScan {
 public:
  // file and name must outlive it.
  FileScan(const File& file, const std::string& name, uint32_t index, FileFormat format,
           const ScanOptions& options, Diagnostics& diagnostics, const OutputVisitor& visitor)
      : file_(file),
        name_(name),
        index_(index),
        format_(format),
        parser_(format.format, options.detail),
        diagnostics_(diagnostics),
        visitor_(visitor),
        join_(index, visitor) {}

  Status run(const Cancel& cancel, FileFacts& facts);

 private:
  using Held = std::vector<std::pair<ModelOutput, OutputPlace>>;

  void take(const Record& record);
  void take_stream(const Record& record, std::vector<ModelOutput>&& outputs);
  void hold(Held&& outputs);
  Status read_header(RecordReader& reader, FileFacts& facts);

  const File& file_;
  const std::string& name_;
  uint32_t index_;
  FileFormat format_;
  RecordParser parser_;
  Diagnostics& diagnostics_;
  const OutputVisitor& visitor_;
  StreamJoin join_;
  int64_t bare_ = 0, given_ = 0;  // records without outputs and with some
  // Outputs of requests that are not finished, by request, in the order of their first print.
  std::map<std::string, size_t> held_by_request_;
  std::vector<Held> held_;
};

Status FileScan::read_header(RecordReader& reader, FileFacts& facts) {
  Record record;
  ULPSCOPE_ASSIGN(const bool found, reader.next(record));
  if (!found) return {};
  CsvRows rows(record.text);
  rows.next(facts.csv_header);
  parser_.set_header(facts.csv_header);
  return {};
}

Status FileScan::run(const Cancel& cancel, FileFacts& facts) {
  RecordReader reader(file_, format_.framing, diagnostics_);
  if (format_.format == OutputFormat::csv) ULPSCOPE_TRY(read_header(reader, facts));
  Record record;
  while (!cancel.requested()) {
    ULPSCOPE_ASSIGN(const bool found, reader.next(record));
    if (!found) break;
    take(record);
    if (given_ == 0 && bare_ >= kMostBare) {
      diagnostics_.add({Severity::error, Code::format, name_,
                        "no output in the first " + count_text(bare_) +
                            " records, expected choices, token ids or text; the rest is not read"});
      break;
    }
  }
  if (const int64_t more = bare_ - kMostTold; more > 0)
    diagnostics_.add(
        {Severity::warning, Code::format, name_,
         count_text(more) + (more == 1 ? " more record" : " more records") + " without an output"});
  join_.finish();
  for (Held& outputs : held_)
    for (auto& [output, place] : outputs) visitor_(std::move(output), place);
  return {};
}

void FileScan::take(const Record& record) {
  const auto where = [&] { return name_ + ": byte " + std::to_string(record.offset); };
  if (format_.format == OutputFormat::json && format_.framing == Framing::lines) {
    constexpr std::string_view kBefore = " \t\xef\xbb\xbf";
    const size_t begin = record.text.find_first_not_of(kBefore);
    if (begin != std::string_view::npos && record.text[begin] != '{') {
      diagnostics_.add(
          {Severity::warning, Code::format, where(), "a line that is no JSON object is passed over"});
      return;
    }
  }
  std::vector<ModelOutput> outputs;
  if (const Status read = parser_.append(record.text, outputs); !read.ok()) {
    diagnostics_.add(Severity::error, read.error(), where());
    return;
  }
  if (format_.format == OutputFormat::stream) return take_stream(record, std::move(outputs));
  if (outputs.empty() && format_.format != OutputFormat::print && ++bare_ <= kMostTold)
    diagnostics_.add({Severity::warning, Code::format, where(),
                      "no output in this record, expected choices, token ids or text"});
  given_ += outputs.empty() ? 0 : 1;
  Held held;
  for (uint32_t slot = 0; slot < outputs.size(); ++slot)
    held.emplace_back(std::move(outputs[slot]),
                      OutputPlace{index_, slot, {{record.offset, record.text.size()}}});
  if (format_.format == OutputFormat::request_output) return hold(std::move(held));
  for (auto& [output, place] : held) visitor_(std::move(output), place);
}

void FileScan::take_stream(const Record& record, std::vector<ModelOutput>&& outputs) {
  if (stream_data(record.text) == "[DONE]") return join_.done();
  for (ModelOutput& piece : outputs) join_.add(std::move(piece), {record.offset, record.text.size()});
}

// A print of a request that goes on replaces the one before it, and waits for the next.
void FileScan::hold(Held&& outputs) {
  if (outputs.empty()) return;
  const std::string request = outputs.front().first.request_id;
  const bool partial = outputs.front().first.is_partial;
  const auto known = held_by_request_.find(request);
  if (known == held_by_request_.end() && !partial) {
    for (auto& [output, place] : outputs) visitor_(std::move(output), place);
    return;
  }
  if (known == held_by_request_.end()) {
    held_by_request_[request] = held_.size();
    held_.push_back(std::move(outputs));
    return;
  }
  if (partial) {
    held_[known->second] = std::move(outputs);
    return;
  }
  for (auto& [output, place] : outputs) visitor_(std::move(output), place);
  held_[known->second].clear();
  held_by_request_.erase(known);
}

}  // namespace

Status scan_outputs(const std::vector<OutputFileHandle>& files, const ScanOptions& options,
                    Diagnostics& diagnostics, const Cancel& cancel, const OutputVisitor& visitor,
                    std::vector<FileFacts>& facts) {
  facts.assign(files.size(), {});
  for (uint32_t i = 0; i < files.size() && !cancel.requested(); ++i) {
    ULPSCOPE_ASSIGN(const File file, files[i].open());
    const auto format = find_output_format(file, options.format);
    if (!format.ok()) {
      if (format.error().code == Code::io) return format.error();
      diagnostics.add(Severity::error, format.error());
      continue;
    }
    facts[i].format = format->format;
    facts[i].usable = true;
    FileScan scan(file, files[i].name, i, *format, options, diagnostics, visitor);
    ULPSCOPE_TRY(scan.run(cancel, facts[i]));
  }
  return {};
}

Status scan_outputs(const std::vector<OutputFileHandle>& files, const ScanOptions& options,
                    Diagnostics& diagnostics, const Cancel& cancel, const OutputVisitor& visitor) {
  std::vector<FileFacts> facts;
  return scan_outputs(files, options, diagnostics, cancel, visitor, facts);
}

namespace {

Result<std::string> read_range(const File& file, ByteRange range) {
  if (range.offset > file.size() || range.size > file.size() - range.offset)
    return Error{Code::format, printable(file.path()) + ": byte " + std::to_string(range.offset) +
                                   ": the file is shorter than when it was first read"};
  std::string text(static_cast<size_t>(range.size) + TextWindow::kPaddingBytes, '\0');
  const std::span<char> target(text.data(), static_cast<size_t>(range.size));
  ULPSCOPE_TRY(file.read_exact(range.offset, std::as_writable_bytes(target)));
  return text;
}

// The pieces of one choice, line by line.
Status append_pieces(RecordParser& parser, const std::string& text, uint64_t size, int64_t choice,
                     std::optional<ModelOutput>& output) {
  std::string_view rest(text.data(), static_cast<size_t>(size));
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::vector<ModelOutput> pieces;
    ULPSCOPE_TRY(parser.append(rest.substr(0, end), pieces));
    for (ModelOutput& piece : pieces) {
      if (piece.choice != choice) continue;
      if (output)
        append_piece(*output, std::move(piece));
      else
        output = std::move(piece);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace

Result<ModelOutput> read_output(const File& file, OutputFormat format, const OutputPlace& place,
                                const std::vector<std::string>& csv_header) {
  RecordParser parser(format, {});
  parser.set_header(csv_header);
  const Error changed = {Code::format, printable(file.path()) + ": changed while it was read"};
  if (format == OutputFormat::stream) {
    std::optional<ModelOutput> output;
    for (const ByteRange& range : place.ranges) {
      ULPSCOPE_ASSIGN(const std::string text, read_range(file, range));
      ULPSCOPE_TRY(append_pieces(parser, text, range.size, place.slot, output));
    }
    if (!output) return changed;
    return *std::move(output);
  }
  if (place.ranges.size() != 1) return changed;
  ULPSCOPE_ASSIGN(const std::string text, read_range(file, place.ranges[0]));
  std::vector<ModelOutput> outputs;
  const std::string_view record(text.data(), static_cast<size_t>(place.ranges[0].size));
  if (!parser.append(record, outputs).ok() || place.slot >= outputs.size()) return changed;
  return std::move(outputs[place.slot]);
}

}  // namespace ulpscope
