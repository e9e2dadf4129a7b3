"""Runs the call in call.json with torch, as recorded and in float64, and prints the errors of both.

Usage: python3 replay.py [DEVICE]      needs torch and numpy; DEVICE is cpu (default), cuda:0, npu:0
"""

import json
import os
import sys

import numpy
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cpu"


def load(name):
    return torch.from_numpy(numpy.load(os.path.join(HERE, name)))


def tensors(call, wide):
    out = {}
    for entry in call["tensors"]:
        tensor = load(entry["file"])
        dtype = getattr(torch, entry["dtype"])
        if tensor.is_floating_point():
            tensor = tensor.to(torch.float64 if wide else dtype)
        tensor = tensor.to(DEVICE)
        if call["backward"] and entry["requires_grad"] and tensor.is_floating_point():
            tensor.requires_grad_(True)
        out[entry["role"], entry["path"]] = tensor
    return out


def value(node, role, path, known):
    if isinstance(node, list):
        return [value(item, role, "%s.%d" % (path, i), known) for i, item in enumerate(node)]
    if not isinstance(node, dict):
        return node
    if "tensor" in node:
        return known[role, path]
    kind, inner = node.get("type", ""), node.get("value")
    if kind == "slice":
        return slice(*inner)
    if kind == "ellipsis":
        return Ellipsis
    if kind == "torch.dtype":
        return getattr(torch, inner.split(".")[-1])
    if kind == "torch.device":
        return torch.device(DEVICE)
    if kind == "float":
        return float(inner)
    if kind == "torch.Size":
        return torch.Size(inner)
    return inner


def function(call):
    if call["type"] == "Functional":
        return getattr(torch.nn.functional, call["api"])
    if call["type"] == "Tensor":
        return lambda first, *rest, **words: getattr(first, call["api"])(*rest, **words)
    if call["type"] == "NPU":
        import torch_npu
        return getattr(torch_npu, call["api"])
    found = torch
    for part in call["api"].split("."):
        found = getattr(found, part)
    return found


def run(call, wide):
    known = tensors(call, wide)
    tree = call["arguments"]
    if tree is None:
        args = [known[key] for key in known if key[0] == "input"]
        words = {key[1]: known[key] for key in known if key[0] == "kwarg"}
    else:
        args = [value(node, "input", str(i), known) for i, node in enumerate(tree.get("input", []))]
        words = {name: value(node, "kwarg", name, known) for name, node in tree.get("kwarg", {}).items()}
    outputs = function(call)(*args, **words)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    if not call["backward"]:
        return outputs
    gradient = [known[key] for key in known if key[0] == "gradient"][0]
    outputs[0].backward(gradient.to(outputs[0].dtype))
    return [known[key].grad for key in known if known[key].requires_grad]


def main():
    with open(os.path.join(HERE, "call.json")) as file:
        call = json.load(file)
    print(call["op"], "torch", torch.__version__, "on", DEVICE)
    names = {"as recorded": run(call, False), "float64": run(call, True)}
    for i in range(call["outputs"]):
        exact = load("float64.%d.npy" % i).to(torch.float64)
        recorded = os.path.join(HERE, "recorded.%d.npy" % i)
        shown = {"recorded in the dump": load("recorded.%d.npy" % i)} if os.path.exists(recorded) else {}
        for name, outputs in names.items():
            if i < len(outputs) and isinstance(outputs[i], torch.Tensor) and outputs[i].shape == exact.shape:
                shown[name] = outputs[i].detach().cpu()
        for name, output in shown.items():
            error = (output.to(torch.float64) - exact).abs()
            print("output %d  %-22s largest error %.3e" % (i, name, error.max().item() if error.numel() else 0))


main()
