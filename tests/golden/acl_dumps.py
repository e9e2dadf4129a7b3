"""Offline-model dumps against answers in double precision (tests/data/acl_dumps): compare, and the staged localisation."""

import csv
import json
import os
import subprocess
import sys
import tempfile

DATA = os.path.join(os.environ["ULPSCOPE_TEST_DATA"], "acl_dumps")
PROGRAM = os.environ["ULPSCOPE"]
FAILED = []


def expect(holds, text):
    if not holds:
        FAILED.append(text)
        print("FAILED:", text)


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def leaf(folder):
    for path, _, files in os.walk(folder):
        if any(name.count(".") == 4 for name in files):
            return path
    raise SystemExit("no dump below " + folder)


def compare(target, golden):
    code, out, err = run("compare", target, golden, "--format", "json", "-o", "-", "-q")
    if not out.startswith("{"):
        raise SystemExit("compare %s %s: exit %d\n%s%s" % (target, golden, code, out, err))
    return code, json.loads(out)


def near(value, wanted):
    return value is not None and abs(value - wanted) <= 1e-6 * max(1.0, abs(wanted))


def check_answers(result, path, name):
    rows = {(r["op"], r["tensor"]): r for r in result["rows"] if r.get("op")}
    columns = {"cosine": "cosine", "relative_euclidean": "rel_l2", "max_abs_error": "max_abs_err",
               "max_rel_error": "max_rel_err"}
    order = []
    with open(path) as file:
        for answer in csv.DictReader(file):
            row = rows.get((answer["op"], "output." + answer["output"]))
            place = "%s: %s output %s" % (name, answer["op"], answer["output"])
            expect(row is not None and row["match"] == "origin", place + " is paired by origin")
            if row is None:
                continue
            order.append((row["op"], row["tensor"]))
            for column, metric in columns.items():
                wanted = float(answer[column]) if answer[column] else None
                if wanted is not None:
                    expect(near(row["metrics"].get(metric), wanted),
                           "%s: %s is %r, expected %r" % (place, metric, row["metrics"].get(metric), wanted))
    listed = [(r["op"], r["tensor"]) for r in result["rows"] if (r.get("op"), r["tensor"]) in set(order)]
    expect(listed == order, name + ": rows stand in the order of execution")


def check_compare():
    base = os.path.join(DATA, "identical")
    code, result = compare(os.path.join(base, "npu"), os.path.join(base, "golden"))
    expect(code == 0, "identical: exit %d, expected 0" % code)
    expect(result["localisation"]["verdict"] == "rounding", "identical: " + result["localisation"]["verdict"])
    expect(not result["localisation"]["culprits"], "identical: no culprit")
    check_answers(result, os.path.join(base, "answers.csv"), "identical")
    cosines = [r["metrics"]["cosine"] for r in result["rows"] if "cosine" in r.get("metrics", {})]
    expect(cosines and min(cosines) > 0.99999, "identical: smallest cosine %r" % min(cosines))

    base = os.path.join(DATA, "one_wrong")
    code, result = compare(os.path.join(base, "npu"), os.path.join(base, "golden"))
    expect(code == 1, "one_wrong: exit %d, expected 1" % code)
    culprits = [(c["op"], c["tensor"], c["kind"]) for c in result["localisation"]["culprits"]]
    expect(culprits == [("enc.0/k/MatMul", "output.0", "compute_fault")], "one_wrong: culprits %r" % culprits)
    check_answers(result, os.path.join(base, "answers.csv"), "one_wrong")

    base = os.path.join(DATA, "flow_high_precision")
    for name, mine in (("1_origin", "1_origin"), ("2d_keep_1", "2d_keep_1"), ("2d_keep_2", "2d_keep_2")):
        answers = os.path.join(base, "answers_%s_against_2a_high_precision.csv" % name)
        if not os.path.exists(answers):
            continue
        _, result = compare(leaf(os.path.join(base, mine)), leaf(os.path.join(base, "2a_high_precision")))
        check_answers(result, answers, mine)


STAGE_OF = {"1_origin": "origin", "2a_high_precision": "high_precision", "2d_keep_1": "keep_1", "2d_keep_2": "keep_2",
            "3_cache_off": "cache_off", "4_fusion_off": "fusion_off"}


def stage_file(folder, names, **more):
    base = os.path.join(DATA, "flow_high_precision")
    stages = [{"name": STAGE_OF[name], "dump": leaf(os.path.join(base, name)),
               "fusion": os.path.join(base, name, "fusion.json")} for name in names]
    path = os.path.join(folder, "stages.json")
    with open(path, "w") as file:
        json.dump(dict(golden=os.path.join(base, "golden"), keep_performance=True, stages=stages, **more), file)
    return path


def locate(names, **more):
    with tempfile.TemporaryDirectory() as folder:
        path = stage_file(folder, names, **more)
        code, out, err = run("locate", "--stages", path, "-o", os.path.join(folder, "out"), "--exact-output")
        if code != 0:
            raise SystemExit("locate: exit %d\n%s%s" % (code, out, err))
        files = {}
        for name in os.listdir(os.path.join(folder, "out")):
            with open(os.path.join(folder, "out", name)) as file:
                files[name] = file.read()
        return json.loads(files["locate_result.json"]), files


def check_locate():
    with open(os.path.join(DATA, "flow_high_precision", "expected_flow.json")) as file:
        expected = json.load(file)
    result, _ = locate(list(STAGE_OF))
    expect(result["outcome"] == "cured_by_keep", "locate: outcome " + result["outcome"])
    expect(result["keep_list"] == expected["keep_list"], "locate: keep list %r" % result["keep_list"])
    expect(len(result["steps"]) == len(expected["steps"]), "locate: %d steps" % len(result["steps"]))
    for step, wanted in zip(result["steps"], expected["steps"]):
        name = "locate: step %s round %s" % (wanted["step"], wanted.get("round"))
        for member in ("step", "next", "met", "round", "below_limit", "keep_list"):
            if member in wanted:
                expect(step.get(member) == wanted[member], "%s: %s is %r" % (name, member, step.get(member)))
        for member in ("stage", "mine", "reference"):
            if member in wanted:
                expect(step.get(member) == STAGE_OF[wanted[member]], "%s: %s" % (name, member))
        if "final_cosine" in wanted:
            expect(near(step["final_cosine"], wanted["final_cosine"]), "%s: %r" % (name, step["final_cosine"]))
        if "first" not in wanted:
            continue
        if wanted["first"] is None:
            expect(step["first"] is None, name + ": nothing differs")
            continue
        for member in ("op", "op_type", "output", "original_ops"):
            expect(step["first"][member] == wanted["first"][member], "%s: first %s" % (name, member))
        expect(near(step["first"]["cosine"], wanted["first"]["cosine"]), name + ": cosine of first")
        expect(step["first"]["inputs"] == "good", name + ": inputs of first")

    # With fewer stages the flow asks for the next one, and writes what it needs.
    result, files = locate(["1_origin"])
    expect(result["ask"]["stage"] == "high_precision", "locate: asks for high_precision")
    result, files = locate(["1_origin", "2a_high_precision"])
    expect(result["outcome"] == "asked" and result["ask"]["stage"] == "keep_1", "locate: asks for keep_1")
    expect(files["exceptionlist.cfg"] == "enc.0/norm/LayerNorm\n", "locate: %r" % files.get("exceptionlist.cfg"))
    expect("<h1>asked</h1>" in files["report.html"], "locate: report.html")
    expect(any("keep_1" in line for line in result["ask"]["instructions"]), "locate: instructions")
    expect(json.loads(files["acl.json"])["dump"]["dump_list"] == [{"model_name": "tinynet_origin"}], "locate: acl.json")
    # Without high precision's cure the cache, then fusion, then the data are looked at.
    result, files = locate(["1_origin", "3_cache_off"])
    expect(result["ask"]["stage"] == "high_precision", "locate: high_precision first")


if __name__ == "__main__":
    {"compare": check_compare, "locate": check_locate}[sys.argv[1]]()
    sys.exit(1 if FAILED else 0)
