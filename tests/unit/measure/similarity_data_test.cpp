#include "made_table.hpp"

namespace ulpscope::test {
namespace {

// An input and an output of 20 elements that were measured; row 0 is the input, row 1 the output.
struct Measured {
  explicit Measured(int64_t count = 20, DType dtype = DType::f32)
      : made(items(count, dtype), items(count, dtype)) {
    made.sums(0) = equal_sums(count);
    made.sums(1) = equal_sums(count);
  }
  PairSums& input() { return made.sums(0); }
  PairSums& output() { return made.sums(1); }
  Verdict judged() { return made.judge().judged(1); }
  const std::string& message() { return made.message(1); }

  static std::vector<MadeItem> items(int64_t count, DType dtype) {
    MadeItem input = data_tensor(Role::input, "0"), output = data_tensor(Role::output, "0");
    input.shape = output.shape = {count};
    input.dtype = output.dtype = dtype;
    return {input, output};
  }
  MadeTable made;
};

}  // namespace

TEST_CASE("similarity: ratio rule, inputs above 0.9 and an output below 0.6") {
  Measured m;
  SUBCASE("equal passes") {
    CHECK(m.judged() == Verdict::pass);
    CHECK(m.message().empty());
  }
  SUBCASE("0.65 passes") {
    m.output().within[2] = 13;
    CHECK(m.judged() == Verdict::pass);
  }
  SUBCASE("0.6 exactly passes") {
    m.output().within[2] = 12;
    CHECK(m.judged() == Verdict::pass);
  }
  SUBCASE("0.55 fails with its numbers") {
    m.output().within[2] = 11;
    CHECK(m.judged() == Verdict::fail);
    CHECK(m.message() == "within_1e-3 is 0.55, below 0.6, with inputs at 1");
  }
  SUBCASE("an input at 0.95 leaves it on") {
    m.input().within[2] = 19;
    m.output().within[2] = 1;
    CHECK(m.judged() == Verdict::fail);
  }
  SUBCASE("an input at 0.9 switches it off") {
    m.input().within[2] = 18;
    m.output().within[2] = 1;
    CHECK(m.judged() == Verdict::pass);
  }
}

TEST_CASE("similarity: cosine rule, a drop above 0.1 warns and above 0.5 fails") {
  Measured m;
  SUBCASE("a drop of 0.05 passes") {
    m.output().unequal = 20;
    m.output().dot = 3.8;
    CHECK(m.judged() == Verdict::pass);
  }
  SUBCASE("a drop of 0.25 warns with its numbers") {
    m.output().unequal = 20;
    m.output().dot = 3;
    CHECK(m.judged() == Verdict::warning);
    CHECK(m.message() == "cosine is 0.75, more than 0.1 below that of the inputs, 1");
  }
  SUBCASE("a drop of 2 fails") {
    m.output().unequal = 20;
    m.output().dot = -4;
    CHECK(m.judged() == Verdict::fail);
    CHECK(m.message() == "cosine is -1, more than 0.5 below that of the inputs, 1");
  }
  SUBCASE("an input at 0.875 switches it off") {
    m.input().unequal = m.output().unequal = 20;
    m.input().dot = 3.5;
    m.output().dot = 1;
    CHECK(m.judged() == Verdict::pass);
  }
  SUBCASE("a zero side has no cosine and says so") {
    m.output().unequal = 20;
    m.output().dot = m.output().squares_target = 0;
    CHECK(m.judged() == Verdict::pass);
    CHECK(m.message() == "cosine is undefined: target is 0 everywhere");
  }
}

TEST_CASE("similarity: NaN or infinity that does not agree fails any row with count and place") {
  Measured m;
  for (const size_t row : {size_t{0}, size_t{1}}) {
    PairSums& sums = m.made.sums(row);
    sums.nonfinite_mismatch = sums.unequal = 2;
    sums.first_mismatch_index = 7;
    sums.target.nan_count = 2;
  }
  CHECK(m.judged() == Verdict::fail);
  CHECK(m.made.judged(0) == Verdict::fail);
  CHECK(m.message() ==
        "NaN or infinity does not agree in 2 of 20 elements, first at [7]: target 2 NaN, 0 inf, 0 -inf, "
        "golden 0 NaN, 0 "
        "inf, 0 -inf");
}

TEST_CASE("similarity: an infinity where the other side's number does not fit is an overflow") {
  Measured m(20, DType::f16);
  m.output().nonfinite_mismatch = m.output().unequal = 1;
  m.output().first_mismatch_index = 0;
  m.output().target.positive_inf = 1;
  m.output().golden.max = 70000;
  CHECK(m.judged() == Verdict::fail);
  CHECK(m.message().find(": overflow, golden 70000 does not fit float16 (largest 65504)") !=
        std::string::npos);
  Measured fits(20, DType::f16);
  fits.output() = m.output();
  fits.output().golden.max = 65504;
  CHECK(fits.judged() == Verdict::fail);
  CHECK(fits.message().find("overflow") == std::string::npos);
}

TEST_CASE("similarity: one element is judged by its own error") {
  Measured m(1);
  PairSums& sums = m.output();
  SUBCASE("relative 0.02 fails") {
    sums.max_abs_err = 0.02;
    sums.max_abs_target = 1.02;
    sums.max_abs_golden = 1;
    sums.within[2] = 0;
    CHECK(m.judged() == Verdict::fail);
    CHECK(m.message() == "the one element: target 1.02, golden 1, relative error 0.02 above 0.005");
  }
  SUBCASE("relative 0.004 passes, without a ratio rule") {
    sums.max_abs_err = 0.004;
    sums.max_abs_golden = 1;
    sums.within[2] = 0;
    CHECK(m.judged() == Verdict::pass);
  }
  SUBCASE("golden 0 fails above the floor") {
    sums.max_abs_err = sums.max_abs_target = 1.5;
    CHECK(m.judged() == Verdict::fail);
    CHECK(m.message() == "the one element: target 1.5, golden 0, relative error Infinity above 0.005");
  }
  SUBCASE("golden 0 passes under the floor") {
    sums.max_abs_err = sums.max_abs_target = 9e-6;
    CHECK(m.judged() == Verdict::pass);
  }
  SUBCASE("an input is not looked at") {
    m.input().max_abs_err = 5;
    m.input().max_abs_golden = 1;
    m.judged();
    CHECK(m.made.judged(0) == Verdict::pass);
  }
}

TEST_CASE("similarity: the floor of a coarse type is its unit roundoff") {
  Measured m(1, DType::bf16);
  m.output().max_abs_err = 0.0035;  // u of bfloat16 is 2^-8 = 0.00390625
  m.output().max_abs_golden = 0.01;
  CHECK(m.judged() == Verdict::pass);
  Measured above(1, DType::bf16);
  above.output().max_abs_err = 0.0045;
  above.output().max_abs_golden = 0.01;
  CHECK(above.judged() == Verdict::fail);
}

TEST_CASE("similarity: elements of exact types must be equal, in inputs too") {
  Measured m(20, DType::i64);
  m.input().unequal = 1;
  m.input().first_unequal_index = 3;
  m.input().max_abs_err = 1;
  m.judged();
  CHECK(m.made.judged(0) == Verdict::fail);
  CHECK(m.made.message(0) == "1 of 20 elements of an exact type differ, first at [3], at most by 1");
  Measured opaque(20, DType::none);
  opaque.output().unequal = 1;
  opaque.output().first_unequal_index = 0;
  CHECK(opaque.judged() == Verdict::fail);
}

TEST_CASE("similarity: shapes that differ are not measured and fail") {
  MadeItem target = data_tensor(Role::output, "0"), golden = target;
  target.shape = {2, 3};
  golden.shape = {7};
  MadeTable made({target}, {golden});
  made.row(0).mode = Mode::data;
  made.judge();
  CHECK(made.judged(0) == Verdict::fail);
  CHECK(made.message(0) == "shape: target [2, 3], golden [7]");
  CHECK(is_never_explained(made.table(), made.row(0)));
}

TEST_CASE("similarity: an input of another shape explains its outputs") {
  MadeItem input = data_tensor(Role::input, "0"), output = data_tensor(Role::output, "0"), other = input;
  output.shape = {20};
  other.shape = {3};
  MadeTable made({input, output}, {other, output});
  made.row(0).mode = Mode::data;
  made.sums(1) = equal_sums(20);
  made.sums(1).within[2] = 0;
  made.judge();
  CHECK(made.judged(0) == Verdict::fail);
  CHECK(made.judged(1) == Verdict::pass);
}

TEST_CASE("similarity: a message of the measuring stays in front") {
  Measured m;
  m.made.row(1).message = "target: the CRC-32 of the data is not the one that its file states";
  m.output().within[2] = 1;
  m.judged();
  CHECK(m.message() ==
        "target: the CRC-32 of the data is not the one that its file states; within_1e-3 is 0.05, below "
        "0.6, with inputs at 1");
}

TEST_CASE("similarity: thresholds are options") {
  Measured m;
  m.output().within[2] = 11;
  SimilarityOptions options;
  options.ratio_output = 0.5;
  CHECK(m.made.judge(options).judged(1) == Verdict::pass);
}

TEST_CASE("similarity: merged projections leave size-1 dimensions and requires_grad alone") {
  MadeItem target = data_tensor(Role::output, "0"), golden = target;
  target.shape = {1, 20};
  golden.shape = {20};
  target.flags = ULPSCOPE_GRAD_YES;
  MadeTable made({target}, {golden});
  made.sums(0) = equal_sums(20);
  made.table().pairs.merges.push_back({true, {0}, -1});
  made.judge();
  CHECK(made.judged(0) == Verdict::pass);
}

TEST_CASE("similarity: a measured input counts for an output of which only statistics are there") {
  MadeItem input = data_tensor(Role::input, "0"), output = tensor(Role::output, "0", stats(1, -1, 0.1, 3.8));
  MadeItem golden_output = tensor(Role::output, "0", stats(1, -1, 0.1, 2));
  MadeTable made({input, output}, {input, golden_output});
  made.sums(0) = equal_sums(6);
  SUBCASE("an equal one leaves the norm rule on") { CHECK(made.judge().judged(1) == Verdict::fail); }
  SUBCASE("one of another norm switches it off, in units of 2^600 too") {
    made.sums(0).squares_target = 9;
    made.sums(0).target_exponent = made.sums(0).golden_exponent = 600;
    CHECK(made.judge().judged(1) == Verdict::pass);
  }
}

}  // namespace ulpscope::test
