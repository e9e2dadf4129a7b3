#include "report/terminal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "sample_report.hpp"

namespace ulpscope {
namespace {

std::string summary(const StoredResult& result, TerminalOptions options = {}) {
  return terminal_summary(StoredView(result), options);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The longest line of text in columns.
int64_t widest(const std::string& text) {
  int64_t width = 0;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin))
    width = std::max(width, display_width(std::string_view(text).substr(begin, end - begin)));
  return width;
}

StoredResult of_verdict(const char* verdict, const char* mode) {
  StoredResult result = test::empty_result();
  StoredRow row = test::row_of(test::tensor_side("a", "output.0", "float32", {2}),
                               test::tensor_side("a", "output.0", "float32", {2}), Verdict::pass, 0);
  row.mode = mode;
  result.rows.push_back(std::move(row));
  result.head.summary = {1, 1, 0, 0, 0, 0, 0, 0, 0};
  result.head.localisation.verdict = verdict;
  return result;
}

}  // namespace

TEST_CASE("terminal: a compute fault, whole") {
  TerminalOptions options;
  options.report_path = "ulpscope_out/compare_1/compare_result.json";
  CHECK(summary(test::matmul_result(), options) ==
        "target  out_a/step0/rank0   torch_api · tensor · L1 · 40 ops · 122 tensors\n"
        "golden  out_b/step0/rank0   torch_api · tensor · L1 · 40 ops · 122 tensors\n"
        "3 rows matched exactly · 0 only in target · 0 only in golden\n"
        "\n"
        "COMPUTE FAULT  Torch.matmul.2.forward  output.0   step 0  rank 0         certain\n"
        "    inputs are bit-identical; output differs in 100 % of 50 elements\n"
        "    max_abs_err 3.0e-02 at [1,2,1]: target -1.708, golden -1.678; cosine 0.999997\n"
        "    called from llm_model.py:114 in forward\n"
        "    next: ulpscope replay out_a --op Torch.matmul.2.forward\n"
        "    33 later tensors differ because of it\n"
        "\n"
        "pass 2   warning 0   fail 1   skip 0         report  ulpscope_out/compare_1/compare_result.json\n");
}

TEST_CASE("terminal: on a narrow terminal the name of the culprit, numbers and commands stay whole") {
  StoredResult result = test::matmul_result();
  const std::string op =
      "Module.model.layers.11.self_attention.query_key_value.ColumnParallelLinear.forward.0";
  result.head.localisation.culprits[0].op_name = op;
  result.head.localisation.culprits[0].next = {"ulpscope replay out_a --op " + op};
  TerminalOptions options;
  options.style.width = 80;
  const std::string text = summary(result, options);
  CHECK(has(text, "COMPUTE FAULT  " + op + "\n    output.0   step 0  rank 0  certain\n"));
  CHECK(has(text, "    next: ulpscope replay out_a --op " + op + "\n"));
  CHECK(has(text, "target -1.708, golden -1.678;"));
  options.style.width = 0;
  CHECK(has(summary(result, options), "COMPUTE FAULT  " + op + "  output.0"));
}

TEST_CASE("terminal: lines without commands and paths keep to the width") {
  StoredResult result = test::matmul_result();
  result.head.target.path = std::string(200, 'd') + "/rank0";
  result.head.localisation.culprits[0].next.clear();
  result.head.localisation.culprits[0].module = "Module.model.layers.11.self_attention.Attention.forward.0";
  TerminalOptions options;
  for (const int64_t width : {100, 80, 64}) {
    CAPTURE(width);
    options.style.width = width;
    CHECK(widest(summary(result, options)) <= std::max<int64_t>(width, 80));
  }
}

TEST_CASE("terminal: what to do next is wrapped where it is prose, and whole where it is pasted") {
  StoredResult result = test::matmul_result();
  const std::string command = "ulpscope mapping suggest " + std::string(60, 'a') + " " + std::string(60, 'b');
  result.head.localisation.culprits[0].next = {
      command,
      "check why only the target has Torch.mul.7.forward; if golden does the same by another name, pair the "
      "two: " +
          command,
      "dump its tensors on both sides: \"task\": \"tensor\", \"step\": [0], \"rank\": [0], \"list\": [\"a "
      "name\"]",
      "{\"task\": \"tensor\", \"dump_enable\": true, \"exec_range\": \"0,0\", \"ids\": \"4\", \"op_name\": "
      "\"\", \"device\": \"0\"}"};
  TerminalOptions options;
  options.style.width = 80;
  CHECK(has(summary(result, options),
            "    next: " + command +
                "\n    next: check why only the target has Torch.mul.7.forward; if golden does the\n"
                "      same by another name, pair the two:\n      " +
                command +
                "\n    next: dump its tensors on both sides: \"task\": \"tensor\", \"step\": [0],\n"
                "      \"rank\": [0], \"list\": [\"a name\"]\n    next: {\"task\": \"tensor\", "
                "\"dump_enable\": true, "
                "\"exec_range\": \"0,0\", \"ids\": \"4\", \"op_name\": \"\", \"device\": \"0\"}\n"));
  options.style.width = 0;
  CHECK(has(summary(result, options), "pair the two: " + command + "\n"));
}

TEST_CASE("terminal: what the message of a row tells is not told by its evidence again") {
  StoredResult result = test::matmul_result();
  Culprit& culprit = result.head.localisation.culprits[0];
  StoredRow& row = result.rows[static_cast<size_t>(culprit.row)];
  culprit.evidence = {
      {"argument", "target 1, golden 2"}, {"nonfinite_mismatch", "3"}, {"first_mismatch", "[0]"}};
  CHECK(has(summary(result),
            "evidence: argument target 1, golden 2, nonfinite_mismatch 3, first_mismatch [0]"));
  row.message = "value of the argument: target 1, golden 2";
  CHECK(has(summary(result), "evidence: nonfinite_mismatch 3, first_mismatch [0]"));
  row.message = "NaN or infinity does not agree in 3 of 9 elements";
  CHECK(has(summary(result), "evidence: argument target 1, golden 2\n"));
  row.message = "1 of 7 elements of an exact type differ, first at [6], at most by 1";
  CHECK_FALSE(has(summary(result), "output differs in"));
  CHECK(has(summary(result), "    worst at [1,2,1]: target -1.708, golden -1.678"));
}

TEST_CASE("terminal: names of many lines are shortened on a terminal, and whole elsewhere") {
  StoredResult result = test::matmul_result();
  const std::string op = "Torch." + std::string(10000, 'm') + ".2.forward";
  Culprit& culprit = result.head.localisation.culprits[0];
  culprit.op_name = op;
  culprit.module = op;
  culprit.next = {"ulpscope replay out_a --op " + op, "check " + op};
  result.head.localisation.notes = {op + " has no partner"};
  TerminalOptions options;
  CHECK(has(summary(result, options), "COMPUTE FAULT  " + op + "  output.0"));
  options.style.width = 80;
  options.report_path = "out/report.html";
  const std::string text = summary(result, options);
  CHECK(widest(text) == 80);
  CHECK(has(text, "COMPUTE FAULT  Torch.mmm"));
  CHECK(has(text, "    next: a command of 10 043 characters, in out/report.html\n"));
  CHECK(text.size() < 2000);
}

TEST_CASE("terminal: a finding says each number once") {
  StoredResult result = test::matmul_result();
  Culprit& culprit = result.head.localisation.culprits[0];
  culprit.evidence = {
      {"rel_l2", "0.72004"}, {"output_error", "0.7200400001"}, {"damaged", "the target's file"}};
  StoredRow& row = result.rows[static_cast<size_t>(culprit.row)];
  CHECK(has(summary(result), "; cosine 0.999997\n"));
  CHECK(has(summary(result), "    evidence: rel_l2 0.72, damaged the target's file\n"));
  row.message =
      "target: the CRC-32 of the data is not the one that its file states; cosine is 0.999997 there";
  CHECK_FALSE(has(summary(result), "; cosine 0.999997"));
  CHECK(has(summary(result), "    evidence: rel_l2 0.72\n"));
  row.mode = "statistics";
  row.metrics = {{test::metric_index("target_max"), 2},
                 {test::metric_index("golden_max"), 3},
                 {test::metric_index("target_l2norm"), 5},
                 {test::metric_index("golden_l2norm"), 6}};
  CHECK(has(summary(result), "    max 2 against 3, l2norm 5 against 6\n"));
  row.message = "relative error 0.17 of l2norm (target 5, golden 6) is more than 10 times that of the inputs";
  CHECK(has(summary(result), "    max 2 against 3\n"));
  row.metrics[0].second = std::numeric_limits<double>::quiet_NaN();
  CHECK(has(summary(result), "    max NaN against 3\n"));
  row.message = "max: target NaN, golden 3";
  CHECK_FALSE(has(summary(result), "against 3"));
}

TEST_CASE("terminal: one element is no percentage, and a cosine of 1 is one up to its own sums") {
  StoredResult result = test::matmul_result();
  StoredRow& row = result.rows[static_cast<size_t>(result.head.localisation.culprits[0].row)];
  row.metrics = {{test::metric_index("elements"), 1},
                 {test::metric_index("unequal"), 1},
                 {test::metric_index("cosine"), 1 - 5.6e-16}};
  CHECK(has(summary(result), "output differs in its only element\n"));
  CHECK(has(summary(result), "golden -1.678; cosine 1\n"));
  row.metrics[2].second = 1 - 3e-8;
  CHECK(has(summary(result), "; cosine 1 - 3.0e-08\n"));
}

TEST_CASE("terminal: colours only when asked for") {
  TerminalOptions options;
  CHECK_FALSE(has(summary(test::matmul_result(), options), "\x1b"));
  options.style.color = true;
  CHECK(has(summary(test::matmul_result(), options),
            "\x1b[1;31mCOMPUTE FAULT\x1b[0m  \x1b[1mTorch.matmul.2.forward\x1b[0m"));
  CHECK(has(summary(test::matmul_result(), options), "\x1b[1;31mfail 1\x1b[0m"));
}

TEST_CASE("terminal: verdicts without a culprit have a first line and a sentence of their own") {
  CHECK(has(summary(of_verdict("identical", "data")),
            "\nIDENTICAL\n    the elements of every matched tensor are equal\n"));
  CHECK(has(summary(of_verdict("identical", "digest")), "\nIDENTICAL\n    all checksums are equal\n"));
  CHECK(has(
      summary(of_verdict("identical", "statistics")),
      "\nIDENTICAL\n    all recorded statistics are equal; a permutation of elements, or errors that cancel, "
      "leave them equal too\n"));
  CHECK(has(summary(of_verdict("rounding", "data")),
            "\nROUNDING\n    values differ, and the number formats in use explain every difference; no "
            "operation is "
            "at fault\n"));
  CHECK(has(summary(of_verdict("structure_only", "data")),
            "\nSTRUCTURE ONLY\n    values agree; calls were added, removed, reordered or renamed\n"
            "    next: look at the rows with match only_target, only_golden and aligned\n"));
  StoredResult failing = of_verdict("identical", "data");
  failing.head.summary.fail = 2;
  CHECK(has(summary(failing), "\nIDENTICAL, BUT 2 ROWS FAIL\n"));
  failing.head.localisation.verdict = "structure_only";
  CHECK(has(summary(failing), "\nSTRUCTURE ONLY, 2 ROWS FAIL\n"));
  StoredResult open = of_verdict("inconclusive", "data");
  Culprit suspect;
  suspect.op_name = "Torch.topk.0.forward";
  suspect.tensor = "output.1";
  suspect.next = {"dump Torch.topk.0.forward with task tensor"};
  open.head.localisation.suspects = {suspect};
  CHECK(has(
      summary(open),
      "\nINCONCLUSIVE\n    what is recorded does not show an operation at fault, nor that there is none\n"
      "    suspect: Torch.topk.0.forward  output.1\n    next: dump Torch.topk.0.forward with task tensor\n"));
  open.head.localisation.verdict = "rounding";
  CHECK_FALSE(has(summary(open), "suspect"));
  // Without a row the evidence is all that there is to say.
  open.head.localisation.culprits = {suspect};
  open.head.localisation.culprits[0].evidence = {{"reason", "a flip"}, {"cosine", "0.9999999"}};
  CHECK(has(summary(open), "    evidence: reason a flip, cosine 1 - 1.0e-07\n"));
}

TEST_CASE("terminal: calls of one side, unreadable rows and diagnostics are said") {
  const std::string text = summary(test::hostile_result());
  CHECK(has(text,
            "4 rows matched exactly · 1 only in target · 0 only in golden\nonly in target: +extra\n"
            "note: step 1 is only in the target\n"));
  CHECK(has(text,
            "1 row could not be compared: data is missing or unreadable\n"
            "error  step0/\\x1b[2Jx.pt: cannot be opened\nwarning  =1+1\nand 5 more diagnostics\n"));
}

TEST_CASE("terminal: no byte of a dump reaches the terminal as a control") {
  TerminalOptions options;
  SUBCASE("wide") { CHECK(has(summary(test::hostile_result(), options), "evil\\x1b]0;title\\x07/step0")); }
  SUBCASE("narrow") { options.style.width = 60; }
  const std::string text = summary(test::hostile_result(), options);
  const auto controls = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F;
  });
  CHECK(controls == 0);
}

TEST_CASE("terminal: an input fault in statistics, and several culprits") {
  StoredResult result = test::empty_result();
  const std::string op = "Functional.linear.0.forward";
  StoredRow row = test::row_of(test::tensor_side(op, "input.1", "float32", {4}),
                               test::tensor_side(op, "input.1", "float32", {4}), Verdict::fail, 0);
  row.mode = "statistics";
  row.metrics = {{test::metric_index("target_max"), 1.5},   {test::metric_index("golden_max"), 1.25},
                 {test::metric_index("target_min"), -1},    {test::metric_index("golden_min"), -1},
                 {test::metric_index("target_l2norm"), 10}, {test::metric_index("golden_l2norm"), 9.5}};
  result.rows.push_back(std::move(row));
  Culprit culprit;
  culprit.op_name = op;
  culprit.tensor = "input.1";
  culprit.kind = "input_fault";
  culprit.confidence = "strong";
  culprit.step = 2;
  culprit.token = 5;
  culprit.row = 0;
  culprit.evidence = {{"reason", "no recorded operation produced this input, and it differs"},
                      {"amplification", "120.53125"},
                      {"group", "linear"}};
  result.head.localisation.verdict = "input_fault";
  result.head.localisation.culprits.assign(10, culprit);
  const std::string text = summary(result);
  CHECK(has(text,
            "\nINPUT FAULT  Functional.linear.0.forward  input.1   step 2  token 5       strong\n"
            "    no recorded operation produced this input, and it differs\n"
            "    max 1.5 against 1.25, l2norm 10 against 9.5\n"
            "    evidence: amplification 120.5, group linear\n"));
  CHECK(has(text, "group linear\n\nINPUT FAULT"));
  CHECK(has(text, "\nand 2 more culprits, in "));
}

TEST_CASE("text layout: words are wrapped at the width, without blanks at the end of a line") {
  CHECK(wrap_words("one two  three", "  ", 3, 9) == "  one two\n     three\n");
  CHECK(wrap_words("a \"b c d\" e\" f", "", 0, 8) == "a\n\"b c d\"\ne\" f\n");
  CHECK(wrap_words("one two", "  ", 3, 0) == "  one two\n");
  CHECK(wrap_words("", "  ", 3, 9) == "  \n");
}

TEST_CASE("text layout: names are shortened in the middle at whole characters") {
  CHECK(shorten_middle("abcdefghij", 10) == "abcdefghij");
  CHECK(shorten_middle("abcdefghij", 7) == "abc…hij");
  CHECK(shorten_middle("abcdefghij", 6) == "ab…hij");
  CHECK(shorten_middle("abcdefghij", 0) == "abcdefghij");
  // 10 columns into 7: 3 for the head hold one character, 3 for the tail hold one.
  CHECK(shorten_middle("模型层输出", 7) == "模…出");
  CHECK(display_width("模型a") == 5);
  CHECK(display_width("e\xCC\x81") == 1);
  CHECK(shorten_middle("ab", 1) == "…");
}

}  // namespace ulpscope
