"""The Dagster resource that renders reports: a thin wrapper from settings to files."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipelines.reports.catalogue import Notebook
from pipelines.settings import Settings

if TYPE_CHECKING:
    from pipelines.reports.build import RenderedReport


class ReportResource:
    """Renders reports of the configured world; opens the stores only while it does."""

    def make(
        self, report: Notebook, config: Mapping[str, object], *, run_id: str
    ) -> "RenderedReport":
        """Render a report with a run's config: its parameters, `as_of` and `with_pdf`.

        Raises:
            ProfileNotChosenError: No platform profile is selected.
            InvalidParameterError: A parameter is invalid.
            SametrackError: The notebook or the printing failed.
        """
        # Running notebooks needs a second of imports, which the code server should not pay.
        from pipelines.reports.build import ReportRequest, build_report  # noqa: PLC0415

        names = {one.name for one in report.parameters}
        asked = ReportRequest(
            report=report,
            parameters={name: value for name, value in config.items() if name in names},
            as_of=str(config["as_of"]),
            with_pdf=bool(config["with_pdf"]),
            run_id=run_id,
        )
        return build_report(Settings(), asked, progress=lambda _: None)
