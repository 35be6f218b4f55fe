"""The pages of reports: their templates, and how values are written in them.

Every page has the frame of `templates/layout.html.j2`. What a page may use besides is given by the
module that renders it.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from urllib.parse import urlsplit

from pipelines.documents import messages
from pipelines.documents.html_pages import PageTemplates

WEB_SCHEMES = frozenset({"http", "https"})


def open_pages(names: Mapping[str, object]) -> PageTemplates:
    """Return the templates of reports, which may use `names`."""
    return PageTemplates("api.services.report", filters=_FILTERS, names={**_NAMES, **names})


def written_at() -> str:
    """Return the time at which a page is made."""
    return _moment(datetime.now(UTC))


def _moment(time: datetime | str | None) -> str:
    """Return a time in UTC, to the minute; unknown is a dash."""
    if time is None:
        return "—"
    moment = datetime.fromisoformat(time) if isinstance(time, str) else time
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _link(address: object) -> str:
    """Return a web address, or "" for anything else."""
    # A `javascript:` link must never appear on a page that the user opens.
    text = str(address or "")
    try:
        return text if urlsplit(text).scheme in WEB_SCHEMES else ""
    except ValueError:
        return ""


_FILTERS: Mapping[str, Callable[..., object]] = {
    "number": lambda value: "—" if value is None else f"{value:,}",
    "share": lambda value: "—" if value is None else f"{100 * value:.1f} %",
    "day": lambda seconds: (
        "—" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
    ),
    "moment": _moment,
    "link": _link,
}
_NAMES: Mapping[str, object] = {
    "demo_banner": messages.DEMO_BANNER,
    "never_everything": messages.NOT_EXHAUSTIVE,
}
