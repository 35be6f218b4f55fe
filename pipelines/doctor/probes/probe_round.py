"""Runs a round of probes in parallel waves, each probe with its own time limit; stores the results.

The first wave uses known ids, the next one those that the first wave read. A failing probe is a
line of the report and never ends it. Used by the command line and by the scheduled canaries.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pipelines.doctor.documents import CheckResult
from pipelines.doctor.probes import probe_result, visitor
from pipelines.doctor.probes.canaries import (
    Canaries,
    add_configured_ids,
    add_observed_ids,
    add_sandbox_ids,
)
from pipelines.doctor.probes.probe_result import TIME_IS_UP, run_probe
from pipelines.doctor.probes.table import PROBE_BY_SURFACE, Probe, ProbeReader
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.call_trace import HttpResponse
from pipelines.platform.http.circuit_breaker import OPEN_REASON
from pipelines.platform.http.client import GuestClient, HttpLimits
from pipelines.platform.http.host_policy import SickPolicy
from pipelines.platform.http.link_gate import Dialler
from pipelines.platform.profiles import PlatformProfile
from pipelines.platform.providers.provider import ProviderDependencies
from pipelines.settings import Settings
from warehouse.control import ControlStore, hosts
from warehouse.engine.duckdb_engine import Engine
from warehouse.home import open_home
from warehouse.lake.record_rows import unpack_bytes
from warehouse.queries import surface_health
from warehouse.records.errors import UnreachableError, UpstreamError
from warehouse.records.health import ProbeOutcome, SurfaceHealth

LIMITS = HttpLimits(connect_s=3.0, read_s=6.0, total_s=6.0, media_total_s=6.0, attempts=1)
"""One attempt each: the probe shows whether a surface responds now."""
PROBE_MAX_WAIT_S = 8.0
PROBE_S = 16.0
TOTAL_S = 20.0
MAX_IDS_TRIED = 3

type KnownShapes = Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class ProbeListener:
    """Callbacks of a round.

    Attributes:
        on_start: Called with the surface before its probe.
        on_result: Called with the result of each probe.
        on_response: Called with a result and the response that it follows from.
        on_comparison: Called with how the platform treats this visitor; None to leave that out.
    """

    on_start: Callable[[str], None] = lambda _surface: None
    on_result: Callable[[SurfaceHealth], None] = lambda _health: None
    on_response: Callable[[SurfaceHealth, HttpResponse], None] = lambda _health, _response: None
    on_comparison: Callable[[CheckResult], None] | None = None


@dataclass(slots=True)
class ProbeRound:
    """One round of probes. `bodies` are the response bodies by hash, with content type."""

    reader: ProbeReader
    canaries: Canaries
    good: KnownShapes
    asked_by: str
    listener: ProbeListener = field(default_factory=ProbeListener)
    bodies: dict[str, tuple[bytes, str | None]] = field(default_factory=dict)
    _results: dict[str, SurfaceHealth] = field(default_factory=dict)
    _connections: dict[str, asyncio.Task[bool]] = field(default_factory=dict)

    async def run(
        self, probes: Sequence[Probe], *, total_s: float = TOTAL_S
    ) -> list[SurfaceHealth]:
        """Run the probes for at most `total_s` seconds; return their results in order."""
        try:
            async with asyncio.timeout(total_s):
                await self._run_waves(probes)
        except TimeoutError:
            for probe in probes:
                if probe.surface not in self._results:
                    self._add(self._health(probe, "not_asked", reason=TIME_IS_UP))
        return [self._results[probe.surface] for probe in probes]

    async def _run_waves(self, probes: Sequence[Probe]) -> None:
        """Probe the surfaces whose id is known, until no probe yields the id of another."""
        waiting = list(probes)
        while ready := [probe for probe in waiting if self.canaries.of(probe.needs)]:
            async with asyncio.TaskGroup() as group:
                for probe in ready:
                    group.create_task(self._probe(probe))
            waiting = [probe for probe in waiting if probe not in ready]
        async with asyncio.TaskGroup() as group:
            for probe in waiting:
                group.create_task(self._check_host(probe))

    async def _probe(self, probe: Probe) -> None:
        """Probe with the first id, and with others while a failure may be due to the id alone."""
        self.listener.on_start(probe.surface)
        health = self._health(probe, "not_asked")
        requests = 0
        for entity_id in self.canaries.of(probe.needs)[:MAX_IDS_TRIED]:
            result = await run_probe(
                probe,
                entity_id,
                probe.read(self.reader, entity_id),
                within_s=PROBE_S,
                asked_by=self.asked_by,
            )
            # What was read names ids for the next probes.
            self.canaries.learn(result.value)
            self.reader.sound_pages.update(self.canaries.sound_pages)
            requests += result.health.request_count
            # If the circuit has opened in the meantime, the earlier error is more specific.
            is_paused = result.health.reason == OPEN_REASON
            if requests == 0 or not is_paused:
                health = self._with_shape(result.health, result.response)
                if result.response is not None:
                    self.listener.on_response(health, result.response)
            if is_paused or not result.is_about_id:
                break
        self._add(replace(health, request_count=requests))

    def _with_shape(self, health: SurfaceHealth, response: HttpResponse | None) -> SurfaceHealth:
        """Add the keys of the payload, and their difference from earlier good payloads."""
        if response is None or not response.body:
            return health
        sha256 = hashlib.sha256(response.body).hexdigest()
        self.bodies[sha256] = (response.body, response.content_type)
        health = replace(health, payload_sha256=sha256)
        if health.outcome not in {"works", "changed"}:
            return health
        paths = probe_result.key_paths(
            probe_result.decode_payload(response.body, surface=health.surface)
        )
        change = probe_result.change_since(paths, self.good.get(health.surface, ()))
        is_lost = health.outcome == "works" and change.is_loss
        return replace(
            health,
            key_paths=paths,
            came=change.came,
            went=change.went,
            outcome="changed" if is_lost else health.outcome,
            reason="keys_went" if is_lost else health.reason,
        )

    async def _check_host(self, probe: Probe) -> None:
        """Report a surface without a known id: check at least that its host is reachable."""
        # Only a response would name the host of a sound.
        host, profile = None, self.reader.profile
        if probe.surface == "short_link":
            host = profile.hosts.short[0]
        elif probe.surface != "media":
            host = profile.host_of(probe.surface)
        if host is not None:
            # One connection per host, whatever the number of its surfaces.
            if host not in self._connections:
                self._connections[host] = asyncio.create_task(self._can_connect(host))
            if not await self._connections[host]:
                fault = UnreachableError.type
                self._add(
                    self._health(probe, "unreachable", reason="no_connection", error_type=fault)
                )
                return
        self._add(self._health(probe, "not_asked", reason="nothing_to_ask"))

    async def _can_connect(self, host: str) -> bool:
        """Return True if the host accepts a connection; no request is sent."""
        profile = self.reader.profile
        try:
            async with asyncio.timeout(LIMITS.connect_s):
                dial = await Dialler(profile).dial_address(host, surface="any")
                _, port = profile.scheme_and_port(host)
                _, writer = await asyncio.open_connection(dial, port)
        except (OSError, UpstreamError):  # TimeoutError is an OSError
            return False
        writer.close()
        return True

    def _health(
        self,
        probe: Probe,
        outcome: ProbeOutcome,
        *,
        reason: str | None = None,
        error_type: str | None = None,
    ) -> SurfaceHealth:
        return SurfaceHealth(
            surface=probe.surface,
            outcome=outcome,
            reason=reason,
            error_type=error_type,
            observed_at=datetime.now(UTC),
            asked_by=self.asked_by,
        )

    def _add(self, health: SurfaceHealth) -> None:
        self._results[health.surface] = health
        self.listener.on_result(health)


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
        last_worked = surface_health.read_last_worked(engine)
        results = asyncio.run(
            probe_and_store(
                settings,
                profile,
                control=control,
                engine=engine,
                surfaces=list(PROBE_BY_SURFACE),
                asked_by=asked_by,
            )
        )
    return results, last_worked


async def probe_and_store(
    settings: Settings,
    profile: PlatformProfile,
    *,
    control: ControlStore,
    engine: Engine,
    surfaces: Sequence[str],
    asked_by: str,
    listener: ProbeListener | None = None,
    total_s: float = TOTAL_S,
) -> list[SurfaceHealth]:
    """Probe each of `surfaces`, and append the results after `total_s` at most.

    Raises:
        InvalidParameterError: The world has its own data: there is nothing to probe.
        WarehouseError: Known ids cannot be read, or the results cannot be stored.
    """
    # What is known from earlier rounds: shapes to compare with, and ids to request.
    good = await asyncio.to_thread(read_shapes, engine, surfaces)
    canaries = await asyncio.to_thread(find_canaries, settings, profile, engine)
    # Without an engine no request is conditional: the payload is needed to compare its shape.
    dependencies = ProviderDependencies(
        settings=settings, profile=profile, control=control, limits=LIMITS
    )
    policy = dependencies.host_policy()
    policy = replace(
        policy,
        limiter=replace(policy.limiter, max_wait_s=PROBE_MAX_WAIT_S),
        sick_policy=SickPolicy.ALWAYS,
    )
    client = GuestClient(profile, policy, limits=LIMITS)
    listener, began = listener or ProbeListener(), time.monotonic()
    async with aclosing(ProbeReader(client)) as reader:
        probe_round = ProbeRound(reader, canaries, good, asked_by, listener)
        probes = [PROBE_BY_SURFACE[name] for name in surfaces]
        results = await probe_round.run(probes, total_s=total_s)
        if listener.on_comparison is not None:
            remaining_s = total_s - (time.monotonic() - began)
            with suppress(TimeoutError):
                async with asyncio.timeout(remaining_s):
                    await _compare(probe_round, results, dependencies, listener.on_comparison)
    # Bodies go first: a reader that sees a result finds its body.
    await asyncio.to_thread(surface_health.write_bodies, engine.lake, engine, probe_round.bodies)
    await asyncio.to_thread(surface_health.write_health, engine.lake, results)
    return results


async def _compare(
    probe_round: ProbeRound,
    results: Sequence[SurfaceHealth],
    dependencies: ProviderDependencies,
    on_comparison: Callable[[CheckResult], None],
) -> None:
    """Report how the platform treats this visitor."""
    by_surface = {health.surface: health for health in results}
    page, media = by_surface.get(visitor.PAGE), by_surface.get(visitor.MEDIA)
    sounds = probe_round.canaries.of("sound")
    # A browser may not request a page whose host is paused, either.
    page_host = dependencies.profile.host_of(visitor.PAGE)
    if await asyncio.to_thread(hosts.paused_until, dependencies.control, page_host) is not None:
        page = None
    if media is not None and sounds and visitor.is_refused_sound(media):
        on_comparison(await visitor.compare_referers(probe_round.reader, sounds[0]))
    if page is not None:
        comparison = await visitor.compare_page(page, probe_round.bodies, dependencies)
        if comparison is not None:
            on_comparison(comparison)


def find_canaries(settings: Settings, profile: PlatformProfile, engine: Engine) -> Canaries:
    """Collect ids to probe with: of the settings, of observations, of the sandbox."""
    canaries = Canaries()
    add_configured_ids(canaries, settings)
    canaries.offer("rank_id", profile.chart.rank_id)
    if profile.may_name_loopback:  # before observed ids: the sandbox may run another world now
        add_sandbox_ids(canaries, port=profile.port)
    add_observed_ids(canaries, surface_health.read_known_ids(engine))
    return canaries


def read_shapes(engine: Engine, surfaces: Sequence[str]) -> Mapping[str, Sequence[Sequence[str]]]:
    """Return the shapes of good payloads per surface, newest first; from captures if unprobed."""
    shapes: dict[str, Sequence[Sequence[str]]] = dict(
        surface_health.read_good_shapes(engine, stable_after=probe_result.STABLE_AFTER)
    )
    # A surface that was never probed successfully may have been captured by a scan.
    without = [surface for surface in surfaces if surface not in shapes]
    for surface, packed in surface_health.read_good_bodies(engine, without).items():
        paths = probe_result.key_paths(
            probe_result.decode_payload(unpack_bytes(packed), surface=surface)
        )
        shapes[surface] = [paths] if paths else []
    return shapes
