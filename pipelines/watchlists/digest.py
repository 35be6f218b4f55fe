"""The digest of one run: the changes of each entry, as a document and as two files.

The document is authoritative and is also stored in the control store; the HTML file is for users,
the JSON file for other programs. Not here: finding changes (`changes.py`).
"""

import asyncio
import ipaddress
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import httpx2
import orjson

from pipelines.documents.html_pages import PageTemplates, rounded_number
from pipelines.documents.messages import FIGURES
from pipelines.documents.videos import to_time
from pipelines.platform.http import link_gate
from pipelines.platform.http.client import USER_AGENT
from pipelines.settings import Settings
from pipelines.watchlists.changes import WatchChanges, WatchObservation
from warehouse.records.errors import InvalidParameterError, WarehouseUnavailableError
from warehouse.records.values import Document, ReadOnlyDocument
from warehouse.records.watchlists import EntryCheck, WatchlistRun

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class DigestEntry:
    """A finished entry; `observation` and `changes` are None if it failed."""

    check: EntryCheck
    observation: WatchObservation | None
    changes: WatchChanges | None


def build_digest(
    run: WatchlistRun, reports: Sequence[DigestEntry], *, ended_at: datetime, is_demo: bool
) -> Document:
    """Build the digest as plain JSON values.

    Two links of one track have an entry each; their changes count once.
    """
    completed = [report for report in reports if report.changes is not None]
    change_counts = {
        (report.check.entry.kind, report.check.subject): report.changes.count
        for report in reports
        if report.changes is not None
    }
    return {
        "kind": "watch_digest",
        "schema_version": SCHEMA_VERSION,
        "watchlist": run.watchlist,
        "run_id": run.run_id,
        "origin": run.origin,
        "every": run.plan.every,
        "due_at": to_time(run.due_at),
        "began_at": to_time(run.began_at),
        "ended_at": to_time(ended_at),
        "missed_count": run.missed_count,
        "thresholds": asdict(run.plan.thresholds),
        "entry_count": len(reports),
        "completed_count": len(completed),
        "failed_count": len(reports) - len(completed),
        "change_count": sum(change_counts.values()),
        "entries": [_entry(report) for report in reports],
        "coverage_complete": False,
        "is_demo_data": is_demo,
    }


def _entry(report: DigestEntry) -> Document:
    check, observed = report.check, report.observation
    return {
        "kind": check.entry.kind,
        "input": check.entry.input,
        "subject": check.subject,
        "title": None if observed is None else observed.title,
        "status": check.status,
        "job_id": check.job_id,
        "error": check.error,
        "observed_at": None if observed is None else to_time(observed.observed_at),
        "work_count": None if observed is None else len(observed.works),
        "changes": None if report.changes is None else report.changes.to_document(),
    }


def write_digest(folder: Path, digest: ReadOnlyDocument) -> dict[str, str]:
    """Write a digest to `<watchlist>/<due time>-<run>.json` and `.html` below a folder, atomically.

    Returns the paths relative to the folder, by suffix.

    Raises:
        WarehouseUnavailableError: A file cannot be written.
    """
    due = "".join(sign for sign in digest["due_at"] if sign.isalnum())
    # Files sort by due time; a part of the run's id keeps two runs of one time apart.
    stem = f"{digest['watchlist']}/{due}-{digest['run_id'][:8]}"
    texts = {
        "json": orjson.dumps(digest, option=orjson.OPT_INDENT_2),
        "html": render_digest(digest).encode(),
    }
    try:
        for suffix, text in texts.items():
            _replace(folder / f"{stem}.{suffix}", text)
    except OSError as error:
        raise WarehouseUnavailableError(
            f"the digest cannot be written: {error.strerror}",
            hint="check DATA_HOME, its owner and the free disk space",
        ) from error
    return {suffix: f"{stem}.{suffix}" for suffix in texts}


def render_digest(digest: ReadOnlyDocument) -> str:
    """Render a digest as one HTML file."""
    figures = {name: (label.en, label.zh) for name, label in FIGURES.items()}
    return _PAGES.render("digest.html.j2", style="digest.css", digest=digest, figures=figures)


def _replace(path: Path, content: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A reader finds the file as a whole or not at all.
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    draft.write_bytes(content)
    draft.replace(path)


def _signed(value: float | None) -> str:
    return "—" if value is None else f"{value:+,.0f}"


def _when(value: str | None) -> str:
    return "—" if value is None else f"{value[:10]} {value[11:16]} UTC"


_PAGES = PageTemplates(
    "pipelines.watchlists", filters={"number": rounded_number, "signed": _signed, "when": _when}
)


# The webhook: send a digest over HTTPS to one allow-listed public host at a pinned address.
#
# Off until an address is set and its host is listed. The name is resolved once, every address must
# be public, and the checked address is dialled. Redirects and proxies are not used, and only the
# status of the response is kept, because this is the only data ever sent to another host.

TIMEOUT_S = 10.0
_HTTPS_PORT = 443
_GOOD = range(200, 300)
_HINT = "DIGEST_WEBHOOK_URL is https://<host>/<path>, its host listed in DIGEST_WEBHOOK_HOSTS"


type Notify = Callable[[ReadOnlyDocument], Document | None]
"""Sends a digest, and returns the outcome; None if no destination is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookNotifier:
    """Sends digests by POST.

    A failure is an outcome, not an error: a digest that could not be sent is still valid.

    Attributes:
        address: The address that `check_webhook` returned.
        resolve: Resolves a host to addresses.
        transport: Creates the HTTP transport.
    """

    address: link_gate.CheckedAddress
    resolve: link_gate.Resolve = link_gate.look_up
    transport: Callable[[], httpx2.AsyncBaseTransport] = lambda: link_gate.PinnedTransport(
        connections_per_host=1
    )

    def notify(self, digest: ReadOnlyDocument) -> Document:
        """Send a digest; return `{host, status, error}`, one of the last two null."""
        try:
            # The client's own timeout is for each read and write, not for the whole request.
            status = asyncio.run(asyncio.wait_for(self._post(digest), TIMEOUT_S))
        except (httpx2.HTTPError, OSError, TimeoutError, _SpecialAddressError) as error:
            return _outcome(self.address.host, error=_word(error))
        return _outcome(self.address.host, status, error=None if status in _GOOD else "refused")

    async def _post(self, digest: ReadOnlyDocument) -> int:
        dialled = await self._dial()
        headers = {
            "User-Agent": USER_AGENT,
            "Content-Type": "application/json",
            "Idempotency-Key": str(digest["run_id"]),
        }
        async with httpx2.AsyncClient(
            transport=self.transport(), follow_redirects=False, trust_env=False, timeout=TIMEOUT_S
        ) as client:
            request = client.build_request(
                "POST",
                self.address.url,
                content=orjson.dumps(digest),
                headers=headers,
                extensions={link_gate.DIAL: dialled},
            )
            answer = await client.send(request, stream=True)  # the body is never read
            await answer.aclose()
            return answer.status_code

    async def _dial(self) -> str:
        """Resolve once and return the checked address, which prevents DNS rebinding."""
        addresses = await self.resolve(self.address.host, self.address.port)
        if not addresses:
            raise OSError("the name has no address")
        if not all(
            link_gate.is_public(ipaddress.ip_address(text.partition("%")[0])) for text in addresses
        ):
            raise _SpecialAddressError
        return addresses[0]


class _SpecialAddressError(Exception):
    """The host name resolves to an address that is not public."""


def build_notifier(settings: Settings) -> Notify:
    """Return what sends digests; it sends nothing if the webhook is not set, or set wrongly.

    A wrong setting is an outcome, too: watchlists run without anybody being told.
    """
    try:
        address = webhook_address(settings)
    except InvalidParameterError:
        assert settings.digest_webhook_url is not None
        wrong = link_gate.read_address(settings.digest_webhook_url.get_secret_value())
        host = None if wrong is None else wrong.host
        return lambda _digest: _outcome(host, error="invalid_setting")
    return (lambda _digest: None) if address is None else WebhookNotifier(address=address).notify


def _outcome(host: str | None, status: int | None = None, *, error: str | None) -> Document:
    return {"host": host, "status": status, "error": error}


def webhook_address(settings: Settings) -> link_gate.CheckedAddress | None:
    """Return the checked address that digests are sent to; None if it is not set.

    Raises:
        InvalidParameterError: As `check_webhook`.
    """
    if settings.digest_webhook_url is None:
        return None
    url = settings.digest_webhook_url.get_secret_value()
    return check_webhook(url, hosts=settings.digest_webhook_hosts)


def check_webhook(url: str, *, hosts: Collection[str]) -> link_gate.CheckedAddress:
    """Parse and check the address that digests are sent to.

    Raises:
        InvalidParameterError: It is not a plain HTTPS address, or its host is not listed.
    """
    address = link_gate.read_address(url)
    if address is None or address.scheme != "https" or address.port != _HTTPS_PORT:
        raise InvalidParameterError("DIGEST_WEBHOOK_URL is not a plain https address", hint=_HINT)
    if address.host not in {host.lower() for host in hosts}:
        raise InvalidParameterError(
            f"the host {address.host!r} of DIGEST_WEBHOOK_URL is not listed", hint=_HINT
        )
    return address


def _word(error: Exception) -> str:
    """Return a fixed word, never the error's text, which may quote the response."""
    if isinstance(error, _SpecialAddressError):
        return "special_address"
    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        return "timeout"
    return "unreachable"
