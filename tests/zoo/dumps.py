"""Dumps in the layout of msprobe: one recorder for each step and rank, and the writer of `.pt` containers.

Arrays live as float32, int64 or bool in memory; `Tensor.dtype` says which format the run under simulation holds them in,
and every float array is already rounded to that format.
"""
import json
import os
import struct
import zlib
from functools import cached_property, lru_cache

import numpy as np

FLOATS = {"f32": "torch.float32", "bf16": "torch.bfloat16", "f16": "torch.float16"}
NAMES = {**FLOATS, "i64": "torch.int64", "i8": "torch.int8", "bool": "torch.bool"}
STORAGES = {"f32": "FloatStorage", "bf16": "BFloat16Storage", "f16": "HalfStorage", "i64": "LongStorage",
            "i8": "CharStorage", "bool": "BoolStorage"}


def rounded(values, dtype):
    """float32 values, each rounded to the nearest value of the format (ties to even)."""
    values = np.asarray(values, np.float32)
    if dtype == "f32":
        return values
    if dtype == "f16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float32)
    bits = values.reshape(-1).view(np.uint32).astype(np.uint64)
    up = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32)
    up = np.where(np.isnan(values.reshape(-1)), np.uint32(0x7FC00000), up).astype(np.uint32)
    return up.view(np.float32).reshape(values.shape)


class Tensor:
    def __init__(self, values, dtype):
        self.dtype = dtype
        self.a = rounded(values, dtype) if dtype in FLOATS else np.asarray(values)

    # What one call gives and others read is written several times.
    @cached_property
    def raw(self):
        a = np.ascontiguousarray(self.a)
        if self.dtype == "bf16":
            return (a.view(np.uint32) >> 16).astype("<u2").tobytes()
        if self.dtype == "f16":
            return a.astype("<f2").tobytes()
        return a.astype({"f32": "<f4", "i64": "<i8", "i8": "i1", "bool": "?"}[self.dtype]).tobytes()

    @cached_property
    def statistics(self):
        return _statistics(self.a, self.dtype) if self.a.size else (None,) * 4


def _number(n):
    return b"K" + bytes([n]) if n < 256 else b"J" + struct.pack("<i", n)


def _text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()


@lru_cache(None)
def _pickle(dtype, shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    numbers = lambda seq: b"(" + b"".join(_number(n) for n in seq) + b"t"
    storage = b"(" + _text("storage") + b"ctorch\n" + STORAGES[dtype].encode() + b"\n" + _text("0") + _text("cpu") \
        + _number(step) + b"tQ"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + _number(0) + numbers(shape) + numbers(strides) \
        + b"\x89ccollections\nOrderedDict\n)RtR."


def write_pt(path, tensor):
    root = os.path.basename(path)[:-3]
    body, directory = bytearray(), bytearray()
    records = [("data.pkl", _pickle(tensor.dtype, tensor.a.shape)), ("data/0", tensor.raw), ("version", b"3\n")]
    for name, payload in records:
        entry = f"{root}/{name}".encode()
        offset, crc = len(body), zlib.crc32(payload)
        pad = -(offset + 30 + len(entry) + 4) % 64
        body += struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 0, 0, 0, 0, 0, crc, len(payload), len(payload), len(entry), pad + 4)
        body += entry + struct.pack("<2sH", b"FB", pad) + b"Z" * pad + payload
        directory += struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 0, 0, 0, 0, 0, 0, crc, len(payload), len(payload),
                                 len(entry), 0, 0, 0, 0, 0, offset) + entry
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, len(records), len(records), len(directory), len(body), 0)
    with open(path, "wb") as file:
        file.write(body + directory + end)


def _statistics(a, dtype):
    if dtype == "bool":
        return bool(a.any()), bool(a.all()), None, None
    if dtype in ("i64", "i8"):
        return int(a.max()), int(a.min()), None, None
    wide = a.astype(np.float64)
    if np.isnan(wide).any():
        return (float("nan"),) * 4
    with np.errstate(over="ignore", invalid="ignore"):
        mean, norm = rounded([wide.mean(), np.sqrt((wide * wide).sum())], dtype)
    return float(a.max()), float(a.min()), float(mean), float(norm)


class Recorder:
    """What one rank records in one step: entries in execution order, modules after what they contain.

    A folder may hold several tokens (`token` counts them): then their tags begin with `t1.`, `t2.`.
    """

    def __init__(self, step, rank, modules=True, apis=True, digests=False):
        self.step, self.rank, self.token = step, rank, 0
        self.digests = digests
        self.modules, self.apis = modules, apis
        self.entries, self.parents, self.tags = [], {}, {}
        self.counts, self.stack = {}, []

    def number(self, stem):
        self.counts[stem] = self.counts.get(stem, -1) + 1
        return self.counts[stem]

    def api(self, key, args, kwargs, outputs, tag):
        self.name(tag, key)
        self.parents[key] = self.stack[-1] if self.stack else None
        if self.apis:
            self.entries.append((key, {"input_args": list(args), "input_kwargs": kwargs, "output": outputs}))

    def entry(self, key, sections, tag=None):
        """An entry of another form: a backward call, a gradient of parameters."""
        self.name(tag, key)
        self.parents[key] = None
        self.entries.append((key, sections))

    def name(self, tag, key):
        if tag:
            self.tags[f"t{self.token}.{tag}" if self.token else tag] = key

    def module(self, path, kind, inputs, run, parameters=None):
        stem = f"Module.{path}.{kind}.forward"
        key = f"{stem}.{self.number(stem)}"
        self.name(path, key)
        self.parents[key] = self.stack[-1] if self.stack else None
        self.stack.append(key)
        out = run()
        self.stack.pop()
        if self.modules:
            self.entries.append((key, {"input_args": list(inputs), "input_kwargs": {}, "output": [out],
                                       "parameters": parameters or {}}))
        return out

    def write(self, root, task, level):
        folder = os.path.join(root, f"step{self.step}", f"rank{self.rank}")
        files = os.path.join(folder, "dump_tensor_data")
        os.makedirs(files if task == "tensor" else folder, exist_ok=True)
        data = {}
        for key, entry in self.entries:
            data[key] = {}
            for section, value in entry.items():
                category = {"input_args": "input", "input_kwargs": "kwargs"}.get(section, section)
                data[key][section] = self._leaf(value, f"{key}.{category}", files if task == "tensor" else None)
        header = {"task": task, "level": level, "framework": "pytorch",
                  "dump_data_dir": "/dump/dump_tensor_data" if task == "tensor" else None, "data": data}
        for name, content in (("dump", header), ("construct", self.parents if self.modules else {}), ("stack", {})):
            with open(os.path.join(folder, name + ".json"), "w") as file:
                file.write(json.dumps(content))

    def _leaf(self, value, name, files):
        if isinstance(value, Tensor):
            numbers = value.statistics
            leaf = {"type": "torch.Tensor", "dtype": NAMES[value.dtype], "shape": list(value.a.shape),
                    **dict(zip(("Max", "Min", "Mean", "Norm"), numbers)), "requires_grad": False}
            if self.digests:
                leaf["md5"] = "%08x" % zlib.crc32(value.raw)
            if files and value.a.size:
                leaf["data_name"] = name + ".pt"
                write_pt(os.path.join(files, name + ".pt"), value)
            return leaf
        if isinstance(value, dict):
            return {k: self._leaf(v, f"{name}.{k}", files) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._leaf(v, f"{name}.{i}", files) for i, v in enumerate(value)]
        if value is None:
            return None
        if isinstance(value, slice):
            return {"type": "slice", "value": [value.start, value.stop, value.step]}
        if value is Ellipsis:
            return {"type": "ellipsis", "value": "..."}
        if isinstance(value, Group):
            return {"type": "torch.ProcessGroup", "group_ranks": value.ranks, "group_id": "%08x" % zlib.crc32(str(value.ranks).encode())}
        return {"type": type(value).__name__, "value": value}


class Group:
    def __init__(self, ranks):
        self.ranks = ranks
