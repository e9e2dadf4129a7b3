"""Runs the methods of a shape skeleton along many paths with a collector that only notes what is called.

usage: skeleton_paths.py TREE LEVEL   prints one JSON object: {"anchor": {"paths", "returns", "bad": [...]}}
"""
import importlib.util
import itertools
import json
import os
import re
import sys
import types

EVENTS = []


class PrecisionDebugger:
    def __init__(self, config_path=None):
        EVENTS.append(("made", config_path))

    def start(self, model=None):
        EVENTS.append(("start", model is not None))

    def stop(self):
        EVENTS.append(("stop",))

    def step(self):
        EVENTS.append(("step",))


def names():
    return [event[0] for event in EVENTS if event[0] != "made"]


def work_of(anchor):
    if anchor == "V0-W":
        data = types.SimpleNamespace(get_prompt_len=lambda: 3, get_num_computed_tokens=lambda: 0)
        group = types.SimpleNamespace(request_id="r", seq_data={0: data}, token_chunk_size=3)
        return types.SimpleNamespace(seq_group_metadata_list=[group])
    new = types.SimpleNamespace(req_id="r", prompt_token_ids=[1, 2, 3], num_computed_tokens=0)
    return types.SimpleNamespace(total_num_scheduled_tokens=3, num_scheduled_tokens={"r": 3}, scheduled_new_reqs=[new],
                                 scheduled_cached_reqs=[], finished_req_ids=set())


ANCHORS = [("V0-W", "vllm/worker/worker_base.py", "LocalOrDistributedWorkerBase"),
           ("V1-X", "vllm/v1/worker/gpu_model_runner.py", "GPUModelRunner"),
           ("V1-M", "vllm/v1/worker/gpu/model_runner.py", "GPUModelRunner"),
           ("V1-A", "vllm_ascend/worker/model_runner_v1.py", "NPUModelRunner")]


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def instance(cls, anchor):
    made = cls.__new__(cls) if anchor == "V0-W" else cls(vllm_config=1, device=None)
    made.model = object()
    made.model_runner = made
    if not hasattr(cls, "get_model"):
        made.get_model = lambda: made.model
    return made


def paths(source, skel, limit=512):
    conditions = sorted(set(re.findall(r"(?:cond|loop)\('([^']*execute_model[^']*|[^']*sample_tokens[^']*)'\)", source)))
    subsets = itertools.chain.from_iterable(itertools.combinations(conditions, n) for n in range(len(conditions) + 1))
    return itertools.islice(subsets, limit)


def run(anchor, path, class_name, skel, sampling):
    source = open(path, encoding="utf-8").read()
    cls = getattr(load(path, anchor.replace("-", "_")), class_name)
    made, results, bad, count = instance(cls, anchor), set(), [], 0
    for subset in paths(source, skel):
        skel.TRUE = set(subset)
        EVENTS.clear()
        count += 1
        result = cls.execute_model(made, work_of(anchor))
        results.add(str(result))
        after_forward = names()
        if sampling and hasattr(cls, "sample_tokens"):
            results.add("sample " + str(cls.sample_tokens(made, None)))
            if result is None and after_forward != ["start"]:
                bad.append(["closed before sampling", sorted(subset), after_forward])
        if names() != ["start", "stop", "step"]:
            bad.append(["not balanced", sorted(subset), names()])
    functions = [cls.execute_model, getattr(cls.execute_model, "__wrapped__", cls.execute_model)]
    names_of_module = next(each.__globals__ for each in functions if "work" in each.__globals__)

    def broken(*args):
        if "start" in names():  # get_model() of a skeleton works too
            raise RuntimeError("the model failed")

    EVENTS.clear()
    skel.TRUE, names_of_module["work"] = set(), broken
    try:
        cls.execute_model(made, work_of(anchor))
    except RuntimeError:
        pass
    raised = names()
    EVENTS.clear()
    names_of_module["work"] = lambda *args: None
    cls.execute_model(made, types.SimpleNamespace(total_num_scheduled_tokens=0, num_scheduled_tokens={},
                                                  seq_group_metadata_list=[]))
    return {"paths": count, "returns": len(results), "bad": bad[:3], "raised": raised, "idle": names()}


def main():
    tree, sampling = sys.argv[1], "sample" in sys.argv[2:]
    sys.path.insert(0, tree)
    msprobe, pytorch = types.ModuleType("msprobe"), types.ModuleType("msprobe.pytorch")
    pytorch.PrecisionDebugger = PrecisionDebugger
    pytorch.seed_all = lambda **options: None
    sys.modules.update({"msprobe": msprobe, "msprobe.pytorch": pytorch})
    import _skel
    found = {}
    for anchor, path, class_name in ANCHORS:
        full = os.path.join(tree, path)
        if os.path.exists(full) and "ulpscope" in open(full, encoding="utf-8").read():
            found[anchor] = run(anchor, full, class_name, _skel, sampling)
    print(json.dumps(found))


main()
