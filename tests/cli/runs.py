"""What the tests of whole runs share: running the program, and small dumps made on the spot."""

import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

PROGRAM = os.environ.get("ULPSCOPE", "ulpscope")
DATA = os.environ.get("ULPSCOPE_TEST_DATA", "tests/data")


class Run:
    def __init__(self, finished):
        self.code = finished.returncode
        self.out = finished.stdout.decode("utf-8")
        self.err = finished.stderr.decode("utf-8")


class RunTest(unittest.TestCase):
    """A test with a folder of its own, removed at the end."""

    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ulpscope_cli_")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run_program(self, *words, **options):
        environment = dict(os.environ, LC_ALL="C.UTF-8")
        environment.pop("ULPSCOPE_PLUGIN_PATH", None)
        environment.update(options.pop("environment", {}))
        finished = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=120, env=environment, cwd=self.folder, **options)
        return Run(finished)

    def check(self, code, *words, **options):
        """Runs the program and expects an exit code."""
        run = self.run_program(*words, **options)
        self.assertEqual(run.code, code, "stdout:\n%s\nstderr:\n%s" % (run.out, run.err))
        return run

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def read_json(self, *parts):
        with open(self.path(*parts), encoding="utf-8") as file:
            return json.load(file, parse_constant=refuse_constant)


def refuse_constant(text):
    raise ValueError("not JSON: " + text)


def npy(descr, shape, data):
    """The bytes of a .npy file, version 1.0."""
    shape_text = "(" + "".join("%d, " % n for n in shape) + ")"
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape_text)
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1") + data


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def safetensors(tensors):
    """The bytes of a safetensors file; tensors: name -> (dtype, shape, data)."""
    header, body = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def crc32(data):
    return zlib.crc32(data) & 0xFFFFFFFF


def tensor(shape=(2, 3), dtype="torch.float32", low=0.0, high=1.0, mean=0.5, norm=2.0, **more):
    """A tensor leaf of a dump.json."""
    leaf = {"type": "torch.Tensor", "dtype": dtype, "shape": list(shape), "Max": high, "Min": low, "Mean": mean,
            "Norm": norm, "requires_grad": False}
    leaf.update(more)
    return leaf


def nan_tensor(shape=(2, 3)):
    return tensor(shape, low=float("nan"), high=float("nan"), mean=float("nan"), norm=float("nan"))


def inf_tensor(shape=(2, 3)):
    return tensor(shape, high=float("inf"), mean=float("inf"), norm=float("inf"))


def mask_tensor(shape=(2, 3)):
    return tensor(shape, low=float("-inf"), mean=float("-inf"), norm=float("inf"))


def call(inputs, outputs, **kwargs):
    """An API entry of a dump.json."""
    return {"input_args": inputs, "input_kwargs": kwargs, "output": outputs}


def number(value):
    return {"type": type(value).__name__, "value": value}


def dump_json(calls, task="statistics", level="L1"):
    """The text of a dump.json; calls: key -> entry, in execution order."""
    return json.dumps({"task": task, "level": level, "framework": "pytorch", "dump_data_dir": None, "data": calls})


def main():
    unittest.main()
