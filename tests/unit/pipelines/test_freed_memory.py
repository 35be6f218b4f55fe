"""Freed memory is given back where the C library can do so, and nothing fails where it cannot."""

import ctypes
import weakref
from collections.abc import Callable

import pytest

from pipelines.freed_memory import HEAPS, give_back_memory, limit_heaps


class Library:
    """A C library with these functions, which note their calls."""

    def __init__(self, *names: str) -> None:
        self.called: list[tuple[object, ...]] = []
        self._names = names

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in self._names:
            raise AttributeError(name)
        return lambda *values: self.called.append((name, *values))


class Knot:
    """An object that holds itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


def load(monkeypatch: pytest.MonkeyPatch, library: Library) -> Library:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: library)
    return library


@pytest.mark.parametrize("functions", [("malloc_trim",), ()], ids=["glibc", "another library"])
def test_garbage_is_collected_before_the_heap_is_trimmed(
    functions: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = load(monkeypatch, Library(*functions))
    knot = weakref.ref(Knot())
    give_back_memory()
    assert knot() is None
    assert library.called == [(name, 0) for name in functions]


@pytest.mark.parametrize("functions", [("mallopt",), ()], ids=["glibc", "another library"])
def test_heaps_are_limited_where_their_number_can_be_set(
    functions: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    library = load(monkeypatch, Library(*functions))
    limit_heaps()
    assert library.called == [(name, -8, HEAPS) for name in functions]
