"""Tables that join the chart with the platform: decisions of users, links and lead estimates."""

from warehouse.tables.column import (
    COMMITTED,
    DATE,
    FLOAT,
    INTEGER,
    TEXT,
    TIME,
    Table,
    nullable,
    required,
)

CHART_MARTS: tuple[Table, ...] = (
    Table(
        "marts.chart_links",
        "decision of a user on a chart song and a music id; the newest one counts",
        ("link_id",),
        (
            required("link_id", TEXT, "decision"),
            required("song_key", TEXT, "song key, as in chart responses"),
            required("music_id", TEXT, "music id"),
            required("said", TEXT, "same, different, or withdrawn: the rules apply again"),
            nullable("said_by", TEXT, "name the user gave"),
            nullable("note", TEXT, "the user's note"),
            required("origin", TEXT, "api, cli or console"),
            required("said_at", TIME, "time of the decision"),
            COMMITTED,
        ),
    ),
    Table(
        "marts.chart_platform",
        "chart song, music id, and time at which their relation or figures changed",
        ("song_key", "music_id", "committed_at"),
        (
            required("song_key", TEXT, "song key, as in chart responses"),
            required("music_id", TEXT, "music id"),
            nullable("via_music_id", TEXT, "music id that the relation is derived from"),
            required("relation", TEXT, "same, possible, different, or none: no longer linked"),
            required("confidence", TEXT, "manual, high, medium or low; a class, not a probability"),
            required("reason", TEXT, "rule of the relation: title_and_artist, title_only, ..."),
            nullable("title", TEXT, "title as the chart shows it"),
            nullable("artist", TEXT, "artist as the chart shows it"),
            nullable("music_title", TEXT, "title as the platform shows it"),
            nullable("music_author", TEXT, "artist as the platform shows it"),
            required("issue_count", INTEGER, "stored issues with the song among the first 20"),
            required("best_rank", INTEGER, "best position in them, from 1"),
            required("first_chart_date", DATE, "oldest stored issue with the song: its entry"),
            required("last_chart_date", DATE, "newest stored issue with the song"),
            nullable(
                "entry_after_date", DATE, "stored issue before the entry; null: entry not observed"
            ),
            required(
                "work_count", INTEGER, "confirmed videos of the music id with all counts observed"
            ),
            required("observation_count", INTEGER, "observations of them"),
            required("observed_day_count", INTEGER, "days (UTC) with an observation"),
            nullable("digg_count", INTEGER, "likes of these videos as last observed"),
            nullable("first_observed_at", TIME, "oldest observation"),
            nullable("last_observed_at", TIME, "newest observation"),
            nullable(
                "rise_after",
                TIME,
                "lower bound of the time half of these likes was reached; null: unknown",
            ),
            nullable("rise_before", TIME, "upper bound of that time"),
            nullable(
                "lead_days", FLOAT, "estimated days from the rise to the entry; negative: a lag"
            ),
            nullable("lead_low_days", FLOAT, "lower bound of lead_days"),
            nullable("lead_high_days", FLOAT, "upper bound of lead_days"),
            nullable(
                "direction", TEXT, "platform_first, chart_first, undecided; null: not bounded"
            ),
            nullable("lead_reason", TEXT, "why there is no estimate; null if there is one"),
            required("method", TEXT, "version of the linking and estimation rules"),
            COMMITTED,
        ),
    ),
)
