"""A damaged or missing file of a cache: the answer is the same, and the file is made anew."""

import asyncio
import tarfile
import wave
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from PIL import Image

from api.services.pictures import PictureService
from pipelines.audio.decode.decoding import cut_sound
from pipelines.audio.decode.protocol import DecodeLimits
from pipelines.catalog.sound_matches import CatalogReferenceSounds, SoundMatches
from sandbox.world.sound.sound_cache import SoundCache
from sandbox.world.world import SandboxWorld
from tests.catalog.test_catalog_reference_sounds import TRACKS
from tests.catalog.test_sound_matches import BOATS, OTHER, compared, sound
from tests.data.audio.synthesis import RATE, track
from tests.warehouse.analysis.test_genealogy import store
from tests.warehouse.test_damaged_files import STORE, cut, garble
from warehouse.caches import open_excerpts, open_pictures
from warehouse.engine.duckdb_engine import Engine
from warehouse.exports.published_database import database_path, publish_database
from warehouse.home import Home, open_home
from warehouse.lake.store import Lake, open_lake
from warehouse.lake.video_index import VIDEOS_TABLE, VideoIndex
from warehouse.maintenance.compaction import sort_lake
from warehouse.maintenance.video_index import update_video_index
from warehouse.queries.catalogs import read_known_matches
from warehouse.queries.videos import read_listed_videos
from warehouse.records.evidence import Excerpt, MatchThresholds

pytestmark = pytest.mark.full

CATALOGUE = "cache/reference-index/catalogue"
EXCERPT = Excerpt(sha256="a" * 64, start_s=1.0, duration_s=2.0)
type Damage = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class SmallStore:
    """A home with its lake, as `store` takes it."""

    home: Home
    lake: Lake


@pytest.fixture
def small_store(tmp_path: Path) -> SmallStore:
    with tarfile.open(STORE) as archive:
        archive.extractall(tmp_path, filter="data")
    home = open_home(tmp_path / "home", "sandbox")
    return SmallStore(home, open_lake(home.lake_url, world="sandbox"))


def remove(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def spoil(path: Path) -> None:
    """Overwrite the middle, and leave length, beginning and end."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 3)
        file.write(b"\x07" * (size // 3))


def read_videos(small_store: SmallStore) -> Any:
    """Observe a video again, do the upkeep, and return what readers see."""
    query = f"select * from {VIDEOS_TABLE} order by committed_at desc limit 1"
    with closing(Engine(small_store.lake)) as engine:
        (newest,) = engine.rows(query)
        ids = [row["aweme_id"] for row in engine.rows("select distinct aweme_id from raw.videos")]
        newest["committed_at"] += timedelta(hours=3)
        small_store.lake.append(VIDEOS_TABLE, [newest])
        sort_lake(small_store.lake, now=newest["committed_at"] + timedelta(hours=1))
        engine.refresh()
        before = read_listed_videos(engine, ids)
        update_video_index(small_store.lake)
        assert VideoIndex(small_store.lake).is_intact()
        engine.refresh()
        assert read_listed_videos(engine, ids) == before
        return sorted(before)


def look_up(small_store: SmallStore) -> Any:
    with closing(Engine(small_store.lake)) as engine:
        references = CatalogReferenceSounds(engine, TRACKS, small_store.home.root / CATALOGUE)
        SoundMatches(references, small_store.home.root / CATALOGUE, limits=MatchThresholds()).find(
            print
        )
        peaks = [references.read_sound(number) for number in range(references.index.count)]
        hits = [references.index.search(one.features.peaks, most=1)[0] for one in peaks if one]
        engine.refresh()
        found = [row["candidate_aweme_id"] for row in read_known_matches(engine, OTHER)]
        return found, [(hit.reference, hit.votes) for hit in hits]


def show_picture(small_store: SmallStore) -> bytes:
    class Source(AbstractAsyncContextManager[None]):
        async def __aexit__(self, *_error: object) -> None:
            pass

        async def fetch(self, _url: str) -> bytes:
            made = BytesIO()
            Image.new("RGB", (90, 160), (200, 40, 40)).save(made, "PNG")
            return made.getvalue()

    pictures = PictureService(
        files=open_pictures(small_store.home, max_mb=1, max_count=9),
        find_url=lambda _kind, _id: "http://media.vidplat.localhost/1.png",
        open_source=Source,  # type: ignore[arg-type]  # a source that has what is asked for
    )
    return asyncio.run(pictures.read("video", "1"))


def hear_excerpt(small_store: SmallStore) -> bytes:
    excerpts = open_excerpts(small_store.home, max_mb=1, days=9)
    if not excerpts.has(EXCERPT):  # then it is cut from the sound, which is read again
        path = small_store.home.sounds_dir / "sound.wav"
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes((track(1, seconds=4.0) * 20_000).astype(np.int16).tobytes())
        cut_again = cut_sound(path, start_s=1.0, duration_s=2.0, limits=DecodeLimits())
        excerpts.write(EXCERPT, cut_again)
    found = excerpts.read(EXCERPT)
    assert found is not None
    return found


def publish(small_store: SmallStore) -> Any:
    path = database_path(small_store.home)
    with closing(Engine(small_store.lake)) as engine:
        publish_database(engine, path)
    with closing(duckdb.connect(str(path), read_only=True)) as database:
        return database.execute(
            "select count(*), hot_score(1, 1, 1, 1) from marts.rankings"
        ).fetchall()


def play(small_store: SmallStore) -> Any:
    cache = SoundCache(SandboxWorld(7, 0.2), small_store.home.cache_dir / "sounds")
    return cache.base(0).tobytes()


VISIBLE = (cut, remove)
"""Damage that can be told from the file's own structure; the other kinds are in `make soak`."""
ANY = (remove, spoil)
CACHES: list[tuple[Callable[[SmallStore], object], str, tuple[Damage, ...]]] = [
    (read_videos, "lake/works.sqlite", (spoil,)),  # in the soak: tests of the index damage it, too
    (look_up, f"{CATALOGUE}/references.json", ANY),
    (look_up, f"{CATALOGUE}/entries-*.npy", ANY),
    (look_up, f"{CATALOGUE}/looked-up.json", ANY),
    (show_picture, "cache/pictures/*.jpg", (cut, garble, remove)),  # empty: there was none lately
    (hear_excerpt, "cache/excerpts/*.mp3", VISIBLE),
    (publish, "published/sametrack.duckdb", (garble,)),
    (play, "cache/sounds/*/base0.npy", VISIBLE),
]


@pytest.mark.parametrize(
    ("use", "pattern", "damages"),
    [
        *(
            pytest.param(
                *cache, id=cache[1].split("/", 1)[1],
                marks=pytest.mark.soak if cache[0] is read_videos else (),
            )
            for cache in CACHES
        ),
        *(
            pytest.param(use, pattern, (garble, empty, cut, remove), marks=pytest.mark.soak,
                         id=f"{pattern.split('/', 1)[1]}, other damage")
            for use, pattern, damages in CACHES if damages in (VISIBLE, ANY, (spoil,))
        ),
        pytest.param(  # it is written anew without a look at the one before
            *(publish, "published/sametrack.duckdb", (cut, empty, spoil, remove)),
            marks=pytest.mark.soak, id="sametrack.duckdb, other damage",
        ),
    ],
)  # fmt: skip
def test_damaged_cache_file_is_rebuilt(
    small_store: SmallStore,
    use: Callable[[SmallStore], object],
    pattern: str,
    damages: tuple[Damage, ...],
) -> None:
    if use is look_up:
        scanned(small_store)
    answer = use(small_store)
    (path,) = small_store.home.root.glob(pattern)
    for damage in damages:
        damage(path)
        damaged = path.read_bytes() if path.exists() else None
        assert use(small_store) == answer, damage
        assert path.exists(), damage
        assert path.read_bytes() != damaged, damage


def scanned(small_store: SmallStore) -> None:
    """The scan of one track fetched a copy of another track's reference."""
    store(
        small_store,
        [compared(BOATS, "copy", reference="boats"), compared(OTHER, "n", reference="other"),
         sound("boats", 1), sound("other", 2), sound("copy", 2)],
    )  # fmt: skip


def test_sounds_are_looked_up_again_in_an_index_that_was_built_anew_with_other_numbers(
    small_store: SmallStore,
) -> None:
    store(
        small_store, [compared(BOATS, "copy", reference="z"), sound("z", 1), sound("copy", 2)]
    )  # fmt: skip
    assert look_up(small_store)[0] == []
    (small_store.home.root / CATALOGUE / "references.json").unlink()
    store(small_store, [compared(OTHER, "n", reference="a"), sound("a", 2)])
    found, _ = look_up(small_store)
    assert found == ["copy"], "the new reference has the number that an older one had"
