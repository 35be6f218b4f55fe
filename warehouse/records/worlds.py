"""Names of worlds and what they say of the data in them. A world is a profile, or a provider that
brings a world of its own.
"""

_REAL = frozenset({"public", "file"})


def is_demo_world(world: str) -> bool:
    """True for everything that is not the public platform or the operator's own files."""
    return world not in _REAL
