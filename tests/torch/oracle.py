"""Statuses of `check` on dumps of the test data against an oracle of its own: the same calls run by Python's torch.

The oracle shares nothing with the program: it reads dump.json with json, tensors with torch.load, calls the function
by its name with float32 raised to float64 (16-bit types to float32), and judges by the published rules of stage one.
Usage: oracle.py
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy
import torch

PROGRAM = os.environ.get("ULPSCOPE", "ulpscope")
DATA = os.environ.get("ULPSCOPE_TEST_DATA", "tests/data")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
DUMPS = [os.path.join(EXAMPLES, "dumps/target/step0/rank0"), os.path.join(EXAMPLES, "dumps/golden/step0/rank0"),
         os.path.join(DATA, "framework_dump/misc_backward_tensor_mix/single/step0/rank0"),
         os.path.join(DATA, "match/g_extra_dropout_tensor_L1/target/step0/rank0")]


class Skip(Exception):
    pass


def leaf(node, folder, raise_types):
    if isinstance(node, list):
        return [leaf(item, folder, raise_types) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node.get("type", "")
    if kind in ("torch.Tensor", "torch.nn.parameter.Parameter"):
        tensor = torch.load(os.path.join(folder, "dump_tensor_data", node["data_name"])).detach()
        if raise_types and tensor.dtype in (torch.float16, torch.bfloat16):
            return tensor.float()
        return tensor.double() if raise_types and tensor.dtype == torch.float32 else tensor
    if kind == "slice":
        return slice(*node["value"])
    if kind == "torch.dtype":
        return getattr(torch, node["value"].split(".")[-1])
    if kind == "torch.device":
        raise Skip("device")
    if not node:
        raise Skip("not described")
    return node.get("value")


def function(api):
    kind, name = api.split(".")[0], ".".join(api.split(".")[1:-1])
    if kind == "Functional":
        return getattr(torch.nn.functional, name)
    if kind == "Torch":
        return getattr(torch, name)
    if kind == "Tensor":
        return lambda x, *rest, **words: getattr(x, name)(*rest, **words)
    if name == "npu_rms_norm":
        def rms_norm(x, gamma, epsilon=1e-6):
            rstd = 1 / (x.pow(2).mean(-1, keepdim=True) + epsilon).sqrt()
            return x * rstd * gamma, rstd
        return rms_norm
    raise Skip(kind)


def status(golden, device):
    """Stage one: cosine, largest error, shares of small relative errors."""
    if list(golden.shape) != list(device.shape):
        return "error"
    if device.numel() == 0:
        return "SKIP"
    if not device.dtype.is_floating_point:
        return "pass" if torch.equal(golden.to(device.dtype), device) else "error"
    g, d = golden.double().numpy().ravel(), device.double().numpy().ravel()
    same = (g == d) | (numpy.isnan(g) & numpy.isnan(d))
    if (~(numpy.isfinite(g) & numpy.isfinite(d)) & ~same).any():
        return "error"
    finite = numpy.isfinite(g) & numpy.isfinite(d)
    zero = [numpy.abs(x[finite]).max(initial=0) <= 2.0 ** -52 for x in (g, d)]
    if g.size > 1 and not all(zero):
        if any(zero):
            return "error"
        x, y = g[finite] / numpy.abs(g[finite]).max(), d[finite] / numpy.abs(d[finite]).max()
        if not x @ y / (numpy.linalg.norm(x) * numpy.linalg.norm(y)) > 0.99:
            return "error"
    error = numpy.zeros_like(g)
    error[finite] = numpy.abs(d[finite] - g[finite])
    if error.max() < 0.001:
        return "pass"
    narrow = device.dtype in (torch.float16, torch.bfloat16)
    epsilon = 2.0 ** -8 if device.dtype == torch.bfloat16 else 2.0 ** -23 if golden.dtype == torch.float32 else 2.0 ** -52
    relative = error / (numpy.abs(numpy.where(finite, g, 0)) + epsilon)
    must, should = (0.01, 0.001) if narrow else (0.001, 0.0001)
    if not (relative < must).mean() > 1 - must:
        return "error"
    return "pass" if (relative < should).mean() > 1 - should else "warning"


def flat(values):
    out = []
    for value in values if isinstance(values, (list, tuple)) and not isinstance(values, torch.Size) else [values]:
        out += flat(value) if isinstance(value, (list, tuple)) else [value]
    return [v for v in out if isinstance(v, torch.Tensor)]


def expected(folder):
    """The forward status of each call that Python can run, as a recorded device."""
    with open(os.path.join(folder, "dump.json")) as file:
        data = json.load(file)["data"]
    out = {}
    for key, entry in data.items():
        if key.startswith("Module") or not key.endswith(".forward") or "dropout" in key:
            continue
        api = key[:-len(".forward")]
        try:
            run = function(api)
            args = [leaf(a, folder, True) for a in entry["input_args"]]
            words = {k: leaf(v, folder, True) for k, v in entry["input_kwargs"].items()}
            golden = flat(run(*args, **words))
            recorded = flat(leaf(entry["output"], folder, False))
        except (Skip, FileNotFoundError):
            continue
        if api.split(".")[1] in ("to", "empty") or not golden or not recorded:
            continue
        found = [status(g, d) for g, d in zip(golden, recorded)]
        order = ["SKIP", "pass", "warning", "error"]
        out[api] = max(found, key=order.index)
    return out


def main():
    failures = compared = errors = 0
    for folder in DUMPS:
        out = tempfile.mkdtemp(prefix="ulpscope_oracle_")
        try:
            subprocess.run([PROGRAM, "check", "-api_info", os.path.join(folder, "dump.json"), "-d", "recorded", "-q", "-o",
                            out, "--exact-output"], stdout=subprocess.DEVNULL, timeout=300)
            with open(os.path.join(out, "check_result.json")) as file:
                found = {api["api"]: api for api in json.load(file)["apis"]}
        finally:
            shutil.rmtree(out)
        for api, wanted in expected(folder).items():
            compared += 1
            errors += wanted == "error"
            if found[api]["forward"] != wanted:
                failures += 1
                print("%s %s: %s, the oracle says %s; %s" % (folder, api, found[api]["forward"], wanted, found[api]["message"]))
    print("%d calls, %d of them in error, %d differ" % (compared, errors, failures))
    return 0 if failures == 0 and compared >= 76 and errors > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
