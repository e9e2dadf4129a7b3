"""Reads what the tests compare: tables of the older tool, its corrections, and results of a run."""
import csv
import glob
import json
import os
import subprocess

PROGRAM = os.environ.get("ULPSCOPE", "ulpscope")
DATA = os.path.join(os.environ.get("ULPSCOPE_TEST_DATA", "tests/data"), "compare_expected")
JUDGED = {"pass": "pass", "warning": "warning", "error": "fail"}


def read_table(path):
    """Header and rows (as dicts) of a CSV table."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], [dict(zip(rows[0], cells)) for cells in rows[1:]]


def read_notes(case, expected_file):
    """Corrections of one expected table: row name to (right result, reason); '(golden) …' for rows of golden only."""
    _, rows = read_table(os.path.join(DATA, "verdict_notes.csv"))
    return {row["name"]: (row["right_result"], row["reason"])
            for row in rows if row["case"] == case and row["expected_file"] == expected_file}


def peer_name(op, tensor, is_debug):
    """The row name of the older tool for an op and a tensor word of a result."""
    role, _, path = tensor.partition(".")
    part = {"input": ".input", "output": ".output", "parameter": ".parameters", "gradient": ""}[role]
    if is_debug:
        part = ""
    return op + part + ("." + path if path else "")


class Run:
    """One comparison, with its result as JSON and as tables of the older tool."""

    def __init__(self, folder, target, golden, options):
        self.folder = folder
        command = [PROGRAM, "compare", target, golden, "-q", "-o"]
        tail = ["--exact-output"] + options
        done = subprocess.run(command + [os.path.join(folder, "full"), "--format", "json,csv", "--metrics", "all"] + tail,
                              capture_output=True, text=True, check=False)
        self.code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        if done.returncode not in (0, 1, 3):
            raise AssertionError(f"exit code {done.returncode}: {done.stderr}")
        with open(os.path.join(folder, "full", "compare_result.json"), encoding="utf-8") as file:
            self.result = json.load(file)
        self.rows = self.result["rows"]
        self.csv_header, self.csv_rows = read_table(os.path.join(folder, "full", "compare_result.csv"))
        done = subprocess.run(command + [os.path.join(folder, "peer"), "--format", "csv", "--columns", "msprobe"] + tail,
                              capture_output=True, text=True, check=False)
        if done.returncode != self.code:
            raise AssertionError(f"--columns msprobe: exit code {done.returncode}: {done.stderr}")

    def peer_table(self, rank):
        """The table of one rank; of the only one where the run has one."""
        paths = sorted(glob.glob(os.path.join(self.folder, "peer", "compare_result*.csv")))
        if len(paths) > 1:
            paths = [path for path in paths if f"_rank{rank}_" in path]
        assert len(paths) == 1, f"tables: {paths}"
        return read_table(paths[0])

    def named_rows(self, rank):
        """Rows by (name on the target side, name on the golden side); 'N/A' for a missing side."""
        named = {}
        for row in self.rows:
            if row.get("rank", rank) != rank:
                continue
            target = golden = "N/A"
            if row["match"] != "only_golden":
                target = peer_name(row["op"], row["tensor"], row["op"].endswith(".debug"))
            if row["match"] != "only_target":
                golden_op = row.get("golden_op") or row["op"]
                golden = peer_name(golden_op, row.get("golden_tensor") or row["tensor"], golden_op.endswith(".debug"))
            named.setdefault((target, golden), row)
        return named
