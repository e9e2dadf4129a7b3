"""Makes every pair of the zoo, compares it, and prints what was wanted and what was answered.

    check.py --program build/bin/ulpscope [--only 'bf16/*'] [--keep DIR [--reuse]] [--explain]

Figures: right = cases whose verdict and list of culprits are those of the answer; false alarms = healthy pairs with a culprit.
The exit code is 1 when a case is not right.
"""
import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cases
from zoo import simulate


def alternatives(tags, place):
    """The (operation, tensor, step, rank) that a place of a case stands for."""
    tag, tensor, step, rank = place
    found = tags[(step, rank)]
    return {(found[t], x, step, rank) for t in tag.split("|") if t in found for x in tensor.split("|")}


def judge(case, tags, answer):
    """(verdict and first culprit are right, all culprits are right)."""
    got = [(c["op"], c["tensor"], c["step"], c["rank"]) for c in answer["culprits"]]
    wanted = [alternatives(tags, place) for place in case.must]
    first = answer["verdict"] in case.verdicts and (not wanted and not got or bool(got) and bool(wanted) and got[0] in wanted[0])
    if not wanted:
        return (answer["verdict"] in case.verdicts and (not case.healthy or not got),) * 2 if case.may else (first, first)
    complete = all(any(g in w for g in got) for w in wanted)
    # The same place in another step, and the further tags of the fault, are no surplus.
    allowed = set()
    for (step, rank), found in tags.items():
        for tag, key in found.items():
            if any(tag.endswith(end) for end in case.may):
                allowed.add(key)
    must_tags = {t for place in case.must for t in place[0].split("|")}
    repeats = {(found[t], rank) for (step, rank), found in tags.items() for t in must_tags if t in found}
    extra = [g for g in got if g[0] not in allowed and not any(g in w for w in wanted)
             and not (g[0], g[3]) in repeats]
    return first, first and complete and not extra


def short(culprits):
    text = [f"{c['op']} {c['tensor']} {c['step']}/{c['rank']}" for c in culprits[:3]]
    return "; ".join(text) + (f"; +{len(culprits) - 3}" if len(culprits) > 3 else "")


def compare(program, folder, explain=None):
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    command = [program, "compare", os.path.join(folder, "target"), os.path.join(folder, "golden"), "-o", out, "--exact_output",
               "--format", "json", "-q"] + (["--explain", explain] if explain else [])
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    path = os.path.join(out, "compare_result.json")
    if not os.path.exists(path):
        return {"verdict": f"exit {done.returncode}: {done.stderr.strip()[-200:]}", "culprits": []}, done.stdout
    with open(path) as file:
        return json.load(file)["localisation"], done.stdout


class Makers:
    """Dumps made once and linked into the folder of each case."""

    def __init__(self, root):
        self.root, self.made = root, {}

    def make(self, run, link):
        key = re.sub(r" at 0x[0-9a-f]+", "", repr(run)) if not run.faults and not run.edits else None
        if key and key in self.made:
            folder, tags = self.made[key]
        else:
            folder = tempfile.mkdtemp(dir=self.root)
            tags = simulate(run, folder)
            if key:
                self.made[key] = (folder, tags)
        if os.path.islink(link):
            os.unlink(link)
        os.symlink(folder, link)
        return tags, (None if key else folder)


def save_tags(path, tags):
    with open(path, "w") as file:
        json.dump([[step, rank, found] for (step, rank), found in tags.items()], file)


def load_tags(path):
    with open(path) as file:
        return {(step, rank): found for step, rank, found in json.load(file)}


def explain_case(program, folder, case, tags, answer):
    wanted = {key for place in case.must for key, _, _, _ in alternatives(tags, place)}
    blamed = {c["op"] for c in answer["culprits"][:2]}
    for op in sorted(wanted) + sorted(blamed - wanted):
        print(f"    --explain {op} ({'right' if op in wanted else 'blamed'})")
        text = compare(program, folder, op)[1]
        keep = text.split("report", 1)[-1].splitlines()[1:]
        print("\n".join("      " + line for line in keep if line.strip())[:2500])
    for culprit in answer["culprits"][:2]:
        print(f"    reason {culprit['op']} {culprit['tensor']}: {culprit['confidence']}, {culprit['evidence'].get('reason')}")
    for note in answer.get("notes", []):
        print("    note", note)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.environ.get("ULPSCOPE", "build/bin/ulpscope"))
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep", help="folder for the dumps; default: a temporary one")
    parser.add_argument("--reuse", action="store_true", help="compare the dumps that an earlier run kept, where they are there")
    parser.add_argument("--explain", action="store_true", help="print the numbers behind each case that is not right")
    options = parser.parse_args()
    root = options.keep or tempfile.mkdtemp(prefix="zoo_")
    os.makedirs(root, exist_ok=True)
    makers = Makers(root)
    total = right = first_right = healthy = alarms = 0
    try:
        for case in cases.all_cases():
            if not any(fnmatch.fnmatch(case.name, glob) for glob in options.only.split(",")):
                continue
            folder = os.path.join(root, case.name.replace("/", "__"))
            os.makedirs(folder, exist_ok=True)
            kept = os.path.join(folder, "tags.json")
            if options.reuse and os.path.exists(kept):
                golden = target = None
                tags = load_tags(kept)
            else:
                _, golden = makers.make(case.golden, os.path.join(folder, "golden"))
                tags, target = makers.make(case.target, os.path.join(folder, "target"))
                save_tags(kept, tags)
            answer, _ = compare(options.program, folder)
            first, ok = judge(case, tags, answer)
            total, right, first_right = total + 1, right + ok, first_right + first
            healthy += case.healthy
            alarms += case.healthy and bool(answer["culprits"])
            wanted = "|".join(case.verdicts) + " " + "; ".join(
                " or ".join(sorted({key for key, _, _, _ in alternatives(tags, p)})) + f" {p[1]} {p[2]}/{p[3]}" for p in case.must)
            mark = "ok" if ok else "first" if first else "WRONG"
            print(f"{mark:5}  {case.name:32}  wanted {wanted}\n{'':41}got    {answer['verdict']} {short(answer['culprits'])}"
                  if not ok else f"{mark:5}  {case.name:32}  {answer['verdict']} {short(answer['culprits'])}", flush=True)
            if options.explain and not ok:
                explain_case(options.program, folder, case, tags, answer)
            for made in (golden, target):
                if made and not options.keep:
                    shutil.rmtree(made)
    finally:
        if not options.keep:
            shutil.rmtree(root, ignore_errors=True)
    print(f"right {right} of {total} (verdict and first culprit {first_right}); false alarms {alarms} of {healthy} healthy pairs")
    return 0 if right == total and total else 1


if __name__ == "__main__":
    sys.exit(main())
