"""The picture of a video, a track or an account: from the store, else from the platform.

A caller names an entity, never a URL, which comes from the observations. A picture that cannot be
read is missing; nothing else fails for it.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from anyio.to_thread import run_sync

from api.responses.errors import NotFoundError
from pipelines.platform.pictures import PictureSource, shrink
from warehouse.caches import PictureFolder
from warehouse.records import errors

PictureKind = Literal["video", "track", "account"]
CONCURRENT_READS = 4
_CLEANUP_INTERVAL = 200
"""Stored pictures after which surplus files are deleted."""
_ABSENT = (errors.StructureChangedError, errors.SubstitutionError, errors.UnreachableError)
"""Errors of a picture that is gone, or is not a picture; it is not requested again for an hour."""
MEDIA_TYPE = "image/jpeg"
CACHE_HEADERS: Mapping[str, str] = {"Cache-Control": "private, max-age=86400"}


@dataclass(eq=False)
class PictureService:
    """Pictures of what was observed.

    Attributes:
        files: Where small pictures are stored.
        find_url: Returns the newest URL of a picture by kind and id, or None.
        open_source: Opens the platform, None if the world has no pictures; called for each picture
            that is not stored.
    """

    files: PictureFolder
    find_url: Callable[[PictureKind, str], str | None]
    open_source: Callable[[], PictureSource | None]
    _slots: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(CONCURRENT_READS), init=False
    )
    _tasks: dict[str, asyncio.Task[bytes]] = field(default_factory=dict, init=False)
    _written: int = field(default=0, init=False)

    async def read(self, kind: PictureKind, entity_id: str) -> bytes:
        """Return a JPEG.

        Raises:
            NotFoundError: There is no picture, or the platform no longer shows it.
        """
        name = f"{kind} {entity_id}"
        picture = await run_sync(self.files.read, name)
        if picture is None:
            # All callers that wait for a picture share one read.
            task = self._tasks.get(name)
            if task is None:
                task = asyncio.create_task(self._fetch(name, kind, entity_id))
                self._tasks[name] = task
                task.add_done_callback(lambda _: self._tasks.pop(name, None))
            # Shielded: a caller that leaves must not end the read for the others.
            picture = await asyncio.shield(task)
        if not picture:
            raise NotFoundError("There is no picture of this")
        return picture

    async def _fetch(self, name: str, kind: PictureKind, entity_id: str) -> bytes:
        """Read a picture from the platform and store it; empty if there is no picture."""
        url = await run_sync(self.find_url, kind, entity_id)
        source = None if url is None else await run_sync(self.open_source)
        if url is None or source is None:
            return b""
        async with self._slots, source:
            try:
                picture = await run_sync(shrink, await source.fetch(url))
            except _ABSENT:
                picture = b""
            except errors.SametrackError:
                # A pause of the host or a spent budget: nothing is stored, so that the next
                # request tries again.
                return b""
        await run_sync(self.files.write, name, picture)
        self._written += 1
        # After the first one too: an earlier process may have left many.
        if self._written % _CLEANUP_INTERVAL == 1:
            await run_sync(self.files.delete_surplus)
        return picture
