"""The views `seen.*`: which observations count. Their SQL; the engine creates them.

An observation counts once its capture is complete, and until a replay has read the capture again.
"""

from datetime import datetime

from warehouse.tables import Table

CAPTURES = "raw.captures"
ITEMS = "raw.capture_items"
REPLAYED = "seen.replayed"
REPLAY_OF = "replay of "
"""Begin of the reason of a capture that reads another one again, and names it."""
REPLAYS = f"(select capture_id from {CAPTURES} where reason like '{REPLAY_OF}%')"  # noqa: S608  # names of this module
REPLAYED_SQL = f"""
    select substr(reason, {len(REPLAY_OF) + 1}) as capture_id from {CAPTURES}
    where reason like '{REPLAY_OF}%'
"""  # noqa: S608  # names of this module
IS_CURRENT = f"(capture_id is null or capture_id not in (from {REPLAYED}))"
"""A reading counts until a replay has read its capture again."""
RELEASED_SONGS = "seen.released_songs"
RELEASED_FROM = frozenset({"seen.chart_issues", "seen.chart_songs"})


def released_songs(which: str = "true") -> str:
    """Return the SQL of the songs of issues, without those that were read before the release.

    Until an issue is released, the platform serves the previous issue's songs. `listed_date` is the
    issue's date in the list of issues. `which`: a condition on `volid`, to read fewer.
    """
    return f"""(
        select songs.*, listed_date from seen.chart_songs as songs
        left join (
            select
                volid,
                max_by(scheduled_at, observed_at) as scheduled_at,
                max_by(chart_date, observed_at) as listed_date
            from seen.chart_issues where {which} group by volid
        ) using (volid)
        where volid is not null and {which}
            and (scheduled_at is null or observed_at >= scheduled_at)
    )"""  # noqa: S608  # our text


def seen_view(table: Table, complete_before: datetime | None) -> str:
    """Return the SQL of a view `seen.*`: observations whose capture is complete and current.

    The row of a capture is written last, so an observation without one belongs to a capture that is
    not finished, or never will be. Rows committed before a table's `complete_before` have their
    capture, so only later ones are checked. What a replay has read again counts as it reads today;
    the items of a page stay with its first capture.
    """
    is_current = "true" if table.name == ITEMS else IS_CURRENT
    if complete_before is None:
        is_complete = f"capture_id in (select capture_id from {CAPTURES})"  # noqa: S608  # a name
    else:
        # The capture of a later observation is later too, so earlier captures need no search.
        moment = f"timestamptz '{complete_before.isoformat()}'"
        is_complete = (
            f"committed_at < {moment} or capture_id in "  # noqa: S608  # a timestamp
            f"(select capture_id from {CAPTURES} where committed_at >= {moment})"
        )
    return (
        f"create or replace view {table.counted_name} as from {table.name} "
        f"where (capture_id is null or {is_complete}) and {is_current}"
    )
