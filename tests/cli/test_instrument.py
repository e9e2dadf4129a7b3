"""instrument: patched trees run, collect once a step on every path, and come back byte for byte."""

import json
import os
import shutil
import subprocess
import sys

import runs

SKELETONS = os.path.join(runs.DATA, "vllm_skeletons")
VERSIONS = sorted(name for name in os.listdir(SKELETONS) if name.startswith("v"))
# Their vllm-ascend has a collector of its own: only the GPU runner is patched.
OWN_COLLECTOR = ("v0.12.0", "v0.23.0")


def content(folder):
    found = {}
    for base, _, files in os.walk(folder):
        for name in files:
            if not name.endswith(".pyc"):
                path = os.path.join(base, name)
                if os.path.islink(path):
                    found[os.path.relpath(path, folder)] = os.readlink(path)
                    continue
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found


class InstrumentTest(runs.RunTest):
    def tree(self, version, name="tree"):
        shutil.rmtree(self.path(name), ignore_errors=True)
        shutil.copytree(os.path.join(SKELETONS, version), self.path(name))
        return self.path(name)

    def instrument(self, code, *words):
        run = self.check(code, "instrument", "--tree", self.path("tree"), "--format", "json", *words)
        return json.loads(run.out)

    def refused(self, code, *words):
        before = content(self.path("tree"))
        for action in ("--plan", "--apply"):
            result = self.instrument(3, action, *words)
            self.assertEqual(result["refused"], code, result["message"])
        self.assertEqual(content(self.path("tree")), before)
        return result["message"]

    def paths(self, *words):
        # -B: no __pycache__ in the tree
        finished = subprocess.run([sys.executable, "-B", os.path.join(os.path.dirname(__file__), "skeleton_paths.py"),
                                   self.path("tree"), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual(finished.returncode, 0, finished.stderr.decode())
        return json.loads(finished.stdout), finished.stderr.decode()


def device(version):
    return ("--device", "gpu") if version in OWN_COLLECTOR else ()


class Skeletons(InstrumentTest):
    def expected(self, version):
        with open(os.path.join(SKELETONS, version, "expected.json"), encoding="utf-8") as file:
            return json.load(file)

    def round_trip(self, version, *words, sampling=False, closes_on_exception=True):
        self.tree(version)
        before = content(self.path("tree"))
        self.instrument(0, "--apply", "--config", "/c.json", *device(version), *words)
        self.assertEqual(self.instrument(0, "--check")["state"], "applied")
        self.assertEqual(self.instrument(0, "--apply", "--config", "/c.json", *device(version), *words)["lines"],
                         ["applied already with these options: nothing changed"])
        found, log = self.paths(*(["sample"] if sampling else []))
        self.assertTrue(found)
        for anchor, result in found.items():
            with self.subTest(anchor):
                self.assertEqual(result["bad"], [])
                if closes_on_exception:
                    self.assertEqual(result["raised"], ["start", "stop", "step"])
                    self.assertEqual(result["idle"], [])
                else:
                    # The call after the one that raised closes its step.
                    self.assertEqual((result["raised"], result["idle"]), (["start"], ["stop", "step"]))
        self.assertNotIn("collection is off", log)
        lines = self.instrument(0, "--revert")["lines"]
        self.assertEqual([line for line in lines if line.endswith(": removed")],
                         [line for line in lines if "ulpscope_hook.py" in line])
        self.assertEqual(content(self.path("tree")), before)
        self.assertEqual(self.instrument(0, "--check")["state"], "clean")
        return found

    def test_inline(self):
        for version in VERSIONS:
            with self.subTest(version):
                found = self.round_trip(version)
                files = self.expected(version)["files"]
                self.assertEqual("V0-W" in found, "vllm/worker/worker_base.py" in files)
                self.assertEqual("V1-X" in found, "vllm/v1/worker/gpu_model_runner.py" in files)

    def test_wrap(self):
        for version in VERSIONS:
            with self.subTest(version):
                self.round_trip(version, "--style", "wrap")

    def test_direct(self):
        for version in VERSIONS:
            with self.subTest(version):
                self.round_trip(version, "--emit", "direct", closes_on_exception=False)

    def test_the_window_stays_open_until_sampling_is_done(self):
        for version in ("v0.12.0", "v0.23.0"):
            for style in ("inline", "wrap"):
                with self.subTest(version + style):
                    self.round_trip(version, "--window", "forward+sample", "--style", style, sampling=True)

    def test_blocks_stand_where_the_shapes_say(self):
        for version in VERSIONS:
            self.tree(version)
            plan = self.instrument(0, "--plan", *device(version))
            lines = {(file["path"], part["part"]): [] for file in plan["files"] for part in file["parts"]}
            for file in plan["files"]:
                for part in file["parts"]:
                    lines[(file["path"], part["part"])].append(part["line"])
            for path, functions in self.expected(version)["files"].items():
                for part, end in (("begin", "end"),):
                    begins = [key for key in lines if key[0] == path and key[1].endswith(part)]
                    for key in begins:
                        name = next(n for n in functions if n.endswith(".execute_model"))
                        with self.subTest(version + path):
                            self.assertEqual(lines[key], [functions[name]["first_statement_line"]])
                            self.assertEqual(lines[(path, key[1].replace(part, end))], functions[name]["return_lines"])

    def test_the_plan_is_a_diff_that_patch_applies(self):
        self.tree("v0.9.1")
        diff = self.instrument(0, "--plan", "--config", "/c.json")["diff"]
        self.assertEqual(self.instrument(0, "--check")["state"], "clean")
        if shutil.which("patch") is None:
            self.skipTest("no patch")
        subprocess.run(["patch", "-p1", "-s", "-d", self.path("tree")], input=diff.encode(), check=True)
        patched = content(self.path("tree"))
        self.tree("v0.9.1")
        self.instrument(0, "--apply", "--config", "/c.json")
        applied = {path: data for path, data in content(self.path("tree")).items() if not path.startswith(".ulpscope")}
        self.assertEqual(applied, patched)

    def test_the_guides_places(self):
        self.tree("v0.9.1")
        with open(self.path("tree/vllm/executor/multiproc_worker_utils.py"), "a", encoding="utf-8") as file:
            file.write("    while True:\n        try:\n            output = run_method(worker, method, args, kwargs)\n"
                       "        except Exception:\n            pass\n")
        plan = self.instrument(0, "--plan", "--strategy", "guide")
        self.assertEqual([p["part"] for f in plan["files"] for p in f["parts"]],
                         ["V0-P.begin", "V0-P.end", "V0-P.raise", "V0-E.wrap"])
        self.assertTrue(any("llm.generate(prompts" in note for note in plan["notes"]))

    def test_a_worker_whose_call_raises_closes_its_step(self):
        loop = ("    for method, args in task_queue:\n        try:\n            if method is None:\n                raise LookupError\n"
                "            output = run_method(worker_factory, method, args, {})\n        except LookupError: raised.append(None)\n"
                "        except Exception as problem:\n            raised.append(problem)  # kept: its frame stays alive\n"
                "        seen.append(list(made))\n"
                "raised, seen, made = [], [], []\n"
                "class Debugger:\n    def __init__(self, config_path=None): pass\n    def start(self): made.append('start')\n"
                "    def stop(self): made.append('stop')\n    def step(self): made.append('step')\n"
                "def run_method(worker, method, args, kwargs):\n    if args: raise ValueError(args)\n")
        script = ("import sys, types, json; sys.path.insert(0, %r)\n"
                  "for name in ('msprobe', 'msprobe.pytorch'): sys.modules[name] = types.ModuleType(name)\n"
                  "import vllm.executor.multiproc_worker_utils as m\n"
                  "sys.modules['msprobe.pytorch'].PrecisionDebugger = m.Debugger\n"
                  "m.worker = worker = types.SimpleNamespace()\n"
                  "tasks = [(None, ()), ('execute_model', (1,)), ('load_model', (1,)), ('execute_model', ())]\n"
                  "m._run_worker_process(worker, tasks, None, None, 0)\n"
                  "print(json.dumps([m.seen, len(m.raised)]))\n")
        once = ["start", "stop", "step"]
        for words, expected in (((), [[], once, once, once * 2]),
                                (("--emit", "direct"), [[], ["start"], once, once * 2])):
            with self.subTest(words):
                self.tree("v0.9.1")
                with open(self.path("tree/vllm/executor/multiproc_worker_utils.py"), "a", encoding="utf-8") as file:
                    file.write(loop)
                before = content(self.path("tree"))
                result = self.instrument(0, "--apply", "--strategy", "guide", "--level", "L1", "--config", "/c.json", *words)
                self.assertEqual(any("a handler on one line" in note for note in result["notes"]), not words)
                done = subprocess.run([sys.executable, "-B", "-c", script % self.path("tree")], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 0, done.stderr.decode())
                self.assertEqual(json.loads(done.stdout), [expected, 3])
                self.instrument(0, "--revert")
                self.assertEqual(content(self.path("tree")), before)

    def test_a_ledger_alone_says_which_step_made_which_token(self):
        self.tree("v0.11.0")
        self.instrument(0, "--apply", "--ledger", self.path("l.jsonl"), "--ledger-only", "--device", "gpu")
        code = ("import sys, types; sys.path.insert(0, %r)\nimport vllm.ulpscope_hook as h\n"
                "N = types.SimpleNamespace\no = N()\n"
                "new = N(req_id='r', prompt_token_ids=[1] * 5, num_computed_tokens=0)\n"
                "if %r: new.prompt_token_ids, new.prompt_embeds = None, [[0.5]] * 5\n"
                "for n, news in ((4, [new]), (1, []), (1, [])):\n"
                "    h.begin(o, 'V1-X', N(total_num_scheduled_tokens=n, num_scheduled_tokens={'r': n}, "
                "scheduled_new_reqs=news, scheduled_cached_reqs=[])).end()\n")
        for embeddings in (False, True):
            subprocess.run([sys.executable, "-B", "-c", code % (self.path("tree"), embeddings)], check=True)
            with open(self.path("l.jsonl"), encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            self.assertEqual([(line["step"], line["reqs"]["r"]) for line in lines],
                             [(0, {"prompt": 5, "computed": 0, "scheduled": 4}),
                              (1, {"prompt": 5, "computed": 4, "scheduled": 1}),
                              (2, {"prompt": 5, "computed": 5, "scheduled": 1})])
            os.remove(self.path("l.jsonl"))


class Refusals(InstrumentTest):
    def edit(self, path, *replacements):
        with open(self.path("tree", path), encoding="utf-8", newline="") as file:
            text = file.read()
        for old, new in replacements:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        with open(self.path("tree", path), "w", encoding="utf-8", newline="") as file:
            file.write(text)

    RUNNER = "vllm/v1/worker/gpu_model_runner.py"

    def test_given_trees(self):
        self.tree("refuse_renamed")
        self.assertIn("execute_model is not there", self.refused("E_NOMETHOD"))
        self.tree("refuse_same_line_return")
        self.assertIn("a return on the line of its block", self.refused("E_SAMELINE"))

    def test_version(self):
        self.tree("v0.9.1")
        os.remove(self.path("tree/vllm/_version.py"))
        self.assertIn("no version of vLLM found", self.refused("E_VERSION"))
        self.instrument(0, "--plan", "--vllm-version", "0.9.1")
        self.edit("vllm_ascend/_version.py")
        self.assertIn("the nearest known is 0.24", self.refused("E_VERSION", "--vllm-version", "0.99.0"))

    def test_a_version_newer_than_the_table_is_tried_at_its_newest_places(self):
        self.tree("v0.23.0")
        newer = ("--vllm-version", "0.99.0", "--device", "gpu")
        message = self.refused("E_VERSION", *newer)
        self.assertIn("its places are those of 0.24 (V1-X, V1-M): --style wrap --allow-unknown-shape", message)
        before = content(self.path("tree"))
        result = self.instrument(0, "--apply", *newer, "--style", "wrap", "--allow-unknown-shape")
        self.assertTrue(any("0.99.0 is an untested version" in note for note in result["notes"]), result["notes"])
        found, log = self.paths()
        self.assertEqual(sorted(found), ["V1-M", "V1-X"])
        self.assertEqual([each["bad"] for each in found.values()], [[], []])
        self.assertNotIn("collection is off", log)
        self.instrument(0, "--revert")
        self.assertEqual(content(self.path("tree")), before)
        # Another first statement and a runner that is gone do not matter to a decorator; a renamed method does.
        self.edit(self.RUNNER, ("        self.vllm_config = vllm_config", "        x = 1"))
        self.assertIn("(V1-X, V1-M)", self.refused("E_VERSION", *newer))
        os.rename(self.path("tree", self.RUNNER), self.path("kept.py"))
        self.assertIn("(V1-M)", self.refused("E_VERSION", *newer))
        os.rename(self.path("kept.py"), self.path("tree", self.RUNNER))
        self.edit(self.RUNNER, ("def execute_model(", "def run_model("))
        message = self.refused("E_VERSION", *newer)
        self.assertIn("and its places are not those of 0.24: vllm/v1/worker/gpu_model_runner.py: "
                      "GPUModelRunner.execute_model is not there", message)
        self.assertIn("--vllm-version gives another", self.refused("E_VERSION", *newer, "--engine", "v0"))
        # What another version of vllm-ascend offers by itself is said too.
        self.assertIn("has a collector of its own", self.refused("E_VERSION", "--vllm-version", "0.99.0", "--device", "npu"))

    def test_missing_file_class_and_twice(self):
        self.tree("v0.9.1")
        self.edit(self.RUNNER, ("class GPUModelRunner:", "class GPUModelRunner2:"))
        self.assertIn("no class GPUModelRunner", self.refused("E_NOCLASS"))
        os.remove(self.path("tree", self.RUNNER))
        self.assertIn("no such file", self.refused("E_NOFILE"))
        self.tree("v0.9.1")
        with open(self.path("tree", self.RUNNER), "a", encoding="utf-8") as file:
            file.write("\nclass GPUModelRunner(object):\n    pass\n")
        self.assertIn("a second time", self.refused("E_TWICE"))

    def test_returns_first_statement_and_tabs(self):
        self.tree("v0.9.1")
        self.edit(self.RUNNER, ("        work('GPUModelRunner.execute_model')", "        if cond('z'):\n            return 1\n"
                                "        work('GPUModelRunner.execute_model')"))
        self.assertIn("has 5 returns, expected 4", self.refused("E_RETURNS"))
        self.instrument(0, "--plan", "--style", "wrap")
        self.tree("v0.9.1")
        self.edit(self.RUNNER, ("        self.vllm_config = vllm_config", "        x = 1"))
        self.assertIn("does not start with the assignment of self.vllm_config", self.refused("E_FIRST"))
        self.tree("v0.9.1")
        self.edit(self.RUNNER, ("        work('GPUModelRunner.execute_model')", "        if 1:\n          work(1)\n        work(2)"))
        self.assertIn("no multiple of 4", self.refused("E_TABS"))

    def test_of_several_refusals_the_first_of_the_table_is_given(self):
        self.tree("v0.9.1")
        self.edit(self.RUNNER, ("        self.vllm_config = vllm_config", "        x = PrecisionDebugger()"))
        self.assertIn("does not start with", self.refused("E_FIRST"))
        self.edit(self.RUNNER, ("        work('GPUModelRunner.execute_model')", "        if cond('z'):\n            return 1\n"
                                "        work('GPUModelRunner.execute_model')"))
        self.assertIn("has 5 returns", self.refused("E_RETURNS"))

    def test_a_foreign_collector(self):
        self.tree("v0.9.1")
        self.edit(self.RUNNER, ("        self.vllm_config = vllm_config", "        self.vllm_config = vllm_config\n"
                                "        self.debugger = PrecisionDebugger()"))
        self.assertIn("calls a collector already", self.refused("E_FOREIGN"))
        self.assertEqual(self.instrument(1, "--check")["state"], "foreign")

    def test_the_word_in_a_comment_or_text_is_no_collector(self):
        self.tree("v0.9.1")
        self.edit(self.RUNNER, ("        self.vllm_config = vllm_config", "        self.vllm_config = vllm_config  # PrecisionDebugger\n"
                                "        x = 'PrecisionDebugger'"))
        self.instrument(0, "--plan")

    def test_a_collector_of_vllm_ascends_own(self):
        self.tree("v0.12.0")
        self.assertIn("dump_config", self.refused("E_BUILTIN"))

    def test_a_read_only_tree_and_links(self):
        self.tree("v0.9.1")
        os.chmod(self.path("tree", self.RUNNER), 0o444)
        if os.geteuid() != 0:  # root may write it
            self.assertIn("not writable", self.refused("E_PERM"))
        for target in (self.write("outside.py", "x = 1\n"), self.path("tree", self.RUNNER)):
            self.tree("v0.9.1")
            os.remove(self.path("tree", self.RUNNER))
            os.symlink(target, self.path("tree", self.RUNNER))
            self.assertIn("a link that leads out of the tree", self.refused("E_PERM"))

    def test_a_file_of_the_users_own_is_not_replaced(self):
        tree = self.tree("v0.9.1")
        self.write("tree/vllm/ulpscope_hook.py", "mine = True\n")
        self.assertIn("was not made by ulpscope", self.refused("E_TAKEN"))
        self.assertFalse(os.path.exists(os.path.join(tree, ".ulpscope")))

    def test_a_refusal_half_way_leaves_no_folder(self):
        tree = self.tree("v0.9.1")
        # The folder of the original cannot be made: a file has its name.
        self.write("tree/.ulpscope/original/vllm", "in the way\n")
        self.assertEqual(self.instrument(3, "--apply")["refused"], "E_PERM")
        self.assertEqual(os.listdir(os.path.join(tree, ".ulpscope/original")), ["vllm"])

    def test_the_plan_shows_no_control_characters(self):
        self.tree("v0.9.1")
        with open(self.path("tree", self.RUNNER), "a", encoding="utf-8") as file:
            file.write("# \x1b[31m \u202e\n")
        run = self.check(0, "instrument", "--tree", self.path("tree"), "--plan")
        self.assertNotIn("\x1b", run.out)
        self.assertNotIn("\u202e", run.out)

    def test_usage(self):
        self.tree("v0.9.1")
        for words, message in ((["--config", "c.json"], "expected an absolute path"),
                               (["--plan", "--apply"], "--plan and --apply at once"),
                               (["--emit", "direct", "--style", "wrap"], "--emit direct goes with"),
                               (["--ledger-only"], "needs --ledger"), (["--allow-unknown-shape"], "--style wrap only")):
            self.assertIn(message, self.check(2, "instrument", "--tree", self.path("tree"), *words).err)
        self.assertIn("the tree is missing", self.check(2, "instrument").err)
        self.assertIn("neither vllm/ nor vllm_ascend/", self.check(3, "instrument", "--tree", self.folder).err)


class States(InstrumentTest):
    RUNNER = Refusals.RUNNER

    def append(self, text):
        with open(self.path("tree", self.RUNNER), "a", encoding="utf-8") as file:
            file.write(text)

    def test_other_options_replace_the_first(self):
        self.tree("v0.9.1")
        before = content(self.path("tree"))
        self.instrument(0, "--apply")
        self.instrument(0, "--apply", "--style", "wrap", "--engine", "v0")
        with open(self.path("tree", self.RUNNER), "rb") as file:
            self.assertEqual(file.read(), before[self.RUNNER])
        self.instrument(0, "--revert")
        self.assertEqual(content(self.path("tree")), before)

    def test_an_edit_outside_our_blocks_is_refused_and_an_edit_inside_is_broken(self):
        self.tree("v0.9.1")
        self.instrument(0, "--apply")
        self.append("# mine\n")
        self.assertEqual(self.instrument(1, "--check")["state"], "broken")
        self.assertEqual(self.instrument(3, "--revert")["refused"], "E_CHANGED")
        self.assertEqual(self.instrument(3, "--apply", "--style", "wrap")["refused"], "E_CHANGED")

    def test_a_half_removed_block_is_broken(self):
        self.tree("v0.9.1")
        self.instrument(0, "--apply")
        with open(self.path("tree", self.RUNNER), encoding="utf-8") as file:
            lines = file.readlines()
        lines.remove(next(line for line in lines if "<<< ulpscope V1-X.begin" in line))
        with open(self.path("tree", self.RUNNER), "w", encoding="utf-8") as file:
            file.writelines(lines)
        result = self.instrument(1, "--check")
        self.assertEqual(result["state"], "broken")
        self.assertTrue(any("not whole" in line for line in result["lines"]))

    def test_without_manifest_force_takes_whole_blocks_out(self):
        self.tree("v0.9.1")
        before = content(self.path("tree"))
        self.instrument(0, "--apply")
        shutil.rmtree(self.path("tree/.ulpscope"))
        self.assertEqual(self.instrument(3, "--revert")["refused"], "E_CHANGED")
        self.instrument(0, "--revert", "--force")
        self.assertEqual(content(self.path("tree")), before)

    def test_a_manifest_that_points_outside_is_refused(self):
        self.tree("v0.9.1")
        self.write("tree/.ulpscope/manifest.json", '{"files": [{"path": "../x", "before": "", "after": ""}]}')
        self.assertIn("leads out of the tree", self.check(3, "instrument", "--tree", self.path("tree"), "--revert").err)

    def test_line_ends_and_a_missing_last_one_are_kept(self):
        self.tree("v0.9.1")
        path = self.path("tree", self.RUNNER)
        with open(path, "rb") as file:
            text = file.read().replace(b"\n", b"\r\n").rstrip()
        with open(path, "wb") as file:
            file.write(text)
        mode = os.stat(path).st_mode
        self.instrument(0, "--apply", "--device", "gpu")
        with open(path, "rb") as file:
            changed = file.read()
        self.assertEqual(changed.count(b"\n"), changed.count(b"\r\n"))
        self.assertEqual(changed[-20:], text[-20:])
        self.instrument(0, "--revert")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), text)
        self.assertEqual(os.stat(path).st_mode, mode)

    def test_a_tree_edited_between_plan_and_apply(self):
        self.tree("v0.9.1")
        self.instrument(0, "--plan")
        self.append("# later\n")
        before = content(self.path("tree"))
        self.instrument(0, "--apply")
        self.instrument(0, "--revert")
        self.assertEqual(content(self.path("tree")), before)


if __name__ == "__main__":
    runs.main()
