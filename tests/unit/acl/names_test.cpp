#include <doctest/doctest.h>

#include "formats/acl_names.hpp"
#include "formats/acl_tree.hpp"
#include "temp_folder.hpp"

using namespace ulpscope;

TEST_CASE("names: every form of a dump file") {
  const auto normal = parse_acl_name("Conv2D.stem_conv1_Conv2D.5.9.1773500000124010");
  REQUIRE(normal);
  CHECK(normal->op_type == "Conv2D");
  CHECK(normal->op_name == "stem_conv1_Conv2D");
  CHECK(normal->task == 5);
  CHECK(normal->stream == 9);
  CHECK(normal->timestamp == 1773500000124010);
  CHECK(normal->timed);
  const auto old = parse_acl_name("Relu.a-b.3.17735");
  REQUIRE(old);
  CHECK(old->stream == -1);
  CHECK_FALSE(old->timed);
  const auto slice = parse_acl_name("Add.x.3.4.1773500000124010.4.2.7.0");
  REQUIRE(slice);
  CHECK(slice->sliced);
  CHECK(slice->context == 2);
  CHECK(slice->thread == 7);
  const auto csv = parse_acl_name("Add.x.3.4.1773500000124010.csv");
  REQUIRE(csv);
  CHECK(csv->kind == AclFileKind::statistics);
  const auto record = parse_acl_name("Opdebug.Node_OpDebug.3.4.1773500000124010");
  REQUIRE(record);
  CHECK(record->kind == AclFileKind::overflow);
}

TEST_CASE("names: what has no form of a dump file") {
  for (const char* name :
       {"", "data.0.1773413600000211.npy", "a.b", "Add.x.y.4.1", "Add.x.3.4.99999999999999999999999",
        "Add.x.3.4.5.6", "Add.x/y.3.4.5", "fusion.json", "Add..3.4.5"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_acl_name(name).has_value());
  }
  CHECK(is_acl_hash("12345678901234567890123"));
  CHECK_FALSE(is_acl_hash("12a"));
}

TEST_CASE("names: golden files") {
  const auto name = parse_golden_name("enc_0_norm_LayerNorm.2.1773413600002110");
  REQUIRE(name);
  CHECK(name->name == "enc_0_norm_LayerNorm");
  CHECK(name->output == 2);
  CHECK(name->timestamp == 1773413600002110);
  CHECK(parse_golden_name("a.b.1.17")->name == "a.b");
  CHECK_FALSE(parse_golden_name("weights").has_value());
  CHECK_FALSE(parse_golden_name("a.x.17").has_value());
}

TEST_CASE("names: mapping.csv keeps right rows and tells of wrong ones") {
  const test::TempFolder folder;
  folder.write("mapping.csv", "12,Add.x.1.2.3\r\n12,Add.x.1.2.3\n13\n12,Other.y.1.2.3\n");
  const auto map = read_acl_mapping(folder.path(), "mapping.csv");
  REQUIRE(map.ok());
  CHECK(map->names.at("12") == "Add.x.1.2.3");
  REQUIRE(map->notes.size() == 2);
  CHECK(map->notes[0] == "line 3: 1 columns, expected 2: left out");
  CHECK(map->notes[1] == "line 4: another name for 12: left out");
}

TEST_CASE("tree: any level of the path may be named") {
  const test::TempFolder folder;
  folder.write("npu/fusion.json", R"({"graph": []})");
  folder.write("npu/20260314145320/3/net/1/10/Add.x.1.2.1773500000124010", "");
  folder.write("npu/20260314145320/3/net/1/2/Add.x.1.2.1773500000124010", "");
  for (const char* level :
       {"", "/npu", "/npu/20260314145320", "/npu/20260314145320/3", "/npu/20260314145320/3/net/1"}) {
    CAPTURE(level);
    const auto tree = find_acl_tree(folder.path() + level);
    REQUIRE(tree.ok());
    REQUIRE(tree->leaves.size() == 2);
    CHECK(tree->leaves[0].step == 2);
    CHECK(tree->leaves[1].step == 10);
    CHECK(tree->leaves[0].rank == 3);
    CHECK(tree->leaves[0].run == tree->leaves[1].run);
  }
  const auto leaf = find_acl_tree(folder / "npu/20260314145320/3/net/1/10");
  REQUIRE(leaf.ok());
  CHECK(leaf->leaves[0].step == 10);
  CHECK(leaf->leaves[0].rank == 3);
  const auto fusion = find_fusion_json(*leaf, leaf->leaves[0]);
  REQUIRE(fusion.ok());
  CHECK(fusion->path == folder / "npu/fusion.json");
}

TEST_CASE("tree: several models as json are asked about, none is no error") {
  const test::TempFolder folder;
  folder.write("20260314145320/0/Add.x.1.2.1773500000124010", "");
  const auto tree = find_acl_tree(folder / "20260314145320/0");
  REQUIRE(tree.ok());
  CHECK(tree->leaves[0].rank == 0);
  CHECK(tree->leaves[0].step == -1);
  CHECK(find_fusion_json(*tree, tree->leaves[0])->path == "");
  folder.write("a.json", R"({"graph": []})");
  folder.write("b.json", R"({"x": 1, "graph": []})");
  folder.write("c.json", R"({"graph": 1})");
  const auto several = find_fusion_json(*tree, tree->leaves[0]);
  REQUIRE_FALSE(several.ok());
  CHECK(several.error().message.find("several models as json (a.json, b.json)") != std::string::npos);
}

TEST_CASE("tree: a folder without dump files says what was expected") {
  const test::TempFolder folder;
  folder.write("x.txt", "");
  const auto tree = find_acl_tree(folder.path());
  REQUIRE_FALSE(tree.ok());
  CHECK(tree.error().message.find("no file of an offline-model dump") != std::string::npos);
}
