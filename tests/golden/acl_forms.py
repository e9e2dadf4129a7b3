"""Forms of offline-model dumps that no sample holds, made here byte by byte: overflow records, slices, statistics, hashed
names, repeated operators, names that collide. Python with its standard library only."""

import json
import os
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.environ["ULPSCOPE"]
FAILED = []


def expect(holds, text):
    if not holds:
        FAILED.append(text)
        print("FAILED:", text)


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


def output(dims, size, dtype=1, form=2, original=None):
    return field(3, field(1, dtype) + field(2, form) + field(3, shape(dims)) + field(6, size) + field(7, shape(original or dims)))


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def dump(name, tensors, data, attribute=None):
    message = field(1, b"2.0") + b"".join(tensors) + field(6, name.encode())
    if attribute:
        message += field(7, field(1, b"slice") + field(2, attribute.encode()))
    return struct.pack("<Q", len(message)) + message + data


def npy(dims, values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join("%d, " % d for d in dims)
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + floats(*values)


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def compare(target, golden):
    code, out, err = run("compare", target, golden, "--format", "json", "-o", "-", "-q")
    if not out.startswith("{"):
        raise SystemExit("exit %d\n%s%s" % (code, out, err))
    return code, json.loads(out)


def check_overflow(folder):
    leaf = folder + "/20260314155320/2/net/1/7/"
    write(leaf + "Mul.a.5.9.1773503600124010", dump("a", [output([4], 16)], floats(1, 2, 3, 4)))
    record = bytearray(2048)
    record[256 + 8:256 + 24] = struct.pack("<QQ", 9, 5)
    record[1040:1048] = struct.pack("<Q", 32)
    tensor = field(3, field(1, 10) + field(2, 2) + field(3, shape([256])) + field(6, 2048))
    write(leaf + "Opdebug.Node_OpDebug.1.2.1773503600124020", dump("Node_OpDebug", [tensor], bytes(record)))
    code, out, err = run("overflow", folder, "-o", folder + "/out", "--exact-output")
    expect(code == 1, "overflow: exit %d %s" % (code, err))
    with open(folder + "/out/overflow_result.json") as file:
        findings = json.load(file)["findings"]
    expect([(f["op"], f["tensor"], f["kind"], f["step"], f["rank"]) for f in findings] == [("a", "output.0", "record", 7, 2)],
           "overflow: %r" % findings)


def check_slices(folder):
    attribute = json.dumps({"threadMode": 1, "slice_instance_num": 2, "outputCutList": [[1, 2]]})
    for thread, values in enumerate(([0, 1, 4, 5], [2, 3, 6, 7])):
        write(folder + "/npu/Add.s.3.4.177350360012401%d.4.0.%d.0" % (thread, thread),
              dump("s", [output([2, 2], 16)], floats(*values), attribute))
    write(folder + "/golden/s.0.1773503600124010.npy", npy([2, 4], range(8)))
    code, result = compare(folder + "/npu", folder + "/golden")
    expect(code == 0 and result["summary"]["pass"] == 1, "slices: exit %d %r" % (code, result["summary"]))
    expect(result["rows"][0]["shape"] == [[2, 4], [2, 4]], "slices: shape %r" % result["rows"][0]["shape"])


def check_statistics(folder):
    header = "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan Count,Negative Inf Count,Positive Inf Count\n"
    for side, top in (("a", "2.5"), ("b", "2.5"), ("c", "9")):
        write("%s/%s/Add.x.3.4.1773503600124010.csv" % (folder, side),
              (header + "Output,0,64,DT_FLOAT,ND,4x4,%s,-1,0.25,16,0,0,0\n" % top).encode())
    code, result = compare(folder + "/a", folder + "/b")
    expect(code == 0 and result["summary"]["pass"] == 1, "statistics: equal ones pass")
    _, result = compare(folder + "/a", folder + "/c")
    expect(result["rows"][0]["metrics"]["target_max"] == 2.5, "statistics: the maximum is read")
    expect(result["rows"][0]["metrics"]["max_diff"] == -6.5, "statistics: the difference of maxima is told")


def check_names(folder):
    npu = folder + "/npu/"
    write(npu + "Add.blk_a_b.1.1.1773503600124010", dump("blk/a_b", [output([2], 8)], floats(1, 2)))
    write(npu + "Add.blk_a_b.2.1.1773503600124011", dump("blk/a.b", [output([3], 12)], floats(3, 4, 5)))
    write(npu + "12345678901234567890123", dump("long", [output([1, 2], 8)], floats(6, 7)))
    write(npu + "mapping.csv", b"12345678901234567890123,Add.long.3.1.1773503600124012\n12345678901234567890123,Add.long.3.1.1773503600124012\nx\n")
    for call in range(2):
        write(npu + "Add.loop.4.1.177350360012402%d" % call, dump("loop", [output([2], 8)], floats(call, 9)))
    os.symlink(npu + "Add.blk_a_b.1.1.1773503600124010", npu + "Add.link.9.1.1773503600124030")
    code, out, err = run("list", folder + "/npu", "--ops", "--format", "csv")
    names = [line.split(",")[3] for line in out.strip().split("\n")[1:]]
    expect(sorted(names) == ["blk/a.b", "blk/a_b", "long", "loop", "loop"], "names: %r" % names)
    golden = folder + "/golden/"
    write(golden + "blk_a_b.0.1773503600124010.npy", npy([3], [3, 4, 5]))
    write(golden + "1773503600124012.npy", npy([1, 2], [6, 7]))
    write(golden + "mapping.csv", b"1773503600124012.npy,long.0.1773503600124012.npy\n")
    for call in range(2):
        write(golden + "loop.0.177350360012402%d.npy" % call, npy([2], [call, 9]))
    code, result = compare(folder + "/npu", folder + "/golden")
    passed = sorted(r["op"] for r in result["rows"] if r["verdict"] == "pass")
    expect(passed == ["blk/a.b", "long", "loop", "loop"], "names: passed %r" % passed)
    expect(code == 0, "names: exit %d" % code)


def check_storage(folder):
    # Three channels of 2 x 2, C0 = 4: stored, brought back, and stored again.
    stored = floats(*[c * 10 + place if c < 3 else 0 for place in range(4) for c in range(4)])
    write(folder + "/npu/Conv.c.1.1.1773503600124010",
          dump("c", [output([1, 1, 2, 2, 4], 64, 1, 3, [1, 3, 2, 2])], stored))
    logical = floats(*[c * 10 + place for c in range(3) for place in range(4)])
    for words, out, wanted in ((["--raw"], "raw", stored), ([], "back", logical)):
        code, _, err = run("convert", folder + "/npu", *words, "-o", folder + "/" + out, "--exact-output")
        with open(folder + "/" + out + "/c.output.0.npy", "rb") as file:
            expect(code == 0 and file.read().endswith(wanted), "storage: %s: exit %d %s" % (out, code, err))
    for source in ("/npu", "/back"):
        code, _, err = run("convert", folder + source, "--storage-format", "NC1HWC0", "--c0", "4", "-o", folder + "/again" + source,
                           "--exact-output")
        names = [name for name in os.listdir(folder + "/again" + source) if name.endswith(".npy")]
        with open(folder + "/again" + source + "/" + names[0], "rb") as file:
            expect(code == 0 and file.read().endswith(stored), "storage: again %s: exit %d %s" % (source, code, err))


def check_unsupported(folder):
    # 128 elements of one bit, 64 of two, 16 of six, and a type that nobody knows; equal on both sides.
    for side in ("a", "b"):
        tensors = [output([128], 16, 29), output([64], 16, 30), output([16], 12, 37), output([4], 16, 99), output([4], 16)]
        write(folder + "/" + side + "/Quant.q.1.1.1773503600124010", dump("q", tensors, bytes(60) + floats(1, 2, 3, 4)))
    code, result = compare(folder + "/a", folder + "/b")
    expect(code == 3, "unsupported: exit %d" % code)
    verdicts = [row["verdict"] for row in result["rows"]]
    expect(verdicts == ["skip"] * 4 + ["pass"], "unsupported: %r" % verdicts)
    texts = " ".join(each["text"] for each in result["diagnostics"])
    for name in ("UINT1", "INT2", "FLOAT6_E3M2", "UNKNOWN"):
        expect("(%s) is not supported" % name in texts, "unsupported: %s is told in %s" % (name, texts))


def check_columns(folder):
    half = struct.pack("<4e", 1, -65504, 3, 4)
    for side, values in (("a", half), ("b", struct.pack("<4e", 1, -65472, 3, 4))):
        for name, number in (("m", 1), ("n", 2)):
            data = values if name == "m" else struct.pack("<4e", 1, 2, 3, 4)
            write("%s/%s/MatMul.%s.%d.1.177350360012401%d" % (folder, side, name, number, number),
                  dump(name, [output([4], 8, 2)], data))
        ops = [{"name": name, "type": "MatMul", "id": index, "input": [], "attr": [], "output_desc": [{"shape": {"dim": [4]}}]}
               for name, index in (("m", 7), ("n", 9))]
        with open(folder + "/" + side + "/fusion.json", "w") as file:
            json.dump({"name": "net", "graph": [{"name": "net", "op": ops}]}, file)
    fusion = ["-fr", folder + "/a/fusion.json", "-cfr", folder + "/b/fusion.json"]
    run("compare", folder + "/a", folder + "/b", *fusion, "--columns", "msprobe", "--format", "csv", "--overflow_detection", "--op_sequence",
        "-o", folder + "/out", "--exact-output")
    table = [name for name in os.listdir(folder + "/out") if name.startswith("result_")]
    expect(len(table) == 1, "columns: %r" % os.listdir(folder + "/out"))
    with open(folder + "/out/" + table[0], encoding="utf-8-sig") as file:
        rows = [line.split(",") for line in file.read().splitlines()]
    expect(rows[0][:3] == ["Index", "OpSequence", "OpType"] and rows[0][10:13] == ["Shape", "OverFlow", "CosineSimilarity"],
           "columns: header %r" % rows[0])
    expect([row[:4] + [row[11]] for row in rows[1:]] == [["7", "0", "MatMul", "m", "YES"], ["9", "1", "MatMul", "n", "NO"]],
           "columns: %r" % rows[1:])


def check_arrays(folder):
    write(folder + "/npu/Add.net_x.1.1.1773503600124010", dump("net/x", [output([2], 8)], floats(1, 2)))
    write(folder + "/npu/net_y.0.1773503600124011.npy", npy([2], [3, 4]))
    write(folder + "/npu/net_y.0.1773503600124012.npy", npy([2], [5, 6]))
    fortran = npy([2, 3], [1, 4, 2, 5, 3, 6]).replace(b"False, ", b"True,  ")
    write(folder + "/npu/net_y.1.1773503600124012.npy", fortran)
    write(folder + "/golden/net_x.0.1773503600124010.npy", npy([2], [1, 2]))
    write(folder + "/golden/net_y.0.1773503600124010.npy", npy([2], [5, 6]))
    write(folder + "/golden/net_y.1.1773503600124010.npy", npy([2, 3], [1, 2, 3, 4, 5, 6]))
    code, result = compare(folder + "/npu", folder + "/golden")
    rows = [(row["op"], row["tensor"], row["verdict"]) for row in result["rows"]]
    expect(code == 0 and rows == [("net/x", "output.0", "pass"), ("net_y", "output.0", "pass"), ("net_y", "output.1", "pass")],
           "arrays: exit %d %r" % (code, rows))
    write(folder + "/npu/net_z.0.1773503600124012.npy", b"no array")
    code, _, err = run("list", folder + "/npu", "--tensors")
    expect(code == 3 and "net_z.0.1773503600124012.npy" in err, "arrays: exit %d %s" % (code, err))


def check_golden_shape(folder):
    # NC1HWC0 with C0 = 4, and neither an original shape nor a compiled model.
    stored = floats(*[c * 10 + place if c < 3 else 0 for place in range(4) for c in range(4)])
    tensor = field(3, field(1, 1) + field(2, 3) + field(3, shape([1, 1, 2, 2, 4])) + field(6, 64))
    write(folder + "/npu/Conv.net_c.1.1.1773503600124010", dump("net/c", [tensor], stored))
    values = [c * 10 + place for c in range(3) for place in range(4)]
    write(folder + "/golden/net_c.0.1773503600124010.npy", npy([1, 3, 2, 2], values))
    code, result = compare(folder + "/npu", folder + "/golden")
    expect(code == 0 and result["rows"][0]["verdict"] == "pass", "golden shape: exit %d %r" % (code, result["rows"]))
    texts = " ".join(each["text"] for each in result["diagnostics"])
    expect("that of the golden array is taken" in texts, "golden shape: %s" % texts)
    write(folder + "/golden/net_c.0.1773503600124010.npy", npy([1, 5, 2, 2], range(20)))
    code, result = compare(folder + "/npu", folder + "/golden")
    expect(code == 3 and result["rows"][0]["verdict"] == "skip", "golden shape: of another: exit %d %r" % (code, result["rows"]))


def check_runs(folder):
    for time in ("20260314155320", "20260314155321"):
        write(folder + "/%s/0/net/1/0/Add.x.1.1.1773503600124010" % time, dump("x", [output([2], 8)], floats(1, 2)))
    code, _, err = run("list", folder)
    expect(code == 2 and "several runs or models" in err, "runs: exit %d %s" % (code, err))


if __name__ == "__main__":
    for check in (check_overflow, check_slices, check_statistics, check_names, check_storage, check_unsupported,
                  check_columns, check_arrays, check_golden_shape, check_runs):
        with tempfile.TemporaryDirectory() as place:
            check(place)
    sys.exit(1 if FAILED else 0)
