"""The whole corpus: every case with its kind, and the same cases with other seeds and at other places."""
import re
from dataclasses import replace

from cases import COMPUTE, Case, all_cases, at, faulty
from model_cases import expert_faults, large_scores, model_faults, model_healthy, training_faults, training_healthy, \
    training_regimes
from train import Training
from zoo import Fault, Run

# Kind of a case by its name: the first pattern that fits. The table of docs/localisation.md has these rows.
KINDS = [
    ("gradients and backward calls", "backward|gradient_|forward_"),
    ("experts: index, router", "^experts"),
    ("NaN, infinity, float16 overflow", "nan|inf_|overflow"),
    ("modules only, mixed levels", "modules|mix"),
    ("several tokens in one folder", "one_folder"),
    ("ranks: shard, operation of one rank", "rank|shard"),
    ("key and value cache, later steps", "cache|stale|later_step|two_steps"),
    ("mask", "mask"),
    ("rotary table, position", "rot|rope_|position"),
    ("quantisation scale", "quant"),
    ("dtype of one call", "coarse"),
    ("operand transposed, residual lost", "transposed|lost"),
    ("argument: eps, scale, dropout", "eps|dropout|^(stat_)?scale$"),
    ("calls added, missing, reordered, shape", "renamed|extra|missing|reordered|shape"),
    ("index", "index|tokens"),
    ("weight", "weight"),
    ("constant factor", "factor"),
    ("one element, one row", "element|row"),
    ("noise in one operation", "noise|two_places"),
]


def kind_of(name):
    base = name.split("/", 1)[1]
    return next(kind for kind, pattern in KINDS if re.search(pattern, base))


def regimes():
    plain, single = Run(), Run(hide=("to",))
    narrow = Run(dtype="bf16", hide=("to",))
    return {"same": (plain, plain, False), "order": (replace(plain, order="blocks"), plain, False), "bf16": (narrow, single, True),
            "bf16_order": (replace(narrow, order="blocks"), narrow, True)}


def new_cases():
    for name, (target, golden, bf16) in regimes().items():
        yield from named(name, model_healthy((target, golden), name == "same"))
        yield from named(name, model_faults((target, golden), bf16))
        routed = tuple(replace(run, prompt=48, layers=2) for run in (target, golden))
        yield from named(name, expert_faults(routed))
    for name, (target, golden, bf16) in training_regimes().items():
        yield from named(name, training_healthy((target, golden), name == "same"))
        yield from named(name, training_faults((target, golden), bf16))
    half = (Run(dtype="f16", hide=("to",)), Run(hide=("to",)))
    yield faulty(half, "f16/overflow_scores", {}, COMPUTE, [at("L1.qk")], both=large_scores(half[0]))


def named(regime, cases):
    for case in cases:
        case.name = f"{regime}/{case.name}"
        yield case


LAYER_FIELDS = ("dropout_layer", "offset_layer", "eps_layer", "lost_layer", "mask_layer")


def moved(value, layer):
    """Everything that names layer 1 names another one."""
    if isinstance(value, str):
        return re.sub(r"\bL1\.", f"L{layer}.", value).replace("layers.1", f"layers.{layer}")
    if isinstance(value, tuple):
        return tuple(moved(v, layer) for v in value)
    if isinstance(value, dict):
        return {moved(k, layer): v for k, v in value.items()}
    if isinstance(value, Fault):
        return replace(value, tag=moved(value.tag, layer))
    return value


def moved_run(run, layer, offset):
    names = ("faults", "edits", "narrow", "transposed", "shards", "scale_edits", "saved", "stale", "doubled")
    changes = {n: moved(getattr(run, n), layer) for n in names if hasattr(run, n)}
    for name in LAYER_FIELDS:
        if getattr(run, name, None) == 1:
            changes[name] = layer
    if getattr(run, "cache_edits", None):
        changes["cache_edits"] = {(layer, kept, step): edit for (_, kept, step), edit in run.cache_edits.items()}
    return replace(run, seed=run.seed + 100 * offset, **changes)


def moved_case(case, offset):
    """The case with other weights, inputs and places: layer 1 becomes another layer but the first."""
    layer = 1 + offset % (case.target.layers - 1)
    change = lambda run: moved_run(run, layer, offset)
    return replace(case, target=change(case.target), golden=change(case.golden), must=moved(case.must, layer),
                   may=moved(case.may, layer), seen=moved(case.seen, layer))


def corpus(offset=0):
    for case in list(all_cases()) + list(new_cases()):
        if case.name.startswith("same/") and case.target.task == "tensor":
            case.target, case.golden = replace(case.target, digests=True), replace(case.golden, digests=True)
        yield moved_case(case, offset) if offset else case


def is_training(run):
    return isinstance(run, Training)


__all__ = ["Case", "corpus", "is_training", "kind_of"]
