"""Twelve weeks of daily scans of 200 tracks, written straight into the lake, maintained every week.

`python -m benchmarks.speed.lake.twelve_weeks [--weeks N] [--tracks N] [--commit-days N] [--lake
FOLDER]` runs this part alone. `make bench` does it for fewer tracks and in larger commits; the
weeks, and so the observations of one work, are the same. What a scan leaves behind is counted as
the scans of the stand-in platform leave it; bodies and results of jobs are not written, because
they go again after 90 and 30 days: their size is told beside what stays. How large a year is, is
calculated from these figures and shown as a formula.
"""

import argparse
import random
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import md5
from pathlib import Path

import duckdb
import psutil
import pyarrow as pa
from deltalake import DeltaTable

from api.cli.processes.child_processes import ChildProcessGroup
from benchmarks.speed.lake.large_lake import _append, write_chart
from benchmarks.speed.running import Figure, RowOutput, Workspace, run_alone
from benchmarks.speed.service.reads import (
    CHART,
    CHART_AIM,
    MUSIC,
    PAGE_AIM,
    POSTS,
    REQUESTS,
    WARM_UP,
    _figures,
    _serving,
    _times,
    _year,
)
from warehouse.home import open_home
from warehouse.lake.store import Lake, open_lake
from warehouse.maintenance.compaction import maintain_lake

WEEKS = 12
TRACKS = 200
FEWER_TRACKS, WEEKLY = 30, 7
"""What `make bench` does instead: so many tracks, and so many days to a commit. Once upkeep has
arranged a week, its files and what reads of them cost are the same.
"""
PAGE = 20
SCREENS = 6  # first screens of one scan: the track's own, and of five accounts
WORKS = 60  # works of one track whose details a scan reads; its screens show the same ones
CONFIRMED = 45
COMPARED = 12  # pairs that are compared anew each day; sounds heard before are not decoded again
ACCOUNTS = 10
SEED = 7
YEAR_D = 365

_SCAN = "(track * 1000 + day)"
_JOB = f"md5('job' || {_SCAN})"
_MUSIC = "(7100000000000000000 + track * 317003)::varchar"
_SEC_UID = f"'MS4wLjABAAAA' || md5('user' || (track * {ACCOUNTS} + account)) || 'AbCdEfGhIjk'"
_AWEME = "(7300000000000000000 + (track * 1000 + work) * 1000003)::varchar"
_AT = "$first::timestamptz + to_days(day::integer) + to_seconds(track * 60)"
_SCANS = """
    from range($from_day, $to_day) as days(day), range($tracks) as tracks(track)
"""
_WORK = f"""
    {_AWEME} as aweme_id, {_AT} as observed_at, {_JOB} as job_id,
    'caption of work ' || work || ' of track ' || track || ', some words and #tags' as desc,
    1600000000 + (track * 1000 + work) * 37 as create_time,
    'https://vidplat.example/video/' || {_AWEME} as share_url, 'video' as media_type,
    false as is_top, {_SEC_UID} as sec_uid, account::varchar as uid,
    'user' || account as unique_id, 'name ' || account as nickname,
    'https://vidplat.example/avatar/' || account as avatar_url, {_MUSIC} as music_id,
    'Song ' || track as music_title, 'Artist ' || track % 50 as music_author,
    30 as music_duration_s, false as music_is_original_sound, 15000 as duration_ms,
    720 as width, 1280 as height, 'https://vidplat.example/cover/' || {_AWEME} as cover_url,
    ['16000' || work] as hashtag_ids, ['tag ' || work] as hashtag_names,
    1000 + hash(track, work) % 100000 + day * (hash(work, track) % 900) as digg_count,
    10 + hash(track, work) % 900 + day * (hash(work) % 9) as comment_count,
    hash(work, track) % 700 + day as share_count, true as is_exact,
    'vidplat-public' as data_provider, {_AT} as committed_at
"""
_LISTED = f"""
    select {_WORK}, null::bigint as collect_count, false as statistics_complete,
        case when screen = 0 then 'music_list' else 'user_posts' end as surface,
        md5('screen' || screen || ' ' || {_SCAN}) as capture_id, position
    from (
        select *, (screen * 9 + position) % {WORKS} as work, screen % {ACCOUNTS} as account
        from range($from_day, $to_day) as days(day), range($tracks) as tracks(track),
            range({SCREENS}) as screens(screen), range({PAGE}) as positions(position)
    )
"""
_READ = f"""
    select {_WORK}, hash(work, track) % 9000 + day as collect_count, true as statistics_complete,
        'video_page' as surface, md5('detail' || work || ' ' || {_SCAN}) as capture_id
    from (
        select *, work % {ACCOUNTS} as account
        from range($from_day, $to_day) as days(day), range($tracks) as tracks(track),
            range({WORKS}) as works(work)
    )
"""
_CAPTURED = """
    capture_id, surface, day_number + 1 as sequence, 'ok' as outcome, 200 as http_status,
    1 as request_count, md5(capture_id) || md5(capture_id || 'b') as payload_sha256,
    '/path' as source_path, '1' as parser_version, 'vidplat-public' as data_provider,
    job_id, observed_at, committed_at
"""
_DAY_NUMBER = "date_diff('day', $first::timestamptz, observed_at) as day_number"
_PROFILES = f"""
    select {_SEC_UID} as sec_uid, 'user_info' as surface, {_AT} as observed_at,
        md5('account' || account || ' ' || {_SCAN}) as capture_id, {_JOB} as job_id,
        'user' || account as unique_id, 'name ' || account as nickname,
        1000 + day * 3 as follower_count, 50 + day // 7 as aweme_count,
        9000 + day * 70 as total_favorited, 'vidplat-public' as data_provider,
        {_AT} as committed_at
    {_SCANS}, range({ACCOUNTS}) as accounts(account)
"""
_TRACKS = f"""
    select {_MUSIC} as music_id, 'music_info' as surface, {_AT} as observed_at,
        md5('track' || {_SCAN}) as capture_id, {_JOB} as job_id, 'Song ' || track as title,
        'Artist ' || track % 50 as author, 30 as duration_s, false as is_original_sound,
        'vidplat-public' as data_provider, {_AT} as committed_at
    {_SCANS}
"""
ROWS: Mapping[str, str] = {
    "raw.captures": f"""
        select {_CAPTURED}, entity_id, count(*) as item_count, true as has_more from (
            select *, {_DAY_NUMBER},
                case when surface = 'music_list' then music_id else sec_uid end as entity_id
            from ({_LISTED})
        ) group by all
        union all by name
        select {_CAPTURED}, aweme_id as entity_id, 1::bigint as item_count
        from (select *, {_DAY_NUMBER} from ({_READ}))
        union all by name
        select {_CAPTURED}, sec_uid as entity_id, 1::bigint as item_count
        from (select *, {_DAY_NUMBER} from ({_PROFILES}))
        union all by name
        select {_CAPTURED}, music_id as entity_id, 1::bigint as item_count
        from (select *, {_DAY_NUMBER} from ({_TRACKS}))
    """,
    "raw.capture_items": f"""
        select capture_id, position, surface, aweme_id, committed_at,
            case when surface = 'music_list' then music_id else sec_uid end as entity_id,
            date_diff('day', $first::timestamptz, observed_at) + 1 as sequence
        from ({_LISTED})
    """,
    "raw.videos": f"""
        select * exclude (position) from ({_LISTED}) union all by name select * from ({_READ})
    """,
    "raw.accounts": _PROFILES,
    "raw.tracks": _TRACKS,
    "marts.candidates": f"""
        select {_JOB} as job_id, {_AWEME} as aweme_id, 'music_list' as source_surface,
            {_MUSIC} as source_entity_id, 1.0 - work / {WORKS} as priority, {_MUSIC} as music_id,
            case when work < {CONFIRMED} then 'confirmed' else 'rejected' end as outcome,
            {_AT} as committed_at
        {_SCANS}, range({WORKS}) as works(work)
    """,
    "marts.audio_comparisons": f"""
        select md5('pair' || work || ' ' || {_SCAN}) as comparison_id, {_JOB} as job_id,
            {_MUSIC} as track_music_id, {_AWEME} as reference_aweme_id,
            {_AWEME} as candidate_aweme_id, {_MUSIC} as reference_music_id,
            {_MUSIC} as candidate_music_id, md5('sound' || work) as reference_sha256,
            md5('sound' || track || work) as candidate_sha256, 'confirmed' as verdict,
            'alike in chroma and timbre' as reason, 'whole' as segment,
            random() as chroma_distance, random() as mfcc_distance, 15.0 as overlap_s,
            0.0 as reference_start_s, 0.0 as candidate_start_s, random() as peak_agreement,
            random() as score, 1.0 as speed, 0.0 as semitones,
            repeat('{{"limit": 1}}', 12) as limits,
            'chroma-mfcc-2' as algorithm, '2' as feature_version, 'numpy 2' as library_version,
            {_AT} as committed_at
        {_SCANS}, range({COMPARED}) as works(work)
    """,
    "marts.confirmed_videos": f"""
        select {_MUSIC} as music_id, {_AWEME} as aweme_id, {_JOB} as job_id,
            'exact_music_id' as link_type, {_MUSIC} as source_music_id,
            'Song ' || track as source_music_title, 0 as expansion_round,
            'chroma-mfcc-2' as algorithm, {_AT} as committed_at
        {_SCANS}, range({CONFIRMED}) as works(work)
    """,
    "marts.rankings": f"""
        select {_JOB} as job_id, work + 1 as rank, {_AWEME} as aweme_id, {_MUSIC} as music_id,
            'exact_music_id' as link_type, 1000 + hash(track, work) % 100000 as digg_count,
            hash(work) % 900 as comment_count, hash(work, track) % 9000 as collect_count,
            hash(track) % 700 as share_count, hash(day, track, work) % 900000 as hot_score,
            true as statistics_complete, 1600000000 + work as create_time, {_AT} as committed_at
        {_SCANS}, range(30) as works(work)
    """,
    "marts.account_summaries": f"""
        select {_JOB} as job_id, {_MUSIC} as music_id, {_SEC_UID} as sec_uid,
            'name ' || account as nickname, 1000 + day as follower_count,
            true as profile_complete, 4 as linked_video_count, 900 + day as linked_digg_count,
            (7300000000000000000 + track)::varchar as top_aweme_id, {_AT} as committed_at
        {_SCANS}, range({ACCOUNTS}) as accounts(account)
    """,
    "marts.coverage": f"""
        select {_JOB} as job_id, 'surface ' || place as surface, 10 as requests, 9 as pages,
            180 as items, 60 as new_items, 'exhausted' as stop_reason, {_AT} as committed_at
        {_SCANS}, range(8) as places(place)
    """,
    "marts.coverage_estimates": f"""
        select {_JOB} as job_id, unit, 9 as observed_count, 40 as source_count, 60 as sample_count,
            'chao1' as method, 12 as estimated_count, 9 as lower_count, 21 as upper_count,
            0.95 as sample_share, 'screens_show_any_music_id' as assumption,
            {_AT} as committed_at
        {_SCANS}, (values ('music_id'), ('video')) as units(unit)
    """,
    "marts.random_audits": f"""
        select {_JOB} as job_id, 400 as population_count, 20 as drawn_count, 19 as compared_count,
            1 as carrying_count, 84 as upper_count, 0.21 as upper_share, {_AT} as committed_at
        {_SCANS}
    """,
    "marts.expansion_rounds": f"""
        select {_JOB} as job_id, round, [{_MUSIC}] as music_ids, 20 as new_confirmed_count,
            {_AT} as committed_at
        {_SCANS}, range(2) as rounds(round)
    """,
}
"""What one scan leaves for good, by table; days and tracks are parameters."""


@dataclass(frozen=True, slots=True)
class Sized:
    """A table at the end: rows, and bytes of the files that its newest version consists of."""

    name: str
    rows: int
    size_bytes: int

    @property
    def bytes_per_row(self) -> float:
        return self.size_bytes / max(1, self.rows)


def measure_twelve_weeks(
    space: Workspace,
    *,
    weeks: int = WEEKS,
    tracks: int = FEWER_TRACKS,
    commit_days: int = WEEKLY,
    root: Path | None = None,
) -> Iterator[RowOutput]:
    """Write the weeks, then ask the service over them. A `root` that is there is read only."""
    root = root or space.folder / "twelve weeks"
    home = open_home(root, "sandbox")
    days = 7 * weeks
    is_new = not Path(home.lake_url).exists()
    lake = open_lake(home.lake_url, world="sandbox")
    if is_new:
        yield from _written(lake, days=days, tracks=tracks, commit_days=commit_days)
    sized = [_sized(lake, name) for name in ROWS]
    yield from _sizes(sized)
    yield _year_of(sized, days=days, tracks=tracks)
    yield from _asked(root, tracks)


def _written(lake: Lake, *, days: int, tracks: int, commit_days: int) -> Iterator[RowOutput]:
    began = time.monotonic()
    upkeep_s = []
    for written, spent in _write(lake, days=days, tracks=tracks, commit_days=commit_days):
        yield f"{written} of {days} days are written"
        upkeep_s.append(spent)
    write_chart(lake)
    spent = time.monotonic() - began - sum(upkeep_s)
    what = f"{days} days of {tracks} tracks, written, commits of {commit_days} days"
    yield what, f"{spent:.0f} s", ""
    yield "weekly upkeep, each", f"{min(upkeep_s):.1f} to {max(upkeep_s):.1f} s", ""


def _write(lake: Lake, *, days: int, tracks: int, commit_days: int) -> Iterator[tuple[int, float]]:
    """A commit for each table and so many days; upkeep at the end of each week. Tells the days that
    are written, and the seconds of the upkeep.
    """
    first = datetime.now(UTC) - timedelta(days=days)
    with duckdb.connect() as connection:
        connection.execute("set global TimeZone='UTC'")
        for day in range(0, days, commit_days):
            after = day + commit_days
            params = {"first": first, "tracks": tracks, "from_day": day, "to_day": after}
            for name, query in ROWS.items():
                _append(connection, lake, name, params, query)
            if after % 7 == 0:
                began = time.monotonic()
                maintain_lake(lake, now=first + timedelta(days=after))
                yield after, time.monotonic() - began


def _sized(lake: Lake, name: str) -> Sized:
    files = pa.table(DeltaTable(lake.path(name)).get_add_actions(flatten=True))
    rows, sizes = (files.column(one).to_pylist() for one in ("num_records", "size_bytes"))
    return Sized(name, sum(rows), sum(sizes))


def _sizes(sized: list[Sized]) -> list[Figure]:
    return [
        (one.name, f"{one.rows:,} rows, {one.bytes_per_row:.1f} bytes a row", "") for one in sized
    ]


def _year_of(sized: list[Sized], *, days: int, tracks: int) -> Figure:
    """bytes a year = tracks x 365 x the sum over the tables of rows a scan x bytes a row."""
    per_scan = {one.name: one.rows / (days * tracks) for one in sized}
    a_scan = sum(per_scan[one.name] * one.bytes_per_row for one in sized)
    rows = sum(per_scan.values())
    formula = f"{tracks} x {YEAR_D} x {rows:.0f} rows x {a_scan / rows:.1f} bytes"
    year = tracks * YEAR_D * a_scan
    return ("a year of it, in the lake", f"{formula} = {year / 1e9:.2f} GB", "")


def _asked(root: Path, tracks: int) -> Iterator[Figure]:
    draw = random.Random(SEED)
    asked = REQUESTS + WARM_UP
    music = [str(7_100_000_000_000_000_000 + one * 317_003) for one in range(tracks)]
    users = [_sec_uid(one * ACCOUNTS + k) for one in range(tracks) for k in range(1, SCREENS)]
    with (
        ChildProcessGroup(grace_s=5.0) as process_group,
        closing(_serving(process_group, root)) as api,
    ):
        server = psutil.Process(process_group.children[0].process.pid)

        for what, path, queries, aim in (
            (
                "page of 20 of a music id",
                MUSIC,
                [
                    {"music_id": one, "count": "20"}
                    for one in draw.sample(music, min(asked, tracks))
                ],
                PAGE_AIM,
            ),
            (
                "page of 20 posts",
                POSTS,
                [{"sec_user_id": one} for one in draw.sample(users, min(asked, len(users)))],
                PAGE_AIM,
            ),
            ("year of the chart", CHART, [_year(draw) for _ in range(asked)], CHART_AIM),
        ):
            times = _times(api, server, path, queries)
            yield from _figures(f"uncached {what}, of {tracks} tracks", times, aim)


def _sec_uid(number: int) -> str:
    return f"MS4wLjABAAAA{md5(f'user{number}'.encode()).hexdigest()}AbCdEfGhIjk"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weeks", type=int, default=WEEKS)
    parser.add_argument("--tracks", type=int, default=TRACKS)
    parser.add_argument("--commit-days", type=int, choices=(1, WEEKLY), default=1)
    parser.add_argument("--lake", default="", help="keep the lake in this folder, and use it again")
    options = parser.parse_args()
    root = Path(options.lake) if options.lake else None
    run_alone(
        "twelve-weeks",
        lambda space: measure_twelve_weeks(
            space,
            weeks=options.weeks,
            tracks=options.tracks,
            commit_days=options.commit_days,
            root=root,
        ),
    )


if __name__ == "__main__":
    main()
