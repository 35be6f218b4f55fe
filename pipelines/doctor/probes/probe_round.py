"""Runs a round of probes in parallel waves, each probe with its own time limit; stores the results.

The first wave uses known ids, the next those that the first has found. A failing probe is a line of
the report and never ends it. Used by the command line and by the scheduled canaries.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pipelines.doctor.check_results import CheckResult
from pipelines.doctor.probes.answers import TIME_IS_UP, ProbeAnswer, await_answer
from pipelines.doctor.probes.canaries import (
    Canaries,
    add_configured_ids,
    add_observed_ids,
    add_sandbox_ids,
)
from pipelines.doctor.probes.payload_shapes import (
    STABLE_AFTER,
    change_since,
    decode_payload,
    key_paths,
)
from pipelines.doctor.probes.table import PROBE_BY_SURFACE, Probe, ProbeReader
from pipelines.doctor.probes.visitor import (
    MEDIA,
    PAGE,
    compare_page,
    compare_referers,
    is_refused_sound,
)
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.circuit_breaker import OPEN_REASON
from pipelines.platform.http.client import GuestClient, HttpLimits
from pipelines.platform.http.host_policy import build_host_policy
from pipelines.platform.http.link_gate import Dialler
from pipelines.platform.http.rate_limiter import HostRateLimiter
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.dependencies import ProviderDependencies
from pipelines.settings import Settings
from warehouse.control import ControlStore
from warehouse.control.hosts import budgets
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import open_home
from warehouse.lake.packing import unpack_bytes
from warehouse.queries.surface_health import (
    read_good_bodies,
    read_good_shapes,
    read_known_ids,
    read_last_worked,
    write_bodies,
    write_health,
)
from warehouse.records.errors import UnreachableError, UpstreamError
from warehouse.records.health import SurfaceHealth

LIMITS = HttpLimits(connect_s=3.0, read_s=6.0, total_s=6.0, media_total_s=6.0, attempts=1)
"""One attempt each: the probe shows whether a surface answers now."""
PROBE_MAX_WAIT_S = 8.0
PROBE_S = 16.0
TOTAL_S = 20.0
MAX_IDS_TRIED = 3

type KnownShapes = Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class ProbeListener:
    """Callbacks for the start and the result of a probe.

    `received`: called with each response, and what the probe concluded from it. `compared`: called
    with what the platform makes of this visitor; None if nobody wants to know.
    """

    asking: Callable[[str], None] = lambda _surface: None
    found: Callable[[SurfaceHealth], None] = lambda _health: None
    received: Callable[[SurfaceHealth, HttpResponse], None] = lambda _health, _response: None
    compared: Callable[[CheckResult], None] | None = None


@dataclass(slots=True)
class ProbeRound:
    """One round of probes. `bodies` are the response bodies by hash, with content type."""

    reader: ProbeReader
    canaries: Canaries
    good: KnownShapes
    asked_by: str
    watch: ProbeListener = field(default_factory=ProbeListener)
    bodies: dict[str, tuple[bytes, str | None]] = field(default_factory=dict)
    _found: dict[str, SurfaceHealth] = field(default_factory=dict)
    _reached: dict[str, asyncio.Task[bool]] = field(default_factory=dict)

    async def ask(
        self, probes: Sequence[Probe], *, total_s: float = TOTAL_S
    ) -> list[SurfaceHealth]:
        """Run the probes for at most `total_s` seconds; return their results in order."""
        try:
            async with asyncio.timeout(total_s):
                await self._waves(probes)
        except TimeoutError:
            for probe in probes:
                if probe.surface not in self._found:
                    self._note(self._line(probe, outcome="not_asked", reason=TIME_IS_UP))
        return [self._found[probe.surface] for probe in probes]

    async def _waves(self, probes: Sequence[Probe]) -> None:
        waiting = list(probes)
        while ready := [probe for probe in waiting if self.canaries.of(probe.needs)]:
            async with asyncio.TaskGroup() as group:
                for probe in ready:
                    group.create_task(self._ask_one(probe))
            waiting = [probe for probe in waiting if probe not in ready]
        async with asyncio.TaskGroup() as group:
            for probe in waiting:
                group.create_task(self._note_unasked(probe))

    async def _ask_one(self, probe: Probe) -> None:
        """Probe with the first id, and with others while a failure may be due to the id alone."""
        self.watch.asking(probe.surface)
        health = self._line(probe, outcome="not_asked")
        requests = 0
        for entity_id in self.canaries.of(probe.needs)[:MAX_IDS_TRIED]:
            answer = await self._try(probe, entity_id)
            found = answer.health
            requests += found.request_count
            if requests == 0 or found.reason != OPEN_REASON:  # an earlier error is more specific
                health = self._with_shape(found, answer.response)
                if answer.response is not None:
                    self.watch.received(health, answer.response)
            if not answer.is_about_id or found.reason == OPEN_REASON:
                break
        self._note(replace(health, request_count=requests))

    async def _try(self, probe: Probe, entity_id: str) -> ProbeAnswer:
        answer = await await_answer(
            probe,
            entity_id,
            probe.ask(self.reader, entity_id),
            within_s=PROBE_S,
            asked_by=self.asked_by,
        )
        self.canaries.learn(answer.value)
        self.reader.sound_pages.update(self.canaries.sound_pages)
        return answer

    def _with_shape(self, line: SurfaceHealth, response: HttpResponse | None) -> SurfaceHealth:
        """Add the keys of the payload, and their difference from earlier good payloads."""
        if response is None or not response.body:
            return line
        sha256 = hashlib.sha256(response.body).hexdigest()
        self.bodies[sha256] = (response.body, response.content_type)
        line = replace(line, payload_sha256=sha256)
        if line.outcome not in {"works", "changed"}:
            return line
        paths = key_paths(decode_payload(response.body, surface=line.surface))
        change = change_since(paths, self.good.get(line.surface, ()))
        is_lost = line.outcome == "works" and change.is_loss
        return replace(
            line,
            key_paths=paths,
            came=change.came,
            went=change.went,
            outcome="changed" if is_lost else line.outcome,
            reason="keys_went" if is_lost else line.reason,
        )

    async def _note_unasked(self, probe: Probe) -> None:
        """Report a surface without a known id: check at least that its host is reachable."""
        host = self._host(probe.surface)
        if host is not None and not await self._is_there(host):
            self._note(
                self._line(
                    probe,
                    outcome="unreachable",
                    reason="no_connection",
                    error_type=UnreachableError.type,
                )
            )
            return
        self._note(self._line(probe, outcome="not_asked", reason="nothing_to_ask"))

    def _host(self, surface: str) -> str | None:
        """Return the host of a surface; None if only a response would show it."""
        profile = self.reader.profile
        if surface == "short_link":
            return profile.hosts.short[0]
        return None if surface == "media" else profile.host_of(surface)

    async def _is_there(self, host: str) -> bool:
        task = self._reached.get(host)
        if task is None:
            task = self._reached[host] = asyncio.create_task(self._connect(host))
        return await task

    async def _connect(self, host: str) -> bool:
        """Return True if the host accepts a connection; no request is sent."""
        profile = self.reader.profile
        try:
            async with asyncio.timeout(LIMITS.connect_s):
                dial = await Dialler(profile).dial_address(host, surface="any")
                _, writer = await asyncio.open_connection(dial, profile.port_of(host))
        except (OSError, UpstreamError):  # TimeoutError is an OSError
            return False
        writer.close()
        return True

    def _line(self, probe: Probe, **said: object) -> SurfaceHealth:
        return SurfaceHealth(
            surface=probe.surface,
            observed_at=datetime.now(UTC),
            asked_by=self.asked_by,
            **said,  # type: ignore[arg-type]  # named by the callers in this class
        )

    def _note(self, health: SurfaceHealth) -> None:
        self._found[health.surface] = health
        self.watch.found(health)


def probe_all_surfaces(
    settings: Settings, profile: PlatformProfile, *, asked_by: str
) -> tuple[list[SurfaceHealth], dict[str, datetime]]:
    """Open the stores and probe every surface. Blocking.

    Returns the result of each surface, and when each last worked before.

    Raises:
        InvalidParameterError: The world has its own data: there is nothing to probe.
        WarehouseError: A store cannot be opened or written.
    """
    home = open_home(settings.data_home, profile.name)
    with open_control_of(settings, home) as control, open_engine_of(settings, home) as engine:
        last_worked = read_last_worked(engine)
        found = asyncio.run(
            probe_and_store(
                settings,
                profile,
                control=control,
                engine=engine,
                surfaces=list(PROBE_BY_SURFACE),
                asked_by=asked_by,
            )
        )
    return found, last_worked


async def probe_and_store(
    settings: Settings,
    profile: PlatformProfile,
    *,
    control: ControlStore,
    engine: Engine,
    surfaces: Sequence[str],
    asked_by: str,
    watch: ProbeListener | None = None,
    total_s: float = TOTAL_S,
) -> list[SurfaceHealth]:
    """Probe each of `surfaces`, and append the results after `total_s` at most.

    Raises:
        InvalidParameterError: The world has its own data: there is nothing to probe.
        WarehouseError: Known ids cannot be read, or the results cannot be stored.
    """
    good = await asyncio.to_thread(read_shapes, engine, surfaces)
    canaries = await asyncio.to_thread(find_canaries, settings, profile, engine)
    turns = HostRateLimiter(
        control,
        profile.rate,
        daily_budget=settings.daily_request_budget,
        max_wait_s=PROBE_MAX_WAIT_S,
    )
    # no conditional requests: the payload is needed to compare its shape
    host_policy = build_host_policy(profile, control, obeys_robots=settings.robots == "obey")
    client = GuestClient(profile, turns, limits=LIMITS, host_policy=host_policy)
    watch, began = watch or ProbeListener(), time.monotonic()
    async with aclosing(ProbeReader(client)) as reader:
        asked = ProbeRound(reader, canaries, good, asked_by, watch)
        found = await asked.ask([PROBE_BY_SURFACE[name] for name in surfaces], total_s=total_s)
        if watch.compared is not None:
            dependencies = ProviderDependencies(
                settings=settings, profile=profile, control=control, limits=LIMITS
            )
            left_s = total_s - (time.monotonic() - began)
            await _compare(asked, found, dependencies, watch.compared, within_s=left_s)
    await asyncio.to_thread(write_bodies, engine.lake, engine, asked.bodies)
    await asyncio.to_thread(write_health, engine.lake, found)
    return found


async def _compare(
    asked: ProbeRound,
    found: Sequence[SurfaceHealth],
    dependencies: ProviderDependencies,
    compared: Callable[[CheckResult], None],
    *,
    within_s: float,
) -> None:
    """Report what the platform makes of this visitor, as far as the time allows."""
    by_surface = {health.surface: health for health in found}
    page, media = by_surface.get(PAGE), by_surface.get(MEDIA)
    sounds = asked.canaries.of("sound")
    page_host = dependencies.profile.host_of(PAGE)
    if await asyncio.to_thread(budgets.paused_until, dependencies.control, page_host) is not None:
        page = None  # it rests, so a browser may not ask either
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            if media is not None and sounds and is_refused_sound(media):
                compared(await compare_referers(asked.reader, sounds[0]))
            if page is not None:
                result = await compare_page(page, asked.bodies, dependencies)
                if result is not None:
                    compared(result)


def find_canaries(settings: Settings, profile: PlatformProfile, engine: Engine) -> Canaries:
    """Collect ids to probe with: of the settings, of observations, of the sandbox."""
    canaries = Canaries()
    add_configured_ids(canaries, settings)
    canaries.offer("rank_id", profile.chart.rank_id)
    if profile.may_name_loopback:  # before observed ids: the sandbox may run another world now
        add_sandbox_ids(canaries, port=profile.port)
    add_observed_ids(canaries, read_known_ids(engine))
    return canaries


def read_shapes(engine: Engine, surfaces: Sequence[str]) -> Mapping[str, Sequence[Sequence[str]]]:
    """Return the shapes of good payloads per surface, newest first; from captures if unprobed."""
    shapes: dict[str, Sequence[Sequence[str]]] = dict(
        read_good_shapes(engine, stable_after=STABLE_AFTER)
    )
    without = [surface for surface in surfaces if surface not in shapes]
    for surface, packed in read_good_bodies(engine, without).items():
        paths = key_paths(decode_payload(unpack_bytes(packed), surface=surface))
        shapes[surface] = [paths] if paths else []
    return shapes
