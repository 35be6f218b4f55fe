"""Seeded random streams and ids: all generated data is a pure function of (seed, kind, index).

Nothing here depends on the order of calls, on hash seeds or on the machine, so that two processes
with one seed generate the same world. This module knows nothing about the generated data.
"""

import hashlib

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_GOLDEN = 0x9E3779B1  # odd, so that multiplying by it permutes the 32-bit numbers


def stream(seed: int, kind: str, *index: int) -> Generator:
    """An independent generator for one entity.

    Args:
        seed: Seed of the world.
        kind: What is drawn, for example `caption`.
        index: Which one.
    """
    word = int.from_bytes(hashlib.blake2b(kind.encode(), digest_size=4).digest())
    return np.random.Generator(
        np.random.SFC64(np.random.SeedSequence([len(index), word, seed, *index]))
    )


def chance(rng: Generator, share: float) -> bool:
    """Return True with this probability."""
    return bool(rng.random() < share)


def scattered(count: int, *, salt: int) -> Ints:
    """Return `count` distinct numbers below 2^32 that look random (a permutation)."""
    index = np.arange(count, dtype=np.uint64)
    mask = np.uint64(0xFFFFFFFF)
    mixed = (index * np.uint64(_GOLDEN) + np.uint64(salt & 0xFFFFFFFF)) & mask
    mixed ^= mixed >> np.uint64(16)
    mixed = (mixed * np.uint64(0x7FEB352D)) & mask
    mixed ^= mixed >> np.uint64(15)
    return mixed.astype(np.int64)


def timed_ids(times: Ints, *, salt: int) -> Ints:
    """Return 19-digit ids with their unix time in the upper half, as on the platform."""
    return (times << np.int64(32)) | scattered(times.size, salt=salt)


def to_token(seed: int, kind: str, index: int, *, length: int) -> str:
    """Return letters and digits for codes and secondary ids, stable for (seed, kind, index)."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    key = f"{seed}:{kind}:{index}".encode()
    digest = hashlib.blake2b(key, digest_size=64).digest()
    return "".join(alphabet[byte % len(alphabet)] for byte in digest[:length])


def share_of(name: str, salt: str) -> float:
    """Return a stable number in 0..1 for an id and a salt: an id is always treated alike."""
    digest = hashlib.blake2b(f"{salt}:{name}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) / 2**32
