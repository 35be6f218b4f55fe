"""Tables of the steps of a scan: what each step read and chose, before anything is compared.

Rows belong to a job. A page that another request read moments before is used again, so it has rows
here although its capture names the other job.
"""

from warehouse.tables.column import (
    COMMITTED,
    FLOAT,
    INTEGER,
    SURFACE,
    TEXT,
    TIME,
    Table,
    nullable,
    refer,
    required,
)

_JOB = required("job_id", TEXT, "job")
_MAY_BE_UNREAD = refer(
    music_id="music_ids",
    exceptions={"music_id": "a list may name an id whose videos nobody has read"},
)


def _first_screens(name: str, source: str) -> Table:
    """Return the table of a step that reads lists: one row per listed video."""
    return Table(
        name,
        f"place on a list that the step read, of the {source}",
        ("job_id", "source_entity_id", "position"),
        (
            _JOB,
            SURFACE,
            required("source_entity_id", TEXT, source),
            required("position", INTEGER, "place on the list, from 0"),
            required("aweme_id", TEXT, "listed video"),
            nullable("music_id", TEXT, "music id that the list names for it"),
            nullable("digg_count", INTEGER, "likes that the list shows"),
            COMMITTED,
        ),
        references=_MAY_BE_UNREAD,
    )


STEP_MARTS: tuple[Table, ...] = (
    _first_screens("marts.music_first_screen", "music id of the track"),
    _first_screens("marts.author_first_screens", "account that uses the track"),
    _first_screens("marts.hashtag_first_screens", "hashtag of the track's videos"),
    Table(
        "marts.candidate_pool",
        "job and video chosen as a candidate before the first comparison",
        ("job_id", "position"),
        (
            _JOB,
            required("position", INTEGER, "place in the pool, from 0"),
            required("aweme_id", TEXT, "candidate video"),
            required("source_surface", TEXT, "surface it was first found on in this job"),
            required("source_entity_id", TEXT, "music id or account whose page listed it"),
            required("priority", FLOAT, "processing order, higher first"),
            nullable("music_id", TEXT, "music id that the list names for it"),
            COMMITTED,
        ),
        references=_MAY_BE_UNREAD,
    ),
    Table(
        "marts.video_details",
        "job and candidate whose own page was to be read before the first comparison",
        ("job_id", "aweme_id"),
        (
            _JOB,
            required("aweme_id", TEXT, "candidate video"),
            required("outcome", TEXT, "read, unavailable, not_reached, or the error"),
            nullable("reason", TEXT, "reason of the outcome"),
            nullable("music_id", TEXT, "music id from its own page"),
            nullable("sec_uid", TEXT, "author from its own page"),
            nullable("page_observed_at", TIME, "when the page was observed; null if it was not"),
            COMMITTED,
        ),
        references=refer(music_id="music_ids", sec_uid="accounts"),
    ),
    Table(
        "marts.account_profiles",
        "job and account behind confirmed videos whose profile was wanted",
        ("job_id", "sec_uid"),
        (
            _JOB,
            required("sec_uid", TEXT, "account"),
            required("position", INTEGER, "place by likes of its confirmed videos, from 0"),
            nullable("profile_observed_at", TIME, "when the profile was observed; null if unknown"),
            COMMITTED,
        ),
        references=refer(sec_uid="accounts"),
    ),
)
