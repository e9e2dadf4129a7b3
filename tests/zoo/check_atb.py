"""Writes pairs of ATB dumps with known answers, compares them, and prints what was wanted and what was answered.

    check_atb.py --program build/release/bin/ulpscope [--only 'kernel*'] [--keep DIR]

The exit code is 1 when a case is not right: another verdict, another first culprit, or one that is none.
"""
import argparse
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np

    from atb_zoo import Run
except ImportError:
    print("numpy is missing, skipped")
    sys.exit(77)


def lost_columns(a, rng):
    a = a.copy()
    a[..., -8:] *= np.float32(0.25)
    return a


def noise(a, rng):
    return a + np.float32(0.3) * np.sqrt(np.mean(a.astype(np.float64) ** 2)).astype(np.float32) \
        * rng.standard_normal(a.shape).astype(np.float32)


ADD = ("ElewiseOperation", None, lost_columns, (4, 12))
CASES = {}


def case(name, verdict, culprits, target, golden=None, write=None, golden_write=None):
    CASES[name] = (verdict, culprits, target, golden or {}, write or {}, write if golden_write is None else golden_write)


P = "4_Prefill_layer"
LAYER = [(P, 0), ("12_Decoder_layer", 0), ("12_Decoder_layer", 1)]
OPS = [(P + "/1_ElewiseOperation", 0), ("12_Decoder_layer/1_ElewiseOperation", 0), ("12_Decoder_layer/1_ElewiseOperation", 1)]
KERNELS = [(op + "/0_AddBF16Kernel", step) for op, step in OPS]
MLP_ADD = {P + "/3_ElewiseOperation", "12_Decoder_layer/3_ElewiseOperation"}
for order in ("plain", "blocks"):
    for dtype in ("bf16", "float32"):
        other = {"order": order, "dtype": dtype}
        healthy = "identical" if other == {"order": "plain", "dtype": "bf16"} else "rounding"
        key = f"{order}/{dtype}/"
        for level, places in (("layer", LAYER), ("op", OPS), ("kernel", KERNELS)):
            case(key + f"healthy/{level}", healthy, [], other, write={"level": level})
            case(key + f"add/{level}", "compute_fault", places, {**other, "faults": [ADD]}, write={"level": level})
        scale_op = [(P + "/0_Attention/3_SelfAttention/1_SelfAttentionOperation", 0)] + [
            ("12_Decoder_layer/0_Attention/3_SelfAttention/1_PagedAttentionOperation", s) for s in (0, 1)]
        for change in (1.5, 1.15):
            faults = [("scale", None, change, (4, 12))]
            case(key + f"scale{change}/op", "compute_fault", scale_op, {**other, "faults": faults}, write={"level": "op"})
            case(key + f"scale{change}/kernel", "compute_fault",
                 [(scale_op[0][0] + "/0_FlashAttentionKernel", 0)] + [(op + "/0_PagedAttentionKernel", s) for op, s in scale_op[1:]],
                 {**other, "faults": faults}, write={"level": "kernel"})
            if change == 1.5:  # the smaller one changes a layer by no more than its rounding does
                case(key + f"scale{change}/layer", "compute_fault", LAYER, {**other, "faults": faults}, write={"level": "layer"})
        faults = [("scale", None, 1.02, (4, 12))]
        told = {**other, "faults": faults, "told": True}
        case(key + "parameter/op", "compute_fault", scale_op, told, write={"level": "op"})
        case(key + "parameter/kernel", "compute_fault",
             [(scale_op[0][0] + "/0_FlashAttentionKernel", 0)] + [(op + "/0_PagedAttentionKernel", s) for op, s in scale_op[1:]],
             told, write={"level": "kernel"})
        case(key + "parameter/layer", "compute_fault", LAYER, told, write={"level": "layer"})
        for number in (0, 1, 2):
            case(key + f"filter{number}", "compute_fault", OPS if number == 2 else KERNELS, {**other, "faults": [ADD]},
                 write={"level": "kernel", "filter_level": number})
        case(key + "filter_cross", "compute_fault", OPS, {**other, "faults": [ADD]}, write={"level": "kernel", "filter_level": 0},
             golden_write={"level": "kernel", "filter_level": 2})
        case(key + "labels_cross", "compute_fault", OPS, {**other, "faults": [ADD]}, write={"level": "op", "filter_level": 1},
             golden_write={"level": "op", "filter_level": 0, "labels": True})
        case(key + "healthy/filter_cross", healthy, [], other, write={"level": "kernel", "filter_level": 1, "labels": True},
             golden_write={"level": "kernel", "filter_level": 2})
        case(key + "one_layer", "compute_fault", KERNELS[:1], {**other, "faults": [ADD]},
             write={"level": "kernel", "ids": [(4,)]})
        case(key + "lost_kernels", "compute_fault", OPS, {**other, "faults": [ADD]},
             write={"level": "kernel", "drop": [p for p, _ in KERNELS]}, golden_write={"level": "kernel"})
        case(key + "older", "compute_fault", OPS, {**other, "faults": [ADD]}, write={"level": "op", "older": True, "filter_level": 0})
        case(key + "older_outputs", "compute_fault", OPS, {**other, "faults": [ADD]},
             write={"level": "op", "older": True, "filter_level": 0, "outputs_only": True})
        case(key + "older_healthy_outputs", healthy, [], other,
             write={"level": "op", "older": True, "filter_level": 0, "outputs_only": True})
        case(key + "statistics/layer", "compute_fault", LAYER, {**other, "faults": [ADD]}, write={"level": "layer", "task": "statistics"})
        case(key + "statistics/op", "compute_fault", OPS, {**other, "faults": [ADD]}, write={"level": "op", "task": "statistics"})
        case(key + "statistics/healthy", healthy, [], other, write={"level": "op", "task": "statistics"})
        case(key + "statistics_tensor", "compute_fault", OPS, {**other, "faults": [ADD]}, write={"level": "op", "task": "all"},
             golden_write={"level": "op", "task": "statistics"})


def judge(answer, verdict, places):
    got = [(c["op"], c["step"]) for c in answer["culprits"]]
    first = answer["verdict"] == verdict and got[:1] == places[:1]
    return first, first and sorted(set(got)) == sorted(places), got


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--only", default="*")
    parser.add_argument("--keep")
    parser.add_argument("--step", type=int, help="compare this round alone")
    parser.add_argument("--seed", type=int, default=7, help="weights and prompt of the model")
    arguments = parser.parse_args()
    root = arguments.keep or tempfile.mkdtemp()
    step = [] if arguments.step is None else ["--step", str(arguments.step)]
    runs, right, complete, count, alarms = {}, 0, 0, 0, 0

    def run(options):
        key = json.dumps(options, sort_keys=True, default=repr)
        if key not in runs:
            runs[key] = Run(seed=arguments.seed, **options).generate()
        return runs[key]

    for name, (verdict, places, target, golden, write, golden_write) in CASES.items():
        if not fnmatch.fnmatch(name, arguments.only):
            continue
        if step:
            places = [place for place in places if place[1] == arguments.step]
        folder = os.path.join(root, name.replace("/", "_"))
        run(golden).write(os.path.join(folder, "golden"), pid="39943", **golden_write)
        run(target).write(os.path.join(folder, "target"), pid="276107", **write)
        out = os.path.join(folder, "out")
        shutil.rmtree(out, ignore_errors=True)
        done = subprocess.run([arguments.program, "compare", "-m", "atb", "-tp", os.path.join(folder, "target"), "-gp",
                               os.path.join(folder, "golden"), "-o", out, "--exact-output", "--format", "json", "-q"] + step,
                              capture_output=True, text=True, check=False)
        count += 1
        try:
            with open(os.path.join(out, "compare_result.json"), encoding="utf-8") as file:
                answer = json.load(file)["localisation"]
        except OSError:
            print(name, "NO RESULT", done.returncode, done.stderr)
            continue
        first, all_of_them, got = judge(answer, verdict, places)
        right += first
        complete += all_of_them
        alarms += not places and bool(got)
        if not all_of_them:
            print(f"{'first ok' if first else 'WRONG   '} {name}: wanted {verdict} {places}\n      got {answer['verdict']} {got[:6]} exit {done.returncode}")
        if not arguments.keep:
            shutil.rmtree(folder)
    print(f"{count} cases: first culprit right {right}, all culprits right {complete}, false alarms {alarms}")
    return 0 if right == count else 1


if __name__ == "__main__":
    sys.exit(main())
