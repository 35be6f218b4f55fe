"""Tables that name the recordings of `audio identify`."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

from api.cli.commands.audio.identify import _table_files


@pytest.mark.parametrize(("name", "between"), [("songs.csv", ","), ("songs.tsv", "\t")])
def test_a_row_is_named_by_its_label_or_else_by_its_path(
    tmp_path: Path, name: str, between: str
) -> None:
    table = tmp_path / name
    rows = [("path", "label"), ("a.mp3", "Paper Boats"), ("b.mp3", ""), ("", "nothing")]
    table.write_text("\n".join(between.join(row) for row in rows), encoding="utf-8-sig")
    assert _table_files(table) == [
        ("Paper Boats", tmp_path / "a.mp3"),
        ("b.mp3", tmp_path / "b.mp3"),
    ]


def test_a_parquet_table_is_read_like_a_text(tmp_path: Path) -> None:
    table = tmp_path / "songs.parquet"
    pq.write_table(pa.table({"path": ["a.mp3", None], "label": [None, "x"]}), table)
    assert _table_files(table) == [("a.mp3", tmp_path / "a.mp3")]


@pytest.mark.parametrize(
    ("name", "data", "detail"),
    [
        ("songs.csv", b"label\nPaper Boats\n", "has no column `path`, or no rows"),
        ("songs.csv", b"path,label\n", "has no column `path`, or no rows"),
        ("songs.csv", b"path\n\xff\n", "cannot be read as a table"),
        ("songs.parquet", b"no table", "cannot be read as Parquet"),
    ],
)
def test_a_table_that_names_nothing_is_refused(
    tmp_path: Path, name: str, data: bytes, detail: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(typer.Exit) as met:
        _table_files(tmp_path / name)
    assert met.value.exit_code == 2
    assert detail in " ".join(capsys.readouterr().err.split())
