"""guide: symptoms, checklist, determinism, where and how to collect."""

import json
import os
import shutil
import unicodedata

import runs
import terminal

SKELETONS = os.path.join(runs.DATA, "vllm_skeletons")


def shown_columns(text):
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


class GuideTest(runs.RunTest):
    def guide(self, code, *words):
        return json.loads(self.check(code, "guide", *words, "--format", "json").out)

    def rules(self, code, *words):
        return {rule["id"]: rule["severity"] for rule in self.guide(code, *words)["rules"] if rule["id"]}


class Topics(GuideTest):
    def test_symptoms(self):
        result = self.guide(0, "symptoms")
        self.assertEqual([s["label"] for s in result["symptoms"]],
                         ["garbled", "repetition", "incoherent", "inconsistent", "accuracy_drop"])
        self.assertEqual(len(result["causes"]), 8)
        self.assertIn("config-check weights", self.check(0, "guide", "symptoms").out)

    def test_chinese_changes_the_text_and_not_the_data(self):
        self.assertIn("乱码", self.check(0, "guide", "symptoms", "--lang", "zh").out)
        self.assertEqual(self.guide(0, "symptoms", "--lang", "zh"), self.guide(0, "symptoms"))
        words = ("--vllm-version", "0.9.1", "--enforce-eager")
        self.assertIn("需要添加的启动参数", self.check(0, "guide", *words, "--lang", "zh").out)
        self.assertEqual(self.guide(0, *words, "--lang", "zh"), self.guide(0, *words))

    def test_checklist(self):
        self.assertEqual(len(self.guide(0, "checklist")["items"]), 6)

    def test_determinism_is_a_shell_block(self):
        npu = self.check(0, "guide", "determinism", "--device", "npu", "--format", "sh").out
        for line in ("HCCL_DETERMINISTIC=true", "LCCL_DETERMINISTIC=1", "ATB_MATMUL_SHUFFLE_K_ENABLE=0", "ATB_LLM_LCOC_ENABLE=0",
                     "CLOSE_MATMUL_K_SHIFT=1", "PYTHONHASHSEED=0"):
            self.assertIn("export " + line + " ", npu)
        self.assertTrue(all(line.startswith(("export ", "#")) for line in npu.splitlines()))
        gpu = self.guide(0, "determinism", "--device", "gpu", "--batch-invariant")
        self.assertEqual(gpu["environment"], {"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "NVIDIA_TF32_OVERRIDE": "0",
                                              "PYTHONHASHSEED": "0", "VLLM_BATCH_INVARIANT": "1"})

    def test_usage(self):
        for words, message in ((["symptom"], "unknown topic 'symptom' (did you mean 'symptoms'?)"),
                               ([], "the version of vLLM is missing"),
                               (["--vllm-version", "x"], "expected a version such as 0.9.1"),
                               (["--vllm-version", "0.9.1", "--tp", "0"], "option --tp: '0'"),
                               (["--vllm-version", "0.9.1", "--env", "A"], "expected NAME=VALUE")):
            self.assertIn(message, self.check(2, "guide", *words).err)

    def test_results_go_to_a_folder(self):
        self.check(0, "guide", "checklist", "-o", self.path("o"), "--exact-output")
        self.assertEqual(self.read_json("o/guide_result.json")["topic"], "checklist")


class Rules(GuideTest):
    V0 = ("--vllm-version", "0.9.1", "--engine", "v0")

    def test_g01_no_v0_any_more(self):
        self.assertEqual(self.rules(2, "--vllm-version", "0.11.0", "--engine", "v0")["G01"], "error")

    def test_g02_no_pipeline_offline(self):
        self.assertEqual(self.rules(2, *self.V0, "--pp", "2")["G02"], "error")
        self.assertNotIn("G02", self.rules(0, *self.V0, "--pp", "2", "--mode", "online"))

    def test_g03_graphs_on_a_gpu(self):
        self.assertEqual(self.rules(2, "--vllm-version", "0.9.1")["G03"], "error")
        self.assertNotIn("G03", self.rules(0, "--vllm-version", "0.9.1", "--enforce-eager"))
        self.assertNotIn("G03", self.rules(0, *self.V0))

    def test_g04_graphs_on_an_npu(self):
        npu = ("--device", "npu", "--vllm-version", "0.20.2", "--ascend-version")
        self.assertEqual(self.rules(0, *npu, "0.20.2rc1")["G04"], "note")
        self.assertEqual(self.rules(2, *npu, "0.19.1rc1")["G04"], "error")

    def test_g05_the_switch_of_vllm_ascend(self):
        result = self.guide(0, "--device", "npu", "--vllm-version", "0.13.0", "--ascend-version", "0.13.0rc1", "--enforce-eager")
        rule = next(r for r in result["rules"] if r["id"] == "G05")
        self.assertIn('{"dump_config_path": "<path>"}', rule["text"])
        self.assertEqual(result["anchors"], [])

    def test_g06_model_runner_v2(self):
        words = ("--vllm-version", "0.12.0", "--enforce-eager", "--env", "VLLM_USE_V2_MODEL_RUNNER=1")
        gpu = self.guide(0, *words)
        self.assertEqual({a["file"] for a in gpu["anchors"]}, {"vllm/v1/worker/gpu/model_runner.py"})
        self.assertEqual(self.rules(2, *words, "--device", "npu", "--ascend-version", "0.12.0rc1")["G06"], "error")

    def test_g07_no_model_known(self):
        root = self.path("t")
        self.write("t/vllm/_version.py", "__version__ = version = '0.11.0'\n")
        self.write("t/vllm/v1/worker/gpu_model_runner.py", "class GPUModelRunner:\n    def execute_model(self, scheduler_output):\n"
                   "        return None\n")
        self.assertEqual(self.rules(2, "--tree", root, "--enforce-eager")["G07"], "error")
        self.assertNotIn("G07", self.rules(0, "--tree", root, "--enforce-eager", "--level", "L1"))

    def test_g08_g09_processes(self):
        self.assertEqual(self.rules(0, *self.V0, "--mode", "online", "--tp", "2")["G08"], "warning")
        self.assertEqual(self.rules(0, "--vllm-version", "0.9.1", "--enforce-eager", "--disable-frontend-multiprocessing")["G09"], "note")

    def test_g10_names_the_options_that_are_left(self):
        words = ["--vllm-version", "0.9.1", "--enforce-eager"]
        self.assertEqual(self.rules(0, *words)["G10"], "warning")
        self.rules(1, *words, "--strict")
        words += ["--max-num-seqs", "1", "--no-enable-prefix-caching", "--max-num-batched-tokens", "9000"]
        self.assertNotIn("G10", self.rules(0, *words, "--strict"))

    def test_g11_unknown_version(self):
        result = self.guide(2, "--vllm-version", "0.99.0", "--enforce-eager")
        self.assertIn("0.24", next(r for r in result["rules"] if r["id"] == "G11")["text"])
        self.assertIn("--allow-unknown-shape goes on with its places", next(r for r in result["rules"] if r["id"] == "G11")["text"])
        words = ("--vllm-version", "0.99.0", "--enforce-eager", "--allow-unknown-shape")
        self.assertEqual(self.rules(0, *words)["G11"], "warning")
        result = self.guide(0, *words)
        self.assertIn("untested", next(r for r in result["rules"] if r["id"] == "G11")["text"])
        self.assertEqual([place["id"] for place in result["anchors"] if place["method"] == "execute_model"], ["V1-X", "V1-M"])
        self.assertIn(" --style wrap --engine v1 --device gpu --allow-unknown-shape --config /path/", result["instrument"])
        result = self.guide(0, *words, "--emit-config", "c.json")
        self.assertTrue(result["instrument"].endswith(" --config " + os.path.realpath(self.path("c.json"))), result["instrument"])
        self.assertIn("未经测试", self.check(0, "guide", *words, "--lang", "zh").out)
        # Of a tree only what it has.
        shutil.copytree(os.path.join(runs.DATA, "vllm_skeletons", "v0.23.0"), self.path("t"))
        words += ("--tree", self.path("t"), "--device", "gpu", "--level", "L1")
        anchors = lambda: [place["id"] for place in self.guide(0, *words)["anchors"] if place["method"] == "execute_model"]
        self.assertEqual(anchors(), ["V1-X", "V1-M"])
        os.remove(self.path("t/vllm/v1/worker/gpu_model_runner.py"))
        self.assertEqual(anchors(), ["V1-M"])
        shutil.rmtree(self.path("t/vllm/v1"))
        self.assertEqual(anchors(), [])

    def test_g12_versions_that_do_not_belong_together(self):
        words = ("--device", "npu", "--vllm-version", "0.9.2", "--enforce-eager", "--ascend-version")
        self.assertEqual(self.rules(0, *words, "0.9.1")["G12"], "warning")
        self.assertNotIn("G12", self.rules(0, *words, "0.9.2rc1"))


class Collect(GuideTest):
    def test_a_step_that_a_ledger_told(self):
        result = self.guide(0, "--vllm-version", "0.9.1", "--enforce-eager", "--token", "5", "--step", "14")
        self.assertEqual(result["config"]["step"], [14])
        self.assertTrue(any("has the step that was given: 14" in rule for rule in result["step_rules"]), result["step_rules"])

    def test_the_engine_is_chosen_by_version_and_environment(self):
        for version, environment, engine in (("0.7.3", [], "v0"), ("0.8.0", [], "v1"), ("0.9.1", ["VLLM_USE_V1=0"], "v0"),
                                             ("0.11.0", ["VLLM_USE_V1=0"], "v1")):
            words = [word for each in environment for word in ("--env", each)]
            self.assertEqual(self.guide(0, "--vllm-version", version, "--enforce-eager", *words)["engine"], engine)

    def test_processes_of_each_mode(self):
        def ranks(*words):
            return [p["process"] for p in self.guide(0, "--vllm-version", "0.9.1", "--enforce-eager", *words)["processes"]]
        self.assertEqual(ranks("--engine", "v0"), ["the user's process"])
        self.assertIn("VllmWorkerProcess", ranks("--engine", "v0", "--tp", "2")[1])
        self.assertIn("MQLLMEngine", ranks("--engine", "v0", "--mode", "online")[0])
        self.assertIn("AsyncLLMEngine", ranks("--engine", "v0", "--mode", "online", "--pp", "2")[0])
        self.assertIn("AsyncLLMEngine", ranks("--engine", "v0", "--mode", "online", "--disable-frontend-multiprocessing")[0])
        self.assertEqual(ranks("--engine", "v1"), ["a spawned engine core process"])
        self.assertEqual(ranks("--env", "VLLM_ENABLE_V1_MULTIPROCESSING=0"), ["the user's process"])
        self.assertIn("one worker process per TP×PP rank", ranks("--dp", "2", "--tp", "2")[0])

    def test_lines_come_from_the_tree(self):
        result = self.guide(0, "--tree", os.path.join(SKELETONS, "v0.9.1"), "--device", "gpu", "--enforce-eager")
        with open(os.path.join(SKELETONS, "v0.9.1", "expected.json"), encoding="utf-8") as file:
            expected = json.load(file)["files"]["vllm/v1/worker/gpu_model_runner.py"]
        self.assertEqual({a["method"]: a["line"] for a in result["anchors"]},
                         {"__init__": expected["GPUModelRunner.__init__"]["def_line"],
                          "execute_model": expected["GPUModelRunner.execute_model"]["def_line"]})

    def test_config_of_the_collector(self):
        config = self.path("c.json")
        self.check(0, "guide", "--vllm-version", "0.9.1", "--engine", "v0", "--token", "5", "--task", "tensor", "--emit-config", config)
        self.assertEqual(self.read_json("c.json"),
                         {"task": "tensor", "dump_path": "./ulpscope_dump", "rank": [], "step": [5], "level": "mix", "async_dump": False,
                          "tensor": {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"}})

    def test_start_forms(self):
        self.assertEqual(self.guide(0, "--vllm-version", "0.9.1", "--enforce-eager", "--level", "L1")["start"], "debugger.start()")
        self.assertEqual(self.guide(0, "--vllm-version", "0.9.1", "--enforce-eager")["start"], "debugger.start(model=self.get_model())")
        self.assertEqual(self.guide(0, "--vllm-version", "0.6.3")["model"], "self.model_runner.model")
        starts = {a["id"]: a["start"] for a in self.guide(0, "--vllm-version", "0.9.1", "--engine", "v0", "--tp", "2",
                                                          "--token", "3")["anchors"]}
        self.assertEqual(starts, {
            "V0-G": "debugger.start(model=llm.llm_engine.model_executor.driver_worker.worker.model_runner.get_model(), "
                    "token_range=[3, 3])",
            "V0-W": "debugger.start(model=self.model_runner.get_model())",
            "V0-P": "debugger.start(model=worker.worker.model_runner.get_model())"})

    def test_the_model_chooses_the_runner(self):
        ids = [place["id"] for place in self.guide(0, "--vllm-version", "0.24.1", "--enforce-eager")["anchors"]]
        self.assertIn("V1-X", ids)
        self.assertIn("V1-M", ids)
        self.assertEqual(self.rules(0, "--vllm-version", "0.23.0", "--enforce-eager")["G06"], "note")
        for words in (("0.22.0",), ("0.24.1", "--model-runner", "v1"), ("0.24.1", "--env", "VLLM_USE_V2_MODEL_RUNNER=0")):
            with self.subTest(words):
                result = self.guide(0, "--enforce-eager", "--vllm-version", *words)
                self.assertEqual([p["id"] for p in result["anchors"]], ["V1-I", "V1-X", "V1-S"])
                self.assertNotIn("G06", [rule["id"] for rule in result["rules"]])

    def test_the_command_that_inserts_it_runs_as_it_is(self):
        tree = self.path("tree")
        shutil.copytree(os.path.join(SKELETONS, "v0.9.1"), tree)
        for words in (("--device", "gpu"), ("--device", "npu"), ("--engine", "v0", "--level", "L1")):
            command = self.guide(0, "--tree", tree, "--enforce-eager", *words)["instrument"]
            self.assertIn("--style wrap", command)
            self.assertEqual(command.split()[0], "ulpscope")
            plan = json.loads(self.check(0, *command.split()[1:], "--format", "json").out)
            self.assertEqual(plan["state"], "applied")

    def test_where_nothing_is_patched_nothing_is_started(self):
        words = ("--vllm-version", "0.13.0", "--ascend-version", "0.13.0rc1", "--device", "npu", "--enforce-eager")
        self.assertEqual((self.guide(0, *words)["start"], self.guide(0, *words)["instrument"]), ("", None))
        self.assertIn("3 start and stop\n  nothing to insert\n", self.check(0, "guide", *words).out)

    def test_chinese_has_no_english_sentence(self):
        out = self.check(0, "guide", "--vllm-version", "0.24.1", "--enforce-eager", "--lang", "zh").out
        for word in ("warning", "note ", "at least", "where the", "\n  engine v1", "the place", "recommended"):
            self.assertNotIn(word, out)
        for word in ("告警 G10", "提示 G06", "# 不小于 prompt 长度", "# 有该选项时"):
            self.assertIn(word, out)

    def test_lines_fit_a_terminal(self):
        for words in ((), ("--lang", "zh")):
            for topic in (("symptoms",), ("checklist",), ("collect", "--vllm-version", "0.24.1", "--enforce-eager", "--token", "7")):
                with self.subTest(topic + words):
                    out = terminal.run(80, "guide", *topic, *words)[1]
                    wide = [line for line in out.split("\n") if shown_columns(line) > 80 and "model_runner.py" not in line
                            and not line.startswith("    ulpscope instrument")]
                    self.assertEqual(wide, [])

    def test_mindie(self):
        layer = self.guide(0, "--framework", "mindie", "--phase", "layer", "--token", "3", "--emit-config", self.path("atb.json"))
        self.assertEqual(layer["config"], self.read_json("atb.json"))
        self.assertEqual({key: layer["config"][key] for key in ("dump_enable", "ids", "save_child", "exec_range", "task")},
                         {"dump_enable": True, "ids": "", "save_child": False, "exec_range": "2,2", "task": "tensor"})
        self.assertIn("then: ulpscope guide --framework mindie --phase op --ids 5 --token 3", layer["steps"])
        op = self.guide(0, "--framework", "mindie", "--phase", "op", "--ids", "5,2_1")
        self.assertEqual((op["config"]["ids"], op["config"]["save_child"], op["config"]["exec_range"]), ("5,2_1", True, "0,0"))
        self.assertIn("--output", op["load"])
        self.assertIn("--phase op needs --ids", self.check(2, "guide", "--framework", "mindie", "--phase", "op").err)
        self.assertIn("expected ids such as 5", self.check(2, "guide", "--framework", "mindie", "--phase", "op", "--ids", "a").err)


if __name__ == "__main__":
    runs.main()
