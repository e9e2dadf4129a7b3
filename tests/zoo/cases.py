"""The pairs of runs and their answers. A place is (tag of a call, tensor, step, rank); tags are those of zoo.py."""
from dataclasses import dataclass, field, replace

from zoo import Fault, Run, bad_row, element, factor, nan_at, noise, swapped_rows


@dataclass
class Case:
    name: str
    target: Run
    golden: Run
    verdicts: tuple
    must: tuple = ()    # culprits that have to be named, the first one first; tags and tensors may hold alternatives: a|b
    may: tuple = ()     # further tags of the same fault
    healthy: bool = False
    seen: str = ""      # a|b: the first calls whose statistics show a fault that only reorders the values of its own place


COMPUTE, INPUT, EITHER = ("compute_fault",), ("input_fault",), ("compute_fault", "input_fault")
BIG = dict(inner=1700, prompt=64, layers=2, steps=1)    # silu, act: 108 800 elements


def at(tag, tensor="output.0", step=0, rank=0):
    return (tag, tensor, step, rank)


def faulty(regime, name, change, verdicts, must, may=(), both=None, seen=""):
    """The target of the regime changed by `change`; `both` changes either side."""
    target, golden = regime
    both = both or {}
    return Case(name, replace(target, **both, **change), replace(golden, **both), verdicts, tuple(must), tuple(may), seen=seen)


def one(tag, change, **where):
    return dict(faults=(Fault(tag, change, steps=where.get("steps", (0,)), ranks=where.get("ranks", (0, 1))),))


def weight_noise(scale):
    import numpy as np
    return lambda w: w + scale * w.std() * np.random.default_rng(3).standard_normal(w.shape)


def weight_element(w):
    w[2, 5] += 3
    return w


def common(regime, bf16):
    """Faults that can be seen in every regime; in bf16 those that stand above its rounding."""
    loud = noise(5e-2 if bf16 else 1e-2)
    far = element(10 if bf16 else 1)
    norm = "model.layers.1.input_layernorm"
    yield faulty(regime, "noise_qk", one("L1.qk", loud), COMPUTE, [at("L1.qk")])
    yield faulty(regime, "noise_o", one("L1.o", loud), COMPUTE, [at("L1.o")])
    yield faulty(regime, "noise_add", one("L1.add1", loud), COMPUTE, [at("L1.add1")])
    yield faulty(regime, "noise_embed", one("embed", loud), COMPUTE, [at("embed")])
    yield faulty(regime, "factor_act", one("L1.act", factor(1.02)), COMPUTE, [at("L1.act")])
    yield faulty(regime, "factor_down", one("L1.down", factor(1.02)), COMPUTE, [at("L1.down")])
    yield faulty(regime, "factor_norm", one(norm + ".weight", factor(1.02)), COMPUTE, [at(norm + ".weight")])
    if not regime[0].fused:
        yield faulty(regime, "factor_rsqrt", one(norm + ".rsqrt", factor(1.02)), COMPUTE, [at(norm + ".rsqrt")])
    yield faulty(regime, "factor_softmax", one("L1.softmax", factor(1.02)), COMPUTE, [at("L1.softmax")])
    yield faulty(regime, "element_of_1e5", one("L1.act", far), COMPUTE, [at("L1.act")], both=BIG)
    yield faulty(regime, "row", one("L1.down", bad_row), COMPUTE, [at("L1.down")], seen="L1.add2")
    yield faulty(regime, "rows_swapped", one("L1.softmax", swapped_rows), COMPUTE, [at("L1.softmax")], seen="L1.pv")
    yield faulty(regime, "nan", one("L1.silu", nan_at), COMPUTE, [at("L1.silu")])
    yield faulty(regime, "weight_noise", dict(edits={"L1.o": weight_noise(5e-2)}), INPUT, [at("L1.o", "input.1")])
    yield faulty(regime, "weight_element", dict(edits={"L1.gate": weight_element}), INPUT, [at("L1.gate", "input.1")])
    yield faulty(regime, "rotary_table", dict(rope_base=20000.0), INPUT, [at("L0.cos_table", "input.0")], ["sin_table"])
    yield faulty(regime, "rotary_table_hidden", dict(rope_base=20000.0), INPUT, [at("L0.rope_q.cos", "input.1")],
                 ["rope_q.sin", "rope_k.cos", "rope_k.sin"], both=dict(hide=("__getitem__", "cat", "to")))
    yield faulty(regime, "positions", dict(position_offset=1), INPUT, [at("L0.cos_table", "input.1")], ["sin_table"])
    yield faulty(regime, "scale", dict(scale_by=1.1), EITHER, [at("L0.scale", "input.1|output.0")])
    eps = "model.layers.0.input_layernorm." + ("weight" if regime[0].fused else "eps")
    yield faulty(regime, "eps", dict(eps=1e-2), EITHER, [at(eps, "input.1|input.epsilon|output.0")])
    yield faulty(regime, "dropout_extra", dict(dropout=0.1, training=True), EITHER, [at("L1.dropout|L1.pv", "output.0|input.0")])
    yield faulty((regime[0], replace(regime[1], dropout=0)), "dropout_flag", dict(dropout=0.1, training=True), EITHER,
                 [at("L1.dropout", "output.0|input.training|input.p")])
    yield faulty(regime, "renamed_and_noise", dict(bmm="bmm", **one("L1.pv", loud)), COMPUTE, [at("L1.pv")])
    yield faulty(regime, "extra_and_noise", dict(dropout=0, dropout_layer=0, **one("L1.o", loud)), COMPUTE, [at("L1.o")])
    two = (Fault("L1.q", loud, (0,)), Fault("L1.v", loud, (0,)))
    yield faulty(regime, "two_places", dict(faults=two), COMPUTE, [at("L1.q"), at("L1.v")])
    three = dict(steps=3)
    yield faulty(regime, "cache_first_step", one("L0.v", loud), COMPUTE, [at("L0.v")], both=three)
    yield faulty(regime, "cache_every_step", one("L0.k", loud, steps=(0, 1, 2)), COMPUTE, [at("L0.k", step=s) for s in (0, 1, 2)],
                 both=three)
    yield faulty(regime, "cache_hidden", one("L0.v", loud), COMPUTE, [at("L0.v")], both=dict(steps=3, hide=("cat", "to")))
    yield faulty(regime, "later_step", one("L1.qk", loud, steps=(1,)), COMPUTE, [at("L1.qk", step=1)])
    pair = (Fault("L1.v", loud, (0,)), Fault("L0.gate", loud, (1,)))
    yield faulty(regime, "two_steps", dict(faults=pair), COMPUTE, [at("L1.v"), at("L0.gate", step=1)])
    ranks = dict(tp=2)
    yield faulty(regime, "rank1_gate", one("L1.gate", loud, ranks=(1,)), COMPUTE, [at("L1.gate", rank=1)], both=ranks)
    yield faulty(regime, "rank1_o", one("L0.o", loud, ranks=(1,)), COMPUTE, [at("L0.o", rank=1)], both=ranks)
    yield faulty(regime, "mix_qk", one("L1.qk", loud), COMPUTE, [at("L1.qk")], both=dict(level="mix"))
    yield faulty(regime, "mix_factor_down", one("L1.down", factor(1.02)), COMPUTE, [at("L1.down")], both=dict(level="mix"))
    yield faulty(regime, "mix_weight", dict(edits={"L1.o": weight_noise(5e-2)}), INPUT, [at("L1.o", "input.1")],
                 both=dict(level="mix"))
    yield faulty(regime, "modules_qk", one("L1.qk", noise(0.3) if bf16 else loud), COMPUTE, [at("model.layers.1.self_attn")],
                 both=dict(level="L0"))


def statistics(regime, bf16):
    """What four numbers can show of the same faults."""
    both = dict(task="statistics")
    loud = noise(0.3 if bf16 else 1e-2)
    yield faulty(regime, "stat_noise_qk", one("L1.qk", loud), COMPUTE, [at("L1.qk")], both=both)
    yield faulty(regime, "stat_factor_down", one("L1.down", factor(1.1 if bf16 else 1.02)), COMPUTE, [at("L1.down")], both=both)
    yield faulty(regime, "stat_nan", one("L1.silu", nan_at), COMPUTE, [at("L1.silu")], both=both)
    yield faulty(regime, "stat_weight", dict(edits={"L1.o": weight_noise(0.3)}), INPUT, [at("L1.o", "input.1")], both=both)
    yield faulty(regime, "stat_scale", dict(scale_by=1.1), EITHER, [at("L0.scale", "input.1|output.0")], both=both)
    yield faulty(regime, "stat_rotary_table", dict(rope_base=20000.0), INPUT, [at("L0.cos_table", "input.0")], ["sin_table"], both=both)
    yield faulty(regime, "stat_cache", one("L0.v", loud), COMPUTE, [at("L0.v")], both=dict(steps=3, **both))
    yield faulty(regime, "stat_rank1", one("L1.gate", loud, ranks=(1,)), COMPUTE, [at("L1.gate", rank=1)], both=dict(tp=2, **both))
    yield faulty(regime, "stat_mix", one("L1.o", loud), COMPUTE, [at("L1.o")], both=dict(level="mix", **both))
    # The four numbers of a permuted tensor are equal: only what is computed from it can differ.
    yield faulty(regime, "stat_rows_swapped", one("L1.softmax", swapped_rows), ("inconclusive", "compute_fault"),
                 [] if bf16 else [at("L1.softmax|L1.pv")], ["pv"], both=both)


def healthy(regime, name, verdicts, target=None, golden=None, **both):
    return Case(name, replace(regime[0], **both, **(target or {})), replace(regime[1], **both, **(golden or {})), verdicts,
                healthy=True)


def healthy_cases(regime, seeds, equal):
    # Rounded to bf16, few values may come out equal in either order.
    values = ("identical",) if equal else ("rounding", "identical")
    for seed in seeds:
        yield healthy(regime, f"healthy_seed{seed}", values, seed=seed)
        if not equal:
            yield healthy(regime, f"healthy_filtered_seed{seed}", values, seed=seed, hide=("to", "cat", "__getitem__"))
    yield healthy(regime, "healthy_steps", values, steps=4)
    yield healthy(regime, "healthy_ranks", values, tp=2)
    yield healthy(regime, "healthy_mix", values, level="mix")
    yield healthy(regime, "healthy_mix_filtered", values, level="mix", hide=("to", "cat", "__getitem__"))
    yield healthy(regime, "healthy_modules", values, level="L0")
    yield healthy(regime, "healthy_stat", values, task="statistics")
    yield healthy(regime, "healthy_stat_filtered", values, task="statistics", hide=("to", "cat", "__getitem__"))
    yield healthy(regime, "healthy_stat_mix", values, task="statistics", level="mix")
    yield healthy(regime, "healthy_big", values, **BIG)
    other = ("structure_only",) if equal else ("rounding", "structure_only")
    yield healthy(regime, "extra_inactive", other, target=dict(dropout=0))
    yield healthy(regime, "missing_call", other, golden=dict(contiguous=True))
    yield healthy(regime, "renamed_call", other, target=dict(bmm="bmm"))


def large_down(run):
    """Weights of layer 1 under which one output channel of its MLP leaves the range of float16."""
    def up(w):
        return w * 30

    def down(w):
        w[3] *= 6000
        return w
    return dict(edits={"L1.up": up, "L1.down": down})


def all_cases():
    plain = Run()
    narrow = dict(dtype="bf16", hide=("to",))
    regimes = {
        "same": (plain, plain, False),
        "order": (replace(plain, order="blocks"), plain, False),
        "double": (replace(plain, order="double"), plain, False),
        "bf16": (replace(plain, **narrow), replace(plain, hide=("to",)), True),
        "bf16_order": (replace(plain, order="blocks", **narrow), replace(plain, **narrow), True),
        "bf16_split": (replace(plain, order="split", fused=True, **narrow), replace(plain, fused=True, **narrow), True),
        "order_fused": (replace(plain, order="blocks", fused=True), replace(plain, fused=True), False),
        "bf16_fused": (replace(plain, fused=True, **narrow), replace(plain, fused=True, hide=("to",)), True),
    }
    for name, (target, golden, bf16) in regimes.items():
        regime = (target, golden)
        seeds = (0, 1) if name == "same" else (0, 1, 2, 3) if name in ("order", "double", "order_fused") else (0, 1, 2, 3, 4, 5)
        cases = list(healthy_cases(regime, seeds, name == "same"))
        if name != "double":
            cases += list(common(regime, bf16)) + list(statistics(regime, bf16))
        if name in ("same", "order", "order_fused"):
            cases.append(faulty(regime, "noise_1e-4", one("L1.qk", noise(1e-4)), COMPUTE, [at("L1.qk")]))
            cases.append(faulty(regime, "noise_1e-4_stat", one("L1.qk", noise(1e-4)), COMPUTE, [at("L1.qk")],
                                both=dict(task="statistics")))
        for case in cases:
            case.name = f"{name}/{case.name}"
            yield case
    half = replace(plain, dtype="f16", hide=("to",))
    single = replace(plain, hide=("to",))
    for task in ("tensor", "statistics"):
        yield faulty((half, single), f"f16/overflow_{task}", {}, COMPUTE, [at("L1.down")], both=dict(task=task, **large_down(plain)))
    yield healthy((half, single), "f16/healthy", ("rounding",))
    routed = (replace(plain, prompt=48, layers=2, **narrow), replace(plain, prompt=48, layers=2, hide=("to",)))
    for seed in range(6):
        yield healthy(routed, f"experts/healthy_seed{seed}", ("rounding",), experts=8, seed=seed)
    reordered = (replace(routed[0], order="blocks"), routed[0])
    for seed in range(3):
        yield healthy(reordered, f"experts_order/healthy_seed{seed}", ("rounding",), experts=8, seed=seed)
    both = dict(experts=8)
    yield faulty(routed, "experts/noise_o", one("L0.o", noise(0.1)), COMPUTE, [at("L0.o")], both=both)
    yield faulty(routed, "experts/factor_o", one("L0.o", factor(1.05)), COMPUTE, [at("L0.o")], both=both)
    yield faulty(reordered, "experts_order/noise_o", one("L0.o", noise(5e-2)), COMPUTE, [at("L0.o")], both=both)
