#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/framework_dump_tokens.hpp"
#include "formats/framework_dump_tree.hpp"

using namespace ulpscope;

namespace {

constexpr uint32_t kNone = TextTable::kNone;

struct Tree {
  explicit Tree(const std::string& json, const std::vector<std::string>& in_dump = {}) {
    std::vector<uint32_t> ids;
    for (const std::string& key : in_dump) ids.push_back(keys.add(key));
    JsonLexer lexer(json);
    status = tree.read(lexer, keys);
    std::vector<bool> wanted(keys.size());
    for (const uint32_t id : ids) wanted[id] = true;
    lost = tree.settle(wanted);
  }
  std::string parent(std::string_view key) const {
    const uint32_t id = tree.nearest(keys.find(key));
    return id == kNone ? "none" : std::string(keys.text(id));
  }
  TextTable keys;
  ConstructTree tree;
  Status status;
  int64_t lost = 0;
};

std::vector<DumpKey> parse(const std::vector<std::string>& keys) {
  std::vector<DumpKey> parsed;
  for (const std::string& key : keys) parsed.push_back(parse_dump_key(key));
  return parsed;
}

}  // namespace

TEST_CASE("construct: the parent is the nearest ancestor in the dump") {
  const Tree tree(R"({"a": "b", "b": "c", "c": "d", "d": null})", {"a", "c", "d"});
  CHECK(tree.parent("a") == "c");
  CHECK(tree.parent("c") == "d");
  CHECK(tree.parent("d") == "none");
  CHECK(tree.keys.text(tree.tree.top(tree.keys.find("a"))) == "d");
  CHECK(tree.lost == 0);
}

TEST_CASE("construct: a parent with a micro step, and the count of micro steps") {
  const Tree tree(R"({"a": ["b", 1], "b": [null, 0], "megatron_micro_step_number": 2})", {"a", "b"});
  CHECK(tree.parent("a") == "b");
  CHECK(tree.parent("b") == "none");
  CHECK(tree.tree.keys().size() == 2);
}

TEST_CASE("construct: a cycle and an unknown parent give none, what hangs below keeps its parent") {
  const Tree tree(R"({"a": "b", "b": "a", "x": "a", "y": "gone", "z": "z"})", {"a", "b", "x", "y", "z"});
  CHECK(tree.parent("a") == "none");
  CHECK(tree.parent("b") == "none");
  CHECK(tree.parent("x") == "a");
  CHECK(tree.parent("y") == "none");
  CHECK(tree.parent("z") == "none");
  CHECK(tree.lost == 4);
}

TEST_CASE("construct: another form is refused and leaves no tree") {
  CHECK(Tree(R"({"a": null, "b": 7})").status.error().message == "byte 12: malformed member");
  CHECK(Tree(R"({"a": []})").status.error().message == "byte 1: malformed member");
  CHECK(Tree("[]").status.error().message == "byte 0: expected an object");
  CHECK(Tree(R"({"a": )").status.error().message == "byte 6: the text ends early (an unfinished run?)");
  CHECK(Tree(R"({"a": null, "b": 7})").tree.empty());
}

TEST_CASE("stack: grouped and plain forms, one line a frame") {
  TextTable keys;
  keys.add("a");
  keys.add("b");
  StackTable stacks;
  JsonLexer grouped(
      R"~({"0": [["a", "b", "other"], ["File /x.py, line 4, in f, \n return g(x)", "second"]]})~");
  REQUIRE(stacks.read(grouped, keys).ok());
  CHECK(stacks.stack(0) == "File /x.py, line 4, in f, return g(x)\nsecond");
  CHECK(stacks.stack(1) == stacks.stack(0));
  StackTable plain;
  JsonLexer lexer(R"({"a": ["one", "two"], "b": 7, "c": ["three"]})");
  REQUIRE(plain.read(lexer, keys).ok());
  CHECK(plain.stack(0) == "one\ntwo");
  CHECK(plain.stack(1).empty());
  CHECK(plain.stack(77).empty());
}

TEST_CASE("stack: malformed entries are skipped, a malformed file gives nothing") {
  TextTable keys;
  keys.add("a");
  StackTable stacks;
  JsonLexer entries(R"({"0": [["a"], [7]], "1": [["a", 5], ["good"]]})");
  REQUIRE(stacks.read(entries, keys).ok());
  CHECK(stacks.stack(0) == "good");
  JsonLexer broken(R"({"0": [["a"], ["x"]], )");
  CHECK_FALSE(stacks.read(broken, keys).ok());
  CHECK(stacks.stack(0).empty());
}

TEST_CASE("guess: a module lies in the nearest later module above its path, an API in the next module") {
  const std::vector<std::string> names = {
      "Torch.add.0.forward",          "Module.m.l.0.mlp.Mlp.forward.0", "Module.rope.Rope.forward.0",
      "Module.m.l.0.Layer.forward.0", "Module.m.Model.forward.0",       "Module.m.l.0.Layer.forward.1",
      "Module.m.Model.forward.1",     "Torch.argmax.0.forward",         "Torch.add.0.backward"};
  const std::vector<DumpKey> keys = parse(names);
  const std::vector<uint32_t> parents = guess_parents(keys);
  CHECK(parents == std::vector<uint32_t>{1, 3, kNone, 4, kNone, 6, kNone, kNone, kNone});
}

TEST_CASE("calls: a repeated key gets the next free number") {
  const std::vector<std::string> names = {"Torch.add.0.forward", "Torch.add.0.forward", "Torch.add.1.forward",
                                          "Torch.add.0.forward", "Torch.add.0.backward"};
  TextTable table;
  DumpOutline outline;
  for (const std::string& name : names) {
    OutlineEntry entry;
    entry.key = table.add(name);
    outline.entries.push_back(entry);
  }
  number_calls(outline, parse(names));
  std::vector<uint32_t> calls;
  for (const OutlineEntry& entry : outline.entries) calls.push_back(entry.call);
  CHECK(calls == std::vector<uint32_t>{0, 2, 1, 3, 0});
  CHECK_FALSE(outline.entries[0].repeated);
  CHECK(outline.entries[1].repeated);
}
