"""check and multi_acc_check: whole runs over small dumps, with and without LibTorch."""

import csv
import glob
import json
import os
import signal
import subprocess
import time
import unittest

import runs
import schema
from runs import call, dump_json, floats, npy, number, tensor

TORCH = os.path.exists(os.path.join(os.path.dirname(os.path.dirname(runs.PROGRAM)), "lib", "ulpscope", "executors",
                                    "torch_executor.plugin.so"))
needs_torch = unittest.skipUnless(TORCH, "built without LibTorch")


def with_file(shape, name, dtype="torch.float32", grad=False):
    return {"type": "torch.Tensor", "dtype": dtype, "shape": list(shape), "Max": 1.0, "Min": -1.0, "Mean": 0.0,
            "Norm": 1.0, "requires_grad": grad, "data_name": name}


class CheckTest(runs.RunTest):
    def dump(self, calls, files=None):
        self.write("d/step0/rank0/dump.json", dump_json(calls, task="tensor" if files else "statistics"))
        for name, (shape, data) in (files or {}).items():
            self.write("d/step0/rank0/dump_tensor_data/" + name, npy("<f4", shape, data))
        return self.path("d/step0/rank0/dump.json")

    def run_check(self, code, path, *words):
        run = self.check(code, "check", "-api_info", path, "-o", self.path("out"), "--exact-output", *words)
        self.result = self.read_json("out/check_result.json")
        schema.check(self, self.result, "check_result")
        self.apis = {api["api"]: api for api in self.result["apis"]}
        return run

    def table(self, word, folder="out"):
        path, = glob.glob(self.path(folder, "accuracy_checking_%s_*.csv" % word))
        with open(path, encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file))

    def mish(self, second):
        """A fused operator whose recorded output is right but for its last element."""
        right = (0.0, 0.8650983882673103)
        return self.dump({"NPU.npu_mish.0.forward": call([with_file((2,), "in.npy")], [with_file((2,), "out.npy")])},
                         {"in.npy": ((2,), floats(0, 1)), "out.npy": ((2,), floats(right[0], second))})


class RecordedDevice(CheckTest):
    """Needs no LibTorch: formulas against what the dump holds."""

    def test_a_call_that_is_no_object_is_skipped_and_exits_3(self):
        path = self.dump({"NPU.npu_mish.0.forward": None})
        self.assertIn("the entry is null, expected an object with inputs and outputs", self.run_check(3, path).err)
        self.assertEqual(self.apis["NPU.npu_mish.0"]["forward"], "SKIP")

    def test_a_right_output_passes(self):
        # mish(1) = tanh(log(1 + e)) = 0.8650983882673103
        run = self.run_check(0, self.mish(0.8650983882673103))
        self.assertEqual(self.apis["NPU.npu_mish.0"]["forward"], "pass")
        self.assertIn("pass 1   warning 0   error 0   skip 0   (APIs)", run.out)

    def test_a_wrong_output_is_an_error_and_exit_1(self):
        run = self.run_check(1, self.mish(0.5))
        output = self.apis["NPU.npu_mish.0"]["outputs"][0]
        self.assertEqual((output["status"], output["algorithm"]), ("error", "benchmark"))
        self.assertAlmostEqual(output["metrics"]["max_abs_error"], 0.3650983882673103, places=7)
        self.assertIn("error  NPU.npu_mish.0.forward.output.0", run.out)

    def test_a_page_is_written_and_can_be_made_again(self):
        run = self.run_check(1, self.mish(0.5), "--lang", "zh")
        self.assertIn("report  " + self.path("out/report.html"), run.out)
        with open(self.path("out/report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn('<html lang="zh">', page)
        self.assertIn("<h2>NPU.npu_mish</h2>", page)
        self.check(0, "report", self.path("out"), "-o", self.path("again"), "--exact-output", "--lang", "zh")
        with open(self.path("again/report.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), page)
        self.assertIn("only html is made again", self.check(2, "report", self.path("out"), "--format", "md").err)

    def test_without_html_there_is_no_page(self):
        run = self.run_check(1, self.mish(0.5), "--format", "json,csv")
        self.assertFalse(os.path.exists(self.path("out/report.html")))
        self.assertIn("report  " + self.path("out"), run.out)
        run = self.check(2, "check", "-api_info", self.path("d"), "--format", "xlsx")
        self.assertIn("'xlsx' is not a format of this command, expected any of json,csv,html", run.err)

    def test_the_tables_are_those_of_the_pre_check(self):
        self.run_check(0, self.mish(0.8650983882673103))
        details, result = self.table("details"), self.table("result")
        self.assertEqual(len(details[0]), 23)
        self.assertEqual(details[1][:4], ["NPU.npu_mish.0.forward.output.0", "torch.float64", "torch.float32", "(2,)"])
        self.assertEqual(details[1][-2], "pass")
        self.assertEqual(result[1], ["NPU.npu_mish.0", "pass", " "])

    def test_a_missing_data_file_is_a_skip_and_exit_3(self):
        path = self.mish(0.8650983882673103)
        os.remove(self.path("d/step0/rank0/dump_tensor_data/in.npy"))
        self.run_check(3, path)
        api = self.apis["NPU.npu_mish.0"]
        self.assertEqual(api["forward"], "SKIP")
        self.assertIn("argument 0: ", api["message"])
        self.assertIn("No such file", api["message"])

    def test_lists_of_settings_files(self):
        path = self.mish(0.5)
        yaml = self.write("config.yaml", "black_list: [npu_mish]\nprecision: 3\n")
        self.run_check(3, path, "-config", yaml)
        self.assertEqual(self.apis["NPU.npu_mish.0"]["message"], "the API is in the black list")

    def test_a_list_of_config_json_replaces_that_of_config_yaml(self):
        path = self.mish(0.5)
        yaml = self.write("config.yaml", "black_list: [npu_mish]\nprecision: 3\n")
        settings = self.write("config.json", '{"acc_check": {"black_list": []}}')
        self.run_check(1, path, "-config", settings, "-config", yaml)
        self.assertEqual(self.table("details")[1][5], "0.365")

    def test_wrong_settings_are_named(self):
        path = self.mish(0.5)
        wrong = [("a.yaml", "black_lst: []\n", "a.yaml: black_lst: unknown key (did you mean 'black_list'?)"),
                 ("b.yaml", "white_list: 3\n", "b.yaml: white_list: expected a list of API names"),
                 ("c.yaml", "precision: 99\n", "c.yaml: precision: expected a number from 0 to 20"),
                 ("d.json", '{"acc_check": {"error_data_path": "/nowhere"}}',
                  "d.json: error_data_path: expected a folder that is there, not '/nowhere'")]
        for name, text, message in wrong:
            with self.subTest(name):
                run = self.check(2, "check", "-api_info", path, "-config", self.write(name, text))
                self.assertIn(message, run.err)

    def test_error_data_is_saved(self):
        self.run_check(1, self.mish(0.5), "-save_error_data")
        names = sorted(os.path.basename(p) for p in glob.glob(self.path("out/ut_error_data*/*.pt")))
        self.assertEqual(names, ["NPU.npu_mish.0.forward.input.0.pt", "NPU.npu_mish.0.forward.output.bench.0.pt",
                                 "NPU.npu_mish.0.forward.output.device.0.pt"])

    def test_a_run_goes_on_in_its_tables(self):
        path = self.mish(0.8650983882673103)
        self.run_check(0, path)
        table, = glob.glob(self.path("out/accuracy_checking_result_*.csv"))
        with open(table, "rb+") as file:  # killed in the middle of the row
            text = file.read()
            file.truncate(text.index(b"NPU") + 5)
        self.check(0, "acc_check", "-api_info", path, "-csv_path", table)
        self.assertEqual([row[0] for row in self.table("result")], ["API Name", "NPU.npu_mish.0"])
        self.assertEqual(len(self.table("details")), 2)
        self.assertEqual(len(self.read_json("out/check_result.json")["apis"]), 1)
        self.check(0, "acc_check", "-api_info", path, "-csv_path", table)
        self.assertEqual(len(self.table("details")), 2)

    def test_usage(self):
        path = self.mish(0.5)
        for words, message in [((), "option --api-info-file DUMP_JSON is missing"),
                               (("-api_info", path, "-d", "gpu"), "option --device: 'gpu', expected a number from 0, cpu, cuda:N"),
                               (("-api_info", path, "-d", "0", "0"), "option --device: '0' stands twice"),
                               (("-api_info", path, "-n", "65"), "expected a number from 1 to 64"),
                               (("-api_info", path, "-csv_path", path), "expected a file accuracy_checking_result_")]:
            with self.subTest(words):
                self.assertIn(message, self.check(2, "check", *words).err)

    def test_nothing_to_check_is_exit_3(self):
        run = self.check(3, "check", "-api_info", self.dump({"Module.a.A.forward.0": call([tensor()], [tensor()])}))
        self.assertIn("no API calls, expected a dump.json of level L1 or mix", run.err)

    def test_recorded_needs_recorded_outputs(self):
        path = self.dump({"NPU.npu_mish.0.forward": call([tensor()], [tensor()])})
        run = self.check(2, "check", "-api_info", path, "-d", "recorded", "-o", self.path("o"))
        self.assertIn("device recorded: the dump holds no outputs, expected one of task tensor", run.err)

    def test_a_worker_is_not_called_by_hand(self):
        run = self.check(2, "check-worker")
        self.assertIn("check-worker is called by check, not by hand", run.err)

    @unittest.skipIf(TORCH, "LibTorch is there")
    def test_without_libtorch_the_rest_is_done(self):
        calls = {"NPU.npu_mish.0.forward": call([with_file((2,), "in.npy")], [with_file((2,), "out.npy")]),
                 "Torch.relu.0.forward": call([with_file((2,), "in.npy")], [with_file((2,), "in.npy")])}
        self.run_check(0, self.dump(calls, {"in.npy": ((2,), floats(0, 1)), "out.npy": ((2,), floats(0, 0.8650983882673103))}))
        self.assertEqual(self.apis["Torch.relu.0"]["message"],
                         "golden: there is no formula for relu; other operators need the executor on LibTorch")


def relu_calls(count=1, grad=True):
    calls = {}
    for i in range(count):
        leaf = dict(tensor((4, 4)), Max=2.0, Min=-1.0, requires_grad=grad)
        calls["Functional.relu.%d.forward" % i] = call([leaf], [tensor((4, 4))])
        calls["Functional.relu.%d.backward" % i] = {"input": [tensor((4, 4))], "output": [tensor((4, 4))]}
    return calls


@needs_torch
class OnTheCpu(CheckTest):
    """Made-up inputs, run in two precisions."""

    def test_forward_and_backward(self):
        self.run_check(0, self.dump(relu_calls()), "-d", "cpu")
        api = self.apis["Functional.relu.0"]
        self.assertEqual((api["forward"], api["backward"]), ("pass", "pass"))
        self.assertEqual([o["name"] for o in api["outputs"]],
                         ["Functional.relu.0.forward.output.0", "Functional.relu.0.backward.output.0"])
        self.assertEqual(api["outputs"][0]["golden_dtype"], "torch.float64")

    def test_inputs_do_not_depend_on_workers_or_order(self):
        path = self.dump({"Torch.exp.%d.forward" % i: call([dict(tensor((50,)), Max=3.0, Min=-1.0)], [tensor((50,))])
                          for i in range(6)})
        self.run_check(0, path, "-d", "cpu")
        first = {name: api["outputs"][0]["metrics"] for name, api in self.apis.items()}
        self.check(0, "multi_acc_check", "-api_info", path, "-n", "3", "-d", "cpu", "-o", self.path("m"),
                   "--exact-output")
        second = {api["api"]: api["outputs"][0]["metrics"] for api in self.read_json("m/check_result.json")["apis"]}
        self.assertEqual(first, second)
        self.assertEqual(len(set(str(m) for m in first.values())), 6)

    def test_half_precision_without_a_kernel_is_said(self):
        half = dict(tensor((4, 4)), dtype="torch.float16", Max=1.0, Min=-1.0)
        self.run_check(0, self.dump({"Torch.matmul.0.forward": call([half, half], [half])}), "-d", "cpu")
        output = self.apis["Torch.matmul.0"]["outputs"][0]
        self.assertEqual((output["golden_dtype"], output["device_dtype"]), ("torch.float32", "torch.float16"))
        self.assertIn("no kernel for float16 on this device: computed in float32 and rounded once", output["message"])

    def test_calls_of_mixed_precision(self):
        half, full = dict(tensor((4, 4)), dtype="torch.float16", Max=1.0, Min=-1.0), dict(tensor((4, 4)), Max=1.0, Min=-1.0)
        self.run_check(0, self.dump({"Functional.linear.0.forward": call([half, full], [half]),
                                     "Torch.add.0.forward": call([half, full], [full]),
                                     "Tensor.type_as.0.forward": call([full, half], [half])}), "-d", "cpu")
        types = {name: api["outputs"][0]["device_dtype"] for name, api in self.apis.items()}
        self.assertEqual(types, {"Functional.linear.0": "torch.float16", "Torch.add.0": "torch.float32",
                                 "Tensor.type_as.0": "torch.float16"})

    def test_what_cannot_run_is_a_skip_with_the_reason(self):
        calls = dict(relu_calls(), **{
            "Torch.nowhere.0.forward": call([tensor()], [tensor()]),
            "Torch.matmul.0.forward": call([tensor((2, 3)), tensor((2, 3))], [tensor((2, 2))]),
            "Tensor.normal_.0.forward": call([tensor()], [tensor()]),
            "Torch.add.0.forward": call([tensor(), {}], [tensor()]),
            "NPU.npu_mish.0.forward": call([tensor()], [tensor()]),
            "Torch.topk.0.forward": call([dict(tensor((4,)), Max=None, Min=None), number(2)], [tensor((2,))])})
        self.run_check(0, self.dump(calls), "-d", "cpu")
        said = {name: api["message"] for name, api in self.apis.items() if api["forward"] == "SKIP"}
        self.assertEqual(said["Torch.nowhere.0"], "golden: this LibTorch has no operator for Torch.nowhere")
        self.assertIn("golden: mat1 and mat2 shapes cannot be multiplied", said["Torch.matmul.0"])
        self.assertEqual(said["Tensor.normal_.0"], "golden: the result is random, two runs cannot agree")
        self.assertIn("no overload of aten::add takes (tensor float64 [2, 3], a value that the dump does not describe",
                      said["Torch.add.0"])
        self.assertIn("device: this LibTorch has no operator for NPU.npu_mish", said["NPU.npu_mish.0"])
        self.assertIn("argument 0: the dump has no largest and least value", said["Torch.topk.0"])
        self.assertEqual(self.apis["Functional.relu.0"]["forward"], "pass")

    def test_backward_of_several_outputs_is_not_run(self):
        calls = {"Torch.max.0.forward": call([dict(tensor((3, 4)), requires_grad=True), number(1)], [tensor((3,)), tensor((3,))]),
                 "Torch.max.0.backward": {"input": [tensor((3,))], "output": [tensor((3, 4))]}}
        self.run_check(0, self.dump(calls), "-d", "cpu")
        api = self.apis["Torch.max.0"]
        self.assertEqual((api["forward"], api["backward"]), ("pass", "SKIP"))
        self.assertIn("the API has 2 outputs, expected one", api["message"])

    def test_a_device_that_is_not_there(self):
        run = self.check(2, "check", "-api_info", self.dump(relu_calls()), "-d", "cuda:7", "-o", self.path("o"))
        self.assertIn("device 'cuda:7' cannot be used by this LibTorch", run.err)

    def test_a_killed_worker_costs_one_api(self):
        slow = dict(tensor((1500, 1500)), Max=1.0, Min=0.0)
        calls = dict({"Torch.matrix_exp.0.forward": call([slow], [slow])}, **relu_calls(3, grad=False))
        words = [runs.PROGRAM, "check", "-api_info", self.dump(calls), "-o", self.path("out"), "--exact-output", "-d", "cpu"]
        host = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(host.kill)
        worker = None
        deadline = time.monotonic() + 60
        while worker is None and time.monotonic() < deadline and host.poll() is None:
            with open("/proc/%d/task/%d/children" % (host.pid, host.pid)) as file:
                children = file.read().split()
            # Busy for long enough that it is inside the matrix exponential.
            busy = [c for c in children if cpu_seconds(c) > 2]
            worker = int(busy[0]) if busy else None
        self.assertIsNotNone(worker)
        os.kill(worker, signal.SIGKILL)
        host.communicate(timeout=110)
        self.assertEqual(host.returncode, 3)
        apis = {api["api"]: api for api in self.read_json("out/check_result.json")["apis"]}
        self.assertEqual(len(apis), 4)
        self.assertEqual(apis["Torch.matrix_exp.0"]["message"], "the worker that ran it was ended by signal 9 (Killed)")
        self.assertEqual(apis["Functional.relu.2"]["forward"], "pass")

    def test_a_hanging_api_is_stopped(self):
        slow = dict(tensor((3000, 3000)), Max=1.0, Min=0.0)
        calls = dict({"Torch.matrix_exp.0.forward": call([slow], [slow])}, **relu_calls(1, grad=False))
        self.run_check(3, self.dump(calls), "-d", "cpu", "--time-limit", "2")
        self.assertEqual(self.apis["Torch.matrix_exp.0"]["message"], "it took more than 2 s (--time-limit)")
        self.assertEqual(self.apis["Functional.relu.0"]["forward"], "pass")

    def test_filter(self):
        run = self.run_check(0, self.dump(relu_calls(5)), "-d", "cpu", "-f")
        self.assertEqual(list(self.apis), ["Functional.relu.0"])
        self.assertIn("4 calls that repeat an earlier one were left out", run.err)

    def test_precision_compare_closes_the_loop(self):
        half = dict(tensor((20, 20)), dtype="torch.float16", Max=1.0, Min=-1.0)
        path = self.dump({"Functional.softmax.0.forward": call([half], [half], dim=number(-1)),
                          "Torch.exp.0.forward": call([half], [half])})
        self.run_check(0, path, "-d", "cpu")
        details, = glob.glob(self.path("out/accuracy_checking_details_*.csv"))
        self.check(0, "precision-compare", "-npu", details, "-gpu", details, "-o", self.path("same"))
        result, = glob.glob(self.path("same/**/precision_compare_result.json"), recursive=True)
        with open(result, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["dump"], path)
        # A second device with ten times the error.
        with open(details, encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
        column = rows[0].index("均方根误差")
        for row in rows[1:]:
            row[column] = "%.14f" % (float(row[column]) * 10 + 1)
        worse = self.path("worse.csv")
        with open(worse, "w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows(rows)
        run = self.check(1, "precision-compare", "-npu", worse, "-gpu", details, "-o", self.path("other"))
        self.assertIn("error  Torch.exp.0.forward.output.0  benchmark", run.out)


def cpu_seconds(pid):
    try:
        with open("/proc/%s/stat" % pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0


if __name__ == "__main__":
    runs.main()
