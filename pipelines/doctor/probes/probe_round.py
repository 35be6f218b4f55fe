"""Runs one round of probes over open stores and stores its results.

Used by the command line and by the scheduled canaries.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import datetime

from pipelines.doctor.probes.canaries import (
    Canaries,
    add_configured_ids,
    add_observed_ids,
    add_sandbox_ids,
)
from pipelines.doctor.probes.payload_shapes import STABLE_AFTER, decode_payload, key_paths
from pipelines.doctor.probes.probe_runner import (
    LIMITS,
    PROBE_MAX_WAIT_S,
    TOTAL_S,
    ProbeListener,
    ProbeRound,
)
from pipelines.doctor.probes.table import PROBE_BY_SURFACE, ProbeReader
from pipelines.open_stores import open_control_of, open_engine_of
from pipelines.platform.http.client import GuestClient
from pipelines.platform.http.host_policy import build_host_policy
from pipelines.platform.http.rate_limiter import HostRateLimiter
from pipelines.platform.profiles import PlatformProfile
from pipelines.settings import Settings
from warehouse.control import ControlStore
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
from warehouse.records.health import SurfaceHealth


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
    async with aclosing(ProbeReader(client)) as reader:
        asked = ProbeRound(reader, canaries, good, asked_by, watch or ProbeListener())
        found = await asked.ask([PROBE_BY_SURFACE[name] for name in surfaces], total_s=total_s)
    await asyncio.to_thread(write_bodies, engine.lake, engine, asked.bodies)
    await asyncio.to_thread(write_health, engine.lake, found)
    return found


def find_canaries(
    settings: Settings,
    profile: PlatformProfile,
    engine: Engine,
    *,
    known: Canaries | None = None,
) -> Canaries:
    """Collect ids to probe with: `known` ones, of the settings, of observations, of the sandbox."""
    canaries = known or Canaries()
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
