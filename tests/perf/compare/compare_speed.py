"""Whole runs of compare beside a plain reading of the same files, in one run: figures are ratios, the machine cancels out.

usage: compare_speed.py PROGRAM [FOLDER]     FOLDER (default: a temporary one) keeps the dumps between runs

wall: seconds that passed; processor: seconds of all processors together, which other load moves less.
"""
import os
import subprocess
import sys
import tempfile
import time

import dumps

RUNS = 3


def best(command):
    """Wall and processor seconds of the fastest of RUNS runs, and their peak memory in MB."""
    walls, processors, peaks = [], [], []
    for _ in range(RUNS):
        start = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(child.pid, 0)
        walls.append(time.monotonic() - start)
        processors.append(usage.ru_utime + usage.ru_stime)
        peaks.append(usage.ru_maxrss / 1000)
    return min(walls), min(processors), max(peaks)


def size_of(folder):
    return sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names)


def main():
    program = os.path.abspath(sys.argv[1])
    root = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="ulpscope_perf_")
    cases = [("statistics, 2 000 APIs", "stat2000", lambda f: dumps.statistics(f, 2000)),
             ("statistics, 20 000 APIs", "stat20000", lambda f: dumps.statistics(f, 20000)),
             ("statistics, 200 000 APIs", "stat200000", lambda f: dumps.statistics(f, 200000)),
             ("10 000 small files", "small", lambda f: dumps.small(f, 10000)),
             ("float32, a thousandth differs", "differ", lambda f: dumps.tensors(f, 4, 128, "differ")),
             ("bfloat16, a thousandth differs", "bfloat16", lambda f: dumps.bfloat16(f, 4, 128)),
             ("float32, identical", "same", lambda f: dumps.tensors(f, 4, 128, "same"))]
    print(f"{'case':32} {'MB':>7} {'wall s':>8} {'processor s':>12} {'cat s':>8} {'ratio':>6} {'GB/s':>6} {'peak MB':>8}")
    for title, name, make in cases:
        folder = os.path.join(root, name)
        if not os.path.isdir(folder):
            make(folder)
        sides = [os.path.join(folder, side) for side in ("target", "golden")]
        size = size_of(folder)
        _, reading, _ = best(["sh", "-c", f"find '{folder}' -type f -exec cat {{}} + >/dev/null"])
        out = os.path.join(root, "out")
        wall, processor, peak = best([program, "compare", *sides, "-o", out, "--format", "csv", "-q"])
        print(f"{title:32} {size / 1e6:7.0f} {wall:8.2f} {processor:12.2f} {reading:8.2f} {processor / reading:6.1f} "
              f"{size / 1e9 / wall:6.2f} {peak:8.0f}")


if __name__ == "__main__":
    main()
