"""flow: the steps of an incident, run when their inputs are there and new."""

import json
import os
import shutil

import runs
import terminal

SAMPLE = os.path.join(runs.DATA, "config_check", "same_up_to_format")
WRONG = os.path.join(runs.DATA, "config_check", "mindie")


class FlowTest(runs.RunTest):
    def flow(self, code, *words):
        run = self.check(code, "flow", self.path("i"), "--format", "json", *words)
        result = json.loads(run.out)
        self.assertEqual(result, self.read_json("i/flow.json"))
        self.steps = {step["step"]: step for step in result["steps"]}
        return result

    def bundles(self, sample):
        for side in ("golden", "problem"):
            shutil.copytree(os.path.join(sample, side), self.path("i", side))

    def dumps(self, value):
        for side, last in (("golden", 1.0), ("problem", value)):
            self.write("i/%s_dump/x.npy" % side, runs.npy("<f4", [2], runs.floats(1.0, last)))

    def test_an_empty_folder_says_what_is_missing(self):
        os.makedirs(self.path("i"))
        result = self.flow(0)
        self.assertEqual([step["state"] for step in result["steps"]], ["todo"] * 10)
        self.assertEqual(result["next"], 1)
        self.assertIn("problem.outputs*", self.steps[1]["missing"][0])
        self.assertEqual(self.steps[9]["command"], "ulpscope compare problem_dump golden_dump")
        self.assertIn("config-check collect", self.steps[3]["missing"][0])
        self.assertIn("--ledger-only", self.steps[7]["missing"][0])
        self.assertIn("no folder", self.check(3, "flow", self.path("nowhere")).err)

    def test_a_step_runs_once_for_the_same_inputs(self):
        self.bundles(SAMPLE)
        self.write("i/problem/bundle.json", '{"device": "npu", "vllm": "0.9.1", "vllm_ascend": "0.9.1"}')
        self.flow(0)
        self.assertEqual((self.steps[3]["state"], self.steps[3]["finding"]), ("done", "pass: error 0, warning 0"))
        self.assertEqual(self.steps[6]["state"], "done")
        first = self.steps[3]["result"]
        self.flow(0)
        self.assertEqual(self.steps[3]["result"], first)
        with open(self.path("i/golden/pip.txt"), "a", encoding="utf-8") as file:
            file.write("numpy 1.0\n")
        self.flow(0)
        self.assertNotEqual(self.steps[3]["result"], first)
        self.assertTrue(os.path.exists(self.path("i", self.steps[3]["result"], "config_check_result.json")))

    def test_a_wrong_configuration_comes_first_unless_told_otherwise(self):
        self.bundles(WRONG)
        self.dumps(2.0)
        self.flow(0)
        self.assertIn("error 4", self.steps[3]["finding"])
        self.assertEqual(self.steps[9]["state"], "blocked")
        self.assertIn("step 3 comes first", self.steps[9]["finding"])
        self.flow(0, "--go-on")
        self.assertEqual(self.steps[9]["state"], "done")

    def test_dumps_are_compared(self):
        self.dumps(1.0)
        self.flow(0)
        self.assertEqual((self.steps[8]["state"], self.steps[9]["state"], self.steps[9]["finding"]), ("done", "done", "identical"))
        text = self.check(0, "guide", "flow", self.path("i")).out
        self.assertIn(" 9 done    compare", text)
        self.assertIn("found: identical", text)
        self.assertIn("next: step 1\n    ulpscope anomaly", text)
        self.assertIn("比对", self.check(0, "flow", self.path("i"), "--lang", "zh").out)

    def outputs(self, sample, name):
        folder = os.path.join(runs.DATA, "outputs", "first_token", sample)
        for side in ("golden", "problem"):
            os.makedirs(self.path("i"), exist_ok=True)
            shutil.copy(os.path.join(folder, side + ".jsonl"), self.path("i", side + "." + name + ".jsonl"))

    def test_outputs_scores_and_ledgers(self):
        self.outputs("v1_ledger", "outputs")
        self.outputs("v1_ledger", "run2")
        for side in ("golden", "problem"):
            shutil.copy(os.path.join(runs.DATA, "outputs", "first_token", "v1_ledger", side + ".ledger.jsonl"), self.path("i"))
            shutil.copy(os.path.join(runs.DATA, "outputs", "badcase", "msit_csv", side + ".csv"),
                        self.path("i", side + ".scores.csv"))
        self.flow(0)
        self.assertEqual([self.steps[n]["state"] for n in (1, 2, 4, 5, 7)], ["done"] * 5, self.steps)
        self.assertIn("regression, 9 bad cases", self.steps[2]["finding"])
        self.assertEqual(self.steps[4]["finding"], "golden equals itself; problem equals itself")
        self.assertIn("at token", self.steps[5]["finding"])
        self.assertIn("of golden, step", self.steps[7]["finding"])

    def test_ten_steps_from_a_wrong_answer_to_the_operation(self):
        self.bundles(SAMPLE)
        self.write("i/problem/bundle.json", '{"device": "npu", "vllm": "0.9.1", "vllm_ascend": "0.9.1"}')
        self.outputs("v1_ledger", "outputs")
        self.outputs("v1_ledger", "run2")
        for side in ("golden", "problem"):
            shutil.copy(os.path.join(runs.DATA, "outputs", "badcase", "msit_csv", side + ".csv"),
                        self.path("i", side + ".scores.csv"))
            shutil.copy(os.path.join(runs.DATA, "outputs", "first_token", "v1_ledger", side + ".ledger.jsonl"), self.path("i"))
        # Everything but the dumps is there: the ledgers say which step to dump, and the command of step 8 runs as it is.
        result = self.flow(0)
        self.assertEqual(([step["state"] for step in result["steps"]], result["next"]), (["done"] * 7 + ["todo"] * 3, 8))
        self.assertIn("golden_dump/: dump of step 14, ", self.steps[8]["missing"][0])
        self.assertIn('("step": [16] in config.json)', self.steps[8]["missing"][1])
        command = self.steps[8]["command"].split()
        self.assertEqual(command[0], "ulpscope")
        self.check(0, *command[1:])
        self.assertEqual(self.read_json("config.json")["step"], [8])
        out = terminal.run(80, "flow", self.path("i"))[1]
        self.assertEqual([line for line in out.split("\n") if len(line) > 80 and not line.startswith("    ulpscope")], [])
        for side, name in (("golden", "golden"), ("problem", "target")):
            shutil.copytree(os.path.join(runs.DATA, "..", "..", "examples", "dumps", name), self.path("i", side + "_dump"))
        result = self.flow(0)
        self.assertEqual(([step["state"] for step in result["steps"]], result["next"]), (["done"] * 10, None))
        self.assertEqual(self.steps[9]["finding"], "compute_fault: Torch.matmul.2.forward output.0, certain")
        self.assertEqual(self.steps[10]["finding"], "off: " + self.path("i/problem_dump"))
        run = self.check(0, "flow", self.path("i"))
        self.assertIn("found: compute_fault: Torch.matmul.2.forward output.0, certain\n       off: ", run.out)
        self.assertTrue(run.out.endswith("\nall steps are done\n"))
        self.assertEqual(run.err, "")  # nothing is run again
        chinese = self.check(0, "flow", self.path("i"), "--lang", "zh").out
        self.assertIn("10 完成    用 dump 的输入单独重放嫌疑算子", chinese)
        self.assertIn("全部步骤已完成", chinese)

    def test_what_is_missing_in_chinese(self):
        os.makedirs(self.path("i"))
        text = self.check(0, "flow", self.path("i"), "--lang", "zh").out
        self.assertNotIn("missing", text)
        self.assertIn("缺少：problem.outputs*：问题侧输出", text)

    def test_a_large_result_of_compare_is_read_at_its_head(self):
        self.dumps(2.0)
        self.flow(0)
        finding = self.steps[9]["finding"]
        path = self.path("i", self.steps[9]["result"], "compare_result.json")
        with open(path, "r+b") as file:
            text = file.read()
            rows = text.index(b'"rows"')
            file.seek(0)
            file.write(text[:rows])
            file.seek((1 << 30) + 4096)  # a hole for what a million rows take
            file.write(text[rows:])
        self.flow(0)
        self.assertEqual((self.steps[9]["state"], self.steps[9]["finding"]), ("done", finding))

    def test_a_side_that_does_not_equal_itself_comes_first(self):
        self.outputs("v1_ledger", "outputs")
        self.outputs("v1_ledger", "run2")
        shutil.copy(self.path("i/problem.outputs.jsonl"), self.path("i/golden.run2.jsonl"))
        self.flow(0)
        self.assertIn("golden does not equal itself", self.steps[4]["finding"])
        self.assertEqual(self.steps[5]["state"], "blocked")

    def test_an_unreadable_input_is_failed_and_exit_3(self):
        self.dumps(1.0)
        self.write("i/problem_dump/x.npy", b"no array")
        self.flow(3)
        self.assertEqual(self.steps[9]["state"], "failed")

    def test_a_state_of_strangers_is_not_believed(self):
        self.dumps(1.0)
        self.write("i/flow.json", '{"steps": [{"step": 9, "state": "done", "result": "../../etc", "inputs": "x"}, 7, {"step": "a"}]}')
        self.flow(0)
        self.assertEqual(self.steps[9]["result"], "ulpscope_out/9_compare")


if __name__ == "__main__":
    runs.main()
