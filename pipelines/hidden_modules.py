"""Import libraries without what they load and this project never uses there."""

import importlib.abc
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def hidden_modules(*names: str) -> Iterator[None]:
    """Let this thread import as if modules of these names were not installed.

    What is loaded already stays; other threads, and this one afterwards, can import all of it.
    """
    finder = _Refusing(frozenset(names))
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def stand_in_module(name: str, *attributes: str) -> Iterator[None]:
    """Import with an empty module of this name, for a library that loads it and must have it.

    `attributes` are what is imported from it by name; they are None. If it is loaded already, it
    stays. Other threads see the stand-in, too: only for a process with a single one.
    """
    if name in sys.modules:
        yield
        return
    module = ModuleType(name)
    module.__dict__.update(dict.fromkeys(attributes))
    parent_name, _, own_name = name.rpartition(".")
    parent = sys.modules.get(parent_name)
    sys.modules[name] = module
    if parent is not None:
        setattr(parent, own_name, module)
    try:
        yield
    finally:
        del sys.modules[name]
        if parent is not None:
            delattr(parent, own_name)


class _Refusing(importlib.abc.MetaPathFinder):
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:
        """Leave a module to the other finders, unless it is hidden from this thread.

        Raises:
            ModuleNotFoundError: If it is.
        """
        del path, target
        if fullname in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is hidden here", name=fullname)
