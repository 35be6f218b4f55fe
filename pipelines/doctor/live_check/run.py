"""One live check: open the stores, ask, conclude, and write the folder.

The caller chooses the profile and has asked for consent. Nothing here knows a terminal.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from pipelines.captures.recorded.folder import RecordedBody, RecordedFolder, write_folder
from pipelines.captures.recorded.pseudonymised import BodyPseudonymiser
from pipelines.captures.recorded.shape_files import RecordedReader, pseudonymised
from pipelines.clock import MACHINE_CLOCK, Clock
from pipelines.doctor.check_results import HealthVerdict, summarise_health
from pipelines.doctor.live_check.analysis import analyse
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
from warehouse.control import ControlStore
from warehouse.control.hosts import robots
from warehouse.control.hosts.robots import RobotsDecision
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.pseudonyms import open_pseudonyms
from warehouse.home.folder import open_home
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCheckResult:
    """What a live check found. `left_out` names surfaces whose body could not be pseudonymised."""

    report: Document
    verdict: HealthVerdict
    patch: ProposedPatch
    left_out: list[str]


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
    hiding = BodyPseudonymiser(open_pseudonyms(home)) if request.is_pseudonymised else None
    bodies, left_out = _bodies(request.profile, answers.checks, hiding)
    report = to_report(
        findings,
        patch,
        answers.robots,
        profile=request.profile.name,
        is_demo_data=request.profile.is_demo,
        started_at=to_time(began_at),
        took_s=round(clock.monotonic() - began, 1),
        requests=answers.request_count,
        exit_code=verdict.exit_code,
        verdict=verdict.sentence,
        folder=str(request.folder),
    )
    report["left_out"] = left_out
    if hiding is not None:
        _hide_ids(report, hiding)
    _write(request, answers, report, patch, bodies)
    return LiveCheckResult(report=report, verdict=verdict, patch=patch, left_out=left_out)


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
    decisions = [one for one in robots.decisions(control) if one.host in hosts]
    files = {host: robots.read_file(control, host, max_age_s=DAY_S) for host in hosts}
    return _Answers(
        checks=checks,
        request_count=turns.used,
        robots=decisions,
        robots_texts={host: file.body for host, file in files.items() if file and file.body},
    )


def _hide_ids(report: Document, hiding: BodyPseudonymiser) -> None:
    for one in report["surfaces"]:
        one["entity_id"] = hiding.entity(one["surface"], one["entity_id"] or "")
        one["reason"] = _without_ids(one["reason"])
        one["reason_words"] = _without_ids(one["reason_words"])


def _bodies(
    profile: PlatformProfile, checks: Sequence[SurfaceCheck], hiding: BodyPseudonymiser | None
) -> tuple[list[RecordedBody], list[str]]:
    """Return the bodies to write, and the surfaces whose body could not be pseudonymised."""
    kept = recorded_bodies(profile, checks)
    if hiding is None:
        return kept, []
    hidden = [(one.surface, pseudonymised(one, hiding)) for one in kept]
    bodies = [replace(one, reason=_without_ids(one.reason)) for _, one in hidden if one is not None]
    return bodies, [surface for surface, one in hidden if one is None]


def _write(
    request: LiveCheckRequest,
    answers: _Answers,
    report: Document,
    patch: ProposedPatch,
    bodies: Sequence[RecordedBody],
) -> None:
    place = request.folder
    place.mkdir(parents=True, exist_ok=True)
    texts = {
        PATCH: patch.to_toml(),
        REPORT: to_markdown(report),
        DOCUMENT: json.dumps(report, ensure_ascii=False, indent=2) + "\n",
        **{f"robots/{host}.txt": text for host, text in answers.robots_texts.items()},
    }
    for name, text in texts.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    folder = RecordedFolder(
        profile=request.profile.name,
        is_pseudonymised=request.is_pseudonymised,
        bodies=tuple(bodies),
    )
    write_folder(place, folder)


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
