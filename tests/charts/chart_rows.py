"""A chart of a few songs beside works of a platform, written straight into a lake.

Shared by tests of the chart beside the platform. No process, no socket.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from warehouse.engine.duckdb_engine import Engine
from warehouse.tables import BY_NAME

FIRST = date(2026, 3, 1)
SONG = {"title": "晴天的海", "artist": "Lila", "song_hash": "AA11"}
SONG_KEY = "hash:aa11"
OTHER = {"title": "Blue Harbor", "artist": "Bo", "song_hash": "BB22"}
OTHER_KEY = "hash:bb22"
TRACK = "7300000000000000001"


def row(table: str, **values: Any) -> dict[str, Any]:
    """A row of a table in which everything that is not given is unknown."""
    names = (column.name for column in BY_NAME[table].columns if column.name != "committed_at")
    return dict.fromkeys(names) | values


def add_issues(engine: Engine, *issues: tuple[int, Sequence[dict[str, str]]]) -> None:
    """Issues by the day after `FIRST`, each with its songs in order, as captures leave them."""
    seen: dict[str, list[Any]] = {"captures": [], "chart_issues": [], "chart_songs": []}
    for day, songs in issues:
        volid, capture = str(50_000 + day), f"issue-{day}"
        stated = {
            "surface": "chart_songs", "observed_at": datetime.now(UTC), "data_provider": "mock",
            "capture_id": capture, "volid": volid, "chart_date": FIRST + timedelta(days=day),
        }  # fmt: skip
        reported = {name: stated[name] for name in ("surface", "observed_at", "data_provider")}
        seen["captures"].append(
            row("raw.captures", **reported, capture_id=capture, entity_id=volid, sequence=1,
                outcome="ok", request_count=1, parser_version="1")
        )  # fmt: skip
        seen["chart_issues"].append(row("raw.chart_issues", **stated, is_latest=False))
        seen["chart_songs"] += [
            row("raw.chart_songs", **stated, rank=rank, **song)
            for rank, song in enumerate(songs, 1)
        ]
    for name, rows in reversed(seen.items()):
        engine.lake.append(f"raw.{name}", rows)
    engine.refresh()


def add_track(engine: Engine, music_id: str = TRACK, **names: Any) -> None:
    """A music id as its own page shows it."""
    shown = {"title": SONG["title"], "author": SONG["artist"], "is_original_sound": False, **names}
    engine.lake.append(
        "raw.tracks",
        [row("raw.tracks", music_id=music_id, surface="music_info", data_provider="mock",
             observed_at=datetime.now(UTC), **shown)],
    )  # fmt: skip
    engine.refresh()


def add_work(
    engine: Engine,
    aweme_id: str,
    *,
    published: float,
    likes: Sequence[tuple[float, int]],
    music_id: str = TRACK,
    source_music_id: str | None = None,
) -> None:
    """A work confirmed for a track, with the days (after `FIRST`) on which its likes were seen."""
    engine.lake.append(
        "marts.confirmed_videos",
        [row("marts.confirmed_videos", music_id=music_id, aweme_id=aweme_id, job_id="job",
             link_type="exact_music_id", source_music_id=source_music_id or music_id,
             expansion_round=0, algorithm="1")],
    )  # fmt: skip
    engine.lake.append(
        "raw.videos",
        [
            row("raw.videos", aweme_id=aweme_id, surface="video_page", observed_at=at(day),
                create_time=int(at(published).timestamp()), music_id=source_music_id or music_id,
                digg_count=count, comment_count=1, collect_count=2, share_count=3, is_exact=True,
                statistics_complete=True, data_provider="mock")
            for day, count in likes
        ],
    )  # fmt: skip
    engine.refresh()


def add_result(engine: Engine, music_id: str, job_id: str) -> None:
    """What a scan of a track leaves: its result and its coverage."""
    engine.lake.append(
        "marts.job_results",
        [row("marts.job_results", job_id=job_id, music_id=music_id, document=b"",
             confirmed_count=1, algorithm="1")],
    )  # fmt: skip
    engine.lake.append(
        "marts.coverage",
        [row("marts.coverage", job_id=job_id, surface="music_list", requests=1, pages=1, items=1,
             new_items=1, stop_reason="exhausted")],
    )  # fmt: skip
    engine.refresh()


def at(day: float) -> datetime:
    """A moment, in days after `FIRST` (UTC)."""
    return datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC) + timedelta(days=day)


def add_usual(engine: Engine) -> None:
    """The song enters on day 12, a track of its names rises before; the other song is not known."""
    add_issues(engine, (10, [OTHER]), (11, [OTHER]), (12, [OTHER, SONG]), (14, [SONG]))
    add_track(engine)
    add_work(engine, "w1", published=0, likes=[(1, 10), (3, 40), (5, 90), (20, 100)])
