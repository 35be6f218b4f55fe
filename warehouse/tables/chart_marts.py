"""Tables that join the chart with the platform: decisions of users, links and lead estimates."""

from warehouse.tables.column import COMMITTED, DATE, REAL, TEXT, TIME, WHOLE, Table, may, must

CHART_MARTS: tuple[Table, ...] = (
    Table(
        "marts.chart_links",
        "decision of a user on a chart song and a music id; the newest one counts",
        ("link_id",),
        (
            must("link_id", TEXT, "decision"),
            must("song_key", TEXT, "song key, as in chart responses"),
            must("music_id", TEXT, "music id"),
            must("said", TEXT, "same, different, or withdrawn: the rules apply again"),
            may("said_by", TEXT, "name the user gave"),
            may("note", TEXT, "the user's note"),
            must("origin", TEXT, "api, cli or console"),
            must("said_at", TIME, "time of the decision"),
            COMMITTED,
        ),
    ),
    Table(
        "marts.chart_platform",
        "chart song, music id, and time at which their relation or figures changed",
        ("song_key", "music_id", "committed_at"),
        (
            must("song_key", TEXT, "song key, as in chart responses"),
            must("music_id", TEXT, "music id"),
            may("via_music_id", TEXT, "music id that the relation is derived from"),
            must("relation", TEXT, "same, possible, different, or none: no longer linked"),
            must("confidence", TEXT, "manual, high, medium or low; a class, not a probability"),
            must("reason", TEXT, "rule of the relation: title_and_artist, title_only, ..."),
            may("title", TEXT, "title as the chart shows it"),
            may("artist", TEXT, "artist as the chart shows it"),
            may("music_title", TEXT, "title as the platform shows it"),
            may("music_author", TEXT, "artist as the platform shows it"),
            must("issue_count", WHOLE, "stored issues with the song among the first 20"),
            must("best_rank", WHOLE, "best position in them, from 1"),
            must("first_chart_date", DATE, "oldest stored issue with the song: its entry"),
            must("last_chart_date", DATE, "newest stored issue with the song"),
            may(
                "entry_after_date", DATE, "stored issue before the entry; null: entry not observed"
            ),
            must("work_count", WHOLE, "confirmed videos of the music id with all counts observed"),
            must("observation_count", WHOLE, "observations of them"),
            must("observed_day_count", WHOLE, "days (UTC) with an observation"),
            may("digg_count", WHOLE, "likes of these videos as last observed"),
            may("first_observed_at", TIME, "oldest observation"),
            may("last_observed_at", TIME, "newest observation"),
            may(
                "rise_after",
                TIME,
                "lower bound of the time half of these likes was reached; null: unknown",
            ),
            may("rise_before", TIME, "upper bound of that time"),
            may("lead_days", REAL, "estimated days from the rise to the entry; negative: a lag"),
            may("lead_low_days", REAL, "lower bound of lead_days"),
            may("lead_high_days", REAL, "upper bound of lead_days"),
            may("direction", TEXT, "platform_first, chart_first, undecided; null: not bounded"),
            may("lead_reason", TEXT, "why there is no estimate; null if there is one"),
            must("method", TEXT, "version of the linking and estimation rules"),
            COMMITTED,
        ),
    ),
)
