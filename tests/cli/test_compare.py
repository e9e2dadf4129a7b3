"""compare on dumps made on the spot: answers, exit codes, damaged input, and runs that were stopped."""

import csv
import io
import json
import os
import re
import shutil
import struct
import subprocess
import unittest

import runs
import schema
from runs import DATA, RunTest, floats, npy, safetensors

EXAMPLE = os.path.join(os.path.dirname(os.path.dirname(DATA)), "examples", "dumps")


def tensor(values=(1.0, -1.0, 0.1, 2.0), shape=(2, 2), **more):
    leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": list(shape)}
    leaf.update(zip(("Max", "Min", "Mean", "Norm"), values))
    leaf.update({"requires_grad": False}, **more)
    return leaf


def call(*inputs, output):
    return {"input_args": list(inputs), "input_kwargs": {}, "output": [output]}


def dump_text(data, task="statistics", level="L1"):
    return json.dumps({"task": task, "level": level, "framework": "pytorch", "dump_data_dir": None, "data": data}, indent=1)


CHAIN = {
    "Torch.add.0.forward": call(tensor(), output=tensor((3.0, -2.0, 0.2, 4.0))),
    "Torch.mul.0.forward": call(tensor((3.0, -2.0, 0.2, 4.0)), output=tensor((5.0, -3.0, 0.3, 6.0))),
}


class CompareTest(RunTest):
    def dump(self, side, data, rank=0, step=0, **header):
        text = data if isinstance(data, (str, bytes)) else dump_text(data, **header)
        self.write(os.path.join(side, f"step{step}", f"rank{rank}", "dump.json"), text)
        return self.path(side)

    def pair(self, target, golden=None, **header):
        return self.dump("target", target, **header), self.dump("golden", golden or CHAIN, **header)

    def compare(self, code, *words):
        run = self.check(code, "compare", *words, "-o", self.path("out"), "--exact-output")
        result = self.read_json("out", "compare_result.json")
        schema.check(self, result, "compare_result")
        return run, result

    def tensor_dump(self, side, values, name="Torch.relu.0.forward"):
        file = f"{name}.output.0.npy"
        leaf = tensor(shape=(len(values),), data_name=file)
        self.dump(side, {name: call(output=leaf)}, task="tensor")
        return self.write(os.path.join(side, "step0", "rank0", "dump_tensor_data", file),
                          npy("<f4", [len(values)], floats(*values)))


class AnswerTest(CompareTest):
    def test_the_example_names_the_faulty_matmul(self):
        run, result = self.compare(1, os.path.join(EXAMPLE, "target"), os.path.join(EXAMPLE, "golden"))
        culprit = result["localisation"]["culprits"][0]
        self.assertEqual((culprit["op"], culprit["tensor"], culprit["step"], culprit["rank"], culprit["confidence"]),
                         ("Torch.matmul.2.forward", "output.0", 0, 0, "certain"))
        self.assertEqual(result["localisation"]["propagated"], 33)
        self.assertEqual((result["summary"]["pass"], result["summary"]["fail"]), (135, 1))
        self.assertIn("COMPUTE FAULT  Torch.matmul.2.forward", run.out)

    def test_files_without_a_dump_json_have_no_order_that_could_differ(self):
        self.check(0, "convert", os.path.join(EXAMPLE, "target"), "--to", "pt", "-o", self.path("files"), "--exact-output")
        os.remove(self.path("files", "convert.json"))
        run, result = self.compare(0, os.path.join(EXAMPLE, "target"), self.path("files"))
        self.assertEqual(result["localisation"]["verdict"], "identical")
        self.assertIn("their order is not known", run.out)

    def test_a_mapping_option_needs_its_file(self):
        dumps = self.pair(CHAIN)
        for option in ("-dm", "-am", "-lm"):
            self.assertIn("needs a value", self.check(2, "compare", *dumps, option).err)
            self.assertIn("target is a folder, expected a file", self.check(2, "compare", option, *dumps).err)
        self.compare(0, *dumps, "-cm")
        self.assertIn("is a folder, expected a file; to pair modules without one put the option behind the dumps",
                      self.check(2, "compare", "-cm", *dumps).err)

    def test_a_step_that_is_not_there_is_named_with_those_that_are(self):
        dumps = self.pair(CHAIN)
        run = self.check(2, "compare", *dumps, "--step", "7", "-o", self.path("out"))
        self.assertIn("compare: target: option --step: the dump has no step 7, it has step 0", run.err)
        run, _ = self.compare(0, *dumps, "--step", "0,9")
        self.assertIn("warning  target: option --step: the dump has no step 9, it has step 0", run.out)

    def test_equal_dumps_are_identical(self):
        _, result = self.compare(0, *self.pair(CHAIN))
        self.assertEqual(result["localisation"]["verdict"], "identical")
        self.assertEqual(result["summary"]["pass"], 4)

    def test_options_of_the_older_tool_name_the_dumps(self):
        target, golden = self.pair(CHAIN)
        run = self.check(0, "compare", "-m", "auto", "-tp", target, "-gp", golden, "-o", self.path("out"), "-da", "-tensor_log")
        self.assertIn("identical", run.out.lower())

    def test_json_goes_to_stdout_on_request(self):
        target, golden = self.pair(CHAIN)
        run = self.check(0, "compare", target, golden, "--format", "json", "-o", "-", "-q")
        self.assertEqual(json.loads(run.out)["schema"], "ulpscope.compare/1")

    def test_two_arrays_pair_whatever_their_names(self):
        a = self.write("a.npy", npy("<f4", [3], floats(1, 2, 3)))
        b = self.write("b.npy", npy("<f4", [3], floats(1.5, 3, 4)))
        _, result = self.compare(1, a, b)
        self.assertEqual(result["rows"][0]["metrics"]["max_abs_err"], 1.0)
        self.assertEqual(result["localisation"]["culprits"], [])

    def test_two_arrays_show_their_numbers(self):
        a = self.write("a.npy", npy("<f4", [3], floats(1, 2, 3)))
        b = self.write("b.npy", npy("<f4", [3], floats(1.5, 3, 3)))
        run, _ = self.compare(1, a, b)
        self.assertRegex(run.out, r"(?m)^target  .*a\.npy   tensor_files · tensor · 1 tensor$")
        self.assertNotIn("L1", run.out)
        # 2 of 3 differ; the largest error is |2 - 3|; the norm of (-0.5, -1, 0) over that of (1.5, 3, 3) is 0.248
        self.assertRegex(run.out, r"differs in 67 % of 3 elements; max_abs_err 1\.0e\+00; cosine 0\.979958;\s+rel_l2 2\.5e-01")

    def test_arrays_of_other_formats_are_rounding_and_say_both(self):
        # 0.1 in half precision is 0.0999755859375.
        a = self.write("a.npy", npy("<f4", [2], floats(1, 0.1)))
        b = self.write("b.npy", npy("<f2", [2], struct.pack("<2e", 1, 0.1)))
        run, result = self.compare(0, a, b)
        self.assertEqual(result["localisation"]["verdict"], "rounding")
        self.assertEqual((result["rows"][0]["judged"], result["rows"][0]["verdict"]), ("fail", "pass"))
        self.assertIn("differs in 50 % of 2 elements; float32 against float16", run.out)

    def test_the_judgement_of_two_arrays_is_the_verdict(self):
        # 1.0002 is 1 678 units in the last place off, and far from what one rounding leaves.
        a = self.write("a.npy", npy("<f4", [2], floats(1.0002, 1)))
        b = self.write("b.npy", npy("<f4", [2], floats(1, 1)))
        for judgement, judged, code in (("ulp", "fail", 1), ("benchmark", "skip", 3), ("double_thousandth", "pass", 0)):
            run = self.check(code, "compare", a, b, "--judge", judgement, "--format", "json", "-o", "-")
            row = json.loads(run.out)["rows"][0]
            self.assertEqual((row["judged"], row["verdict"]), (judged, judged), judgement)

    def test_a_row_that_fails_stands_in_the_headline(self):
        a = self.write("a.npy", npy("<f4", [2], floats(1e-9, 1e-9)))
        b = self.write("b.npy", npy("<f4", [2], floats(0, 0)))
        run, result = self.compare(1, a, b)
        self.assertEqual(result["localisation"]["verdict"], "inconclusive")
        self.assertIn("\nINCONCLUSIVE, 1 ROW FAILS\n", run.out)
        self.assertIn("1 row fails by itself: a output.0: cosine is undefined", run.out)

    def test_an_array_that_cannot_be_read_is_told_with_its_reason(self):
        good = self.write("good.npy", npy("<f4", [2], floats(1, 2)))
        run, result = self.compare(3, os.path.join(DATA, "npy", "object.npy"), good)
        self.assertIn("warning  target: object.npy: an object array", run.out)
        self.assertRegex(result["rows"][0]["message"], r"^target cannot be read: .*object\.npy: an object array")
        self.assertNotIn("none against", run.out)

    def test_folders_of_arrays_show_what_does_not_pass(self):
        for side, last in (("target", 4), ("golden", 3)):
            self.write(f"{side}/same.npy", npy("<f4", [2], floats(1, 2)))
            self.write(f"{side}/other.npy", npy("<f4", [2], floats(1, last)))
            self.write(f"{side}/manifest.json", "{}")
        run, _ = self.compare(1, self.path("target"), self.path("golden"))
        self.assertIn("other: output differs in 50 % of 2 elements; max_abs_err 1.0e+00", run.out)
        self.assertNotIn("same:", run.out)

    def test_ranks_recorded_with_different_tasks_are_told(self):
        target, golden = self.pair(CHAIN)
        for side in ("target", "golden"):
            self.dump(side, {"Torch.add.0.forward": call(tensor(md5="0011aabb"), output=tensor(md5="0011aabb"))}, rank=1)
        run, result = self.compare(0, target, golden)
        self.assertIn("note: the ranks of target were recorded with different tasks: checksums by rank 1; statistics by rank 0",
                      " ".join(run.out.split()))
        self.assertEqual(len([n for n in result["notices"] if "different tasks" in n]), 2)

    def test_the_next_step_names_the_numbers_of_both_sides(self):
        changed = dict(CHAIN, **{"Torch.mul.0.forward": call(tensor((3.0, -2.0, 0.2, 4.0)), output=tensor((9.0, -3.0, 0.9, 9.0)))})
        self.dump("target", changed, step=5)
        self.dump("golden", CHAIN, step=2)
        _, result = self.compare(1, self.path("target"), self.path("golden"))
        steps = result["localisation"]["culprits"][0]["next"][0]
        self.assertIn('target "task": "tensor", "step": [5]', steps)
        self.assertIn('golden "task": "tensor", "step": [2]', steps)

    def test_statistics_are_said_once(self):
        changed = dict(CHAIN, **{"Torch.mul.0.forward": call(tensor((3.0, -2.0, 0.2, 4.0)), output=tensor((9.0, -3.0, 0.9, 9.0)))})
        run, _ = self.compare(1, *self.pair(changed))
        self.assertIn("max 9 against 5", run.out)
        self.assertNotIn("target 9, golden 5", run.out)

    def test_an_alias_in_a_file_of_the_user_is_refused(self):
        target, golden = self.pair(CHAIN)
        bomb = self.write("bomb.yaml", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n")
        for option in ("--baseline", "--mapping", "-dm", "-lm"):
            with self.subTest(option):
                run = self.check(2, "compare", target, golden, "-o", self.path("out"), option, bomb)
                self.assertIn("bomb.yaml:2:8: an alias, expected plain text", run.err)

    def test_an_existing_result_is_never_overwritten(self):
        target, golden = self.pair(CHAIN)
        self.compare(0, target, golden)
        run = self.check(2, "compare", target, golden, "-o", self.path("out"), "--exact-output")
        self.assertIn("holds a result", run.err)

    def test_fail_on_and_strict_decide_the_exit_code(self):
        extra = dict(CHAIN, **{"Torch.relu.0.forward": call(tensor((5.0, -3.0, 0.3, 6.0)), output=tensor((5.0, 0.0, 0.3, 6.0)))})
        target, golden = self.pair(extra)
        self.check(0, "compare", target, golden, "-o", self.path("a"))
        self.check(1, "compare", target, golden, "-o", self.path("b"), "--strict")
        a, b = os.path.join(EXAMPLE, "target"), os.path.join(EXAMPLE, "golden")
        self.check(0, "compare", a, b, "-o", self.path("c"), "--fail-on", "never")

    def test_an_accepted_difference_is_listed_and_not_counted(self):
        baseline = self.write("accepted.yaml", "accept:\n  - {op: 'Torch.matmul.2.*', why: other kernel}\n")
        _, result = self.compare(0, os.path.join(EXAMPLE, "target"), os.path.join(EXAMPLE, "golden"), "--baseline", baseline)
        row = next(r for r in result["rows"] if r["op"] == "Torch.matmul.2.forward" and r["tensor"] == "output.0")
        self.assertEqual((row["judged"], row["verdict"]), ("fail", "pass"))
        self.assertIn("other kernel", row["message"])

    def test_an_accepted_culprit_says_so_in_its_headline(self):
        baseline = self.write("accepted.yaml", "accept:\n  - {op: 'Torch.matmul.2.*', why: other kernel}\n  - {op: nobody, why: gone}\n")
        run, _ = self.compare(0, os.path.join(EXAMPLE, "target"), os.path.join(EXAMPLE, "golden"), "--baseline", baseline)
        headline = next(line for line in run.out.splitlines() if line.startswith("COMPUTE FAULT"))
        self.assertTrue(headline.endswith(" accepted"), headline)
        self.assertIn("accepted.yaml:3:5: accepts nothing that fails or warns in this run", run.err)

    def test_a_judgement_that_could_not_be_applied_is_told(self):
        run = self.check(0, "compare", *self.pair(CHAIN), "-o", self.path("out"), "--judge", "ulp")
        self.assertIn("4 tensors are judged by similarity: only their statistics are recorded", run.err)
        for side in ("a.npy", "b.npy"):
            self.write(side, npy("<f4", [2], floats(1, 2)))
        run = self.check(0, "compare", self.path("a.npy"), self.path("b.npy"), "-o", self.path("out"), "--judge", "quantised")
        self.assertIn("1 tensor is judged by similarity: quantised does not apply", run.err)

    def test_equal_arrays_have_no_numbers_to_tell(self):
        for side in ("a.npy", "b.npy"):
            self.write(side, npy("<f4", [2], floats(1, 2)))
        run = self.check(0, "compare", self.path("a.npy"), self.path("b.npy"), "-o", self.path("out"))
        self.assertNotIn("differs in", run.out)

    def test_rows_behind_a_fault_say_why_they_differ(self):
        _, result = self.compare(1, os.path.join(EXAMPLE, "target"), os.path.join(EXAMPLE, "golden"))
        inherited = [row for row in result["rows"] if row.get("cause") == "inherited"]
        self.assertGreater(len(inherited), 30)
        self.assertEqual([row for row in inherited if not row["message"]], [])

    def test_a_reference_stands_beside_the_two_sides(self):
        target, golden = os.path.join(EXAMPLE, "target"), os.path.join(EXAMPLE, "golden")
        run = self.check(1, "compare", target, golden, "-o", self.path("out"), "-rp", golden)
        self.assertIn("\nreference  ", run.out)

    def test_a_baseline_without_reason_is_a_usage_error_with_its_place(self):
        baseline = self.write("accepted.yaml", "accept:\n  - {op: 'Torch.*'}\n")
        run = self.check(2, "compare", *self.pair(CHAIN), "-o", self.path("out"), "--baseline", baseline)
        self.assertIn("accepted.yaml:2:5: an accepted difference needs a reason", run.err)

    def test_explain_prints_the_numbers_that_decided(self):
        run = self.check(1, "compare", os.path.join(EXAMPLE, "target"), os.path.join(EXAMPLE, "golden"), "-o",
                         self.path("out"), "--explain", "Torch.matmul.2.*")
        self.assertIn("Torch.matmul.2.forward  step 0  rank 0  culprit", run.out)

    def test_another_index_tells_the_values_that_it_stands_for(self):
        for beside in ["relu", "matmul"]:  # calls that say nothing of how the runs compute, and ones that agree bit for bit
            self.check_another_index(beside)

    def check_another_index(self, beside):
        def side(name, index, values):
            leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4], "Max": 3.0, "Min": 0.0, "Mean": 1.0,
                    "Norm": 4.0, "requires_grad": False, "data_name": "in.npy"}
            chosen = dict(leaf, dtype="torch.int64", shape=[1], data_name="out.npy")
            more = {"Torch.%s.%d.forward" % (beside, i): runs.call([leaf], [leaf]) for i in range(4)}
            calls = dict(more, **{"Torch.argmax.0.forward": runs.call([leaf], [chosen])})
            self.write(name + "/step0/rank0/dump.json", runs.dump_json(calls, task="tensor"))
            self.write(name + "/step0/rank0/dump_tensor_data/in.npy", npy("<f4", (4,), floats(*values)))
            self.write(name + "/step0/rank0/dump_tensor_data/out.npy", npy("<i8", (1,), struct.pack("<q", index)))
        side("t", 2, (1, 3, 3, 0))
        side("g", 1, (1, 3, 3, 0))
        run = self.check(1, "compare", "t", "g", "-o", "out")
        self.assertIn("    tie: Torch.argmax.0.forward output.0 of step 0: golden's values at the indexes 2 and 1 are both 3: "
                      "a tie, either may be taken\n", run.out)
        self.assertNotIn("FAULT", run.out)
        side("t", 0, (1, 3, 3, 0))
        run = self.check(1, "compare", "t", "g", "-o", "out")
        self.assertIn("COMPUTE FAULT", run.out)
        self.assertIn("    golden's values at the indexes 0 and 1 are 1 and 3\n", run.out)
        self.assertNotIn("cosine", run.out)
        self.assertNotIn("rel_l2", run.out)

    def test_explain_keeps_to_the_width_of_the_terminal(self):
        import terminal
        out = terminal.run(80, "compare", "-q", EXAMPLE + "/target", EXAMPLE + "/golden", "-o", self.path("out"),
                           "--explain", "Torch.matmul.2.*")[1]
        told = out[out.index("\nTorch.matmul.2.forward  step 0"):]
        self.assertTrue(all(len(line) <= 80 for line in told.splitlines()), told)
        self.assertRegex(told, r"(?m)^  group    \d+ calls of matmul: .*\n           deviation ")


class DamagedInputTest(CompareTest):
    def test_missing_folder_is_exit_3(self):
        run = self.check(3, "compare", self.path("none"), self.dump("golden", CHAIN), "-o", self.path("out"))
        self.assertIn("none: No such file or directory", run.err)

    def test_a_folder_that_is_no_dump_is_exit_2_with_reasons(self):
        os.makedirs(self.path("photos"))
        self.write("photos/x.txt", "hello")
        run = self.check(2, "compare", self.path("photos"), self.dump("golden", CHAIN), "-o", self.path("out"))
        self.assertIn("torch_api", run.err)

    def test_an_empty_folder_is_missing_input(self):
        os.makedirs(self.path("none"))
        run = self.check(3, "compare", self.path("none"), self.dump("golden", CHAIN), "-o", self.path("out"))
        self.assertIn("none: the folder is empty, expected a dump", run.err)

    def test_what_stands_in_place_of_a_dump_json_is_named(self):
        self.dump("golden", CHAIN)
        for kind, words in (("fifo", "is a FIFO, not a regular file"), ("folder", "is a folder, expected a file"),
                            ("loose", "No such file or directory"),
                            ("link", "leaves the dump through a symbolic link; --source-option follow_links=true reads it")):
            with self.subTest(kind):
                file = self.path(kind, "step0", "rank0", "dump.json")
                os.makedirs(os.path.dirname(file))
                if kind == "fifo":
                    os.mkfifo(file)
                elif kind == "folder":
                    os.makedirs(file)
                else:
                    os.symlink(self.path("golden", "step0", "rank0", "dump.json") if kind == "link" else "nowhere", file)
                run = self.check(3, "list", self.path(kind))
                self.assertIn("step0/rank0/dump.json: ", run.err)
                self.assertIn(words, run.err)
                self.assertEqual(run.err.count("rank0/dump.json: "), 1, run.err)
        for command in ("list", "overflow"):
            self.check(0, command, self.path("link"), "--source-option", "follow_links=true")
        os.symlink("dump.json", self.path("golden", "step0", "rank0", "debug.json"))
        self.check(0, "list", self.path("golden"))

    def test_every_reader_of_dumps_takes_options_of_the_source(self):
        text = dump_text(CHAIN)
        cut = text.index('"Torch.mul.0.forward"') + 40
        self.dump("target", text[:cut])
        run = self.check(3, "list", self.path("target"))
        self.assertIn("--source-option salvage=true keeps the 1 entries before it", run.err)
        for words in (["list"], ["overflow"]):
            with self.subTest(words[0]):
                self.check(0, words[0], self.path("target"), "--source-option", "salvage=true")
        run = self.check(0, "show", self.path("target"), "Torch.add.0.forward output.0", "--source-option", "salvage=true")
        self.assertIn("Torch.add.0.forward", run.out)
        run = self.check(3, "convert", self.path("target"), "--source-option", "salvage=true")
        self.assertIn("the dump holds no data of 2 tensors", run.err)
        run = self.check(2, "list", self.path("target"), "--source-option", "salvag=true")
        self.assertIn("torch_api has no option 'salvag' (did you mean 'salvage'?)", run.err)
        self.assertIn("expected NAME=VALUE", self.check(2, "list", self.path("target"), "--source-option", "salvage").err)

    def test_a_cut_off_dump_is_exit_3_and_names_the_byte(self):
        text = dump_text(CHAIN)
        run = self.check(3, "compare", *self.pair(text[:len(text) // 2]), "-o", self.path("out"))
        self.assertIn("byte", run.err + run.out)

    def test_one_bad_rank_does_not_stop_the_others(self):
        target, golden = self.pair(CHAIN)
        self.dump("target", "{ not json", rank=1)
        self.dump("golden", CHAIN, rank=1)
        run, result = self.compare(3, target, golden)
        self.assertEqual(result["summary"]["pass"], 4)
        self.assertEqual(result["localisation"]["verdict"], "inconclusive")
        self.assertIn("a part of the dumps could not be read; the rest has equal values", " ".join(run.out.split()))
        self.assertTrue(any("rank1" in d["where"] for d in result["diagnostics"]))

    def test_nan_tokens_are_values(self):
        nan = dict(CHAIN, **{"Torch.mul.0.forward": call(tensor((3.0, -2.0, 0.2, 4.0)), output=tensor((float("nan"),) * 4))})
        _, result = self.compare(1, *self.pair(nan))
        self.assertEqual(result["localisation"]["culprits"][0]["op"], "Torch.mul.0.forward")

    def test_duplicate_keys_lose_no_row(self):
        text = dump_text(CHAIN).replace("Torch.mul.0.forward", "Torch.add.0.forward")
        _, result = self.compare(0, *self.pair(text, text))
        self.assertEqual(len(result["rows"]), 4)
        self.assertGreater(result["summary"]["diagnostics"], 0)

    def test_deep_nesting_ends_in_an_error_not_a_crash(self):
        deep = "[" * 10000 + "]" * 10000
        text = dump_text(CHAIN).replace('"input_kwargs": {}', '"input_kwargs": {"a": %s}' % deep, 1)
        run = self.run_program("compare", *self.pair(text), "-o", self.path("out"))
        self.assertIn(run.code, (0, 1, 3))
        self.assertIn("64", run.out + run.err)

    def test_a_missing_data_file_is_never_a_pass(self):
        os.remove(self.tensor_dump("target", [1, 2, 3]))
        self.tensor_dump("golden", [1, 2, 3])
        _, result = self.compare(3, self.path("target"), self.path("golden"))
        self.assertEqual((result["rows"][0]["verdict"], result["rows"][0]["absent"]), ("skip", "bad"))
        self.assertIn("No such file", result["rows"][0]["message"])

    def test_a_truncated_data_file_is_never_a_pass(self):
        file = self.tensor_dump("target", [1, 2, 3])
        self.tensor_dump("golden", [1, 2, 3])
        os.truncate(file, os.path.getsize(file) - 4)
        _, result = self.compare(3, self.path("target"), self.path("golden"))
        self.assertEqual(result["rows"][0]["verdict"], "skip")
        self.assertEqual(result["diagnostics"][0]["severity"], "error")

    def test_a_statistic_of_one_side_alone_is_never_a_pass(self):
        for value, kind in (("abc", "text"), (None, "null"), ({}, "object"), ([1], "list")):
            with self.subTest(kind):
                bad = dict(CHAIN, **{"Torch.add.0.forward": call(tensor(Max=value), output=tensor((3.0, -2.0, 0.2, 4.0)))})
                shutil.rmtree(self.path("out"), ignore_errors=True)
                run, result = self.compare(3, *self.pair(bad))
                row = result["rows"][0]
                self.assertEqual((row["verdict"], row["message"]), ("skip", "max is recorded in golden alone"))
                self.assertEqual(result["localisation"]["verdict"], "inconclusive")
                self.assertIn("Torch.add.0.forward input.0: max is recorded in golden alone", run.out)
                self.assertEqual("statistics are no numbers" in run.out, value is not None)

    def test_the_mean_of_integers_may_be_recorded_on_one_side(self):
        leaf = tensor(dtype="torch.int64")
        data = {"Torch.add.0.forward": call(leaf, output=leaf)}
        newer = {"Torch.add.0.forward": call(dict(leaf, Mean=None), output=dict(leaf, Mean=None))}
        self.compare(0, *self.pair(newer, data))

    def test_a_checksum_of_one_side_alone_is_told(self):
        data = {"Torch.add.0.forward": call(tensor(md5="0011aabb"), output=tensor(md5="0011aabb"))}
        bad = {"Torch.add.0.forward": call(tensor(md5=5), output=tensor(md5=[]))}
        _, result = self.compare(0, *self.pair(bad, data))
        self.assertIn("compared by statistics: ", result["rows"][1]["message"])

    def test_a_data_name_that_is_no_text_is_never_a_pass(self):
        for value in (5, [], {}, None, ""):
            with self.subTest(value):
                for side in ("target", "golden"):
                    self.tensor_dump(side, [1, 2, 3])
                self.dump("target", {"Torch.relu.0.forward": call(output=tensor(shape=(3,), data_name=value))}, task="tensor")
                shutil.rmtree(self.path("out"), ignore_errors=True)
                run, result = self.compare(3, self.path("target"), self.path("golden"))
                self.assertEqual(result["rows"][0]["verdict"], "skip")
                self.assertIn("data_name is no name of a file", run.out)

    def test_what_was_asked_for_and_is_not_recorded_is_no_success(self):
        run = self.check(3, "compare", os.path.join(EXAMPLE, "target"), os.path.join(EXAMPLE, "golden"), "-o", self.path("out"),
                         "--data", "digest")
        self.assertIn("no tensor could be compared", run.out)

    def test_a_rank_of_another_task_is_told(self):
        target, golden = self.pair(CHAIN)
        self.dump("target", CHAIN, rank=1)
        self.dump("golden", CHAIN, rank=1, task="tensor")
        run, _ = self.compare(0, target, golden)
        self.assertIn("golden: step0/rank1/dump.json: its task is tensor, that of step0/rank0/dump.json is statistics",
                      " ".join(run.out.split()))

    def test_a_data_name_that_leaves_the_dump_is_not_opened(self):
        for side in ("target", "golden"):
            self.tensor_dump(side, [1, 2, 3])
            self.dump(side, {"Torch.relu.0.forward": call(output=tensor(shape=(3,), data_name="../../../../outside.npy"))},
                      task="tensor")
        self.write("outside.npy", npy("<f4", [3], floats(1, 2, 3)))
        _, result = self.compare(3, self.path("target"), self.path("golden"))
        self.assertEqual(result["rows"][0]["verdict"], "skip")
        self.assertIn("leaves the dump", json.dumps(result["diagnostics"]))

    def test_a_symbolic_link_out_of_the_dump_is_not_followed(self):
        for side in ("target", "golden"):
            file = self.tensor_dump(side, [1, 2, 3])
            shutil.move(file, self.path(side + "_outside.npy"))
            os.symlink(self.path(side + "_outside.npy"), file)
        _, result = self.compare(3, self.path("target"), self.path("golden"))
        self.assertEqual(result["rows"][0]["verdict"], "skip")
        self.assertIn("leaves the dump", result["rows"][0]["message"])

    def test_a_fifo_in_place_of_a_data_file_does_not_hang(self):
        file = self.tensor_dump("target", [1, 2, 3])
        self.tensor_dump("golden", [1, 2, 3])
        os.remove(file)
        os.mkfifo(file)
        _, result = self.compare(3, self.path("target"), self.path("golden"))
        self.assertIn("not a regular file", result["rows"][0]["message"])

    def test_control_characters_reach_neither_table_nor_terminal_and_the_next_command_runs(self):
        name = "Torch.a\x01\x1b[31m 'b\\.0.forward"
        for side, value in (("target", 9), ("golden", 3)):
            self.dump(side, {name: call(tensor(shape=(2,), data_name="in.npy"), output=tensor(shape=(2,), data_name="out.npy"))},
                      task="tensor")
            for file, numbers in (("in", (1, 2)), ("out", (1, value))):
                self.write(f"{side}/step0/rank0/dump_tensor_data/{file}.npy", npy("<f4", [2], floats(*numbers)))
        run, _ = self.compare(1, "target", "golden")
        with open(self.path("out", "compare_result.csv"), "rb") as file:
            table = file.read()
        self.assertIn(b"Torch.a\\x01\\x1b[31m 'b\\.0.forward", table)
        self.assertNotRegex(table, b"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
        command = re.search("next: (ulpscope show .*)", run.out).group(1)
        self.assertIn(r"$'Torch.a\x01\x1b[31m '", command)
        shown = subprocess.run(["bash", "-c", command.replace("ulpscope", runs.PROGRAM, 1)], stdout=subprocess.PIPE, cwd=self.folder)
        self.assertEqual(shown.returncode, 0)

    def test_memory_that_no_worker_could_run_in_is_refused(self):
        self.tensor_dump("target", [1, 2, 3])
        run = self.check(2, "compare", self.path("target"), self.path("target"), "--memory", "1", "--jobs", "2")
        self.assertIn("--memory: 1 B, expected at least 131 kB, 66 kB for each of 2 workers (--jobs)", run.err)
        self.check(0, "compare", self.path("target"), self.path("target"), "--memory", "132K", "--jobs", "2", "-o", "small")

    def test_a_baseline_that_cannot_be_read_is_a_wrong_option(self):
        self.tensor_dump("target", [1, 2, 3])
        for option in ("--baseline", "--policy"):
            run = self.check(2, "compare", self.path("target"), self.path("target"), option, "none.yaml", "-o", "out")
            self.assertIn("none.yaml: No such file or directory", run.err)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_plain_files_that_pass_without_agreeing_name_the_pair_that_is_farthest_off(self):
        values = [float(i + 1) for i in range(64)]
        for name, last in (("a", 64), ("b", 64.5), ("c", 66.5)):
            self.write(f"golden/{name}.npy", npy("<f4", [64], floats(*values)))
            self.write(f"target/{name}.npy", npy("<f4", [64], floats(*values[:-1], last)))
        run = self.check(0, "compare", self.path("target"), self.path("golden"), "-o", "out")
        self.assertIn("INCONCLUSIVE", run.out)
        self.assertIn("farthest off is c: output differs in 2 % of 64 elements; max_abs_err 2.5e+00", run.out)

    def test_a_folder_of_npy_pairs_with_the_same_names_in_another_format(self):
        for name in ("a", "b.0"):
            self.write(f"npy/{name}.npy", npy("<f4", [3], floats(1, 2, 3)))
            self.write(f"other/{name}.safetensors", safetensors({"tensor": ("F32", [3], floats(1, 2, 3))}))
        run = self.check(0, "compare", self.path("npy"), self.path("other"), "-o", "out")
        self.assertIn("2 rows matched exactly · 0 only in target · 0 only in golden", run.out)

    def test_what_convert_writes_is_compared_without_a_word_about_its_kind(self):
        self.tensor_dump("target", [1, 2, 3])
        for format_name in ("npy", "pt", "safetensors"):
            self.check(0, "convert", self.path("target"), "--to", format_name, "-o", self.path(format_name), "--exact-output")
        for format_name in ("npy", "pt", "safetensors"):
            run = self.check(0, "compare", self.path("npy"), self.path(format_name), "-o", "out")
            self.assertIn("1 row matched exactly", run.out.replace("1 rows", "1 row"))

    def test_a_name_that_is_a_formula_is_neutral_in_the_csv(self):
        data = {"=cmd|calc.0.forward": call(tensor(), output=tensor())}
        self.compare(0, *self.pair(data, data))
        with open(self.path("out", "compare_result.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(io.StringIO(file.read())))
        self.assertEqual(rows[0]["op"], "'=cmd|calc.0.forward")

    def test_different_tasks_step_down_with_both_sides_statistics(self):
        self.tensor_dump("target", [1, 2, 3])
        self.dump("golden", {"Torch.relu.0.forward": call(output=tensor(shape=(3,)))})
        _, result = self.compare(0, self.path("target"), self.path("golden"))
        self.assertEqual(result["rows"][0]["verdict"], "pass")


class StoppedRunTest(CompareTest):
    def make_folders(self):
        for side, last in (("target", 4), ("golden", 3)):
            for i in range(6):
                self.write(f"{side}/t{i}.npy", npy("<f4", [4], floats(1, 2 * last, 3 * last, last) if i == 5 else floats(1, 2, 3, 3)))
        return self.path("target"), self.path("golden")

    def reports(self, folder):
        texts = []
        for name in ("compare_result.json", "compare_result.csv"):
            with open(self.path(folder, name), encoding="utf-8") as file:
                texts.append(file.read())
        return texts

    def test_a_resumed_run_writes_the_same_bytes(self):
        target, golden = self.make_folders()
        words = ["compare", target, golden, "-o", "whole", "--exact-output"]
        self.check(1, *words)
        with open(self.path("whole", "journal.jsonl"), encoding="utf-8") as file:
            lines = file.readlines()
        for kept in (1, 3, len(lines)):
            with self.subTest(lines=kept):
                shutil.rmtree(self.path("cut"), ignore_errors=True)
                self.write("cut/journal.jsonl", "".join(lines[:kept]) + '{"row":2,"metr')
                self.check(1, "compare", "--resume", "cut")
                self.assertEqual(self.reports("cut"), self.reports("whole"))

    def test_a_file_that_changed_since_is_measured_again(self):
        target, golden = self.make_folders()
        self.check(1, "compare", target, golden, "-o", "whole", "--exact-output")
        with open(self.path("whole", "journal.jsonl"), encoding="utf-8") as file:
            journal = file.read()
        name = sorted(name for name in os.listdir(target) if name.endswith(".npy"))[0]
        with open(os.path.join(target, name), "r+b") as file:
            file.seek(-4, os.SEEK_END)
            last = file.read(4)
            file.seek(-4, os.SEEK_END)
            file.write(bytes(255 - byte for byte in last))
        self.check(1, "compare", target, golden, "-o", "fresh", "--exact-output")
        self.write("cut/journal.jsonl", journal)
        run = self.check(1, "compare", "--resume", "cut")
        self.assertIn("1 pair is measured again: their files may have changed since the run began",
                      run.err + self.reports("cut")[0])
        rows = [json.loads(self.reports(folder)[0])["rows"] for folder in ("cut", "fresh")]
        self.assertEqual(*rows)

    def test_a_finished_run_is_complete(self):
        target, golden = self.make_folders()
        self.check(1, "compare", target, golden, "-o", "whole", "--exact-output")
        before = self.reports("whole")
        run = self.check(1, "compare", "--resume", "whole")
        self.assertIn("whole: the run is complete, its reports stay as they are", run.err)
        self.assertIn("fail 1", run.out)
        self.assertEqual(self.reports("whole"), before)

    def test_reports_of_files_that_changed_since_are_left_and_the_way_on_is_told(self):
        target, golden = self.make_folders()
        self.check(1, "compare", target, golden, "-o", "whole", "--exact-output")
        before = self.reports("whole")
        self.write("target/t5.npy", npy("<f4", [4], floats(1, 6, 9, 3)))
        late = os.stat(self.path("whole", "journal.jsonl")).st_mtime + 10
        os.utime(self.path("target/t5.npy"), (late, late))
        run = self.check(2, "compare", "--resume", "whole")
        self.assertIn("--resume: whole: its reports are of files that have changed since (1 measured again), and a result is "
                      "never overwritten: compare into another folder", run.err)
        self.assertEqual(self.reports("whole"), before)

    def test_a_report_that_is_missing_is_written_again(self):
        target, golden = self.make_folders()
        self.check(1, "compare", target, golden, "-o", "whole", "--exact-output")
        before = self.reports("whole")
        os.remove(self.path("whole", "compare_result.csv"))
        run = self.check(1, "compare", "--resume", "whole")
        self.assertNotIn("complete", run.err)
        self.assertEqual(self.reports("whole"), before)

    def test_a_changed_journal_line_is_measured_again(self):
        target, golden = self.make_folders()
        self.check(1, "compare", target, golden, "-o", "whole", "--exact-output")
        with open(self.path("whole", "journal.jsonl"), encoding="utf-8") as file:
            lines = file.readlines()
        numbers = [json.loads(line)["row"] for line in lines[1:]]
        # The metrics of another pair under this number, and a flipped digit.
        swapped = lines[1].replace('"row":%d,' % numbers[0], '"row":%d,' % numbers[-1])
        flipped = lines[2].replace("0", "1", 5)
        self.write("cut/journal.jsonl", lines[0] + swapped + flipped)
        self.check(1, "compare", "--resume", "cut")
        self.assertEqual(self.reports("cut"), self.reports("whole"))

    def test_a_journal_of_something_else_is_refused(self):
        target, golden = self.make_folders()
        self.check(1, "compare", target, golden, "-o", "first", "--exact-output")
        os.remove(self.path("first", "compare_result.json"))
        run = self.check(2, "compare", golden, golden, "--resume", "first")
        self.assertIn("belongs to a comparison of other dumps", run.err)

    def test_a_folder_without_journal_cannot_be_resumed(self):
        os.makedirs(self.path("empty"))
        self.check(3, "compare", "--resume", "empty")


if __name__ == "__main__":
    unittest.main()
