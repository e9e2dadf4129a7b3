"""Makes the pairs of the zoo, compares each, and prints what was wanted and what was answered.

    check.py --program build/release/bin/ulpscope [--only 'bf16/*'] [--jobs 2] [--table] [--seed-offset 7]
             [--keep DIR [--reuse]] [--explain]

Dumps with data are compared once more by their statistics, and where they hold checksums by those alone. Figures: right =
verdict and list of culprits are those of the answer; first = the first culprit is the operation at fault, but verdict,
tensor or the rest of the list differ; silent = no culprit; wrong = another first culprit; false alarms = healthy pairs with
a culprit. Beside it stands what the rows alone say: the first row that the judgement of rows fails names the operation at
fault, or another, or there is none.

Statistics do not see everything (another order of the same values, masked values), and the answer has to say so. There these
are right too: next = the fault reorders the values of its place, and the first culprit is the first call whose statistics can
show it; told = inconclusive, and the calls to dump include the one at fault. unseen = every statistic of the two dumps is
equal: the verdict is identical, as it should be, and such a fault counts neither as named nor as missed.

The exit code is 1 when the answer to a case is not right as the dump stands. With --least 0.95,0.8 it is 1 when a smaller
share of the faults is named with data, or with statistics of runs in float32, or a healthy pair has a culprit. (In bf16 the
rounding of a healthy maximum or norm hides most faults from four numbers: no share is asked for there.)
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
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

try:
    import numpy  # noqa: F401 (the modules below need it)
except ImportError:
    print("skipped: the generator of dumps needs numpy")
    sys.exit(77)

import corpus
import train
import zoo

NAMED = ("right", "first", "next", "told")
OUTCOMES = NAMED + ("unseen", "silent", "wrong")
LEAST_FAULTS, LEAST_HEALTHY = 60, 20    # fewer say nothing about a share
MODES = ("data", "statistics", "digest")


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


def compare(program, folder, mode, explain=None):
    """(localisation, rows, text) of one comparison; the verdict of a run that gave no result says why."""
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    command = [program, "compare", os.path.join(folder, "target"), os.path.join(folder, "golden"), "-o", out, "--exact_output",
               "--format", "json", "-q", "--jobs", "1", "--data", mode] + (["--explain", explain] if explain else [])
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    path = os.path.join(out, "compare_result.json")
    if not os.path.exists(path):
        return {"verdict": f"exit {done.returncode}: {done.stderr.strip()[-200:]}", "culprits": []}, [], done.stdout
    with open(path) as file:
        result = json.load(file)
    return result["localisation"], result["rows"], done.stdout


class Makers:
    """Dumps made once and linked into the folder of each case."""

    def __init__(self, root):
        self.root, self.made = root, {}

    def make(self, run, link):
        key = None if run.faults or " at 0x" in repr(run) else repr(run)
        if key and key in self.made:
            folder, tags = self.made[key]
        else:
            folder = tempfile.mkdtemp(dir=self.root)
            tags = (train.train if corpus.is_training(run) else zoo.simulate)(run, folder)
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


@dataclass
class Answer:
    """What was said of one case in one mode. outcome: of OUTCOMES; rows: named, silent or wrong."""
    case: str
    mode: str
    healthy: bool
    outcome: str
    rows: str
    text: str
    as_dumped: bool     # the mode is what the dump was made for
    counted: bool       # for the shares that --least asks for


def places_of(case, tags):
    """The (operation, step, rank) that a first answer may name."""
    return {(op, step, rank) for where in case.must[:1] for op, _, step, rank in alternatives(tags, where)}


def seen_places(case, tags):
    """The (operation, step, rank) that may be named for a fault which only reorders values."""
    return {(op, step, rank) for _, _, step, rank in case.must[:1] if case.seen
            for op, _, step, rank in alternatives(tags, (case.seen, "", step, rank))}


def outcome_of_statistics(case, tags, answer):
    """What statistics said right although they do not name the operation at fault; None: nothing."""
    culprit = next(iter(answer["culprits"]), None)
    if culprit:
        return "next" if (culprit["op"], culprit["step"], culprit["rank"]) in seen_places(case, tags) else None
    if answer["verdict"] == "identical" and not case.healthy:
        return "unseen"
    listed = {op for note in answer.get("notes", []) for op in re.findall(r'"([^"]+)"', note.partition('"list":')[2])}
    told = answer["verdict"] == "inconclusive" and any(op in listed for op, _, _ in places_of(case, tags))
    return "told" if told else None


def outcome_of(case, tags, answer, mode):
    if judge(case, tags, answer)[1]:
        return "right"
    culprit = next(iter(answer["culprits"]), None)
    if culprit and (culprit["op"], culprit["step"], culprit["rank"]) in places_of(case, tags):
        return "first"
    if mode == "statistics" and (outcome := outcome_of_statistics(case, tags, answer)):
        return outcome
    return "silent" if not answer["culprits"] and not answer["verdict"].startswith("exit") else "wrong"


def outcome_of_rows(case, tags, rows):
    failed = next((row for row in rows if row["judged"] == "fail"), None)
    if failed is None:
        return "silent"
    place = (failed.get("op"), failed["step"], failed["rank"])
    return "named" if place in places_of(case, tags) else "wrong"


def modes_of(case):
    if case.target.task != "tensor":
        return ("statistics",)
    return MODES if case.target.digests else MODES[:2]


def describe(case, tags, mode, answer, outcome):
    wanted = "|".join(case.verdicts) + " " + "; ".join(
        " or ".join(sorted({key for key, _, _, _ in alternatives(tags, p)})) + f" {p[1]} {p[2]}/{p[3]}" for p in case.must)
    mark = {"right": "ok", "wrong": "WRONG"}.get(outcome, outcome)
    name = f"{mark:6}  {mode:10}  {case.name:40}"
    if outcome == "right":
        return f"{name}  {answer['verdict']} {short(answer['culprits'])}"
    return f"{name}  wanted {wanted}\n{'':62}got    {answer['verdict']} {short(answer['culprits'])}"


def explain_case(program, folder, mode, case, tags, answer):
    wanted = {key for place in case.must for key, _, _, _ in alternatives(tags, place)}
    blamed = {c["op"] for c in answer["culprits"][:2]}
    lines = []
    for op in sorted(wanted) + sorted(blamed - wanted):
        lines.append(f"    --explain {op} ({'right' if op in wanted else 'blamed'})")
        text = compare(program, folder, mode, op)[2]
        lines += ["      " + line for line in text.split("report", 1)[-1].splitlines()[1:] if line.strip()][:30]
    lines += [f"    reason {c['op']} {c['tensor']}: {c['confidence']}, {c['evidence'].get('reason')}"
              for c in answer["culprits"][:2]]
    return "\n".join(lines + [f"    note {note}" for note in answer.get("notes", [])])


class Checker:
    """Works through cases; one in each process."""

    def __init__(self, options, root):
        self.options = options
        self.root = os.path.join(root, "keep") if options.keep else tempfile.mkdtemp(dir=root)
        os.makedirs(self.root, exist_ok=True)
        self.makers = Makers(self.root)

    def check(self, case):
        folder = os.path.join(self.root, case.name.replace("/", "__") + f"__{self.options.seed_offset}")
        os.makedirs(folder, exist_ok=True)
        kept = os.path.join(folder, "tags.json")
        made = []
        if self.options.reuse and os.path.exists(kept):
            tags = load_tags(kept)
        else:
            made.append(self.makers.make(case.golden, os.path.join(folder, "golden"))[1])
            tags, target = self.makers.make(case.target, os.path.join(folder, "target"))
            made.append(target)
            save_tags(kept, tags)
        answers = [self.answer(case, folder, tags, mode) for mode in modes_of(case)
                   if mode in self.options.modes.split(",")]
        for path in [] if self.options.keep else [p for p in made if p]:
            shutil.rmtree(path)
        return answers

    def answer(self, case, folder, tags, mode):
        answer, rows, _ = compare(self.options.program, folder, mode)
        outcome = outcome_of(case, tags, answer, mode)
        if case.healthy and answer["culprits"]:
            outcome = "wrong"
        text = describe(case, tags, mode, answer, outcome)
        if self.options.explain and outcome != "right":
            text += "\n" + explain_case(self.options.program, folder, mode, case, tags, answer)
        as_dumped = mode == ("data" if case.target.task == "tensor" else "statistics")
        counted = mode == "data" or case.target.dtype == case.golden.dtype == "f32"
        return Answer(case.name, mode, case.healthy, outcome, outcome_of_rows(case, tags, rows), text, as_dumped, counted)


STATE = {}


def work(index):
    """One case in a process that was forked from the one that holds the list."""
    if "checker" not in STATE:
        STATE["checker"] = Checker(STATE["options"], STATE["root"])
    return STATE["checker"].check(STATE["cases"][index])


def run_all(options, cases, root):
    STATE.update(options=options, cases=cases, root=root)
    answers = []
    with ProcessPoolExecutor(options.jobs) as pool:
        # Neighbours share their golden dump: one process takes several in a row.
        for found in pool.map(work, range(len(cases)), chunksize=max(1, min(16, len(cases) // (4 * options.jobs)))):
            answers += found
            for answer in found:
                print(answer.text, flush=True)
    return answers


def counts(answers, kind, mode):
    chosen = [a for a in answers if a.mode == mode and not a.healthy and kind in (None, corpus.kind_of(a.case))]
    count = lambda what: sum(a.outcome == what for a in chosen)
    rows = lambda what: sum(a.rows == what for a in chosen)
    return [len(chosen)] + [count(w) for w in OUTCOMES] + [rows("named"), rows("wrong")]


def print_table(answers):
    """The table of docs/localisation.md: a line for each mode and kind."""
    print("\n| mode | kind of fault | faults | " + " | ".join(OUTCOMES) + " | rows: named | rows: wrong |")
    print("| --- | --- |" + " ---: |" * (len(OUTCOMES) + 3))
    for mode in MODES:
        for kind in sorted({name for name, _ in corpus.KINDS}) + [None]:
            numbers = counts(answers, kind, mode)
            if numbers[0]:
                print(f"| {mode} | {kind or '**all**'} | " + " | ".join(map(str, numbers)) + " |")
    print("\n| mode | healthy pairs | false alarms | rows: false alarms |\n| --- | ---: | ---: | ---: |")
    for mode in MODES:
        healthy = [a for a in answers if a.mode == mode and a.healthy]
        if healthy:
            print(f"| {mode} | {len(healthy)} | {sum(a.outcome == 'wrong' for a in healthy)} "
                  f"| {sum(a.rows != 'silent' for a in healthy)} |")


def shares_hold(answers, shares):
    """Says which of the shares of faults named, with data and with statistics, is not reached."""
    right = True
    for mode, least in zip(MODES, shares):
        asked = [a for a in answers if a.counted and a.mode == mode and not a.healthy and a.outcome != "unseen"]
        named, total = sum(a.outcome in NAMED for a in asked), len(asked)
        print(f"{mode}: {named} of {total} faults named")
        if named < least * total or mode == "data" and total < LEAST_FAULTS:
            print(f"error: of at least {LEAST_FAULTS} faults {least:.0%} named were expected with {mode}")
            right = False
    healthy = [a for a in answers if a.healthy]
    alarms = [a for a in healthy if a.outcome == "wrong"]
    print(f"healthy pairs: {len(alarms)} of {len(healthy)} with a culprit")
    if alarms or len(healthy) < LEAST_HEALTHY:
        print(f"error: at least {LEAST_HEALTHY} healthy pairs without a culprit were expected")
        right = False
    return right


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.environ.get("ULPSCOPE", "build/release/bin/ulpscope"))
    parser.add_argument("--only", default="*", help="patterns of case names, separated by commas")
    parser.add_argument("--sample", default="0/1", help="K/N: of the cases chosen those whose number leaves K when divided by N")
    parser.add_argument("--modes", default=",".join(MODES), help="of these those that a dump allows: data, statistics, digest")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed-offset", type=int, default=0, help="other weights, inputs and places of the faults")
    parser.add_argument("--keep", help="folder for the dumps; default: a temporary one")
    parser.add_argument("--reuse", action="store_true", help="compare the dumps that an earlier run kept, where they are there")
    parser.add_argument("--explain", action="store_true", help="print the numbers behind each case that is not right")
    parser.add_argument("--table", action="store_true", help="print the table by kinds of faults")
    parser.add_argument("--least", help="least shares of faults named, with data and with statistics: 0.95,0.8")
    return parser.parse_args()


def main():
    options = read_options()
    root = options.keep or tempfile.mkdtemp(prefix="zoo_")
    os.makedirs(root, exist_ok=True)
    cases = [case for case in corpus.corpus(options.seed_offset)
             if any(fnmatch.fnmatch(case.name, glob) for glob in options.only.split(","))]
    first, step = map(int, options.sample.split("/"))
    cases = cases[first::step]
    try:
        answers = run_all(options, cases, root)
    finally:
        if not options.keep:
            shutil.rmtree(root, ignore_errors=True)
    if options.table:
        print_table(answers)
    dumped = [a for a in answers if a.as_dumped]
    right = sum(a.outcome == "right" for a in dumped)
    alarms = sum(a.healthy and a.outcome == "wrong" for a in dumped)
    named = sum(a.outcome in NAMED for a in dumped)
    print(f"right {right} of {len(dumped)} (verdict and first culprit {named}); "
          f"false alarms {alarms} of {sum(a.healthy for a in dumped)} healthy pairs")
    if options.least:
        return 0 if shares_hold(answers, [float(share) for share in options.least.split(",")]) else 1
    return 0 if right == len(dumped) and dumped else 1


if __name__ == "__main__":
    sys.exit(main())
