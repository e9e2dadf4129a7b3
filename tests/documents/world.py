"""What the readers of the documents have: dumps, tables and folders by the names that the pages use, made of the project's
test data, and an installed SDK. For run_blocks.py."""

import json
import os
import shutil
import struct
import subprocess

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(PROJECT, "tests", "data")
PROGRAM = os.environ["ULPSCOPE"]
PREFIX = os.environ["ULPSCOPE_SDK_PREFIX"]
COMPILER = os.environ.get("CXX", "c++")
INCLUDE = os.path.join(PREFIX, "include")

FLOW = os.path.join(DATA, "acl_dumps", "flow_high_precision")
CSV = os.path.join(DATA, "api_precision_compare", "tensors_current_sample")
ATB = os.path.join(DATA, "atb_dumps", "layer_fault")
BUNDLES = os.path.join(DATA, "config_check", "gpu_vs_npu")
OUTPUTS = os.path.join(DATA, "outputs")

# Names that a page gives to things of its reader, and what stands for them.
LINKS = {
    "examples": os.path.join(PROJECT, "examples"),
    "tests": os.path.join(PROJECT, "tests"),
    "scripts": os.path.join(PROJECT, "scripts"),
    "dump_npu": os.path.join(PROJECT, "examples", "dumps", "target"),
    "dump_gpu": os.path.join(PROJECT, "examples", "dumps", "golden"),
    "out_npu": os.path.join(PROJECT, "examples", "dumps", "target"),
    "out_gpu": os.path.join(PROJECT, "examples", "dumps", "golden"),
    "out_cpu": os.path.join(PROJECT, "examples", "dumps", "golden"),
    "step0": os.path.join(PROJECT, "examples", "dumps", "target", "step0"),
    "npu": os.path.join(DATA, "acl_dumps", "one_wrong", "npu"),
    "golden": os.path.join(DATA, "acl_dumps", "one_wrong", "golden"),
    "model.json": os.path.join(DATA, "acl_dumps", "one_wrong", "npu", "fusion.json"),
    "flow": FLOW,
    "npu_details.csv": os.path.join(CSV, "npu_accuracy_checking_details_20240101000000.csv"),
    "gpu_details.csv": os.path.join(CSV, "gpu_accuracy_checking_details_20240101000000.csv"),
    "run_a/layers": os.path.join(ATB, "golden", "atb_dump_data"),
    "run_b/layers": os.path.join(ATB, "target", "atb_dump_data"),
    "gpu_dump": os.path.join(PROJECT, "examples", "dumps", "golden"),
    "mindie_dump": os.path.join(ATB, "target", "atb_dump_data"),
    "bundle_gpu": os.path.join(BUNDLES, "golden"),
    "bundle_npu": os.path.join(BUNDLES, "problem"),
    "responses.jsonl": os.path.join(OUTPUTS, "anomaly", "responses.jsonl"),
    "golden.csv": os.path.join(OUTPUTS, "badcase", "msit_csv", "golden.csv"),
    "problem.csv": os.path.join(OUTPUTS, "badcase", "msit_csv", "problem.csv"),
    "gpu.csv": os.path.join(OUTPUTS, "badcase", "msit_csv", "golden.csv"),
    "npu.csv": os.path.join(OUTPUTS, "badcase", "msit_csv", "problem.csv"),
    "golden.jsonl": os.path.join(OUTPUTS, "first_token", "openai_completions", "golden.jsonl"),
    "problem.jsonl": os.path.join(OUTPUTS, "first_token", "openai_completions", "problem.jsonl"),
}

# Places that a page writes for one of the reader's own machine.
PLACES = {
    "/opt/venv/lib/python3.11/site-packages": "site-packages",
    "/where/ulpscope/is/installed": PREFIX,
    "<prefix>": PREFIX,
    "PREFIX": PREFIX,
}


def npy(path, shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}f", *values))


def stages(path):
    """The stages of the flow of the test data, as a user writes them."""
    with open(os.path.join(FLOW, "stages.json"), encoding="utf-8") as file:
        known = json.load(file)
    named = [{"name": each["stage"].split("_", 1)[1], "dump": "flow/" + each["dump_dir"], "fusion": "flow/" + each["fusion_json"]}
             for each in known[:2]]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"golden": "flow/golden", "stages": named}, file)


def arrays(folder):
    values = [i / 7 - 3 for i in range(128)]
    for names, factor in ((("cpu.npy", "a.npy", "logits_gpu.npy"), 1.0), (("npu.npy", "b.npy", "logits_npu.npy"), 1.0000001)):
        for name in names:
            npy(os.path.join(folder, name), (4, 32), [value * factor for value in values])


def build(page, scratch):
    """Makes the scratch folder of a page; the folder in which its commands run."""
    folder = os.path.join(scratch, "work")
    os.mkdir(folder)
    for name, target in LINKS.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        os.symlink(target, os.path.join(folder, name))
    shutil.copytree(os.path.join(DATA, "vllm_skeletons", "v0.9.1"), os.path.join(folder, "site-packages"))
    arrays(folder)
    stages(os.path.join(folder, "stages.yaml"))
    parts = page.split("/")
    if parts[0] in ("examples", "sdk") and len(parts) > 3:  # the folder of a plugin: its page speaks from inside of it
        folder = os.path.join(scratch, "plugin")
        if parts[1] == "template":
            subprocess.run([PROGRAM, "plugins", "new", parts[2], "my_plugin", "-o", scratch], check=True, stdout=subprocess.DEVNULL)
            folder = os.path.join(scratch, "my_plugin")
        else:
            shutil.copytree(os.path.join(PROJECT, *parts[:-1]), folder)
        arrays(folder)
    return folder


def environment(scratch):
    found = dict(os.environ, PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"], HOME=scratch, LC_ALL="C.UTF-8", COLUMNS="",
                 CMAKE_PREFIX_PATH=PREFIX, CMAKE_BUILD_TYPE="Release", PYTHONPATH=os.path.join(PROJECT, "sdk", "python"),
                 PYTHONDONTWRITEBYTECODE="1")
    found.pop("ULPSCOPE_PLUGIN_PATH", None)
    return found


def local(command, scratch):
    for place, stands_for in PLACES.items():
        command = command.replace(place, stands_for)
    return command.replace("/data/config.json", os.path.join(scratch, "work", "config.json"))


def shown(output, scratch):
    """The output with the places as the page has them."""
    return output.replace(os.path.join(scratch, "work") + "/", "").replace(PREFIX, "/where/ulpscope/is/installed")


def database(scratch):
    """The SQLite report of the bundled example."""
    folder = os.path.join(scratch, "database")
    if not os.path.exists(folder):
        dumps = os.path.join(PROJECT, "examples", "dumps")
        subprocess.run([PROGRAM, "compare", os.path.join(dumps, "target"), os.path.join(dumps, "golden"), "--format", "sqlite",
                        "-o", folder, "--exact-output"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return os.path.join(folder, "compare_result.sqlite")
