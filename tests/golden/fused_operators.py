"""Runs the formulas of fused operators against vectors with known results, through `check` on a recorded device.

Each vector of tests/data/judgement_vectors/fused_ops becomes a dump with one API call whose recorded outputs are the
known results; the largest absolute error that check reports must be within rounding. The vectors in which the program
that wrote them failed are checked against results that are worked out here.
"""

import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("ULPSCOPE", "ulpscope")
DATA = os.path.join(os.environ.get("ULPSCOPE_TEST_DATA", "tests/data"), "judgement_vectors", "fused_ops")
# Largest absolute error by the type of the vector. The values are of the order of one; float64 is matched to its own
# rounding, narrower types to theirs. Two functions work in float32 inside whatever their input.
LIMITS = {"fp64": 1e-12, "fp32": 1e-5, "fp16": 4e-3, "bf16": 3e-2}
FLOAT32_OUTPUTS = {("npu_rms_norm_fp64", 1): 1e-7, ("npu_moe_gating_top_k_softmax_fp64_fin", 0): 1e-7}
NAMES = {"scale_value": "scale"}


class Dump:
    def __init__(self, folder):
        self.rank = os.path.join(folder, "step0", "rank0")
        self.data = os.path.join(self.rank, "dump_tensor_data")
        os.makedirs(self.data)
        self.calls = {}

    def tensor(self, name, dtype, shape):
        return {"type": "torch.Tensor", "dtype": "torch." + dtype, "shape": shape, "Max": 1.0, "Min": 0.0, "Mean": 0.5,
                "Norm": 1.0, "requires_grad": False, "data_name": name}

    def file(self, entry):
        shutil.copy(os.path.join(DATA, entry["tensor"]), self.data)
        return self.tensor(entry["tensor"], entry["dtype"], entry["shape"])

    def value(self, entry):
        if isinstance(entry, dict) and "tensor" in entry:
            return self.file(entry)
        if isinstance(entry, list):
            return [self.value(item) for item in entry]
        if entry is None:
            return None
        return {"type": type(entry).__name__, "value": entry}

    def add(self, vector, outputs):
        kwargs = {NAMES.get(k, k): self.value(v) for k, v in vector["kwargs"].items()}
        self.calls["NPU.%s.%d.forward" % (vector["function"], len(self.calls))] = {
            "input_args": [self.value(a) for a in vector["args"]], "input_kwargs": kwargs, "output": outputs}

    def write(self):
        path = os.path.join(self.rank, "dump.json")
        with open(path, "w") as file:
            json.dump({"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": "x",
                       "data": self.calls}, file)
        return path


def read_doubles(name):
    with open(os.path.join(DATA, name), "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    kind = "d" if b"'<f8'" in data[:10 + size] else "f"
    body = data[10 + size:]
    return struct.unpack("<%d%s" % (len(body) // struct.calcsize(kind), kind), body)


def write_npy(path, values, shape):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }" % "".join("%d, " % n for n in shape)
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                   struct.pack("<%dd" % len(values), *values))


def triangle_softmax(vector, dump):
    """The masked softmax over a fixed triangle, on which the program that wrote the vectors fails."""
    entry = vector["args"][0]
    values, (rows, columns), scale = read_doubles(entry["tensor"]), entry["shape"][-2:], vector["args"][2]
    out = []
    for start in range(0, len(values), columns):
        row = start // columns % rows
        scores = [-10000.0 if c > row else values[start + c] * scale for c in range(columns)]
        parts = [math.exp(s - max(scores)) for s in scores]
        out += [p / sum(parts) for p in parts]
    name = vector["id"] + ".out.npy"
    write_npy(os.path.join(dump.data, name), out, entry["shape"])
    return [dump.tensor(name, "float64", entry["shape"])]


def limit_of(vector, output):
    kind = [k for k in LIMITS if k in vector["id"]][0]
    return FLOAT32_OUTPUTS.get((vector["id"], output), LIMITS[kind])


def main():
    with open(os.path.join(DATA, "vectors.json")) as file:
        vectors = json.load(file)
    assert len(vectors) == 24, "expected 24 vectors, found %d" % len(vectors)
    folder = tempfile.mkdtemp(prefix="ulpscope_fused_")
    try:
        dump = Dump(os.path.join(folder, "dump"))
        for vector in vectors:
            known = [dump.value(o) for o in vector["outputs"]] if "outputs" in vector else triangle_softmax(vector, dump)
            dump.add(vector, known)
        out = os.path.join(folder, "out")
        run = subprocess.run([PROGRAM, "check", "-api_info", dump.write(), "-d", "recorded", "-o", out, "--exact-output"],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        with open(os.path.join(out, "check_result.json")) as file:
            apis = {api["api"]: api for api in json.load(file)["apis"]}
        failures = 0
        for number, vector in enumerate(vectors):
            api = apis["NPU.%s.%d" % (vector["function"], number)]
            if api["forward"] == "SKIP":
                failures += 1
                print("%s: SKIP %s" % (vector["id"], api["message"]))
            for index, output in enumerate(api["outputs"]):
                error = output["metrics"].get("max_abs_error")
                if error is None and output["status"] == "pass" and output["algorithm"] == "binary_consistency":
                    continue
                if error is None or not error <= limit_of(vector, index):
                    failures += 1
                    print("%s output %d: %s, %s" % (vector["id"], index, error, output))
        if failures:
            print(run.stdout.decode())
        return 1 if failures else 0
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
