"""Tables of conclusions, by subject; all but those of the chart belong to jobs of scans.

`MARTS` has those that a scan can write, `CATALOG_MARTS` those of catalogues, `CHART_MARTS` those of
the chart.
"""

from warehouse.records.videos import HOT_SCORE_FORMULA
from warehouse.tables.column import (
    ALGORITHM,
    BOOLEAN,
    BYTES,
    COMMITTED,
    COUNT_COLUMNS,
    DATE,
    FLOAT,
    INTEGER,
    SURFACE,
    TEXT,
    TEXT_LIST,
    TIME,
    Table,
    nullable,
    refer,
    required,
)

# Tables of the steps of a scan: what each step read and chose, before anything is compared.
#
# Rows belong to a job. A page that another request read moments before is used again, so it has
# rows here although its capture names the other job.

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


# Tables of conclusions: candidates, evidence, rankings, results, and the health of surfaces.
#
# `CATALOG_MARTS`: what the scans of a catalogue's tracks found for one another.

CONCLUSIONS: tuple[Table, ...] = (
    # Candidates, and the pairs of sounds that were compared for them.
    Table(
        "marts.candidates",
        "job and candidate video: its source and its outcome",
        ("job_id", "aweme_id", "committed_at"),
        (
            required("job_id", TEXT, "job"),
            required("aweme_id", TEXT, "candidate video"),
            required("source_surface", TEXT, "surface it was first found on in this job"),
            required("source_entity_id", TEXT, "music id or account whose page listed it"),
            required("priority", FLOAT, "processing order, higher first"),
            nullable("music_id", TEXT, "music id from its detail page"),
            required(
                "outcome", TEXT, "pooled, confirmed, rejected, not_comparable, unavailable, ..."
            ),
            nullable("reason", TEXT, "reason of the outcome"),
            COMMITTED,
        ),
        references=refer(aweme_id="videos", music_id="music_ids"),
    ),
    Table(
        "marts.audio_comparisons",
        "compared pair with its evidence",
        ("comparison_id",),
        (
            required("comparison_id", TEXT, "pair"),
            required("job_id", TEXT, "job"),
            required("track_music_id", TEXT, "track the job is about"),
            required("reference_aweme_id", TEXT, "reference video, or song: see reference_source"),
            required("candidate_aweme_id", TEXT, "candidate video"),
            required("reference_music_id", TEXT, "music id of the reference"),
            required("candidate_music_id", TEXT, "music id of the candidate"),
            nullable("reference_sha256", TEXT, "sound of the reference in raw.sounds"),
            nullable("candidate_sha256", TEXT, "sound of the candidate in raw.sounds"),
            required("verdict", TEXT, "confirmed, variant, rejected or not_comparable"),
            required("reason", TEXT, "reason of the outcome"),
            nullable("segment", TEXT, "whole or local"),
            nullable("chroma_distance", FLOAT, "1 - chroma correlation"),
            nullable("mfcc_distance", FLOAT, "1 - MFCC correlation"),
            nullable("overlap_s", FLOAT, "compared duration in seconds"),
            nullable("reference_start_s", FLOAT, "start in the reference in seconds"),
            nullable("candidate_start_s", FLOAT, "start in the candidate in seconds"),
            nullable(
                "peak_agreement",
                FLOAT,
                "share of spectral peaks that agree beyond chance, weighted by phases and tones",
            ),
            nullable("score", FLOAT, "composite score, 0 to 1"),
            nullable("speed", FLOAT, "candidate speed over reference speed"),
            nullable("semitones", FLOAT, "pitch shift of the candidate"),
            required("limits", TEXT, "thresholds applied, as JSON"),
            ALGORITHM,
            required("feature_version", TEXT, "version of the feature extraction"),
            required("library_version", TEXT, "versions of the numeric libraries"),
            COMMITTED,
            nullable("observation", TEXT, "likely explanation of a rejected pair"),
            nullable("reference_source", TEXT, "platform or music_service; null means platform"),
            nullable("searched", TEXT, "edits, overlap and seconds of sound searched, as JSON"),
            nullable(
                "shared_part",
                TEXT,
                "what a rejected pair has in common: voice, opening_sound, closing_sound, "
                "common_sound, loop or layer",
            ),
            nullable(
                "version_score",
                FLOAT,
                "how surely a rejected pair is two performances of one composition, 0 to 1",
            ),
        ),
        references=refer(
            track_music_id="tracks",
            candidate_aweme_id="videos",
            reference_aweme_id="videos",
            candidate_music_id="music_ids",
            reference_music_id="music_ids",
            exceptions={
                "reference_aweme_id": "a song of the music service is no video",
            },
        ),
        version=5,  # 4: searched; 5: shared_part, version_score
    ),
    Table(
        "marts.annotations",
        "annotation of a compared pair by a user; verdicts do not change",
        ("annotation_id",),
        (
            required("annotation_id", TEXT, "annotation"),
            required("comparison_id", TEXT, "pair"),
            required("said", TEXT, "same or not_the_same"),
            nullable("note", TEXT, "the user's note"),
            required("origin", TEXT, "api, cli or console"),
            required("annotated_at", TIME, "time of the annotation"),
            COMMITTED,
        ),
    ),
    Table(
        "marts.common_sounds",
        "sound of a few seconds that unrelated tracks share, and time of its status",
        ("common_sound_id", "committed_at"),
        (
            required("common_sound_id", TEXT, "common sound"),
            required("status", TEXT, "learnt, or dismissed by a user: it counts no more"),
            required("learnt_at", TIME, "when it was learnt"),
            required("aweme_id", TEXT, "video of a track that has it, or song of the service"),
            required("sound_sha256", TEXT, "sound of that video in raw.sounds"),
            required("start_s", FLOAT, "where it begins in that sound, in seconds"),
            required("duration_s", FLOAT, "its length in seconds"),
            required("track_music_ids", TEXT_LIST, "unrelated tracks that share it"),
            required("comparison_ids", TEXT_LIST, "earlier accepted pairs that taught it"),
            required("first_seen_at", TIME, "when the first of these pairs was stored"),
            required("features", BYTES, "its uncentred features, packed"),
            required("feature_version", TEXT, "version of the feature extraction"),
            COMMITTED,
        ),
        references=refer(
            aweme_id="videos", exceptions={"aweme_id": "a song of the music service is no video"}
        ),
    ),
    # Conclusions of a scan about videos, round by round, and what follows from them.
    Table(
        "marts.confirmed_videos",
        "track, job and video confirmed to carry the recording",
        ("music_id", "aweme_id", "job_id"),
        (
            required("music_id", TEXT, "track"),
            required("aweme_id", TEXT, "confirmed video"),
            required("job_id", TEXT, "job that confirmed it"),
            required("link_type", TEXT, "exact_music_id, audio_fingerprint_match or ..._graph"),
            required("source_music_id", TEXT, "music id the video uses"),
            nullable("source_music_title", TEXT, "title of that music id"),
            nullable("sec_uid", TEXT, "author"),
            nullable("comparison_id", TEXT, "evidence; null for exact_music_id"),
            nullable("reference_aweme_id", TEXT, "reference video; null if it was a song"),
            required("expansion_round", INTEGER, "round of the job that found it, from 0"),
            ALGORITHM,
            COMMITTED,
        ),
        references=refer(
            music_id="tracks", aweme_id="videos", sec_uid="accounts", source_music_id="music_ids"
        ),
    ),
    Table(
        "marts.variants",
        "track, job and video that carries the recording changed, or a few seconds of it",
        ("music_id", "aweme_id", "job_id"),
        (
            required("music_id", TEXT, "track"),
            required("aweme_id", TEXT, "video"),
            required("job_id", TEXT, "job that matched it by audio"),
            required("source_music_id", TEXT, "music id the video uses"),
            nullable("sec_uid", TEXT, "author"),
            required(
                "kind",
                TEXT,
                "speed, tempo, pitch, pitch_and_speed: both changed independently, or excerpt: a "
                "few unchanged seconds",
            ),
            required("speed", FLOAT, "tempo of the video over tempo of the track"),
            required("semitones", FLOAT, "pitch shift of the video"),
            required("comparison_id", TEXT, "evidence"),
            ALGORITHM,
            COMMITTED,
        ),
        references=refer(
            music_id="tracks", aweme_id="videos", sec_uid="accounts", source_music_id="music_ids"
        ),
    ),
    Table(
        "marts.expansion_rounds",
        "round of a job",
        ("job_id", "round"),
        (
            required("job_id", TEXT, "job"),
            required("round", INTEGER, "number of the round, from 0"),
            required("music_ids", TEXT_LIST, "music ids verified in this round"),
            required("new_confirmed_count", INTEGER, "videos confirmed in this round"),
            COMMITTED,
        ),
    ),
    Table(
        "marts.rankings",
        "job and ranked video",
        ("job_id", "rank"),
        (
            required("job_id", TEXT, "job"),
            required("rank", INTEGER, "position, from 1"),
            required("aweme_id", TEXT, "video"),
            required("music_id", TEXT, "track"),
            required("link_type", TEXT, "how it was confirmed"),
            *COUNT_COLUMNS,
            nullable("hot_score", INTEGER, HOT_SCORE_FORMULA),
            required("statistics_complete", BOOLEAN, "all four counts read exactly"),
            nullable("create_time", INTEGER, "publication, unix seconds"),
            COMMITTED,
        ),
        references=refer(music_id="tracks", aweme_id="videos"),
    ),
    Table(
        "marts.account_summaries",
        "job and account behind its confirmed videos",
        ("job_id", "sec_uid"),
        (
            required("job_id", TEXT, "job"),
            required("music_id", TEXT, "track"),
            required("sec_uid", TEXT, "account"),
            nullable("nickname", TEXT, "display name"),
            nullable("unique_id", TEXT, "handle"),
            nullable("follower_count", INTEGER, "followers, if the profile was read"),
            nullable("total_favorited", INTEGER, "likes received, if the profile was read"),
            nullable("aweme_count", INTEGER, "videos published, if the profile was read"),
            required("profile_complete", BOOLEAN, "true if the profile was read"),
            required("linked_video_count", INTEGER, "confirmed videos of the account"),
            nullable("linked_digg_count", INTEGER, "their likes, as far as known"),
            nullable("linked_comment_count", INTEGER, "their comments, as far as known"),
            nullable("linked_collect_count", INTEGER, "their bookmarks, as far as known"),
            nullable("linked_share_count", INTEGER, "their shares, as far as known"),
            required("top_aweme_id", TEXT, "its most liked confirmed video"),
            COMMITTED,
            nullable("follower_count_source", TEXT, "field of the platform that held followers"),
        ),
        references=refer(music_id="tracks", sec_uid="accounts", top_aweme_id="videos"),
        version=2,  # follower_count_source
    ),
    # Results of discoveries and of the guest search: nothing of it is confirmed.
    Table(
        "marts.discovered_videos",
        "job and candidate of a discovery: its outcome",
        ("job_id", "aweme_id"),
        (
            required("job_id", TEXT, "job"),
            required("track_music_id", TEXT, "track the job is about"),
            required("aweme_id", TEXT, "candidate video"),
            nullable("music_id", TEXT, "music id it uses, if its detail page was read"),
            required("title_relation", TEXT, "how its text relates to the song"),
            required(
                "verdict", TEXT, "confirmed, variant, rejected, not_comparable, unavailable, ..."
            ),
            nullable("reason", TEXT, "reason of the outcome"),
            nullable(
                "association_type", TEXT, "audio_fingerprint_match or exact_music_id_discovered"
            ),
            nullable("comparison_id", TEXT, "evidence"),
            COMMITTED,
        ),
        references=refer(track_music_id="tracks", aweme_id="videos", music_id="music_ids"),
    ),
    Table(
        "marts.search_related",
        "job and video found by search, related by text only",
        ("job_id", "aweme_id"),
        (
            required("job_id", TEXT, "job"),
            required("aweme_id", TEXT, "video"),
            nullable("music_id", TEXT, "music id it uses, if known"),
            required("search_relevance_level", TEXT, "exact_title, music_id_corroborated, ..."),
            required(
                "search_terms", TEXT_LIST, "terms that found it, in this or an earlier search"
            ),
            COMMITTED,
        ),
        references=refer(aweme_id="videos", music_id="music_ids"),
    ),
    # The result as one document, which the API returns and reports show.
    Table(
        "marts.job_results",
        "job, with its result as one compressed immutable document",
        ("job_id",),
        (
            required("job_id", TEXT, "job"),
            required("music_id", TEXT, "track; `keyword:<hash>` for a search by name"),
            required("document", BYTES, "the result, zstd-compressed JSON"),
            required("confirmed_count", INTEGER, "confirmed videos in it"),
            ALGORITHM,
            COMMITTED,
        ),
        references=refer(
            music_id="tracks",
            exceptions={"music_id": "a search by name is about no track"},
        ),
    ),
    # Probes of the surfaces, which belong to no scan.
    Table(
        "marts.surface_health",
        "probe of a surface, to detect refusals and changed structures",
        ("probe_id",),
        (
            required("probe_id", TEXT, "probe"),
            required("report_id", TEXT, "report that the probe belongs to"),
            required("surface", TEXT, "probed surface; `warehouse` is a write test of the lake"),
            nullable("entity_id", TEXT, "requested entity"),
            required("outcome", TEXT, "works, refused, changed, unreachable or not_asked"),
            nullable("error_type", TEXT, "error type of the response"),
            nullable("reason", TEXT, "the platform's own word, or what did not match"),
            nullable("http_status", INTEGER, "status of the last response"),
            required("request_count", INTEGER, "requests made"),
            required("duration_ms", INTEGER, "response time in milliseconds"),
            required(
                "key_paths",
                TEXT_LIST,
                "key paths of the payload; a trailing `?` marks empty values",
            ),
            required("came", TEXT_LIST, "key paths that no earlier good response had"),
            required("went", TEXT_LIST, "missing key paths that every earlier good response had"),
            nullable("payload_sha256", TEXT, "body in raw.payloads"),
            required("asked_by", TEXT, "cli or canaries; in older stores also live_check"),
            required("observed_at", TIME, "when the surface was probed"),
            COMMITTED,
        ),
    ),
)

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
        references=_COMPARISONS.references,
        version=2,  # shared_part, version_score
    ),
)


# Tables on what a scan read and what it did not see: sources, estimates, random audits.

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


# Tables that join the chart with the platform: decisions of users, links and lead estimates.

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
MARTS: tuple[Table, ...] = (*STEP_MARTS, *CONCLUSIONS, *COVERAGE_MARTS)
