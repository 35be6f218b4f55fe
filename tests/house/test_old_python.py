"""An older Python is told which one is needed, before it meets a file that it cannot read."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = "Sametrack needs Python 3.12 or newer; this is Python 3.11"


@pytest.mark.parametrize(
    ("package", "error"),
    [("api", SystemExit), ("pipelines", SystemExit), ("warehouse", ImportError)],
)
def test_each_package_names_the_python_that_it_needs(
    package: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ROOT / package / "__init__.py"
    text = path.read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 11))
    monkeypatch.setattr(sys, "version_info", (3, 11, 7, "final", 0))
    with pytest.raises(error, match=NEEDED):
        exec(compile(text, str(path), "exec"), {"__name__": package})  # the file itself


def test_the_makefile_downloads_no_python_and_says_what_is_missing() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "Sametrack needs Python 3.12 or newer" in makefile
    assert re.findall(r"venv --quiet --python (\S+) \.venv;", makefile) == ['"$$py"']
    assert "--no-python-downloads" in makefile
