"""Stable pseudo-random numbers for ids, so that the sandbox always treats an id alike."""

import hashlib


def share_of(name: str, salt: str) -> float:
    """Return a stable number in 0..1 for an id and a salt."""
    digest = hashlib.blake2b(f"{salt}:{name}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) / 2**32
