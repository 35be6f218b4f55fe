"""Tables on what a scan read and what it did not see: sources, estimates, random audits."""

from warehouse.tables.column import (
    COMMITTED,
    FLOAT,
    INTEGER,
    TEXT,
    Table,
    nullable,
    required,
)

COVERAGE_MARTS: tuple[Table, ...] = (
    Table(
        "marts.coverage",
        "source of a job and stop reason, with the requests made and the items returned",
        ("job_id", "surface", "stop_reason"),
        (
            required("job_id", TEXT, "job"),
            required("surface", TEXT, "source"),
            required("requests", INTEGER, "requests made"),
            required("pages", INTEGER, "pages read"),
            required("items", INTEGER, "items returned"),
            required("new_items", INTEGER, "items new to this job"),
            required("stop_reason", TEXT, "reason why reading stopped"),
            COMMITTED,
            nullable("foreign_rows", INTEGER, "items of a list that stated another entity"),
        ),
        version=2,  # foreign_rows
    ),
    Table(
        "marts.coverage_estimates",
        "number that a scan estimated: of the music ids, or of the videos with the recording",
        ("job_id", "unit"),
        (
            required("job_id", TEXT, "job"),
            required("unit", TEXT, "what is estimated: music_id or video"),
            required("observed_count", INTEGER, "number that the scan confirmed"),
            required("source_count", INTEGER, "sources other than music lists"),
            required("sample_count", INTEGER, "confirmed videos that these sources showed"),
            nullable("method", TEXT, "estimator; null: cannot be estimated"),
            nullable("estimated_count", INTEGER, "estimated number that a guest could reach"),
            nullable("lower_count", INTEGER, "lower limit of the 95 % interval"),
            nullable("upper_count", INTEGER, "upper limit of the 95 % interval"),
            nullable("sample_share", FLOAT, "share that known music ids hold, estimated"),
            nullable("assumption", TEXT, "what must hold for the estimate"),
            nullable("not_estimated_reason", TEXT, "why it cannot be estimated"),
            COMMITTED,
            nullable("listed_count", INTEGER, "listed under confirmed music ids, not compared"),
        ),
        version=2,  # listed_count
    ),
    Table(
        "marts.random_audits",
        "scan, with what it found among videos that are no candidates, drawn at random",
        ("job_id",),
        (
            required("job_id", TEXT, "job"),
            required("population_count", INTEGER, "videos seen that are no candidates"),
            required("drawn_count", INTEGER, "videos drawn at random among these"),
            required("compared_count", INTEGER, "drawn videos whose sound was compared"),
            required("carrying_count", INTEGER, "compared videos that carry the recording"),
            nullable("upper_count", INTEGER, "at most so many carry it, 95 % confidence"),
            nullable("upper_share", FLOAT, "at most this share of the comparable ones, likewise"),
            nullable("not_audited_reason", TEXT, "why there is no limit"),
            COMMITTED,
        ),
    ),
)
