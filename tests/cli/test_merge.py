"""merge: results side by side. The results are written by hand, after the schema of compare_result.json."""

import csv
import json
import os
import xml.etree.ElementTree
import zipfile

import runs


def row(rank, op, verdict="pass", step=0, **metrics):
    return {"step": step, "rank": rank, "op": op, "tensor": "output.0", "golden_op": op, "golden_tensor": "output.0",
            "match": "exact", "dtype": ["float32", "float32"], "shape": [[2], [2]], "judgement": "similarity",
            "judged": verdict, "verdict": verdict, "metrics": metrics, "message": ""}


def result(*rows):
    side = {"path": "x", "source": "torch_api", "task": "tensor", "level": "L1", "ops": 1, "tensors": 1}
    return json.dumps({
        "schema": "ulpscope.compare/1", "version": "0.1.0", "command": ["compare"], "target": side, "golden": side,
        "reference": None, "policy": {"file": None, "profile": "seed", "hash": ""},
        "summary": {"pairs": len(rows), "pass": 0, "warning": 0, "fail": 0, "skip": 0, "only_target": 0,
                    "only_golden": 0, "diagnostics": 0},
        "localisation": {"verdict": "rounding", "culprits": [], "suspects": [], "propagated": 0},
        "rows": list(rows), "diagnostics": []})


class Merge(runs.RunTest):
    def merge(self, code, *words):
        run = self.check(code, "merge", *words, "-o", self.path("out"), "--exact-output")
        self.result = self.read_json("out/merge_result.json")
        return run

    def two_runs(self):
        self.write("a/compare_result.json", result(row(0, "Torch.matmul.0.forward", "fail", cosine=0.5, rel_l2=0.1),
                                                   row(0, "Torch.relu.0.forward", cosine=1.0)))
        self.write("b/compare_result.json", result(row(1, "Torch.matmul.0.forward", cosine=0.25),
                                                   row(1, "Torch.add.0.forward", cosine="NaN")))
        return [self.path("a"), self.path("b")]

    def test_ranks_of_several_runs_become_columns(self):
        run = self.merge(0, *self.two_runs())
        self.assertEqual([c["label"] for c in self.result["columns"]], ["rank0", "rank1"])
        self.assertEqual(self.result["metrics"], ["verdict", "rel_l2", "cosine"])
        self.assertEqual([r["op"] for r in self.result["rows"]],
                         ["Torch.matmul.0.forward", "Torch.relu.0.forward", "Torch.add.0.forward"])
        self.assertEqual(self.result["rows"][0]["cosine"], [0.5, 0.25])
        self.assertEqual(self.result["rows"][0]["verdict"], ["fail", "pass"])
        self.assertEqual(self.result["rows"][1]["cosine"], [1, None])
        self.assertEqual(self.result["rows"][2]["cosine"], [None, "NaN"])
        self.assertIn("merged 3 rows of 2 columns: rank0, rank1", run.out)

    def test_runs_with_equal_ranks_are_told_apart_by_name(self):
        self.write("a/compare_result.json", result(row(0, "Torch.relu.0.forward", cosine=1.0)))
        self.write("b/compare_result.json", result(row(0, "Torch.relu.0.forward", cosine=0.5)))
        self.merge(0, self.path("a"), self.path("b"))
        self.assertEqual([c["label"] for c in self.result["columns"]], ["a rank0", "b rank0"])

    def test_a_folder_of_results_is_searched(self):
        self.two_runs()
        os.mkdir(self.path("c"))
        self.merge(0, self.folder)
        self.assertEqual(len(self.result["columns"]), 2)

    def test_csv_has_a_line_for_each_metric(self):
        self.merge(0, *self.two_runs(), "--metrics", "cosine", "--format", "json,csv")
        with open(self.path("out/merge_result.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        self.assertEqual(rows, [["step", "op", "tensor", "metric", "rank0", "rank1"],
                                ["0", "Torch.matmul.0.forward", "output.0", "cosine", "0.5", "0.25"],
                                ["0", "Torch.relu.0.forward", "output.0", "cosine", "1", ""],
                                ["0", "Torch.add.0.forward", "output.0", "cosine", "", "NaN"]])
        self.assertFalse(os.path.exists(self.path("out/merge_result.xlsx")))

    def test_xlsx_has_a_sheet_for_each_metric(self):
        self.merge(0, *self.two_runs())
        with zipfile.ZipFile(self.path("out/merge_result.xlsx")) as book:
            root = xml.etree.ElementTree.fromstring(book.read("xl/workbook.xml"))
        space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
        self.assertEqual([sheet.get("name") for sheet in root.iter(space + "sheet")], ["verdict", "rel_l2", "cosine"])

    def test_the_configuration_of_the_peer(self):
        paths = self.two_runs()
        config = self.write("merge.yaml", "api:\n  - Torch.matmul\ncompare_index:\n  - Cosine\n  - Requires_grad Consistent\n")
        run = self.check(0, "merge_result", "-i", paths[0], "-i", paths[1], "-config", config, "-o", self.path("out"),
                         "--exact-output")
        found = self.read_json("out/merge_result.json")
        self.assertEqual(found["metrics"], ["cosine"])
        self.assertEqual([r["op"] for r in found["rows"]], ["Torch.matmul.0.forward"])
        self.assertIn("column 'Requires_grad Consistent' has no counterpart", run.err)

    def test_a_wrong_configuration_names_line_and_column(self):
        paths = self.two_runs()
        for text, message in (("api: Torch\n", "merge.yaml:1:6: expected a list under 'api'"),
                              ("apis: []\n", "merge.yaml:1:1: expected 'api' or 'compare_index', not 'apis'"),
                              ("- a\n", "merge.yaml:1:1: expected the members 'api' and 'compare_index'"),
                              ("api: [[a]]\n", "merge.yaml:1:7: expected a text in the list 'api'"),
                              ("compare_index: [Nothing]\n", "none of the columns of 'compare_index'"),
                              ("api: [\n", "expected YAML")):
            with self.subTest(text):
                config = self.write("merge.yaml", text)
                self.assertIn(message, self.check(2, "merge", *paths, "--config", config).err)

    def test_a_missing_configuration_is_named(self):
        self.assertIn("gone.yaml", self.check(2, "merge", *self.two_runs(), "--config", "gone.yaml").err)

    def test_names_of_metrics_are_checked(self):
        paths = self.two_runs()
        self.assertIn("no metric is named 'cosin'", self.check(2, "merge", *paths, "--metrics", "cosin").err)
        run = self.merge(0, *paths, "--metrics", "verdict,snr_db")
        self.assertIn("no result has the metric 'snr_db'", run.err)
        self.assertEqual(self.result["metrics"], ["verdict"])

    def test_an_unreadable_result_is_told_and_the_others_are_merged(self):
        paths = self.two_runs()
        self.write("c/compare_result.json", "{")
        run = self.merge(3, *paths, self.path("c"))
        self.assertIn("c/compare_result.json", run.err)
        self.assertEqual(len(self.result["columns"]), 2)

        self.assertNotIn("exception", run.err)
        self.assertIn("compare_result.json: not a result: parse error at line 1, column 2: ", run.err)

    def test_a_missing_folder_is_told_and_the_others_are_merged(self):
        os.mkdir(self.path("empty"))
        run = self.merge(3, self.two_runs()[0], self.path("nowhere"), self.path("empty"))
        self.assertIn("nowhere: no such file or folder", run.err)
        self.assertIn("empty: holds no compare_result.json", run.err)
        self.assertIn("merged 2 rows of 1 column: rank0 ", run.out)
        gone = self.check(3, "merge", "nowhere", "neither")
        self.assertIn("nowhere: no such file", gone.err)
        self.assertIn("neither: no such file", gone.err)

    def test_folders_of_one_name_are_told_apart_by_those_above(self):
        for name in ("a/day/run", "b/day/run"):
            self.write(name + "/compare_result.json", result(row(0, "Torch.relu.0.forward", cosine=1.0)))
        self.merge(0, self.path("a/day/run"), self.path("b/day"))
        self.assertEqual([c["label"] for c in self.result["columns"]], ["a/day/run rank0", "b/day/run rank0"])

    def test_wrong_paths(self):
        self.assertIn("argument DIR is missing", self.check(2, "merge").err)
        self.assertIn("nowhere: no such file or folder", self.check(3, "merge", "nowhere").err)
        os.mkdir(self.path("empty"))
        self.assertIn("holds no compare_result.json", self.check(3, "merge", self.path("empty")).err)

    def test_a_filter_that_fits_nothing(self):
        self.assertIn("no row of the results is named like this",
                      self.check(2, "merge", *self.two_runs(), "--filter", "conv*").err)

    def test_an_unknown_format_is_named(self):
        self.assertIn("option --format: 'html', expected some of json, csv and xlsx",
                      self.check(2, "merge", *self.two_runs(), "--format", "html").err)


if __name__ == "__main__":
    runs.main()
