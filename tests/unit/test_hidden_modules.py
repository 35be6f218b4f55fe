"""Libraries that load without what they would load and nobody uses."""

import email
import importlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.hidden_modules import hidden_modules, stand_in_module

NAME = "a_module_of_this_test"


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One that can be imported."""
    (tmp_path / f"{NAME}.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop(NAME, None)


def test_a_hidden_module_is_not_found_until_it_is_shown_again() -> None:
    with hidden_modules(NAME), pytest.raises(ModuleNotFoundError, match=NAME):
        importlib.import_module(NAME)
    assert importlib.import_module(NAME).VALUE == 1


def test_it_is_found_again_after_an_error() -> None:
    with pytest.raises(RuntimeError), hidden_modules(NAME):
        raise RuntimeError
    assert importlib.import_module(NAME).VALUE == 1


def test_what_is_loaded_stays_loaded() -> None:
    importlib.import_module(NAME)
    with hidden_modules(NAME):
        assert importlib.import_module(NAME).VALUE == 1


def test_other_modules_can_be_imported() -> None:
    with hidden_modules("another_module"):
        assert importlib.import_module(NAME).VALUE == 1


def test_another_thread_finds_it_meanwhile() -> None:
    found: list[int] = []
    other = threading.Thread(target=lambda: found.append(importlib.import_module(NAME).VALUE))
    with hidden_modules(NAME):
        other.start()
        other.join()
    assert found == [1]


def test_a_stand_in_has_the_names_that_are_imported_from_it_and_gives_way_afterwards() -> None:
    with stand_in_module(NAME, "VALUE"):
        assert importlib.import_module(NAME).VALUE is None
    assert importlib.import_module(NAME).VALUE == 1


def test_the_parent_of_a_stand_in_knows_it_only_meanwhile() -> None:
    name = "email.a_part_of_this_test"
    with stand_in_module(name):
        assert getattr(email, "a_part_of_this_test") is sys.modules[name]  # noqa: B009
    assert not hasattr(email, "a_part_of_this_test")
    assert name not in sys.modules


def test_no_stand_in_replaces_what_is_loaded() -> None:
    with stand_in_module("email", "message"):
        assert sys.modules["email"] is email
    assert sys.modules["email"] is email


def test_a_stand_in_gives_way_after_an_error() -> None:
    with pytest.raises(RuntimeError), stand_in_module(NAME):
        raise RuntimeError
    assert importlib.import_module(NAME).VALUE == 1
