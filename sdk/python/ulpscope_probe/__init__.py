"""What a user's own script needs before a run that is to be compared: the same random numbers and deterministic
operators on each side. Needs nothing but the standard library; NumPy and PyTorch are used where they are there."""

from .determinism import random_state_is_fixed, release_random_state, seed_all

__all__ = ["seed_all", "release_random_state", "random_state_is_fixed"]
