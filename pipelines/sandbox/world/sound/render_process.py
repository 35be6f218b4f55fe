"""Rendering in other processes: what runs there. A process opens the world once, then makes files.

Nothing but names and numbers travels between the processes. They end with their parent, however
that ends.
"""

import os
import signal
import threading
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from pathlib import Path

from pipelines.sandbox.world.growth import DAY_S, HORIZON_DAYS
from pipelines.sandbox.world.sound.encoding import Codec
from pipelines.sandbox.world.sound.sound_cache import Shelf
from pipelines.sandbox.world.world import World

_opened: dict[str, Shelf] = {}


def open_shelf(seed: int, size: float, tracks: int, altered_share: float, folder: Path) -> None:
    """Called once in each process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us; Ctrl-C reaches the group
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Rows of sounds and videos never change, so the last moment holds those of all moments.
    last = HORIZON_DAYS * DAY_S
    world = World(seed, size, tracks=tracks, passed_s=last, altered_share=altered_share)
    _opened["shelf"] = Shelf(world, folder)


def make_file(index: int, codec: Codec) -> bool:
    """Make the file of a sound, by its row; True when it is there."""
    shelf = _opened["shelf"]
    return shelf.file(shelf.world.sounds.row(index), codec=codec).exists()


def make_video_file(index: int) -> bool:
    """Make the file of a video that has a sound of its own, by its row; True when it is there."""
    shelf = _opened["shelf"]
    return shelf.video_file(shelf.world.works.row(index)).exists()


def warm_up() -> int:
    """Does nothing but need a process that is ready."""
    return os.getpid()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # a pool's worker would wait for its queue for ever


def prerender(shelf: Shelf, music_ids: Iterable[str], *, processes: int = 1) -> int:
    """Render the sounds of music ids in every form that their videos ask for.

    Returns:
        How many files there are for them now.
    """
    wanted = [form for music_id in music_ids for form in shelf.forms(music_id)]
    missing = [
        (index, codec)
        for index, codec in wanted
        if not shelf.path(shelf.world.sounds.row(index), codec=codec).exists()
    ]
    if processes <= 1 or not missing:
        for index, codec in missing:
            shelf.file(shelf.world.sounds.row(index), codec=codec)
        return len(wanted)
    world = shelf.world
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=open_shelf,
        initargs=(
            world.seed, world.size, world.track_count, world.altered_share, shelf.folder.parent
        ),
    ) as pool:  # fmt: skip
        list(pool.map(make_file, *zip(*missing, strict=True), chunksize=4))
    return len(wanted)
