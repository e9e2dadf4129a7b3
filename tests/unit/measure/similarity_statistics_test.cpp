#include <cmath>
#include <limits>

#include "made_table.hpp"

namespace ulpscope::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const ulpscope_stats kPlain = stats(1, -1, 0.1, 2);

// An input and an output that differ in their l2norm only; row 0 is the input, row 1 the output.
MadeTable entry(double input_target, double input_golden, double output_target, double output_golden,
                std::string name = "Torch.add.0.forward", std::string type = "add") {
  return MadeTable({tensor(Role::input, "0", stats(1, -1, 0.1, input_target)),
                    tensor(Role::output, "0", stats(1, -1, 0.1, output_target))},
                   {tensor(Role::input, "0", stats(1, -1, 0.1, input_golden)),
                    tensor(Role::output, "0", stats(1, -1, 0.1, output_golden))},
                   std::move(name), std::move(type));
}

// The verdict on an output whose input is equal and which both sides recorded like this.
Verdict output(MadeItem target, MadeItem golden) {
  target.role = golden.role = Role::output;
  MadeTable made({tensor(Role::input, "0", kPlain), std::move(target)},
                 {tensor(Role::input, "0", kPlain), std::move(golden)});
  return made.judge().judged(1);
}
Verdict output(ulpscope_stats target, ulpscope_stats golden) {
  return output(tensor(Role::output, "0", target), tensor(Role::output, "0", golden));
}

}  // namespace

TEST_CASE("similarity: equal statistics pass without a message") {
  MadeTable made = entry(2, 2, 3, 3);
  made.judge();
  CHECK(made.judged(0) == Verdict::pass);
  CHECK(made.judged(1) == Verdict::pass);
  CHECK(made.message(1).empty());
}

TEST_CASE("similarity: NaN and infinity must agree in all four statistics") {
  CHECK(output(stats(kNaN, kNaN, kNaN, kNaN), stats(kNaN, kNaN, kNaN, kNaN)) == Verdict::pass);
  CHECK(output(stats(kNaN, kNaN, kNaN, kNaN), kPlain) == Verdict::fail);
  CHECK(output(kPlain, stats(kNaN, kNaN, kNaN, kNaN)) == Verdict::fail);
  CHECK(output(stats(kNaN, kNaN, kNaN, kNaN), stats(kInf, -1, kInf, kInf)) == Verdict::fail);
  CHECK(output(stats(kInf, -1, kInf, kInf), stats(1, -kInf, -kInf, kInf)) == Verdict::fail);
  CHECK(output(stats(1, -1, 0.1, kNaN), kPlain) == Verdict::fail);
  CHECK(output(stats(kInf, -kInf, kNaN, kInf), stats(kInf, -kInf, kNaN, kInf)) == Verdict::pass);
}

TEST_CASE("similarity: a class mismatch names the statistic, an overflow the limit") {
  MadeItem target = tensor(Role::output, "0", stats(kInf, -1, kInf, kInf));
  MadeItem golden = tensor(Role::output, "0", stats(70000, -1, 0.1, 70000));
  target.dtype = DType::f16;
  MadeTable made({target}, {golden});
  made.judge();
  CHECK(made.judged(0) == Verdict::fail);
  CHECK(made.message(0) ==
        "max: target Infinity, golden 70000: overflow, golden 70000 does not fit float16 (largest 65504); "
        "mean: target Infinity, golden 0.1; l2norm: target Infinity, golden 70000: overflow, golden 70000 "
        "does not fit "
        "float16 (largest 65504); dtype: target float16, golden float32");
}

TEST_CASE("similarity: norm rule, inputs below 10 % and an output above 50 %") {
  SUBCASE("50 % exactly is a warning") { CHECK(entry(2, 2, 3, 2).judge().judged(1) == Verdict::warning); }
  SUBCASE("51 % fails") { CHECK(entry(2, 2, 3.02, 2).judge().judged(1) == Verdict::fail); }
  SUBCASE("below golden counts alike") { CHECK(entry(2, 2, 0.8, 2).judge().judged(1) == Verdict::fail); }
  SUBCASE("an input at 10 % switches it off") {
    CHECK(entry(2.2, 2, 3.98, 2).judge().judged(1) == Verdict::pass);
  }
  SUBCASE("golden 0 is an infinite error") { CHECK(entry(2, 2, 1, 0).judge().judged(1) == Verdict::fail); }
  SUBCASE("the message holds the numbers") {
    MadeTable made = entry(2, 2, 4, 2);
    made.judge();
    CHECK(made.message(1) ==
          "relative error 1 of l2norm (target 4, golden 2) is above 0.5, with inputs at 0; "
          "relative error 1 of l2norm (target 4, golden 2) with equal inputs");
  }
}

TEST_CASE("similarity: growth rule, ten times the input or above 10 % from equal inputs") {
  SUBCASE("9 % from 0 passes") { CHECK(entry(2, 2, 2.18, 2).judge().judged(1) == Verdict::pass); }
  SUBCASE("11 % from 0 warns") { CHECK(entry(2, 2, 2.22, 2).judge().judged(1) == Verdict::warning); }
  SUBCASE("9 times passes") { CHECK(entry(2.02, 2, 2.18, 2).judge().judged(1) == Verdict::pass); }
  SUBCASE("11 times warns") { CHECK(entry(2.02, 2, 2.22, 2).judge().judged(1) == Verdict::warning); }
  SUBCASE("noise under the floor passes") {
    CHECK(entry(2.0000001, 2, 2.000016, 2).judge().judged(1) == Verdict::pass);
    CHECK(entry(2.0000001, 2, 2.00003, 2).judge().judged(1) == Verdict::warning);
  }
}

TEST_CASE("similarity: an input with golden norm 0 warns and explains any output") {
  MadeTable made = entry(3, 0, 2.6, 2);
  made.judge();
  CHECK(made.judged(0) == Verdict::warning);
  CHECK(made.message(0) == "l2norm: target 3, golden 0");
  CHECK(made.judged(1) == Verdict::pass);
}

TEST_CASE("similarity: each output is marked for itself, a kwarg and a parameter are inputs") {
  MadeTable made({tensor(Role::output, "0", kPlain), tensor(Role::output, "1", stats(1, -1, 0.1, 3.8)),
                  tensor(Role::kwarg, "k", kPlain), tensor(Role::parameter, "weight", kPlain)},
                 {tensor(Role::output, "0", kPlain), tensor(Role::output, "1", kPlain),
                  tensor(Role::kwarg, "k", kPlain), tensor(Role::parameter, "weight", kPlain)});
  made.judge();
  CHECK(made.judged(2) == Verdict::pass);
  CHECK(made.judged(3) == Verdict::fail);
  MadeTable wrong_weight({tensor(Role::output, "0", stats(1, -1, 0.1, 3.8)),
                          tensor(Role::parameter, "weight", stats(1, -1, 0.1, 3))},
                         {tensor(Role::output, "0", kPlain), tensor(Role::parameter, "weight", kPlain)});
  CHECK(wrong_weight.judge().judged(1) == Verdict::pass);
}

TEST_CASE("similarity: an entry without inputs counts as having equal ones, gradients are outputs") {
  MadeTable made({tensor(Role::output, "", stats(1, 0, 0.5, 2))},
                 {tensor(Role::output, "", stats(1, 0, 0.5, 9))});
  CHECK(made.judge().judged(0) == Verdict::fail);
  MadeTable gradient({tensor(Role::gradient, "weight", stats(1, 0, 0.5, 2))},
                     {tensor(Role::gradient, "weight", stats(1, 0, 0.5, 4))});
  CHECK(gradient.judge().judged(0) == Verdict::warning);
}

TEST_CASE("similarity: APIs on the ignore lists") {
  CHECK(entry(2, 2, 9, 2, "Torch.empty.0.forward", "empty").judge().judged(1) == Verdict::pass);
  CHECK(entry(2, 2, 9, 2, "Tensor.to.3.forward", "to").judge().judged(1) == Verdict::pass);
  CHECK(entry(2, 2, 9, 2, "Tensor.__setitem__.0.forward", "__setitem__").judge().judged(1) == Verdict::pass);
  CHECK(entry(9, 2, 9, 2, "Distributed.all_to_all_single.0.forward", "all_to_all_single").judge().judged(1) ==
        Verdict::pass);
  CHECK(entry(2, 2, 9, 2, "Distributed.all_reduce.0.forward", "all_reduce").judge().judged(1) ==
        Verdict::fail);
  MadeTable made = entry(2, 2, 9, 2, "Torch.empty.0.forward", "empty");
  made.judge();
  CHECK(made.message(1) == "not judged: empty does not determine its values");
  MadeTable received(
      {tensor(Role::input, "0", stats(kNaN, kNaN, kNaN, kNaN)), tensor(Role::output, "0", kPlain)},
      {tensor(Role::input, "0", kPlain), tensor(Role::output, "0", stats(kNaN, kNaN, kNaN, kNaN))},
      "Distributed.all_to_all_single.0.forward", "all_to_all_single");
  received.judge();
  CHECK(received.judged(0) == Verdict::pass);
  CHECK(received.message(0) == "not judged: all_to_all_single overwrites its inputs");
  CHECK(received.judged(1) == Verdict::fail);
}

TEST_CASE("similarity: a module is not on the ignore list because of its path") {
  MadeOp target{"Module.to.Linear.forward.0",
                "Linear",
                OpKind::module,
                {tensor(Role::output, "0", stats(1, 0, 0, 9))},
                0,
                0,
                ""};
  MadeOp golden = target;
  golden.items[0].stats = stats(1, 0, 0, 2);
  MadeTable made({target}, {golden});
  CHECK(made.judge().judged(0) == Verdict::fail);
}

TEST_CASE("similarity: dtype, shape and requires_grad") {
  const auto pair = [](auto change) {
    MadeItem target = tensor(Role::output, "0", kPlain), golden = target;
    change(target, golden);
    return output(target, golden);
  };
  CHECK(pair([](MadeItem& t, MadeItem&) { t.dtype = DType::f16; }) == Verdict::fail);
  CHECK(pair([](MadeItem& t, MadeItem& g) { t.dtype = DType::i32, g.dtype = DType::i64; }) == Verdict::fail);
  CHECK(pair([](MadeItem& t, MadeItem&) { t.shape = {3, 2}; }) == Verdict::fail);
  CHECK(pair([](MadeItem& t, MadeItem&) { t.shape = {1, 2, 3}; }) == Verdict::fail);
  CHECK(pair([](MadeItem& t, MadeItem&) { t.flags = ULPSCOPE_GRAD_YES; }) == Verdict::fail);
  CHECK(pair([](MadeItem& t, MadeItem&) { t.flags = 0; }) == Verdict::pass);
  CHECK(pair([](MadeItem&, MadeItem&) {}) == Verdict::pass);
}

TEST_CASE("similarity: a row that fails for requires_grad alone says so") {
  MadeItem target = tensor(Role::output, "0", kPlain), golden = target;
  target.flags = ULPSCOPE_GRAD_YES;
  MadeTable alone({target}, {golden});
  alone.judge();
  CHECK(alone.row(0).grad_only);
  CHECK(alone.message(0) == "requires_grad: target true, golden false");
  target.dtype = DType::bf16;
  MadeTable with_dtype({target}, {golden});
  with_dtype.judge();
  CHECK_FALSE(with_dtype.row(0).grad_only);
  CHECK(with_dtype.message(0) ==
        "dtype: target bfloat16, golden float32; requires_grad: target true, golden false");
}

TEST_CASE("similarity: size-1 dimensions fail between dumps of one family and are said otherwise") {
  MadeOp target{"Torch.add.0.forward", "add", OpKind::api, {tensor(Role::output, "0", kPlain)}, 0, 0, ""},
      golden = target;
  target.items[0].shape = {1, 6};
  golden.items[0].shape = {6};
  MadeTable family({target}, {golden}, "vllm_v1");
  family.judge();
  CHECK(family.judged(0) == Verdict::fail);
  CHECK(family.message(0) == "shape: target [1, 6], golden [6], equal without dimensions of size 1");
  MadeTable foreign({target}, {golden}, "acl_om");
  foreign.judge();
  CHECK(foreign.judged(0) == Verdict::pass);
  CHECK(foreign.message(0) == "shape: target [1, 6], golden [6], equal without dimensions of size 1");
  CHECK(foreign.row(0).squeezed);
}

TEST_CASE("similarity: integers and bools agree exactly or fail") {
  MadeItem target = tensor(Role::output, "0", stats(9, 1, 4, 18)),
           golden = tensor(Role::output, "0", stats(8, 1, 4, 19));
  target.dtype = golden.dtype = DType::i64;
  CHECK(output(target, golden) == Verdict::fail);
  MadeTable made({target}, {golden});
  made.judge();
  CHECK(made.message(0).substr(0, 43) == "max of an exact type: target 9, golden 8; l");
  target.stats = extremes(1, 0);
  golden.stats = extremes(1, 1);
  target.dtype = golden.dtype = DType::b8;
  CHECK(output(target, golden) == Verdict::fail);
  CHECK(output(golden, golden) == Verdict::pass);
}

TEST_CASE("similarity: empty tensors") {
  MadeItem empty = tensor(Role::output, "0", {}), full = tensor(Role::output, "0", kPlain);
  empty.shape = {0, 4};
  MadeTable both({empty}, {empty});
  both.judge();
  CHECK(both.judged(0) == Verdict::pass);
  CHECK(both.message(0) == "both sides are empty, shape [0, 4]");
  MadeTable one({empty}, {full});
  one.judge();
  CHECK(one.judged(0) == Verdict::fail);
  CHECK(one.message(0) == "shape: target [0, 4], golden [2, 3]");
}

TEST_CASE("similarity: nothing to compare is a skip, never a pass") {
  MadeTable made({tensor(Role::output, "0", {ULPSCOPE_STAT_MAX, 0, 1, 0, 0, 0})},
                 {tensor(Role::output, "0", {ULPSCOPE_STAT_MIN, 0, 0, 1, 0, 0})});
  made.judge();
  CHECK(made.judged(0) == Verdict::skip);
  CHECK(made.row(0).absent == Absent::no_statistics);
  CHECK(made.row(0).unreadable);
  CHECK(made.message(0) == "no statistic is available on both sides");
}

TEST_CASE("similarity: rows of one side are skip, or fail when the target holds NaN") {
  MadeTable made({tensor(Role::input, "0", kPlain), tensor(Role::output, "0", stats(1, 0, 0, kNaN))}, {});
  made.judge();
  CHECK(made.judged(0) == Verdict::skip);
  CHECK(made.message(0) == "no counterpart in golden");
  CHECK(made.judged(1) == Verdict::fail);
  CHECK(made.message(1) == "no counterpart in golden; l2norm of target is NaN");
  MadeTable golden({}, {tensor(Role::output, "0", stats(kNaN, kNaN, kNaN, kNaN))});
  golden.judge();
  CHECK(golden.judged(0) == Verdict::skip);
  CHECK(golden.message(0) == "no counterpart in target");
}

TEST_CASE("similarity: rows that could not be measured keep their message") {
  MadeTable made({tensor(Role::output, "0", kPlain)}, {tensor(Role::output, "0", kPlain)});
  made.row(0).mode = Mode::none;
  made.row(0).absent = Absent::bad;
  made.row(0).unreadable = true;
  made.row(0).message = "target: x.pt: no such file";
  made.judge();
  CHECK(made.judged(0) == Verdict::skip);
  CHECK(made.message(0) == "target: x.pt: no such file");
}

TEST_CASE("similarity: checksums compare text, dtype and shape, not requires_grad") {
  const auto pair = [](auto change) {
    MadeItem target = tensor(Role::output, "0", kPlain), golden;
    target.digest = "crc32:4cf651c4";
    golden = target;
    change(target, golden);
    return MadeTable({target}, {golden}).judge().judged(0);
  };
  CHECK(pair([](MadeItem&, MadeItem&) {}) == Verdict::pass);
  CHECK(pair([](MadeItem& t, MadeItem&) { t.digest = "crc32:31e0fef2"; }) == Verdict::fail);
  CHECK(pair([](MadeItem& t, MadeItem&) { t.shape = {3, 2}; }) == Verdict::fail);
  CHECK(pair([](MadeItem& t, MadeItem&) { t.dtype = DType::i32; }) == Verdict::fail);
  CHECK(pair([](MadeItem& t, MadeItem&) { t.flags = ULPSCOPE_GRAD_YES; }) == Verdict::pass);
  MadeItem target = tensor(Role::output, "0", kPlain), golden = target;
  target.digest = "crc32:4cf651c4";
  MadeTable one_sided({target}, {golden});
  one_sided.judge();
  CHECK(one_sided.judged(0) == Verdict::pass);
  CHECK(one_sided.message(0) == "golden has no checksum: statistics were compared");
  golden.digest = "crc32:31e0fef2";
  MadeTable differing({target}, {golden});
  differing.judge();
  CHECK(differing.message(0) == "checksum: target crc32:4cf651c4, golden crc32:31e0fef2");
}

TEST_CASE("similarity: arguments are judged by value, in outputs too") {
  MadeTable made({argument("dim", "int", "1"), argument("r", "None", "", Role::output)},
                 {argument("dim", "int", "2"), argument("r", "None", "", Role::output)});
  made.judge();
  CHECK(made.judged(0) == Verdict::fail);
  CHECK(made.message(0) == "value of the argument: target 1, golden 2");
  CHECK(made.judged(1) == Verdict::pass);
  MadeTable against_tensor({argument("0", "None", "")}, {tensor(Role::input, "0", kPlain)});
  CHECK(against_tensor.judge().judged(0) == Verdict::fail);
}

TEST_CASE("similarity: what rounding can never explain") {
  const auto never = [](MadeTable& made) {
    return is_never_explained(made.judge().table(), made.row(made.table().rows.size() - 1));
  };
  MadeTable norm = entry(2, 2, 9, 2);
  CHECK_FALSE(never(norm));
  MadeTable nan = entry(2, 2, kNaN, 2);
  CHECK(never(nan));
  MadeTable equal = entry(2, 2, 2, 2);
  CHECK_FALSE(never(equal));
  MadeTable value({argument("dim", "int", "1")}, {argument("dim", "int", "2")});
  CHECK(never(value));
  MadeItem target = tensor(Role::output, "0", kPlain), golden = target;
  target.shape = {3, 2};
  MadeTable shape({target}, {golden});
  CHECK(never(shape));
  target = golden;
  target.dtype = DType::bf16;
  MadeTable dtype({target}, {golden});
  CHECK_FALSE(never(dtype));
  target.dtype = golden.dtype = DType::i64;
  target.stats = stats(2, -1, 0.1, 2);
  MadeTable integer({target}, {golden});
  CHECK(never(integer));
}

TEST_CASE("similarity: the framework dumps are one family") {
  CHECK(is_one_family("vllm_v1", "torch_api"));
  CHECK(is_one_family("acl_om", "acl_om"));
  CHECK_FALSE(is_one_family("tensor_files", "torch_api"));
}

}  // namespace ulpscope::test
