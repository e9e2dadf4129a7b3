"""replay: one call in float64, which side is off, and the bundle for a bug report."""

import os

import runs
from runs import call, dump_json, floats, npy
from test_check import needs_torch, with_file

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "dumps")


class FusedOperators(runs.RunTest):
    """Needs no LibTorch."""

    def dump(self, name, *outputs, inputs=(0, 1)):
        shape = (len(inputs),)
        calls = {"NPU.npu_mish.0.forward": call([with_file(shape, "in.npy")], [with_file(shape, "out.npy")])}
        self.write(name + "/step0/rank0/dump.json", dump_json(calls, task="tensor"))
        self.write(name + "/step0/rank0/dump_tensor_data/in.npy", npy("<f4", shape, floats(*inputs)))
        self.write(name + "/step0/rank0/dump_tensor_data/out.npy", npy("<f4", shape, floats(*outputs)))
        return self.path(name)

    def test_a_right_output_is_fine(self):
        # mish(1) = tanh(log(1 + e)) = 0.8650983882673103
        run = self.check(0, "replay", self.dump("a", 0, 0.8650983882673103), "--op", "NPU.npu_mish.0.forward")
        self.assertIn("the recorded outputs are as exact as the recorded precision allows\n", run.out)

    def test_the_side_that_is_off_is_named(self):
        good, bad = self.dump("good", 0, 0.8650983882673103), self.dump("bad", 0, 0.865)
        run = self.check(1, "replay", bad, "--op", "NPU.npu_mish.0", "--against", good)
        self.assertIn("inputs are bit-identical\noff: %s\n" % bad, run.out)
        self.assertIn("largest error 9.84e-05 at [1]: recorded 0.865, float64 0.8650984", run.out)

    def test_sides_that_are_fine_but_began_otherwise(self):
        one, two = self.dump("one", 0, 0.8650983882673103), self.dump("two", 0, 0, inputs=(0, 0))
        run = self.check(0, "replay", one, "--op", "NPU.npu_mish.0", "--against", two)
        self.assertIn("inputs differ: input.0\n", run.out)
        self.assertIn("neither side is off: each computed its own inputs right", run.out)

    def test_a_bundle(self):
        self.check(0, "replay", self.dump("a", 0, 0.8650983882673103), "--op", "NPU.npu_mish.0", "--export",
                   self.path("bundle"))
        self.assertEqual(sorted(os.listdir(self.path("bundle"))),
                         ["call.json", "float64.0.npy", "input.0.npy", "recorded.0.npy", "replay.py"])
        bundle = self.read_json("bundle/call.json")
        self.assertEqual((bundle["type"], bundle["api"], bundle["backward"]), ("NPU", "npu_mish", False))
        self.assertEqual(bundle["tensors"][0]["file"], "input.0.npy")
        with open(self.path("bundle/replay.py")) as file:
            compile(file.read(), "replay.py", "exec")
        run = self.check(2, "replay", self.path("a"), "--op", "NPU.npu_mish.0", "--export", self.path("bundle"))
        self.assertIn("is not empty, expected a new folder", run.err)

    def test_without_data_nothing_is_known(self):
        calls = {"NPU.npu_mish.0.forward": call([runs.tensor((2,))], [runs.tensor((2,))])}
        self.write("s/step0/rank0/dump.json", dump_json(calls))
        run = self.check(3, "replay", self.path("s"), "--op", "NPU.npu_mish.0")
        self.assertIn("recorded output 0: no data recorded", run.out)

    def test_compare_replays_its_culprits(self):
        good, bad = self.dump("good", 0, 0.8650983882673103), self.dump("bad", 0, 0.865)
        run = self.check(1, "compare", bad, good, "-o", self.path("out"), "--exact_output", "--replay")
        self.assertIn("run again in float64: target is off, largest error 9.8e-05", run.out)
        self.assertIn("run again in float64: golden is right, largest error ", run.out)
        evidence = self.read_json("out/compare_result.json")["localisation"]["culprits"][0]["evidence"]
        found = evidence
        self.assertTrue(found["replay_target"].startswith("target is off"), evidence)
        self.assertTrue(found["replay_golden"].startswith("golden is right"), evidence)

    def test_a_culprit_that_cannot_be_run_says_why(self):
        for side, value in (("good", 1.0), ("bad", 2.0)):
            calls = {"NPU.npu_unheard_of.0.forward": call([with_file((1,), "in.npy")], [with_file((1,), "out.npy")])}
            self.write(side + "/dump.json", dump_json(calls, task="tensor"))
            self.write(side + "/dump_tensor_data/in.npy", npy("<f4", (1,), floats(1.0)))
            self.write(side + "/dump_tensor_data/out.npy", npy("<f4", (1,), floats(value)))
        run = self.check(1, "compare", self.path("bad"), self.path("good"), "-o", self.path("out"), "--replay")
        self.assertIn("run again in float64: target could not be run: ", run.out)

    def test_compare_without_a_culprit_says_that_nothing_is_replayed(self):
        good = self.dump("good", 0, 0.8650983882673103)
        run = self.check(0, "compare", good, good, "-o", self.path("out"), "--replay")
        self.assertIn("--replay: there is no culprit that is a call recorded on both sides", run.err)

    def test_usage(self):
        path = self.dump("a", 0, 0)
        self.assertIn("option --op NAME is missing", self.check(2, "replay", path).err)
        self.assertIn("has no API call 'NPU.npu_mish.1' (did you mean 'NPU.npu_mish.0'?)",
                      self.check(2, "replay", path, "--op", "NPU.npu_mish.1").err)
        self.assertIn("the dump has no backward of 'NPU.npu_mish.0'",
                      self.check(2, "replay", path, "--op", "NPU.npu_mish.0.backward").err)


@needs_torch
class Calls(runs.RunTest):
    def test_the_example_names_the_noisy_product(self):
        target, golden = os.path.join(EXAMPLES, "target"), os.path.join(EXAMPLES, "golden")
        run = self.check(1, "replay", target, "--op", "Torch.matmul.2.forward", "--against", golden)
        self.assertIn("largest error 2.97e-02 at [1,2,1]", run.out)
        self.assertIn("off: %s\n" % target, run.out)

    def test_a_backward(self):
        path = os.path.join(runs.DATA, "framework_dump", "misc_backward_tensor_mix", "single")
        run = self.check(0, "replay", path, "--op", "Functional.linear.1.backward")
        self.assertIn("output.2  float32 (3, 2)  fine", run.out)


if __name__ == "__main__":
    runs.main()
