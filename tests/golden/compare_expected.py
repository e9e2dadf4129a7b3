"""One case of tests/data/compare_expected through the whole program: judgements, metrics and the older tool's table.

A row that verdict_notes.csv does not name is right as the older tool judged it. Where the older tool pairs other rows than
we do (its renumbering of backward calls), only rows that both pair alike are compared.
"""
import math
import os
import sys
import tempfile

import peer_files
from peer_files import DATA, JUDGED, Run, read_notes, read_table

# (run of cmd.txt, options, expected table, rank). Every other case has one run without options.
RUNS = {
    "match": [([], "compare_result.csv", 0),
              (["-cm", "{case}/cell_mapping.yaml"], "cm_cell_mapping__compare_result.csv", 0),
              (["-cm", "{case}/cell_mapping_substring.yaml"], "cm_cell_mapping_substring__compare_result.csv", 0),
              (["-dm", "{case}/data_mapping.yaml"], "dm_data_mapping__compare_result.csv", 0)],
    "fuzzy": [(["-fm"], "fm__compare_result.csv", 0)],
    "ranks": [([], "dir__compare_result_rank0.csv", 0), ([], "dir__compare_result_rank1.csv", 1)],
    "rank_one_bad": [([], "compare_result_rank0.csv", 0)],
    "first_diff_single": [([], "stat__compare_result.csv", 0)],
    "consistent": [(["--consistent_check", "--backend", "fsdp"], "consistent_check__compare_result.csv", 0)],
    "debug_point": [([], "debug_compare_result.csv", 0)],
    "special_string": [([], None, 0)],
}
WHOLE_STEP = {"ranks", "rank_one_bad"}

# Rows whose correction the rules do not follow: the rules leave an output alone when an input differs as much, and the
# localisation says "inherited".
NOT_BY_RULE = {("tensor_edge", "Torch.nested.0.forward.output.0.1.0")}

# README.md corrects this row: its file is no tensor file.
UNREADABLE = {("corrupt_pt", "Torch.a.0.forward.output.0")}

# Cells that differ from the older table on purpose, or that a record cannot tell apart.
OTHER_CELLS = {
    # 0.0 and -0.0, 1 and 1.0 are the same number.
    ("stat_edge", "Torch.neg_zero.0.forward.output.0"),
    ("stat_edge", "Torch.int_vs_float_repr.0.forward.output.0"),
    # The older tool blanks padding on the target side only.
    ("padding_tail", "NPU.npu_grouped_matmul.0.forward.output.0"),
}
OUR_COLUMNS = {"Result", "Err_message"}
# Summed in another order than numpy's.
NEARLY = {"EucDist"}
METRICS = {"n_elem": "elements", "n_unequal": "unequal", "nonfinite_mismatch": "nonfinite_mismatch",
           "n_nonfinite_equal": "nonfinite_equal", "golden_zero_mismatch": "golden_zero_mismatch"}
NUMBERS = {"cosine": "cosine", "euc_dist": "euclidean", "max_abs_err": "max_abs_err", "max_rel_err": "max_rel_err",
           "ratio_1e3": "within_1e-3", "ratio_5e3": "within_5e-3"}


def is_near(ours, expected):
    return ours == expected or math.isclose(ours, expected, rel_tol=1e-12, abs_tol=1e-15)


class Check:
    def __init__(self, case):
        self.case = case
        self.failures = []
        self.counts = {"judged": 0, "cells": 0, "metrics": 0}

    def expect(self, right, text):
        if not right:
            self.failures.append(text)

    def judgements(self, run, expected, notes, rank):
        """judged of every row that the older tool pairs as we do, and of those it lacks."""
        named = run.named_rows(rank)
        for row in expected:
            name, golden = row["NPU Name"], row["Bench Name"]
            names = (name.split(";")[0].strip(), golden)
            right, reason = notes.get(name if name != "N/A" else "(golden) " + golden, (row["Result"], ""))
            if right == "any" or (self.case, name) in NOT_BY_RULE:
                continue
            ours = named.get(names)
            if ours is None and reason:
                # The correction is about the pairing itself.
                ours = next((other for key, other in named.items() if key[0] == names[0]), None)
            if ours is None:
                if self.case != "match":
                    self.failures.append(f"{names}: no row")
                continue
            self.counts["judged"] += 1
            wanted = "skip" if (self.case, name) in UNREADABLE else self.wanted(right, reason, ours)
            self.expect(ours["judged"] == wanted,
                        f"{name}: judged {ours['judged']}, expected {wanted} ({reason}): {ours.get('message')}")
        for name, (right, reason) in notes.items():
            if not name.startswith("(golden) "):
                continue
            ours = named.get(("N/A", name[len("(golden) "):]))
            self.expect(ours is not None and ours["judged"] == "skip", f"{name}: not listed as a skip row: {reason}")

    @staticmethod
    def wanted(right, reason, ours):
        """The judgement that a corrected result means: what is missing is a skip."""
        if right == "warning" and ("no golden counterpart" in reason or "no counterpart" in reason
                                   or "unmatched" in reason or "no checksum" in reason):
            return "skip"
        if right == "error" and ("cannot be read" in reason or "absent on one side" in reason):
            return "skip"
        if ours["match"].startswith("only_") and right != "error":
            return "skip"
        return JUDGED[right]

    def cells(self, run, header, expected, rank):
        """Every cell but ours of the rows that the older tool pairs as we do."""
        our_header, our_rows = run.peer_table(rank)
        self.expect(our_header == header, f"columns {our_header}")
        ours = {(row["NPU Name"], row["Bench Name"]): row for row in our_rows}
        for row in expected:
            name = row["NPU Name"]
            found = ours.get((name, row["Bench Name"]))
            if found is None or (self.case, name) in OTHER_CELLS:
                continue
            for column, cell in row.items():
                if column in OUR_COLUMNS:
                    continue
                self.counts["cells"] += 1
                same = found.get(column) == cell
                if not same and column in NEARLY:
                    try:
                        same = is_near(float(found[column]), float(cell))
                    except ValueError:
                        pass
                self.expect(same, f"{name}: {column} {found.get(column)!r}, expected {cell!r}")

    def metrics(self, run, path):
        """Counts exactly, numbers to 1e-12, and no number where none is expected."""
        named = run.named_rows(0)
        for row in read_table(path)[1]:
            if not row["status"].startswith("ok"):
                continue
            ours = named.get((row["NPU Name"], row["Bench Name"]))
            if ours is None:
                self.failures.append(f"{row['NPU Name']}: no row")
                continue
            metrics = ours.get("metrics", {})
            for column, name in METRICS.items():
                self.counts["metrics"] += 1
                # Where no element is finite the reference counts no zeros.
                self.expect(metrics.get(name) == int(row[column] or 0),
                            f"{row['NPU Name']}: {name} {metrics.get(name)}, expected {row[column]}")
            for column, name in NUMBERS.items():
                self.counts["metrics"] += 1
                if row[column] in ("", "undefined"):
                    self.expect(name not in metrics, f"{row['NPU Name']}: {name} {metrics.get(name)}, expected none")
                else:
                    self.expect(name in metrics and is_near(metrics[name], float(row[column])),
                                f"{row['NPU Name']}: {name} {metrics.get(name)}, expected {row[column]}")

    def special(self, run):
        """What the README says of cases whose older table is of no use."""
        named = {key[0]: row for key, row in run.named_rows(0).items()}
        if self.case == "special_string":
            self.expect(run.rows, "no rows")
            self.expect(any("Torch.pad" in key and row["judged"] in ("warning", "fail") for key, row in named.items()),
                        "Torch.pad output differs by 20 % in norm and is not flagged")
            for row in run.csv_rows:
                for cell in row.values():
                    self.expect(cell[:1] not in ("=", "@"), f"a cell starts a formula: {cell!r}")
        if self.case == "corrupt_pt":
            bad = [row for row in run.rows if row.get("absent") == "bad"]
            self.expect(len(bad) == 1 and bad[0]["judged"] == "skip", f"unreadable rows: {bad}")
            self.expect(run.code in (1, 3), f"exit code {run.code}")
            self.expect(run.result["diagnostics"], "no diagnostic names the file")
        if self.case == "rank_one_bad":
            ranks = {row.get("rank") for row in run.rows if row["judged"] != "skip"}
            self.expect(ranks == {0, 1}, f"ranks compared: {ranks}")
        if self.case in ("corrupt_pt", "tensor_edge"):
            self.expect(run.result["summary"]["diagnostics"] > 0, "no diagnostics counted")
        if self.case == "stat_edge":
            self.expect(named["Torch.none_t.0.forward.output.0"].get("absent") == "no_statistics", "none_t: absent")


def main(case):
    check = Check(case)
    folder = os.path.join(DATA, case)
    for number, (options, expected_file, rank) in enumerate(RUNS.get(case, [([], "compare_result.csv", 0)])):
        part = "step0" if case in WHOLE_STEP else os.path.join("step0", "rank0")
        with tempfile.TemporaryDirectory() as out:
            run = Run(out, os.path.join(folder, "target", part), os.path.join(folder, "golden", part),
                      [option.format(case=folder) for option in options])
            if expected_file:
                header, expected = read_table(os.path.join(folder, "expected", expected_file))
                check.judgements(run, expected, read_notes(case, expected_file), rank)
                check.cells(run, header, expected, rank)
            metrics = os.path.join(folder, "expected", "reference_metrics.csv")
            if number == 0 and os.path.exists(metrics):
                check.metrics(run, metrics)
            if number == 0:
                check.special(run)
    for failure in check.failures:
        print(failure)
    print(case, check.counts, f"{len(check.failures)} wrong")
    return 1 if check.failures or (case != "special_string" and check.counts["judged"] == 0) else 0


if __name__ == "__main__":
    assert peer_files.PROGRAM
    sys.exit(main(sys.argv[1]))
