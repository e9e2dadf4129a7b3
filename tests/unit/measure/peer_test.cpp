#include <cstring>
#include <limits>

#include "made_table.hpp"
#include "measure/peer_sums.hpp"
#include "measure/peer_table.hpp"

// Expected texts: tables that msprobe (commit 8ff00da) printed for tests/data/compare_expected, by case and
// row.
namespace ulpscope::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
PeerSums sums_of(DType dtype, const std::vector<T>& target, const std::vector<T>& golden) {
  PeerSums sums;
  sums.add(dtype, reinterpret_cast<const std::byte*>(target.data()), dtype,
           reinterpret_cast<const std::byte*>(golden.data()),
           static_cast<int64_t>(target.size() * sizeof(T) / size_bytes(dtype)));
  return sums;
}
std::vector<std::string> cells_f32(const std::vector<float>& target, const std::vector<float>& golden) {
  return element_cells(sums_of(DType::f32, target, golden));
}
using Cells = std::vector<std::string>;

Cells cells_of(const PeerTable& table, const char* first, const char* last) {
  const auto header = table.header();
  const Cells row = table.row(0);
  REQUIRE(row.size() == header.size());
  Cells out;
  bool inside = false;
  for (size_t i = 0; i < header.size(); ++i) {
    inside |= header[i] == first;
    if (inside) out.push_back(row[i]);
    if (header[i] == last) return out;
  }
  return out;
}

}  // namespace

TEST_CASE("peer: numbers are printed as Python prints floats") {
  CHECK(python_float(1) == "1.0");
  CHECK(python_float(-0.0) == "-0.0");
  CHECK(python_float(1e-5) == "1e-05");
  CHECK(python_float(0.0001) == "0.0001");
  CHECK(python_float(1e16) == "1e+16");
  CHECK(python_float(123456789012345680.0) == "1.2345678901234568e+17");
  CHECK(python_float(9007199254740992.0) == "9007199254740992.0");
  CHECK(python_float(0.10000000000000009) == "0.10000000000000009");
}

TEST_CASE("peer: texts are printed as Python prints them") {
  CHECK(python_text("a") == "'a'");
  CHECK(python_text("it's") == "\"it's\"");
  CHECK(python_text("it's \"x\"") == "'it\\'s \"x\"'");
  CHECK(python_text("a\n\\\t\x01") == "'a\\n\\\\\\t\\x01'");
  CHECK(python_list({"a.pt", "-1"}) == "['a.pt', '-1']");
  CHECK(python_json_list("[0, null, 1]").value() == std::pair<std::string, size_t>("[0, None, 1]", 3));
}

TEST_CASE("peer: differences of statistics") {
  const auto cells = [](PeerValue t, PeerValue g) { return difference_cells(t, g); };
  using Pair = std::pair<std::string, std::string>;
  CHECK(cells(PeerValue::of(1.1), PeerValue::of(1.0)) == Pair("0.10000000000000009", "10.000000000000009%"));
  CHECK(cells(PeerValue::of(1e-8), PeerValue::of(0)) == Pair("1e-08", "inf"));
  CHECK(cells(PeerValue::of(0), PeerValue::of(2)) == Pair("-2.0", "100.0%"));
  CHECK(cells(PeerValue::of(3e-9), PeerValue::of(-1e-10)) == Pair("3.1e-09", "3100.0%"));
  CHECK(cells(PeerValue::of(1), PeerValue::of(1)) == Pair("0", "0"));
  CHECK(cells(PeerValue::of(kNaN), PeerValue::of(kNaN)) == Pair("0", "0"));
  CHECK(cells(PeerValue::of(kNaN), PeerValue::of(1)) == Pair("Nan", "Nan"));
  CHECK(cells(PeerValue::of(1), PeerValue::of(kInf)) == Pair("-inf", "-inf"));
  CHECK(cells(PeerValue::of(-1), PeerValue::of(-kInf)) == Pair("inf", "inf"));
  CHECK(cells(PeerValue::of(-kInf), PeerValue::of(-1)) == Pair("-inf", "-inf"));
  CHECK(cells(PeerValue::of(kInf), PeerValue::of(-kInf)) == Pair("inf", "inf"));
  CHECK(cells(PeerValue::none(), PeerValue::of(1)) == Pair("Diff", "Diff"));
  CHECK(cells(PeerValue::of_text("npu:0"), PeerValue::of_text("cuda:0")) == Pair("N/A", "N/A"));
  CHECK(cells(PeerValue::of_text("abc"), PeerValue::of_text("abd")) == Pair("Diff", "Diff"));
  CHECK(cells(PeerValue::of_boolean(true), PeerValue::of_boolean(false)) == Pair("Diff", "Diff"));
  CHECK(cells(PeerValue::of_integer("1"), PeerValue::of_integer("2")) == Pair("-1.0", "50.0%"));
  CHECK(cells(PeerValue::of(1), PeerValue()) == Pair("N/A", "N/A"));
  CHECK(cells(PeerValue::of(-0.0), PeerValue::of(0.0)) == Pair("0", "0"));
}

TEST_CASE("peer: numbers are reread as the older tool reads them before it subtracts") {
  using Pair = std::pair<std::string, std::string>;
  // stat_rules, in0_out11; stat_basic, Functional.linear.1.forward.input.0.
  CHECK(difference_cells(PeerValue::of(11.100000000000001), PeerValue::of(10)) ==
        Pair("1.0999999999999996", "10.999999999999996%"));
  CHECK(difference_cells(PeerValue::of(0.12385785579681396), PeerValue::of(0.12385797500610352)) ==
        Pair("-1.192092896062924e-07", "9.624676134130078e-05%"));
  CHECK(difference_cells(PeerValue::of(2.5e-320), PeerValue::of(1e300)).first == "-1e+300");
}

TEST_CASE("peer: element columns follow the older formulas") {
  SUBCASE("tensor_rules, cos_0p5: zero golden adds the epsilon of float32") {
    const Cells cells = cells_f32({0.5f, 0.8660254f}, {1, 0});
    CHECK(cells[2] == "0.866025388241");
    CHECK(cells[3] == "7264747.5");
    CHECK(cells[4] == "0.0");
  }
  SUBCASE("tensor_edge, both_zero and target_zero") {
    CHECK(cells_f32({0, 0, 0, 0}, {0, 0, 0, 0}) == Cells{"1.0", "0.0", "0.0", "0.0", "1.0", "1.0"});
    CHECK(cells_f32({0, 0, 0, 0}, {1, 2, 3, 4})[0] == "Nan");
    CHECK(cells_f32({1, 2, 3, 4}, {0, 0, 0, 0})[3] == "33554432.0");
  }
  SUBCASE("NaN and infinity at equal places count as equal zeros, at others as nothing") {
    const auto nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    CHECK(cells_f32({1, nan, inf, 2}, {1, nan, -inf, 2}) == Cells{"1.0", "0.0", "0.0", "0.0", "1.0", "1.0"});
    CHECK(cells_f32({1, nan}, {nan, 1}) == Cells(6, "N/A"));
    CHECK(cells_f32({1, inf}, {inf, 1}) == Cells(6, "N/A"));
  }
  SUBCASE("integers are taken in float64") {
    CHECK(element_cells(sums_of<uint8_t>(DType::u8, {255, 1}, {0, 255}))[3] == "1.1484179049794765e+18");
    CHECK(element_cells(sums_of<int64_t>(DType::i64, {9007199254740993, 1}, {9007199254740992, 1}))[2] ==
          "0.0");
  }
  SUBCASE("float16 is subtracted in float64") {
    CHECK(element_cells(sums_of<uint16_t>(DType::f16, {0x7b53, 0x3c00, 0x3c00},
                                          {0xfb53, 0x3c00, 0x3c00}))[2] == "120000.0");
  }
  SUBCASE("one element has two columns") {
    CHECK(cells_f32({1.5f}, {0}) ==
          Cells{"unsupported", "unsupported", "1.5", "12582912.0", "unsupported", "unsupported"});
    CHECK(element_cells(sums_of<int64_t>(DType::i64, {3}, {5}))[3] == "0.40000000596");
    CHECK(cells_f32({std::numeric_limits<float>::infinity()}, {1})[2] == "Nan");
  }
  SUBCASE("complex numbers lose their imaginary part") {
    CHECK(element_cells(sums_of<float>(DType::c64, {1, 2, 3, 4}, {1, -2, 3, -4}))[2] == "0.0");
  }
}

TEST_CASE("peer: parts of a tensor merge to the whole") {
  const std::vector<float> target = {1, 2, 3, 5}, golden = {1, 2, 0, 4};
  const PeerSums whole = sums_of(DType::f32, target, golden);
  PeerSums parts = sums_of<float>(DType::f32, {1, 2}, {1, 2});
  parts.merge(sums_of<float>(DType::f32, {3, 5}, {0, 4}));
  CHECK(element_cells(parts) == element_cells(whole));
  CHECK(parts.first_target == 1);
  PeerSums from_nothing;
  from_nothing.merge(parts);
  CHECK(from_nothing.first_golden == 1);
}

TEST_CASE("peer: columns of the three tables") {
  CHECK(peer_header(PeerMode::statistics, false).size() == 27);
  CHECK(peer_header(PeerMode::data, true).size() == 27);
  CHECK(peer_header(PeerMode::digest, true).size() == 14);
  CHECK(peer_header(PeerMode::data, false)[13] == "Five Thousandths Err Ratio");
  CHECK(peer_header(PeerMode::digest, true).back() == "NPU_Stack_Info");
}

TEST_CASE("peer: a row of statistics") {
  MadeOp op{"Torch.add.0.forward",
            "add",
            OpKind::api,
            {tensor(Role::output, "0", stats(1.1, -1, 0.1, kInf))},
            0,
            0,
            "File model.py, line 10, in forward, y = add(x)\nFile run.py, line 3, in <module>, model(x)"};
  MadeOp golden = op;
  golden.items[0].stats = stats(1, -1, 0.1, 2);
  golden.items[0].flags = ULPSCOPE_GRAD_YES;
  MadeTable made({op}, {golden});
  made.judge();
  const auto groups = peer_groups(made.table());
  REQUIRE(groups.size() == 1);
  const PeerTable table(made.table(), groups[0]);
  CHECK(table.mode() == PeerMode::statistics);
  CHECK(cells_of(table, "NPU Name", "Bench Requires_grad") ==
        Cells{"Torch.add.0.forward.output.0", "Torch.add.0.forward.output.0", "torch.float32",
              "torch.float32", "[2, 3]", "[2, 3]", "False", "True"});
  CHECK(cells_of(table, "Max diff", "Bench l2norm") ==
        Cells{"0.10000000000000009", "0", "0", "inf", "10.000000000000009%", "0", "0", "inf", "1.1", "-1.0",
              "0.1", " inf", "1.0", "-1.0", "0.1", "2.0"});
  CHECK(
      cells_of(table, "Requires_grad Consistent", "Err_message") ==
      Cells{
          "False", "error",
          R"(["error: l2norm: target Infinity, golden 2", "error: requires_grad: target false, golden true"])"});
  CHECK(
      cells_of(table, "NPU_Stack_Info", "NPU_Stack_Info") ==
      Cells{
          R"(['File model.py, line 10, in forward, \n y = add(x)', 'File run.py, line 3, in <module>, \n model(x)'])"});
}

TEST_CASE("peer: a row without partner, and one of golden only") {
  MadeTable made({tensor(Role::output, "0", stats(1, -1, 0.1, 2))}, {});
  made.judge();
  const auto groups = peer_groups(made.table());
  const PeerTable table(made.table(), groups[0]);
  CHECK(cells_of(table, "NPU Name", "L2norm diff") == Cells{"Torch.add.0.forward.output.0", "N/A",
                                                            "torch.float32", "N/A", "[2, 3]", "N/A", "False",
                                                            "N/A", "N/A", "N/A", "N/A", "N/A"});
  CHECK(cells_of(table, "Bench max", "Err_message") ==
        Cells{"N/A", "N/A", "N/A", "N/A", "False", "warning", R"(["warning: no counterpart in golden"])"});
  MadeTable only({}, {tensor(Role::output, "0", stats(1, -1, 0.1, 2))});
  only.judge();
  const auto only_groups = peer_groups(only.table());
  const PeerTable only_table(only.table(), only_groups[0]);
  CHECK(cells_of(only_table, "NPU Name", "Bench Name") == Cells{"N/A", "Torch.add.0.forward.output.0"});
}

TEST_CASE("peer: arguments as the older tool shows them") {
  const auto row = [](const char* path, const char* type, const char* value) {
    MadeTable made({argument(path, type, value)}, {argument(path, type, value)});
    made.judge();
    const auto groups = peer_groups(made.table());
    const PeerTable table(made.table(), groups[0]);
    const Cells cells = table.row(0);
    return Cells{cells[2], cells[4], cells[6], cells[16],
                 cells[19]};  // dtype, shape, requires_grad, max, l2norm
  };
  CHECK(row("dim", "int", "-1") == Cells{"<class 'int'>", "[]", "N/A", "-1", "-1"});
  CHECK(row("eps", "float", "1e-06") == Cells{"<class 'float'>", "[]", "N/A", "1e-06", "1e-06"});
  CHECK(row("eps", "float", "\"NaN\"") == Cells{"<class 'float'>", "[]", "N/A", "Nan", "Nan"});
  CHECK(row("flag", "bool", "true") == Cells{"<class 'bool'>", "[]", "N/A", "True", "True"});
  CHECK(row("dtype", "torch.dtype", "\"torch.float32\"") ==
        Cells{"<class 'str'>", "[]", "N/A", "torch.float32", "torch.float32"});
  CHECK(row("0", "torch.Size", "[2, 3]") == Cells{"torch.Size", "[2, 3]", "N/A", "None", "None"});
  CHECK(row("0", "slice", "[0, null, 1]") == Cells{"slice", "(3,)", "N/A", "None", "None"});
  CHECK(row("0", "ellipsis", "\"...\"") == Cells{"ellipsis", "[]", "N/A", "...", "..."});
  CHECK(row("0", "None", "") == Cells{"None", "None", "N/A", "None", "None"});
  CHECK(row("group", "torch.ProcessGroup", "[0, 1]") ==
        Cells{"torch.ProcessGroup", "[]", "N/A", "[0, 1]", "[0, 1]"});
  CHECK(row("dst", "int", "1") == Cells{"int", "[]", "N/A", "1", "1"});
}

TEST_CASE("peer: integers of a column turn into floats when all of it are numbers") {
  MadeItem number = tensor(Role::output, "0", stats(1.5, -1, 0.5, 2)),
           integer = tensor(Role::output, "1", stats(7, 1, 4, 8));
  integer.dtype = DType::i64;
  integer.stats.present = ULPSCOPE_STAT_MAX | ULPSCOPE_STAT_MIN;
  MadeTable made({number, integer}, {number, integer});
  made.judge();
  const auto groups = peer_groups(made.table());
  const PeerTable table(made.table(), groups[0]);
  CHECK(table.row(1)[16] == "7.0");
  CHECK(table.row(1)[18] == "None");
  MadeItem boolean = tensor(Role::output, "2", extremes(1, 0));
  boolean.dtype = DType::b8;
  MadeTable with_bool({number, integer, boolean}, {number, integer, boolean});
  with_bool.judge();
  const auto other_groups = peer_groups(with_bool.table());
  const PeerTable other(with_bool.table(), other_groups[0]);
  CHECK(other.row(1)[16] == "7");
  CHECK(other.row(2)[16] == "True");
  CHECK(other.row(2)[17] == "False");
}

TEST_CASE("peer: a table of checksums") {
  MadeItem with = tensor(Role::output, "0", {}), none = tensor(Role::output, "1", {});
  with.digest = "crc32:4cf651c4";
  MadeTable made({argument("dim", "int", "1"), with, none}, {argument("dim", "int", "2"), with, none});
  made.judge();
  const auto groups = peer_groups(made.table());
  const PeerTable table(made.table(), groups[0]);
  REQUIRE(table.mode() == PeerMode::digest);
  CHECK(table.row(0)[8] == "83dcefb7");
  CHECK(table.row(0)[9] == "1ad5be0d");
  CHECK(table.row(1)[8] == "4cf651c4");
  CHECK(table.row(2)[8] == "00000000");
}

TEST_CASE("peer: a row of measured elements") {
  MadeItem item = data_tensor(Role::output, "0");
  item.shape = {4};
  MadeItem other = item, nameless = tensor(Role::output, "1", {});
  other.path = nameless.path = "1";
  MadeTable made({item, nameless}, {item, other});
  made.sums(0) = equal_sums(4);
  made.table().data_metrics[0].peer = sums_of<float>(DType::f32, {1, 2, 3, 4}, {1, 2, 3, 4});
  made.row(1).mode = Mode::none;
  made.row(1).absent = Absent::no_data;
  made.row(1).unreadable = true;
  made.judge();
  const auto groups = peer_groups(made.table());
  const PeerTable table(made.table(), groups[0]);
  REQUIRE(table.mode() == PeerMode::data);
  CHECK(cells_of(table, "Cosine", "Five Thousandths Err Ratio") ==
        Cells{"1.0", "0.0", "0.0", "0.0", "1.0", "1.0"});
  CHECK(table.row(0).back() == "['Torch.add.0.forward.output.0.pt', 'Torch.add.0.forward.output.0.pt']");
  CHECK(table.row(1)[8] == "unsupported");
  CHECK(table.row(1).back() == "['-1', 'Torch.add.0.forward.output.1.pt']");
  CHECK(table.row(1)[23] == "error");
}

TEST_CASE("peer: one table for each step and rank") {
  MadeOp op{
      "Torch.add.0.forward", "add", OpKind::api, {tensor(Role::output, "0", stats(1, -1, 0.1, 2))}, 1, 0, ""},
      other = op;
  other.rank = 1;
  other.step = 0;
  MadeTable made({op, other}, {op, other});
  const auto groups = peer_groups(made.table());
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].step == 0);
  CHECK(groups[0].rank == 1);
  CHECK(groups[0].rows == std::vector<int64_t>{1});
  CHECK(groups[1].rows == std::vector<int64_t>{0});
}

}  // namespace ulpscope::test
