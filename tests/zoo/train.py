"""One training step of a small network with hand-written gradients: blocks of two linear calls, a gate and a residual.

Backward calls are recorded in backward order; sums of gradients that meet at a branch are computed by nobody who records.
"""
from dataclasses import dataclass, field

import numpy as np

from dumps import Recorder, Tensor
from zoo import F32, Machine

WIDTH, INNER = 32, 48


@dataclass
class Training:
    seed: int = 0
    layers: int = 3             # blocks
    rows: int = 12
    dtype: str = "f32"
    order: str = "plain"
    task: str = "tensor"
    level: str = "L1"
    digests: bool = False
    faults: tuple = ()          # tags: L1.up, L1.silu, L1.down, L1.add, loss; with .grad behind: the backward call
    saved: dict = field(default_factory=dict)    # tag of a linear call -> function of the input it kept for backward
    stale: dict = field(default_factory=dict)    # tag of a linear call -> function of the weight its backward reads
    loss_scale: float = 1.0
    lost_branch: int = None     # block whose skip path brings no gradient
    doubled: tuple = ()         # tags of weights whose gradient is added twice


class Network:
    def __init__(self, run):
        self.run, self.machine = run, Machine(run.order, run.dtype)
        self.rng, self.fault_rng = np.random.default_rng(500 + run.seed), np.random.default_rng(900 + run.seed)
        self.rec = Recorder(0, 0, modules=run.level == "mix", digests=run.digests)
        make = lambda out, into: Tensor(self.rng.standard_normal((out, into)) / np.sqrt(into), run.dtype)
        self.w = {f"L{n}.{name}": make(*shape) for n in range(run.layers)
                  for name, shape in (("up", (INNER, WIDTH)), ("down", (WIDTH, INNER)))}
        self.kept, self.keys = {}, {}

    def results(self, tag, values):
        """Values in the format of the run, None left alone, with the faults of the tag."""
        values = [None if v is None else Tensor(v, self.run.dtype) for v in values]
        for fault in self.run.faults:
            if fault.tag == tag:
                old = values[fault.output]
                values[fault.output] = Tensor(fault.change(old.a, self.fault_rng), old.dtype)
        return values

    def forward_call(self, prefix, name, tag, inputs, compute):
        outputs = self.results(tag, [compute()])
        self.keys[tag] = f"{prefix}.{name}.{self.rec.number(f'{prefix}.{name}')}"
        self.rec.api(self.keys[tag] + ".forward", inputs, {}, outputs, tag)
        return outputs[0]

    def backward_call(self, tag, gradient, values):
        outputs = self.results(tag + ".grad", values)
        self.rec.entry(self.keys[tag] + ".backward", {"input": [gradient], "output": outputs}, tag + ".grad")
        return outputs

    def linear(self, x, tag):
        w = self.w[tag]
        self.kept[tag] = x
        return self.forward_call("Functional", "linear", tag, [x, w], lambda: self.machine.matmul(x.a, w.a.T))

    def linear_backward(self, gradient, tag, last=False):
        x, w = self.kept[tag], self.w[tag]
        kept = Tensor(self.run.saved[tag](x.a.copy()), x.dtype) if tag in self.run.saved else x
        read = Tensor(self.run.stale[tag](w.a.copy()), w.dtype) if tag in self.run.stale else w
        into = None if last else self.machine.matmul(gradient.a, read.a)
        of_weight = self.machine.matmul(kept.a.T, gradient.a)
        into, of_weight = self.backward_call(tag, gradient, [into, of_weight])
        if self.run.level == "mix":
            total = of_weight.a.T * F32(2 if tag in self.run.doubled else 1)
            path = f"model.blocks.{tag[1]}.{tag.split('.')[1]}"
            self.rec.entry(f"Module.{path}.Linear.parameters_grad.0", {"weight": [Tensor(total, w.dtype)]}, tag + ".total")
        return into

    def block(self, x, number):
        p = f"L{number}."
        gate = self.linear(x, p + "up")
        self.kept[p + "silu"] = gate
        active = self.forward_call("Functional", "silu", p + "silu", [gate],
                                   lambda: self.machine.apply(lambda a: a / (1 + np.exp(-a)), gate.a))
        y = self.linear(active, p + "down")
        return self.forward_call("Torch", "add", p + "add", [x, y], lambda: x.a + y.a)

    def block_backward(self, gradient, number):
        p = f"L{number}."
        skip, branch = self.backward_call(p + "add", gradient, [gradient.a, gradient.a])
        branch = self.linear_backward(branch, p + "down")
        gate = self.kept[p + "silu"]

        def slope(a):
            s = 1 / (1 + np.exp(-a))
            return s * (1 + a * (1 - s))
        branch = self.backward_call(p + "silu", branch, [branch.a * self.machine.apply(slope, gate.a)])[0]
        branch = self.linear_backward(branch, p + "up", last=number == 0)
        if number == 0:
            return None
        return branch if number == self.run.lost_branch else Tensor(skip.a + branch.a, self.run.dtype)

    def step(self):
        run = self.run
        x = Tensor(self.rng.standard_normal((run.rows, WIDTH)), run.dtype)
        wanted = Tensor(self.rng.standard_normal((run.rows, WIDTH)), run.dtype)
        for number in range(run.layers):
            x = self.block(x, number)
        difference = x.a - wanted.a
        self.forward_call("Functional", "mse_loss", "loss", [x, wanted], lambda: F32(np.mean(difference * difference)))
        scale = Tensor(F32(run.loss_scale), run.dtype)
        gradient = self.backward_call("loss", scale, [difference * F32(2 * run.loss_scale / x.a.size), None])[0]
        for number in reversed(range(run.layers)):
            gradient = self.block_backward(gradient, number)


def train(run, folder):
    """Writes the dump of a training step and answers {(step, rank): {tag: key}}."""
    network = Network(run)
    network.step()
    network.rec.write(folder, run.task, run.level)
    return {(0, 0): network.rec.tags}
