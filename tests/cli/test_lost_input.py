"""What is there and cannot be read is told and costs exit code 3; nothing is read, or written, through links that lead out."""

import glob
import json
import os
import shutil
import socket
import subprocess
import unittest

import runs
from runs import call, dump_json, floats, npy, safetensors, tensor

ACL = os.path.join(runs.DATA, "acl_dumps")
NOBODY = 65534


def writable(folder):
    for base, _, _ in os.walk(folder):
        os.chmod(base, 0o755)


class LostInput(runs.RunTest):
    def copy(self, source, name):
        shutil.copytree(source, self.path(name))
        writable(self.path(name))
        return self.path(name)

    def check_denied(self, code, path, *words):
        """With path closed to the one who runs the program; not where that cannot be had (a clone others may not enter)."""
        options = {}
        if os.geteuid() == 0:
            os.chmod(self.folder, 0o755)
            options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            try:
                subprocess.run([runs.PROGRAM, "version"], stdout=subprocess.PIPE, check=True, **options)
            except (OSError, subprocess.SubprocessError):
                self.skipTest("another user cannot run the program")
        os.mkdir(self.path("out"))
        os.chmod(self.path("out"), 0o777)
        mode = os.stat(path).st_mode & 0o7777
        os.chmod(path, 0)
        try:
            return self.check(code, *words, **options)
        finally:
            os.chmod(path, mode)

    def acl_file(self, npu, name):
        return glob.glob(os.path.join(npu, "*/0/*/1/0", name))[0]

    def one_call(self, side, step, text=None):
        tensors = dict(tensor(), data_name="x.npy")
        content = text or dump_json({"Torch.relu.0.forward": call([tensors], [tensors])}, task="tensor")
        self.write(f"{side}/step{step}/rank0/dump.json", content)
        self.write(f"{side}/step{step}/rank0/dump_tensor_data/x.npy", npy("<f4", (2, 3), floats(*range(6))))

    def test_a_data_name_that_leaves_the_dump_is_lost_input_of_every_command(self):
        away = dict(tensor(), data_name="../../x.npy")
        self.one_call("d", 0, dump_json({"Torch.relu.0.forward": call([away], [away])}, task="tensor"))
        for words in (("list", self.path("d")), ("overflow", self.path("d"), "-o", self.path("out")),
                      ("compare", self.path("d"), self.path("d"), "-o", self.path("out"))):
            with self.subTest(words[0]):
                run = self.check(3, *words)
                self.assertIn("path leaves the dump", run.out + run.err)

    def test_an_entry_that_is_nested_too_deep_is_lost_input_of_list_and_overflow(self):
        deep = dump_json({"Torch.relu.0.forward": call(["deep"], [tensor()]), "Torch.relu.1.forward": call([], [tensor()])})
        self.one_call("d", 0, deep.replace('"deep"', "[" * 100 + "]" * 100))
        self.assertIn("nested deeper than 64 containers", self.check(3, "list", self.path("d")).err)
        self.assertIn("nested deeper than 64 containers", self.check(3, "overflow", self.path("d"), "-o", self.path("out")).err)

    def test_a_dump_json_that_is_none_is_lost_input_and_named(self):
        good = dump_json({"Torch.relu.0.forward": call([tensor()], [tensor()])})
        self.write("g/step0/rank0/dump.json", good)
        for text, trouble in (("", "byte 0: the file is empty"), ("{}", 'no member "data"'), ("[]", "expected an object"),
                              (good[:12], "the text ends early"), (good[:30], "the text ends early")):
            self.write("t/step0/rank0/dump.json", text)
            with self.subTest(text):
                for words in (("compare", "t", "g", "-o", "out"), ("compare", "g", "t", "-o", "out"), ("list", "t"),
                              ("compare", "t/step0/rank0/dump.json", "g", "-o", "out"), ("overflow", "t", "-o", "out")):
                    run = self.check(3, *words)
                    self.assertIn("dump.json: ", run.out + run.err)
                    self.assertIn(trouble, run.out + run.err)
        self.assertIn("no tensor could be compared: dump again, or repair what the errors name",
                      self.check(3, "compare", "t", "g", "-o", "out").out)

    def test_an_element_type_of_an_unknown_name_is_no_pass(self):
        strange = dict(tensor(), dtype="torch.float12")
        for task, more in (("statistics", {}), ("md5", {"md5": "01234567"}), ("tensor", {"data_name": "x.npy"})):
            entry = call([dict(tensor(), **more)], [dict(strange, **more)])
            self.one_call("t", 0, dump_json({"Torch.relu.0.forward": entry}, task=task))
            with self.subTest(task):
                run = self.check(3, "compare", "t", "t", "--format", "json", "-o", "out/" + task, "--exact-output")
                self.assertIn('step0/rank0/dump.json: Torch.relu.0.forward: output.0: dtype "torch.float12": expected an '
                              "element type, such as torch.float32", run.out)
                rows = self.read_json("out", task, "compare_result.json")["rows"]
                self.assertEqual([row["verdict"] for row in rows], ["pass", "skip"])
                self.assertIn('dtype "torch.float12"', self.check(3, "list", "t").err)

    def test_a_call_that_is_no_object_is_lost_input(self):
        entry = call([tensor()], [tensor()])
        good = {"Torch.relu.%d.forward" % i: entry for i in range(3)}
        self.write("g/step0/rank0/dump.json", dump_json(good))
        for value, word in ((None, "null"), (3, "a number"), ("x", "a text"), ([1], "a list")):
            self.write("t/step0/rank0/dump.json", dump_json(dict(good, **{"Torch.relu.1.forward": value})))
            trouble = "Torch.relu.1.forward: the entry is %s, expected an object with inputs and outputs" % word
            with self.subTest(word):
                for words in (("compare", "t", "g", "-o", "out"), ("compare", "g", "t", "-o", "out"),
                              ("compare", "t", "t", "-o", "out"), ("list", "t"), ("overflow", "t", "-o", "out")):
                    run = self.check(3, *words)
                    self.assertIn(trouble, run.out + run.err)

    def test_a_step_folder_without_ranks_is_lost_where_the_other_side_has_data(self):
        for side, step in (("a", 0), ("a", 1), ("b", 0)):
            self.one_call(side, step)
        os.mkdir(self.path("b/step1"))
        run = self.check(3, "compare", self.path("a"), self.path("b"), "-o", self.path("out"))
        self.assertIn(self.path("b/step1") + ": holds nothing that can be read, where the target has data", run.out)
        run = self.check(3, "compare", self.path("b"), self.path("a"), "-o", self.path("out"))
        self.assertIn("where the golden has data", run.out)
        self.check(0, "compare", self.path("b"), self.path("b"), "-o", self.path("out"))
        os.rmdir(self.path("b/step1"))
        self.check(0, "compare", self.path("a"), self.path("b"), "-o", self.path("out"))

    def test_a_rank_folder_that_is_a_link_is_lost_where_the_other_side_has_data(self):
        self.one_call("a", 0)
        shutil.copytree(self.path("a/step0/rank0"), self.path("a/step0/rank1"))
        shutil.copytree(self.path("a"), self.path("b"))
        shutil.move(self.path("b/step0/rank1"), self.path("elsewhere"))
        os.symlink(self.path("elsewhere"), self.path("b/step0/rank1"))
        self.check(3, "compare", self.path("a"), self.path("b"), "-o", self.path("out"))

    def test_an_operator_file_that_is_no_file_is_lost(self):
        def link(path):
            os.symlink("/etc/hostname", path)

        def connect(path):
            with socket.socket(socket.AF_UNIX) as opened:
                name = self.path("s")  # the path of a socket may be short only
                opened.bind(name)
                os.rename(name, path)
        for make, text in ((link, "path leaves the dump through a symbolic link"), (os.mkfifo, "is a FIFO"),
                           (os.mkdir, "is a folder, expected a file"), (connect, "No such device or address")):
            shutil.rmtree(self.path("npu"), ignore_errors=True)
            npu = self.copy(os.path.join(ACL, "identical/npu"), "npu")
            path = self.acl_file(npu, "MatMulV2.enc_0_q_MatMul.*")
            os.remove(path)
            make(path)
            run = self.check(3, "compare", npu, os.path.join(ACL, "identical/npu"), "-q", "-o", "out")
            self.assertIn(os.path.basename(path) + ": " + text, run.out.replace(npu + "/", ""))
            self.assertIn(text, self.check(3, "list", npu, "-q").err)

    def test_a_link_inside_the_dump_is_read(self):
        npu = self.copy(os.path.join(ACL, "identical/npu"), "npu")
        path = self.acl_file(npu, "MatMulV2.enc_0_q_MatMul.*")
        os.rename(path, os.path.join(npu, "kept.bin"))
        os.symlink(os.path.relpath(os.path.join(npu, "kept.bin"), os.path.dirname(path)), path)
        self.check(0, "compare", npu, os.path.join(ACL, "identical/npu"), "-q", "-o", "out")

    def test_a_closed_part_of_an_acl_dump(self):
        for part, text in (("20*/0/*/1/0/MatMulV2.enc_0_q_MatMul.*", "Permission denied"),
                           ("20*/0/*/1/0", "the folder cannot be listed: Permission denied"),
                           ("20*/0", "the folder cannot be listed: Permission denied"),
                           ("fusion.json", "fusion.json: Permission denied; it may be the json of the compiled model")):
            shutil.rmtree(self.path("npu"), ignore_errors=True)
            shutil.rmtree(self.path("out"), ignore_errors=True)
            npu = self.copy(os.path.join(ACL, "identical/npu"), "npu")
            run = self.check_denied(3, glob.glob(os.path.join(npu, part))[0], "list", npu, "-q")
            self.assertIn(text, run.err)

    def test_a_closed_step_costs_itself_alone(self):
        entry = dump_json({"Torch.relu.0.forward": call([tensor()], [tensor()])})
        for side in ("t", "g"):
            for step in (0, 1):
                self.write("%s/step%d/rank0/dump.json" % (side, step), entry)
        run = self.check_denied(3, self.path("t/step1"), "compare", "t", "g", "--format", "json", "-o", "out/r",
                                "--exact-output")
        self.assertIn("step1: the folder cannot be listed: Permission denied", run.out)
        rows = self.read_json("out/r/compare_result.json")["rows"]
        self.assertEqual([row["verdict"] for row in rows if row["step"] == 0], ["pass", "pass"])

    def test_a_closed_rank_says_so(self):
        self.write("t/step0/rank0/dump.json", dump_json({"Torch.relu.0.forward": call([tensor()], [tensor()])}))
        self.write("t/step0/rank1/dump.json", dump_json({"Torch.relu.0.forward": call([tensor()], [tensor()])}))
        run = self.check_denied(3, self.path("t/step0/rank1"), "list", "t")
        self.assertIn("step0/rank1: the folder cannot be listed: Permission denied", run.err)

    def deep_folder(self, top):
        """A folder below top whose path is too long to open, for every user."""
        name = "n" * 250
        handle = os.open(top, os.O_RDONLY)
        for _ in range(20):
            os.mkdir(name, dir_fd=handle)
            inner = os.open(name, os.O_RDONLY, dir_fd=handle)
            os.close(handle)
            handle = inner
        os.close(handle)

    def test_arrays_in_a_folder_that_cannot_be_listed(self):
        for side in ("t", "g"):
            self.write(side + "/a.npy", npy("<f4", (2,), floats(1, 2)))
        self.check(0, "compare", "t", "g", "-q", "-o", "out")
        self.deep_folder(self.path("t"))
        run = self.check(3, "compare", "t", "g", "-q", "-o", "out")
        self.assertIn("the folder cannot be listed: File name too long", run.out)

    def test_a_linked_folder_of_arrays_is_named(self):
        self.write("far/b.npy", npy("<f4", (2,), floats(1, 2)))
        for side in ("t", "g"):
            self.write(side + "/a.npy", npy("<f4", (2,), floats(1, 2)))
            os.symlink(self.path("far"), self.path(side, "sub"))
        run = self.check(0, "compare", "t", "g", "-o", "out")
        self.assertIn("sub: a symbolic link to a folder is not followed", run.out)

    def test_list_of_a_damaged_file(self):
        whole = safetensors({"w": ("F32", (4,), floats(1, 2, 3, 4))})
        self.write("cut.safetensors", whole[:-4])
        run = self.check(3, "list", "cut.safetensors", "-q")
        self.assertIn("cut.safetensors", run.err)

    def test_an_atb_table_that_is_a_folder(self):
        source = glob.glob(os.path.join(runs.DATA, "atb_dumps/**/statistic.csv"), recursive=True)[0]
        dump = self.copy(os.path.dirname(source), "round")
        os.remove(os.path.join(dump, "statistic.csv"))
        os.mkdir(os.path.join(dump, "statistic.csv"))
        self.assertIn("statistic.csv: is a folder, expected a file", self.check(3, "list", dump, "-m", "mindie_atb").err)


class Locate(runs.RunTest):
    def test_nothing_is_concluded_over_a_damaged_stage(self):
        base = self.path("flow")
        shutil.copytree(os.path.join(ACL, "flow_high_precision"), base)
        writable(base)
        stages = self.write("flow/stages.json", json.dumps({"golden": "golden", "keep_performance": True, "stages": [
            {"name": name, "dump": glob.glob(os.path.join(base, folder, "20*/0/*/*/*"))[0],
             "fusion": folder + "/fusion.json"}
            for folder, name in (("1_origin", "origin"), ("2a_high_precision", "high_precision"))]}))
        self.check(0, "locate", "--stages", stages, "-q", "-o", "out")
        victim = sorted(glob.glob(os.path.join(base, "2a_high_precision/20*/0/*/*/*/*")))[0]
        open(victim, "wb").close()
        run = self.check(3, "locate", "--stages", stages, "-q", "-o", "out")
        self.assertIn(os.path.basename(victim), run.err)
        self.assertIn("stage high_precision: 1 part of its dump cannot be read, expected all of it; nothing is concluded",
                      run.err)

    def test_a_stage_file_of_too_many_values(self):
        self.write("stages.json", '{"stages": [' + "1," * 200001 + "1]}")
        self.assertIn("expected at most 200000 names and values", self.check(2, "locate", "--stages", "stages.json").err)


class Links(runs.RunTest):
    def result(self):
        self.write("t/a.npy", npy("<f4", (2,), floats(1, 2)))
        self.write("g/a.npy", npy("<f4", (2,), floats(1, 2)))
        self.check(0, "compare", "t", "g", "-q", "-o", "r/one", "--exact-output")

    def test_a_journal_that_is_a_link_is_not_written(self):
        self.result()
        journal = self.path("r/one/journal.jsonl")
        shutil.move(journal, self.path("outside.jsonl"))
        os.symlink(self.path("outside.jsonl"), journal)
        with open(self.path("outside.jsonl"), "rb") as file:
            before = file.read()
        run = self.check(3, "compare", "--resume", "r/one")
        self.assertIn("journal.jsonl: is a symbolic link, expected the file that the run wrote", run.err)
        with open(self.path("outside.jsonl"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_merge_follows_no_link_and_names_a_closed_folder(self):
        self.result()
        shutil.copytree(self.path("r/one"), self.path("far"))
        os.symlink(self.path("far"), self.path("r/two"))
        run = self.check(3, "merge", "r", "-q", "-o", "m", "--exact-output")
        self.assertIn("r/two: a symbolic link is not followed, name its folder", run.err)
        self.assertEqual(len(self.read_json("m/merge_result.json")["columns"]), 1)

    def test_a_bundle_reads_nothing_outside(self):
        for side in ("golden", "problem"):
            self.write(side + "/env.txt", "VLLM_USE_V1=1\n")
        self.write("secret/pip.txt", "torch==2.1.0\n")
        os.symlink(self.path("secret/pip.txt"), self.path("golden/pip.txt"))
        run = self.run_program("config-check", "--golden", "golden", "--problem", "problem", "-o", "out")
        self.assertIn("golden/pip.txt: a symbolic link that leads out of the bundle is not followed: it is not read", run.err)
        self.assertNotIn("2.1.0", run.out)


class Visible(runs.RunTest):
    def test_json_on_stdout_holds_no_controls(self):
        name = "Torch.\u009b31m\u202ex.0.forward"
        self.write("d/step0/rank0/dump.json", dump_json({name: call([tensor()], [tensor()])}))
        run = self.check(0, "list", "d", "--format", "json")
        self.assertNotIn("\u009b", run.out)
        self.assertNotIn("\u202e", run.out)
        self.assertEqual(json.loads(run.out)["op_rows"][0]["op"], name)

    def test_converted_files_have_visible_names(self):
        self.write("d/a\u009bb.npy", npy("<f4", (2,), floats(1, 2)))
        self.check(0, "convert", "d", "--to", "pt", "-o", "out", "--exact-output")
        names = [name for _, _, files in os.walk(self.path("out")) for name in files]
        self.assertIn("a_b.pt", names)


class Limits(runs.RunTest):
    def test_unused_mapping_rules_are_named_a_few_times(self):
        self.write("t/a.npy", npy("<f4", (2,), floats(1, 2)))
        self.write("g/a.npy", npy("<f4", (2,), floats(1, 2)))
        self.write("m.yaml", "ops:\n" + "".join("  none.%d: other.%d\n" % (i, i) for i in range(25)))
        run = self.check(0, "compare", "t", "g", "--mapping", "m.yaml", "-o", "out")
        self.assertEqual((run.out + run.err).count("found nothing to pair"), 11)
        self.assertIn("15 more rules of the mapping found nothing to pair", run.out + run.err)

    def test_a_file_of_records_without_outputs_ends_early(self):
        self.write("r.jsonl", "{}\n" * 100100)
        run = self.check(3, "anomaly", "r.jsonl", "-o", "out")
        self.assertIn("no output in the first 100 000 records, expected choices, token ids or text; the rest is not read",
                      run.err)

    def test_samples_without_keys_end_early(self):
        self.write("r.jsonl", "{}\n" * 100100)
        run = self.check(3, "badcase", "--golden", "r.jsonl", "--problem", "r.jsonl", "-o", "out")
        self.assertIn("no key in the first 100 000 samples, expected one in each; the rest is not read", run.err)

    def test_a_result_with_a_tail_is_refused(self):
        self.write("t/a.npy", npy("<f4", (2,), floats(1, 2)))
        self.check(0, "compare", "t", "t", "-q", "-o", "r", "--exact-output")
        with open(self.path("r/compare_result.json"), "ab") as file:
            size = file.tell()
            file.write(b"\0 more {")
        run = self.check(3, "report", "r", "--format", "md")
        self.assertIn("byte %d is a NUL, expected JSON text" % size, run.err)


if __name__ == "__main__":
    unittest.main()
