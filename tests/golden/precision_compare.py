"""Runs `precision-compare` on tables with known answers and compares the two CSV files with theirs.

Usage: precision_compare.py CASE. Provenance of the answers, and where the right outcome is another one than that of
the program that wrote them: tests/data/api_precision_compare/README.md. The exceptions below are those of that page.
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
DATA = os.path.join(os.environ.get("ULPSCOPE_TEST_DATA", "tests/data"), "api_precision_compare")
PROFILES = {"current": "msprobe_code", "per_api": "msprobe_per_api"}
BENCHMARK = ["小值域错误占比", "均方根误差", "相对误差最大值", "相对误差平均值", "误差均衡性"]


def rows(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data.startswith(b"\xef\xbb\xbf"), path + ": no byte order mark"
    assert b"\r\n" in data, path + ": no CRLF"
    text = data.decode("utf-8-sig")
    table = list(csv.reader(text.splitlines(keepends=True)))
    return table[0], table[1:]


def same_cell(expected, found):
    if expected == found:
        return True
    try:
        a, b = float(expected), float(found)
    except ValueError:
        return False
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return abs(a - b) <= 1e-9 * abs(a) + 1e-14


def has_blank(row):
    return any(row.get(name, "").strip() == "" for name in BENCHMARK)


def inputs(case, side):
    [path] = glob.glob(os.path.join(DATA, case, side + "_accuracy_checking_details_*.csv"))
    header, table = rows(path)
    return path, {row[0]: dict(zip(header, row)) for row in table}


def compare_details(case, expected, found, npu, gpu):
    problems = []
    found = {row[0]: row for row in found}
    for want in expected:
        name = want[0]
        have = found.pop(name, None)
        if have is None:
            problems.append(name + ": no row")
            continue
        if want[26] == "标杆比对法" and (has_blank(npu[name]) or has_blank(gpu[name])):
            # The peer takes nothing for 0; a metric that is not there is never a pass, and the message says so.
            if have[25] not in ("SKIP", "error") or not have[27]:
                problems.append(name + ": a blank metric ends as " + have[25])
            continue
        for i, (a, b) in enumerate(zip(want[:27], have[:27])):
            if not same_cell(a, b):
                problems.append("%s: column %d: expected %r, found %r" % (name, i, a, b))
        for line in want[27].replace("ERROR", "\nERROR").split("\n"):
            metric = line.replace("ERROR: ", "").split("超过")[0].split("不")[0].replace("比值", "").strip()
            if want[25] == "error" and line.startswith("ERROR: ") and metric[:4] not in have[27]:
                problems.append("%s: message does not name %s: %s" % (name, metric, have[27]))
    return problems + ["row too many: " + name for name in found if name not in EXTRA.get(case, ())]


# What the peer has wrong, by case: rows that it does not write, and API rows with the right outcome.
EXTRA = {"structure_and_rollup": ("Torch.only_npu.0.forward.output.0",)}
RIGHT = {
    "blank_metrics_false_pass": {"Torch.exp.0": ("error", " "), "Torch.exp.1": ("error", " ")},
    "structure_and_rollup": {
        "Torch.mixed.0": ("pass", " "),
        "Torch.only_npu.0": ("SKIP", " "),
        "Torch.tail.0": ("SKIP", "SKIP"),
    },
}
RENAMED = {"Torch.tail.0.forward.output.0": "Torch.tail.0"}


def compare_results(case, expected, found, blanks):
    problems = []
    found = {row[0]: row for row in found}
    right = dict(RIGHT.get(case, {}))
    for want in expected:
        right.setdefault(RENAMED.get(want[0], want[0]), (want[1], want[2]))
    for name, (forward, backward) in right.items():
        have = found.pop(name, None)
        if have is None:
            problems.append(name + ": no row")
        elif name in blanks and name not in RIGHT.get(case, {}):
            if have[1] not in ("SKIP", "error"):
                problems.append(name + ": a blank metric ends as " + have[1])
        elif (have[1], have[2]) != (forward, backward):
            problems.append("%s: expected %s, found %s" % (name, (forward, backward), (have[1], have[2])))
        elif "SKIP" in (forward, backward) and not have[3] and name != "Torch.empty_out.0":
            problems.append(name + ": no reason for the SKIP")
    return problems + ["API too many: " + name for name in found]


def main(case):
    with open(os.path.join(DATA, case, "case.json"), encoding="utf-8") as file:
        facts = json.load(file)
    npu_path, npu = inputs(case, "npu")
    gpu_path, gpu = inputs(case, "gpu")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([PROGRAM, "api_precision_compare", "-npu", npu_path, "-gpu", gpu_path, "-o", folder,
                              "--exact-output", "--profile", PROFILES[facts["mode"]]], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        text = run.stdout.decode("utf-8")
        if run.returncode not in (0, 1):
            print(text)
            return 1
        [details] = glob.glob(os.path.join(folder, "api_precision_compare_details_*.csv"))
        [result] = glob.glob(os.path.join(folder, "api_precision_compare_result_*.csv"))
        problems = []
        for path, name, compare in ((details, "details", None), (result, "result", None)):
            want_header, _ = rows(os.path.join(DATA, case, "expected_%s.csv" % name))
            if rows(path)[0] != want_header:
                problems.append(name + ": another header")
        wanted = rows(os.path.join(DATA, case, "expected_details.csv"))[1]
        # Rows that the peer judged although a metric of them is blank.
        blanks = {".".join(row[0].split(".")[:-3]) for row in wanted
                  if row[26] == "标杆比对法" and (has_blank(npu[row[0]]) or has_blank(gpu[row[0]]))}
        problems += compare_details(case, wanted, rows(details)[1], npu, gpu)
        problems += compare_results(case, rows(os.path.join(DATA, case, "expected_result.csv"))[1], rows(result)[1],
                                    blanks)
        with open(os.path.join(folder, "precision_compare_result.json"), encoding="utf-8") as file:
            summary = json.load(file)["summary"]
        failed = any("error" in row[1:3] for row in rows(result)[1])
        if failed != (run.returncode == 1) or failed != (summary["error"] > 0):
            problems.append("exit code %d, summary %s" % (run.returncode, summary))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
