"""convert: formats, structure, names, manifest, failures."""

import json
import os
import struct
import subprocess

import runs
from runs import call, dump_json, floats, npy, safetensors, tensor


class Convert(runs.RunTest):
    def convert(self, code, *words):
        run = self.check(code, "convert", *words, "-o", self.path("out"), "--exact-output")
        return run, self.read_json("out/convert.json")

    def read(self, *parts):
        with open(self.path(*parts), "rb") as file:
            return file.read()

    def torch_dump(self):
        def leaf(name):
            return tensor((2,), high=2.0, low=1.0, data_name=name)
        calls = {"Torch.relu.0.forward": call([leaf("Torch.relu.0.forward.input.0.npy")],
                                              [leaf("Torch.relu.0.forward.output.0.npy")]),
                 "Torch.norm.0.forward": call([tensor()], [leaf("missing.npy")])}
        self.write("d/step0/rank0/dump.json", dump_json(calls, task="tensor"))
        for name in ("Torch.relu.0.forward.input.0.npy", "Torch.relu.0.forward.output.0.npy"):
            self.write("d/step0/rank0/dump_tensor_data/" + name, npy("<f4", (2,), floats(1, 2)))
        return self.path("d")

    def test_a_full_disk_leaves_the_list_of_what_was_converted(self):
        for i in range(20):
            self.write(f"many/t{i}.npy", npy("<f4", (4096,), floats(*[i] * 4096)))
        # A file system of its own for this process alone, gone with it.
        script = 'mount -t tmpfs -o size=160k tmpfs "$0" && "$@"; code=$?; cp "$0/out/convert.json" "$0.json"; exit $code'
        os.mkdir(self.path("disk"))
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, self.path("disk"), runs.PROGRAM, "convert", self.path("many"),
                               "-o", self.path("disk/out"), "--exact-output"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if b"unshare" in done.stderr or b"mount:" in done.stderr:
            self.skipTest("no file system can be mounted here")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"No space left on device", done.stderr)
        manifest = self.read_json("disk.json")
        self.assertEqual(len(manifest["tensors"]), 20)
        self.assertGreater(manifest["summary"]["failed"], 0)
        self.assertGreater(manifest["summary"]["converted"], 0)

    def test_structure_is_kept_and_the_manifest_tells_all(self):
        run, manifest = self.convert(3, self.torch_dump(), "--to", "npy")
        self.assertEqual(manifest["schema"], "ulpscope.convert/1")
        self.assertEqual(manifest["summary"], {"tensors": 4, "converted": 2, "failed": 1, "without_data": 1})
        rows = {row["op"] + " " + row["tensor"]: row for row in manifest["tensors"]}
        done = rows["Torch.relu.0.forward output.0"]
        self.assertEqual(done["file"], "step0/rank0/dump_tensor_data/Torch.relu.0.forward.output.0.npy")
        self.assertEqual((done["dtype"], done["written_dtype"], done["shape"], done["bytes"]),
                         ("float32", "float32", [2], 8))
        self.assertTrue(self.read("out", done["file"]).endswith(floats(1, 2)))
        self.assertIn("missing.npy", rows["Torch.norm.0.forward output.0"]["error"])
        self.assertIn("reason", rows["Torch.norm.0.forward input.0"])
        self.assertIn("converted 2   failed 1   without data 1", run.out)
        self.assertIn("missing.npy", run.err)

    def damaged_pt(self):
        """A .pt file whose data does not have the CRC-32 of its record."""
        npy_file = self.write("a.npy", npy("<f4", (2,), floats(1.25, 2.5)))
        self.check(0, "convert", npy_file, "--to", "pt", "-o", self.path("pt"), "--exact-output")
        whole = self.read("pt/a.pt")
        at = whole.index(floats(1.25, 2.5))
        return self.write("damaged.pt", whole[:at] + floats(1.5) + whole[at + 4:])

    def test_a_wrong_checksum_is_a_warning_in_every_command(self):
        text = "the CRC-32 of the data is not the one that its file states"
        path = self.damaged_pt()
        run, manifest = self.convert(0, path)
        self.assertIn("warning: damaged output.0: " + text, run.err)
        self.assertEqual(manifest["tensors"][0]["warning"], text)
        self.assertIn(text, self.check(0, "show", path).err)
        self.assertIn(text, self.check(0, "overflow", path, "-o", self.path("overflow")).err)
        self.assertIn(text, self.check(0, "compare", path, path, "-o", self.path("compare")).out)

    def test_an_unreadable_file_is_told_with_its_reason(self):
        with open(os.path.join(runs.DATA, "npy", "object.npy"), "rb") as file:
            self.write("d/object.npy", file.read())
        self.write("d/good.npy", npy("<f4", (2,), floats(1, 2)))
        run, manifest = self.convert(3, self.path("d"))
        reasons = [row.get("error", "") for row in manifest["tensors"]]
        self.assertEqual(reasons[0], "")
        self.assertIn("object array", reasons[1])
        self.assertIn("warning: object.npy: an object array", run.err)
        self.assertNotIn("none elements", run.err)

    def test_aliases_of_an_atb_dump_stand_under_their_own_operation(self):
        head = b"$Version=1.0\nformat=2\ndtype=0\ndims=2\n"
        self.write("d/0_5/0/4_Layer/before/intensor0.bin", head + b"$Object.data=0,8\n$End=1\n" + floats(1, 2))
        self.write("d/0_5/0/4_Layer/1_Add/before/intensor0.bin", head + b"data=4_intensor0.bin\n$End=1\n")
        _, manifest = self.convert(0, self.path("d"))
        self.assertEqual(sorted(row["file"] for row in manifest["tensors"]),
                         ["0_5/0/4_Layer/1_Add/before/4_Layer_1_Add.input.0.npy", "0_5/0/4_Layer/before/4_Layer.input.0.npy"])
        for row in manifest["tensors"]:
            self.assertTrue(self.read("out", row["file"]).endswith(floats(1, 2)))

    def test_elements_become_a_storage_format_and_the_manifest_has_its_shape(self):
        # 1 x 3 x 1 x 2, so each of the two places has three channels and a padding one.
        path = self.write("a.npy", npy("<f4", (1, 3, 1, 2), floats(1, 2, 3, 4, 5, 6)))
        _, manifest = self.convert(0, path, "--storage-format", "NC1HWC0", "--c0", "4")
        row = manifest["tensors"][0]
        self.assertEqual((row["shape"], row["stored_shape"], row["bytes"]), ([1, 3, 1, 2], [1, 1, 1, 2, 4], 32))
        self.assertTrue(self.read("out", row["file"]).endswith(floats(1, 3, 5, 0, 2, 4, 6, 0)))
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(["convert.json", row["file"]]))

    def test_a_layout_that_is_given_says_where_the_channels_are(self):
        path = self.write("a.npy", npy("<f4", (1, 1, 2, 3), floats(1, 3, 5, 2, 4, 6)))
        _, manifest = self.convert(0, path, "--storage-format", "NCHW", "--layout", "NHWC")
        row = manifest["tensors"][0]
        self.assertEqual(row["stored_shape"], [1, 3, 1, 2])
        self.assertTrue(self.read("out", row["file"]).endswith(floats(1, 2, 3, 4, 5, 6)))

    def test_a_shape_that_a_storage_format_has_no_place_for_is_an_error_of_its_tensor(self):
        path = self.write("a.npy", npy("<f4", (6,), floats(1, 2, 3, 4, 5, 6)))
        _, manifest = self.convert(3, path, "--storage-format", "FRACTAL_Z")
        self.assertEqual(manifest["tensors"][0]["error"],
                         "(6) cannot be stored as FRACTAL_Z: expected 4 dimensions, in a layout such as NCHW")

    def test_options_of_storage_formats_that_cannot_be(self):
        path = self.write("a.npy", npy("<f4", (2,), floats(1, 2)))
        for words, text in ((["--storage-format", "NC1"], "'NC1' is no format"),
                            (["--storage-format", "NC1HWC0", "--raw"], "not with --raw"),
                            (["--storage-format", "NC1HWC0", "--layout", "FRACTAL_Z"], "is no plain layout"),
                            (["--storage-format", "NC1HWC0", "--c0", "0"], "--c0"),
                            (["--c0", "16"], "--c0: only with --storage-format")):
            self.assertIn(text, self.check(2, "convert", path, *words).err)

    def test_values_of_types_that_npy_lacks_become_float32(self):
        # 1.5 and -0.0078125 as bfloat16; 1.5 and 2^-9 as float8_e4m3fn
        path = self.write("x.safetensors", safetensors({"a": ("BF16", [2], b"\xc0\x3f\x00\xbc"),
                                                        "b": ("F8_E4M3", [2], b"\x3c\x01")}))
        _, manifest = self.convert(0, path)
        files = {row["dtype"]: row for row in manifest["tensors"]}
        self.assertEqual(files["bfloat16"]["written_dtype"], "float32")
        self.assertEqual(files["bfloat16"]["note"], ".npy has no bfloat16; float32 holds every value of it exactly")
        self.assertTrue(self.read("out", files["bfloat16"]["file"]).endswith(floats(1.5, -0.0078125)))
        self.assertTrue(self.read("out", files["float8_e4m3fn"]["file"]).endswith(floats(1.5, 2.0**-9)))

    def test_types_that_the_format_has_keep_their_bytes(self):
        path = self.write("x.safetensors", safetensors({"a": ("BF16", [2], b"\xc0\x3f\x00\xbc")}))
        _, manifest = self.convert(0, path, "--to", "safetensors")
        row = manifest["tensors"][0]
        self.assertEqual(row["written_dtype"], "bfloat16")
        self.assertTrue(self.read("out", row["file"]).endswith(b"\xc0\x3f\x00\xbc"))

    def test_a_pt_file_is_a_zip_with_the_elements(self):
        self.write("in/a.npy", npy("<i8", (3,), struct.pack("<3q", 1, -2, 3)))
        _, manifest = self.convert(0, self.path("in"), "--to", "pt")
        import zipfile
        with zipfile.ZipFile(self.path("out", manifest["tensors"][0]["file"])) as archive:
            names = [name for name in archive.namelist() if name.endswith("/data/0")]
            self.assertEqual(archive.read(names[0]), struct.pack("<3q", 1, -2, 3))

    def test_a_round_trip_keeps_files_of_a_folder(self):
        self.write("in/deep/a.npy", npy("<f4", (2,), floats(1, 2)))
        _, manifest = self.convert(0, self.path("in"))
        self.assertEqual([row["file"] for row in manifest["tensors"]], ["deep/a.npy"])
        self.assertEqual(self.read("out/deep/a.npy")[-8:], floats(1, 2))

    def test_hostile_names_stay_inside_the_output_folder(self):
        name = "../../Torch.\x1b[2J/..\\evil.0.forward"
        leaf = tensor((1,), data_name="a.npy")
        self.write("d/step0/rank0/dump.json", dump_json({name: call([], [leaf])}, task="tensor"))
        self.write("d/step0/rank0/dump_tensor_data/a.npy", npy("<f4", (1,), floats(1)))
        _, manifest = self.convert(0, self.path("d"))
        file = manifest["tensors"][0]["file"]
        self.assertEqual(manifest["tensors"][0]["op"], name)
        self.assertNotIn("..", file.split("/"))
        self.assertNotIn("\x1b", file)
        self.assertTrue(os.path.isfile(self.path("out", file)))
        self.assertEqual(sorted(os.listdir(self.folder)), ["d", "out"])

    def test_two_tensors_of_one_name_get_two_files(self):
        # "a:b" and "a_b" become the same safe name.
        calls = {"Torch.a:b.0.forward": call([], [tensor((1,), data_name="a.npy")]),
                 "Torch.a_b.0.forward": call([], [tensor((1,), data_name="b.npy")])}
        self.write("d/step0/rank0/dump.json", dump_json(calls, task="tensor"))
        self.write("d/step0/rank0/dump_tensor_data/a.npy", npy("<f4", (1,), floats(1)))
        self.write("d/step0/rank0/dump_tensor_data/b.npy", npy("<f4", (1,), floats(2)))
        _, manifest = self.convert(0, self.path("d"))
        self.assertEqual([os.path.basename(row["file"]) for row in manifest["tensors"]],
                         ["Torch.a_b.0.forward.output.0.npy", "Torch.a_b.0.forward.output.0-2.npy"])

    def test_nothing_is_overwritten(self):
        self.write("in/a.npy", npy("<f4", (1,), floats(1)))
        self.convert(0, self.path("in"))
        run = self.check(2, "convert", self.path("in"), "-o", self.path("out"), "--exact-output")
        self.assertIn("out", run.err)

    def test_each_run_makes_a_folder_of_its_own(self):
        self.write("in/a.npy", npy("<f4", (1,), floats(1)))
        for _ in range(2):
            self.check(0, "convert", self.path("in"), "-o", self.path("results"))
        folders = os.listdir(self.path("results"))
        self.assertEqual(len(folders), 2)
        self.assertTrue(all(name.startswith("convert_") for name in folders), folders)

    def test_the_name_of_the_peer_works(self):
        self.write("in/a.npy", npy("<f4", (1,), floats(1)))
        self.check(0, "parse", self.path("in"), "--output-path", self.path("results"))

    def test_a_dump_without_data_has_nothing_to_convert(self):
        self.write("d/step0/rank0/dump.json", dump_json({"Torch.relu.0.forward": call([], [tensor()])}))
        run = self.check(3, "convert", self.path("d"))
        self.assertIn("nothing to convert, the dump holds no data of 1 tensors", run.err)
        self.assertFalse(os.path.exists(self.path("ulpscope_out")))

    def test_an_unknown_format_is_named(self):
        self.assertIn("option --to: 'np', expected one of npy, pt, safetensors (did you mean 'npy'?)",
                      self.check(2, "convert", self.path("x"), "--to", "np").err)

    def test_many_threads_give_the_same_files(self):
        for i in range(40):
            self.write("in/%02d.npy" % i, npy("<f4", (3,), floats(i, i + 1, i + 2)))
        self.convert(0, self.path("in"), "-j", "8")
        for i in range(40):
            self.assertTrue(self.read("out/%02d.npy" % i).endswith(floats(i, i + 1, i + 2)))


if __name__ == "__main__":
    runs.main()
