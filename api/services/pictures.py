"""The picture of a video, a track or an account: from the store, else from the platform.

A caller names what it wants to see, never a URL: that comes from the observations. A picture that
cannot be had is missing; nothing else fails for it.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from anyio.to_thread import run_sync

from api.responses.errors import NotFoundError
from pipelines.platform.pictures import PictureSource, shrink
from warehouse.home.cache_files import PictureFolder
from warehouse.records.errors import (
    SametrackError,
    StructureChangedError,
    SubstitutionError,
    UnreachableError,
)

PictureKind = Literal["video", "track", "account"]
AT_ONCE = 4
_TIDY_EVERY = 200
_ABSENT = (StructureChangedError, SubstitutionError, UnreachableError)
"""Errors of a picture that is gone, or is none; nobody asks again for an hour."""
MEDIA_TYPE = "image/jpeg"
CACHE_HEADERS: Mapping[str, str] = {"Cache-Control": "private, max-age=86400"}


@dataclass(eq=False)
class PictureService:
    """Pictures of what was observed.

    Attributes:
        files: Where small pictures are stored.
        find_url: Returns the newest known URL of a picture by kind and id, None if there is none.
        open_source: Opens the platform, None if the world has no pictures; called for each picture
            that is not stored.
    """

    files: PictureFolder
    find_url: Callable[[PictureKind, str], str | None]
    open_source: Callable[[], PictureSource | None]
    _turns: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(AT_ONCE), init=False
    )
    _under_way: dict[str, asyncio.Task[bytes]] = field(default_factory=dict, init=False)
    _written: int = field(default=0, init=False)

    async def read(self, kind: PictureKind, entity_id: str) -> bytes:
        """Return a JPEG.

        Raises:
            NotFoundError: There is no picture, or the platform shows it no longer.
        """
        name = f"{kind} {entity_id}"
        stored = await run_sync(self.files.read, name)
        picture = await self._once(name, kind, entity_id) if stored is None else stored
        if not picture:
            raise NotFoundError("There is no picture of this")
        return picture

    async def _once(self, name: str, kind: PictureKind, entity_id: str) -> bytes:
        """Read a picture once, however many callers wait for it."""
        task = self._under_way.get(name)
        if task is None:
            task = asyncio.create_task(self._read_and_store(name, kind, entity_id))
            self._under_way[name] = task
            task.add_done_callback(lambda _: self._under_way.pop(name, None))
        # Shielded: a caller that leaves must not end the read for the others.
        return await asyncio.shield(task)

    async def _read_and_store(self, name: str, kind: PictureKind, entity_id: str) -> bytes:
        url = await run_sync(self.find_url, kind, entity_id)
        source = None if url is None else await run_sync(self.open_source)
        if url is None or source is None:
            return b""
        async with self._turns, source:
            try:
                picture = await run_sync(shrink, await source.fetch(url))
            except _ABSENT:
                picture = b""
            except SametrackError:  # a pause, the budget: the picture may be there later
                return b""
        await run_sync(self._store, name, picture)
        return picture

    def _store(self, name: str, picture: bytes) -> None:
        self.files.write(name, picture)
        self._written += 1
        # After the first one too: an earlier process may have left many.
        if self._written % _TIDY_EVERY == 1:
            self.files.delete_surplus()
