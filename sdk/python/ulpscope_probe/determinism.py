"""seed_all: fixed random numbers, deterministic operators, no dropout.

It keeps the call of msprobe's function of that name and differs where that one surprises:

- dropout is removed unless asked otherwise, as guides say, in all its forms and not in three functions only;
- a second call changes what it names and nothing else: determinism that was switched on stays on;
- variables of the environment are set for a deterministic run only, values that are there already are kept when
  they say the same, and one that comes too late to be read is told;
- cuDNN is switched off as documented when the run is to be deterministic.
"""

import functools
import importlib
import os
import random
import sys
import warnings

_LARGEST_SEED = 2 ** 32 - 1  # of NumPy

# Read by the libraries when they are loaded or first used: what a shell should set before the start.
_NPU_VARIABLES = {
    "HCCL_DETERMINISTIC": "true",
    "LCCL_DETERMINISTIC": "1",
    "CLOSE_MATMUL_K_SHIFT": "1",
    "ATB_MATMUL_SHUFFLE_K_ENABLE": "0",
    "ATB_LLM_LCOC_ENABLE": "0",
}
_GPU_VARIABLES = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}

# Functions that give random numbers, by module; is_enhanced makes each start from the seed.
_RANDOM_FUNCTIONS = {
    "random": ("random", "uniform", "randint", "randrange", "choice", "choices", "sample", "shuffle", "gauss",
               "normalvariate", "betavariate", "expovariate", "getrandbits"),
    "numpy.random": ("rand", "randn", "randint", "random", "random_sample", "uniform", "normal", "standard_normal",
                     "choice", "permutation", "shuffle", "beta", "binomial", "exponential", "gamma", "poisson"),
    "torch": ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal",
              "bernoulli", "multinomial", "poisson"),
}
_RANDOM_METHODS = ("normal_", "uniform_", "bernoulli_", "random_", "exponential_", "cauchy_", "geometric_",
                   "log_normal_", "multinomial", "bernoulli")

# Every form of dropout that torch.nn.functional and torch have.
_DROPOUT = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
_TORCH_DROPOUT = ("dropout", "dropout_", "alpha_dropout", "alpha_dropout_", "feature_dropout", "feature_dropout_",
                  "feature_alpha_dropout", "feature_alpha_dropout_", "native_dropout")


class _State:
    """What earlier calls changed."""

    def __init__(self):
        self.deterministic = False
        self.patched = []  # (owner, name, original) of random functions
        self.saved = None  # the state of all generators right after seeding
        self.busy = False  # inside a patched function
        self.without_dropout = False


_state = _State()


def seed_all(seed=1234, mode=None, rm_dropout=True, is_enhanced=False):
    """Fixes the random numbers of Python, NumPy and PyTorch, on every device.

    seed         0 to 2**32 - 1
    mode         True: deterministic operators from now on; False: no longer; None: as it was
    rm_dropout   True: dropout passes its input on from now on; False: left alone
    is_enhanced  True: every call of a random function starts from the seed, whatever was drawn before it, so that
                 two programs that draw in another order get the same numbers; release_random_state() ends it

    Raises TypeError or ValueError for anything else. Warns where a variable of the environment comes too late.
    """
    _check(seed, mode, rm_dropout, is_enhanced)
    release_random_state()
    _seed_generators(seed)
    if os.environ.get("PYTHONHASHSEED") != str(seed):
        os.environ["PYTHONHASHSEED"] = str(seed)
        if sys.flags.hash_randomization:
            warnings.warn("PYTHONHASHSEED=%d holds for processes started from here on; set it in the shell for this one"
                          % seed, RuntimeWarning, stacklevel=2)
    if mode is not None:
        _set_determinism(mode)
    if rm_dropout:
        _remove_dropout()
    if is_enhanced:
        _fix_random_state()


def random_state_is_fixed():
    """Whether seed_all(is_enhanced=True) is in force."""
    return bool(_state.patched)


def release_random_state():
    """Ends what is_enhanced began."""
    while _state.patched:
        owner, name, original = _state.patched.pop()
        setattr(owner, name, original)
    _state.saved = None


def _check(seed, mode, rm_dropout, is_enhanced):
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError("seed: %r, expected an integer from 0 to %d" % (seed, _LARGEST_SEED))
    if not 0 <= seed <= _LARGEST_SEED:
        raise ValueError("seed: %d, expected an integer from 0 to %d" % (seed, _LARGEST_SEED))
    if mode is not None and not isinstance(mode, bool):
        raise TypeError("mode: %r, expected True, False or None" % (mode,))
    for name, value in (("rm_dropout", rm_dropout), ("is_enhanced", is_enhanced)):
        if not isinstance(value, bool):
            raise TypeError("%s: %r, expected True or False" % (name, value))


def _module(name):
    """A module that may not be installed."""
    if name in sys.modules:
        return sys.modules[name]
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _device(torch, name):
    """torch.cuda or torch.npu where there is a device of it."""
    device = getattr(torch, name, None)
    return device if device is not None and device.is_available() else None


def _seed_generators(seed):
    random.seed(seed)
    numpy = _module("numpy")
    if numpy is not None:
        numpy.random.seed(seed)
    torch = _module("torch")
    if torch is None:
        return
    torch.manual_seed(seed)
    for name in ("cuda", "npu"):
        device = _device(torch, name)
        if device is not None:
            device.manual_seed_all(seed)


def _set_variable(name, value, is_late):
    held = os.environ.get(name)
    if held is not None and held.lower() == value.lower():
        return
    os.environ[name] = value
    if is_late:
        warnings.warn("%s=%s may come too late: set it in the shell before the program starts" % (name, value),
                      RuntimeWarning, stacklevel=4)


def _set_determinism(mode):
    torch = _module("torch")
    if torch is None:
        _state.deterministic = mode
        return
    if mode:
        for device, variables in (("npu", _NPU_VARIABLES), ("cuda", _GPU_VARIABLES)):
            module = _device(torch, device)
            if module is None:
                continue
            is_late = bool(getattr(module, "is_initialized", lambda: True)())
            for name, value in variables.items():
                _set_variable(name, value, is_late)
    torch.use_deterministic_algorithms(mode)
    cudnn = torch.backends.cudnn
    cudnn.deterministic = mode
    if mode:
        cudnn.benchmark = False
    cudnn.enabled = not mode
    _state.deterministic = mode


def _passes_on(original):
    """A function in place of a form of dropout: the same answer as with training off."""

    @functools.wraps(original)
    def without_dropout(input, *arguments, **options):
        if original.__name__ == "native_dropout":  # gives the mask too
            torch = sys.modules["torch"]
            return input.clone(), torch.ones_like(input, dtype=torch.bool)
        return input

    without_dropout.ulpscope_original = original
    return without_dropout


def _remove_dropout():
    """Replaces the functions that modules such as nn.Dropout and nn.MultiheadAttention call."""
    torch = _module("torch")
    if torch is None:
        return
    for owner, names in ((torch.nn.functional, _DROPOUT), (torch, _TORCH_DROPOUT)):
        for name in names:
            original = getattr(owner, name, None)
            if original is not None and not hasattr(original, "ulpscope_original"):
                setattr(owner, name, _passes_on(original))
    _state.without_dropout = True


def _generator_state():
    held = {"random": random.getstate()}
    numpy = _module("numpy")
    if numpy is not None:
        held["numpy"] = numpy.random.get_state()
    torch = _module("torch")
    if torch is not None:
        held["torch"] = torch.get_rng_state()
        for name in ("cuda", "npu"):
            device = _device(torch, name)
            if device is not None:
                held[name] = device.get_rng_state_all()
    return held


def _set_generator_state(held):
    random.setstate(held["random"])
    if "numpy" in held:
        sys.modules["numpy"].random.set_state(held["numpy"])
    if "torch" in held:
        torch = sys.modules["torch"]
        torch.set_rng_state(held["torch"])
        for name in ("cuda", "npu"):
            if name in held:
                getattr(torch, name).set_rng_state_all(held[name])


def _from_the_seed(original):
    @functools.wraps(original)
    def fixed(*arguments, **options):
        # A random function that calls another one draws both from one start.
        if _state.busy or _state.saved is None:
            return original(*arguments, **options)
        _state.busy = True
        try:
            _set_generator_state(_state.saved)
            return original(*arguments, **options)
        finally:
            _set_generator_state(_state.saved)
            _state.busy = False

    return fixed


def _fix_random_state():
    _state.saved = _generator_state()
    for module_name, names in _RANDOM_FUNCTIONS.items():
        module = _module(module_name)
        if module is None:
            continue
        for name in names:
            _patch(module, name)
    torch = _module("torch")
    if torch is not None:
        for name in _RANDOM_METHODS:
            _patch(torch.Tensor, name)


def _patch(owner, name):
    original = getattr(owner, name, None)
    if original is None:
        return
    _state.patched.append((owner, name, original))
    setattr(owner, name, _from_the_seed(original))
