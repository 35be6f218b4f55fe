"""Writes the names of all keys that the shape files hold, for the live check.

`python -m tests.known_keys` after shape files were added. What a live check meets beyond these
names is new to this project.
"""

from collections.abc import Iterable

from pipelines.captures.recorded.body_forms import decode_body
from pipelines.doctor.live_check.analysis import KNOWN_KEYS, key_names
from tests.answers import read_index


def keys_of_shapes() -> list[str]:
    """Every name of a key in a shape file, in alphabetical order."""
    names: set[str] = set()
    for shape in read_index():
        decoded = decode_body(shape.body) if shape.level == "body" else None
        names |= set() if decoded is None else key_names(decoded.payload)
    return sorted(names)


def write(names: Iterable[str]) -> None:
    KNOWN_KEYS.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


if __name__ == "__main__":
    write(keys_of_shapes())
