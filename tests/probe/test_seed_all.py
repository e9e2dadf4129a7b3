"""ulpscope_probe.seed_all: what it fixes, and what a second call leaves alone. Left out where there is no PyTorch."""

import os
import random
import subprocess
import sys
import unittest
import warnings

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sdk", "python")
sys.path.insert(0, FOLDER)

try:
    import numpy
    import torch
except ImportError:
    print("left out: no PyTorch here")
    sys.exit(77)

import ulpscope_probe
from ulpscope_probe import seed_all


def draw():
    return random.random(), float(numpy.random.rand()), torch.rand(3).tolist()


class SeedAll(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        self.held = dict(os.environ)
        self.addCleanup(self.restore)

    def restore(self):
        ulpscope_probe.release_random_state()
        torch.use_deterministic_algorithms(False)
        torch.backends.cudnn.enabled = True
        os.environ.clear()
        os.environ.update(self.held)

    def test_the_same_seed_gives_the_same_numbers(self):
        seed_all(7)
        first = draw()
        seed_all(7)
        self.assertEqual(draw(), first)
        seed_all(8)
        self.assertNotEqual(draw(), first)

    def test_the_default_seed_is_1234(self):
        seed_all()
        first = draw()
        seed_all(1234)
        self.assertEqual(draw(), first)
        self.assertEqual(os.environ["PYTHONHASHSEED"], "1234")

    def test_wrong_arguments_are_refused(self):
        for seed, error in ((True, TypeError), (1.0, TypeError), ("1", TypeError), (-1, ValueError), (2 ** 32, ValueError)):
            with self.subTest(seed=seed), self.assertRaisesRegex(error, "seed: .*expected an integer from 0 to 4294967295"):
                seed_all(seed)
        with self.assertRaisesRegex(TypeError, "mode: 1, expected True, False or None"):
            seed_all(mode=1)
        with self.assertRaisesRegex(TypeError, "rm_dropout: 0, expected True or False"):
            seed_all(rm_dropout=0)
        with self.assertRaisesRegex(TypeError, "is_enhanced: None, expected True or False"):
            seed_all(is_enhanced=None)
        seed_all(2 ** 32 - 1)

    def test_determinism_stays_on_over_a_second_call(self):
        seed_all(mode=True)
        self.assertTrue(torch.are_deterministic_algorithms_enabled())
        self.assertFalse(torch.backends.cudnn.enabled)
        seed_all(rm_dropout=True)
        self.assertTrue(torch.are_deterministic_algorithms_enabled())
        seed_all(mode=False)
        self.assertFalse(torch.are_deterministic_algorithms_enabled())
        self.assertTrue(torch.backends.cudnn.enabled)

    def test_variables_of_devices_that_are_not_there_are_left_alone(self):
        seed_all(mode=True)
        if not torch.cuda.is_available():
            self.assertEqual(os.environ.get("CUBLAS_WORKSPACE_CONFIG"), self.held.get("CUBLAS_WORKSPACE_CONFIG"))
        self.assertEqual(os.environ.get("HCCL_DETERMINISTIC"), self.held.get("HCCL_DETERMINISTIC"))

    def test_a_variable_that_comes_too_late_is_told(self):
        os.environ.pop("PYTHONHASHSEED", None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seed_all(5)
        said = [str(each.message) for each in caught]
        self.assertEqual(any("PYTHONHASHSEED=5" in each for each in said), bool(sys.flags.hash_randomization))

    def test_an_enhanced_call_does_not_depend_on_what_was_drawn_before(self):
        seed_all(3, is_enhanced=True)
        first = torch.rand(4)
        random.random()
        numpy.random.rand(5)
        self.assertTrue(torch.equal(torch.rand(4), first))
        self.assertEqual(random.random(), random.random())
        self.assertTrue(torch.equal(torch.empty(4).normal_(), torch.empty(4).normal_()))
        self.assertTrue(ulpscope_probe.random_state_is_fixed())
        ulpscope_probe.release_random_state()
        self.assertFalse(torch.equal(torch.rand(4), torch.rand(4)))

    def test_an_enhanced_seed_is_that_of_the_last_call(self):
        seed_all(3, is_enhanced=True)
        first = torch.rand(4)
        seed_all(4, is_enhanced=True)
        self.assertFalse(torch.equal(torch.rand(4), first))


class Dropout(unittest.TestCase):
    """In processes of their own: what replaces dropout stays."""

    def run_script(self, script):
        finished = subprocess.run([sys.executable, "-W", "ignore", "-c", "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
                                   "from ulpscope_probe import seed_all\nx = torch.ones(64, 8)\n" + script],
                                  env=dict(os.environ, PYTHONPATH=FOLDER), capture_output=True, text=True, timeout=120)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        return finished.stdout.strip()

    def test_it_is_removed_unless_asked_otherwise(self):
        self.assertEqual(self.run_script("seed_all()\nprint(torch.equal(nn.Dropout(0.5)(x), x))"), "True")
        self.assertEqual(self.run_script("seed_all(rm_dropout=False)\nprint(torch.equal(nn.Dropout(0.5)(x), x))"), "False")

    def test_every_form_of_it(self):
        self.assertEqual(self.run_script(
            "seed_all()\nimages = torch.ones(4, 3, 5, 5)\nvolumes = torch.ones(2, 3, 4, 4, 4)\nforms = [\n"
            "  (F.dropout, x), (F.dropout2d, images), (F.dropout3d, volumes), (F.alpha_dropout, x),\n"
            "  (F.feature_alpha_dropout, images), (lambda v: torch.dropout(v, 0.5, True), x),\n"
            "  (lambda v: torch.alpha_dropout(v, 0.5, True), x), (lambda v: torch.feature_dropout(v, 0.5, True), images),\n"
            "  (nn.AlphaDropout(), x), (lambda v: F.dropout(v, p=0.5, training=True, inplace=True), x.clone())]\n"
            "print(all(torch.equal(form(value), value) for form, value in forms))"), "True")

    def test_attention_and_a_second_call(self):
        self.assertEqual(self.run_script(
            "seed_all()\nseed_all()\nattention = nn.MultiheadAttention(8, 2, dropout=0.5)\n"
            "print(torch.equal(attention(x, x, x)[0], attention(x, x, x)[0]))"), "True")


if __name__ == "__main__":
    unittest.main()
