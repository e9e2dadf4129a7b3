"""How many APIs the executor runs as Python does: sample calls of torch's own tests, replayed by `check`.

Every call is recorded in float64 by the torch of this Python and checked as a recorded device: it agrees when forward
and backward pass. Usage: coverage.py [--table] [LEAST_SHARE]
"""

import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
PROGRAM = os.environ.get("ULPSCOPE", "ulpscope")
LEAST_SHARE = 0.97
SAMPLES = 4


def backward_agrees(result):
    nothing = ("no elements", "the dump records no gradient")
    return result["backward"] in ("pass", "") or result["backward"] == "SKIP" and result["message"] in nothing


def main():
    from samples import write_samples
    least = float(sys.argv[-1]) if len(sys.argv) > 1 and sys.argv[-1] != "--table" else LEAST_SHARE
    folder = tempfile.mkdtemp(prefix="ulpscope_coverage_")
    try:
        path, keys = write_samples(os.path.join(folder, "dump"), SAMPLES)
        out = os.path.join(folder, "out")
        subprocess.run([PROGRAM, "check", "-api_info", path, "-d", "recorded", "-n", "2", "-q", "-o", out,
                        "--exact-output"], stdout=subprocess.DEVNULL, timeout=1200)
        with open(os.path.join(out, "check_result.json")) as file:
            results = {api["api"]: api for api in json.load(file)["apis"]}
    finally:
        if not os.environ.get("ULPSCOPE_KEEP"):
            shutil.rmtree(folder)
        else:
            print(folder)
    agree, calls, right = 0, 0, 0
    reasons = collections.defaultdict(list)
    for api, ids in sorted(keys.items()):
        bad = [i for i in ids if results[i]["forward"] != "pass" or not backward_agrees(results[i])]
        calls += len(ids)
        right += len(ids) - len(bad)
        if not bad:
            agree += 1
            continue
        first = results[bad[0]]
        message = first["message"] or "; ".join(o["message"] for o in first["outputs"] if o["status"] != "pass")
        reasons[api] = (len(bad), len(ids), first["forward"], first["backward"], message)
    share = agree / len(keys)
    print("%d of %d APIs agree (%.1f %%), %d of %d calls" % (agree, len(keys), 100 * share, right, calls))
    for api, (bad, total, forward, backward, message) in sorted(reasons.items()):
        print("%s: %d of %d, forward %s, backward %s: %s" % (api, bad, total, forward, backward or "-", message[:300]))
    return 0 if share >= least else 1


if __name__ == "__main__":
    sys.exit(main())
