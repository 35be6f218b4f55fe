"""Where the orchestrator has reports made. A thin wrapper: settings in, the files out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pipelines.reports.catalogue import Notebook
from pipelines.settings import Settings

if TYPE_CHECKING:
    from pipelines.reports.build import Made


class ReportResource:
    """Makes reports of the world that the settings name; opens stores only while it does."""

    def make(self, report: Notebook, config: Mapping[str, object], *, run_id: str) -> "Made":
        """Run a report with a run's configuration: its parameters, `as_of` and `with_pdf`.

        Raises:
            ProfileNotChosenError: No profile is chosen.
            InvalidParameterError: A parameter cannot be used.
            SametrackError: The notebook or the printing failed.
        """
        # Running notebooks takes a second of imports that a code server does without.
        from pipelines.reports.build import Asked, make_report  # noqa: PLC0415

        names = {one.name for one in report.parameters}
        asked = Asked(
            report=report,
            parameters={name: value for name, value in config.items() if name in names},
            as_of=str(config["as_of"]),
            with_pdf=bool(config["with_pdf"]),
            run_id=run_id,
        )
        return make_report(Settings(), asked, progress=lambda _: None)
