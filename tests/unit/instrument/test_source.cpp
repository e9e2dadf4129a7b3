// Python read without Python, blocks put in and taken out, versions and anchors.
#include <doctest/doctest.h>

#include "guide/anchors.hpp"
#include "guide/python_source.hpp"
#include "guide/python_string.hpp"
#include "instrument/blocks.hpp"
#include "instrument/plan.hpp"

using namespace ulpscope;

namespace {

constexpr std::string_view kSource = R"py("""class A: return"""
class A(B):
    """return"""
    x = 'class C:'

    @deco(
        1)
    def f(self,
          a=")"):
        """text
        return 1
        """
        b = r"\""  # return
        if a: return 1
        def g():
            return 2
        return (3,
                4)

    def h(self): return 5
)py";

EngineVersion version(const char* text) { return *parse_engine_version(text); }

}  // namespace

TEST_CASE("python: a class, a method, its first statement and its own returns") {
  const PythonSource source = scan_python(kSource);
  const auto classes = find_classes(source, "A");
  REQUIRE(classes.size() == 1);
  CHECK(find_classes(source, "C").empty());
  const auto functions = find_functions(source, classes[0], "f");
  REQUIRE(functions.size() == 1);
  const PythonFunction& f = functions[0];
  const auto line = [&](size_t logical) { return source.logical[logical].first + 1; };
  CHECK(line(f.decorators) == 6);
  CHECK(line(f.def) == 8);
  CHECK(line(f.first_statement) == 13);
  REQUIRE(f.returns.size() == 1);
  CHECK(line(f.returns[0]) == 17);
  REQUIRE(f.returns_on_a_line.size() == 1);
  CHECK(line(f.returns_on_a_line[0]) == 14);
  const auto h = find_functions(source, classes[0], "h");
  REQUIRE(h.size() == 1);
  CHECK(h[0].first_statement == h[0].end);
  CHECK(h[0].returns_on_a_line.size() == 1);
}

TEST_CASE("python: the handlers of what a line raises") {
  constexpr std::string_view kLoop = R"py(def f():
    try:
        while a:
            try:
                b()
                with c:
                    call()
            except d:
                e()
            except (g,
                    h): pass
            else:
                i()
            finally:
                j()
            k()
    except l:
        try:
            m()
        finally:
            n()
    o()
)py";
  const PythonSource source = scan_python(kLoop);
  const auto functions = find_functions(source, kNoLine, "f");
  REQUIRE(functions.size() == 1);
  // Lines from 1 of the handlers of a line from 1.
  const auto handlers_of = [&](size_t line) {
    std::vector<size_t> found;
    for (size_t i = 0; i < source.logical.size(); ++i) {
      if (source.logical[i].first + 1 != line) continue;
      for (const size_t handler : find_handlers(source, functions[0], i))
        found.push_back(source.logical[handler].first + 1);
    }
    return found;
  };
  CHECK(handlers_of(7) == std::vector<size_t>{8, 10});
  CHECK(handlers_of(9) == std::vector<size_t>{17});   // a handler is not in its own try
  CHECK(handlers_of(13) == std::vector<size_t>{17});  // nor is its else
  CHECK(handlers_of(16) == std::vector<size_t>{17});
  CHECK(handlers_of(19) == std::vector<size_t>{20});  // a finally where there is nothing else
  CHECK(handlers_of(21).empty());
  CHECK(handlers_of(22).empty());
}

TEST_CASE("python: unclosed strings and brackets end with the text") {
  for (const char* text :
       {"class A:\n    def f(self):\n        x = '''", "def f(\n", "x = \"\\", "\\", "'", ""})
    CHECK_NOTHROW(scan_python(text));
}

TEST_CASE("python: formatted strings end where Python 3.12 ends them") {
  // Text, and whether the whole of it is one string.
  const std::pair<std::string_view, bool> cases[] = {
      {R"py(f"{a["b"]}")py", true},       // quotes of the string's own kind
      {R"py(f"{f"{f"{1}"}"}")py", true},  // nested
      {R"py(f"{d["#"]}(")py", true},      // no comment, no bracket
      {R"py(f'{d['(']}')py", true},
      {R"py(f"{x:{"<"}10}")py", true},  // a field in a format
      {R"py(f"{x!r:>{w}}")py", true},
      {R"py(f"{{"x"}}")py", false},  // braces as text: the string ends before x
      {R"py("{a["b"]}")py", false},  // not formatted
      {R"py(rf"\{x["y"]}")py", true},
      {R"py(f"\N{LEFT CURLY BRACKET}")py", true},
      {R"py(f"\{x}")py", true},
      {R"py(f"\"{x}")py", true},
      {R"py(Rb"\"")py", true},
      {R"py(t"{a["b"]}")py", true},
      {R"py(f"{ {1: "}"}[1] }")py", true},  // a display with a brace in a text
      {R"py(f"{(lambda x: "}")(1)}")py", true},
      {"f\"{\n  a  # it\"s }\n}\"", true},  // a line end and a comment in a field
      {"f'''{'''x'''}'''", true},
      {"'''{'''x'''}'''", false},
  };
  for (const auto& each : cases) {
    const auto& text = each.first;
    const auto& whole = each.second;
    CAPTURE(text);
    const size_t quote = text.find_first_of("\"'");
    CHECK((end_of_python_string(text, quote).at == text.size()) == whole);
  }
  CHECK(end_of_python_string("f\"{\n  a\n}\"", 1).lines == 2);
  CHECK(end_of_python_string("'''\\\r\n\n'''", 0).lines == 2);
  CHECK(end_of_python_string("'a\n'", 0).at == 2);  // unclosed: ends with its line
}

TEST_CASE("python: nested formatted strings hide no statement") {
  const PythonSource source = scan_python(R"py(class A:
    def f(self):
        x = f"{d["("]} # {'return'}"
        return x
    def g(self):
        return f"{"\n".join(f"{k}={v["["]}" for k, v in d)}"
)py");
  for (const char* name : {"f", "g"}) {
    const auto found = find_functions(source, 0, name);
    REQUIRE(found.size() == 1);
    CHECK(found[0].returns.size() == 1);
  }
}

TEST_CASE("python: deep and unclosed fields end with the text") {
  std::string deep = "f\"{", formats = "f\"{a";
  for (int i = 0; i < 100'000; ++i) {
    deep += "f\"{";
    formats += ":{a";
  }
  CHECK(end_of_python_string(deep, 1).at <= deep.size());
  CHECK(end_of_python_string(formats, 1).at <= formats.size());
}

TEST_CASE("blocks: in and out again, whatever the line ends") {
  for (const std::string end : {"\n", "\r\n"}) {
    CAPTURE(end);
    const std::string text = "a" + end + "    b" + end + "    return c";
    const std::string changed =
        with_blocks(text, {{1, 4, "X.begin", {"one", "  two"}}, {2, 4, "X.end", {"three"}}});
    CHECK(changed.find("    one" + end + "      two" + end) != std::string::npos);
    const FoundBlocks found = take_out_blocks(changed);
    CHECK(found.without == text);
    CHECK(found.parts == std::vector<std::string>{"X.begin", "X.end"});
    CHECK_FALSE(found.broken);
  }
}

TEST_CASE("blocks: an edited block and a lone mark are broken") {
  std::string changed = with_blocks("a\nb\n", {{1, 0, "X", {"one"}}});
  std::string edited = changed;
  edited.replace(edited.find("one"), 3, "two");
  CHECK(take_out_blocks(edited).broken);
  CHECK(take_out_blocks(changed.substr(changed.find("one"))).broken);
  CHECK_FALSE(take_out_blocks("# >> ulpscope\n").broken);
}

TEST_CASE("diff: hunks with three lines around") {
  const std::string text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n";
  const std::string changed = with_blocks(text, {{4, 0, "X", {"a"}}, {15, 0, "Y", {"b"}}});
  const std::string diff = unified_diff("f.py", text, changed);
  CHECK(diff.find("--- a/f.py\n+++ b/f.py\n@@ -2,6 +2,9 @@\n 2\n 3\n 4\n+# >>> ulpscope X ") !=
        std::string::npos);
  CHECK(diff.find("@@ -13,6 +16,9 @@\n 13\n 14\n 15\n+# >>> ulpscope Y ") != std::string::npos);
}

TEST_CASE("versions: in Python's order") {
  CHECK(version("0.12.0rc1") < version("0.12.0"));
  CHECK(version("0.12.0") < version("0.12.0.post1"));
  CHECK(version("0.9.1") < version("0.10.0"));
  CHECK(is_at_most(version("0.24.7"), version("0.24")));
  CHECK_FALSE(is_at_most(version("0.25.0"), version("0.24")));
  CHECK(is_at_most(version("0.10.2.post1"), version("0.10.2")));
  CHECK_FALSE(parse_engine_version("main").has_value());
}

TEST_CASE("anchors: returns by version, and the switch of vllm-ascend") {
  const auto table = AnchorTable::builtin();
  REQUIRE(table.ok());
  const Anchor* execute = table->find("V1-X");
  REQUIRE(execute != nullptr);
  CHECK(execute->returns_at(version("0.8.5")) == std::vector<int64_t>{3});
  CHECK(execute->returns_at(version("0.9.2")) == std::vector<int64_t>{5});
  CHECK_FALSE(execute->knows(version("0.6.5")));
  CHECK(table->switch_at(version("0.11.0")) == nullptr);
  REQUIRE(table->switch_at(version("0.12.0rc1")) != nullptr);
  CHECK(table->switch_at(version("0.12.0rc1"))->text == "{\"dump_config\": \"<path>\"}");
  CHECK_FALSE(read_anchor_table("x", "known: {}\n").ok());
}

TEST_CASE("a collector that is not ours is one in code only") {
  CHECK(has_foreign_collector("self.debugger.start(model)\n"));
  CHECK(has_foreign_collector("from msprobe.pytorch import PrecisionDebugger\n"));
  CHECK_FALSE(has_foreign_collector("# PrecisionDebugger\nx = 'debugger.start('\nmy_debugger_start()\n"));
}
