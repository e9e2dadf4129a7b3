"""Makes dumps of any size for the benchmarks, in the layout of the framework dumps. Standard library only.

usage: dumps.py statistics FOLDER APIS        FOLDER/{target,golden}/step0/rank0/dump.json, six tensors an API
       dumps.py tensors FOLDER COUNT MIB DTYPE  FOLDER/{target,golden}: COUNT .npy files of MIB MiB (float32) each side;
                                              DTYPE same: equal bytes, differ: one element in a thousand differs
       dumps.py bfloat16 FOLDER COUNT MIB     the same as .safetensors files of bfloat16, one element in a thousand differs
       dumps.py small FOLDER COUNT            COUNT .npy files of 16 float32 a side
"""
import json
import os
import random
import struct
import sys

NAMES = ["linear", "matmul", "add", "mul", "softmax", "silu", "pow", "mean", "rsqrt", "cat"]


def tensor(rng, scale):
    high = rng.uniform(1, 4)
    return {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [4, 128], "Max": high, "Min": -high * 0.9,
            "Mean": rng.uniform(-0.1, 0.1) * scale, "Norm": high * 11.3, "requires_grad": False}


def statistics(folder, apis):
    for side in ("target", "golden"):
        rng = random.Random(7)
        noise = random.Random(side)
        path = os.path.join(folder, side, "step0", "rank0")
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "dump.json"), "w") as out:
            out.write('{\n "task": "statistics",\n "level": "L1",\n "framework": "pytorch",\n "dump_data_dir": null,\n "data": {\n')
            for i in range(apis):
                name = NAMES[i % len(NAMES)]
                entry = {"input_args": [tensor(rng, 1) for _ in range(4)], "input_kwargs": {},
                         "output": [tensor(rng, 1 + noise.uniform(0, 1e-6)) for _ in range(2)]}
                comma = "," if i + 1 < apis else ""
                out.write(f'  "Torch.{name}.{i // len(NAMES)}.forward": {json.dumps(entry, indent=1)}{comma}\n')
            out.write(" }\n}\n")


def npy_header(count):
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % count
    pad = 64 - (10 + len(text) + 1) % 64
    text += " " * pad + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def block(rng, count):
    return struct.pack(f"<{count}f", *(rng.gauss(0, 1) for _ in range(count)))


def tensors(folder, count, mib, kind):
    rng = random.Random(3)
    values = 1 << 16
    plain = block(rng, values)
    changed = bytearray(plain)
    for at in range(0, values, 1000):
        struct.pack_into("<f", changed, at * 4, 0.5)
    for side in ("target", "golden"):
        os.makedirs(os.path.join(folder, side), exist_ok=True)
        data = bytes(changed) if side == "target" and kind == "differ" else plain
        for i in range(count):
            with open(os.path.join(folder, side, f"t{i:05}.npy"), "wb") as out:
                out.write(npy_header(mib << 18))
                for _ in range(mib << 2):
                    out.write(data)


def bfloat16(folder, count, mib):
    rng = random.Random(3)
    values = 1 << 16
    plain = b"".join(struct.pack("<f", rng.gauss(0, 1))[2:] for _ in range(values))
    changed = bytearray(plain)
    for at in range(0, values, 1000):
        struct.pack_into("<H", changed, at * 2, 0x3F00)  # 0.5
    size = mib << 20
    header = json.dumps({"t": {"dtype": "BF16", "shape": [size // 2], "data_offsets": [0, size]}}).encode()
    header += b" " * (-len(header) % 64)
    for side in ("target", "golden"):
        os.makedirs(os.path.join(folder, side), exist_ok=True)
        data = bytes(changed) if side == "target" else plain
        for i in range(count):
            with open(os.path.join(folder, side, f"t{i:05}.safetensors"), "wb") as out:
                out.write(struct.pack("<Q", len(header)) + header)
                for _ in range(size // len(data)):
                    out.write(data)


def small(folder, count):
    rng = random.Random(5)
    data = npy_header(16) + block(rng, 16)
    for side in ("target", "golden"):
        os.makedirs(os.path.join(folder, side), exist_ok=True)
        for i in range(count):
            with open(os.path.join(folder, side, f"t{i:05}.npy"), "wb") as out:
                out.write(data)


if __name__ == "__main__":
    what, folder, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "statistics":
        statistics(folder, int(rest[0]))
    elif what == "tensors":
        tensors(folder, int(rest[0]), int(rest[1]), rest[2])
    elif what == "bfloat16":
        bfloat16(folder, int(rest[0]), int(rest[1]))
    else:
        small(folder, int(rest[0]))
