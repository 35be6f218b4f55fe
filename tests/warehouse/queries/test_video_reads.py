"""What orders works is the same whether few are read whole or many are only asked for it, and the
best observation is that of a capture that was finished.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warehouse.engine.duckdb_engine import Engine
from warehouse.lake.record_rows import video_row
from warehouse.lake.store import Lake, open_lake
from warehouse.queries.videos import (
    MAX_FULL_READS,
    SortColumn,
    read_listed_videos,
    read_sort_values,
)
from warehouse.records.videos import Author, Hashtag, Music, Statistics, Video

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
OTHERS = [f"other{number}" for number in range(MAX_FULL_READS + 1)]
NUMBERS = count()
COUNTS = st.none() | st.integers(0, 9)
OBSERVATIONS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3"]), COUNTS, COUNTS, st.none() | st.integers(1, 5),
        st.integers(0, 20),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda seen: (seen[0], seen[4]),
)  # fmt: skip


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    return open_lake(str(tmp_path_factory.mktemp("works") / "lake"), world="sandbox")


@pytest.fixture(scope="module")
def engine(lake: Lake) -> Iterator[Engine]:
    engine = Engine(lake)
    yield engine
    engine.close()


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(OBSERVATIONS, st.integers(0, 20), st.sampled_from(["likes", "created"]))
def test_sort_values_are_equal_for_few_and_many_videos(
    lake: Lake,
    engine: Engine,
    observations: list[tuple[str, int | None, int | None, int | None, int]],
    hours: int,
    by: SortColumn,
) -> None:
    lake.delete("raw.videos", "aweme_id", ["1", "2", "3"])
    lake.append("raw.videos", [_row(*seen) for seen in observations])
    engine.refresh()
    until = BEGIN + timedelta(hours=hours)
    few = read_sort_values(engine, ["1", "2", "3"], by=by, until=until)
    many = read_sort_values(engine, ["1", "2", "3", *OTHERS], by=by, until=until)
    assert few[0] == many[0]
    assert set(few[1]) == {seen[0] for seen in observations}
    assert not many[1]


CAPTURES = st.sampled_from(["none", "written", "lost"])


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.tuples(COUNTS, COUNTS, st.integers(0, 40), CAPTURES),
        min_size=1,
        max_size=8,
        unique_by=lambda seen: seen[2],
    )
)
def test_the_best_observation_is_of_a_finished_capture(
    lake: Lake, engine: Engine, seen: list[tuple[int | None, int | None, int, str]]
) -> None:
    lake.delete("raw.videos", "aweme_id", ["4"])
    rows = [_row("4", likes, rest, None, hours) for likes, rest, hours, _ in seen]
    for row, (_, _, _, capture) in zip(rows, seen, strict=True):
        row["capture_id"] = None if capture == "none" else f"{capture}{next(NUMBERS)}"
    lake.append("raw.videos", rows)
    written = [row for row in rows if str(row["capture_id"]).startswith("written")]
    lake.append("raw.captures", [_capture(str(row["capture_id"])) for row in written])
    engine.refresh()
    found = read_listed_videos(engine, ["4"])
    counted = [row for row in rows if not str(row["capture_id"]).startswith("lost")]
    assert bool(found) is bool(counted)
    if counted:
        best = max(counted, key=_worth)
        assert found["4"].observed_at == best["observed_at"]
        assert found["4"].first_observed_at == min(row["observed_at"] for row in counted)


@pytest.mark.parametrize("capture", [None, "written again"], ids=["alone", "captured"])
def test_latest_video_keeps_fields_that_newer_observations_lack(
    lake: Lake, engine: Engine, capture: str | None
) -> None:
    lake.delete("raw.videos", "aweme_id", ["7"])
    author, music = Author(sec_uid="s", nickname="n"), Music(music_id="7", title="t")
    shown: list[dict[str, Any]] = [
        {"surface": "hashtag_list", "hashtags": (), "author": author},
        {"surface": "search_stream", "hashtags": (Hashtag(ch_id="1", name="a"),), "music": music},
        {"surface": "hashtag_list", "hashtags": ()},
        {"surface": "user_posts", "is_top": False},
        {"surface": "music_list", "media_type": "video", "statistics": Statistics(digg_count=5)},
    ]
    videos = [
        Video(aweme_id="7", observed_at=BEGIN + timedelta(hours=hours), **fields)
        for hours, fields in enumerate(shown)
    ]
    rows = [video_row(one, capture_id=capture, job_id=None, data_provider="test") for one in videos]
    lake.append("raw.videos", rows)
    lake.append("raw.captures", [] if capture is None else [_capture(capture)])
    engine.refresh()
    video = read_listed_videos(engine, ["7"])["7"]
    assert (video.surface, video.statistics.digg_count) == ("music_list", 5)
    assert (video.author, video.music) == (author, music)
    assert (video.hashtags, video.is_top, video.media_type) == ((), False, "video")


@pytest.mark.parametrize("capture", [None, "written again"], ids=["alone", "captured"])
def test_a_stated_publication_outlasts_an_observation_that_shows_none(
    lake: Lake, engine: Engine, capture: str | None
) -> None:
    lake.delete("raw.videos", "aweme_id", ["5"])
    known, best = _row("5", 7, None, 3, 1), _row("5", 9, None, None, 2)
    lake.append("raw.videos", [{**row, "capture_id": capture} for row in (known, best)])
    lake.append("raw.captures", [] if capture is None else [_capture(capture)])
    engine.refresh()
    video = read_listed_videos(engine, ["5"])["5"]
    assert (video.observed_at, video.statistics.digg_count) == (best["observed_at"], 9)
    assert video.create_time == 3


@pytest.mark.parametrize("others", [[], OTHERS], ids=["few", "many"])
def test_a_reading_that_a_replay_corrects_counts_until_then(
    lake: Lake, engine: Engine, others: list[str]
) -> None:
    lake.delete("raw.videos", "aweme_id", ["6"])
    misread, read = f"misread{next(NUMBERS)}", f"read{next(NUMBERS)}"
    first, second = _row("6", 9, 9, 5, 1), _row("6", 3, None, None, 1)
    corrected = BEGIN + timedelta(hours=8)
    lake.append("raw.videos", [{**first, "capture_id": misread}])
    lake.append("raw.videos", [{**second, "capture_id": read, "committed_at": corrected}])
    replayed = {"reason": f"replay of {misread}", "committed_at": corrected}
    lake.append("raw.captures", [_capture(misread)])
    lake.append("raw.captures", [_capture(read) | replayed])
    engine.refresh()
    video = read_listed_videos(engine, ["6"])["6"]
    assert (video.statistics.digg_count, video.statistics_complete) == (3, False)
    assert video.create_time is None
    for until, known in ((corrected - timedelta(hours=1), (9, 5)), (corrected, (3, None))):
        asked: dict[str, Any] = {"engine": engine, "aweme_ids": ["6", *others], "until": until}
        found = [read_sort_values(**asked, by=by)[0]["6"] for by in ("likes", "created")]
        assert tuple(found) == known


def _worth(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["statistics_complete"], row["digg_count"] is not None, row["observed_at"]


def _capture(name: str) -> dict[str, Any]:
    return {
        "capture_id": name, "surface": "video_page", "entity_id": "4", "sequence": 1,
        "outcome": "ok", "request_count": 1, "parser_version": "1", "data_provider": "test",
        "observed_at": BEGIN,
    } | dict.fromkeys(
        ("reason", "http_status", "item_count", "cursor_in", "cursor_out", "has_more",
         "payload_sha256", "source_path", "job_id", "notice", "detail_msg")
    )  # fmt: skip


def _row(
    aweme_id: str, likes: int | None, rest: int | None, created: int | None, hours: int
) -> dict[str, Any]:
    moment = BEGIN + timedelta(hours=hours)
    video = Video(
        aweme_id=aweme_id,
        surface="video_page",
        observed_at=moment,
        create_time=created,
        statistics=Statistics(
            digg_count=likes, comment_count=rest, collect_count=rest, share_count=rest
        ),
    )
    row = video_row(video, capture_id=None, job_id=None, data_provider="test")
    return {**row, "committed_at": moment}
