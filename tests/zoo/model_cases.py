"""Faults of a model's parts: what a port, a conversion of weights or a new kernel gets wrong. Pairs as in cases.py."""
import numpy as np

from cases import COMPUTE, EITHER, INPUT, at, faulty, healthy, one
from dumps import rounded
from train import Training
from zoo import Fault, element, factor, noise, nan_at, value_at


def rows_stale(a):
    """The last position still holds what stood before it."""
    a[:, -1] = a[:, -2]
    return a


def rows_shifted(a):
    return np.roll(a, 1, axis=1)


def rows_zero(a):
    a[:, a.shape[1] // 2] = 0
    return a


def transpose(w):
    return np.ascontiguousarray(w.T)


def nan_in(w):
    w[1, 3] = np.nan
    return w


def one_scale(a):
    a[5] *= 4
    return a


def dtype_faults(regime):
    """A call that computes in a coarser format than the run."""
    coarse = lambda a, rng: rounded(a, "bf16")
    for tag in ("L1.o", "L1.softmax", "L1.act", "L1.add1"):
        yield faulty(regime, f"coarse_{tag[3:]}", one(tag, coarse), COMPUTE, [at(tag)])
    yield faulty(regime, "coarse_dtype_down", dict(narrow=("L1.down",)), COMPUTE, [at("L1.down")])
    tables = [at("L0.cos_table", "input.0")]
    yield faulty(regime, "coarse_tables", dict(rope_dtype="bf16"), INPUT, tables, ["sin_table"])


def operand_faults(regime):
    yield faulty(regime, "transposed_weight", dict(edits={"L1.q": transpose}), INPUT, [at("L1.q", "input.1")])
    yield faulty(regime, "transposed_read", dict(transposed=("L1.o",)), COMPUTE, [at("L1.o")])
    yield faulty(regime, "transposed_keys", dict(transposed=("L1.qk",)), EITHER, [at("L1.qk", "input.1|output.0")],
                 both=dict(prompt=16, steps=1))
    fused = regime[0].fused
    norm = "model.layers.1.post_attention_layernorm." + ("weight" if fused else "pow")
    # The second addition of the layer reads the same wrong value.
    yield faulty(regime, "lost_call", dict(lost="call"), EITHER, [at(norm + "|L1.add2", "input.0|output.0")], ["L1.add2"])
    yield faulty(regime, "lost_operand", dict(lost="operand"), EITHER, [at("L1.add2", "input.0|output.0")])
    yield faulty(regime, "lost_sum", one("L1.add1", lambda a, rng: a * 0 + a[::-1]), COMPUTE, [at("L1.add1")], seen="L2.rope_q.cos")
    eps = "model.layers.1.input_layernorm." + ("weight" if fused else "eps")
    yield faulty(regime, "eps_of_layer", dict(eps=0.1, eps_layer=1), EITHER, [at(eps, "input.1|input.epsilon|output.0")])


def position_faults(regime):
    index = [at("L1.cos_table", "input.1")]
    yield faulty(regime, "position_of_layer", dict(position_offset=1, offset_layer=1), INPUT, index, ["sin_table"])
    table = [at("L0.cos_table", "input.0")]
    seen = ["sin_table"]
    yield faulty(regime, "rope_factor", dict(rope_factor=1.1), INPUT, table, seen)
    yield faulty(regime, "rope_stretch", dict(rope_stretch=2.0), INPUT, table, seen)
    hidden = dict(hide=tuple(set(regime[0].hide) | {"__getitem__", "cat", "to"}))
    read = [at("L0.rope_q.cos", "input.1")]
    others = ["rope_q.sin", "rope_k.cos", "rope_k.sin"]
    yield faulty(regime, "rope_factor_hidden", dict(rope_factor=1.1), INPUT, read, others, both=hidden)
    yield faulty(regime, "rope_stretch_hidden", dict(rope_stretch=2.0), INPUT, read, others, both=hidden)
    yield faulty(regime, "position_hidden", dict(position_offset=1), INPUT, read, others, both=hidden)
    yield faulty(regime, "tokens_shifted", dict(shifted_tokens=1), INPUT, [at("embed", "input.0")], seen="L0.rope_q.cos")
    yield faulty(regime, "index_shifted", one("argmax", lambda a, rng: a + 1), COMPUTE, [at("argmax")])


def cache_faults(regime):
    for name, product, edit in (("k", "qk", rows_stale), ("v", "pv", rows_zero), ("k", "qk", rows_shifted)):
        change = dict(cache_edits={(1, name, 1): edit})
        # Scores of keys in another order are the same scores in another order.
        seen = "L1.pv" if edit is rows_shifted else ""
        yield faulty(regime, f"stale_{name}_{edit.__name__}", change, INPUT, [at(f"L1.cache_{name}", "input.0.0", 1)], seen=seen)
        # The cache reaches attention through calls that are not recorded.
        yield faulty(regime, f"stale_{name}_{edit.__name__}_hidden", change, INPUT, [at(f"L1.{product}", "input.1", 1)],
                     both=dict(hide=tuple(set(regime[0].hide) | {"cat"})), seen=seen)


def mask_faults(regime):
    for kind in ("future", "none"):
        yield faulty(regime, f"mask_{kind}", dict(mask=kind), INPUT, [at("L0.mask", "input.1")])
        yield faulty(regime, f"mask_{kind}_of_layer", dict(mask=kind, mask_layer=1), INPUT, [at("L1.mask", "input.1")])
    yield faulty(regime, "mask_finite", dict(mask="finite"), INPUT, [at("L0.mask", "input.1")])
    # The next call reads scores that went past no mask.
    yield faulty(regime, "mask_uncalled", dict(mask="uncalled", mask_layer=1), EITHER, [at("L1.softmax", "input.0|output.0")])


def scale_faults(regime):
    both = dict(quantised=True)
    scales = {"double": lambda a: a * 2, "factor": lambda a: a * 1.05, "one_channel": one_scale, "shifted": lambda a: np.roll(a, 1)}
    for name, edit in scales.items():
        yield faulty(regime, f"quant_scale_{name}", dict(scale_edits={"L1.down": edit}), INPUT, [at("L1.down", "input.2")], both=both)
    yield faulty(regime, "quant_scale_inside", one("L1.o", factor(1.05)), COMPUTE, [at("L1.o")], both=both)
    yield faulty(regime, "quant_codes", dict(edits={"L1.o": transpose}), INPUT, [at("L1.o", "input.1|input.2")], both=both)


def rank_faults(regime):
    both = dict(tp=2)
    for name in ("gate", "o"):
        yield faulty(regime, f"shard_{name}", dict(shards={(1, f"L1.{name}"): 0}), INPUT, [at(f"L1.{name}", "input.1", rank=1)],
                     both=both)
    yield faulty(regime, "shard_rank0", dict(shards={(0, "L1.q"): 1}), INPUT, [at("L1.q", "input.1")], both=both)


def level_faults(regime, loud):
    both = dict(level="L0")
    inside = {"L1.down": "model.layers.1.mlp", "L1.o": "model.layers.1.self_attn", "embed": "model.embed_tokens", "head": "lm_head",
              "model.layers.1.input_layernorm.weight": "model.layers.1.input_layernorm"}
    for tag, module in inside.items():
        yield faulty(regime, f"modules_{tag.split('.')[-1]}", one(tag, loud), COMPUTE, [at(module)], both=both)
    # The sum is no module: the layer gives another output, its second norm is the first to read another input.
    yield faulty(regime, "modules_add1", one("L1.add1", loud), EITHER,
                 [at("model.layers.1.post_attention_layernorm|model.layers.1", "input.0|output.0")], ["model.layers.1"], both=both)
    folder = dict(one_folder=True, level="mix", steps=3)
    for token, tag in ((1, "L1.qk"), (2, "L1.down"), (1, "L0.o")):
        yield faulty(regime, f"one_folder_{tag[3:]}", one(tag, loud, steps=(token,)), COMPUTE, [at(f"t{token}.{tag}")], both=folder)
    yield faulty(regime, "one_folder_first", one("L1.act", loud), COMPUTE, [at("L1.act")], both=folder)
    calls = dict(folder, level="L1")
    yield faulty(regime, "one_folder_calls", one("L1.up", loud, steps=(1,)), COMPUTE, [at("t1.L1.up")], both=calls)


def structure_faults(regime, loud):
    target, golden = regime
    missing = faulty((target, golden), "missing_and_noise", one("L1.up", loud), COMPUTE, [at("L1.up")])
    missing.golden.contiguous = True
    yield missing
    yield faulty(regime, "reordered_and_noise", dict(early_silu=True, **one("L1.o", loud)), COMPUTE, [at("L1.o")])
    yield faulty(regime, "shape_head", one("head", lambda a, rng: a[-1:]), COMPUTE, [at("head")], both=dict(steps=1))
    yield faulty(regime, "shape_argmax", one("argmax", lambda a, rng: a[:-1]), COMPUTE, [at("argmax")])


def onset_faults(regime, loud):
    for name, value, tag in (("inf_act", np.inf, "L1.act"), ("inf_scores", -np.inf, "L1.scale"), ("nan_o", np.nan, "L1.o"),
                             ("nan_head", np.nan, "head")):
        yield faulty(regime, name, one(tag, value_at(value)), COMPUTE, [at(tag)])
    yield faulty(regime, "nan_weight", dict(edits={"L1.gate": nan_in}), INPUT, [at("L1.gate", "input.1")])
    yield faulty(regime, "nan_later", one("L1.softmax", nan_at, steps=(1,)), COMPUTE, [at("L1.softmax", step=1)])
    yield faulty(regime, "noise_up", one("L1.up", loud), COMPUTE, [at("L1.up")])
    yield faulty(regime, "noise_rope", one("L1.rope_k", loud), COMPUTE, [at("L1.rope_k")])
    yield faulty(regime, "noise_head", one("head", loud), COMPUTE, [at("head")])


def model_faults(regime, bf16):
    loud = noise(5e-2 if bf16 else 1e-2)
    if not bf16:
        yield from dtype_faults(regime)
    yield from operand_faults(regime)
    yield from position_faults(regime)
    yield from cache_faults(regime)
    yield from mask_faults(regime)
    yield from scale_faults(regime)
    yield from rank_faults(regime)
    yield from level_faults(regime, noise(0.3) if bf16 else loud)
    yield from structure_faults(regime, loud)
    yield from onset_faults(regime, loud)


def model_healthy(regime, equal):
    values = ("identical",) if equal else ("rounding", "identical")
    yield healthy(regime, "healthy_quantised", values, quantised=True)
    yield healthy(regime, "healthy_one_folder", values, one_folder=True, level="mix", steps=3)
    yield healthy(regime, "healthy_one_folder_calls", values, one_folder=True, steps=3)
    yield healthy(regime, "healthy_long", values, prompt=24, layers=4)
    yield healthy(regime, "healthy_hidden_cache", values, hide=tuple(set(regime[0].hide) | {"cat"}), steps=3)
    yield healthy(regime, "reordered_call", ("structure_only",) if equal else ("rounding", "structure_only"),
                  target=dict(early_silu=True))


def index_rolled(a, rng):
    return np.roll(a, 1, axis=0)


def expert_faults(regime):
    yield faulty(regime, "experts_index", dict(faults=(Fault("L0.topk", index_rolled, (0,), output=1),)), COMPUTE,
                 [at("L0.topk", "output.1")], both=dict(experts=8), seen="|".join(f"L0.rows{n}" for n in range(8)))
    yield faulty(regime, "experts_router", one("L0.router", noise(0.3)), COMPUTE, [at("L0.router")], both=dict(experts=8))


def large_scores(run):
    return dict(edits={"L1.q": lambda w: w * 6000})


def training_faults(regime, bf16):
    loud = noise(5e-2 if bf16 else 1e-2)
    fault = lambda tag, change, output=0: dict(faults=(Fault(tag, change, output=output),))
    yield faulty(regime, "backward_noise_down", fault("L1.down.grad", loud), COMPUTE, [at("L1.down.grad")])
    yield faulty(regime, "backward_noise_silu", fault("L1.silu.grad", loud), COMPUTE, [at("L1.silu.grad")])
    yield faulty(regime, "backward_factor_weight", fault("L1.up.grad", factor(1.05), 1), COMPUTE, [at("L1.up.grad", "output.1")])
    yield faulty(regime, "backward_element", fault("L1.up.grad", element(10), 1), COMPUTE, [at("L1.up.grad", "output.1")])
    yield faulty(regime, "backward_nan", fault("L1.down.grad", nan_at), COMPUTE, [at("L1.down.grad")])
    yield faulty(regime, "backward_loss", fault("loss.grad", factor(1.1)), COMPUTE, [at("loss.grad")])
    yield faulty(regime, "forward_noise_silu", fault("L1.silu", loud), COMPUTE, [at("L1.silu")])
    yield faulty(regime, "forward_noise_up", fault("L0.up", loud), COMPUTE, [at("L0.up")])
    # The call is right, what it kept for its backward call is not.
    saved = {"L1.down": lambda a: a[::-1]}
    yield faulty(regime, "backward_saved", dict(saved=saved), COMPUTE, [at("L1.down.grad", "output.1")])
    stale = {"L1.down": lambda w: w * 1.1}
    yield faulty(regime, "backward_stale_weight", dict(stale=stale), COMPUTE, [at("L1.down.grad")])
    yield faulty(regime, "backward_loss_scale", dict(loss_scale=2.0), EITHER, [at("loss.grad", "input.0|output.0")])
    yield faulty(regime, "backward_lost_branch", dict(lost_branch=1), INPUT, [at("L0.add.grad", "input.0")])
    mix = dict(level="mix")
    yield faulty(regime, "backward_mix", fault("L1.down.grad", loud), COMPUTE, [at("L1.down.grad")], both=mix)
    yield faulty(regime, "gradient_doubled", dict(doubled=("L1.up",)), EITHER, [at("L1.up.total", "gradient.weight")], both=mix)


def training_healthy(regime, equal):
    # Rounded to bf16, sums of few terms may come out equal in either order.
    values = ("identical",) if equal else ("rounding", "identical")
    for seed in range(3):
        yield healthy(regime, f"healthy_training_{seed}", values, seed=seed)
    yield healthy(regime, "healthy_training_mix", values, level="mix")


def training_regimes():
    plain, narrow = Training(), Training(dtype="bf16")
    other = lambda run: Training(dtype=run.dtype, order="blocks")
    return {"same": (plain, plain, False), "order": (other(plain), plain, False), "bf16": (narrow, plain, True),
            "bf16_order": (other(narrow), narrow, True)}
