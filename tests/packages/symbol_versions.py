"""The glibc and libstdc++ that programs and libraries ask for are no newer than those of Ubuntu 22.04, the oldest system that
the packages are for: symbol_versions.py FILE...  (a folder stands for the shared objects in it)"""

import os
import re
import subprocess
import sys

# https://packages.ubuntu.com/jammy: libc6 2.35, libstdc++6 of g++ 12.
LIMITS = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}


def newest_beyond(text, limits):
    """The symbols of the output of `objdump -T` whose version is beyond limits: (version, symbol), sorted."""
    found = set()
    for kind, number, symbol in re.findall(r"\(?\b(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)\)?\s+(\S+)$", text, re.MULTILINE):
        if tuple(int(part) for part in number.split(".")) > limits[kind]:
            found.add((kind + "_" + number, symbol))
    return sorted(found)


def shared_objects(path):
    if not os.path.isdir(path):
        return [path]
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if ".so" in name)


def main(paths):
    files = [file for path in paths for file in shared_objects(path)]
    if not files:
        print("symbol_versions: no file in " + ", ".join(paths) + ", expected a program or shared objects")
        return 1
    status = 0
    for file in files:
        table = subprocess.run(["objdump", "-T", file], stdout=subprocess.PIPE, check=True).stdout.decode()
        if "GLIBC_" not in table:
            print(file + ": names no version of glibc: not a dynamic program, or nothing was checked")
            status = 1
        for version, symbol in newest_beyond(table, LIMITS):
            print(f"{file}: {symbol} needs {version}, expected at most that of Ubuntu 22.04")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
