"""`sametrack report` after its checks: which files it writes, and what it says of them."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from api.cli.commands import report as command
from api.cli.terminal import out
from api.services.evidence.report_evidence import ReportEvidence
from pipelines.reports.build import RenderedReport, ReportRequest
from tests.cli.asked_scans import answer_scan
from warehouse.control import open_control
from warehouse.records.errors import InvalidParameterError, ProviderUnsupportedError

type Run = Callable[..., Result]


class FakeJobClient:
    """Job client with one completed job."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job

    def expand_job_id(self, beginning: str) -> str:
        assert self._job["job_id"].startswith(beginning)
        return str(self._job["job_id"])

    def job(self, job_id: str) -> dict[str, Any]:
        assert job_id == self._job["job_id"]
        return self._job

    def gather_pairs(self, _job: object) -> ReportEvidence:
        return ReportEvidence()


class Printer:
    """Writes the page again, as a file that is no PDF."""

    def write(self, html: str, page: Path) -> Path:
        pdf = page.with_suffix(".pdf")
        pdf.write_text(html, encoding="utf-8")
        return pdf


@pytest.fixture
def job(tmp_path: Path) -> dict[str, Any]:
    url = f"sqlite:///{tmp_path / 'control.sqlite'}"
    with closing(open_control(url, world="sandbox")) as control:
        return answer_scan(control, videos=4)


@pytest.fixture
def run(job: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    @contextmanager
    def opened(_settings: object) -> Iterator[FakeJobClient]:
        yield FakeJobClient(job)

    @contextmanager
    def printer(_chromium: object) -> Iterator[Printer]:
        yield Printer()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROFILE", "sandbox")
    monkeypatch.setenv("DATA_HOME", str(tmp_path))
    monkeypatch.setattr(out, "_width", 160)  # the width of a terminal that shows all columns
    monkeypatch.setattr(command, "open_local_job_client", opened)
    monkeypatch.setattr("pipelines.reports.pdf.open_printer", printer)
    monkeypatch.setattr(command, "need_extra", lambda *_: None)
    app = typer.Typer()
    app.command()(command.report)
    return lambda *words: CliRunner().invoke(app, list(words))


@pytest.fixture
def chromium(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Empty where none is installed."""
    installed = ["/usr/bin/chromium"]

    def find(_chosen: object) -> Path:
        if not installed:
            raise ProviderUnsupportedError("no Chromium was found on this machine")
        return Path(installed[0])

    monkeypatch.setattr(command, "find_chromium", find)
    return installed


def test_a_job_is_reported_in_the_reports_folder_and_the_language_asked_for(
    run: Run, job: dict[str, Any], tmp_path: Path
) -> None:
    done = run(job["job_id"][:8], "--language", "zh")
    assert done.exit_code == 0, done.output
    page = tmp_path / "sandbox" / "reports" / f"{job['job_id']}.html"
    assert done.stdout == f"written {page}\n"
    assert 'lang="zh' in page.read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_an_error_of_the_input(
    run: Run, job: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    refused = run(job["job_id"], "--out", "folder")
    assert isinstance(refused.exception, InvalidParameterError)
    assert (refused.exception.detail, list((tmp_path / "folder").iterdir())) == (
        "folder cannot be written: Is a directory", [],
    )  # fmt: skip


@pytest.mark.usefixtures("chromium")
def test_a_pdf_lies_beside_the_page_and_holds_the_same(
    run: Run, job: dict[str, Any], tmp_path: Path
) -> None:
    done = run(job["job_id"], "--pdf", "--out", "deep/mine.html")
    assert done.stdout.splitlines() == ["written deep/mine.html", "written deep/mine.pdf"]
    page, pdf = (tmp_path / "deep" / f"mine.{form}" for form in ("html", "pdf"))
    assert page.read_text() == pdf.read_text()


def test_without_chromium_nothing_is_written_at_all(
    run: Run, job: dict[str, Any], chromium: list[str], tmp_path: Path
) -> None:
    chromium.clear()
    refused = run(job["job_id"], "--pdf", "--out", "mine.html")
    assert isinstance(refused.exception, ProviderUnsupportedError)
    assert not (tmp_path / "mine.html").exists()


@pytest.mark.parametrize(
    ("pdf", "tables", "is_demo", "said"),
    [
        (None, (), False, ["written r.html"]),
        (Path("r.pdf"), (), True, ["written r.html", "written r.pdf"]),
        (None, (Path("r-tables/a.csv"), Path("r-tables/b.csv")), False,
         ["written r.html", "written r-tables (2 tables)"]),
    ],
    ids=["page", "page and pdf", "page and tables"],
)  # fmt: skip
def test_every_file_of_a_notebooks_report_is_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, pdf: Path | None, tables: tuple[Path, ...],
    is_demo: bool, said: list[str],
) -> None:  # fmt: skip
    asked: list[ReportRequest] = []

    def build(
        _settings: object, request: ReportRequest, *, progress: Callable[[str], None]
    ) -> RenderedReport:
        asked.append(request)
        progress("cell [1] of 9")
        return RenderedReport(
            page=Path("r.html"), pdf=pdf, tables=tables, run_id="r", is_demo=is_demo
        )

    monkeypatch.setattr("pipelines.reports.build.build_report", build)
    done = run("track", "-p", "music_id=7300000000000000001", "--as-of", "2026-01-01")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == said
    assert ("demo data" in done.stderr) is is_demo
    (request,) = asked
    assert (request.report.name, request.as_of, request.with_pdf) == ("track", "2026-01-01", False)
    assert request.parameters["music_id"] == "7300000000000000001"
