"""Loads what the writers wrote with torch and numpy and compares it with what was meant.

usage: writer_oracle.py FOLDER, whose expected.txt has lines "file dtype shape hex"; shape is comma-separated
or "-".
Prints one line a mismatch and ends with 1 if there was any, 3 if torch is not installed.
"""
import sys

try:
    import numpy
    import torch
except ImportError:
    sys.exit(3)


TYPED = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128".split()
NUMPY_DTYPES = [getattr(torch, name) for name in TYPED if name != "bfloat16"]
HAS_UNTYPED = hasattr(torch._utils, "_rebuild_tensor_v3")


def torch_bytes(tensor):
    tensor = tensor.contiguous().reshape(-1)
    if tensor.dtype not in NUMPY_DTYPES:
        tensor = tensor.view({1: torch.uint8, 2: torch.int16, 4: torch.int32}[tensor.element_size()])
    return tensor.numpy().tobytes()


def check(folder, line):
    name, dtype, shape, data = line.rstrip("\n").split(" ")
    sizes = [] if shape == "-" else [int(n) for n in shape.split(",")]
    path = folder + "/" + name
    if name.endswith(".npy"):
        array = numpy.load(path, allow_pickle=False)
        got = (str(array.dtype), list(array.shape), array.tobytes().hex())
    else:
        if not hasattr(torch, dtype) or (dtype not in TYPED and not HAS_UNTYPED):
            return None  # this torch is older than the dtype
        tensor = torch.load(path, weights_only=True)
        again = torch.load(path, weights_only=False)
        if tensor.dtype != again.dtype or tensor.stride() != again.stride():
            return name + ": weights_only differs"
        got = (str(tensor.dtype).replace("torch.", ""), list(tensor.shape), torch_bytes(tensor).hex())
    expected = (dtype, sizes, data)
    return None if got == expected else "%s: got %s, expected %s" % (name, got, expected)


def main():
    folder = sys.argv[1]
    with open(folder + "/expected.txt") as lines:
        problems = [p for p in (check(folder, line) for line in lines) if p]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
