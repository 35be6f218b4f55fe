"""Rules of the house that a machine can check."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("api", "pipelines", "sandbox", "warehouse")
CLIENT = ROOT / "api" / "client"
MAX_LINES = 800
MAX_BODY = 60
FORBIDDEN_NAMES = {"utils", "helpers", "common", "base", "misc", "manager"}
BRANDS = re.compile("dou" + "yin|ku" + "gou|tik" + "hub|tik" + "tok", re.IGNORECASE)
PRIVATE_DAGSTER = re.compile(r"dagster(_\w+)?(\.\w+)*\._\w+[\w.]*$")
TEXT_SUFFIXES = {".py", ".toml", ".md", ".html", ".j2", ".css", ".js", ".yaml", ".sql", ".json", ""}


def sources() -> list[Path]:
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return sorted(path for path in found if "vendor" not in path.parts and not is_made(path))


def is_made(path: Path) -> bool:
    """True of what `python -m api.generate.client` makes, which nobody reads."""
    return path.parent == CLIENT / "blocking" or path == CLIENT / "answers.py"


@cache
def parsed(path: Path) -> ast.Module:
    """A file as a tree, parsed once however many rules read it."""
    return ast.parse(path.read_text())


def ours() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    rest = node.body[1:] if is_docstring else node.body
    return 0 if not rest else (rest[-1].end_lineno or 0) - rest[0].lineno + 1


def offences(path: Path, text: str, tree: ast.Module) -> Iterator[str]:
    """What is wrong with a module, each with the name of the file."""
    name = path.relative_to(ROOT)
    if not ast.get_docstring(tree):
        yield f"{name}: no docstring opens it"
    if len(text.splitlines()) > MAX_LINES:
        yield f"{name}: more than {MAX_LINES} lines"
    if path.stem in FORBIDDEN_NAMES:
        yield f"{name}: a name that says nothing"
    for node in functions(tree):
        if body_lines(node) > MAX_BODY:
            yield f"{name}:{node.lineno}: {node.name} has more than {MAX_BODY} lines"


def test_every_module_opens_with_its_charter_and_stays_small() -> None:
    modules = sources()
    assert len(modules) > 500
    found = [words for path in modules for words in offences(path, path.read_text(), parsed(path))]
    assert found == []


def test_an_offence_is_named_with_its_place() -> None:
    long = "def f():\n" + "    x = 1\n" * (MAX_BODY + 1) + "#\n" * MAX_LINES
    assert list(offences(ROOT / "api" / "utils.py", long, ast.parse(long))) == [
        "api/utils.py: no docstring opens it",
        "api/utils.py: more than 800 lines",
        "api/utils.py: a name that says nothing",
        "api/utils.py:1: f has more than 60 lines",
    ]


def test_brand_words_live_in_platform_profiles_and_recorded_shapes_alone() -> None:
    allowed = ("pipelines/platform/profiles/", "tests/shapes/")
    wrong = [
        str(path.relative_to(ROOT))
        for path in ours()
        if path.suffix in TEXT_SUFFIXES
        and not str(path.relative_to(ROOT)).startswith(allowed)
        and "vendor" not in path.parts
        and BRANDS.search(path.read_text(errors="replace"))
    ]
    assert wrong == []


def test_the_lock_names_no_host() -> None:
    locks = sorted(ROOT.glob("requirements*.lock"))
    assert len(locks) == 3
    for path in locks:
        assert "://" not in path.read_text()


def test_every_test_asserts_something() -> None:
    """A `with pytest.raises` or an assertion helper counts; nothing at all does not."""
    silent = [
        f"{path.name}:{node.name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in functions(parsed(path))
        if node.name.startswith("test_") and not _asserts(node)
    ]
    assert silent == []


def _asserts(node: ast.AST) -> bool:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assert):
            return True
        if isinstance(inner, ast.Call):
            name = ast.unparse(inner.func).rsplit(".", 1)[-1]
            if name.startswith(("assert", "raises", "warns", "check", "expect", "_")):
                return True
    return False


def private_dagster(tree: ast.Module) -> Iterator[str]:
    """The private modules of Dagster that a module names, in an import or as text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            named = [node.module or ""]
        elif isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = [node.value]
        else:
            continue
        yield from filter(PRIVATE_DAGSTER.match, named)


def test_private_parts_of_dagster_are_used_in_one_file() -> None:
    compat = ROOT / "pipelines" / "orchestration" / "dagster_compat.py"
    users = [path for path in sources() if path != compat and any(private_dagster(parsed(path)))]
    assert users == []
    assert any(private_dagster(parsed(compat)))
    private = "import dagster._core.x\nfrom dagster_shared._y import z\nA = 'dagster._daemon'"
    assert len(list(private_dagster(ast.parse(private)))) == 3
    public = "import dagster\nfrom dagster_webserver.app import z\n"
    assert list(private_dagster(ast.parse(public))) == []
