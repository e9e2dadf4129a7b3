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
        result, self.log = json.loads(run.out), run.err
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
        self.assertEqual(self.steps[9]["command"], "ulpscope compare %s %s" % (self.path("i/problem_dump"), self.path("i/golden_dump")))
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

    def test_a_version_that_is_not_known_yet_has_places_all_the_same(self):
        self.bundles(SAMPLE)
        self.write("i/problem/bundle.json", '{"device": "gpu", "vllm": "0.99.0"}')
        self.flow(0)
        self.assertEqual(self.steps[6]["state"], "done")
        self.assertIn("--allow-unknown-shape", self.steps[6]["command"])

    def test_the_places_of_both_sides_are_those_of_their_launch(self):
        for side, device, vllm in (("golden", "gpu", "0.10.0"), ("problem", "npu", "0.9.1")):
            self.write("i/%s/bundle.json" % side, json.dumps({"device": device, "vllm": vllm, "vllm_ascend": "0.9.1"}))
        self.write("i/golden/launch.sh", "VLLM_USE_V1=0 vllm serve m -tp 2 --data-parallel-size=3\n")
        self.write("i/problem/env.txt", "VLLM_USE_V2_MODEL_RUNNER=0\n")
        self.write("i/problem/launch.sh", "python run.py --pipeline-parallel-size 1\n")
        self.flow(0, "--go-on")
        golden, problem = self.steps[6]["command"].split(" && ")
        # Each command is told once, as it starts.
        self.assertEqual([line.split(": ", 3)[3] for line in self.log.strip().split("\n") if ": step 6: " in line], [golden, problem])
        self.assertEqual(golden, "ulpscope guide collect --vllm-version 0.10.0 --enforce-eager --mode online --tp 2 --dp 3 "
                                 "--env VLLM_USE_V1=0 --device gpu")
        self.assertEqual(problem, "ulpscope guide collect --vllm-version 0.9.1 --enforce-eager --env VLLM_USE_V2_MODEL_RUNNER=0 "
                                  "--device npu --ascend-version 0.9.1")
        for place in self.steps[6]["finding"].split("; "):
            side, path = place.split(": the places are in ")
            with open(path, encoding="utf-8") as file:
                self.assertIn({"golden": "V0-W", "problem": "V1-A"}[side], file.read())

    def test_commands_are_safe_to_paste(self):
        self.write("i/problem/bundle.json", '{"device": "gpu", "vllm": "--help", "vllm_ascend": "--x"}')
        self.write("i/problem/env.txt", "VLLM_USE_V1=0;reboot`x`'y\n")
        self.write("i/problem.outputs.a;b.jsonl", '{"token_ids": [1]}')
        self.flow(0, "--go-on")
        self.assertIn("--vllm-version VERSION --enforce-eager --env 'VLLM_USE_V1=0;reboot`x`'\\''y' ", self.steps[6]["command"])
        self.assertEqual(self.steps[1]["command"], "ulpscope anomaly '%s'" % self.path("i/problem.outputs.a;b.jsonl"))

    def test_what_to_do_about_a_difference_that_is_none(self):
        golden = {"id": "a", "prompt_token_ids": [1, 2], "token_ids": [6, 8], "finish_reason": "length"}
        for other, finding, chinese in (
                ({"prompt_token_ids": [1, 3]}, "a input_mismatch (align the prompts first", "请先对齐输入"),
                ({"token_ids": [6]}, "a length at token 1 (only cut off by max_tokens", "仅被 max_tokens 截断")):
            self.write("i/golden.outputs.jsonl", json.dumps(golden))
            self.write("i/problem.outputs.jsonl", json.dumps(dict(golden, **other)))
            self.flow(0)
            self.assertIn(finding, self.steps[5]["finding"])
            self.assertIn(chinese, self.check(0, "flow", self.path("i"), "--lang", "zh").out)
        folder = os.path.join(runs.DATA, "outputs", "first_token", "openai_completions")
        for side in ("golden", "problem"):
            with open(os.path.join(folder, side + ".jsonl"), encoding="utf-8") as file:
                self.write("i/%s.outputs.jsonl" % side, "".join(line for line in file if '"q-tie"' in line))
        self.flow(0)
        self.assertRegex(self.steps[5]["finding"], r"^q-tie diverged at token \d+, near_tie \(normal rounding: choose another case\)$")

    def test_a_request_that_a_ledger_does_not_have(self):
        self.outputs("v1_ledger", "outputs")
        shutil.copy(os.path.join(runs.DATA, "outputs", "first_token", "v1_ledger", "golden.ledger.jsonl"), self.path("i"))
        shutil.copy(self.path("i/golden.ledger.jsonl"), self.path("i/problem.ledger.jsonl"))
        self.flow(0)
        self.assertTrue(self.steps[7]["finding"].endswith(": step 14 of golden, not in problem's ledger"), self.steps[7]["finding"])
        self.assertIn("，问题侧账本中没有", self.check(0, "flow", self.path("i"), "--lang", "zh").out.replace("\n           ", ""))

    def test_what_guide_refuses_is_said(self):
        self.write("i/problem/bundle.json", '{"device": "npu", "vllm": "0.9.1", "vllm_ascend": "0.9.1"}')
        self.write("i/problem/env.txt", "VLLM_USE_V2_MODEL_RUNNER=1\n")
        self.flow(3)
        self.assertIn("exit code 2; G06 model runner V2 of vllm-ascend has no hooks", self.steps[6]["finding"])

    def test_a_wrong_configuration_comes_first_unless_told_otherwise(self):
        self.bundles(WRONG)
        self.dumps(2.0)
        self.flow(0)
        self.assertIn("error 4", self.steps[3]["finding"])
        self.assertEqual(self.steps[9]["state"], "blocked")
        for step in (8, 9):
            self.assertIn("step 3 comes first", self.steps[step]["finding"])
        text = self.check(0, "flow", self.path("i")).out
        self.assertTrue(text.endswith("\nnext: step 3, put right what it found, then again\n    ulpscope flow %s\n" % self.path("i")), text)
        text = self.check(0, "flow", self.path("i") + "/", "--lang", "zh").out
        self.assertIn("先处理步骤 3", text)
        self.assertIn("下一步：步骤 3，先处理其发现的问题", text)
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
        for side in ("golden", "problem"):
            self.write("i/%s/bundle.json" % side, '{"device": "npu", "vllm": "0.9.1", "vllm_ascend": "0.9.1"}')
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
        self.assertIn("problem_dump/: dump of step 16, ", self.steps[8]["missing"][1])
        commands = [command.split() for command in self.steps[8]["command"].split(" && ")]
        self.assertEqual([command[0] for command in commands], ["ulpscope"] * 2)
        for command, side, step in zip(commands, ("golden", "problem"), (14, 16)):
            self.check(0, *command[1:])
            self.assertEqual(self.read_json("i/%s.config.json" % side)["step"], [step])
        out = terminal.run(80, "flow", self.path("i"))[1]
        self.assertEqual([line for line in out.split("\n") if len(line) > 80 and not line.startswith("    ulpscope")], [])
        for side, name in (("golden", "golden"), ("problem", "target")):
            shutil.copytree(os.path.join(runs.DATA, "..", "..", "examples", "dumps", name, "step0"),
                            self.path("i", side + "_dump", {"golden": "step14", "problem": "step16"}[side]))
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
        for line in ("通过：错误 0，警告 0", "退化，9 个坏例", "标杆侧与自身一致；问题侧与自身一致", "，token 8",
                     "标杆侧第 14 步，问题侧第 16 步", "两侧 dump 均已就绪", "结论：计算错误：Torch.matmul.2.forward output.0，确定",
                     "有误差：" + self.path("i/problem_dump")):
            self.assertIn(line, chinese.replace("\n           ", ""))
        for line in chinese.split("\n"):
            if line.startswith("           → "):
                self.assertTrue(any(ord(c) >= 0x4e00 for c in line), line)
        # What the text shows can be pasted where the user is.
        self.assertIn("\n           %s\n" % self.path("i/ulpscope_out/9_compare"), run.out)
        self.assertIn("golden: the places are in " + self.path("i/ulpscope_out/6_guide/guide_result.txt"), run.out.replace("\n           ", " "))
        # A case was picked and the operation is found: nobody needs scores any more.
        os.remove(self.path("i/golden.scores.csv"))
        self.assertEqual(self.flow(0)["next"], None)
        out = self.check(0, "flow", self.path("i")).out
        self.assertIn("the operation is found; not needed any more: steps 2", out)
        self.assertIn("已找到算子；不再需要的步骤：2", self.check(0, "flow", self.path("i"), "--lang", "zh").out)

    def step_dump(self, side, step, *shapes):
        tensors = [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": list(shape), "Max": 1.0, "Min": 0.0,
                    "Mean": 0.5, "Norm": 1.0, "requires_grad": False} for shape in shapes]
        data = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None,
                "data": {"Torch.add.0.forward": {"input_args": tensors, "input_kwargs": {}, "output": tensors}}}
        self.write("i/%s_dump/step%d/rank0/dump.json" % (side, step), json.dumps(data, indent=1))

    def ledger(self, side, *tokens):
        lines = [json.dumps({"step": step, "rank": 0, "reqs": {"r": {"prompt": tokens[0], "computed": sum(tokens[:step]), "scheduled": n}}})
                 for step, n in enumerate(tokens)]
        self.write("i/%s.ledger.jsonl" % side, "\n".join(lines) + "\n")

    def steps_finding(self):
        self.flow(0)
        return self.steps[8]["finding"]

    def test_steps_of_the_dumps_are_held_against_the_ledgers(self):
        for side, last in (("golden", [5, 6]), ("problem", [5, 7])):
            self.write("i/%s.outputs.jsonl" % side, json.dumps({"id": "r", "request_id": "r", "prompt_token_ids": list(range(37)), "token_ids": last}))
        self.ledger("golden", 37, 1, 1)
        self.ledger("problem", 20, 17, 1, 1)
        self.write("i/problem.ledger.jsonl", "\n".join(json.dumps({"step": step, "rank": 0, "reqs": {"r": {
            "prompt": 37, "computed": computed, "scheduled": n}}}) for step, computed, n in ((0, 0, 20), (1, 20, 17), (2, 37, 1), (3, 38, 1))))
        for step, tokens in ((0, 37), (1, 1)):
            self.step_dump("golden", step, (32, 16), (tokens, 16))
        for step, tokens in ((0, 20), (1, 17), (2, 1)):
            self.step_dump("problem", step, (32, 16), (1, tokens, 16))
        self.assertEqual(self.steps_finding(), "both dumps are there; golden_dump: step 1 is that of the ledger, tokens: 1; "
                                               "problem_dump: step 2 is that of the ledger, tokens: 1")
        # Of several steps under other numbers the ones that make the token are compared.
        self.assertEqual(self.steps[9]["command"], "ulpscope compare %s %s" % (self.path("i/problem_dump/step2"), self.path("i/golden_dump/step1")))
        # The dumping run counted one call more than the run of the ledger.
        shutil.rmtree(self.path("i/problem_dump"))
        for step, tokens in ((1, 20), (2, 17), (3, 1), (4, 1)):
            self.step_dump("problem", step, (32, 16), (1, tokens, 16))
        finding = self.steps_finding()
        self.assertIn("warning: 1 steps of problem_dump are not in the ledger, whose last is step 3; "
                      "step 1 of problem_dump has no tensor with the 17 rows that the ledger's step 1 computed; "
                      "by its tokens step 2 of the ledger is step 3 of problem_dump", finding)
        self.assertIn("problem_dump/step3 ", self.steps[9]["command"])
        chinese = self.check(0, "flow", self.path("i"), "--lang", "zh").out.replace("\n           ", "")
        self.assertIn("账本第 2 步是 problem_dump 的第 3 步", chinese)
        # Another step than the one asked for, and a ledger that two runs wrote.
        shutil.rmtree(self.path("i/problem_dump"))
        self.step_dump("problem", 3, (32, 16), (1, 16))
        self.flow(3)
        self.assertIn("warning: problem_dump has step 3, not step 2 that makes the token", self.steps[8]["finding"])
        self.assertEqual(self.steps[9]["finding"], "exit code 3: something could not be read; inconclusive")
        with open(self.path("i/problem.ledger.jsonl"), "a", encoding="utf-8") as file:
            file.write('\n{"step": 0, "rank": 0, "reqs": {"s": {"prompt": 3, "computed": 0, "scheduled": 3}}}\n')
        self.flow(3)
        self.assertIn("warning: the ledger of problem_dump holds more than one run, the last counts", self.steps[8]["finding"])

    def test_statistics_are_dumped_again_before_a_replay(self):
        for side, name in (("golden", "golden"), ("problem", "target")):
            shutil.copytree(os.path.join(runs.DATA, "compare_expected", "stat_basic", name), self.path("i", side + "_dump"))
        result = self.flow(0)
        self.assertEqual((self.steps[9]["finding"], self.steps[10]["state"], result["next"]),
                         ("compute_fault: Functional.linear.9.forward output.0, strong", "todo", 10))
        self.assertEqual(self.steps[10]["missing"], ['data of Functional.linear.9.forward in the dumps; dump its tensors on both sides: '
                                                     '"task": "tensor", "step": [0], "rank": [0], "list": ["Functional.linear.9.forward"]'])

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
