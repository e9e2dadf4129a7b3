#include "report/sqlite.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "report/json.hpp"
#include "report/json_text.hpp"
#include "report/output_file.hpp"
#include "report/row_writer.hpp"

namespace ulpscope {
namespace {

// A metric that is not finite: SQLite has infinities but keeps a NaN as NULL, so all three are the texts of
// the JSON report.
constexpr const char* kSchema = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
CREATE TABLE runs (id INTEGER PRIMARY KEY, schema TEXT, version TEXT, command TEXT,
  target_path TEXT, target_source TEXT, target_task TEXT, target_level TEXT,
  target_ops INTEGER, target_tensors INTEGER,
  golden_path TEXT, golden_source TEXT, golden_task TEXT, golden_level TEXT,
  golden_ops INTEGER, golden_tensors INTEGER,
  policy_file TEXT, policy_profile TEXT, policy_hash TEXT, verdict TEXT, propagated INTEGER,
  pairs INTEGER, pass INTEGER, warning INTEGER, fail INTEGER, skip INTEGER,
  only_target INTEGER, only_golden INTEGER, unreadable INTEGER, diagnostics INTEGER);
CREATE TABLE ops (id INTEGER PRIMARY KEY, run INTEGER, step INTEGER, rank INTEGER, token INTEGER,
  op TEXT, golden_op TEXT, module TEXT);
CREATE TABLE rows (id INTEGER PRIMARY KEY, op INTEGER, tensor TEXT, golden_tensor TEXT, match TEXT,
  dtype TEXT, golden_dtype TEXT, shape TEXT, golden_shape TEXT, value TEXT, golden_value TEXT,
  mode TEXT, judgement TEXT, judged TEXT, cause TEXT, verdict TEXT, absent TEXT,
  unreadable INTEGER, message TEXT);
CREATE TABLE edges (consumer INTEGER PRIMARY KEY, producer INTEGER);
CREATE VIEW tensors AS
  SELECT rows.id AS row, 'target' AS side, ops.op AS op, tensor, dtype, shape FROM rows JOIN ops ON ops.id = rows.op
    WHERE shape IS NOT NULL
  UNION ALL
  SELECT rows.id, 'golden', ops.golden_op, golden_tensor, golden_dtype, golden_shape FROM rows JOIN ops ON ops.id = rows.op
    WHERE golden_shape IS NOT NULL;
CREATE TABLE diagnostics (id INTEGER PRIMARY KEY, run INTEGER, severity TEXT, code TEXT,
  place TEXT, text TEXT);
CREATE TABLE culprits (id INTEGER PRIMARY KEY, run INTEGER, suspect INTEGER, step INTEGER, rank INTEGER,
  token INTEGER, op TEXT, tensor TEXT, kind TEXT, confidence TEXT, module TEXT, details TEXT);
)";
constexpr const char* kIndexes = R"(
CREATE INDEX ops_by_name ON ops (op);
CREATE INDEX ops_by_place ON ops (step, rank);
CREATE INDEX rows_by_op ON rows (op);
CREATE INDEX rows_by_verdict ON rows (verdict);
CREATE INDEX edges_by_producer ON edges (producer);
)";
constexpr int64_t kRun = 1;
// SQLite's own limit is 2000 columns a table.
constexpr size_t kMostMetrics = 1900;

struct DatabaseEnd {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct StatementEnd {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// A prepared INSERT. Values are bound in order; add() runs it. The first error is kept and answered by
// status().
class Insert {
 public:
  Insert(sqlite3* database, const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database, sql, -1, &statement, nullptr));
    statement_.reset(statement);
  }

  Insert& number(int64_t value) {
    check(sqlite3_bind_int64(statement_.get(), ++at_, value));
    return *this;
  }
  // -1 stands for not known.
  Insert& number_or_null(int64_t value) { return value < 0 ? null() : number(value); }
  Insert& text(std::string_view value) {
    const std::string safe = valid_utf8(value);
    check(sqlite3_bind_text64(statement_.get(), ++at_, safe.data(), safe.size(), SQLITE_TRANSIENT,
                              SQLITE_UTF8));
    return *this;
  }
  Insert& text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }
  // A text of the program's own, which outlives the statement's run and is UTF-8.
  Insert& constant(std::string_view value) {
    check(
        sqlite3_bind_text64(statement_.get(), ++at_, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8));
    return *this;
  }
  Insert& metric(double value) {
    if (!std::isfinite(value)) return text(number_text(value));
    check(sqlite3_bind_double(statement_.get(), ++at_, value));
    return *this;
  }
  Insert& null() {
    check(sqlite3_bind_null(statement_.get(), ++at_));
    return *this;
  }
  void add() {
    const int code = sqlite3_step(statement_.get());
    if (code != SQLITE_DONE) check(code);
    sqlite3_reset(statement_.get());
    at_ = 0;
  }
  Status status() const {
    if (code_ == SQLITE_OK) return {};
    return Error{Code::io, sqlite3_errstr(code_)};
  }

 private:
  void check(int code) {
    if (code_ == SQLITE_OK) code_ = code;
  }
  std::unique_ptr<sqlite3_stmt, StatementEnd> statement_;
  int at_ = 0, code_ = SQLITE_OK;
};

// A database has one user here, so that no call of the library need lock or count. Has to come before the
// library is first used, and does nothing later.
void use_one_thread() {
  static const bool is_set = sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == SQLITE_OK &&
                             sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK;
  (void)is_set;
}

Status run_script(sqlite3* database, const char* sql) {
  const int code = sqlite3_exec(database, sql, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return Error{Code::io, sqlite3_errmsg(database)};
}

void bind_side(Insert& insert, const SideInfo& side) {
  insert.text(side.path)
      .text(side.source)
      .text(side.task)
      .text(side.level)
      .number(side.ops)
      .number(side.tensors);
}

Status insert_run(sqlite3* database, const ReportHead& head) {
  Insert insert(database,
                "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  std::string command = "[";
  for (const std::string& word : head.command) {
    if (command.size() > 1) command += ", ";
    append_json_string(command, word);
  }
  insert.number(kRun).text(head.schema).text(head.version).text(command + "]");
  bind_side(insert, head.target);
  bind_side(insert, head.golden);
  insert.text_or_null(head.policy_file).text(head.policy_profile).text(head.policy_hash);
  insert.text(head.localisation.verdict).number(head.localisation.propagated);
  const Summary& summary = head.summary;
  insert.number(summary.pairs)
      .number(summary.pass)
      .number(summary.warning)
      .number(summary.fail)
      .number(summary.skip);
  insert.number(summary.only_target)
      .number(summary.only_golden)
      .number(summary.unreadable)
      .number(summary.diagnostics);
  insert.add();
  return insert.status();
}

Status insert_culprits(sqlite3* database, const Localisation& localisation) {
  Insert insert(database, "INSERT INTO culprits VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?)");
  for (const auto* list : {&localisation.culprits, &localisation.suspects}) {
    for (const Culprit& culprit : *list) {
      std::string details;
      append_json_culprit(details, culprit);
      insert.number(kRun).number(list == &localisation.suspects);
      insert.number_or_null(culprit.step).number_or_null(culprit.rank).number_or_null(culprit.token);
      insert.text(culprit.op_name).text(culprit.tensor).text(culprit.kind).text(culprit.confidence);
      insert.text_or_null(culprit.module).text(details).add();
    }
  }
  return insert.status();
}

Status insert_diagnostics(sqlite3* database, const std::vector<Diagnostic>& diagnostics) {
  Insert insert(database, "INSERT INTO diagnostics VALUES (NULL,?,?,?,?,?)");
  for (const Diagnostic& diagnostic : diagnostics)
    insert.number(kRun)
        .constant(to_text(diagnostic.severity))
        .constant(to_text(diagnostic.code))
        .text(diagnostic.where)
        .text(diagnostic.text)
        .add();
  return insert.status();
}

void bind_shape(Insert& insert, const RowSide& side) {
  std::string shape;
  if (side.present && side.is_tensor) append_shape(shape, side.shape);
  insert.text_or_null(shape);
}

// A value of a side that holds an argument is a text, be it empty.
void bind_value(Insert& insert, const RowSide& side) {
  if (side.present && !side.is_tensor)
    insert.text(side.value);
  else
    insert.null();
}

void insert_row(Insert& insert, int64_t id, int64_t op, const RowView& row) {
  insert.number(id).number(op).text_or_null(row.target.item).text_or_null(row.golden.item).text(row.match);
  insert.text_or_null(row.target.dtype).text_or_null(row.golden.dtype);
  bind_shape(insert, row.target);
  bind_shape(insert, row.golden);
  bind_value(insert, row.target);
  bind_value(insert, row.golden);
  insert.text(row.mode).text(row.judgement).constant(to_text(row.judged));
  insert.text_or_null(row.cause == Cause::none ? std::string_view() : to_text(row.cause));
  insert.constant(to_text(row.verdict))
      .text_or_null(row.absent)
      .number(row.unreadable)
      .text_or_null(row.message)
      .add();
}

// The names of metrics as names of columns: SQLite takes any text in quotes, but holds "A" and "a" for one
// name.
Result<std::vector<std::string>> metric_columns_of(const std::vector<std::string>& names) {
  if (names.size() > kMostMetrics)
    return Error{Code::unsupported, std::to_string(names.size()) + " metrics, expected " +
                                        std::to_string(kMostMetrics) + " at most for a database"};
  std::set<std::string> taken = {"row"};
  std::vector<std::string> columns;
  for (const std::string& name : names) {
    std::string quoted = "\"", lower;
    for (const char c : valid_utf8(name)) {
      if (c == '"') quoted += c;
      if (c != '\0') quoted += c;
      lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    while (!taken.insert(lower).second) {
      lower += '_';
      quoted += '_';
    }
    columns.push_back(quoted + "\"");
  }
  return columns;
}

// One row a pair and one column a metric: a table of (row, name, value) would be ten times as long as the
// rows.
Result<std::string> create_metrics(sqlite3* database, const std::vector<std::string>& names) {
  ULPSCOPE_ASSIGN(const std::vector<std::string> columns, metric_columns_of(names));
  std::string create = "CREATE TABLE metrics (row INTEGER PRIMARY KEY",
              insert = "INSERT INTO metrics VALUES (?";
  for (const std::string& column : columns) {
    create += ", " + column;
    insert += ",?";
  }
  ULPSCOPE_TRY(run_script(database, (create + ")").c_str()));
  return insert + ")";
}

Status insert_rows(sqlite3* database, const ReportView& report, ThreadPool* pool) {
  ULPSCOPE_ASSIGN(const std::string insert_metrics, create_metrics(database, report.head().metric_names));
  Insert ops(database, "INSERT INTO ops VALUES (?,?,?,?,?,?,?,?)");
  Insert edges(database, "INSERT INTO edges VALUES (?,?)");
  Insert rows(database, "INSERT INTO rows VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  Insert metrics(database, insert_metrics.c_str());
  int64_t op_pair = -1, op = 0;
  visit_rows(report, pool, [&](const RowView& row, int64_t i) {
    if (row.op_pair != op_pair) {
      op_pair = row.op_pair;
      ops.number(++op).number(kRun).number_or_null(row.step).number_or_null(row.rank).number_or_null(
          row.token);
      ops.text_or_null(row.target.op).text_or_null(row.golden.op).text_or_null(row.module).add();
    }
    insert_row(rows, i + 1, op, row);
    if (row.producer >= 0) edges.number(i + 1).number(row.producer + 1).add();
    if (std::none_of(row.metrics.begin(), row.metrics.end(),
                     [](const auto& value) { return value.has_value(); }))
      return;
    metrics.number(i + 1);
    for (const std::optional<double>& value : row.metrics)
      if (value)
        metrics.metric(*value);
      else
        metrics.null();
    metrics.add();
  });
  ULPSCOPE_TRY(edges.status());
  ULPSCOPE_TRY(ops.status());
  ULPSCOPE_TRY(rows.status());
  return metrics.status();
}

Status fill(sqlite3* database, const ReportView& report, ThreadPool* pool) {
  ULPSCOPE_TRY(run_script(database, kSchema));
  ULPSCOPE_TRY(run_script(database, "BEGIN"));
  ULPSCOPE_TRY(insert_run(database, report.head()));
  ULPSCOPE_TRY(insert_culprits(database, report.head().localisation));
  ULPSCOPE_TRY(insert_diagnostics(database, report.head().diagnostics));
  ULPSCOPE_TRY(insert_rows(database, report, pool));
  ULPSCOPE_TRY(run_script(database, kIndexes));
  return run_script(database, "COMMIT");
}

}  // namespace

Status write_sqlite(const ReportView& report, const std::string& path, ThreadPool* pool) {
  use_one_thread();
  ULPSCOPE_ASSIGN(TemporaryFile file, TemporaryFile::beside(path));
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.path().c_str(), &opened,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<sqlite3, DatabaseEnd> database(opened);  // owned even when opening failed
  if (code != SQLITE_OK)
    return Error{Code::io, printable(path) + ": cannot be written: " + sqlite3_errstr(code)};
  Status filled = fill(database.get(), report, pool);
  if (!filled.ok()) return std::move(filled).error().within(printable(path));
  database.reset();
  return file.publish();
}

}  // namespace ulpscope
