"""Tables that set the chart beside the platform: what people said of a song, what follows of it.

Here: columns, as in `marts`. Not here: how a song is linked and its lead estimated (`domain`).
"""

from warehouse.tables.column import COMMITTED, DATE, REAL, TEXT, TIME, WHOLE, Table, may, must

CHART_MARTS: tuple[Table, ...] = (
    Table(
        "marts.chart_links",
        "what a person said of a song of the chart and a music id; the newest one holds",
        ("link_id",),
        (
            must("link_id", TEXT, "statement"),
            must("song_key", TEXT, "song, as answers of the chart name it"),
            must("music_id", TEXT, "music id"),
            must("said", TEXT, "same, different, or withdrawn: what follows by rule holds again"),
            may("said_by", TEXT, "who said it, in their own words"),
            may("note", TEXT, "in the person's words"),
            must("origin", TEXT, "api, cli or console"),
            must("said_at", TIME, "when it was said"),
            COMMITTED,
        ),
    ),
    Table(
        "marts.chart_platform",
        "song of the chart, music id, and time at which what is known of the two had changed",
        ("song_key", "music_id", "committed_at"),
        (
            must("song_key", TEXT, "song, as answers of the chart name it"),
            must("music_id", TEXT, "music id"),
            may("via_music_id", TEXT, "music id through which the relation follows"),
            must("relation", TEXT, "same, possible, different, or none: nothing links them now"),
            must("confidence", TEXT, "manual, high, medium or low; a class, not a probability"),
            must("reason", TEXT, "rule that gave the relation: title_and_artist, title_only, ..."),
            may("title", TEXT, "title as the chart shows it"),
            may("artist", TEXT, "artist as the chart shows it"),
            may("music_title", TEXT, "title as the platform shows it"),
            may("music_author", TEXT, "artist as the platform shows it"),
            must("issue_count", WHOLE, "issues kept with the song among the first 20"),
            must("best_rank", WHOLE, "best place in them, from 1"),
            must("first_chart_date", DATE, "oldest issue kept that has the song: its entry"),
            must("last_chart_date", DATE, "newest issue kept that has it"),
            may("entry_after_date", DATE, "issue kept before the entry; null: entry not seen"),
            must("work_count", WHOLE, "confirmed works of the music id with all counts observed"),
            must("observation_count", WHOLE, "observations of them"),
            must("observed_day_count", WHOLE, "days (UTC) with an observation"),
            may("digg_count", WHOLE, "likes of these works as last seen"),
            may("first_observed_at", TIME, "oldest observation"),
            may("last_observed_at", TIME, "newest observation"),
            may("rise_after", TIME, "half of these likes was reached no earlier; null: unknown"),
            may("rise_before", TIME, "half of these likes was reached no later"),
            may("lead_days", REAL, "estimate: days from the rise to the entry; negative: a lag"),
            may("lead_low_days", REAL, "least that it can have been"),
            may("lead_high_days", REAL, "most that it can have been"),
            may("direction", TEXT, "platform_first, chart_first, undecided; null: not bounded"),
            may("lead_reason", TEXT, "why there is no estimate; null: there is one"),
            must("method", TEXT, "rules of link and estimate, with their version"),
            COMMITTED,
        ),
    ),
)
