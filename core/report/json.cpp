#include "report/json.hpp"

#include "report/json_text.hpp"
#include "report/output_file.hpp"
#include "report/row_writer.hpp"

namespace ulpscope {
namespace {

// Appends members of one object with the commas between them.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }

  // Starts a member; the caller appends its value. name needs no escape.
  std::string& start(std::string_view name) {
    if (!first_) out_ += ", ";
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\": ";
    return out_;
  }
  void text(std::string_view name, std::string_view value) { append_json_string(start(name), value); }
  // An empty text stands for something that is not there.
  void text_or_null(std::string_view name, std::string_view value) {
    start(name);
    if (value.empty())
      out_ += "null";
    else
      append_json_string(out_, value);
  }
  void number(std::string_view name, int64_t value) { append_json_number(start(name), value); }
  // -1 stands for not known.
  void number_or_null(std::string_view name, int64_t value) {
    start(name);
    if (value < 0)
      out_ += "null";
    else
      append_json_number(out_, value);
  }
  void end() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

// Appends a list, one call of append(element) each.
template <class List, class Append>
void append_list(std::string& out, const List& list, Append append) {
  out += '[';
  bool first = true;
  for (const auto& element : list) {
    if (!first) out += ", ";
    first = false;
    append(element);
  }
  out += ']';
}

void append_texts(std::string& out, const std::vector<std::string>& texts) {
  append_list(out, texts, [&](const std::string& text) { append_json_string(out, text); });
}

void append_side(std::string& out, const SideInfo& side) {
  Members members(out);
  members.text("path", side.path);
  members.text("source", side.source);
  members.text("task", side.task);
  members.text("level", side.level);
  members.number("ops", side.ops);
  members.number("tensors", side.tensors);
  members.end();
}

void append_summary(std::string& out, const Summary& summary) {
  Members members(out);
  members.number("pairs", summary.pairs);
  members.number("pass", summary.pass);
  members.number("warning", summary.warning);
  members.number("fail", summary.fail);
  members.number("skip", summary.skip);
  members.number("only_target", summary.only_target);
  members.number("only_golden", summary.only_golden);
  members.number("unreadable", summary.unreadable);
  members.number("diagnostics", summary.diagnostics);
  members.end();
}

void append_evidence(std::string& out, const Culprit& culprit) {
  out += '{';
  bool first = true;
  for (const auto& [name, value] : culprit.evidence) {
    if (!first) out += ", ";
    first = false;
    append_json_string(out, name);
    out += ": ";
    append_json_number_or_string(out, value);
  }
  out += '}';
}

void append_worst(std::string& out, const PlacedElement& worst) {
  Members members(out);
  append_json_shape(members.start("index"), worst.index);
  append_json_number(members.start("target"), worst.target);
  append_json_number(members.start("golden"), worst.golden);
  members.end();
}

void append_localisation(std::string& out, const Localisation& localisation) {
  Members members(out);
  members.text("verdict", localisation.verdict);
  const auto append = [&](const Culprit& culprit) { append_json_culprit(out, culprit); };
  append_list(members.start("culprits"), localisation.culprits, append);
  append_list(members.start("suspects"), localisation.suspects, append);
  members.number("propagated", localisation.propagated);
  append_texts(members.start("notes"), localisation.notes);
  members.end();
}

void append_diagnostic(std::string& out, const Diagnostic& diagnostic) {
  Members members(out);
  members.text("severity", to_text(diagnostic.severity));
  members.text("code", to_text(diagnostic.code));
  members.text("where", diagnostic.where);
  members.text("text", diagnostic.text);
  members.end();
}

void append_policy(std::string& out, const ReportHead& head) {
  Members members(out);
  members.text_or_null("file", head.policy_file);
  members.text("profile", head.policy_profile);
  members.text("hash", head.policy_hash);
  members.end();
}

// A member with one entry for the target and one for the golden side, null where a side has none.
template <class Append>
void append_both(std::string& out, const RowView& row, bool (*has)(const RowSide&), Append append) {
  out += '[';
  for (const RowSide* side : {&row.target, &row.golden}) {
    if (side == &row.golden) out += ", ";
    if (has(*side))
      append(*side);
    else
      out += "null";
  }
  out += ']';
}

bool is_present(const RowSide& side) { return side.present; }
bool is_tensor(const RowSide& side) { return side.present && side.is_tensor; }
bool is_value(const RowSide& side) { return side.present && !side.is_tensor; }

void append_row_metrics(std::string& out, const RowView& row, const std::vector<std::string>& keys) {
  out += '{';
  bool first = true;
  for (size_t i = 0; i < row.metrics.size(); ++i) {
    if (!row.metrics[i]) continue;
    if (!first) out += ", ";
    first = false;
    out += keys[i];
    append_json_number(out, *row.metrics[i]);
  }
  out += '}';
}

// "histogram": errors by powers of two.
void append_octaves(std::string& out, const ErrorOctaves& octaves) {
  Members members(out);
  members.number("first", octaves.first);
  members.number("zeros", octaves.zeros);
  append_json_shape(members.start("counts"), octaves.counts);
  members.end();
}

// Where the row stands and what it pairs.
void append_place(Members& members, const RowView& row) {
  members.number_or_null("step", row.step);
  members.number_or_null("rank", row.rank);
  if (row.token >= 0) members.number("token", row.token);
  // Text in every row, empty where a side has none: readers need not tell a missing name from another.
  members.text("op", row.target.op);
  members.text("tensor", row.target.item);
  members.text("golden_op", row.golden.op);
  members.text("golden_tensor", row.golden.item);
  members.text("match", row.match);
}

// keys: the metric names as they stand before a value, "\"cosine\": ".
void append_row(std::string& out, const RowView& row, const std::vector<std::string>& keys) {
  Members members(out);
  append_place(members, row);
  append_both(members.start("dtype"), row, is_present,
              [&](const RowSide& side) { append_json_string(out, side.dtype); });
  append_both(members.start("shape"), row, is_tensor,
              [&](const RowSide& side) { append_json_shape(out, side.shape); });
  if (is_value(row.target) || is_value(row.golden))
    append_both(members.start("value"), row, is_value,
                [&](const RowSide& side) { append_json_value(out, side.value); });
  if (row.mode == "digest")
    append_both(members.start("digest"), row, is_tensor,
                [&](const RowSide& side) { append_json_string(out, side.digest); });
  members.text("mode", row.mode);
  members.text("judgement", row.judgement);
  members.text("judged", to_text(row.judged));
  if (row.cause != Cause::none) members.text("cause", to_text(row.cause));
  members.text("verdict", to_text(row.verdict));
  if (!row.absent.empty()) members.text("absent", row.absent);
  if (row.unreadable) members.start("unreadable") += "true";
  if (row.bit_identical) members.start("bit_identical") += "true";
  if (!row.module.empty()) members.text("module", row.module);
  if (row.producer >= 0) members.number("producer", row.producer);
  append_row_metrics(members.start("metrics"), row, keys);
  if (row.has_octaves) append_octaves(members.start("histogram"), row.octaves);
  members.text("message", row.message);
  members.end();
}

}  // namespace

void append_json_culprit(std::string& out, const Culprit& culprit) {
  Members members(out);
  members.text("op", culprit.op_name);
  members.text("tensor", culprit.tensor);
  members.text("kind", culprit.kind);
  members.number_or_null("step", culprit.step);
  members.number_or_null("rank", culprit.rank);
  if (culprit.token >= 0) members.number("token", culprit.token);
  members.text("confidence", culprit.confidence);
  members.text_or_null("module", culprit.module);
  append_texts(members.start("stack"), culprit.stack);
  append_evidence(members.start("evidence"), culprit);
  append_texts(members.start("next"), culprit.next);
  append_list(members.start("worst"), culprit.worst,
              [&](const PlacedElement& worst) { append_worst(out, worst); });
  members.end();
}

void append_json_head(std::string& out, const ReportHead& head) {
  out += "{\n\"schema\": ";
  append_json_string(out, head.schema);
  const auto start = [&](std::string_view name) -> std::string& {
    return out.append(",\n\"").append(name).append("\": ");
  };
  append_json_string(start("version"), head.version);
  append_texts(start("command"), head.command);
  append_side(start("target"), head.target);
  append_side(start("golden"), head.golden);
  if (head.reference)
    append_side(start("reference"), *head.reference);
  else
    start("reference") += "null";
  append_policy(start("policy"), head);
  append_summary(start("summary"), head.summary);
  append_localisation(start("localisation"), head.localisation);
  append_texts(start("notices"), head.notices);
}

void append_json_diagnostics(std::string& out, const ReportHead& head) {
  append_list(out, head.diagnostics,
              [&](const Diagnostic& diagnostic) { append_diagnostic(out, diagnostic); });
}

Status write_json(const ReportView& report, const std::string& path, ThreadPool* pool) {
  ULPSCOPE_ASSIGN(OutputFile file, OutputFile::create(path));
  std::string& out = file.text();
  const ReportHead& head = report.head();
  append_json_head(out, head);
  std::vector<std::string> keys;
  for (const std::string& name : head.metric_names) {
    append_json_string(keys.emplace_back(), name);
    keys.back() += ": ";
  }
  out += ",\n\"rows\": [";
  const auto append = [&](std::string& text, const RowView& row, int64_t i) {
    text += i == 0 ? "\n" : ",\n";
    append_row(text, row, keys);
  };
  write_rows(file, report, append, pool, RowParts{.octaves = true});
  out += "\n],\n\"diagnostics\": ";
  append_json_diagnostics(out, head);
  out += "\n}\n";
  return file.commit();
}

}  // namespace ulpscope
