"""The Python examples of the page on analysing give what it shows, on a store of a real scan."""

import doctest
import re
import tarfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "analysis.md"
STORE = ROOT / "tests" / "data" / "first_release" / "store.tar.xz"
EXAMPLES = re.findall(r"^```pycon\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_every_example_gives_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with tarfile.open(STORE) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", "home")
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    names: dict[str, object] = {}
    for number, text in enumerate(EXAMPLES, start=1):
        example = doctest.DocTestParser().get_doctest(text, names, f"example {number}", None, 0)
        runner.run(example, clear_globs=False)
        names = example.globs
    assert runner.summarize(verbose=False).failed == 0, capsys.readouterr().out
    assert len(EXAMPLES) >= 20
