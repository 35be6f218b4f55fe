"""`python -m api.generate` writes what is out of date, and nothing else."""

from pathlib import Path

import pytest

from api.generate import __main__ as generating


def test_only_files_that_differ_are_written_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {tmp_path / name: name for name in ("same.md", "old.md", "new.md")}
    monkeypatch.setattr(generating, "derived_files", lambda: texts)
    monkeypatch.setattr(generating, "ROOT", tmp_path)
    (tmp_path / "same.md").write_text("same.md")
    (tmp_path / "old.md").write_text("before")
    generating.main()
    assert capsys.readouterr().out == "written: old.md\nwritten: new.md\n"
    assert {path.read_text() for path in texts} == set(texts.values())
    generating.main()
    assert capsys.readouterr().out == ""
