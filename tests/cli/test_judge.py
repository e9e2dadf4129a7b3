"""Whole runs of compare with chosen judgements, of policy and of precision-compare."""

import csv
import io
import json
import os
import struct
import unittest

from runs import DATA, RunTest

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "examples")


def npy(values, kind="<f4"):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (kind, len(values))
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    code = {"<f4": "f", "<f8": "d", "<i8": "q"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<%d%s" % (len(values), code), *values)


class JudgeTest(RunTest):
    def arrays(self, target, golden, kind="<f4"):
        return self.write("t.npy", npy(target, kind)), self.write("g.npy", npy(golden, kind))

    def row(self, *words, code=0):
        run = self.check(code, "compare", *words, "--format", "json", "-o", "-")
        result = json.loads(run.out)
        self.assertEqual(len(result["rows"]), 1)
        return result["rows"][0], result, run

    def test_a_forced_judgement_judges_and_shows_its_numbers(self):
        target, golden = self.arrays([1.0, 2.0], [1.0, 2.0 + 2 ** -22])
        row, _, _ = self.row(target, golden, "--judge", "ulp")
        self.assertEqual((row["judgement"], row["judged"], row["verdict"]), ("ulp", "pass", "pass"))
        self.assertEqual(row["metrics"]["ulp.max_ulp"], 1)
        row, _, _ = self.row(target, golden, "--judge", "binary_consistency", code=1)
        self.assertEqual((row["judged"], row["verdict"]), ("fail", "fail"))
        self.assertEqual(row["metrics"]["binary_consistency.binary_error_rate"], 0.5)

    def test_several_judgements_give_the_worst_verdict(self):
        target, golden = self.arrays([1.0, 2.0], [1.0, 2.0 + 2 ** -22])
        row, _, _ = self.row(target, golden, "--judge", "ulp,binary_consistency", code=1)
        self.assertEqual((row["judgement"], row["judged"]), ("ulp,binary_consistency", "fail"))
        self.assertIn("binary_consistency: binary_error_rate", row["message"])

    def test_a_judgement_that_does_not_apply_leaves_the_row_to_similarity(self):
        target, golden = self.arrays([1, 2], [1, 2], "<i8")
        row, _, _ = self.row(target, golden, "--judge", "ulp")
        self.assertEqual(row["judgement"], "similarity")
        self.assertIn("ulp does not apply: elements of type int64 have no rounding error", row["message"])

    def test_a_nan_on_one_side_fails_whatever_the_judgement(self):
        target, golden = self.arrays([float("nan"), 2.0], [1.0, 2.0])
        row, _, _ = self.row(target, golden, "--judge", "double_thousandth", code=1)
        self.assertEqual(row["judged"], "fail")
        self.assertIn("NaN or infinite on one side alone", row["message"])

    def test_an_unknown_judgement_is_a_usage_error(self):
        target, golden = self.arrays([1.0], [1.0])
        run = self.check(2, "compare", target, golden, "--judge", "upl")
        self.assertIn("option --judge: ", run.err)
        self.check(2, "compare", target, golden, "--judge", "ulp", "--profile", "seed")
        self.check(2, "compare", target, golden, "--profile", "sead")

    def test_a_large_tensor_is_measured_tile_by_tile_with_the_same_numbers(self):
        count = (1 << 20) + 5
        golden = [1.0] * count
        target = list(golden)
        target[3] = 1.0 + 2 ** -23
        target[count - 1] = 1.0 + 2 ** -20
        paths = self.arrays(target, golden)
        one, _, _ = self.row(*paths, "--judge", "ulp,absolute_threshold", "-j", "1", code=0)
        four, _, _ = self.row(*paths, "--judge", "ulp,absolute_threshold", "-j", "4", code=0)
        self.assertEqual(one["metrics"], four["metrics"])
        self.assertEqual(one["metrics"]["ulp.max_ulp"], 8)

    def test_a_policy_chooses_and_its_mistakes_stop_the_run(self):
        target, golden = self.arrays([1.0, 2.0], [1.0, 2.1])
        policy = self.write("p.yaml", "version: 1\nextends: none\nrules:\n  - {dtype: float32, use: mere_mare, with: {float32_threshold: 0.1}}\n"
                                      "  - {api: never, use: ulp}\n")
        row, result, run = self.row(target, golden, "--policy", policy)
        self.assertEqual((row["judgement"], row["judged"]), ("mere_mare", "pass"))
        self.assertEqual(result["policy"]["file"], policy)
        self.assertIn("p.yaml:5:5: the rule matched nothing in this run", run.err)
        self.write("p.yaml", "version: 1\nrules:\n  - {use: mere_mare, with: {float32_threshold: -1}}\n")
        run = self.check(2, "compare", target, golden, "--policy", policy)
        self.assertIn("p.yaml:3:48: option 'float32_threshold': -1", run.err)

    def test_what_a_policy_ignores_is_skipped_with_the_reason(self):
        target, golden = self.arrays([1.0, 2.0], [1.0, 9.0])
        policy = self.write("p.yaml", "version: 1\nignore:\n  - {name: '*', why: not today}\n")
        row, _, _ = self.row(target, golden, "--policy", policy, code=3)
        self.assertEqual((row["judged"], row["message"]), ("skip", "ignored: not today"))

    def test_a_reference_makes_the_judgement_three_way(self):
        golden = [1.0 + i / 64 for i in range(64)]
        target = [g * (1 + 3e-6 * (-1) ** i) for i, g in enumerate(golden)]
        reference = [g * (1 + 1e-6 * (-1) ** i) for i, g in enumerate(golden)]
        target_path, golden_path = self.arrays(target, golden, "<f8")
        reference_path = self.write("r.npy", npy(reference, "<f8"))
        self.write("p.yaml", "version: 1\nextends: none\nrules:\n  - {use: benchmark, with: {other_ratio_floor: 2^-60, level: L0}}\n")
        row, result, _ = self.row(target_path, golden_path, "-rp", reference_path, "--policy", self.path("p.yaml"), code=1)
        self.assertEqual((row["judgement"], row["judged"]), ("benchmark", "fail"))
        self.assertIn("ratio of rmse 3", row["message"])
        self.assertIn("more than noise of the reference", row["message"])
        self.assertEqual(result["reference"]["path"], reference_path)
        row, _, _ = self.row(reference_path, golden_path, "-rp", reference_path, "--policy", self.path("p.yaml"))
        self.assertEqual(row["judged"], "pass")
        self.assertIn("sigma x1, largest x1, length x1, histograms overlap 100 %: as noise of the reference", row["message"])

    def test_a_resumed_run_has_the_same_numbers(self):
        target, golden = self.arrays([1.0, 2.0], [1.0, 2.0 + 2 ** -22])
        words = ["compare", target, golden, "--judge", "ulp", "-o", self.path("out"), "--exact-output"]
        self.check(0, *words, "--format", "json")
        first = self.read_json("out", "compare_result.json")["rows"]
        os.remove(self.path("out", "compare_result.json"))
        self.check(0, "compare", "--resume", self.path("out"))
        self.assertEqual(self.read_json("out", "compare_result.json")["rows"], first)


class PolicyTest(RunTest):
    def test_show_prints_the_presets(self):
        self.assertEqual(self.check(0, "policy", "show").out, "seed\nmsprobe_code\nmsprobe_per_api\ncann_community\n")
        self.assertIn("use: absolute_threshold", self.check(0, "policy", "show", "seed").out)
        self.assertIn("did you mean 'seed'?", self.check(2, "policy", "show", "sead").err)

    def test_check_says_what_is_wrong(self):
        good = self.write("good.yaml", "version: 1\nrules:\n  - {api: a, use: ulp}\n")
        self.assertIn("1 rule of its own", self.check(0, "policy", "check", good).out)
        bad = self.write("bad.yaml", "version: 1\nrules:\n  - {api: a, uses: ulp}\n")
        self.assertIn("bad.yaml:3:14: unknown key 'uses' (did you mean 'use'?)", self.check(2, "policy", "check", bad).err)
        self.check(2, "policy", "check", self.path("none.yaml"))

    def test_explain_names_rule_options_and_place(self):
        run = self.check(0, "policy", "explain", "Functional.layer_norm.0.forward", "--dtype", "float16")
        self.assertIn("judgement  benchmark\n", run.out)
        self.assertIn('options    {"level":"L2"}, else the defaults that ', run.out)
        self.assertIn("source     preset seed:", run.out)
        run = self.check(0, "policy", "explain", "dropout", "--policy", os.path.join(EXAMPLES, "policies", "ignore_dropout.yaml"))
        self.assertIn("ignored    random by design\n", run.out)
        self.check(2, "policy", "explain", "x", "--dtype", "float17")
        self.assertEqual(self.check(0, "policy", "explain", "matmul", "--dtype", "bf16").out,
                         self.check(0, "policy", "explain", "matmul", "--dtype", "bfloat16").out)

    def test_check_reads_every_file_and_names_the_mistake_of_each(self):
        good = self.write("good.yaml", "version: 1\nignore:\n  - {name: a, why: b}\n")
        bad = [self.write(f"bad{i}.yaml", f"version: 1\nnonsense{i}: 1\n") for i in range(2)]
        run = self.check(2, "policy", "check", bad[0], good, bad[1])
        self.assertIn("good.yaml: 0 rules of its own", run.out)
        for i in range(2):
            self.assertRegex(run.err, rf"bad{i}\.yaml:2:1: .*nonsense{i}")
        self.check(2, "policy", "show", "seed", "msprobe_code")

    def test_import_makes_a_policy_that_checks(self):
        lists = self.write("lists.yaml", "AbsoluteThreshStandard: [mul, add]\nThousandthStandard: [conv2d]\n")
        policy = self.write("p.yaml", self.check(0, "policy", "import", lists).out)
        self.assertIn("2 rules of its own", self.check(0, "policy", "check", policy).out)

    def test_every_example_checks(self):
        folder = os.path.join(EXAMPLES, "policies")
        names = sorted(name for name in os.listdir(folder) if name.endswith(".yaml"))
        self.assertEqual(len(names), 4)
        for name in names:
            self.check(0, "policy", "check", os.path.join(folder, name))


class PrecisionCompareTest(RunTest):
    CASE = os.path.join(DATA, "api_precision_compare", "structure_and_rollup")

    def tables(self):
        return [os.path.join(self.CASE, side + "_accuracy_checking_details_20240101000000.csv") for side in ("npu", "gpu")]

    def test_files_and_exit_code(self):
        npu, gpu = self.tables()
        run = self.check(1, "precision-compare", "-npu", npu, "-gpu", gpu, "-o", self.path("out"), "--exact-output",
                         "--profile", "msprobe_code")
        names = sorted(os.listdir(self.path("out")))
        self.assertEqual([name.rstrip("0123456789.csv") for name in names[:2]],
                         ["api_precision_compare_details_", "api_precision_compare_result_"])
        self.assertIn("Torch.only_npu.0", json.dumps(self.read_json("out", "precision_compare_result.json")))
        self.assertIn("error", run.out)
        self.assertIn("report  " + self.path("out", "report.html"), run.out)
        self.check(0, "report", self.path("out"), "-o", self.path("again"), "--exact-output")
        with open(self.path("out", "report.html"), "rb") as first, open(self.path("again", "report.html"), "rb") as again:
            self.assertEqual(first.read(), again.read())

    def test_a_table_against_itself_is_zero(self):
        _, gpu = self.tables()
        run = self.check(0, "api_precision_compare", "-npu", gpu, "-gpu", gpu, "--profile", "msprobe_code")
        self.assertIn("error 0", run.out)

    def test_the_console_speaks_one_language(self):
        npu, gpu = self.tables()
        out = self.check(1, "precision-compare", "-npu", npu, "-gpu", gpu, "--profile", "msprobe_code").out
        self.assertTrue(out.isascii(), out)

    def test_tables_without_rows_are_named(self):
        _, gpu = self.tables()
        with open(gpu, encoding="utf-8-sig") as file:
            head = self.write("head.csv", file.readline())
        run = self.check(3, "precision-compare", "-npu", head, "-gpu", head)
        self.assertIn("head.csv: no row below the header, expected one for each output of an API", run.err)

    def test_a_missing_error_balance_is_a_skip_and_no_error(self):
        _, gpu = self.tables()
        with open(gpu, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
        place = rows[0].index("误差均衡性")
        name = next(row for row in rows[1:] if row[0] == "Torch.add.0.forward.output.0")
        name[place] = " "
        text = io.StringIO()
        csv.writer(text).writerows([rows[0], name])
        table = self.write("t.csv", text.getvalue())
        self.check(3, "precision-compare", "-npu", table, "-gpu", table, "-o", self.path("out"), "--exact-output",
                   "--profile", "msprobe_code")
        output = self.read_json("out", "precision_compare_result.json")["apis"][0]["outputs"][0]
        self.assertEqual(output["status"], "SKIP")
        self.assertIn("error_balance of the device is missing", output["message"])
        self.assertNotIn("error", [metric.get("status") for metric in output["metrics"].values()])

    def test_missing_files_and_options(self):
        npu, gpu = self.tables()
        self.assertIn("'md' is not a format of this command",
                      self.check(2, "precision-compare", "-npu", npu, "-gpu", gpu, "--format", "md").err)
        self.check(2, "precision-compare", "-npu", npu)
        run = self.check(3, "precision-compare", "-npu", npu, "-gpu", self.path("none.csv"))
        self.assertIn("none.csv", run.err)
        bad = self.write("bad.csv", "API Name,Status\n")
        run = self.check(3, "precision-compare", "-npu", bad, "-gpu", gpu)
        self.assertIn("bad.csv:1: columns are missing", run.err)


if __name__ == "__main__":
    unittest.main()
