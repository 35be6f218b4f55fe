"""Where the files of a report go, and what becomes of those of an earlier run; no kernel runs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipelines.reports import build
from pipelines.reports.build import RenderedReport, ReportRequest, build_report
from pipelines.reports.catalogue import Notebook, ReportParameter
from pipelines.settings import Settings
from warehouse.records.errors import InvalidParameterError, ProviderUnsupportedError

REPORT = Notebook(
    name="track", path=Path("track.ipynb"), title="Track", purpose="one track", reads=(),
    parameters=(
        ReportParameter(name="music_id", type=str, default="", meaning="a track"),
        ReportParameter(name="top", type=int, default=10, meaning="how many"),
    ),
)  # fmt: skip
type Build = Callable[..., RenderedReport]


class FakeNotebook:
    """Writes tables as a notebook does; its page names what it was given."""

    def __init__(self) -> None:
        self.tables = {"videos.csv": b"a,b\n", "accounts.csv": b"c\n"}
        self.runs: list[Mapping[str, object]] = []

    def run(self, _report: Notebook, given: Mapping[str, object], *, progress: Any) -> str:
        self.runs.append(given)
        progress("cell 1 of 1")
        for name, content in self.tables.items():
            Path(str(given["tables"]), name).write_bytes(content)
        return "executed"


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> FakeNotebook:
    made = FakeNotebook()
    monkeypatch.setattr(build, "run_notebook", made.run)
    monkeypatch.setattr(
        build, "render_page", lambda _report, executed, *_, **__: f"<p>{executed}</p>"
    )
    return made


@pytest.fixture
def make(notebook: FakeNotebook, tmp_path: Path) -> Build:
    settings = Settings(_env_file=None, profile="sandbox", data_home=tmp_path)

    def made(parameters: Mapping[str, object] | None = None, **asked: Any) -> RenderedReport:
        request = ReportRequest(report=REPORT, parameters=parameters or {}, **asked)
        return build_report(settings, request, progress=lambda _: None)

    return made


@pytest.mark.parametrize(
    ("parameters", "asked", "name"),
    [
        ({}, {}, "track.html"),
        ({"top": 10, "music_id": "7"}, {}, "track-music_id=7.html"),
        ({"music_id": "a/b c"}, {}, "track-music_id=a_b_c.html"),
        ({}, {"as_of": "2026-01-01"}, "track-as_of=2026-01-01.html"),
        ({"top": 3}, {"as_of": "2026-01-01", "language": "zh"},
         "track-top=3-as_of=2026-01-01-language=zh.html"),
    ],
    ids=["usual", "parameter", "no file name", "past", "everything"],
)  # fmt: skip
def test_a_report_is_named_by_what_makes_it_different(
    make: Build, tmp_path: Path, parameters: dict[str, Any], asked: dict[str, Any], name: str
) -> None:
    made = make(parameters, **asked)
    assert made.page == tmp_path / "sandbox" / "reports" / name
    assert made.page.read_text() == "<p>executed</p>"
    assert (made.pdf, made.is_demo) == (None, True)


def test_reports_with_long_parameters_do_not_overwrite_each_other(make: Build) -> None:
    ids = ",".join(f"740000000000000000{number}" for number in range(6))
    asked: list[dict[str, Any]] = [{}, {"language": "zh"}, {"as_of": "2026-01-01"}]
    pages = {make({"music_id": ids}, **one).page for one in asked}
    pages.add(make({"music_id": f"{ids[:-1]}9"}).page)
    assert len(pages) == 4
    assert {len(page.stem) <= 120 for page in pages} == {True}


def test_tables_of_an_earlier_run_are_gone_and_other_files_stay(
    make: Build, notebook: FakeNotebook
) -> None:
    first = make()
    assert [table.name for table in first.tables] == ["accounts.csv", "videos.csv"]
    folder = first.tables[0].parent
    assert folder.name == "track-tables"
    (folder / "notes.txt").write_text("mine")
    notebook.tables = {"videos.csv": b"new\n"}
    second = make()
    assert [table.read_bytes() for table in second.tables] == [b"new\n"]
    assert {path.name for path in folder.iterdir()} == {"videos.csv", "notes.txt"}


def test_a_past_that_is_none_is_refused_before_the_notebook_runs(
    make: Build, notebook: FakeNotebook
) -> None:
    with pytest.raises(InvalidParameterError, match="neither a date"):
        make(as_of="soon")
    assert notebook.runs == []


def test_tables_that_cannot_be_written_are_an_error_of_the_output(
    make: Build, tmp_path: Path
) -> None:
    (tmp_path / "mine-tables").write_text("a file, no folder")
    with pytest.raises(InvalidParameterError, match="mine-tables cannot be written") as refused:
        make(output=tmp_path / "mine.html")
    assert "--output" in str(refused.value.hint)
    assert not (tmp_path / "mine.html").exists()


def test_a_relative_lake_is_the_same_one_in_the_folder_of_the_kernel(
    notebook: FakeNotebook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for lake_url, given in (("lake", str(tmp_path / "lake")), ("s3://a/lake/", "s3://a/lake")):
        settings = Settings(
            _env_file=None, profile="sandbox", data_home=tmp_path, lake_url=lake_url
        )
        request = ReportRequest(report=REPORT, parameters={})
        build_report(settings, request, progress=lambda _: None)
        assert notebook.runs[-1]["lake"] == given


def test_a_pdf_is_printed_from_the_page(make: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    class Printer:
        def write(self, html: str, page: Path) -> Path:
            pdf = page.with_suffix(".pdf")
            pdf.write_text(html)
            return pdf

    @contextmanager
    def opened(_chromium: object) -> Iterator[Printer]:
        yield Printer()

    monkeypatch.setattr("pipelines.reports.pdf.open_printer", opened)
    made = make(with_pdf=True)
    assert made.pdf == made.page.with_suffix(".pdf")
    assert made.pdf.read_text() == made.page.read_text()


def test_without_a_printer_the_notebook_does_not_run(
    make: Build, notebook: FakeNotebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_chromium: object) -> Any:
        raise ProviderUnsupportedError("no Chromium was found on this machine")

    monkeypatch.setattr("pipelines.reports.pdf.open_printer", missing)
    with pytest.raises(ProviderUnsupportedError):
        make(with_pdf=True)
    assert notebook.runs == []
