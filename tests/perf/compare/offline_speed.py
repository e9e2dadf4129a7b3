"""Offline-model dumps: a run of 2 000 operators against another, and what bringing storage formats back costs.

usage: offline_speed.py PROGRAM [FOLDER]     FOLDER (default: a temporary one, about 6 GB) keeps the dumps between runs

Each comparison stands beside a `cat` of the same files in the same run, both from the page cache. The cost of a conversion is the difference in processor seconds between a comparison of the original layout and one of the stored
bytes (option raw), over the bytes of both sides.
"""
import os
import struct
import subprocess
import sys
import tempfile
import time

FLOAT16 = 2
# Format number, original layout, stored and original shape; sizes that are multiples and such that are not.
FORMATS = {"NC1HWC0": (3, 0, (8, 16, 64, 64, 16), (8, 250, 64, 64)),
           "FRACTAL_NZ": (29, 2, (4, 64, 128, 16, 16), (4, 2040, 1020)),
           "FRACTAL_Z": (4, 0, (16 * 9, 64, 16, 16), (1020, 250, 3, 3)),
           "NDC1HWC0": (32, 30, (2, 4, 8, 64, 64, 16), (2, 120, 4, 64, 64)),
           "FRACTAL_Z_3D": (33, 30, (3 * 8 * 9, 32, 16, 16), (510, 120, 3, 3, 3))}


def varint(number):
    out = b""
    while number >= 128:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def shape(dims):
    return field(1, b"".join(varint(d) for d in dims))


def count(dims):
    product = 1
    for dim in dims:
        product *= dim
    return product


def write_op(leaf, number, form, layout, stored, original, data):
    size = 2 * count(stored)
    name = f"net/op_{number}"
    origin = field(1, name.encode()) + field(3, FLOAT16) + field(4, layout)
    tensor = field(3, field(1, FLOAT16) + field(2, form) + field(3, shape(stored)) + field(4, origin) + field(6, size)
                   + field(7, shape(original)))
    message = field(1, b"2.0") + tensor + field(6, name.encode())
    with open(f"{leaf}/MatMul.net_op_{number}.{number}.1.{1773503600000000 + number}", "wb") as file:
        file.write(struct.pack("<Q", len(message)) + message + data[:size])


def noise(size):
    # Finite float16 values of all signs and many magnitudes.
    return bytes(bytearray((i * 37 + (i >> 7)) & 0x3F if i & 1 else (i * 151) & 0xFF for i in range(4096))) * (size // 4096 + 1)


def make(folder, ops):
    """ops: (format, layout, stored, original) of each; the lowest bit of every seventh element differs between the sides."""
    for side in ("target", "golden"):
        leaf = f"{folder}/{side}/20260314155320/0/net/1/0"
        os.makedirs(leaf, exist_ok=True)
        largest = max(2 * count(op[2]) for op in ops)
        data = bytearray(noise(largest))
        if side == "target":
            data[::14] = bytes(byte ^ 1 for byte in data[::14])
        for number, op in enumerate(ops):
            write_op(leaf, number, *op, data)


def run(command):
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(child.pid, 0)
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main():
    program = os.path.abspath(sys.argv[1])
    root = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="ulpscope_perf_")
    cases = [("2 000 operators, ND", [(2, 2, (1024, 500), (1024, 500))] * 2000),
             ("2 000 operators, NC1HWC0", [(3, 0, (4, 8, 40, 25, 16), (4, 120, 40, 25))] * 2000)]
    cases += [(name, [form] * 4) for name, form in FORMATS.items()]
    print(f"{'case':26} {'MB':>7} {'cat s':>7} {'wall s':>8} {'processor s':>12} {'of cat':>7} {'raw':>7} {'GB/s a core':>12} "
          f"{'peak MB':>8}", flush=True)
    for title, ops in cases:
        folder = os.path.join(root, title.replace(" ", "_").replace(",", ""))
        if not os.path.isdir(folder):
            make(folder, ops)
        size = 2 * sum(2 * count(op[2]) for op in ops)
        command = [program, "compare", folder + "/target", folder + "/golden", "-o", os.path.join(root, "out"), "--format", "csv",
                   "-q"]
        files = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
        _, cat, _ = min((run(["cat", *files]) for _ in range(3)), key=lambda figures: figures[1])
        wall, processor, peak = min((run(command) for _ in range(3)), key=lambda figures: figures[1])
        _, raw, _ = min((run(command + ["--source-option", "raw=true"]) for _ in range(3)), key=lambda figures: figures[1])
        rate = size / 1e9 / (processor - raw) if processor > raw else float("inf")
        print(f"{title:26} {size / 1e6:7.0f} {cat:7.2f} {wall:8.2f} {processor:12.2f} {processor / cat:7.1f} {raw:7.2f} "
              f"{rate:12.2f} {peak:8.0f}", flush=True)


if __name__ == "__main__":
    main()
