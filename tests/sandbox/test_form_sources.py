"""Every form that the sandbox serves names the public source that it is known from."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from sandbox.server.app import SURFACES
from sandbox.server.documents import form_sources
from sandbox.server.documents.form_sources import FORMS, OWN
from sandbox.server.faults import FAULT_SOURCES, KINDS

FOLDER = Path(form_sources.__file__).parent
REPOSITORY = re.compile(r"\b[\w.-]+/[\w.-]+")
DOCUMENTS = re.compile(r"\bDocument\b")
NO_FORMS = {"desktop_page", "read_frames"}
"""A page without data of its own, and what reads a form."""
SOURCES = {
    name: text for name, text in vars(form_sources).items()
    if name.isupper() and isinstance(text, str)
}  # fmt: skip


def builders() -> Iterator[str]:
    """Every public function of `documents/` that builds a document."""
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        module = f"sandbox.server.documents.{path.stem}"
        import_module(module)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                returned = ast.unparse(node.returns) if node.returns else ""
                if DOCUMENTS.search(returned) and node.name not in NO_FORMS:
                    yield f"{module}.{node.name}"


def test_every_builder_of_documents_names_its_source() -> None:
    found = list(builders())
    assert len(found) > 15
    assert [name for name in found if name not in FORMS] == []


def test_every_surface_and_every_fault_names_its_source() -> None:
    assert {surface.name for surface in SURFACES if surface.source not in SOURCES.values()} == set()
    assert set(FAULT_SOURCES) == set(KINDS)
    assert set(FAULT_SOURCES.values()) | set(FORMS.values()) <= set(SOURCES.values())


def test_only_control_surfaces_have_no_public_source() -> None:
    assert {surface.name for surface in SURFACES if surface.source == OWN} == {"control"}


@pytest.mark.parametrize("name", sorted(set(SOURCES) - {"OWN"}))
def test_a_source_names_a_repository_or_says_what_is_public(name: str) -> None:
    text = SOURCES[name]
    assert REPOSITORY.search(text) or "public" in text or "RFC" in text
    assert len(text) > 15
