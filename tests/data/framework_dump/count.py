#!/usr/bin/env python3
"""Counts the records of framework dumps with Python's json, independently of the program.

usage: count.py DUMP... > counts.csv
One line a dump: ops and tensors of all rank folders below it, tensors with a file, with any number, with a checksum, and the
CRC-32 of all keys in order, each followed by a line feed.
"""
import json
import os
import re
import sys
import zlib


def leaves(value):
    if isinstance(value, dict):
        if isinstance(value.get("type"), str):
            if "dtype" in value:
                yield value
            return
        for member in value.values():
            yield from leaves(member)
    elif isinstance(value, list):
        for element in value:
            yield from leaves(element)


def number_of(name):
    return int(re.sub(r"\D", "", name) or 0)


def count(path):
    ops = tensors = files = numbers = sums = 0
    keys = 0
    for step in sorted(os.listdir(path), key=number_of):
        if not re.fullmatch(r"step\d+", step):
            continue
        for rank in sorted(os.listdir(os.path.join(path, step)), key=number_of):
            folder = os.path.join(path, step, rank)
            for name in ("dump.json", "debug.json"):
                if not os.path.exists(os.path.join(folder, name)):
                    continue
                with open(os.path.join(folder, name)) as text:
                    dump = json.load(text)
                entries = dump["data"]
                if dump["task"] == "structure":
                    with open(os.path.join(folder, "construct.json")) as text:
                        entries = {key: {} for key in json.load(text)}
                for key, entry in entries.items():
                    ops += 1
                    keys = zlib.crc32((key + "\n").encode(), keys)
                    for leaf in leaves(entry):
                        tensors += 1
                        files += "data_name" in leaf
                        numbers += any(leaf.get(word) is not None for word in ("Max", "Min", "Mean", "Norm"))
                        sums += leaf.get("md5") is not None
    return ops, tensors, files, numbers, sums, keys


print("dump,ops,tensors,files,numbers,checksums,keys_crc32")
for dump in sys.argv[1:]:
    print(",".join([dump] + [str(n) for n in count(dump)]))
