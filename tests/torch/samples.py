"""Sample calls of torch's own test suite as dumps: each call is run here, and written down as a dump of task tensor.

Inputs are float64, so that the replay of a call agrees with Python's own result to rounding.
"""

import json
import os
import sys
import types
import unittest

import numpy
import torch

# The samples of torch's tests import a package that they do not need for this.
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase, ACCEPT=False))
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

# Their results are drawn from a generator, or memory that nobody wrote.
RANDOM = ("dropout", "bernoulli", "multinomial", "normal", "rand", "poisson", "cauchy", "exponential", "geometric",
          "log_normal", "uniform", "empty", "rrelu", "gumbel", "fractional_max_pool", "resize")
# torch.masked is no part of what dumps record; broadcast_shapes gives no tensor.
NO_APIS = ("masked.", "broadcast_shapes")


class NotWritten(Exception):
    """A value that no dump can hold."""


class Writer:
    """One rank folder with a dump.json."""

    def __init__(self, folder):
        self.folder = os.path.join(folder, "step0", "rank0")
        self.data = os.path.join(self.folder, "dump_tensor_data")
        os.makedirs(self.data)
        self.calls = {}
        self.count = 0

    def tensor(self, value):
        if type(value) is not torch.Tensor or value.layout != torch.strided or value.is_quantized:
            raise NotWritten("tensor of a special kind")
        if value._is_zerotensor():  # known to be zero, without memory
            value = torch.zeros(value.shape, dtype=value.dtype)
        array = value.detach().resolve_conj().resolve_neg().contiguous().numpy()
        name = "%d.npy" % self.count
        self.count += 1
        numpy.save(os.path.join(self.data, name), array)
        return {"type": "torch.Tensor", "dtype": str(value.dtype), "shape": list(value.shape), "Max": None, "Min": None,
                "Mean": None, "Norm": None, "requires_grad": bool(value.requires_grad), "data_name": name}

    def value(self, value, key=""):
        if value is None:
            return None
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, bool) or type(value) in (int, float, str):
            return {"type": type(value).__name__, "value": value}
        if isinstance(value, torch.Size):
            return {"type": "torch.Size", "value": list(value)}
        if isinstance(value, slice):
            return {"type": "slice", "value": [value.start, value.stop, value.step]}
        if value is Ellipsis:
            return {"type": "ellipsis", "value": "..."}
        if isinstance(value, torch.dtype) and key == "dtype":
            return {"type": "torch.dtype", "value": str(value)}
        if isinstance(value, torch.memory_format):
            return {"type": "torch.memory_format", "format": str(value).split(".")[-1]}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        raise NotWritten(type(value).__name__)

    def add(self, api, args, kwargs, outputs, gradient, gradients):
        number = sum(1 for key in self.calls if key.startswith(api + ".") and key.endswith(".forward"))
        key = "%s.%d" % (api, number)
        entry = {"input_args": [self.value(a) for a in args],
                 "input_kwargs": {k: self.value(v, k) for k, v in kwargs.items()},
                 "output": [self.value(o) for o in outputs]}
        backward = None
        if gradient is not None:
            backward = {"input": [self.tensor(gradient)],
                        "output": [None if g is None else self.tensor(g) for g in gradients]}
        self.calls[key + ".forward"] = entry
        if backward is not None:
            self.calls[key + ".backward"] = backward
        return key

    def write(self):
        path = os.path.join(self.folder, "dump.json")
        with open(path, "w") as file:
            json.dump({"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": "x",
                       "data": self.calls}, file)
        return path


def callables(op):
    """(API, function) of an entry of torch's list, by the names under which a dump has them."""
    if op.name.startswith("_refs") or op.variant_test_name not in ("", "mean", "p_2"):
        return
    name = op.name
    if name.startswith("nn.functional."):
        plain = name[len("nn.functional."):]
        if getattr(torch.nn.functional, plain, None) is op.op or hasattr(torch.nn.functional, plain):
            yield "Functional." + plain, getattr(torch.nn.functional, plain)
        return
    target = torch
    for part in name.split("."):
        target = getattr(target, part, None)
        if target is None:
            break
    if target is not None and name.count(".") <= 1:
        yield "Torch." + name, target
    if "." not in name and hasattr(torch.Tensor, name):
        yield "Tensor." + name, getattr(torch.Tensor, name)
        if op.inplace_variant is not None and hasattr(torch.Tensor, name + "_"):
            yield "Tensor." + name + "_", getattr(torch.Tensor, name + "_")


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(copied(v) for v in value) if type(value) in (list, tuple) else value
    return value


def tensors(values):
    out = []
    for value in values:
        if isinstance(value, torch.Tensor):
            out.append(value)
        elif isinstance(value, (list, tuple)):
            out += tensors(value)
    return out


def run(function, args, kwargs, inplace):
    """Outputs, gradient and gradients of a call; the gradient is None where there is no backward to check."""
    args, kwargs = copied(list(args)), {k: copied(v) for k, v in kwargs.items()}
    leaves = tensors(args) + tensors(kwargs.values())
    given = list(args)
    if inplace:
        given[0] = args[0].clone()
    output = function(*given, **kwargs)
    outputs = list(output) if isinstance(output, (list, tuple)) and not isinstance(output, torch.Size) else [output]
    single = isinstance(output, torch.Tensor) and output.requires_grad and output.dtype == torch.float64
    if not single or not tensors([output])[0].numel():
        return outputs, None, []
    torch.manual_seed(7)
    gradient = torch.rand(output.shape, dtype=output.dtype)
    torch.autograd.backward(output, gradient.clone())  # some functions work on it in place
    return [output.detach()], gradient, [leaf.grad for leaf in leaves]


def write_samples(folder, most):
    """Writes up to `most` calls of each API; returns the path of dump.json and the key of each call."""
    writer = Writer(folder)
    keys = {}
    for op in op_db:
        if any(word in op.name for word in RANDOM) or op.name.startswith(NO_APIS):
            continue
        for api, function in callables(op):
            dtype = torch.float64
            if dtype not in op.dtypes:
                dtype = torch.int64 if torch.int64 in op.dtypes else torch.bool
            inplace = api.endswith("_") and not api.endswith("__")
            gradient = op.supports_autograd and dtype == torch.float64 and api.split(".")[-1] not in ("masked_select",)
            torch.manual_seed(1)
            try:
                samples = list(op.sample_inputs("cpu", dtype, requires_grad=gradient))
            except Exception:
                continue
            # From the whole list, not only its beginning.
            chosen = samples[::max(1, len(samples) // most)][:most]
            for sample in chosen:
                args = (sample.input,) + tuple(sample.args)
                try:
                    outputs, grad, grads = run(function, args, sample.kwargs, inplace)
                    if not any(t.numel() for t in tensors(outputs)):
                        continue  # nothing to compare
                    key = writer.add(api, args, sample.kwargs, outputs, grad, grads)
                except Exception:
                    continue  # Python itself refuses it, or no dump can hold it
                keys.setdefault(api, []).append(key)
    return writer.write(), keys
