"""What product code imports is declared in `pyproject.toml`: in the default installation, or in an
extra that the code asks for before it is needed."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.house.test_house_rules import parsed
from warehouse.extras import EXTRAS

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "pipelines", "sandbox", "warehouse")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BROUGHT = {
    "anyio": "starlette",
    "jupyter-client": "ipykernel",
    "kombu": "celery",
    "markupsafe": "jinja2",
    "mcp-types": "mcp",
    "nbclient": "papermill",
    "pydantic-core": "pydantic",
    "starlette": "fastapi",
}
"""Libraries whose types are part of the interface of the one that brings them."""
BEHIND_AN_EXTRA = {
    "analysis": (
        "pipelines/reports/", "warehouse/analysis/relation.py",
        "warehouse/exports/package_contents/report_numbers.py",  # runs where packages are read
    ),
    "browser": ("pipelines/platform/browser/", "pipelines/reports/pdf.py"),
    "celery": ("pipelines/orchestration/runs/celery_runs.py",),
    "mobileapp": ("pipelines/platform/mobileapp/adb.py",),
    "postgres": ("pipelines/orchestration/server_storage.py",),
    "telemetry": ("pipelines/captures/tracing.py",),
}  # fmt: skip
"""The only places that import a library of an extra."""
IN_A_CLONE = {"api/generate/client.py": {"unasync"}}
"""Libraries of the development environment, by what runs in a clone alone."""


def distributions(requirements: list[str]) -> set[str]:
    return {plain(re.split(r"[\[<>=!~; ]", text, maxsplit=1)[0]) for text in requirements}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def installed() -> Mapping[str, list[str]]:
    """The distributions that bring each module; reading all of them takes a second."""
    return packages_distributions()


DEFAULT = distributions(PROJECT["dependencies"])
EXTRA = {name: distributions(of) for name, of in PROJECT["optional-dependencies"].items()}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module is not None:
            yield node.module


def undeclared(place: str, module: str, owners: Mapping[str, list[str]]) -> str | None:
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names or top in PACKAGES:
        return None
    names = {plain(name) for name in (top, *owners.get(top, ()))}
    while more := {BROUGHT[name] for name in names if name in BROUGHT} - names:
        names |= more
    allowed = DEFAULT.union(
        IN_A_CLONE.get(place, ()),
        *(EXTRA[extra] for extra, places in BEHIND_AN_EXTRA.items() if place.startswith(places)),
    )
    return None if names & allowed else f"{place}: {module}"


def test_every_library_that_the_product_imports_is_declared() -> None:
    owners = installed()
    found = [
        problem
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for module in imports(path)
        if (problem := undeclared(path.relative_to(ROOT).as_posix(), module, owners))
    ]
    assert found == []


def test_a_library_outside_of_its_place_is_noticed() -> None:
    owners = installed()
    assert undeclared("api/app.py", "pandas", owners) == "api/app.py: pandas"
    assert undeclared("api/app.py", "playwright.async_api", owners) is not None
    assert undeclared("api/app.py", "librosa", owners) is not None
    assert undeclared("pipelines/reports/pdf.py", "playwright.async_api", owners) is None
    assert undeclared("api/app.py", "uvicorn", owners) is None


def test_each_library_that_an_extra_is_known_by_is_one_that_it_declares() -> None:
    owners = installed()
    for extra, libraries in EXTRAS.items():
        for library in libraries:
            top = library.partition(".")[0]
            known = {plain(name) for name in (library.replace(".", "-"), *owners.get(top, ()))}
            assert known & EXTRA[extra], f"{library} is not of {extra}"
    assert set(EXTRA) - set(EXTRAS) == {"s3"}
    assert EXTRA["s3"] == set()
