#include "badcase/evaluation.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "outputs/output_format.hpp"
#include "outputs/record_parser.hpp"
#include "outputs/text_window.hpp"
#include "precision_compare/csv_rows.hpp"

namespace ulpscope {
namespace {

bool is_index(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

enum class Layout { records, details, members };

// Where the samples of a JSON file are: in "details", in members named by numbers, or one object after the
// other.
Layout layout_of(const File& file) {
  JsonLexer lexer(file);
  if (lexer.next() != JsonToken::begin_object) return Layout::records;
  bool first = true;
  while (lexer.next() == JsonToken::key) {
    const std::string key(lexer.text());
    const JsonToken value = lexer.next();
    const bool is_container = value == JsonToken::begin_object || value == JsonToken::begin_array;
    if (key == "details" && is_container) return Layout::details;
    if (first && is_index(key) && value == JsonToken::begin_object) return Layout::members;
    first = false;
    if (!skip_json_value(lexer, value)) break;
  }
  return Layout::records;
}

}  // namespace

// Samples without a key: told one by one, and before a file that has given no other counts as one of another
// kind.
constexpr int64_t kMostTold = 20, kMostKeyless = 100'000;

// One pass over one file.
class EvaluationSet::Reader {
 public:
  // file must outlive it; index: its place among the files of the set.
  Reader(EvaluationSet& set, const File& file, uint32_t index, Diagnostics& diagnostics)
      : set_(set), file_(file), name_(set.files_[index].name), index_(index), diagnostics_(diagnostics) {}

  Status run(const Cancel& cancel) {
    const auto format = find_output_format(file_, std::nullopt);
    if (!format.ok()) {
      if (format.error().code == Code::io) return format.error();
      diagnostics_.add(Severity::error, format.error());
      return {};
    }
    if (format->format == OutputFormat::csv) return read_rows(cancel);
    if (format->format != OutputFormat::json) {
      diagnostics_.add({Severity::error, Code::format, name_,
                        "no evaluation results, expected a CSV table, JSON results or JSON lines"});
      return {};
    }
    const Layout layout = layout_of(file_);
    return layout == Layout::records ? read_records(format->framing, cancel)
                                     : read_members(layout == Layout::details, cancel);
  }

 private:
  std::string where(uint64_t offset) const { return name_ + ": byte " + std::to_string(offset); }

  void keep(EvaluatedSample&& sample, uint64_t offset, uint64_t size) {
    if (sample.key.empty()) {
      if (++keyless_ <= kMostTold)
        diagnostics_.add(
            {Severity::warning, Code::format, where(offset), "a sample without a key is passed over"});
      return;
    }
    if (!sample.unclear.empty())
      diagnostics_.add({Severity::error, Code::format, where(offset),
                        "'" + printable(sample.unclear) + "', expected right or wrong (true, false, 1, 0)"});
    is_given_ = true;
    set_.samples_.push_back(
        {std::move(sample.key), std::move(sample.filter), sample.right, index_, offset, size});
  }

  Status read_rows(const Cancel& cancel) {
    FileFacts& facts = set_.facts_[index_];
    facts.is_csv = true;
    RecordReader reader(file_, Framing::rows, diagnostics_);
    Record record;
    std::vector<std::string> cells;
    for (bool header = true; !cancel.requested(); header = false) {
      ULPSCOPE_ASSIGN(const bool found, reader.next(record));
      if (!found) break;
      CsvRows rows(record.text);
      if (!rows.next(cells)) continue;
      if (header) {
        facts.columns = CsvColumns(cells);
        if (facts.columns.has("pass") || facts.columns.has("passed")) continue;
        diagnostics_.add({Severity::error, Code::format, name_, "no column pass or passed"});
        break;
      }
      keep(csv_sample(facts.columns, cells), record.offset, record.text.size());
    }
    return {};
  }

  Status read_records(Framing framing, const Cancel& cancel) {
    RecordReader reader(file_, framing, diagnostics_);
    Record record;
    while (!cancel.requested()) {
      ULPSCOPE_ASSIGN(const bool found, reader.next(record));
      if (!found) break;
      const Status read = read_json_record(record.text, tape_);
      if (read.ok())
        keep(json_sample(tape_, 0, set_.judges_), record.offset, record.text.size());
      else
        diagnostics_.add(Severity::error, read.error(), where(record.offset));
      if (is_given_ || keyless_ < kMostKeyless) continue;
      diagnostics_.add({Severity::error, Code::format, name_,
                        "no key in the first " + count_text(keyless_) +
                            " samples, expected one in each; the rest is not read"});
      break;
    }
    if (const int64_t more = keyless_ - kMostTold; more > 0)
      diagnostics_.add(
          {Severity::warning, Code::format, name_,
           count_text(more) + (more == 1 ? " more sample" : " more samples") + " without a key"});
    return {};
  }

  Status broken(const JsonLexer& lexer) {
    if (lexer.error().code == Code::io) return lexer.error();
    diagnostics_.add(Severity::error, lexer.error(), name_);
    return {};
  }

  // {"0": {…}, "1": {…}}, or the same, or a list, in "details".
  Status read_members(bool in_details, const Cancel& cancel) {
    JsonLexer lexer(file_);
    lexer.next();
    bool is_list = false;
    while (in_details) {
      const JsonToken token = lexer.next();
      if (token == JsonToken::broken) return broken(lexer);
      const bool here = token == JsonToken::key && lexer.text() == "details";
      const JsonToken value = lexer.next();
      is_list = value == JsonToken::begin_array;
      if (here && (is_list || value == JsonToken::begin_object)) break;
      if (!skip_json_value(lexer, value)) return broken(lexer);
    }
    JsonToken token = lexer.next();
    for (int64_t number = 0; !cancel.requested(); ++number) {
      if (token == JsonToken::broken) return broken(lexer);
      if (token == JsonToken::end_object || token == JsonToken::end_array) return {};
      std::string key = std::to_string(number);
      if (!is_list) {
        key = lexer.text();
        token = lexer.next();
      }
      const uint64_t begin = lexer.offset();
      const bool is_sample = token == JsonToken::begin_object && (is_list || is_index(key));
      const JsonRead read = is_sample ? tape_.read(lexer, token) : JsonRead::ok;
      if (read == JsonRead::broken || (!is_sample && !skip_json_value(lexer, token))) return broken(lexer);
      token = lexer.next();
      if (read != JsonRead::ok)
        diagnostics_.add(
            {Severity::error, Code::format, where(begin), "a sample too deep or too large to be read"});
      if (!is_sample || read != JsonRead::ok) continue;
      EvaluatedSample sample = json_sample(tape_, 0, set_.judges_);
      sample.key = std::move(key);
      keep(std::move(sample), begin, lexer.offset() - begin);
    }
    return {};
  }

  int64_t keyless_ = 0;
  bool is_given_ = false;  // a sample with a key
  EvaluationSet& set_;
  const File& file_;
  const std::string& name_;
  uint32_t index_;
  Diagnostics& diagnostics_;
  JsonTape tape_;
};

Result<EvaluationSet> EvaluationSet::read(const std::vector<std::string>& paths, bool judges,
                                          Diagnostics& diagnostics, const Cancel& cancel) {
  EvaluationSet set;
  set.judges_ = judges;
  ULPSCOPE_ASSIGN(set.files_, open_output_files(paths));
  set.facts_.resize(set.files_.size());
  for (uint32_t i = 0; i < set.files_.size() && !cancel.requested(); ++i) {
    ULPSCOPE_ASSIGN(const File file, set.files_[i].open());
    ULPSCOPE_TRY(Reader(set, file, i, diagnostics).run(cancel));
    if (set.samples_.size() > kMostSamples)
      return Error{Code::io, "expected at most " + std::to_string(kMostSamples) + " samples"};
  }
  if (set.samples_.empty() && !cancel.requested())
    return Error{Code::io, printable(paths.front()) + ": no sample that can be read"};
  return set;
}

Result<EvaluatedSample> EvaluationSet::load(const SampleEntry& entry) const {
  ULPSCOPE_ASSIGN(const File file, files_[entry.file].open());
  const Error changed{Code::format, printable(file.path()) + ": changed while it was read"};
  if (entry.offset > file.size() || entry.size > file.size() - entry.offset) return changed;
  const auto size = static_cast<size_t>(entry.size);
  std::string text(size + TextWindow::kPaddingBytes, '\0');
  ULPSCOPE_TRY(file.read_exact(entry.offset, std::as_writable_bytes(std::span(text.data(), size))));
  const std::string_view record(text.data(), size);
  if (facts_[entry.file].is_csv) {
    CsvRows rows(record);
    std::vector<std::string> cells;
    if (!rows.next(cells)) return changed;
    return csv_sample(facts_[entry.file].columns, cells);
  }
  JsonTape tape;
  JsonLexer lexer(std::string_view(text.data(), text.size()));
  if (tape.read(lexer) != JsonRead::ok) return changed;
  return json_sample(tape, 0, judges_);
}

}  // namespace ulpscope
