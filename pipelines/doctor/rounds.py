"""One round of questions over open stores, and its lines kept: for the command line and for the
scheduled canaries alike.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing

from pipelines.doctor.asking import LIMITS, PATIENCE_S, Round, Watch
from pipelines.doctor.canaries import (
    Canaries,
    offer_chosen,
    offer_observed,
    offer_sandbox_tracks,
)
from pipelines.doctor.payloads import decoded
from pipelines.doctor.probes import BY_SURFACE
from pipelines.doctor.questions import Reader
from pipelines.doctor.shapes import key_paths
from pipelines.doctor.stores import Warehouse
from pipelines.domain.health import SurfaceHealth
from pipelines.settings import Settings
from pipelines.upstream.http import GuestClient
from pipelines.upstream.politeness import Turns
from pipelines.upstream.profiles import Profile
from warehouse.control import ControlStore
from warehouse.documents import unpack_bytes
from warehouse.health import (
    read_good_bodies,
    read_good_shapes,
    read_known_ids,
    write_bodies,
    write_health,
)


async def ask_and_keep(
    settings: Settings,
    profile: Profile,
    *,
    control: ControlStore,
    warehouse: Warehouse,
    surfaces: Sequence[str],
    asked_by: str,
    watch: Watch | None = None,
) -> list[SurfaceHealth]:
    """Ask each of `surfaces` its one question and append what became of it.

    Raises:
        WarehouseError: What is known cannot be read, or the lines cannot be kept.
    """
    good = await asyncio.to_thread(read_shapes, warehouse, surfaces)
    canaries = await asyncio.to_thread(find_canaries, settings, profile, warehouse)
    turns = Turns(
        control, profile.rate, daily_budget=settings.daily_request_budget, patience_s=PATIENCE_S
    )
    async with aclosing(Reader(GuestClient(profile, turns, limits=LIMITS))) as reader:
        asked = Round(reader, canaries, good, asked_by, watch or Watch())
        found = await asked.ask([BY_SURFACE[name] for name in surfaces])
    await asyncio.to_thread(write_bodies, warehouse.lake, warehouse.engine, asked.bodies)
    await asyncio.to_thread(write_health, warehouse.lake, found)
    return found


def find_canaries(settings: Settings, profile: Profile, warehouse: Warehouse) -> Canaries:
    """What can be asked about: chosen, observed, or told by the stand-in platform."""
    canaries = Canaries()
    offer_chosen(canaries, settings)
    canaries.offer("rank_id", profile.chart.rank_id)
    if profile.may_name_loopback:  # before what was observed: another world may run there now
        offer_sandbox_tracks(canaries, port=profile.port)
    offer_observed(canaries, read_known_ids(warehouse.engine))
    return canaries


def read_shapes(
    warehouse: Warehouse, surfaces: Sequence[str]
) -> Mapping[str, Sequence[Sequence[str]]]:
    """Per surface the shapes of good answers, newest first; from captures where none was probed."""
    shapes: dict[str, Sequence[Sequence[str]]] = dict(read_good_shapes(warehouse.engine))
    without = [surface for surface in surfaces if surface not in shapes]
    for surface, packed in read_good_bodies(warehouse.engine, without).items():
        paths = key_paths(decoded(unpack_bytes(packed), surface=surface))
        shapes[surface] = [paths] if paths else []
    return shapes
