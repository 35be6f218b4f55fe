"""The report of a live check: one JSON document, and the same in plain words as Markdown. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict

from pipelines.audio.file_heads import is_altered
from pipelines.captures.recorded.known_fields import completeness
from pipelines.doctor.live_check.analysis import LiveFindings, SurfaceFinding
from pipelines.doctor.live_check.proposal import ProposedPatch
from pipelines.documents.messages import counted
from pipelines.documents.videos import to_time
from warehouse.control.hosts.robots import RobotsDecision
from warehouse.records.health import OUTCOME_LABELS, REASON_TEXTS, SURFACE_USES
from warehouse.records.values import Document

REPORT_FORM = 1
SKEW_S = 5.0
"""Difference of the clocks above which signed addresses and pauses may be misjudged."""
_KEYS_SHOWN = 30
_REASONS = {
    "time_is_up": "not checked in time",
    "request_limit": "not checked: the limit of requests was reached",
    "host_demands_verification": "not checked: its host demanded verification twice",
    "host_is_silent": "not checked: its host did not answer twice",
    "nothing_to_ask": "not checked: no id is known to ask for",
    "surface_off": "not checked: the profile patch switches it off",
    "foreign_host": "the link gate refused the host",
}


def to_report(
    findings: LiveFindings,
    patch: ProposedPatch,
    robots: Iterable[RobotsDecision],
    **facts: object,
) -> Document:
    """Return the whole report as plain JSON values; `facts` come first."""
    return {
        "form": REPORT_FORM,
        **facts,
        "surfaces": [_surface(one) for one in findings.surfaces],
        "hosts": [asdict(met) for met in findings.hosts],
        "is_spider": findings.is_spider,
        "clock_skew_s": findings.clock_skew_s,
        "media": {
            "first_bytes": findings.sound_head.hex(" "),
            "kind": findings.sound_kind,
            "is_altered": is_altered(findings.sound_head),
        },
        "robots": [
            {**decision._asdict(), "decided_at": to_time(decision.decided_at)}
            for decision in robots
        ],
        "patch": {"is_empty": patch.is_empty, "changes": patch.changes(), "notes": patch.notes},
    }


def describe_reason(reason: str | None) -> str | None:
    """Return a reason in plain words."""
    return _REASONS.get(reason or "") or REASON_TEXTS.get(reason or "", reason)


def describe_page_view(is_spider: bool | None) -> str:
    """Say what the pages made of our User-Agent."""
    if is_spider is None:
        return "No page said what it takes this visitor for."
    if is_spider:
        return (
            "A page takes this visitor for a crawler (`isSpider` is true): expect pages without "
            "data. Sametrack says what it is and does not pretend to be a browser."
        )
    return "Pages take this visitor for a normal one (`isSpider` is false)."


def describe_clock(skew_s: float | None) -> str:
    """Say how this machine's clock differs from the platform's."""
    if skew_s is None:
        return "No answer had a date, so the clocks could not be compared."
    if abs(skew_s) <= SKEW_S:
        return f"This machine's clock agrees with the platform's ({skew_s:+.0f} s)."
    side = "behind" if skew_s > 0 else "ahead of"
    return f"This machine's clock is {abs(skew_s):.0f} s {side} the platform's: set it."


def describe_media(report: Document) -> str:
    """Say what the first bytes of the media file are."""
    media = report["media"]
    if not media["first_bytes"]:
        return "No media file was read."
    unknown = "altered by the host, so not comparable" if media["is_altered"] else "no known format"
    return f"First bytes of the media file: `{media['first_bytes']}` ({media['kind'] or unknown})."


def to_markdown(report: Document) -> str:
    """Return the report in plain words."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Document) -> Iterator[str]:
    yield f"# Live check of the profile `{report['profile']}`"
    yield ""
    requests = counted(report["requests"], "request")
    yield f"{report['started_at']}, {report['took_s']:.0f} s, {requests}."
    yield f"**{report['verdict']}**"
    yield from ("", "## Surfaces", "", "| surface | outcome | records | known | why |")
    yield "|---|---|---:|---:|---|"
    for one in report["surfaces"]:
        yield _surface_row(one)
    yield from ("", "## Fields", "")
    for one in report["surfaces"]:
        yield from _field_lines(one)
    yield from ("", "## Hosts", "")
    yield from _host_lines(report["hosts"])
    yield from ("", "## This visitor", "", describe_page_view(report["is_spider"]))
    yield describe_clock(report["clock_skew_s"])
    yield describe_media(report)
    yield from ("", "## New to this project", "")
    yield from _new_lines(report["surfaces"])
    yield from ("", "## robots.txt", "")
    yield from _robots_lines(report["robots"])
    yield from ("", "## Proposed patch", "")
    yield from _patch_lines(report["patch"])


def _surface_row(one: Document) -> str:
    known = "—" if one["completeness"] is None else f"{one['completeness']:.0%}"
    marks = (
        one["error_type"],
        one["reason_words"],
        one["http_status"] and f"HTTP {one['http_status']}",
    )
    why = ", ".join(_cell(str(mark)) for mark in marks if mark)
    return f"| {one['surface']} | {one['words']} | {one['records']} | {known} | {why} |"


def _field_lines(one: Document) -> Iterator[str]:
    fields: dict[str, list[int]] = one["fields"]
    if not fields:
        return
    missing = [name for name, (known, _) in fields.items() if known == 0]
    partly = [f"{name} {known}/{of}" for name, (known, of) in fields.items() if 0 < known < of]
    yield (
        f"- **{one['surface']}**: {len(fields) - len(missing)} of {len(fields)} fields known"
        + (f"; never {', '.join(missing)}" if missing else "")
        + (f"; partly {', '.join(partly)}" if partly else "")
    )


def _host_lines(hosts: list[Document]) -> Iterator[str]:
    refused = [met for met in hosts if not met["is_permitted"]]
    if not refused:
        yield "Every host of media, scripts and redirects is in the profile."
    by_host: dict[tuple[str, str], list[str]] = {}
    for met in refused:
        by_host.setdefault((met["host"], met["kind"]), []).append(met["surface"])
    for (host, kind), surfaces in by_host.items():
        yield f"- refused: `{host}` ({kind} of {', '.join(surfaces)})"
    permitted = sorted({met["host"] for met in hosts if met["is_permitted"]})
    if permitted:
        yield f"- permitted: {', '.join(f'`{host}`' for host in permitted)}"


def _new_lines(surfaces: list[Document]) -> Iterator[str]:
    is_new = False
    for one in surfaces:
        for code in one["unknown_codes"]:
            is_new = True
            yield f"- {one['surface']} says `{_cell(code)}`, which no rule knows"
        keys = one["unknown_keys"]
        if keys:
            is_new = True
            more = f" and {len(keys) - _KEYS_SHOWN} more" if len(keys) > _KEYS_SHOWN else ""
            shown = ", ".join(f"`{key}`" for key in keys[:_KEYS_SHOWN])
            yield f"- {one['surface']} has keys that no shape file has: {shown}{more}"
    if not is_new:
        yield 'No unknown status code, word for "no result" or key.'


def _robots_lines(decisions: list[Document]) -> Iterator[str]:
    if not decisions:
        yield "No robots.txt was read."
    for one in decisions:
        yield f"- `{one['host']}` {one['surface']}: {one['decision']} ({_cell(one['reason'])})"


def _patch_lines(patch: Document) -> Iterator[str]:
    if patch["is_empty"]:
        yield "Nothing: the profile fits what was answered."
    else:
        yield "`profile-patch.toml` proposes, for you to review:"
        yield ""
        yield from (f"- {change}" for change in patch["changes"])
    if patch["notes"]:
        yield ""
        yield "Not proposed, for you to decide:"
        yield ""
        yield from (f"- {note}" for note in patch["notes"])


def _surface(one: SurfaceFinding) -> Document:
    health = one.health
    share = completeness(one.fields)
    return {
        "surface": health.surface,
        "label": SURFACE_USES[health.surface].label,
        "outcome": health.outcome,
        "words": OUTCOME_LABELS[health.outcome],
        "error_type": health.error_type,
        "reason": health.reason,
        "reason_words": describe_reason(health.reason),
        "http_status": health.http_status,
        "requests": health.request_count,
        "duration_ms": health.duration_ms,
        "entity_id": health.entity_id,
        "records": one.record_count,
        "completeness": None if share is None else round(share, 3),
        "fields": {field.field: [field.known, field.total] for field in one.fields},
        "unknown_keys": list(one.unknown_keys),
        "unknown_codes": list(one.unknown_codes),
        "is_spider": one.is_spider,
    }


def _cell(text: str) -> str:
    """Return a text that stays within its cell of a table."""
    return "".join(c if c.isprintable() else " " for c in text).replace("|", "/").replace("`", "'")
