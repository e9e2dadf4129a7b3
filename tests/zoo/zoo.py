"""A small decoder, computed call by call, that writes dumps with a fault of known place.

The devices differ in the order of their sums, the formats in rounding: whatever else differs between two runs was put there
by a fault. `cases.py` lists the pairs of runs and their answers, `check.py` compares them.
"""
import threading
from dataclasses import dataclass, field

import numpy as np

from dumps import Group, Recorder, Tensor, rounded

F32 = np.float32


class Machine:
    """Arithmetic of a device. plain: numpy in float32; double: float64, rounded once; blocks: sums of 8 terms, last block first;
    split: two halves, each rounded to the format of the run before they meet."""

    def __init__(self, order, dtype):
        self.order, self.dtype = order, dtype

    def matmul(self, a, b):
        if self.order == "plain":
            return np.matmul(a, b)
        if self.order == "double":
            return np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(F32)
        if self.order == "split":
            half = (a.shape[-1] + 1) // 2
            return rounded(np.matmul(a[..., :half], b[..., :half, :]), self.dtype) \
                + rounded(np.matmul(a[..., half:], b[..., half:, :]), self.dtype)
        total = F32(0)
        for start in reversed(range(0, a.shape[-1], 8)):
            total = total + np.matmul(a[..., start:start + 8], b[..., start:start + 8, :])
        return total

    def sum(self, a):
        if self.order == "plain":
            return a.sum(-1, keepdims=True)
        if self.order == "double":
            return a.astype(np.float64).sum(-1, keepdims=True).astype(F32)
        return np.cumsum(a[..., ::-1], -1, dtype=F32)[..., -1:]

    def apply(self, function, a):
        """A function of one element; other devices round it better than float32 arithmetic does."""
        return function(a) if self.order == "plain" else function(a.astype(np.float64)).astype(F32)


@dataclass
class Fault:
    """Changes one output of the call with this tag."""
    tag: str
    change: object  # (float32 array, generator) -> array
    steps: tuple = (0, 1, 2)
    ranks: tuple = (0, 1)
    output: int = 0


def rms(a):
    finite = a[np.isfinite(a)].astype(np.float64)
    return F32(np.sqrt(np.mean(finite * finite)))


def noise(scale):
    return lambda a, rng: a + F32(scale) * rms(a) * rng.standard_normal(a.shape).astype(F32)


def factor(value):
    return lambda a, rng: a * F32(value)


def element(size):
    def change(a, rng):
        a = a.copy()
        a.reshape(-1)[rng.integers(a.size)] += F32(size) * rms(a)
        return a
    return change


def value_at(value):
    def change(a, rng):
        a = a.copy()
        a.reshape(-1)[rng.integers(a.size)] = value
        return a
    return change


nan_at = value_at(np.nan)


def bad_row(a, rng):
    a = a.copy()
    rows = a.reshape(-1, a.shape[-1])
    row = rng.integers(len(rows))
    rows[row] = rows[row, ::-1]
    return a


def swapped_rows(a, rng):
    a = a.copy()
    rows = a.reshape(-1, a.shape[-1])
    rows[[0, -1]] = rows[[-1, 0]]
    return a


@dataclass
class Run:
    seed: int = 0
    layers: int = 3
    prompt: int = 7
    steps: int = 2
    inner: int = 128
    experts: int = 0
    dtype: str = "f32"
    order: str = "plain"
    task: str = "tensor"
    level: str = "L1"
    tp: int = 1
    faults: tuple = ()
    edits: dict = field(default_factory=dict)  # weight name -> function of the array
    rope_base: float = 10000.0
    scale_by: float = 1.0
    eps: float = 1e-6
    dropout: float = None       # None: not called; 0: called and inactive; else: share of dropped elements
    dropout_layer: int = 1
    training: bool = False      # of the dropout call that both sides make (with dropout = 0)
    contiguous: bool = False    # an extra call that copies
    bmm: str = "matmul"         # name of the score product
    hide: tuple = ()            # call names that the dump filter drops
    position_offset: int = 0
    offset_layer: int = None    # the layer that position_offset is for; None: all
    fused: bool = False         # one call for each norm
    digests: bool = False       # a checksum of each tensor beside its numbers
    eps_layer: int = None       # the layer that eps is for, others keep 1e-6; None: all
    narrow: tuple = ()          # tags of calls whose result is bf16 while the run computes in something wider
    transposed: tuple = ()      # tags of products that take their square second operand the other way
    lost: str = ""              # residual of one layer: "call": no addition, "operand": the second adds what the norm gave
    lost_layer: int = 1
    cache_edits: dict = field(default_factory=dict)  # (layer, "k" or "v", step) -> function of what the cache held
    shards: dict = field(default_factory=dict)       # (rank, weight) -> rank whose part it gets
    mask: str = "causal"        # or "future" (one key too many), "none" (zeros), "finite", "uncalled"
    mask_layer: int = None      # the layer that mask is for; None: all
    rope_factor: float = 1.0    # of both tables
    rope_stretch: float = 1.0   # positions are divided by it
    rope_dtype: str = ""        # format that the tables were rounded to
    shifted_tokens: int = 0     # the embedding reads the token so many places further
    quantised: bool = False     # o and down multiply int8 weights and a scale for each channel
    scale_edits: dict = field(default_factory=dict)  # quantised weight -> function of its scales
    early_silu: bool = False    # silu before the second product of the MLP instead of after it
    one_folder: bool = False    # all tokens of a generation in one step folder


HIDDEN, HEADS, VOCAB, MAX_POSITION = 64, 4, 128, 256


def weights_of(run):
    rng = np.random.default_rng(1000 + run.seed)
    make = lambda out, into: (rng.standard_normal((out, into)) / np.sqrt(into)).astype(F32)
    scale = lambda: (1 + 0.1 * rng.standard_normal(HIDDEN)).astype(F32)
    w = {"embed": rng.standard_normal((VOCAB, HIDDEN)).astype(F32)}
    for layer in range(run.layers):
        p = f"L{layer}."
        w[p + "norm1"], w[p + "norm2"] = scale(), scale()
        for name in "qkvo":
            w[p + name] = make(HIDDEN, HIDDEN)
        mlps = [f"{p}e{e}." for e in range(run.experts)] if run.experts else [p]
        if run.experts:
            w[p + "router"] = make(run.experts, HIDDEN)
        for m in mlps:
            w[m + "gate"], w[m + "up"] = make(run.inner, HIDDEN), make(run.inner, HIDDEN)
            w[m + "down"] = make(HIDDEN, run.inner)
    w["norm"], w["head"] = scale(), make(VOCAB, HIDDEN)
    for name, edit in run.edits.items():
        w[name] = edit(w[name].copy()).astype(F32)
    return w


def mask_of(length, kind):
    """Zeros where a query sees a key, minus infinity elsewhere."""
    if kind == "none":
        return np.zeros((length, length), F32)
    hidden = F32(-30000) if kind == "finite" else F32(-np.inf)
    return np.triu(np.full((length, length), hidden, F32), 2 if kind == "future" else 1)


class AllReduce:
    """Meeting point of the ranks: every rank brings a tensor and takes the sum."""

    def __init__(self, ranks):
        self.barrier, self.parts = threading.Barrier(ranks), [None] * ranks

    def sum(self, rank, values):
        self.parts[rank] = values
        self.barrier.wait()
        total = self.parts[0]
        for part in self.parts[1:]:
            total = total + part
        self.barrier.wait()
        return total


class Decoder:
    def __init__(self, run, rank, meeting):
        self.run, self.rank, self.meeting = run, rank, meeting
        self.machine, self.dtype = Machine(run.order, run.dtype), run.dtype
        self.rng = np.random.default_rng(77 + run.seed + rank)
        self.head_dim, self.heads = HIDDEN // HEADS, HEADS // run.tp
        self.exact = {name: self.shard(name, a) for name, a in weights_of(run).items()}
        self.w = {name: Tensor(a, run.dtype) for name, a in self.exact.items()}
        angles = np.outer(np.arange(MAX_POSITION) / run.rope_stretch,
                          run.rope_base ** (-np.arange(0, self.head_dim, 2) / self.head_dim))
        angles = np.concatenate([angles, angles], -1)
        tables = (rounded(f(angles) * run.rope_factor, run.rope_dtype or run.dtype) for f in (np.cos, np.sin))
        self.cos, self.sin = (Tensor(table, run.dtype) for table in tables)
        self.cache = {}
        self.recorders = []

    def shard(self, name, a):
        kind, tp = name.split(".")[-1], self.run.tp
        if tp == 1:
            return a
        axis = {"q": 0, "k": 0, "v": 0, "gate": 0, "up": 0, "o": 1, "down": 1}.get(kind)
        if axis is None or "." not in name:
            return a
        return np.split(a, tp, axis)[self.run.shards.get((self.rank, name), self.rank)]

    def chosen(self, layer, only):
        return only is None or layer == only

    # One API call: computes, applies faults, records.
    def call(self, prefix, name, args, compute, kwargs=None, tag=None, dtype=None):
        outputs = compute()
        several = isinstance(outputs, (tuple, list))
        outputs = list(outputs) if several else [outputs]
        dtype = "bf16" if tag in self.run.narrow else dtype or self.dtype
        outputs = [o if isinstance(o, Tensor) else Tensor(o, dtype) for o in outputs]
        for fault in self.run.faults:
            if fault.tag == tag and self.step in fault.steps and self.rank in fault.ranks:
                old = outputs[fault.output]
                outputs[fault.output] = Tensor(fault.change(old.a, self.rng), old.dtype)
        number = self.rec.number(f"{prefix}.{name}")
        if name not in self.run.hide:
            listed = outputs + [kwargs["group"]] if prefix == "Distributed" else outputs
            self.rec.api(f"{prefix}.{name}.{number}.forward", args, kwargs or {}, listed, tag)
        return outputs if several else outputs[0]

    def linear(self, x, weight, tag):
        w = self.w[weight]
        if self.run.quantised and weight.split(".")[-1] in ("o", "down"):
            return self.quantised_linear(x, self.exact[weight], weight, tag)
        across = w.a if tag in self.run.transposed else w.a.T
        return self.call("Functional", "linear", [x, w], lambda: self.machine.matmul(x.a, across), tag=tag)

    def quantised_linear(self, x, w, weight, tag):
        scale = np.abs(w).max(-1) / F32(127)
        codes = Tensor(np.rint(w / scale[:, None]).astype(np.int64), "i8")
        scale = Tensor(self.run.scale_edits.get(weight, lambda a: a)(scale), "f32")
        return self.call("NPU", "npu_quant_matmul", [x, codes, scale],
                         lambda: self.machine.matmul(x.a, codes.a.T.astype(F32)) * scale.a, tag=tag)

    def binary(self, name, x, y, tag=None, dtype=None):
        other = y.a if isinstance(y, Tensor) else F32(y)
        run = {"mul": np.multiply, "add": np.add, "div": np.divide, "__mul__": np.multiply, "__add__": np.add}[name]
        prefix = "Tensor" if name.startswith("__") else "Torch"
        return self.call(prefix, name, [x, y], lambda: run(x.a, other), tag=tag, dtype=dtype)

    def getitem(self, x, index, tag=None):
        recorded = index if not isinstance(index, np.ndarray) else Tensor(index, "i64")
        return self.call("Tensor", "__getitem__", [x, recorded], lambda: x.a[index], tag=tag, dtype=x.dtype)

    def to(self, x, dtype):
        return x if x.dtype == dtype else self.call("Tensor", "to", [x], lambda: x.a, dtype=dtype)

    def norm(self, x, weight, path):
        number = int(path.split(".")[2]) if "layers" in path else -1
        eps = self.run.eps if self.chosen(number, self.run.eps_layer) else 1e-6

        def run():
            wide = self.to(x, "f32")
            square = self.call("Tensor", "pow", [wide, 2], lambda: wide.a * wide.a, dtype="f32", tag=path + ".pow")
            mean = self.call("Tensor", "mean", [square, -1], lambda: self.machine.sum(square.a) / F32(HIDDEN),
                             {"keepdim": True}, dtype="f32", tag=path + ".mean")
            shifted = self.binary("__add__", mean, eps, dtype="f32", tag=path + ".eps")
            root = self.call("Torch", "rsqrt", [shifted], lambda: self.machine.apply(lambda a: 1 / np.sqrt(a), shifted.a),
                             dtype="f32", tag=path + ".rsqrt")
            scaled = self.to(self.binary("mul", wide, root, dtype="f32", tag=path + ".scale"), self.dtype)
            return self.binary("mul", self.w[weight], scaled, tag=path + ".weight")
        def fused():
            w = self.w[weight]
            root = lambda: 1 / np.sqrt(self.machine.sum(x.a * x.a) / F32(HIDDEN) + F32(eps))
            return self.call("NPU", "npu_rms_norm", [x, w], lambda: x.a * root() * w.a, {"epsilon": eps},
                             tag=path + ".weight")
        return self.rec.module(path, "RMSNorm", [x], fused if self.run.fused else run, {"weight": self.w[weight]})

    def rotate(self, x, cos, sin, tag):
        half = self.head_dim // 2
        first = self.getitem(x, (Ellipsis, slice(None, half, None)))
        second = self.getitem(x, (Ellipsis, slice(half, None, None)))
        minus = self.call("Tensor", "__neg__", [second], lambda: -second.a)
        turned = self.cat([minus, first], -1)
        return self.binary("add", self.binary("mul", x, cos, tag=tag + ".cos"), self.binary("mul", turned, sin, tag=tag + ".sin"),
                           tag=tag)

    def cat(self, parts, axis, tag=None):
        return self.call("Torch", "cat", [parts], lambda: np.concatenate([p.a for p in parts], axis), {"dim": axis}, tag=tag)

    def softmax(self, x, tag):
        def run():
            e = self.machine.apply(np.exp, x.a - x.a.max(-1, keepdims=True))
            return e / self.machine.sum(e)
        return self.call("Functional", "softmax", [x], run, {"dim": -1}, tag=tag)

    def dropout(self, x, share, training, tag):
        def run():
            if not training or share == 0:
                return x.a
            return np.where(self.rng.random(x.a.shape) < share, F32(0), x.a / F32(1 - share))
        return self.call("Functional", "dropout", [x], run, {"p": float(share), "training": training}, tag=tag)

    def cached(self, layer, name, held):
        edit = self.run.cache_edits.get((layer, name, self.step))
        return Tensor(edit(held.a.copy()), held.dtype) if edit else held

    def reduce(self, x, tag):
        if self.run.tp == 1:
            return x
        group = Group(list(range(self.run.tp)))
        return self.call("Distributed", "all_reduce", [x], lambda: self.meeting.sum(self.rank, x.a), {"group": group}, tag=tag)

    def split_heads(self, x):
        return Tensor(x.a.reshape(len(x.a), self.heads, self.head_dim).transpose(1, 0, 2), x.dtype)

    def attention(self, x, positions, layer):
        p = f"L{layer}."
        q, k, v = (self.split_heads(self.linear(x, p + n, p + n)) for n in "qkv")
        if self.chosen(layer, self.run.offset_layer):
            positions = positions + self.run.position_offset
        cos = self.getitem(self.cos, positions, tag=p + "cos_table")
        sin = self.getitem(self.sin, positions, tag=p + "sin_table")
        q, k = self.rotate(q, cos, sin, p + "rope_q"), self.rotate(k, cos, sin, p + "rope_k")
        if layer in self.cache:
            old_k, old_v = (self.cached(layer, name, held) for name, held in zip("kv", self.cache[layer]))
            k, v = self.cat([old_k, k], 1, p + "cache_k"), self.cat([old_v, v], 1, p + "cache_v")
        self.cache[layer] = (k, v)
        turned = k.a if p + "qk" in self.run.transposed else k.a.transpose(0, 2, 1)
        across = Tensor(turned, k.dtype)
        scores = self.call("Torch", self.run.bmm, [q, across], lambda: self.machine.matmul(q.a, across.a), tag=p + "qk")
        scores = self.binary("mul", scores, float(self.run.scale_by / np.sqrt(self.head_dim)), tag=p + "scale")
        kind = self.run.mask if self.chosen(layer, self.run.mask_layer) else "causal"
        if len(x.a) > 1 and kind != "uncalled":
            scores = self.binary("add", scores, Tensor(mask_of(len(x.a), kind), self.dtype), tag=p + "mask")
        probabilities = self.softmax(scores, p + "softmax")
        if self.run.dropout is not None and layer == self.run.dropout_layer:
            probabilities = self.dropout(probabilities, self.run.dropout, self.run.training, p + "dropout")
        mixed = self.call("Torch", "matmul", [probabilities, v], lambda: self.machine.matmul(probabilities.a, v.a), tag=p + "pv")
        mixed = Tensor(mixed.a.transpose(1, 0, 2).reshape(len(x.a), -1), mixed.dtype)
        if self.run.contiguous:
            mixed = self.call("Tensor", "contiguous", [mixed], lambda: mixed.a)
        return self.reduce(self.linear(mixed, p + "o", p + "o"), p + "reduce_o")

    def mlp(self, x, p):
        silu = lambda: self.machine.apply(lambda a: a / (1 + np.exp(-a)), gate.a)
        gate = self.linear(x, p + "gate", p + "gate")
        if self.run.early_silu:
            active = self.call("Functional", "silu", [gate], silu, tag=p + "silu")
        up = self.linear(x, p + "up", p + "up")
        if not self.run.early_silu:
            active = self.call("Functional", "silu", [gate], silu, tag=p + "silu")
        return self.linear(self.binary("mul", active, up, tag=p + "act"), p + "down", p + "down")

    def experts(self, x, p):
        probabilities = self.softmax(self.linear(x, p + "router", p + "router"), p + "route")

        def choose():
            order = np.argsort(-probabilities.a, -1, kind="stable")[:, :2]
            return Tensor(np.take_along_axis(probabilities.a, order, -1), self.dtype), Tensor(order, "i64")
        value, index = self.call("Torch", "topk", [probabilities, 2], choose, tag=p + "topk")
        total = self.call("Torch", "sum", [value], lambda: self.machine.sum(value.a), {"dim": -1})
        value = self.binary("div", value, total)
        out = Tensor(np.zeros_like(x.a), self.dtype)
        for expert in range(self.run.experts):
            rows, place = np.nonzero(index.a == expert)
            if not len(rows):
                continue
            part = self.mlp(self.getitem(x, rows, f"{p}rows{expert}"), f"{p}e{expert}.")
            weight = Tensor(value.a[rows, place][:, None], self.dtype)
            part = self.binary("mul", part, weight)
            before = out

            def gather():
                a = before.a.copy()
                np.add.at(a, rows, part.a)
                return a
            out = self.call("Tensor", "index_add_", [before, 0, Tensor(rows, "i64"), part], gather)
        return out

    def layer(self, x, positions, number):
        p, path = f"L{number}.", f"model.layers.{number}"

        def run():
            h = self.norm(x, p + "norm1", path + ".input_layernorm")
            a = self.rec.module(path + ".self_attn", "Attention", [h], lambda: self.attention(h, positions, number))
            lost = self.run.lost if number == self.run.lost_layer else ""
            y = a if lost == "call" else self.binary("add", x, a, tag=p + "add1")
            h2 = self.norm(y, p + "norm2", path + ".post_attention_layernorm")
            if self.run.experts:
                m = self.rec.module(path + ".mlp", "Experts", [h2], lambda: self.experts(h2, p))
            else:
                m = self.rec.module(path + ".mlp", "MLP", [h2], lambda: self.reduce(self.mlp(h2, p), p + "reduce_down"))
            return self.binary("add", h2 if lost == "operand" else y, m, tag=p + "add2")
        return self.rec.module(path, "DecoderLayer", [x], run)

    def forward(self, step, ids, positions):
        level, self.step = self.run.level, step
        if step == 0 or not self.run.one_folder:
            self.rec = Recorder(step, self.rank, level in ("mix", "L0"), level in ("mix", "L1"), self.run.digests)
            self.recorders.append(self.rec)
        elif self.run.one_folder:
            self.rec.token = step
        ids = np.roll(ids, -self.run.shifted_tokens)
        tokens, table = Tensor(ids, "i64"), self.w["embed"]
        x = self.rec.module("model.embed_tokens", "Embedding", [tokens], lambda: self.call(
            "Functional", "embedding", [tokens, table], lambda: table.a[ids], tag="embed"), {"weight": table})
        for number in range(self.run.layers):
            x = self.layer(x, positions, number)
        x = self.norm(x, "norm", "model.norm")
        logits = self.rec.module("lm_head", "Linear", [x], lambda: self.linear(x, "head", "head"), {"weight": self.w["head"]})
        self.call("Torch", "argmax", [logits], lambda: logits.a.argmax(-1), {"dim": -1}, dtype="i64",
                  tag="argmax")


def simulate(run, folder):
    """Writes the dump of a run and answers {(step, rank): {tag: key}}."""
    rng = np.random.default_rng(5 + run.seed)
    ids = rng.integers(0, VOCAB, run.prompt + run.steps)
    meeting = AllReduce(run.tp)
    ranks = [Decoder(run, rank, meeting) for rank in range(run.tp)]

    def work(model):
        with np.errstate(all="ignore"):
            for step in range(run.steps):
                at = np.arange(run.prompt) if step == 0 else np.array([run.prompt + step - 1])
                model.forward(step, ids[at], at)
    threads = [threading.Thread(target=work, args=(model,)) for model in ranks[1:]]
    for thread in threads:
        thread.start()
    work(ranks[0])
    for thread in threads:
        thread.join()
    for model in ranks:
        for recorder in model.recorders:
            recorder.write(folder, run.task, run.level)
    return {(r.step, r.rank): r.tags for model in ranks for r in model.recorders}
