"""Stable numbers for ids: how the platform treats something is always the same.

No knowledge of what is treated belongs here.
"""

import hashlib


def share_of(name: str, salt: str) -> float:
    """A stable number in 0..1 for an id and a question about it."""
    digest = hashlib.blake2b(f"{salt}:{name}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) / 2**32
