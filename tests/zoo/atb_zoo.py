"""A small decoder as MindIE runs it, that writes ATB dumps: layers above operations above kernels, every level of
de-duplication, both layouts, with a fault of known place. `check_atb.py` compares pairs of them.
"""
import json
import os
import shutil

import numpy as np

F32 = np.float32
CODES = {"float32": (0, "float"), "int32": (3, "int32"), "int64": (9, "int64"), "bf16": (27, "bf16")}
HIDDEN, HEADS, HEAD, VOCABULARY, PROMPT, LAYERS, SLOTS = 32, 4, 8, 64, 6, 4, 16
KERNELS = {"LinearOperation": "MatMulKernel", "ElewiseOperation": "AddBF16Kernel", "RmsNormOperation": "RmsNormKernel",
           "GatherOperation": "GatherKernel", "SplitOperation": "SplitKernel", "RopeOperation": "RopeKernel",
           "ActivationOperation": "SwiGluKernel", "SelfAttentionOperation": "FlashAttentionKernel",
           "PagedAttentionOperation": "PagedAttentionKernel", "ReshapeAndCacheOperation": "ReshapeAndCacheKernel"}


def to_bf16(values):
    bits = np.ascontiguousarray(values, F32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(F32).reshape(np.shape(values))


class Node:
    def __init__(self, kind, ids, inputs, outputs, parameters=None, children=(), labels=None):
        self.kind, self.ids, self.inputs, self.outputs = kind, ids, inputs, outputs
        self.parameters, self.children, self.labels = parameters, list(children), labels


class Run:
    """One process. order: plain or blocks (another order of sums). fault: (operation type, round or None, change, layer ids)."""

    def __init__(self, dtype="bf16", order="plain", faults=(), seed=7, told=False):
        """told: a changed attention scale stands in the recorded parameters too."""
        self.dtype, self.order, self.faults, self.told = dtype, order, list(faults), told
        rng = np.random.default_rng(seed)
        self.fault_rng = np.random.default_rng(99)
        self.weights = {}
        self.table = to_bf16(rng.standard_normal((VOCABULARY, HIDDEN)))
        self.cos = to_bf16(np.cos(np.arange(64)[:, None] / 10.0 ** (np.arange(HEAD) % 4 / 2)))
        self.sin = to_bf16(np.sin(np.arange(64)[:, None] / 10.0 ** (np.arange(HEAD) % 4 / 2)))
        for layer in range(LAYERS):
            shapes = [(HIDDEN,), (3 * HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN,), (2 * HIDDEN, HIDDEN), (HIDDEN, HIDDEN)]
            self.weights[layer] = [to_bf16(1 + 0.1 * rng.standard_normal(s)) if len(s) == 1
                                   else to_bf16(rng.standard_normal(s) / np.sqrt(s[1])) for s in shapes]
        self.final = to_bf16(1 + 0.1 * rng.standard_normal(HIDDEN))
        self.head = to_bf16(rng.standard_normal((VOCABULARY, HIDDEN)) / 6)
        self.cache = {(layer, which): np.zeros((1, SLOTS, HEADS, HEAD), F32) for layer in range(LAYERS) for which in "kv"}
        self.tokens = rng.integers(3, 60, PROMPT + 4)
        self.rounds = {}
        self.records = []
        self.models = {}

    # ---- arithmetic ----
    def round(self, values):
        return to_bf16(values) if self.dtype == "bf16" else np.asarray(values, F32)

    def matmul(self, a, b):
        if self.order == "plain":
            return self.round(a.astype(F32) @ b.astype(F32))
        total = F32(0)
        half = a.shape[-1] // 2
        for part in (slice(half, None), slice(0, half)):
            total = total + to_bf16(a[..., part].astype(F32) @ b[..., part, :].astype(F32)) if self.dtype == "bf16" \
                else total + a[..., part].astype(F32) @ b[..., part, :].astype(F32)
        return self.round(total)

    def norm(self, x, weight):
        return self.round(x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight)

    def rope(self, x, cos, sin):
        heads = x.reshape(len(x), HEADS, HEAD)
        turned = np.concatenate([-heads[..., HEAD // 2:], heads[..., :HEAD // 2]], -1)
        return self.round((heads * cos[:, None] + turned * sin[:, None]).reshape(len(x), HIDDEN))

    def attention(self, q, k, v, mask, scale):
        q, k, v = (t.reshape(len(t), HEADS, HEAD).transpose(1, 0, 2) for t in (q, k, v))
        scores = self.matmul(q, k.transpose(0, 2, 1)) * F32(scale) + mask
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        return self.matmul(self.round(scores / scores.sum(-1, keepdims=True)), v).transpose(1, 0, 2).reshape(-1, HIDDEN)

    # ---- execution ----
    def changed(self, node, values):
        for kind, rounds, change, layers in self.faults:
            if kind == node.kind and (rounds is None or self.round_number in rounds) and (layers is None or node.ids[0] in layers):
                if "arguments" in getattr(change, "__name__", ""):
                    continue
                values = [self.round(change(values[0], self.fault_rng))] + list(values[1:])
        return values

    def execute(self, node, values, path=""):
        path = f"{path}/{node.ids[-1]}_{node.kind}".lstrip("/")
        before = [np.array(values[name]) for name in node.inputs]
        if node.children:
            for child in node.children:
                self.execute(child, values, path)
        else:
            results = self.changed(node, node.compute(*before))
            for name, result in zip(node.outputs, results):
                values[name] = result
            if node.kind in KERNELS:
                kernel = Node(KERNELS[node.kind], node.ids + (0,), node.inputs, node.outputs)
                self.records.append((f"{path}/0_{kernel.kind}", kernel, before, [np.array(values[n]) for n in node.outputs], True))
        self.records.append((path, node, before, [np.array(values[n]) for n in node.outputs], False))

    def leaf(self, kind, ids, inputs, outputs, compute, parameters, labels=None):
        node = Node(kind, ids, inputs, outputs, parameters, labels=labels)
        node.compute = compute
        return node

    def linear(self, ids, inputs, outputs):
        leaf = self.leaf("LinearOperation", ids + (0,), inputs, outputs, lambda x, w: [self.matmul(x, w.T)],
                         {"transposeB": True}, (["x", "weight"], ["output"]))
        return Node("LinearNoQuant", ids, inputs, outputs, {}, [leaf])

    def layer(self, kind, i, ins, out):
        """The graph of a decoder layer over the names of its ends."""
        a, m, name = f"Attention_{i}_0", f"Mlp_{i}_2", f"{kind}_{i}"
        split = f"QKVLinearSplitPack_{i}_0_1_internal_0"
        inner = [f"{name}_internal_{k}" for k in range(3)]
        ai, mi = [f"{a}_internal_{k}" for k in range(7)], [f"{m}_internal_{k}" for k in range(3)]
        norm = lambda ids, x, w, o: self.leaf("RmsNormOperation", ids, [x, w], [o], lambda t, s: [self.norm(t, s)],
                                              {"normParam": {"epsilon": 1e-06}}, (["x", "gamma"], ["y"]))
        add = lambda ids, x, y, o: self.leaf("ElewiseOperation", ids, [x, y], [o], lambda t, s: [self.round(t + s)],
                                             {"elewiseType": 8}, (["x", "y"], ["z"]))
        rope = self.leaf("RopeOperation", (i, 0, 2, 0), [ai[1], ai[2], ins[7], ins[8], ins[12]], [ai[4], ai[5]],
                         lambda q, k, c, s, n: [self.rope(q, c, s), self.rope(k, c, s)], {"rotaryCoeff": 2})
        cache = self.leaf("ReshapeAndCacheOperation", (i, 0, 3, 0), [ai[5], ai[3], ins[10], ins[11], ins[14]],
                          [ins[10], ins[11]], self.store, {"compressType": 0})
        scale = float((self.scale_of(i) if self.told else 1.0) / np.sqrt(HEAD))
        if kind == "Prefill_layer":
            core = self.leaf("SelfAttentionOperation", (i, 0, 3, 1), [ai[4], ai[5], ai[3], ins[9], ins[12]], [ai[6]],
                             lambda q, k, v, mask, n: [self.attention(q, k, v, mask, self.scale_of(i) / np.sqrt(HEAD))],
                             {"headNum": HEADS, "qkScale": scale})
        else:
            core = self.leaf("PagedAttentionOperation", (i, 0, 3, 1), [ai[4], ins[10], ins[11], ins[13], ins[12]], [ai[6]],
                             lambda q, k, v, b, n: [self.attention(q, k[0, :n[0]], v[0, :n[0]], F32(0),
                                                                   self.scale_of(i) / np.sqrt(HEAD))],
                             {"headNum": HEADS, "qkScale": scale})
        pack = Node("QKVLinearSplitPack", (i, 0, 1), [ai[0], ins[2]], ai[1:4], {}, [
            self.linear((i, 0, 1, 0), [ai[0], ins[2]], [split]),
            self.leaf("SplitOperation", (i, 0, 1, 1), [split], ai[1:4],
                      lambda t: [np.ascontiguousarray(p) for p in np.split(t, 3, -1)], {"splitNum": 3})])
        attention = Node("Attention", (i, 0), ins[0:4] + ins[7:15], [inner[0]], {}, [
            norm((i, 0, 0), ins[0], ins[1], ai[0]), pack,
            Node("RotaryPositionEmbedding", (i, 0, 2), rope.inputs, rope.outputs, {}, [rope]),
            Node("SelfAttention", (i, 0, 3), [ai[4], ai[5], ai[3]] + ins[9:15], [ai[6]], {}, [cache, core]),
            Node("LinearRowParallelNoAdd", (i, 0, 4), [ai[6], ins[3]], [inner[0]], {},
                 [self.linear((i, 0, 4, 0), [ai[6], ins[3]], [inner[0]])])])
        silu = self.leaf("ActivationOperation", (i, 2, 2), [mi[1]], [mi[2]],
                         lambda t: [self.round(t[..., :HIDDEN] / (1 + np.exp(-t[..., :HIDDEN])) * t[..., HIDDEN:])],
                         {"activationType": 6})
        mlp = Node("Mlp", (i, 2), [inner[1]] + ins[4:7], [inner[2]], {}, [
            norm((i, 2, 0), inner[1], ins[4], mi[0]),
            Node("MlpGateUpWeightPack", (i, 2, 1), [mi[0], ins[5]], [mi[1]], {},
                 [self.linear((i, 2, 1, 0), [mi[0], ins[5]], [mi[1]])]),
            silu,
            Node("LinearRowParallelNoAdd", (i, 2, 3), [mi[2], ins[6]], [inner[2]], {},
                 [self.linear((i, 2, 3, 0), [mi[2], ins[6]], [inner[2]])])])
        return Node(kind, (i,), ins, [out], {}, [attention, add((i, 1), ins[0], inner[0], inner[1]), mlp,
                                                  add((i, 3), inner[1], inner[2], out)])

    def scale_of(self, layer):
        factor = 1.0
        for kind, rounds, change, layers in self.faults:
            if kind == "scale" and (layers is None or layer in layers):
                factor *= change
        return factor

    @staticmethod
    def store(k, v, k_cache, v_cache, slots):
        k_cache, v_cache = k_cache.copy(), v_cache.copy()
        k_cache[0, slots] = k.reshape(-1, HEADS, HEAD)
        v_cache[0, slots] = v.reshape(-1, HEADS, HEAD)
        return k_cache, v_cache

    def gather(self, ids, table, index, out):
        return self.leaf("GatherOperation", ids, [table, index], [out], lambda t, i: [t[i]], {"axis": 0})

    def forward(self, round_number, kind, first_id, tokens, position):
        self.round_number = round_number
        model, n = f"DecoderModel_{kind}", len(tokens)
        w = lambda i: f"{model}_weight_{i}"
        x = lambda i: f"{model}_input_{i}"
        h = lambda i: f"{model}_internal_{i}"
        at = np.arange(position, position + n)
        values = {w(0): self.table, x(0): np.asarray(tokens, np.int64), x(1): at.astype(np.int64), w(1): self.cos,
                  w(2): self.sin, x(5): np.array([position + n], np.int32), x(6): np.zeros((1, 1), np.int32),
                  x(7): at.astype(np.int32), w(27): self.final, w(28): self.head, x(14): np.array([n - 1], np.int64),
                  x(2): np.where(np.arange(n)[:, None] >= np.arange(n)[None], 0, -np.inf).astype(F32)}
        nodes = [Node("WordEmbedding", (first_id,), [w(0), x(0)], [h(0)], {}, [self.gather((first_id, 0), w(0), x(0), h(0))]),
                 Node("PositionalEmbeddingGather", (first_id + 1,), [x(1), w(1), w(2)], [h(1), h(2)], {}, [
                     self.gather((first_id + 1, 0), w(1), x(1), h(1)), self.gather((first_id + 1, 1), w(2), x(1), h(2))])]
        hidden = h(0)
        for layer in range(LAYERS):
            names = [w(3 + 6 * layer + k) for k in range(6)]
            values.update(zip(names, self.weights[layer]))
            caches = [f"{model}_input_{100 + 2 * layer + k}" for k in range(2)]
            values.update({caches[0]: self.cache[layer, "k"], caches[1]: self.cache[layer, "v"]})
            ins = [hidden] + names + [h(1), h(2), x(2)] + caches + [x(5), x(6), x(7)]
            hidden = h(3 + layer)
            nodes.append(self.layer("Prefill_layer" if kind == "Prefill" else "Decoder_layer", first_id + 2 + layer, ins, hidden))
        last = first_id + 2 + LAYERS
        norm = self.leaf("RmsNormOperation", (last,), [hidden, w(27)], [h(20)], lambda t, s: [self.norm(t, s)], {})
        gathered = f"LmHead_{last + 1}_internal_0"
        head = Node("LmHead", (last + 1,), [h(20), w(28), x(14)], [f"{model}_output_0"], {}, [
            self.gather((last + 1, 0), h(20), x(14), gathered),
            self.linear((last + 1, 1), [gathered, w(28)], [f"{model}_output_0"])])
        nodes += [norm, head]
        self.models[model] = nodes
        self.records = []
        for node in nodes:
            self.execute(node, values)
        for layer in range(LAYERS):
            self.cache[layer, "k"], self.cache[layer, "v"] = (values[f"{model}_input_{100 + 2 * layer + k}"] for k in range(2))
        self.rounds.setdefault(round_number, []).extend(self.records)

    def generate(self, steps=2):
        """Prefill and first decode are round 0, each further decode a round."""
        self.forward(0, "Prefill", 0, self.tokens[:PROMPT], 0)
        for step in range(steps):
            self.forward(step, "Decode", 8, self.tokens[PROMPT + step:PROMPT + step + 1], PROMPT + step)
        return self

    # ---- writing ----
    def write(self, root, level="layer", filter_level=1, labels=False, task="tensor", pid="39943", older=False, ids=None,
              drop=None, outputs_only=False):
        """level: layer, op or kernel. ids: only operations whose ids begin with one of these. drop: paths whose files are left out."""
        shutil.rmtree(root, ignore_errors=True)
        base = os.path.join(root, "msit_dump_20250101_000000/tensors" if older else "atb_dump_data/data", f"0_{pid}")
        for number, records in self.rounds.items():
            rows, folder = [], os.path.join(base, str(number))
            kept = [r for r in records if self.wanted(r, level, ids)]
            stored = {}
            for event in self.events(kept):
                self.write_tensor(folder, event, stored, filter_level if level != "layer" else 0, labels, task, rows, pid, drop,
                                  outputs_only)
            for path, node, _, _, is_kernel in kept:
                if not is_kernel and node.parameters and len(node.ids) > 1:
                    os.makedirs(os.path.join(folder, path), exist_ok=True)
                    with open(os.path.join(folder, path, "op_param.json"), "w", encoding="utf-8") as file:
                        file.write(json.dumps(node.parameters) + "\n")
            if not older:
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, "statistic.csv"), "w", encoding="utf-8") as file:
                    file.write("Device and PID,Execution Count,Op Name,Op Type,Op Id,Input/Output,Index,Dtype,Format,Shape,Max,Min,"
                               "Mean,Norm,Tensor Path\n" + "".join(rows))
        info = os.path.join(root, "msit_dump_20250101_000000" if older else "atb_dump_data/info", "model", f"0_{pid}")
        os.makedirs(info)
        for name, nodes in self.models.items():
            with open(os.path.join(info, name + ".json"), "w", encoding="utf-8") as file:
                json.dump({"modelName": name, "nodes": [self.topology(node) for node in nodes]}, file)

    def topology(self, node):
        found = {"opName": f"{node.kind}_{'_'.join(map(str, node.ids))}", "opType": node.kind, "inTensors": node.inputs,
                 "outTensors": node.outputs}
        if node.parameters is not None:
            found["param"] = node.parameters
        if node.children:
            found["nodes"] = [self.topology(child) for child in node.children]
        return found

    @staticmethod
    def wanted(record, level, ids):
        _, node, _, _, is_kernel = record
        if ids is not None and not any(node.ids[:len(i)] == i for i in ids):
            return False
        return len(node.ids) == 1 if level == "layer" else level == "kernel" or not is_kernel

    @staticmethod
    def events(records):
        """Tensors in the order of the graph: inputs, children, outputs. Records come in the order in which operations end."""
        pending = []
        for path, node, before, after, is_kernel in records:
            inner = [e for e in pending if e[0].startswith(path + "/")]
            pending = [e for e in pending if not e[0].startswith(path + "/")]
            mine = lambda out, names, arrays: [(path, node, out, k, n, a, is_kernel) for k, (n, a) in enumerate(zip(names, arrays))]
            pending += mine(False, node.inputs, before) + inner + mine(True, node.outputs, after)
        return pending

    def write_tensor(self, folder, event, stored, filter_level, labels, task, rows, pid, drop, outputs_only):
        path, node, is_output, index, name, array, is_kernel = event
        if outputs_only and not is_output:
            return
        dtype = {"int64": "int64", "int32": "int32"}.get(str(array.dtype), "bf16" if self.dtype == "bf16" else "float32")
        code, word = CODES[dtype]
        data = (array.astype(F32).view(np.uint32) >> 16).astype(np.uint16).tobytes() if dtype == "bf16" else array.tobytes()
        label = "_" + node.labels[is_output][index] if labels and node.labels and not node.children else ""
        kind = "outtensor" if is_output else "intensor"
        file = f"{kind}{index}{label}.bin"
        dims = ",".join(map(str, array.shape))
        target = os.path.join(folder, path, "after" if is_output else "before", file)
        layer = node.ids[0]
        alias = None
        if filter_level and not label:
            if is_kernel:
                alias = file if filter_level == 2 else None
            elif (layer, name) in stored and not (is_output and name in node.inputs and not node.children):
                alias = stored[layer, name]
            else:
                stored[layer, name] = f"{'_'.join(map(str, node.ids))}_{kind}{index}.bin"
        elif filter_level and not is_kernel:
            stored.setdefault((layer, name), f"{'_'.join(map(str, node.ids))}_{kind}{index}.bin")
        if task != "statistics" and not (drop and any(path.startswith(d) for d in drop)):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            head = f"$Version=1.0\n$Object.Count={0 if alias else 1}\n$Object.Length={0 if alias else len(data)}\nformat=2\n" \
                   f"dtype={code}\ndims={dims}\n" + (f"data={alias}\n" if alias else f"$Object.data=0,{len(data)}\n") + "$End=1\n"
            with open(target, "wb") as out:
                out.write(head.encode() + (b"" if alias else data))
        cells = ["N/A"] * 4
        if task != "tensor":
            v = array.astype(np.float64)
            with np.errstate(invalid="ignore"):
                numbers = [v.max(), v.min(), v.mean(), np.sqrt((v * v).sum())]
            cells = [f"{n:.6f}" if dtype not in ("int32", "int64") or k > 1 else str(int(n)) for k, n in enumerate(numbers)]
            if "-inf" in cells or "-nan" in cells:
                return
        names = [part.split("_", 1)[1] for part in path.split("/")]
        where = "N/A" if task == "statistics" else f"/home/mindie/{os.path.relpath(target, os.path.dirname(os.path.dirname(folder)))}"
        rows.append(",".join([f"0_{pid}", os.path.basename(folder), "/".join(names), names[-1], "_".join(map(str, node.ids)),
                              "output" if is_output else "input", f"{index}{label}", word, "nd", dims.replace(",", "x")] + cells
                             + [where]) + "\n")
