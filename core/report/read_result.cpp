#include "report/read_result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/file.hpp"
#include "base/text.hpp"
#include "report/metrics.hpp"

namespace ulpscope {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr size_t kMaxMetricNames = 10'000;
constexpr int32_t kLeastExponent = -1023,
                  kGreatestExponent = 1023;  // of a double; subnormals share the least
constexpr std::string_view kSchemaName = "ulpscope.compare/1";

// What is wrong with a member. Thrown and caught in this file only: the parser calls back from inside a
// library.
struct BadMember {
  std::string text;
};

// A JSON object with checked access. place: for messages, "rows[3]".
class Object {
 public:
  Object(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) throw BadMember{(place_.empty() ? "the whole" : place_) + ": expected an object"};
  }

  const Json* find(const char* name) const {
    const auto found = json_.find(name);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  std::string text(const char* name) const {
    const Json* value = find(name);
    if (value == nullptr) return "";
    if (!value->is_string()) throw BadMember{place(name) + ": expected a string"};
    return value->get<std::string>();
  }
  int64_t integer(const char* name, int64_t otherwise, int64_t low, int64_t high) const {
    const Json* value = find(name);
    if (value == nullptr) return otherwise;
    if (!value->is_number_integer() || (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX) ||
        value->get<int64_t>() < low || value->get<int64_t>() > high)
      throw BadMember{place(name) + ": expected an integer of at least " + std::to_string(low)};
    return value->get<int64_t>();
  }
  int64_t count(const char* name) const { return integer(name, 0, 0, INT64_MAX); }
  // A number of a step, rank or token; -1 where it is not known.
  int32_t place_number(const char* name) const {
    return static_cast<int32_t>(integer(name, -1, 0, INT32_MAX));
  }
  bool flag(const char* name) const {
    const Json* value = find(name);
    if (value == nullptr) return false;
    if (!value->is_boolean()) throw BadMember{place(name) + ": expected true or false"};
    return value->get<bool>();
  }
  // The elements of a list; empty where it is not there.
  const Json& list(const char* name) const {
    static const Json kEmpty = Json::array();
    const Json* value = find(name);
    if (value == nullptr) return kEmpty;
    if (!value->is_array()) throw BadMember{place(name) + ": expected a list"};
    return *value;
  }
  std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> out;
    for (const Json& element : list(name)) {
      if (!element.is_string()) throw BadMember{place(name) + ": expected strings"};
      out.push_back(element.get<std::string>());
    }
    return out;
  }
  std::string place(const char* name) const { return place_.empty() ? name : place_ + "." + name; }

 private:
  const Json& json_;
  std::string place_;
};

double number_of(const Json& value, const std::string& place) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  }
  throw BadMember{place + ": expected a number, \"NaN\", \"Infinity\" or \"-Infinity\""};
}

std::vector<int64_t> integers_of(const Json& value, const std::string& place) {
  if (!value.is_array()) throw BadMember{place + ": expected a list"};
  std::vector<int64_t> out;
  for (const Json& element : value) {
    if (!element.is_number_integer()) throw BadMember{place + ": expected integers"};
    out.push_back(element.get<int64_t>());
  }
  return out;
}

template <class Enum>
Enum word_of(const Object& object, const char* name, std::initializer_list<Enum> words, Enum otherwise) {
  const std::string text = object.text(name);
  if (text.empty()) return otherwise;
  for (const Enum word : words)
    if (text == to_text(word)) return word;
  throw BadMember{object.place(name) + ": '" + printable(text) + "' is no word of the schema"};
}

Verdict verdict_of(const Object& object, const char* name) {
  return word_of(object, name, {Verdict::skip, Verdict::pass, Verdict::warning, Verdict::fail},
                 Verdict::skip);
}

SideInfo side_of(const Object& head, const char* name) {
  SideInfo side;
  const Json* value = head.find(name);
  if (value == nullptr) return side;
  const Object object(*value, name);
  side.path = object.text("path");
  side.source = object.text("source");
  side.task = object.text("task");
  side.level = object.text("level");
  side.ops = object.count("ops");
  side.tensors = object.count("tensors");
  return side;
}

Summary summary_of(const Object& object) {
  Summary summary;
  summary.pairs = object.count("pairs");
  summary.pass = object.count("pass");
  summary.warning = object.count("warning");
  summary.fail = object.count("fail");
  summary.skip = object.count("skip");
  summary.only_target = object.count("only_target");
  summary.only_golden = object.count("only_golden");
  summary.unreadable = object.count("unreadable");
  summary.diagnostics = object.count("diagnostics");
  return summary;
}

Culprit culprit_of(const Json& json, const std::string& place) {
  const Object object(json, place);
  Culprit culprit;
  culprit.op_name = object.text("op");
  culprit.tensor = object.text("tensor");
  culprit.kind = object.text("kind");
  culprit.confidence = object.text("confidence");
  culprit.module = object.text("module");
  culprit.step = object.place_number("step");
  culprit.rank = object.place_number("rank");
  culprit.token = object.place_number("token");
  culprit.stack = object.texts("stack");
  culprit.next = object.texts("next");
  if (const Json* evidence = object.find("evidence")) {
    const Object members(*evidence, object.place("evidence"));
    for (const auto& [name, value] : evidence->items())
      culprit.evidence.emplace_back(name, value.is_string()      ? value.get<std::string>()
                                          : value.is_primitive() ? value.dump()
                                                                 : "");
  }
  for (const Json& element : object.list("worst")) {
    const Object worst(element, object.place("worst"));
    PlacedElement found;
    if (const Json* index = worst.find("index")) found.index = integers_of(*index, worst.place("index"));
    if (const Json* target = worst.find("target")) found.target = number_of(*target, worst.place("target"));
    if (const Json* golden = worst.find("golden")) found.golden = number_of(*golden, worst.place("golden"));
    culprit.worst.push_back(std::move(found));
  }
  return culprit;
}

Localisation localisation_of(const Object& object) {
  Localisation localisation;
  localisation.verdict = object.text("verdict");
  for (const Json& element : object.list("culprits"))
    localisation.culprits.push_back(culprit_of(element, "localisation.culprits"));
  for (const Json& element : object.list("suspects"))
    localisation.suspects.push_back(culprit_of(element, "localisation.suspects"));
  localisation.propagated = object.count("propagated");
  localisation.notes = object.texts("notes");
  return localisation;
}

Diagnostic diagnostic_of(const Json& json) {
  const Object object(json, "diagnostics");
  Diagnostic diagnostic;
  diagnostic.severity =
      word_of(object, "severity", {Severity::notice, Severity::warning, Severity::error}, Severity::warning);
  diagnostic.code = word_of(object, "code",
                            {Code::usage, Code::io, Code::format, Code::unsupported, Code::cancelled,
                             Code::no_memory, Code::internal},
                            Code::format);
  diagnostic.where = object.text("where");
  diagnostic.text = object.text("text");
  return diagnostic;
}

// One of the two entries of a list such as "dtype"; null where there is none.
const Json* of_side(const Object& row, const char* name, size_t side) {
  const Json& both = row.list(name);
  return side < both.size() && !both[side].is_null() ? &both[side] : nullptr;
}

StoredSide stored_side(const Object& row, size_t side) {
  StoredSide out;
  out.op = row.text(side == 0 ? "op" : "golden_op");
  out.item = row.text(side == 0 ? "tensor" : "golden_tensor");
  const Json* dtype = of_side(row, "dtype", side);
  out.present = dtype != nullptr;
  if (!out.present) return out;
  if (!dtype->is_string()) throw BadMember{row.place("dtype") + ": expected strings"};
  out.dtype = dtype->get<std::string>();
  const Json* shape = of_side(row, "shape", side);
  out.is_tensor = shape != nullptr;
  if (shape != nullptr) out.shape = integers_of(*shape, row.place("shape"));
  if (const Json* value = of_side(row, "value", side)) out.value = value->dump();
  if (const Json* digest = of_side(row, "digest", side)) {
    if (!digest->is_string()) throw BadMember{row.place("digest") + ": expected strings"};
    out.digest = digest->get<std::string>();
  }
  return out;
}

ErrorOctaves octaves_of(const Object& object) {
  ErrorOctaves octaves;
  octaves.first = static_cast<int32_t>(object.integer("first", 0, kLeastExponent, kGreatestExponent));
  octaves.zeros = object.count("zeros");
  if (const Json* counts = object.find("counts"))
    octaves.counts = integers_of(*counts, object.place("counts"));
  for (const int64_t count : octaves.counts)
    if (count < 0) throw BadMember{object.place("counts") + ": expected counts"};
  if (static_cast<int64_t>(octaves.counts.size()) > int64_t{kGreatestExponent} - octaves.first + 1)
    throw BadMember{object.place("counts") + ": more than there are powers of two"};
  return octaves;
}

// Builds the result while the file is parsed: rows are taken one by one and dropped from the tree.
class Builder {
 public:
  Builder(StoredResult& result, const ReadLimits& limits) : result_(result), limits_(limits) {
    for (const MetricColumn& column : metric_columns()) name_index(std::string(column.name));
  }

  bool on_event(int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxDepth) throw BadMember{"nested deeper than " + std::to_string(kMaxDepth)};
    if (depth == 1 && event == Json::parse_event_t::key) in_rows_ = parsed == "rows";
    if (!in_rows_ || depth != 2 || event == Json::parse_event_t::object_start) return true;
    if (event == Json::parse_event_t::array_start || event == Json::parse_event_t::value)
      throw BadMember{"rows: expected objects"};
    if (event != Json::parse_event_t::object_end) return true;
    add_row(parsed);
    return false;
  }

  void finish(const Json& json) {
    const Object root(json, "");
    ReportHead& head = result_.head;
    head.schema = root.text("schema");
    if (head.schema != kSchemaName)
      throw BadMember{"schema: '" + printable(head.schema) + "', expected " + std::string(kSchemaName)};
    head.version = root.text("version");
    head.command = root.texts("command");
    head.target = side_of(root, "target");
    head.golden = side_of(root, "golden");
    if (root.find("reference") != nullptr) head.reference = side_of(root, "reference");
    if (const Json* policy = root.find("policy")) {
      const Object object(*policy, "policy");
      head.policy_file = object.text("file");
      head.policy_profile = object.text("profile");
      head.policy_hash = object.text("hash");
    }
    if (const Json* summary = root.find("summary")) head.summary = summary_of(Object(*summary, "summary"));
    if (const Json* localisation = root.find("localisation"))
      head.localisation = localisation_of(Object(*localisation, "localisation"));
    head.notices = root.texts("notices");
    for (const Json& element : root.list("diagnostics")) head.diagnostics.push_back(diagnostic_of(element));
    link_culprits();
    const auto rows = static_cast<int64_t>(result_.rows.size());
    for (size_t i = 0; i < result_.rows.size(); ++i)
      if (result_.rows[i].producer >= rows)
        throw BadMember{"rows[" + std::to_string(i) + "].producer: expected the number of a row"};
  }

 private:
  uint32_t name_index(const std::string& name) {
    const auto [found, added] = names_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (added) result_.head.metric_names.push_back(name);
    if (names_.size() > kMaxMetricNames)
      throw BadMember{"rows: more than " + std::to_string(kMaxMetricNames) + " metric names"};
    return found->second;
  }

  void add_row(const Json& json) {
    if (result_.rows.size() >= limits_.rows)
      throw BadMember{"rows: more than " + std::to_string(limits_.rows)};
    const std::string place = "rows[" + std::to_string(result_.rows.size()) + "]";
    const Object object(json, place);
    StoredRow row;
    row.step = object.place_number("step");
    row.rank = object.place_number("rank");
    row.token = object.place_number("token");
    row.target = stored_side(object, 0);
    row.golden = stored_side(object, 1);
    row.match = object.text("match");
    row.mode = object.text("mode");
    row.judgement = object.text("judgement");
    row.judged = verdict_of(object, "judged");
    row.verdict = verdict_of(object, "verdict");
    row.cause = word_of(object, "cause", {Cause::culprit, Cause::rounding, Cause::inherited}, Cause::none);
    row.absent = object.text("absent");
    row.message = object.text("message");
    row.unreadable = object.flag("unreadable");
    row.bit_identical = object.flag("bit_identical");
    if (const Json* metrics = object.find("metrics")) {
      const Object checked(*metrics, object.place("metrics"));
      for (const auto& [name, value] : metrics->items())
        row.metrics.emplace_back(name_index(name), number_of(value, checked.place(name.c_str())));
    }
    row.module = object.text("module");
    row.producer = object.integer("producer", -1, 0, INT64_MAX);
    if (const Json* histogram = object.find("histogram"))
      row.octaves = octaves_of(Object(*histogram, object.place("histogram")));
    row.op_pair = op_pair_of(row);
    result_.rows.push_back(std::move(row));
  }

  // Rows of one call follow each other; a row of one side only belongs to the call before it when that has
  // its op.
  int64_t op_pair_of(const StoredRow& row) {
    if (result_.rows.empty()) return 0;
    const StoredRow& last = result_.rows.back();
    const bool same_place = last.step == row.step && last.rank == row.rank && last.token == row.token;
    const auto agrees = [](const StoredSide& a, const StoredSide& b) {
      return !a.present || !b.present || a.op == b.op;
    };
    const auto shares = [](const StoredSide& a, const StoredSide& b) {
      return a.present && b.present && a.op == b.op;
    };
    const bool same = same_place && agrees(last.target, row.target) && agrees(last.golden, row.golden) &&
                      (shares(last.target, row.target) || shares(last.golden, row.golden));
    return same ? last.op_pair : last.op_pair + 1;
  }

  // A culprit knows its row by name only.
  void link_culprits() {
    for (auto* list : {&result_.head.localisation.culprits, &result_.head.localisation.suspects}) {
      for (Culprit& culprit : *list) {
        const auto found = std::find_if(result_.rows.begin(), result_.rows.end(), [&](const StoredRow& row) {
          const StoredSide& named = row.target.present ? row.target : row.golden;
          return named.op == culprit.op_name && named.item == culprit.tensor && row.step == culprit.step &&
                 row.rank == culprit.rank && row.token == culprit.token;
        });
        if (found != result_.rows.end()) culprit.row = found - result_.rows.begin();
      }
    }
  }

  StoredResult& result_;
  const ReadLimits& limits_;
  std::map<std::string, uint32_t> names_;
  bool in_rows_ = false;
};

// What the JSON library says, without the name of its exception in front.
std::string json_problem(std::string_view text) {
  const size_t end = text.find("] ");
  if (text.substr(0, 1) == "[" && end != std::string_view::npos) text.remove_prefix(end + 2);
  return printable(text);
}

void view_side(const StoredSide& stored, RowSide& side) {
  side = {stored.present, stored.is_tensor, stored.op,    stored.item,
          stored.dtype,   stored.shape,     stored.value, stored.digest};
}

}  // namespace

Result<StoredResult> read_result(const std::string& path, const ReadLimits& limits) {
  ULPSCOPE_ASSIGN(const File file, File::open(path));
  ULPSCOPE_ASSIGN(const std::string text, file.read_text(limits.file_bytes));
  // The parser takes a NUL for the end of its input.
  if (const size_t nul = text.find('\0'); nul != std::string::npos)
    return Error{Code::format, printable(path) + ": not a result: byte " + std::to_string(nul) +
                                   " is a NUL, expected JSON text"};
  StoredResult result;
  try {
    Builder builder(result, limits);
    const Json json = Json::parse(text, [&](int depth, Json::parse_event_t event, Json& parsed) {
      return builder.on_event(depth, event, parsed);
    });
    builder.finish(json);
  } catch (const BadMember& bad) {
    return Error{Code::format, printable(path) + ": " + bad.text};
  } catch (const Json::exception& error) {
    return Error{Code::format, printable(path) + ": not a result: " + json_problem(error.what())};
  }
  return result;
}

RowOutline StoredView::outline(int64_t index) const {
  const StoredRow& row = result_.rows[static_cast<size_t>(index)];
  return {row.target.present, row.golden.present, row.op_pair, row.match, row.mode, row.message, row.verdict};
}

void StoredView::read_row(int64_t index, RowView& view) const {
  const StoredRow& row = result_.rows[static_cast<size_t>(index)];
  view_side(row.target, view.target);
  view_side(row.golden, view.golden);
  view.step = row.step;
  view.rank = row.rank;
  view.token = row.token;
  view.op_pair = row.op_pair;
  view.module = row.module;
  view.producer = row.producer;
  view.match = row.match;
  view.mode = row.mode;
  view.judgement = row.judgement;
  view.absent = row.absent;
  view.message = row.message;
  view.judged = row.judged;
  view.verdict = row.verdict;
  view.cause = row.cause;
  view.unreadable = row.unreadable;
  view.bit_identical = row.bit_identical;
  view.has_octaves = view.wants_octaves && row.octaves.has_value();
  if (view.has_octaves) view.octaves = *row.octaves;
  view.metrics.clear();
  if (!view.wants_metrics) return;
  view.metrics.resize(result_.head.metric_names.size());
  for (const auto& [name, value] : row.metrics) view.metrics[name] = value;
}

}  // namespace ulpscope
