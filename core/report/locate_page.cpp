#include "report/locate_page.hpp"

#include <fmt/format.h>

#include <map>

#include "base/text.hpp"
#include "locate/evidence.hpp"
#include "report/page_members.hpp"
#include "report/page_table.hpp"
#include "report/result_members.hpp"

namespace ulpscope {
namespace {

// Columns of the table of operators that differ: a row an operator of a step.
const std::vector<std::string> kColumns = {"step_index", "order",   "verdict",  "first",
                                           "op",         "op_type", "original", "inputs"};
constexpr size_t kMostStatic = 50;

struct StageOfFile {
  std::string dump, fusion;
};

class LocatePage {
 public:
  LocatePage(const File& file, const HtmlOptions& options)
      : file_(file), options_(options), table_(kColumns, "") {}

  Status read() {
    JsonLexer lexer(file_);
    switch (tape_.read(lexer)) {
      case JsonRead::ok:
        break;
      case JsonRead::broken:
        return problem(lexer.error());
      default:
        return problem({Code::format, "too large or too deep for a result of locate"});
    }
    ResultMembers members(tape_, "");
    members.expect(tape_.is(0, JsonKind::object), "", "an object");
    if (members.text(0, "schema") != kLocateSchema) members.expect(false, "schema", "ulpscope.locate/1");
    read_head(members);
    read_stages(members);
    read_steps(members);
    read_request(members);
    if (members.error()) return problem(*members.error());
    return {};
  }

  Status write(const std::string& path, ThreadPool* pool) const {
    std::string page;
    add_member(page, "all_rows", all_rows_);
    add_member(page, "next", next_);
    ULPSCOPE_ASSIGN(const PageBlocks blocks, table_.finish(head_, page, pool));
    return write_page(path, options_.language, static_text(), blocks);
  }

 private:
  Error problem(Error error) const {
    error.message = printable(file_.path()) + ": not a result of locate: " + error.message;
    return error;
  }

  void read_head(ResultMembers& members) {
    outcome_ = members.text(0, "outcome");
    keep_list_ = members.texts(0, "keep_list");
    golden_.dump = members.text(0, "golden");
    for (const char* name : {"schema", "version", "outcome", "stage_file", "golden"})
      add_member(head_, name, members.text(0, name));
    add_member(head_, "keep_list", keep_list_);
    for (const char* name : {"op_limit", "accuracy_limit"})
      add_member(head_, name, members.number(members.find(0, name), name));
  }

  void read_stages(ResultMembers& members) {
    head_ += "\"stages\":[";
    members.each(members.find(0, "stages"), "stages", JsonKind::array, [&](uint32_t stage) {
      head_ += head_.back() == '[' ? "{" : ",{";
      const std::string name(members.text(stage, "name"));
      StageOfFile& found = stages_[name];
      found = {std::string(members.text(stage, "dump")), std::string(members.text(stage, "fusion"))};
      add_member(head_, "name", name);
      add_member(head_, "dump", found.dump);
      add_member(head_, "fusion", found.fusion);
      add_member(head_, "keep", members.texts(stage, "keep"));
      head_.back() = '}';
    });
    head_ += "],";
  }

  void read_steps(ResultMembers& members) {
    head_ += "\"steps\":[";
    int32_t number = 0;
    members.each(members.find(0, "steps"), "steps", JsonKind::array, [&](uint32_t step) {
      members.enter("steps[" + std::to_string(number) + "]");
      members.expect(tape_.is(step, JsonKind::object), "", "an object");
      head_ += number == 0 ? "{" : ",{";
      add_step(members, step, number++);
      head_.back() = '}';
    });
    members.enter("");
    head_ += "],";
  }

  void add_step(ResultMembers& members, uint32_t step, int32_t number) {
    for (const char* name : {"step", "stage", "next", "met_by", "mine", "reference"})
      add_member(head_, name, members.text(step, name));
    add_member(head_, "round", members.count(step, "round"));
    add_member(head_, "final_cosine", members.number(members.find(step, "final_cosine"), "final_cosine"));
    const std::optional<bool> met = members.truth(step, "met");
    head_ += fmt::format("\"met\":{},", !met ? "null" : *met ? "true" : "false");
    add_member(head_, "keep_list", members.texts(step, "keep_list"));
    add_member(head_, "notes", members.texts(step, "notes"));
    add_first(members, step);
    add_inputs(members, step);
    const int64_t before = all_rows_;
    members.each(members.find(step, "differing"), "differing", JsonKind::array,
                 [&](uint32_t op) { add_operator(members, op, number, all_rows_ - before); });
    add_member(head_, "differing", all_rows_ - before);
  }

  void add_first(ResultMembers& members, uint32_t step) {
    const uint32_t first = members.find(step, "first");
    if (first == JsonTape::kNone) return;
    members.expect(tape_.is(first, JsonKind::object), "first", "an object");
    const std::string op(members.text(first, "op"));
    culprits_.push_back(op);
    head_ += "\"first\":{";
    add_member(head_, "op", op);
    add_member(head_, "op_type", members.text(first, "op_type"));
    add_member(head_, "inputs", members.text(first, "inputs"));
    add_member(head_, "output", members.count(first, "output"));
    add_member(head_, "cosine", members.number(members.find(first, "cosine"), "cosine"));
    add_member(head_, "original_ops", members.texts(first, "original_ops"));
    head_.back() = '}';
    head_ += ',';
    look_closer(std::string(members.text(step, "mine")), std::string(members.text(step, "reference")), op);
  }

  // What shows the tensors of an operator beside those of the other build.
  void look_closer(const std::string& mine, const std::string& reference, const std::string& op) {
    const StageOfFile &a = stages_[mine], &b = reference == "golden" ? golden_ : stages_[reference];
    if (a.dump.empty() || b.dump.empty()) return;
    std::string compare = "ulpscope compare " + shell_word(a.dump) + " " + shell_word(b.dump);
    if (!a.fusion.empty()) compare += " -fr " + shell_word(a.fusion);
    if (!b.fusion.empty()) compare += " -cfr " + shell_word(b.fusion);
    next_ = {printable(compare + " --explain " + shell_word(op)),
             printable("ulpscope list " + shell_word(a.dump) + " --tensors --filter " + shell_word(op))};
  }

  void add_inputs(ResultMembers& members, uint32_t step) {
    head_ += "\"inputs\":[";
    members.each(members.find(step, "inputs"), "inputs", JsonKind::array, [&](uint32_t input) {
      head_ += head_.back() == '[' ? "{" : ",{";
      add_member(head_, "name", members.text(input, "name"));
      add_member(head_, "problem", members.text(input, "problem"));
      add_member(head_, "cosine", members.number(members.find(input, "cosine"), "cosine"));
      add_member(head_, "max_abs_err", members.number(members.find(input, "max_abs_err"), "max_abs_err"));
      head_ += members.truth(input, "equal").value_or(false) ? "\"equal\":true}" : "\"equal\":false}";
    });
    head_ += "],";
  }

  void add_operator(ResultMembers& members, uint32_t op, int32_t step, int64_t order) {
    const std::string_view inputs = members.text(op, "inputs");
    if (all_rows_++ >= options_.most_rows) return;
    std::string originals;
    for (const std::string& name : members.texts(op, "original_ops"))
      originals.append(originals.empty() ? "" : ", ").append(name);
    table_.begin_row();
    table_.set("step_index", step);
    table_.set("order", static_cast<int32_t>(order));
    table_.set("first", order == 0 ? 1 : 0);
    // Good inputs and a bad output: the error arises here. Bad inputs: it came with them.
    const Verdict verdict = inputs == "good"  ? Verdict::fail
                            : inputs == "bad" ? Verdict::skip
                                              : Verdict::warning;
    table_.set("verdict", static_cast<int32_t>(verdict));
    table_.set_text("op", members.text(op, "op"));
    table_.set_text("op_type", members.text(op, "op_type"));
    table_.set_text("original", originals);
    table_.set_text("inputs", inputs);
    if (const auto cosine = members.number(members.find(op, "cosine"), "cosine"))
      table_.set_number("cosine", *cosine);
  }

  void read_request(ResultMembers& members) {
    const uint32_t ask = members.find(0, "ask");
    if (ask == JsonTape::kNone) return;
    members.expect(tape_.is(ask, JsonKind::object), "ask", "an object");
    members.enter("ask");
    instructions_ = members.texts(ask, "instructions");
    const std::string_view stage_file = members.text(0, "stage_file");
    if (!stage_file.empty())
      next_.insert(next_.begin(), printable("ulpscope locate --stages " + shell_word(stage_file)));
    head_ += "\"ask\":{";
    for (const char* name : {"stage", "question", "folder"}) add_member(head_, name, members.text(ask, name));
    for (const char* name : {"options", "removed_options", "files", "keep", "instructions"})
      add_member(head_, name, members.texts(ask, name));
    head_.back() = '}';
    head_ += ',';
  }

  // For browsers that run no script.
  std::string static_text() const {
    std::string out = "<h1>";
    append_html(out, outcome_);
    out += "</h1>";
    std::vector<std::string> lines;
    for (size_t i = 0; i < culprits_.size() && i < kMostStatic; ++i)
      lines.push_back("first operator that differs: " + culprits_[i]);
    for (size_t i = 0; i < keep_list_.size() && i < kMostStatic; ++i)
      lines.push_back("keep " + keep_list_[i]);
    append_html_list(out, lines);
    append_html_list(out, instructions_.empty() ? next_ : instructions_);
    return out;
  }

  const File& file_;
  const HtmlOptions& options_;
  JsonTape tape_;
  PageTable table_;
  std::string head_, outcome_;
  std::map<std::string, StageOfFile> stages_;
  StageOfFile golden_;
  std::vector<std::string> keep_list_, culprits_, next_, instructions_;
  int64_t all_rows_ = 0;
};

}  // namespace

Status write_locate_page(const File& file, const std::string& path, const HtmlOptions& options,
                         ThreadPool* pool) {
  LocatePage page(file, options);
  ULPSCOPE_TRY(page.read());
  return page.write(path, pool);
}

}  // namespace ulpscope
