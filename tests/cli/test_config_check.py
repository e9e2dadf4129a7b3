"""config-check: the configuration of two runs, and a bundle of this machine."""

import hashlib
import json
import os
import struct

import runs
from runs import floats, safetensors

HEX = set("0123456789abcdef")


def cell(value):
    """A hash as the word that expected.json has for it."""
    return "sha256" if isinstance(value, str) and len(value) == 64 and set(value) <= HEX else value


class ConfigCheckTest(runs.RunTest):
    def config_check(self, code, *words):
        run = self.check(code, "config-check", "--format", "json", *words)
        return json.loads(run.out)

    def bundle(self, name, **files):
        for file, content in files.items():
            self.write(name + "/" + file, content)
        os.makedirs(self.path(name), exist_ok=True)
        return self.path(name)

    def rows(self, golden, problem, *words, code=None):
        run = self.run_program("config-check", "--golden", self.bundle("g", **golden), "--problem",
                               self.bundle("p", **problem), "--format", "json", *words)
        if code is not None:
            self.assertEqual(run.code, code, run.err)
        self.err = run.err
        self.why = {r["key"]: r["why"] for r in json.loads(run.out)["differences"]}
        return {(r["section"], r["key"]): (r["golden"], r["problem"], r["severity"])
                for r in json.loads(run.out)["differences"]}


class Samples(ConfigCheckTest):
    """Bundles with the complete set of rows that is right."""

    def sample(self, name):
        folder = os.path.join(runs.DATA, "config_check", name)
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
            expected = json.load(file)
        result = self.config_check(expected["exit_code"], "--golden", os.path.join(folder, "golden"), "--problem",
                                   os.path.join(folder, "problem"))
        key = lambda row: (row["section"], row["key"])
        self.assertEqual({key(r): (cell(r["golden"]), cell(r["problem"]), r["severity"])
                          for r in result["differences"]},
                         {key(r): (r["golden"], r["problem"], r["severity"]) for r in expected["differences"]})
        self.assertEqual(result["verdict"], expected["verdict"])
        self.assertEqual(result["counts"], expected["counts"])
        self.assertEqual(len(result["differences"]), len(expected["differences"]))
        for form in ("text", "json", "csv", "md"):
            run = self.run_program("config-check", "--golden", os.path.join(folder, "golden"), "--problem",
                                   os.path.join(folder, "problem"), "--format", form, "--all")
            for secret in expected.get("must_not_appear", []):
                self.assertNotIn(secret, run.out + run.err)

    def test_a_gpu_run_against_an_npu_run(self):
        self.sample("gpu_vs_npu")

    def test_one_configuration_written_in_two_ways_gives_no_row(self):
        self.sample("same_up_to_format")

    def test_mindie(self):
        self.sample("mindie")

    def test_results_go_to_a_folder(self):
        folder = os.path.join(runs.DATA, "config_check", "mindie")
        self.check(1, "config-check", "--golden", folder + "/golden", "--problem", folder + "/problem", "-o",
                   self.path("out"), "--exact-output")
        self.assertEqual(self.read_json("out/config_check_result.json")["schema"], "ulpscope.config_check/1")
        with open(self.path("out/config_check_result.txt"), encoding="utf-8") as file:
            self.assertIn("verdict error   error 4   warning 4   info 0\n", file.read())


class PeerFaults(ConfigCheckTest):
    """Where the older tool is known to be wrong."""

    def test_unset_and_false_are_both_no_determinism_and_true_equals_True(self):
        rows = self.rows({"env.txt": "HCCL_DETERMINISTIC=true\n", "bundle.json": '{"device": "npu"}'},
                         {"env.txt": "HCCL_DETERMINISTIC=True\n", "bundle.json": '{"device": "npu"}'})
        self.assertNotIn(("env", "HCCL_DETERMINISTIC"), rows)

    def test_golden_and_problem_keep_their_columns(self):
        rows = self.rows({"env.txt": "VLLM_MLA_DISABLE=1\n"}, {"env.txt": "A=1\n"})
        self.assertEqual(rows[("env", "VLLM_MLA_DISABLE")], ("1", None, "error"))

    def test_another_vllm_or_torch_npu_does_not_pass(self):
        rows = self.rows({"pip.txt": "vllm==0.9.1\ntorch_npu==2.5.1\n"}, {"pip.txt": "vllm==0.9.2\ntorch-npu==2.5.2\n"})
        self.assertEqual(rows[("pip", "vllm")][2], "error")
        self.assertEqual(rows[("pip", "torch-npu")][2], "error")

    def test_launch_options_in_every_spelling(self):
        rows = self.rows(
            {"launch.sh": "vllm serve /m --trust-remote-code --dtype bfloat16 -tp 2 --rope-scaling '{\"a b\": 1}'\n"},
            {"launch.sh": "vllm serve /m --dtype=float16 -tp=4 --rope_scaling '{\"a b\": 2}'\n"})
        self.assertEqual(rows, {("launch", "trust_remote_code"): (True, None, "warning"),
                                ("launch", "dtype"): ("bfloat16", "float16", "error"),
                                ("launch", "tensor_parallel_size"): (2, 4, "warning"),
                                ("launch", "rope_scaling.a b"): (1, 2, "error")})

    def test_a_dotted_name_is_whole_and_similar_names_do_not_pair(self):
        rows = self.rows({"model/config.json": '{"a": {"lr": 1}, "b": {"lr": 1}, "bos_token_id": 1}'},
                         {"model/config.json": '{"a": {"lr": 2}, "b": {"lr": 1.0}, "eos_token_id": 1}'})
        self.assertEqual(rows, {("model_config", "a.lr"): (1, 2, "error"),
                                ("model_config", "bos_token_id"): (1, None, "error"),
                                ("model_config", "eos_token_id"): (None, 1, "error")})

    def test_a_swapped_pair_of_values_and_a_missing_tensor_do_not_pass(self):
        one = safetensors({"w": ("F32", [2], floats(1, 2)), "v": ("F32", [1], floats(1))})
        two = safetensors({"w": ("F32", [2], floats(2, 1))})
        rows = self.rows({"model/a.safetensors": one}, {"model/b.safetensors": two})
        self.assertEqual(rows[("weights", "w")][2], "error")
        self.assertEqual(rows[("weights", "v")], ("present", "missing", "error"))

    def test_how_weights_differ(self):
        many = bytes(range(256)) * 8192  # 2 MiB, more than one piece
        tensors = {
            # Neighbours that one double stands for; a zero of the other sign; all bits of a NaN.
            "i64": ("I64", [2], struct.pack("<2q", 7, 2**62 + 1), struct.pack("<2q", 7, 2**62), "1 of 2 elements differ, first at 1, by at most 1"),
            "zero": ("F32", [2], struct.pack("<2f", 1, 0.0), struct.pack("<2f", 1, -0.0), "1 of 2 elements differ, first at 1, by at most 0"),
            "nan": ("BF16", [1], b"\xc0\x7f", b"\xc1\x7f", "1 of 1 elements differ, first at 0, by at most 0"),
            "late": ("U8", [len(many)], many, many[:-1] + b"\x00", "1 of 2097152 elements differ, first at 2097151, by at most 255"),
            "complex": ("C64", [2], struct.pack("<4f", 1, 2, 3, 4), struct.pack("<4f", 1, 2, 3, 6), "1 of 2 elements differ, first at 1, by at most 2"),
        }
        for side, at in (("golden", 2), ("problem", 3)):
            self.write("b/%s/model/a.safetensors" % side, safetensors({name: (each[0], each[1], each[at]) for name, each in tensors.items()}))
        run = self.check(1, "config-check", "--golden", self.path("b/golden"), "--problem", self.path("b/problem"), "--format", "json")
        found = {row["key"]: row for row in json.loads(run.out)["differences"]}
        self.assertEqual(sorted(found), sorted(tensors))
        for name, each in tensors.items():
            with self.subTest(name):
                why, same, equal = found[name]["why"].partition("; max, min, mean and norm are equal")
                self.assertEqual(why, "content: " + each[4])
                self.assertEqual(bool(same), name in ("i64", "zero", "nan"))
                self.assertEqual([found[name][side] for side in ("golden", "problem")],
                                 [hashlib.sha256(data).hexdigest() for data in each[2:4]])


class Launch(ConfigCheckTest):
    def test_variables_arrays_defaults_and_pipes(self):
        golden = ('export DT=bfloat16\nARGS=(--seed 1\n  "--max-model-len" ${LEN:-4096})\n'
                  'nohup python3 -m vllm.entrypoints.openai.api_server --model $M "${ARGS[@]}" --dtype "$DT" '
                  '> log 2>&1 &\n')
        problem = 'vllm serve /models/q --seed 1 --max-model-len 4096 --dtype bfloat16 | tee x\n'
        rows = self.rows({"launch.sh": "M=/models/q/\n" + golden}, {"launch.sh": problem})
        self.assertEqual(rows, {})

    def test_a_secret_option_is_never_shown(self):
        run = self.check(1, "config-check", "--golden", self.bundle("g", **{"launch.sh": "vllm serve m --hf-token abcdefgh\n"}),
                         "--problem", self.bundle("p", **{"launch.sh": "vllm serve n --foo $X abcdefgh\n"}))
        self.assertNotIn("abcdefgh", run.out)
        self.assertIn("<hidden:", run.out)

    def test_a_script_without_a_command_is_said(self):
        self.rows({"launch.sh": "echo hi\n"}, {"launch.sh": "vllm serve m\n"})
        self.assertIn("no command that starts an engine", self.err)


class Inputs(ConfigCheckTest):
    def test_an_input_of_one_side_is_a_warning(self):
        rows = self.rows({"pip.txt": "vllm==1\n", "env.txt": "A=1"}, {"env.txt": "A=1"}, code=0)
        self.assertEqual(rows, {("pip", "missing input"): ("pip.txt", None, "warning")})

    def test_strict_counts_warnings(self):
        self.rows({"pip.txt": "numpy==1\n"}, {"pip.txt": "numpy==2\n"}, code=0)
        self.rows({"pip.txt": "numpy==1\n"}, {"pip.txt": "numpy==2\n"}, "--strict", code=1)

    def test_single_files(self):
        result = self.config_check(1, "--golden-pip", self.write("a", "torch==2.7.0\n"), "--problem-pip",
                                   self.write("b", '[{"name": "torch", "version": "2.6.0"}]'))
        self.assertEqual([r["key"] for r in result["differences"]], ["torch"])

    def test_what_could_not_be_read_is_no_pass(self):
        sides = []
        for side in ("g", "p"):
            sides += ["--" + {"g": "golden", "p": "problem"}[side], self.bundle(side, **{"pip.txt": "torch==2.7\n"})]
            os.makedirs(self.path(side, "env.txt"))
        run = self.check(3, "config-check", *sides, "--format", "json")
        self.assertEqual(json.loads(run.out)["verdict"], "incomplete")
        self.assertIn("env.txt: is a folder, expected a file", run.err)

    def test_nothing_to_compare(self):
        run = self.check(3, "config-check", "--golden-pip", self.write("a", "x==1"), "--problem-env", self.write("b", "A=1"))
        self.assertIn("nothing could be compared", run.err)
        self.assertIn("none of the files of a bundle is there",
                      self.check(3, "config-check", "--golden", self.bundle("e"), "--problem", self.bundle("f")).err)
        self.assertIn("the golden side is missing", self.check(2, "config-check").err)

    def test_how_elements_differ(self):
        # 3 001 elements, more than a block of numbers; the literals are the values of the codes.
        def content(dtype, one, two):
            self.rows({"model/a.safetensors": safetensors({"w": (dtype, [len(one)], b"".join(one))})},
                      {"model/a.safetensors": safetensors({"w": (dtype, [len(two)], b"".join(two))})})
            return self.why["w"]

        def changed(values, changes):
            return [changes.get(i, value) for i, value in enumerate(values)]

        bf16 = [struct.pack("<H", 0x3F80 + i % 3) for i in range(3001)]  # 1, 1.0078125, 1.015625
        other = changed(bf16, {2049: b"\x00\x40", 3000: b"\x00\x00"})  # 2 for 1, 0 for 1
        self.assertEqual(content("BF16", bf16, other), "content: 2 of 3001 elements differ, first at 2049, by at most 1")
        swapped = changed(bf16, {0: bf16[1], 1: bf16[0]})
        self.assertEqual(content("BF16", bf16, swapped), "content: 2 of 3001 elements differ, first at 0, by at most 0.0078125"
                         "; max, min, mean and norm are equal")
        odd = changed(bf16, {5: b"\xc0\x7f", 6: b"\x80\x7f"})  # NaN and infinity count as different, not by how much
        self.assertEqual(content("BF16", bf16, odd), "content: 2 of 3001 elements differ, first at 5, by at most 0")
        f16 = [struct.pack("<e", 0.5)] * 3001
        self.assertEqual(content("F16", f16, changed(f16, {1500: struct.pack("<e", -3.0)})),
                         "content: 1 of 3001 elements differ, first at 1500, by at most 3.5")
        # Squares of these float64 are no doubles: the norms differ all the same.
        f64 = [struct.pack("<d", 1e-200), struct.pack("<d", 0.0)] * 1500
        self.assertEqual(content("F64", f64, changed(f64, {0: struct.pack("<d", 3e-200), 2: struct.pack("<d", -1e-200)})),
                         "content: 2 of 3000 elements differ, first at 0, by at most 2e-200")
        zero = [struct.pack("<f", 0.0)] * 4
        self.assertEqual(content("F32", zero, changed(zero, {3: struct.pack("<f", -0.0)})),
                         "content: 1 of 4 elements differ, first at 3, by at most 0; max, min, mean and norm are equal")
        i64 = [struct.pack("<q", 1 << 40)] * 10
        self.assertEqual(content("I64", i64, changed(i64, {9: struct.pack("<q", 1)})),
                         "content: 1 of 10 elements differ, first at 9, by at most 1099511627775")
        u8 = [b"\x07"] * 2000
        self.assertEqual(content("U8", u8, changed(u8, {1999: b"\x09"})),
                         "content: 1 of 2000 elements differ, first at 1999, by at most 2")

    def test_files_of_weights_compare_whole(self):
        self.rows({"model/a.bin": b"x" * 5, "model/b.bin": b"y", "model/c.pt": b"z"},
                  {"model/a.bin": b"x" * 4 + b"w", "model/b.bin": b"y", "model/d.pt": b"z"})
        self.assertEqual(self.why, {"a.bin": "the bytes of the file differ", "c.pt": "file", "d.pt": "file"})

    def test_broken_weights_name_file_and_tensor(self):
        good = safetensors({"w": ("F32", [2], floats(1, 2))})
        for broken, message in ((good[:-4], "tensor 'w': data_offsets 0 to 8"), (b"\xff" * 8 + b"{", "bad.safetensors")):
            with self.subTest(message):
                self.rows({"model/a.safetensors": good}, {"model/bad.safetensors": broken}, code=3)
                self.assertIn(message, self.err)

    def test_deep_json_and_broken_utf8_end_in_a_message(self):
        self.rows({"model/config.json": "[" * 1000 + "]" * 1000}, {"model/config.json": "{}"}, code=3)
        self.assertIn("nested deeper than 64 levels", self.err)
        rows = self.rows({"env.txt": b"VLLM_X=\xff\xfe\n"}, {"env.txt": "VLLM_X=1\n"})
        self.assertEqual(rows[("env", "VLLM_X")][1], "1")

    def test_a_catalogue_of_the_user_wins_and_its_mistakes_are_named(self):
        mine = self.write("mine.yaml", "version: 1\npip:\n  error: [pandas]\n  ignore: [numpy]\n")
        rows = self.rows({"pip.txt": "pandas==1\nnumpy==1\n"}, {"pip.txt": "pandas==2\nnumpy==2\n"}, "--catalogue", mine)
        self.assertEqual(rows, {("pip", "pandas"): ("1", "2", "error")})
        bad = self.write("bad.yaml", "version: 1\npip:\n  eror: [pandas]\n")
        run = self.check(2, "config-check", "--golden", self.path("g"), "--problem", self.path("p"), "--catalogue", bad)
        self.assertIn("bad.yaml:3:3: unknown list 'eror' (did you mean 'error'?)", run.err)


class Collect(ConfigCheckTest):
    def test_a_bundle_of_this_machine_compares_equal_to_itself_and_holds_no_secret(self):
        self.write("m/config.json", '{"a": 1}')
        self.write("m/x.safetensors", safetensors({"w": ("F32", [2], floats(1, 2))}))
        launch = self.write("run.sh", "export API_KEY=topsecret1\nvllm serve m --api-key topsecret1\n")
        log = self.write("run.log", "INFO args: Namespace(api_key='topsecret1', seed=0)\nurl http://u:pw@h/\n")
        for side in ("g", "p"):
            self.check(0, "config-check", "collect", "-o", self.path(side), "--model", self.path("m"), "--launch", launch,
                       "--log", log, environment={"MY_TOKEN": "othersecret", "PLAIN": "x othersecret y"})
        for folder, _, files in os.walk(self.path("g")):
            for file in files:
                with open(os.path.join(folder, file), "rb") as opened:
                    content = opened.read()
                for secret in (b"topsecret1", b"othersecret", b"u:pw"):
                    self.assertNotIn(secret, content, file)
        self.assertEqual(self.config_check(0, "--golden", self.path("g"), "--problem", self.path("p"))["differences"], [])
        self.assertIn("holds a bundle", self.check(2, "config-check", "collect", "-o", self.path("g")).err)

    def test_hashes_stand_for_the_weights(self):
        for side, value in (("g", 2), ("p", 3)):
            self.write(side + "m/x.safetensors", safetensors({"w": ("F32", [2], floats(1, value))}))
            self.check(0, "config-check", "collect", "-o", self.path(side), "--model", self.path(side + "m"))
        self.assertEqual([r["key"] for r in self.config_check(1, "--golden", self.path("g"), "--problem", self.path("p"))
                         ["differences"]], ["w"])


if __name__ == "__main__":
    runs.main()
