"""One live check: open the stores, ask, conclude, and write the folder.

The caller chooses the profile and has asked for consent. Nothing here knows a terminal.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from pipelines.captures.recorded.folder import RecordedBody, RecordedFolder, write_folder
from pipelines.captures.recorded.pseudonymised import BodyPseudonymiser
from pipelines.captures.recorded.shape_files import RecordedReader, pseudonymised
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.doctor.check_results import HealthVerdict, summarise_health
from pipelines.doctor.live_check.analysis import LiveFindings, analyse
from pipelines.doctor.live_check.proposal import ProposedPatch, propose_patch
from pipelines.doctor.live_check.report import to_markdown, to_report
from pipelines.doctor.live_check.round import (
    MAX_WAIT_S,
    CountedTurns,
    LiveCheckRound,
    LiveCheckTimes,
    OneRequestClient,
    SurfaceCheck,
)
from pipelines.doctor.probes.canaries import Canaries, CanaryKind
from pipelines.doctor.probes.probe_round import ProbeListener, find_canaries
from pipelines.doctor.probes.table import ProbeReader
from pipelines.documents.videos import to_time
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.http.host_policy import build_host_policy
from pipelines.platform.http.robots import DAY_S
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.reparse import BodyParser
from pipelines.settings import Settings
from warehouse.control import ControlStore, RobotsDecision
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.pseudonyms import open_pseudonyms
from warehouse.home.folder import Home, open_home
from warehouse.queries.surface_health import write_health
from warehouse.records.errors import InvalidParameterError
from warehouse.records.values import Document

PATCH = "profile-patch.toml"
REPORT = "report.md"
DOCUMENT = "report.json"
_FIRST_IDS: tuple[CanaryKind, ...] = ("link", "aweme_id", "music_id", "sec_uid", "ch_id")
_LONG_NUMBER = re.compile("[0-9]{5,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCheckRequest:
    """What is to be checked, and where it is written."""

    settings: Settings
    profile: PlatformProfile
    folder: Path
    link: str | None = None
    is_pseudonymised: bool = False
    times: LiveCheckTimes = field(default_factory=LiveCheckTimes)


@dataclass(slots=True)
class LiveCheckResult:
    """What a live check found. `left_out` names surfaces whose body could not be pseudonymised."""

    report: Document
    verdict: HealthVerdict
    patch: ProposedPatch
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    checks: Sequence[SurfaceCheck]
    request_count: int
    robots: Sequence[RobotsDecision]
    robots_texts: dict[str, str]


def run_live_check(
    request: LiveCheckRequest,
    *,
    watch: ProbeListener | None = None,
    clock: Clock = MACHINE_CLOCK,
) -> LiveCheckResult:
    """Ask each surface once, write the folder, and return the report. Blocking.

    Raises:
        InvalidParameterError: The link is none of the platform's, the folder has files, or there
            is nothing to ask for.
        WarehouseError: A store cannot be opened or written.
    """
    _check_input(request)
    began_at, began = clock.now(), clock.monotonic()
    home = open_home(request.settings.data_home, request.profile.name)
    with (
        open_control_of(request.settings, home) as control,
        open_engine_of(request.settings, home) as engine,
    ):
        answers = asyncio.run(_ask(request, control, engine, watch or ProbeListener(), clock))
        write_health(engine.lake, [check.health for check in answers.checks])
    findings = analyse(request.profile, answers.checks)
    patch = propose_patch(request.profile, findings, made_at=began_at)
    verdict = summarise_health([], [one.health for one in answers.checks], is_chosen=True)
    result = LiveCheckResult(report={}, verdict=verdict, patch=patch)
    pseudonymiser = _pseudonymiser(request, home)
    result.report = _report(
        request, answers, findings, result,
        pseudonymiser, started_at=began_at, took_s=clock.monotonic() - began,
    )  # fmt: skip
    _write(request, answers, result, pseudonymiser)
    return result


def _check_input(request: LiveCheckRequest) -> None:
    if request.link is not None and request.profile.find_target(request.link) is None:
        raise InvalidParameterError(
            f"{request.link!r} holds no link of the platform",
            hint="copy the share link of a video or a track",
        )
    if request.folder.exists() and any(request.folder.iterdir()):
        raise InvalidParameterError(
            f"the folder {request.folder.name!r} has files", hint="name a new folder with --out"
        )


def _check_ids(canaries: Canaries) -> None:
    """Refuse a check that could ask for nothing but the chart: on a new home no id is known."""
    if not any(canaries.of(kind) for kind in _FIRST_IDS):
        raise InvalidParameterError(
            "no video, track or account is known to ask for",
            hint="add --link with the share link of a video or a track, or set CANARY_MUSIC_ID",
        )


async def _ask(
    request: LiveCheckRequest,
    control: ControlStore,
    engine: Engine,
    watch: ProbeListener,
    clock: Clock,
) -> _Answers:
    settings, profile = request.settings, request.profile
    turns = CountedTurns(
        control, profile.rate, daily_budget=settings.daily_request_budget,
        max_wait_s=MAX_WAIT_S, clock=clock,
    )  # fmt: skip
    # no conditional requests: the whole body is wanted
    host_policy = build_host_policy(
        profile, control, obeys_robots=settings.robots == "obey", clock=clock
    )
    client = OneRequestClient(
        profile, turns, limits=request.times.http_limits(), host_policy=host_policy
    )
    async with aclosing(ProbeReader(client)) as reader:
        canaries = Canaries()
        asked = LiveCheckRound(
            reader, turns, canaries, watch=watch, clock=clock, times=request.times
        )
        target = profile.find_target(request.link or "")
        if target is not None:
            asked.learn_target(target)
        await asyncio.to_thread(find_canaries, settings, profile, engine, known=canaries)
        _check_ids(canaries)
        checks = await asked.run()
    hosts = {urlsplit(seen.head.url).hostname or "" for one in checks for seen in one.exchanges}
    decisions = [one for one in control.robots_decisions() if one.host in hosts]
    files = {host: control.robots_file(host, max_age_s=DAY_S) for host in hosts}
    return _Answers(
        checks=checks,
        request_count=turns.used,
        robots=decisions,
        robots_texts={host: file.body for host, file in files.items() if file and file.body},
    )


def _pseudonymiser(request: LiveCheckRequest, home: Home) -> BodyPseudonymiser | None:
    return BodyPseudonymiser(open_pseudonyms(home)) if request.is_pseudonymised else None


def _report(
    request: LiveCheckRequest,
    answers: _Answers,
    findings: LiveFindings,
    result: LiveCheckResult,
    pseudonymiser: BodyPseudonymiser | None,
    *,
    started_at: datetime,
    took_s: float,
) -> Document:
    report = to_report(
        findings,
        result.patch,
        answers.robots,
        profile=request.profile.name,
        is_demo_data=request.profile.is_demo,
        started_at=to_time(started_at),
        took_s=round(took_s, 1),
        requests=answers.request_count,
        exit_code=result.verdict.exit_code,
        verdict=result.verdict.sentence,
        folder=str(request.folder),
    )
    if pseudonymiser is not None:
        for one in report["surfaces"]:
            one["entity_id"] = pseudonymiser.entity(one["surface"], one["entity_id"] or "")
            one["reason"] = _without_ids(one["reason"])
            one["reason_words"] = _without_ids(one["reason_words"])
    return report


def _write(
    request: LiveCheckRequest,
    answers: _Answers,
    result: LiveCheckResult,
    pseudonymiser: BodyPseudonymiser | None,
) -> None:
    place = request.folder
    place.mkdir(parents=True, exist_ok=True)
    bodies: list[RecordedBody] = []
    for kept in recorded_bodies(request.profile, answers.checks):
        hidden = kept if pseudonymiser is None else pseudonymised(kept, pseudonymiser)
        if hidden is None:
            result.left_out.append(kept.surface)
        else:
            reason = hidden.reason if pseudonymiser is None else _without_ids(hidden.reason)
            bodies.append(replace(hidden, reason=reason))
    result.report["left_out"] = result.left_out
    (place / PATCH).write_text(result.patch.to_toml(), encoding="utf-8")
    (place / REPORT).write_text(to_markdown(result.report), encoding="utf-8")
    document = json.dumps(result.report, ensure_ascii=False, indent=2)
    (place / DOCUMENT).write_text(document + "\n", encoding="utf-8")
    for host, text in answers.robots_texts.items():
        (place / "robots").mkdir(exist_ok=True)
        (place / "robots" / f"{host}.txt").write_text(text, encoding="utf-8")
    write_folder(
        place,
        RecordedFolder(
            profile=request.profile.name,
            is_pseudonymised=request.is_pseudonymised,
            bodies=tuple(bodies),
        ),
    )


def recorded_bodies(profile: PlatformProfile, checks: Iterable[SurfaceCheck]) -> list[RecordedBody]:
    """Return the bodies of all answers; the outcome is what the parsers read from each."""
    reader = RecordedReader(BodyParser(profile))
    found = []
    for check in checks:
        response = check.response
        if response is None or not response.body:
            continue
        kept = RecordedBody(
            surface=check.health.surface,
            entity_id=check.health.entity_id or "",
            observed_at=response.fetched_at,
            status=response.status,
            content_type=response.content_type,
            path=response.path,
            outcome="ok",
            reason=check.health.reason,
            location=response.location,
            cursor=0 if check.health.surface == "user_page" else None,  # its list was asked for
            body=response.body,
        )
        outcome = reader.read(kept).outcome
        found.append(replace(kept, outcome="ok" if outcome in {None, "records"} else outcome))
    return found


def _without_ids(text: str | None) -> str | None:
    return None if text is None else _LONG_NUMBER.sub("#", text)
