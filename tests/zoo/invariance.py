"""Answers that must not change: with threads, folders, order on disk, read buffers; and with the size of a fault.

A fault twice as large is never less visible: once the operation is named, it is named at every larger noise.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace

try:
    import numpy  # noqa: F401 (zoo.py needs it)
except ImportError:
    print("skipped: the generator of dumps needs numpy")
    sys.exit(77)

import train
import zoo
from zoo import Fault, Run, noise

PROGRAM = os.environ.get("ULPSCOPE", "build/release/bin/ulpscope")
SMALL = Run(layers=2, prompt=5, steps=2, tp=2)


def copy_reversed(source, target):
    """The same tree, its entries made in the opposite order."""
    os.makedirs(target)
    for name in sorted(os.listdir(source), reverse=True):
        inside = os.path.join(source, name)
        if os.path.isdir(inside):
            copy_reversed(inside, os.path.join(target, name))
        else:
            shutil.copyfile(inside, os.path.join(target, name))


class InvarianceTest(unittest.TestCase):
    maxDiff = 3000

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="zoo_invariance_")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def make(self, run, name):
        tags = (train.train if isinstance(run, train.Training) else zoo.simulate)(run, self.path(name))
        return tags[(0, 0)]

    def localisation(self, target, golden, *options):
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run([PROGRAM, "compare", target, golden, "-o", out, "--exact_output", "--format", "json", "-q", *options],
                              capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        with open(os.path.join(out, "compare_result.json")) as file:
            text = json.dumps(json.load(file)["localisation"])
        # Commands to go on with name the folders as they were given.
        return json.loads(text.replace(target, "TARGET").replace(golden, "GOLDEN").replace(out, "OUT"))

    def check_same_answer(self, target, golden):
        self.make(target, "target")
        self.make(golden, "golden")
        here = self.path("target"), self.path("golden")
        expected = self.localisation(*here, "--jobs", "1")
        self.assertNotIn(expected["verdict"], ("identical", "rounding"))
        with self.subTest("threads"):
            self.assertEqual(self.localisation(*here, "--jobs", "2"), expected)
        with self.subTest("small buffers"):
            self.assertEqual(self.localisation(*here, "--memory", "1M", "--jobs", "2"), expected)
        with self.subTest("other folders, made in another order"):
            there = self.path("elsewhere", "run_b"), self.path("another", "run_a")
            copy_reversed(here[0], there[0])
            copy_reversed(here[1], there[1])
            self.assertEqual(self.localisation(*there, "--jobs", "2"), expected)

    def test_answer_of_equal_devices(self):
        self.check_same_answer(replace(SMALL, faults=(Fault("L1.gate", noise(1e-2), (0,), (1,)), Fault("L0.o", noise(1e-2), (1,)))),
                               SMALL)

    def test_answer_of_other_devices(self):
        self.check_same_answer(replace(SMALL, order="blocks", faults=(Fault("L1.qk", noise(1e-2), (0,), (1,)),)), SMALL)

    def test_answer_of_other_formats(self):
        narrow = replace(SMALL, dtype="bf16", hide=("to",), level="mix")
        self.check_same_answer(replace(narrow, faults=(Fault("L1.down", noise(0.3), (0,), (0,)),)), replace(narrow, dtype="f32"))

    def test_answer_of_statistics(self):
        both = replace(SMALL, task="statistics")
        self.check_same_answer(replace(both, order="blocks", faults=(Fault("L1.up", noise(1e-1), (0,), (1,)),)), both)

    def test_answer_of_a_backward_pass(self):
        run = train.Training()
        self.check_same_answer(replace(run, faults=(Fault("L1.down.grad", noise(1e-2)),)), run)

    def check_growing(self, target, golden, tag, scales):
        """How often the operation was named: from some size of the fault on, always."""
        self.make(golden, "golden")
        named = []
        for scale in scales:
            shutil.rmtree(self.path("target"), ignore_errors=True)
            key = self.make(replace(target, faults=(Fault(tag, noise(scale), (0,)),)), "target")[tag]
            culprits = self.localisation(self.path("target"), self.path("golden"))["culprits"]
            named.append(bool(culprits) and culprits[0]["op"] == key)
        self.assertTrue(named[-1], f"noise {scales[-1]} at {tag} is not named")
        self.assertEqual(named, sorted(named), f"named at noise {scales}")
        return named

    def test_growing_noise_on_equal_devices(self):
        run = Run(layers=2, prompt=5, steps=1)
        # The regime is exact: whatever changes a value of float32 is named.
        self.assertEqual(self.check_growing(run, run, "L1.o", [1e-6 * 8 ** k for k in range(7)]), [True] * 7)

    def test_growing_noise_on_other_devices(self):
        run = Run(prompt=5, steps=1)
        named = self.check_growing(replace(run, order="blocks"), run, "L1.o", [1e-8 * 16 ** k for k in range(7)])
        self.assertFalse(named[0], "noise below the rounding of float32 is no fault")

    def test_growing_noise_in_bf16(self):
        run = Run(prompt=5, steps=1, dtype="bf16", hide=("to",))
        named = self.check_growing(run, replace(run, dtype="f32"), "L1.o", [1e-4 * 4 ** k for k in range(7)])
        self.assertFalse(named[0], "noise below the rounding of bf16 is no fault")


if __name__ == "__main__":
    unittest.main()
