"""list: overview, tables, csv, json, hostile names and wrong paths."""

import csv
import io
import json
import os

import runs
from runs import call, dump_json, floats, npy, number, tensor


class List(runs.RunTest):
    def small_dump(self):
        calls = {
            "Torch.matmul.0.forward": call([tensor((2, 5)), tensor((5, 3))], [tensor((2, 3))], alpha=number(2)),
            "Distributed.all_reduce.0.forward": call([tensor((2, 3), dtype="torch.bfloat16")], [tensor((2, 3))]),
        }
        self.write("dump/step3/rank1/dump.json", dump_json(calls))
        self.write("dump/step5/rank0/dump.json", dump_json(calls))
        return self.path("dump")

    def test_overview_and_operations(self):
        run = self.check(0, "list", self.small_dump())
        self.assertRegex(run.out, r"(?m)^source +torch_api  \(.+\)$")
        self.assertRegex(run.out, r"(?m)^holds +statistics, level L1$")
        self.assertRegex(run.out, r"(?m)^steps +3,5$")
        self.assertRegex(run.out, r"(?m)^ranks +0,1$")
        self.assertRegex(run.out, r"(?m)^ops +4$")
        self.assertRegex(run.out, r"(?m)^tensors +10 and 2 other arguments$")
        self.assertRegex(run.out, r"(?m)^data +none recorded$")
        self.assertRegex(run.out, r"(?m)^dtypes +bfloat16 2, float32 8$")
        self.assertRegex(run.out, r"(?m)^ +3 +1  Torch\.matmul\.0\.forward +api +2 +1 +0  float32 \[2, 3\]$")
        self.assertRegex(run.out, r"(?m)^ +5 +0  Distributed\.all_reduce\.0\.forward +communication +1 +1 +0")

    def test_checksums_are_named_beside_statistics(self):
        leaf = tensor((2, 3), md5="0011aabb")
        self.write("md5/step0/rank0/dump.json", dump_json({"Torch.a.0.forward": call([leaf], [leaf])}))
        self.assertRegex(self.check(0, "list", self.path("md5")).out, r"(?m)^holds +statistics and checksums, level L1$")

    def test_a_table_fits_the_terminal_and_says_what_it_leaves_out(self):
        import terminal
        code, out = terminal.run(80, "list", self.small_dump(), "--tensors")
        self.assertEqual(code, 0, out)
        self.assertTrue(all(len(line) <= 80 for line in out.splitlines() if "too wide" not in line), out)
        self.assertIn("too wide for this terminal: ", out)
        self.assertIn("Torch", out)
        code, out = terminal.run(80, "plugins", "list")
        self.assertNotIn("…", out)

    def test_a_name_of_many_lines_is_shortened_on_a_terminal_alone(self):
        import terminal
        name = "Torch." + "m" * 10000 + ".0.forward"
        calls = {name: call([tensor()], [tensor()]), "Torch.relu.0.forward": call([tensor()], [tensor()])}
        self.write("long/step0/rank0/dump.json", dump_json(calls))
        out = terminal.run(80, "list", self.path("long"), "--ops")[1]
        self.assertRegex(out, r"(?m)^ +0 +0  Torch\.m+…m+\.0\.forward")
        self.assertTrue(all(len(line) <= 80 for line in out.splitlines() if "too wide" not in line), out)
        self.assertIn(name, self.check(0, "list", self.path("long")).out)

    def test_tensors_say_where_their_bytes_lie_or_why_there_are_none(self):
        def leaf(name):
            return tensor((2,), data_name=name)
        calls = {"Torch.relu.0.forward": call([leaf("here.npy")], [leaf("gone.npy")]),
                 "Torch.norm.0.forward": call([tensor()], [])}
        self.write("d/step0/rank0/dump.json", dump_json(calls, task="tensor"))
        self.write("d/step0/rank0/dump_tensor_data/here.npy", npy("<f4", (2,), floats(1, 2)))
        rows = json.loads(self.check(0, "list", self.path("d"), "--tensors", "--format", "json").out)["tensor_rows"]
        data = [row["data"] for row in rows]
        self.assertEqual(data[0], "step0/rank0/dump_tensor_data/here.npy +128 8 B")
        self.assertRegex(data[1], r"^unreadable: .*gone\.npy: ")
        self.assertEqual(data[2], "none")

    def test_csv_holds_no_control_characters(self):
        calls = {"Torch.\x1b[31m\u202ea.0.forward": call([tensor()], [tensor()])}
        self.write("odd/step0/rank0/dump.json", dump_json(calls))
        run = self.check(0, "list", self.path("odd"), "--format", "csv")
        self.assertNotIn("\x1b", run.out)
        self.assertNotIn("\u202e", run.out)
        self.assertIn("Torch.\\x1b[31m\\xe2\\x80\\xaea.0.forward", run.out)

    def test_ops_alone_keep_execution_order(self):
        run = self.check(0, "list", self.small_dump(), "--ops", "--step", "3")
        names = [line.split()[2] for line in run.out.splitlines()[1:]]
        self.assertEqual(names, ["Torch.matmul.0.forward", "Distributed.all_reduce.0.forward"])

    def test_tensors_as_csv(self):
        run = self.check(0, "list", self.small_dump(), "--tensors", "--format", "csv", "--filter", "*matmul*",
                         "--rank", "0")
        rows = list(csv.DictReader(io.StringIO(run.out)))
        self.assertEqual([row["tensor"] for row in rows], ["input.0", "input.1", "output.0"])
        self.assertEqual(rows[0]["shape"], "[2, 5]")
        self.assertEqual((rows[2]["max"], rows[2]["min"], rows[2]["mean"], rows[2]["l2norm"]),
                         ("1", "0", "0.5", "2"))
        self.assertEqual(rows[0]["bytes"], "40")

    def test_json_has_overview_and_rows(self):
        run = self.check(0, "list", self.small_dump(), "--format", "json")
        found = json.loads(run.out)
        self.assertEqual(found["schema"], "ulpscope.list/1")
        self.assertEqual((found["steps"], found["ranks"], found["ops"], found["tensors"]), ([3, 5], [0, 1], 4, 10))
        self.assertEqual(len(found["op_rows"]), 4)
        self.assertEqual(found["op_rows"][0]["op"], "Torch.matmul.0.forward")
        self.assertEqual(found["op_rows"][0]["inputs"], 2)
        self.assertIsNone(found["op_rows"][0]["token"])

    def test_nan_and_infinity_are_texts_in_json(self):
        self.write("d/step0/rank0/dump.json",
                   dump_json({"Torch.log.0.forward": call([runs.nan_tensor()], [runs.mask_tensor()])}))
        rows = json.loads(self.check(0, "list", self.path("d"), "--tensors", "--format", "json").out)["tensor_rows"]
        self.assertEqual(rows[0]["max"], "NaN")
        self.assertEqual(rows[1]["min"], "-Infinity")

    def test_hostile_names_cannot_steer_the_terminal(self):
        name = "Torch.\x1b]0;owned\x07\x1b[2J.0.forward"
        self.write("d/step0/rank0/dump.json", dump_json({name: call([tensor()], [tensor()])}))
        run = self.check(0, "list", self.path("d"))
        self.assertIn("Torch.\\x1b]0;owned\\x07\\x1b[2J.0.forward", run.out)
        self.assertNotIn("\x1b", run.out + run.err)
        run = self.check(0, "list", self.path("d"), "--format", "json")
        self.assertEqual(json.loads(run.out)["op_rows"][0]["op"], name)

    def test_a_name_like_a_formula_is_defused_in_csv(self):
        self.write("d/step0/rank0/dump.json", dump_json({"=cmd|x.0.forward": call([tensor()], [tensor()])}))
        rows = list(csv.DictReader(io.StringIO(self.check(0, "list", self.path("d"), "--format", "csv").out)))
        self.assertEqual(rows[0]["op"], "'=cmd|x.0.forward")

    def test_ops_and_tensors_exclude_each_other(self):
        self.assertIn("--ops and --tensors exclude each other",
                      self.check(2, "list", self.small_dump(), "--ops", "--tensors").err)

    def test_an_unknown_format_is_named(self):
        self.assertIn("option --format: 'jsn', expected one of table, csv, json (did you mean 'json'?)",
                      self.check(2, "list", self.small_dump(), "--format", "jsn").err)

    def test_a_filter_that_fits_nothing_says_so(self):
        run = self.check(2, "list", self.small_dump(), "--filter", "conv*")
        self.assertIn("option --filter: 'conv*' fits the name of none of 4 operations", run.err)
        run = self.check(2, "list", self.small_dump(), "--filter", "matmul", "--step", "3")
        self.assertIn("of none of 2 operations, but parts of names (did you mean '*matmul*'?)", run.err)

    def test_steps_and_ranks_that_are_not_there_are_named_with_what_is(self):
        path = self.small_dump()
        out = self.path("out")
        for words in (["list", path], ["show", path, "x"], ["convert", path, "-o", out], ["overflow", path, "-o", out]):
            with self.subTest(words[0]):
                run = self.check(2, *words, "--step", "4")
                self.assertIn("option --step: the dump has no step 4, it has steps 3,5", run.err)
                self.assertIn("option --rank: the dump has no ranks 2-4, it has ranks 0,1",
                              self.check(2, *words, "--rank", "2-4").err)
                self.assertIn("options --step and --rank: the dump has each of them, but none of these steps on these ranks",
                              self.check(2, *words, "--step", "3", "--rank", "0").err)
        self.assertFalse(os.path.exists(out))
        run = self.check(0, "list", path, "--step", "3,9")
        self.assertIn("warning: option --step: the dump has no step 9, it has steps 3,5", run.err)
        self.assertRegex(run.out, r"(?m)^steps +3$")

    def test_a_path_near_a_dump_is_answered_with_that_dump(self):
        self.write("runs/target/step0/rank0/dump.json", dump_json({"Torch.a.0.forward": call([tensor()], [tensor()])}))
        self.write("runs/notes/readme.txt", "x")
        os.symlink(self.path("runs/target"), self.path("runs/link"))
        err = self.check(2, "list", self.path("runs")).err
        self.assertIn("did you mean %s?" % self.path("runs/target"), err)
        self.write("runs/target/step0/rank0/dump_tensor_data/Torch.a.0.forward.input.0.npy", npy("<f4", (2,), floats(1, 2)))
        err = self.check(0, "list", self.path("runs/target/step0/rank0/dump_tensor_data")).err
        self.assertIn("only the data files of a dump", err)
        self.assertIn("name %s to read them" % self.path("runs/target/step0/rank0/dump.json"), err)

    def test_the_level_is_that_of_the_header(self):
        calls = {"Torch.a.0.forward": call([tensor()], [tensor()])}
        self.write("mix/dump.json", dump_json(calls, level="mix"))
        self.assertRegex(self.check(0, "list", self.path("mix")).out, r"(?m)^holds +statistics, level mix$")
        self.check(0, "compare", self.path("mix"), self.path("mix"), "-o", self.path("out"), "--exact-output")
        self.assertEqual(self.read_json("out/compare_result.json")["target"]["level"], "mix")

    def test_files_serve_every_step(self):
        self.check(0, "list", self.write("a.npy", npy("<f4", (2,), floats(1, 2))), "--step", "7")

    def test_a_folder_of_tensor_files(self):
        self.write("arrays/a.npy", npy("<f4", (2, 2), floats(1, 2, 3, 4)))
        self.write("arrays/deep/b.npy", npy("<f2", (3,), b"\0" * 6))
        run = self.check(0, "list", self.path("arrays"), "--tensors")
        self.assertRegex(run.out, r"(?m)  a +output\.0 +float32 +\[2, 2\]")
        self.assertRegex(run.out, r"(?m)  deep/b +output\.0 +float16 +\[3\]")


class WrongPaths(runs.RunTest):
    def test_a_missing_path_is_missing_input(self):
        self.assertIn("nowhere: No such file or directory", self.check(3, "list", "nowhere").err)

    def test_an_argument_is_required(self):
        self.assertIn("argument DUMP is missing", self.check(2, "list").err)

    def test_an_empty_folder_is_missing_input(self):
        os.mkdir(self.path("empty"))
        run = self.check(3, "list", self.path("empty"))
        self.assertIn("empty: the folder is empty, expected a dump", run.err)

    def test_a_fifo_is_not_waited_for(self):
        os.mkfifo(self.path("pipe"))
        self.assertIn(self.run_program("list", self.path("pipe")).code, (2, 3))
        self.assertIn(self.run_program("list", self.path("pipe"), "-m", "torch_api").code, (2, 3))
        self.assertIn(self.run_program("list", self.path("pipe"), "-m", "tensor_files").code, (2, 3))

    def test_a_fifo_in_the_place_of_dump_json_is_not_waited_for(self):
        os.makedirs(self.path("d/step0/rank0"))
        os.mkfifo(self.path("d/step0/rank0/dump.json"))
        self.assertIn(self.run_program("list", self.path("d"), "-m", "torch_api").code, (2, 3))

    def test_a_file_of_zeros_is_no_dump(self):
        self.write("zeros", b"\0" * 4096)
        self.check(2, "list", self.path("zeros"))

    def test_an_unreadable_dump_is_missing_input(self):
        path = self.write("d/step0/rank0/dump.json", dump_json({}))
        os.chmod(path, 0)
        if os.access(path, os.R_OK):
            self.skipTest("running as root")
        self.check(3, "list", self.path("d"), "-m", "torch_api")

    def test_a_dump_cut_off_before_its_first_entry_is_unreadable(self):
        self.write("d/step0/rank0/dump.json", '{"task": "statistics", "level": "L1", "data": {"Torch')
        run = self.check(3, "list", self.path("d"), "-m", "torch_api")
        self.assertIn("dump.json", run.err)

    def test_an_unknown_source_lists_those_that_there_are(self):
        self.write("d/step0/rank0/dump.json", dump_json({}))
        self.assertIn("no source 'torch_ap', expected one of", self.check(2, "list", self.path("d"), "-m", "torch_ap").err)


if __name__ == "__main__":
    runs.main()
