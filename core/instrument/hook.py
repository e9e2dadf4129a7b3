"""Collects intermediate tensors of chosen steps of a model runner, and writes which step made which token.

Written into this tree by `ulpscope instrument --apply`; `ulpscope instrument --revert` takes it away. A mistake in here
never stops the server: collection is then off, and one line of the log says why.
"""
import functools
import json
import logging
import os
import time

OPTIONS = json.loads(r'''@OPTIONS@''')

_log = logging.getLogger("ulpscope")
_collector = None
_off = False
_ready = False  # whether the collector was made, or is not wanted
_steps = 0  # steps counted so far: the number of the next one
_computed = {}  # request id -> tokens in the cache, of engines that do not say
_prompts = {}  # request id -> length of the prompt


def _turn_off(where, problem):
    global _off
    if not _off:
        _off = True
        _log.error("ulpscope: collection is off from here on: %s: %s: %s", where, type(problem).__name__, problem)


def init(owner):
    """Makes the collector, once a process. Called while the model runner is made, or by the first step."""
    global _collector, _ready
    if _off or _ready:
        return
    _ready = True
    try:
        if OPTIONS["seed_all"]:
            _seed_all()
        if OPTIONS["ledger_only"]:
            return
        from msprobe.pytorch import PrecisionDebugger
        _collector = PrecisionDebugger(config_path=OPTIONS["config"] or os.environ.get("ULPSCOPE_CONFIG"))
    except Exception as problem:  # noqa: BLE001
        _turn_off("making the collector", problem)


def _seed_all(seed=1234):
    import random
    random.seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    try:
        import numpy
        numpy.random.seed(seed)
    except ImportError:
        pass
    import torch
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)


def _model(owner):
    """The module of a runner, a worker or an engine; get_model() takes graph wrappers off."""
    for path in ("", "model_runner", "worker.model_runner", "engine.model_executor.driver_worker.worker.model_runner",
                 "engine.model_executor.driver_worker.model_runner"):
        at = owner
        for name in filter(None, path.split(".")):
            at = getattr(at, name, None)
        if at is None:
            continue
        if callable(getattr(at, "get_model", None)):
            return at.get_model()
        if getattr(at, "model", None) is not None:
            return at.model
    raise LookupError("no model under " + type(owner).__name__)


def _request_ids(work):
    ids = list(getattr(work, "num_scheduled_tokens", None) or {})
    for new in getattr(work, "scheduled_new_reqs", None) or []:
        ids.append(getattr(new, "req_id", ""))
    for group in getattr(work, "seq_group_metadata_list", None) or []:
        ids.append(getattr(group, "request_id", ""))
    return [str(each) for each in ids]


def _counts(where, work, dummy_run):
    """Whether a call is a step: True, False, or None where only the end of the call tells (other ranks of V0)."""
    if dummy_run or (OPTIONS["gate"] and not os.path.exists(OPTIONS["gate"])):
        return False
    if any(each.startswith(("_warmup", "_v2_mixed_warmup")) for each in _request_ids(work)):
        return False
    if where == "V0-W":
        return None if work is None else bool(getattr(work, "seq_group_metadata_list", None))
    if where == "V0-P":
        return work in ("execute_model", "start_worker_execution_loop")
    if where == "V0-E":
        return True
    return (getattr(work, "total_num_scheduled_tokens", 0) or 0) > 0


class _Step:
    """One open step. It closes when the call that opened it ends, by whatever way."""

    def __init__(self, owner=None, number=None):
        self._owner, self._number, self._kept = owner, number, False

    def _is_open(self):
        if self._owner is None or self._number is None:
            return False
        return getattr(self._owner, "_ulpscope_open", None) == self._number

    def end(self, empty=False):
        if self._is_open():
            _close(self._owner, empty)
        self._owner = None

    def keep(self):
        """Leaves the step open for the call that samples."""
        self._owner = None

    def __del__(self):
        if self._is_open():
            _close(self._owner, False)


def begin(owner, where, work=None, dummy_run=False):
    """Opens a step where the call is one. Never raises."""
    global _steps
    try:
        if _off:
            return _Step()
        if getattr(owner, "_ulpscope_open", None) is not None:
            _log.warning("ulpscope: step %s was still open and is closed", owner._ulpscope_open)
            _close(owner, False)
        counts = _counts(where, work, dummy_run)
        if counts is False:
            return _Step()
        init(owner)
        if _off:
            return _Step()
        number = _steps
        owner._ulpscope_open = number
        owner._ulpscope_unsure = counts is None
        _write_ledger(number, work)
        if _collector is not None:
            if OPTIONS["level"] == "L1":
                _collector.start()
            else:
                _collector.start(model=_model(owner))
        return _Step(owner, number)
    except Exception as problem:  # noqa: BLE001
        owner._ulpscope_open = None
        _turn_off("begin of a step", problem)
        return _Step()


def resume(owner):
    """The step that an earlier call left open; one that does nothing when there is none."""
    return _Step(owner, getattr(owner, "_ulpscope_open", None))


def _close(owner, empty):
    global _steps
    try:
        owner._ulpscope_open = None
        dropped = empty and getattr(owner, "_ulpscope_unsure", False)
        if _collector is not None and not _off:
            _collector.stop()
            if not dropped:
                _collector.step()
        if not dropped:
            _steps += 1
    except Exception as problem:  # noqa: BLE001
        _turn_off("end of a step", problem)


def wrap(where, opens=True, keeps=False):
    """A decorator: a step around each call. keeps: a call that answers None leaves it to the next wrapped call."""

    def decorate(function):
        @functools.wraps(function)
        def wrapped(self, *args, **kwargs):
            if opens:
                work = args[0] if args else kwargs.get("scheduler_output", kwargs.get("execute_model_req"))
                step = begin(self, where, work, _dummy_run(function, args, kwargs))
            else:
                step = resume(self)
            try:
                result = function(self, *args, **kwargs)
            except BaseException:
                step.end()
                raise
            if keeps and result is None:
                step.keep()
            else:
                step.end(empty=result is None or (isinstance(result, list) and not result))
            return result

        return wrapped

    return decorate


def _dummy_run(function, args, kwargs):
    if "dummy_run" in kwargs:
        return bool(kwargs["dummy_run"])
    while hasattr(function, "__wrapped__"):  # decorators of the method's own
        function = function.__wrapped__
    names = getattr(function, "__code__", None)
    names = names.co_varnames[1:] if names is not None else ()
    at = names.index("dummy_run") if "dummy_run" in names else len(args)
    return bool(args[at]) if at < len(args) else False


def _rank():
    try:
        import torch
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return torch.distributed.get_rank()
    except Exception:  # noqa: BLE001
        pass
    return int(os.environ.get("RANK", "0"))


def _writes_ledger():
    """Rank 0 of each data-parallel rank."""
    try:
        from vllm.distributed import parallel_state
        return (parallel_state.get_tensor_model_parallel_rank() == 0
                and parallel_state.get_pp_group().rank_in_group == 0)
    except Exception:  # noqa: BLE001
        return _rank() == 0


def _write_ledger(number, work):
    is_v0, is_v1 = hasattr(work, "seq_group_metadata_list"), hasattr(work, "total_num_scheduled_tokens")
    if not OPTIONS["ledger"] or not (is_v0 or is_v1) or not _writes_ledger():
        return
    requests = _requests_v0(work) if is_v0 else _requests_v1(work)
    line = {"step": number, "rank": _rank(), "reqs": requests, "time": time.time()}
    drafts = {key: len(tokens) for key, tokens in (getattr(work, "scheduled_spec_decode_tokens", None) or {}).items()}
    if drafts:
        line["spec"] = drafts
    with open(OPTIONS["ledger"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _requests_v0(work):
    requests = {}
    for group in work.seq_group_metadata_list:
        data = next(iter(group.seq_data.values()))
        computed = data.get_num_computed_tokens() if hasattr(data, "get_num_computed_tokens") else 0
        scheduled = getattr(group, "token_chunk_size", None) or 1
        requests[str(group.request_id)] = {"prompt": data.get_prompt_len(), "computed": computed,
                                           "scheduled": scheduled}
    return requests


def _requests_v1(work):
    for done in getattr(work, "finished_req_ids", None) or ():
        _computed.pop(done, None)
        _prompts.pop(done, None)
    for new in getattr(work, "scheduled_new_reqs", None) or []:
        tokens = getattr(new, "prompt_token_ids", None)
        if tokens is None:  # a prompt of embeddings, one a token
            tokens = getattr(new, "prompt_embeds", None)
        _prompts[new.req_id] = 0 if tokens is None else len(tokens)
        _computed[new.req_id] = getattr(new, "num_computed_tokens", 0)
    # Requests seen before: one object each, in one list (0.7 to 0.9.1) or two (0.6.6), or one object for all.
    for name in ("scheduled_cached_reqs", "scheduled_resumed_reqs", "scheduled_running_reqs"):
        cached = getattr(work, name, None)
        if isinstance(cached, (list, tuple)):
            for each in cached:
                if hasattr(each, "num_computed_tokens"):
                    _computed[each.req_id] = each.num_computed_tokens
        elif cached is not None:
            for key, computed in zip(getattr(cached, "req_ids", ()), getattr(cached, "num_computed_tokens", ())):
                _computed[key] = computed
    requests = {}
    for key, scheduled in (getattr(work, "num_scheduled_tokens", None) or {}).items():
        computed = _computed.get(key, 0)
        requests[str(key)] = {"prompt": _prompts.get(key, 0), "computed": computed, "scheduled": scheduled}
        _computed[key] = computed + scheduled
    return requests
