"""The table of what the scans of a catalogue's tracks found for one another."""

from warehouse.tables.column import INTEGER, TEXT, Example, Table, nullable, required
from warehouse.tables.marts.scans import CONCLUSIONS

_COMPARISONS = next(table for table in CONCLUSIONS if table.name == "marts.audio_comparisons")
_MEANINGS = {
    "job_id": "job that compared the candidate, for another track",
    "track_music_id": "track whose reference it is",
}

CATALOG_MARTS: tuple[Table, ...] = (
    Table(
        "marts.catalog_matches",
        "sound fetched for one track, compared with a reference of another that an index proposed",
        ("comparison_id",),
        (
            *(
                required(column.name, TEXT, _MEANINGS[column.name])
                if column.name in _MEANINGS
                else column
                for column in _COMPARISONS.columns
            ),
            nullable("vote_count", INTEGER, "peaks of the candidate that voted for the reference"),
        ),
        examples=(
            Example(
                "Which music ids were found through scans of other tracks?",
                """
                select track_music_id, candidate_music_id, max(score) as score
                from marts.catalog_matches
                where verdict in ('confirmed', 'variant')
                group by all
                order by track_music_id, candidate_music_id
                """,
            ),
        ),
        references=_COMPARISONS.references,
    ),
)
