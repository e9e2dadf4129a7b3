"""show: names, statistics, slices, histogram, unreadable data."""

import struct

import runs
from runs import call, dump_json, floats, npy, safetensors, tensor


class Show(runs.RunTest):
    def array(self, descr, shape, data):
        return self.write("x.npy", npy(descr, shape, data))

    def test_a_single_tensor_file_needs_no_name(self):
        run = self.check(0, "show", self.array("<f4", (2, 3), floats(1, -2, 3, 0, 0.5, 10)))
        self.assertRegex(run.out, r"(?m)^  dtype +float32$")
        self.assertRegex(run.out, r"(?m)^  shape +\[2, 3\]  6 elements$")
        self.assertRegex(run.out, r"(?m)^  max +10 +-$")
        self.assertRegex(run.out, r"(?m)^  min +-2 +-$")
        # (1 - 2 + 3 + 0 + 0.5 + 10) / 6 and sqrt(1 + 4 + 9 + 0 + 0.25 + 100), computed by hand with bc
        self.assertRegex(run.out, r"(?m)^  mean +2\.08333333333333\d* +-$")
        self.assertRegex(run.out, r"(?m)^  l2norm +10\.68877916\d* +-$")
        self.assertRegex(run.out, r"(?m)^  zero +1$")

    def test_nan_and_infinities_are_counted_and_kept_out(self):
        nan, inf = float("nan"), float("inf")
        run = self.check(0, "show", self.array("<f4", (5,), floats(1, inf, nan, -inf, 2)))
        for name, count in (("NaN", 1), (r"\+inf", 1), ("-inf", 1)):
            self.assertRegex(run.out, r"(?m)^  %s +%d$" % (name, count))
        self.assertRegex(run.out, r"(?m)^  max +2 +-$")
        self.assertIn("first element that is not finite: 1\n", run.out)

    def test_a_norm_that_overflows_a_plain_sum_of_squares(self):
        run = self.check(0, "show", self.array("<f8", (2,), struct.pack("<2d", 3e300, 4e300)))
        self.assertRegex(run.out, r"(?m)^  l2norm +5e\+?300 +-$")

    def test_a_norm_that_underflows_a_plain_sum_of_squares(self):
        run = self.check(0, "show", self.array("<f8", (2,), struct.pack("<2d", 3e-300, 4e-300)))
        self.assertRegex(run.out, r"(?m)^  l2norm +5(\.0{14}\d+)?e-300 +-$")

    def test_large_integers_keep_their_digits(self):
        run = self.check(0, "show", self.array("<i8", (2,), struct.pack("<2q", 2**63 - 1, -2**63)))
        self.assertRegex(run.out, r"(?m)^  max +9223372036854775807 +-$")
        self.assertRegex(run.out, r"(?m)^  min +-9223372036854775808 +-$")

    def test_a_slice_prints_like_numpy(self):
        path = self.array("<f4", (2, 2, 3), floats(*[0.5 * i for i in range(12)]))
        self.assertTrue(self.check(0, "show", path, "--slice", "0").out.endswith("\n[[  0, 0.5,   1],\n [1.5,   2, 2.5]]\n"))
        self.assertTrue(self.check(0, "show", path, "--slice", ":,1,::2").out.endswith("\n[[1.5, 2.5],\n [4.5, 5.5]]\n"))
        self.assertTrue(self.check(0, "show", path, "--slice", "...,-1").out.endswith("\n[[  1, 2.5],\n [  4, 5.5]]\n"))
        self.assertTrue(self.check(0, "show", path, "--slice", "1,0,1").out.endswith("\n3.5\n"))

    def test_a_long_slice_leaves_out_its_middle(self):
        path = self.array("<i4", (2000,), struct.pack("<2000i", *range(2000)))
        self.assertTrue(self.check(0, "show", path, "--slice", ":").out.endswith(
            "\n[   0,    1,    2, ..., 1997, 1998, 1999]\n"))

    def test_narrow_floats_print_their_shortest_digits(self):
        # 0x2e66 is the float16 nearest to 0.1
        path = self.array("<f2", (1,), b"\x66\x2e")
        self.assertTrue(self.check(0, "show", path, "--slice", "0").out.endswith("\n0.1\n"))

    def test_complex_and_bool_elements(self):
        path = self.array("<c8", (1,), floats(1.5, -2))
        self.assertTrue(self.check(0, "show", path, "--slice", "0").out.endswith("\n1.5-2j\n"))
        path = self.array("|b1", (2,), b"\0\1")
        self.assertTrue(self.check(0, "show", path, "--slice", ":").out.endswith("\n[False,  True]\n"))

    def test_bool_bytes_other_than_0_and_1_are_told(self):
        run = self.check(0, "show", self.array("|b1", (3,), b"\0\1\x07"))
        self.assertIn("bool elements hold bytes other than 0 and 1; they count as true", run.err)
        self.assertNotIn("bool elements", self.check(0, "show", self.array("|b1", (2,), b"\0\1")).err)

    def test_an_unreadable_file_has_no_shape(self):
        run = self.check(3, "show", self.write("broken.npy", b"\x93NUMPY\x01\x00junk"))
        self.assertRegex(run.out, r"(?m)^  shape +unknown$")
        self.assertNotIn("1 element", run.out)

    def test_wrong_slices_say_what_was_expected(self):
        path = self.array("<f4", (2, 3), floats(*range(6)))
        for text, message in (("5", "slice part '5', expected a place within a dimension of 2"),
                              ("a", "slice part 'a', expected a form like 2, 1:4 or ::2"),
                              ("::0", "slice part '::0', expected a step of 1 or more"),
                              ("0:1:1:1", "expected at most start:stop:step"),
                              ("0,0,0", "slice '0,0,0' has more dimensions than the shape [2, 3]"),
                              ("...,...", "expected '...' at most once")):
            with self.subTest(text):
                self.assertIn(message, self.check(2, "show", path, "--slice", text).err)

    def test_an_empty_tensor_has_no_extremes(self):
        run = self.check(0, "show", self.array("<f4", (0, 3), b""), "--slice", ":")
        self.assertRegex(run.out, r"(?m)^  max +NaN +-$")
        self.assertTrue(run.out.endswith("\n[]\n"), run.out)

    def test_the_histogram_counts_powers_of_two(self):
        path = self.array("<f4", (6,), floats(0, 1, 1.5, -1.25, 2, 0.25))
        out = self.check(0, "show", path, "--histogram").out
        self.assertRegex(out, r"(?m)^0 +1  #+$")
        self.assertRegex(out, r"(?m)^2\^0 \.\. 2\^1 +3  #{40}$")
        self.assertRegex(out, r"(?m)^2\^1 \.\. 2\^2 +1  #{14}$")
        self.assertRegex(out, r"(?m)^2\^-1 \.\. 2\^0 +0$")


class Names(runs.RunTest):
    def dump(self):
        calls = {"Torch.matmul.0.forward": call([tensor(), tensor()], [tensor()]),
                 "Torch.matmul.1.forward": call([tensor(), tensor()], [tensor((7,))])}
        self.write("d/step0/rank0/dump.json", dump_json(calls))
        self.write("d/step0/rank1/dump.json", dump_json(calls))
        return self.path("d")

    def test_one_word_or_two(self):
        for words in (["Torch.matmul.1.forward output.0"], ["Torch.matmul.1.forward", "output.0"],
                      ["Torch.matmul.1.forward.output.0"], ["*1.forward output*"]):
            with self.subTest(words):
                run = self.check(0, "show", self.dump(), *words, "--rank", "1")
                self.assertTrue(run.out.startswith("Torch.matmul.1.forward output.0\n"), run.out)
                self.assertIn("[7]  7 elements", run.out)

    def test_recorded_statistics_stand_without_data(self):
        run = self.check(0, "show", self.dump(), "Torch.matmul.1.forward output.0", "--rank", "0")
        self.assertRegex(run.out, r"(?m)^  max +- +1$")
        self.assertRegex(run.out, r"(?m)^  l2norm +- +2$")

    def test_an_ambiguous_name_lists_the_candidates(self):
        run = self.check(2, "show", self.dump(), "Torch.matmul.1.forward output.0")
        self.assertIn("fits several tensors", run.err)
        self.assertIn("Torch.matmul.1.forward output.0  (step 0 rank 1)", run.err)

    def test_an_unknown_name_suggests_the_nearest(self):
        run = self.check(2, "show", self.dump(), "Torch.matmul.1.forward output.1")
        self.assertIn("no tensor is named 'Torch.matmul.1.forward output.1'", run.err)
        self.assertIn("did you mean", run.err)

    def test_a_slice_without_data_is_missing_input(self):
        run = self.check(3, "show", self.dump(), "Torch.matmul.1.forward output.0", "--rank", "0", "--slice", "0")
        self.assertIn("the dump holds no data of this tensor", run.err)


class RecordedBesideData(runs.RunTest):
    def dump(self, high, data):
        leaf = tensor((2,), high=high, low=1.0, data_name="Torch.relu.0.forward.output.0.npy")
        self.write("d/step0/rank0/dump.json", dump_json({"Torch.relu.0.forward": call([], [leaf])}, task="tensor"))
        self.write("d/step0/rank0/dump_tensor_data/Torch.relu.0.forward.output.0.npy", npy("<f4", (2,), data))
        return self.path("d")

    def test_equal_extremes_say_nothing(self):
        run = self.check(0, "show", self.dump(2.0, floats(1, 2)), "*")
        self.assertNotIn("warning", run.err)
        self.assertRegex(run.out, r"(?m)^  max +2 +2$")
        self.assertIn("dump_tensor_data/Torch.relu.0.forward.output.0.npy +", run.out)

    def test_a_recorded_maximum_that_the_data_does_not_have_is_a_warning(self):
        run = self.check(0, "show", self.dump(3.0, floats(1, 2)), "*")
        self.assertIn("the recorded max is not that of the data", run.err)

    def test_a_missing_data_file_is_missing_input(self):
        path = self.dump(2.0, floats(1, 2))
        __import__("os").remove(self.path("d/step0/rank0/dump_tensor_data/Torch.relu.0.forward.output.0.npy"))
        self.check(3, "show", path, "*")

    def test_a_data_file_that_is_too_short_is_missing_input(self):
        path = self.dump(2.0, floats(1))
        self.check(3, "show", path, "*")


class Safetensors(runs.RunTest):
    def test_bfloat16_and_fp8(self):
        # 1.5 is 0x3fc0 as bfloat16 and 0x3c as float8_e4m3fn
        path = self.write("x.safetensors", safetensors({"a": ("BF16", [1], b"\xc0\x3f"), "b": ("F8_E4M3", [1], b"\x3c")}))
        self.assertTrue(self.check(0, "show", path, "*a output.0", "--slice", "0").out.endswith("\n1.5\n"))
        self.assertTrue(self.check(0, "show", path, "*b output.0", "--slice", "0").out.endswith("\n1.5\n"))


if __name__ == "__main__":
    runs.main()
