#!/usr/bin/env python3
"""Reads the reports of the hostile sample with Python's own parsers. Expected values are those of sample_report.hpp."""
import csv
import json
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
import zipfile

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
FORMULA = "=cmd|' /C calc'!A0"
QUOTES = 'say "hi",\r\nbye\t\\'
folder = None


def path(name):
    return os.path.join(folder, name)


def cells(archive, sheet):
    """The rows of a sheet as {column letter: (text, style)}; fails on any formula."""
    rows = []
    for row in ET.fromstring(archive.read(sheet)).iter(SHEET + "row"):
        found = {}
        for cell in row.iter(SHEET + "c"):
            assert cell.find(SHEET + "f") is None, "a formula in " + sheet
            text = "".join(t.text or "" for t in cell.iter(SHEET + "t"))
            value = cell.find(SHEET + "v")
            column = cell.get("r").rstrip("0123456789")
            found[column] = (text if value is None else float(value.text), cell.get("s"))
        rows.append(found)
    return rows


class Readers(unittest.TestCase):
    def test_json(self):
        with open(path("compare_result.json"), encoding="utf-8", newline="") as file:
            result = json.load(file)
        self.assertEqual(result["schema"], "ulpscope.compare/1")
        self.assertEqual([row["op"] for row in result["rows"]],
                         [FORMULA, QUOTES, "bad\ufffd\ufffd(utf8", "+extra", "noncharacter \uffff"])
        metrics = result["rows"][0]["metrics"]
        self.assertEqual(metrics["max_abs_err"], "NaN")
        self.assertEqual(metrics["rel_l2"], 1e-5)
        self.assertEqual(math.copysign(1, metrics["golden_min"]), -1)
        self.assertNotIn("cosine", metrics)

    def test_json_agrees_with_schema_types(self):
        with open(path("compare_result.json"), encoding="utf-8") as file:
            row = json.load(file)["rows"][3]
        self.assertEqual(row["golden_op"], "")
        self.assertIsNone(row["step"])
        self.assertEqual(row["shape"], [[4], None])

    def test_csv(self):
        with open(path("compare_result.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 5)
        self.assertEqual(rows[0]["op"], "'" + FORMULA)
        self.assertEqual(rows[0]["rmse"], "-Infinity")
        self.assertEqual(rows[0]["cosine"], "")
        self.assertEqual(rows[1]["op"], QUOTES)
        self.assertEqual(rows[1]["shape"], "[2, 3]")
        self.assertEqual(rows[1]["cause"], "inherited")
        self.assertEqual(rows[3]["op"], "'+extra")
        self.assertEqual(rows[3]["golden_op"], "")
        self.assertTrue(all(None not in row and None not in row.values() for row in rows))

    def test_xlsx(self):
        with zipfile.ZipFile(path("compare_result.xlsx")) as archive:
            self.assertIsNone(archive.testzip())
            workbook = ET.fromstring(archive.read("xl/workbook.xml"))
            names = [sheet.get("name") for sheet in workbook.iter(SHEET + "sheet")]
            self.assertEqual(names, ["Summary", "Rows", "Diagnostics"])
            summary = cells(archive, "xl/worksheets/sheet1.xml")
            self.assertEqual(summary[0]["B"][0], "inconclusive")
            rows = cells(archive, "xl/worksheets/sheet2.xml")
            sheet = ET.fromstring(archive.read("xl/worksheets/sheet2.xml"))
            diagnostics = cells(archive, "xl/worksheets/sheet3.xml")
        self.assertEqual(rows[0]["C"][0], "op")
        self.assertEqual(rows[1]["C"][0], FORMULA)
        self.assertEqual(rows[1]["A"][0], 0.0)
        self.assertEqual(rows[3]["C"][0], "bad\\xff\\xc3(utf8")
        self.assertEqual(rows[5]["C"][0], "noncharacter \\xef\\xbf\\xbf")
        self.assertEqual(len(rows), 6)
        # pass has no colour; fail, warning and skip have one each.
        styles = [row["C"][1] for row in rows[1:]]
        self.assertIsNone(styles[0])
        self.assertEqual(len({styles[1], styles[2], styles[3]} - {None}), 3)
        self.assertEqual(styles[3], styles[4])
        self.assertEqual(sheet.find(f".//{SHEET}pane").get("state"), "frozen")
        self.assertTrue(sheet.find(SHEET + "autoFilter").get("ref").startswith("A1:"))
        self.assertEqual(diagnostics[2]["D"][0], "=1+1")

    def test_xlsx_parts(self):
        with zipfile.ZipFile(path("parts.xlsx")) as archive:
            workbook = ET.fromstring(archive.read("xl/workbook.xml"))
            names = [sheet.get("name") for sheet in workbook.iter(SHEET + "sheet")]
            self.assertEqual(names, ["Summary", "Rows", "Rows 2", "Rows 3", "Diagnostics"])
            lengths = [len(cells(archive, f"xl/worksheets/sheet{n}.xml")) for n in (2, 3, 4)]
            self.assertEqual(lengths, [3, 3, 2])

    def test_junit(self):
        root = ET.parse(path("junit.xml")).getroot()
        self.assertEqual((root.get("tests"), root.get("failures"), root.get("skipped")), ("5", "1", "2"))
        cases = list(root.iter("testcase"))
        self.assertEqual(len(cases), 5)
        self.assertEqual(cases[0].get("name"), FORMULA)
        self.assertEqual(len(cases[0]), 0)
        self.assertEqual(cases[1].find("failure").get("message"),
                         "output.0: <script>alert(1)</script> | shapes [2, 3] & [6] differ ]]>")
        self.assertEqual(cases[2].find("system-out").text, "input.x: \\x1b[31mred\\x1b[0m\n")
        self.assertEqual(cases[3].find("skipped").get("message"), "output.0: only_target")
        self.assertEqual(cases[4].get("name"), "noncharacter \\xef\\xbf\\xbf")
        suites = [(suite.get("name"), suite.get("tests")) for suite in root.iter("testsuite")]
        self.assertEqual(suites, [("step0.rank0", "3"), ("step-none.rank-none", "1"), ("step0.rank0.token3", "1")])

    def test_sqlite(self):
        database = sqlite3.connect(path("compare_result.sqlite"))
        ops = database.execute("SELECT op, golden_op, step FROM ops ORDER BY id").fetchall()
        self.assertEqual(ops[0], (FORMULA, FORMULA, 0))
        self.assertEqual(ops[3], ("+extra", None, None))
        found = database.execute("SELECT * FROM metrics WHERE row = 1")
        names = [column[0] for column in found.description]
        metrics = {name: value for name, value in zip(names, found.fetchone()) if value is not None}
        self.assertEqual(metrics.pop("row"), 1)
        self.assertEqual(metrics,
                         {"max_abs_err": "NaN", "max_rel_err": "Infinity", "rmse": "-Infinity", "rel_l2": 1e-5,
                          "target_min": -1.5, "golden_min": 0.0})
        query = "SELECT ops.op FROM rows JOIN ops ON rows.op = ops.id WHERE verdict = 'fail'"
        self.assertEqual(database.execute(query).fetchall(), [(QUOTES,)])
        self.assertEqual(database.execute("SELECT verdict, unreadable FROM runs").fetchall(), [("inconclusive", 1)])
        self.assertEqual(database.execute("SELECT count(*) FROM diagnostics").fetchone(), (2,))
        database.close()

    def test_markdown(self):
        with open(path("compare_result.md"), encoding="utf-8", newline="") as file:
            text = file.read()
        self.assertIn("## INCONCLUSIVE", text)
        self.assertIn("&lt;script&gt;alert(1)&lt;/script&gt; \\| shapes", text)
        self.assertNotIn("<script>", text)
        self.assertNotIn("\x1b", text)
        self.assertIn("- and 5 more", text)

    def test_nothing_else_is_left(self):
        self.assertEqual(sorted(os.listdir(folder)),
                         ["compare_result.csv", "compare_result.json", "compare_result.md", "compare_result.sqlite",
                          "compare_result.xlsx", "junit.xml", "parts.xlsx"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        folder = temporary
        subprocess.run([sys.argv.pop(1), folder], check=True)
        unittest.main()
