"""report: any format again from a stored result."""

import base64
import json
import os
import re
import sqlite3
import zlib

import runs

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CULPRIT = {"op": "Torch.matmul.0.forward", "tensor": "output.0", "kind": "compute_fault", "step": 0, "rank": 0,
           "confidence": "certain", "module": None, "stack": [], "evidence": {}, "next": ["look"], "worst": []}


def row(op, tensor, verdict, **members):
    return dict({"step": 0, "rank": 0, "op": op, "tensor": tensor, "golden_op": op, "golden_tensor": tensor,
                 "match": "exact", "dtype": ["float32", "float32"], "shape": [[2, 5], [2, 5]], "mode": "data",
                 "judgement": "similarity", "judged": verdict, "verdict": verdict, "metrics": {}, "message": ""}, **members)


RESULT = {
    "schema": "ulpscope.compare/1", "version": "0.0.1", "command": ["ulpscope", "compare", "a", "b"],
    "target": {"path": "a", "source": "torch_api", "task": "tensor", "level": "L1", "ops": 2, "tensors": 2},
    "golden": {"path": "b", "source": "torch_api", "task": "tensor", "level": "L1", "ops": 2, "tensors": 2},
    "reference": None, "policy": {"file": None, "profile": "seed", "hash": ""},
    "summary": {"pairs": 2, "pass": 1, "warning": 0, "fail": 1, "skip": 0, "only_target": 0, "only_golden": 0,
                "unreadable": 0, "diagnostics": 0},
    "localisation": {"verdict": "compute_fault", "culprits": [CULPRIT], "suspects": [], "propagated": 1, "notes": []},
    "notices": [], "diagnostics": [],
    "rows": [row("Torch.matmul.0.forward", "output.0", "fail", cause="culprit", module="Module.block.Block.forward.0",
                 metrics={"rel_l2": 0.25}, histogram={"first": -7, "zeros": 1, "counts": [4, 5]}),
             row("Torch.relu.0.forward", "input.0", "pass", cause="inherited", producer=0)]}


def header(page):
    block = re.search(r'id="block-header">([^<]*)<', page).group(1)
    return json.loads(zlib.decompress(base64.b64decode(block)))


class Report(runs.RunTest):
    def setUp(self):
        super().setUp()
        self.write("run/compare_result.json", json.dumps(RESULT))

    def read(self, *parts):
        with open(self.path(*parts), encoding="utf-8") as file:
            return file.read()

    def test_the_page_by_default_in_a_fresh_folder(self):
        run = self.check(0, "report", "run", "-o", "out")
        self.assertIn("COMPUTE FAULT", run.out)
        folder, = os.listdir(self.path("out"))
        self.assertTrue(folder.startswith("report_"), folder)
        self.assertIn(folder + "/report.html", run.out)
        self.assertEqual(os.listdir(self.path("out", folder)), ["report.html"])
        self.assertEqual(os.listdir(self.path("run")), ["compare_result.json"])
        page = self.read("out", folder, "report.html")
        self.assertEqual(header(page)["localisation"]["culprits"][0]["op"], "Torch.matmul.0.forward")
        self.assertIn('<html lang="en">', page)

    def test_every_format_from_the_file_itself(self):
        self.check(0, "report", "run/compare_result.json", "--format", "json,csv,xlsx,html,md,sqlite,junit", "-o", "out",
                   "--exact-output")
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["compare_result.csv", "compare_result.json", "compare_result.md", "compare_result.sqlite",
                          "compare_result.xlsx", "junit.xml", "report.html"])

    def test_the_queries_of_the_documentation_run(self):
        dumps = os.path.join(PROJECT, "examples", "dumps")
        self.check(1, "compare", os.path.join(dumps, "target"), os.path.join(dumps, "golden"), "--format", "sqlite", "-o", "db",
                   "--exact-output")
        with open(os.path.join(PROJECT, "docs", "results.md"), encoding="utf-8") as file:
            queries = [query for block in re.findall(r"```sql\n(.*?)```", file.read(), re.S)
                       for query in block.split(";") if query.strip()]
        self.assertEqual(len(queries), 3)
        database = sqlite3.connect(self.path("db/compare_result.sqlite"))
        answers = [database.execute(query).fetchall() for query in queries]
        database.close()
        self.assertEqual(answers, [[], [(None, 1)], [("Torch.mul.2.forward", "output.0")]])

    def test_nothing_of_the_json_is_lost_on_the_way(self):
        for source, out in (("run", "one"), ("one", "two")):
            self.check(0, "report", source, "--format", "json", "-o", out, "--exact-output")
        self.assertEqual(self.read("one", "compare_result.json"), self.read("two", "compare_result.json"))
        again = self.read_json("one", "compare_result.json")
        self.assertEqual(again["rows"], [dict(r) for r in RESULT["rows"]])
        self.assertEqual(again["localisation"], RESULT["localisation"])
        self.assertEqual(again["version"], "0.0.1")

    def test_the_language_of_the_page(self):
        self.check(0, "report", "run", "--lang", "zh", "-o", "out", "--exact-output")
        self.assertIn('<html lang="zh">', self.read("out", "report.html"))
        self.assertIn("--lang: 'fr' is no language of the page, expected en or zh",
                      self.check(2, "report", "run", "--lang", "fr").err)

    def test_one_text_format_on_stdout(self):
        self.assertTrue(self.check(0, "report", "run", "--format", "md", "-o", "-").out.startswith("# ulpscope compare"))
        self.assertTrue(self.check(0, "report", "run", "-o", "-").out.startswith("<!doctype html>"))
        self.assertIn("-o - prints one report", self.check(2, "report", "run", "--format", "md,csv", "-o", "-").err)
        self.assertIn("cannot be written to the standard output",
                      self.check(2, "report", "run", "--format", "xlsx", "-o", "-").err)
        self.assertFalse(os.path.exists(self.path("ulpscope_out")))

    def test_what_is_no_result(self):
        self.assertIn("argument DIR is missing", self.check(2, "report").err)
        os.mkdir(self.path("empty"))
        self.assertIn("holds no compare_result.json", self.check(3, "report", "empty").err)
        self.check(3, "report", "nowhere")
        self.write("bad/compare_result.json", "{")
        self.assertIn("not a result", self.check(3, "report", "bad").err)
        self.write("odd/compare_result.json", json.dumps(dict(RESULT, rows=[row("a", "input.0", "pass", producer=7)])))
        self.assertIn("rows[0].producer: expected the number of a row", self.check(3, "report", "odd").err)
        histogram = {"first": 0, "zeros": 0, "counts": [-1]}
        self.write("neg/compare_result.json", json.dumps(dict(RESULT, rows=[row("a", "input.0", "pass", histogram=histogram)])))
        self.assertIn("rows[0].histogram.counts: expected counts", self.check(3, "report", "neg").err)
        self.assertIn("'pdf' is not a report format", self.check(2, "report", "run", "--format", "pdf").err)


if __name__ == "__main__":
    runs.main()
