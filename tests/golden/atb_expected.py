"""The ATB dumps of tests/data/atb_dumps through the whole program: the answers of their README, and the table of the older tool.

The older tool compares one round; its tables are expected.csv (round 0) and expected_round1.csv. The tables are equal cell by
cell but for two things: sums in another order (Euc Distance, Mean and Norm of wide types to 1e-6), and the cosine of float32.
"""
import csv
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("ULPSCOPE", "ulpscope")
DATA = os.path.join(os.environ.get("ULPSCOPE_TEST_DATA", "tests/data"), "atb_dumps")

FAULT = [("4_Prefill_layer", "output.0", 0), ("12_Decoder_layer", "output.0", 0), ("12_Decoder_layer", "output.0", 1)]
# name: exit code, verdict, culprits, rows compared, rows without statistics
ANSWERS = {"layer_identical": (0, "identical", [], 79, 0), "layer_fault": (1, "compute_fault", FAULT, 237, 0),
           "layer_stats": (1, "compute_fault", FAULT, 233, 4)}
NEARLY = {"Euc Distance", "Target Mean", "Golden Mean", "Target Norm", "Golden Norm", "Cosine"}


def compare(case, out, *options):
    folder = os.path.join(DATA, case)
    return subprocess.run([PROGRAM, "compare", "-m", "atb", "-tp", os.path.join(folder, "target"), "-gp",
                           os.path.join(folder, "golden"), "-o", out, "--exact-output", "-q", *options],
                          capture_output=True, text=True, check=False)


def read_table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def is_near(ours, expected):
    try:
        return math.isclose(float(ours), float(expected), rel_tol=1e-6)
    except ValueError:
        return False


def check_answer(case, out):
    code, verdict, culprits, compared, without = ANSWERS[case]
    done = compare(case, out, "--format", "json")
    failures = [] if done.returncode == code else [f"exit {done.returncode}, expected {code}: {done.stderr}"]
    with open(os.path.join(out, "compare_result.json"), encoding="utf-8") as file:
        result = json.load(file)
    found = result["localisation"]
    got = [(c["op"], c["tensor"], c["step"]) for c in found["culprits"]]
    if (found["verdict"], got) != (verdict, culprits):
        failures.append(f"answer {found['verdict']} {got}, expected {verdict} {culprits}")
    summary = result["summary"]
    if summary["pass"] + summary["warning"] + summary["fail"] != compared:
        failures.append(f"compared {summary}, expected {compared} rows")
    skipped = [row for row in result["rows"] if row.get("absent") == "no_statistics"]
    if len(skipped) != without or any(row["tensor"] != "input.9" for row in skipped):
        failures.append(f"{len(skipped)} rows without statistics, expected {without}")
    return failures


def check_table(case, out):
    compare(case, out, "--format", "csv", "--columns", "msprobe")
    failures = []
    for number, name in enumerate(["expected.csv", "expected_round1.csv"]):
        expected_path = os.path.join(DATA, case, name)
        if not os.path.exists(expected_path):
            continue
        paths = [p for p in glob.glob(os.path.join(out, "atb_*.csv")) if case == "layer_identical" or f"step{number}_" in p]
        if len(paths) != 1:
            return failures + [f"{name}: tables {paths}"]
        ours, expected = read_table(paths[0]), read_table(expected_path)
        if list(ours[0]) != list(expected[0]):
            failures.append(f"{name}: columns {list(ours[0])}")
        by_name = {row["Target Data Name"]: row for row in ours}
        if set(by_name) != {row["Target Data Name"] for row in expected} or len(ours) != len(expected):
            failures.append(f"{name}: {len(ours)} rows, expected {len(expected)}")
        for row in expected:
            mine = by_name.get(row["Target Data Name"], {})
            failures += [f"{name} {row['Target Data Name']} {column}: {mine.get(column)}, expected {cell}"
                         for column, cell in row.items()
                         if mine.get(column) != cell and not (column in NEARLY and is_near(mine.get(column) or "", cell))]
    return failures


def main(case):
    with tempfile.TemporaryDirectory() as folder:
        failures = check_answer(case, os.path.join(folder, "answer")) + check_table(case, os.path.join(folder, "table"))
    for failure in failures[:40]:
        print(failure)
    print(case, f"{len(failures)} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
