"""Runs one round of probes over open stores and stores its results.

Used by the command line and by the scheduled canaries.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, aclosing, closing
from datetime import datetime

from pipelines.doctor.checks.stores import Warehouse
from pipelines.doctor.probes.canaries import (
    Canaries,
    offer_chosen,
    offer_observed,
    offer_sandbox_tracks,
)
from pipelines.doctor.probes.payload_shapes import key_paths
from pipelines.doctor.probes.payloads import decoded
from pipelines.doctor.probes.requests import Reader
from pipelines.doctor.probes.rounds_of_probes import LIMITS, PATIENCE_S, TOTAL_S, Round, Watch
from pipelines.doctor.probes.table import BY_SURFACE
from pipelines.platform.http.client import GuestClient
from pipelines.platform.http.host_policy import build_manners
from pipelines.platform.http.politeness import Turns
from pipelines.platform.profiles import Profile
from pipelines.settings import Settings
from warehouse.control import ControlStore, open_control
from warehouse.engine.duckdb_engine import Engine
from warehouse.home.folder import open_home
from warehouse.lake.packing import unpack_bytes
from warehouse.lake.store import open_lake
from warehouse.queries.surface_health import (
    read_good_bodies,
    read_good_shapes,
    read_known_ids,
    read_last_worked,
    write_bodies,
    write_health,
)
from warehouse.records.health import SurfaceHealth


def ask_all_surfaces(
    settings: Settings, profile: Profile, *, asked_by: str
) -> tuple[list[SurfaceHealth], dict[str, datetime]]:
    """Open the stores and probe every surface. Blocking.

    Returns the result of each surface, and when each last worked before.

    Raises:
        WarehouseError: A store cannot be opened or written.
    """
    home = open_home(settings.data_home, profile.name)
    with ExitStack() as stack:
        control = open_control(settings.control_url or home.control_url, world=home.world)
        stack.enter_context(closing(control))
        lake = open_lake(settings.lake_url or home.lake_url, world=home.world)
        warehouse = Warehouse(lake, stack.enter_context(closing(Engine(lake))))
        last_worked = read_last_worked(warehouse.engine)
        found = asyncio.run(
            ask_and_keep(
                settings,
                profile,
                control=control,
                warehouse=warehouse,
                surfaces=list(BY_SURFACE),
                asked_by=asked_by,
            )
        )
    return found, last_worked


async def ask_and_keep(
    settings: Settings,
    profile: Profile,
    *,
    control: ControlStore,
    warehouse: Warehouse,
    surfaces: Sequence[str],
    asked_by: str,
    watch: Watch | None = None,
    total_s: float = TOTAL_S,
) -> list[SurfaceHealth]:
    """Probe each of `surfaces`, and append the results after `total_s` at most.

    Raises:
        WarehouseError: Known ids cannot be read, or the results cannot be stored.
    """
    good = await asyncio.to_thread(read_shapes, warehouse, surfaces)
    canaries = await asyncio.to_thread(find_canaries, settings, profile, warehouse)
    turns = Turns(
        control, profile.rate, daily_budget=settings.daily_request_budget, patience_s=PATIENCE_S
    )
    # no conditional requests: the payload is needed to compare its shape
    manners = build_manners(profile, control, is_robots_obeyed=settings.robots == "obey")
    client = GuestClient(profile, turns, limits=LIMITS, manners=manners)
    async with aclosing(Reader(client)) as reader:
        asked = Round(reader, canaries, good, asked_by, watch or Watch())
        found = await asked.ask([BY_SURFACE[name] for name in surfaces], total_s=total_s)
    await asyncio.to_thread(write_bodies, warehouse.lake, warehouse.engine, asked.bodies)
    await asyncio.to_thread(write_health, warehouse.lake, found)
    return found


def find_canaries(settings: Settings, profile: Profile, warehouse: Warehouse) -> Canaries:
    """Collect ids to probe with: from the settings, observations, or the sandbox."""
    canaries = Canaries()
    offer_chosen(canaries, settings)
    canaries.offer("rank_id", profile.chart.rank_id)
    if profile.may_name_loopback:  # before observed ids: the sandbox may run another world now
        offer_sandbox_tracks(canaries, port=profile.port)
    offer_observed(canaries, read_known_ids(warehouse.engine))
    return canaries


def read_shapes(
    warehouse: Warehouse, surfaces: Sequence[str]
) -> Mapping[str, Sequence[Sequence[str]]]:
    """Return the shapes of good payloads per surface, newest first; from captures if unprobed."""
    shapes: dict[str, Sequence[Sequence[str]]] = dict(read_good_shapes(warehouse.engine))
    without = [surface for surface in surfaces if surface not in shapes]
    for surface, packed in read_good_bodies(warehouse.engine, without).items():
        paths = key_paths(decoded(unpack_bytes(packed), surface=surface))
        shapes[surface] = [paths] if paths else []
    return shapes
