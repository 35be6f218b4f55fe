"""The genealogy of music ids: the view does what its rules say, and finds what worlds know."""

import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.truth.genealogy import GenealogyScore, judge_world
from tests.warehouse.analysis.genealogy_rules import LinkedMusicId, find_copies
from warehouse import open_warehouse
from warehouse.analysis.warehouse import Warehouse
from warehouse.lake.record_rows import observation_row, video_row
from warehouse.models import FOLDER
from warehouse.records.times import (
    EARLIEST_BIRTH_S,
    END_S,
    LATEST_BIRTH_S,
    PLATFORM_START,
    REPORTED_DIFFERENCE_S,
)
from warehouse.records.videos import Author, Music, Track, Video
from warehouse.tables import BY_NAME

pytestmark = pytest.mark.full

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
BORN = datetime(2026, 3, 1, 12, tzinfo=UTC)
SEED = 20_261_123
TRACKS = 40
type Row = dict[str, Any]


def made_at(moment: datetime, rest: int) -> str:
    return str((int(moment.timestamp()) << 32) | rest)


def filled(table: str, **given: Any) -> Row:
    names = {column.name for column in BY_NAME[table].columns}
    assert given.keys() <= names
    stamp = {"committed_at": NOW} if "committed_at" in names else {}
    return dict.fromkeys(names) | stamp | given


def observed(music_id: str, *, aweme_id: str, published: datetime | None, **music: Any) -> Row:
    video = Video(
        aweme_id=aweme_id, surface="video_page", observed_at=NOW,
        create_time=None if published is None else int(published.timestamp()),
        author=Author(sec_uid=f"MS4w-{aweme_id[-3:]}", nickname=f"name {aweme_id[-3:]}"),
        music=Music(music_id=music_id, **music),
    )  # fmt: skip
    row = video_row(video, capture_id=None, job_id=None, data_provider="mock")
    return {**row, "committed_at": NOW}


def page(music_id: str, **facts: Any) -> Row:
    track = Track(music_id=music_id, surface="music_info", observed_at=NOW, **facts)
    row = observation_row(track, capture_id=None, job_id=None, data_provider="mock")
    return {**row, "committed_at": NOW}


def confirmed(track: str, music_id: str, aweme_id: str) -> Row:
    return filled(
        "marts.confirmed_videos",
        music_id=track, aweme_id=aweme_id, job_id=f"job-{track}", source_music_id=music_id,
        link_type="exact_music_id" if music_id == track else "audio_fingerprint_match",
        comparison_id=None if music_id == track else "pair", expansion_round=0, algorithm="a",
    )  # fmt: skip


def pair(track: str, one: str, other: str, verdict: str) -> Row:
    return filled(
        "marts.audio_comparisons",
        comparison_id=f"{one}-{other}", job_id=f"job-{track}", track_music_id=track,
        reference_aweme_id="1", candidate_aweme_id="2", reference_music_id=one,
        candidate_music_id=other, verdict=verdict, reason="r", score=0.9, limits="{}",
        algorithm="a", feature_version="f", library_version="l",
    )  # fmt: skip


class Recording:
    """A generated recording: a track, ids that were heard, ids linked by name, compared pairs."""

    def __init__(self, rng: random.Random, number: int) -> None:
        births = [BORN + timedelta(hours=rng.randrange(4)) for _ in range(rng.randrange(1, 7))]
        self.ids = [
            str(1_000_000 + number * 100 + at) if rng.random() < 0.2 else made_at(born, number * 100 + at)  # noqa: E501  # an id without a time
            for at, born in enumerate(births)
        ]  # fmt: skip
        self.track, *others = self.ids
        kinds = {one: rng.choice(["audio", "audio", "name"]) for one in others}
        self.evidence: dict[str, Any] = {self.track: "own_id"} | kinds
        heard = [one for one in self.ids if self.evidence[one] != "name"]
        self.pairs = [
            (one, other)
            for one in heard
            for other in heard
            if one < other and rng.random() < 0.4
        ]  # fmt: skip
        self.number = number
        self.births = {
            one: None if len(one) < 10 else born  # the short ones have no time
            for one, born in zip(self.ids, births, strict=True)
        }

    def linked(self) -> list[LinkedMusicId]:
        return [LinkedMusicId(one, self.births[one], self.evidence[one]) for one in self.ids]

    def rows(self) -> Iterator[tuple[str, Row]]:
        for one in self.ids:
            yield (
                "raw.tracks",
                page(one, title=f"Song {self.number}", author="Singer", is_original_sound=False),
            )
            if self.evidence[one] != "name":
                yield "marts.confirmed_videos", confirmed(self.track, one, f"9{one}")
        for one, other in self.pairs:
            yield "marts.audio_comparisons", pair(self.track, one, other, "confirmed")


def store(small_store: Any, rows: Iterator[tuple[str, Row]] | list[tuple[str, Row]]) -> None:
    tables: dict[str, list[Row]] = {}
    for name, row in rows:
        tables.setdefault(name, []).append(row)
    for name, found in tables.items():
        small_store.lake.append(name, found)


def asked(small_store: Any) -> dict[str, Row]:
    """The view's rows by music id."""
    with open_warehouse(small_store.home.root) as wh:
        return {row["music_id"]: row for row in wh.table("marts.genealogy").rows()}


def test_the_view_copies_what_the_rules_copy(small_store: Any) -> None:
    rng = random.Random(SEED)
    recordings = [Recording(rng, number) for number in range(TRACKS)]
    store(small_store, [row for one in recordings for row in one.rows()])
    found = asked(small_store)
    for one in recordings:
        copies = find_copies(one.linked(), one.pairs)
        assert {name: (link.copy_of_music_id, link.evidence) for name, link in copies.items()} == {
            name: (found[name]["copy_of_music_id"], found[name]["copy_evidence"])
            for name in one.ids
            if found[name]["copy_of_music_id"] is not None
        }
        assert {name: found[name]["evidence"] for name in one.ids} == one.evidence
        assert {name: found[name]["created_at"] for name in one.ids} == one.births
    assert len(found) == sum(len(one.ids) for one in recordings)
    assert {row["copy_evidence"] for row in found.values()} == {None, "compared", "audio", "name"}


def test_the_windows_of_the_view_are_those_of_the_records() -> None:
    text = (FOLDER / "genealogy.sql").read_text(encoding="utf-8")
    assert set(re.findall(r"between (-?\d+) and (\d+)", text)) == {
        (str(EARLIEST_BIRTH_S), str(LATEST_BIRTH_S))
    }
    assert f"> {REPORTED_DIFFERENCE_S} then 'contradicted'" in text
    assert f"create_time < {END_S} then" in text
    assert f"'{PLATFORM_START:%Y-%m-%d %H:%M:%S}+00'" in text


@pytest.fixture
def sounds(small_store: Any) -> dict[str, Row]:
    """A track and, under the numbers of the ids, music ids of every sort."""
    track = made_at(BORN, 1)
    original, late, unread, heard = (made_at(BORN + timedelta(days=9), at) for at in (2, 3, 4, 5))
    renamed = made_at(BORN + timedelta(days=9), 6)
    born, scheduled = BORN + timedelta(days=9), made_at(BORN - timedelta(hours=3), 102)
    song: Row = {"title": "Song", "author": "Singer"}
    store(
        small_store,
        [
            ("raw.tracks", page(track, is_original_sound=False, **song)),
            ("raw.tracks", page(late, is_original_sound=False, title="Song（Live）", author="B")),
            ("raw.tracks", page(heard, is_original_sound=False, **song)),
            ("raw.videos", observed(original, aweme_id=made_at(born, 100), published=born,
                                    title="@name 100创作的原声", is_original_sound=True)),
            ("raw.videos", observed(original, aweme_id=made_at(born, 101), title="@x",
                                    published=born + timedelta(days=2), is_original_sound=True)),
            ("raw.videos", observed(late, aweme_id=scheduled, published=BORN)),
            ("raw.videos", observed(late, aweme_id=scheduled, published=None)),
            ("raw.videos", observed(renamed, aweme_id=made_at(born, 103), published=born,
                                    title="@somebody else创作的原声")),
            ("raw.videos", observed(unread, aweme_id=made_at(born, 104), published=None,
                                    title="@u创作的原声", is_original_sound=True,
                                    mapped_title="song!", mapped_artist="SINGER")),
            ("marts.confirmed_videos", confirmed(track, track, "1")),
            ("marts.confirmed_videos", confirmed(track, original, made_at(born, 100))),
            ("marts.confirmed_videos", confirmed(track, late, scheduled)),
            ("marts.confirmed_videos", confirmed(track, renamed, made_at(born, 103))),
            ("marts.audio_comparisons", pair(track, track, heard, "rejected")),
        ],
    )  # fmt: skip
    return {str(int(name) & 0xFFFF): row for name, row in asked(small_store).items()}


def test_an_original_sound_has_its_source_and_uploader(sounds: dict[str, Row]) -> None:
    found = sounds["2"]
    assert (found["kind"], found["created_at_check"]) == ("original_sound", "born_with_video")
    assert found["source_aweme_id"] == found["first_aweme_id"]
    assert int(found["source_aweme_id"]) & 0xFFFF == 100
    assert (found["source_basis"], found["sec_uid"]) == (
        "id",
        "MS4w-" + found["first_aweme_id"][-3:],
    )


def test_a_birth_after_a_stated_publication_is_unknown(sounds: dict[str, Row]) -> None:
    found = sounds["3"]
    assert (found["created_at"], found["created_at_check"]) == (None, "contradicted")
    assert (found["kind"], found["copy_of_music_id"]) == ("library", None)
    assert found["first_published_at"] == BORN


def test_an_id_of_the_same_name_is_linked_unless_it_was_heard(sounds: dict[str, Row]) -> None:
    assert (sounds["4"]["evidence"], sounds["4"]["copy_evidence"]) == ("name", "name")
    assert sounds["4"]["copy_of_music_id"] == sounds["1"]["music_id"]
    assert "5" not in sounds


def test_an_account_of_another_name_is_not_the_uploader(sounds: dict[str, Row]) -> None:
    found = sounds["6"]
    assert (found["kind"], found["owner_nickname"]) == ("original_sound", "somebody else")
    assert found["source_aweme_id"] is not None
    assert found["sec_uid"] is None


def test_genealogies_are_those_of_the_worlds(tmp_path: Path) -> None:
    total = GenealogyScore()
    for seed in (3, 41):
        total += judge_world(tmp_path / str(seed), seed=seed, size=0.2, tracks=3)
    assert total.order.total >= 50
    assert total.order.value >= 0.99
    assert total.kind.value >= 0.95
    assert total.source.value >= 0.95
    assert total.copy.value >= 0.95


def test_query_library_finds_first_copies(first_release_home: Path) -> None:
    with open_warehouse(first_release_home) as wh:
        rows = first_copies(wh)
    assert [row["kind"] for row in rows] == ["own_id", "original_sound", "original_sound"]
    assert [row["copy_evidence"] for row in rows] == [None, "compared", "compared"]
    assert len({row["copy_of_music_id"] for row in rows[1:]}) == 1


def first_copies(wh: Warehouse) -> list[Row]:
    return wh.query("genealogy", music_id="7410369778457395648").rows()
